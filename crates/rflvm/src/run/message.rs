//! What machines that share the chains of a run send each other: a version, the identity of the run, and a payload.

use crate::identity::Identity;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Who sends: messages of other versions and of other runs are refused, since their draws would differ.
fn sender(identity: &Identity) -> (String, String) {
    (env!("CARGO_PKG_VERSION").into(), identity.digest())
}

/// The bytes of a message.
pub fn pack(identity: &Identity, payload: &impl Serialize) -> Result<Vec<u8>, String> {
    postcard::to_stdvec(&(sender(identity), payload)).map_err(|error| error.to_string())
}

/// Reads a message of this version and run; otherwise says what is wrong.
pub fn unpack<T: DeserializeOwned>(identity: &Identity, bytes: &[u8]) -> Result<T, String> {
    let unreadable = |error: postcard::Error| format!("a message cannot be read ({error})");
    let ((version, digest), payload) = postcard::take_from_bytes::<(String, String)>(bytes).map_err(unreadable)?;
    let (own_version, own_digest) = sender(identity);
    if version != own_version {
        return Err(format!(
            "rflvm {version} sent a message to rflvm {own_version}; install the same version on all machines"
        ));
    }
    if digest != own_digest {
        return Err("a message belongs to another fit".into());
    }
    postcard::from_bytes(payload).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_other_runs_and_cut_ones_are_refused() {
        let one = Identity {
            data: "1".into(),
            model: "2".into(),
            seed: 1,
            chains: 1,
            warmup: 1,
            warmup_from: 0,
            draws: 1,
            thin: 1,
            init: "pca".into(),
        };
        let bytes = pack(&one, &vec![1.5, f64::NAN]).unwrap();
        let read: Vec<f64> = unpack(&one, &bytes).unwrap();
        assert!(read.len() == 2 && read[0] == 1.5 && read[1].is_nan());
        let other = Identity { seed: 2, ..one.clone() };
        assert!(unpack::<Vec<f64>>(&other, &bytes).unwrap_err().contains("another fit"));
        assert!(unpack::<Vec<f64>>(&one, &bytes[..bytes.len() - 1]).unwrap_err().contains("cannot be read"));
        let old = postcard::to_stdvec(&(("0.0.1", one.digest()), 1.0)).unwrap();
        assert!(unpack::<f64>(&one, &old).unwrap_err().contains("install the same version"));
    }
}
