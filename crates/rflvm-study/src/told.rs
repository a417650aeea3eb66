//! What processes that share a table send each other.

use crate::error::Error;
use rflvm::internal::error::SpecError;
use rflvm::internal::ranks::Ranks;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The bytes of all processes, on all.
fn all_bytes(ranks: &dyn Ranks, own: &[u8]) -> Vec<Vec<u8>> {
    let lengths = ranks.gather(&[own.len() as f64], &vec![1; ranks.size()]);
    let counts: Vec<usize> = lengths.iter().map(|&length| (length as usize).div_ceil(8)).collect();
    let all = ranks.gather(&words(own), &counts);
    let mut rest = &all[..];
    let mut take = |(&count, &length): (&usize, &f64)| {
        let (these, others) = rest.split_at(count.min(rest.len()));
        rest = others;
        let mut told = bytes(these);
        // Without the padding of the last word.
        told.truncate(length as usize);
        told
    };
    counts.iter().zip(&lengths).map(&mut take).collect()
}

/// The bytes of the first process, on all.
pub(crate) fn tell(ranks: &dyn Ranks, text: &[u8]) -> Vec<u8> {
    let own = if ranks.rank() == 0 { text } else { &[] };
    all_bytes(ranks, own).swap_remove(0)
}

/// What each process has found, on all.
pub(crate) fn all<T: Serialize + DeserializeOwned>(ranks: &dyn Ranks, own: &T) -> Result<Vec<T>, Error> {
    let text = serde_json::to_vec(own).map_err(|error| unlike(&error.to_string()))?;
    let read = |text: Vec<u8>| serde_json::from_slice(&text).map_err(|error| unlike(&error.to_string()));
    all_bytes(ranks, &text).into_iter().map(read).collect()
}

/// What a process has found, or its error; if several have failed, only the first of them returns, and ends the others.
pub(crate) fn lowest<T>(ranks: &dyn Ranks, own: Result<T, Error>) -> Result<T, Error> {
    let every = vec![1; ranks.size()];
    let failed = ranks.gather(&[f64::from(u8::from(own.is_err()))], &every);
    if failed[..ranks.rank()].iter().any(|&flag| flag > 0.0) || own.is_ok() && failed.contains(&1.0) {
        // Until it is ended.
        ranks.gather(&[0.0], &every);
    }
    own
}

/// Processes that do not have the same table.
pub(crate) fn unlike(problem: &str) -> Error {
    let rule = format!("the processes do not read the same table ({problem}); let all of them read the same file");
    SpecError::Setting { setting: "table", value: "shared".into(), rule }.into()
}

/// Text as numbers, whose bits are kept on the way.
fn words(text: &[u8]) -> Vec<f64> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        f64::from_le_bytes(word)
    };
    text.chunks(8).map(word).collect()
}

fn bytes(words: &[f64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rflvm::internal::ranks::{Alone, Threads};

    #[test]
    fn text_survives_as_numbers() {
        for text in ["", "a", "eight by", "a longer text with an é"] {
            assert_eq!(tell(&Alone, text.as_bytes()), text.as_bytes());
        }
    }

    #[test]
    fn all_learn_what_each_has_found_in_their_order() {
        let told = |ranks: &dyn Ranks| {
            let own = "é".repeat(3 * ranks.rank());
            (all(ranks, &own).unwrap(), tell(ranks, own.as_bytes()), lowest(ranks, Ok(ranks.rank())).unwrap())
        };
        let ranks = Threads::connected(3);
        std::thread::scope(|scope| {
            let each: Vec<_> = ranks.iter().map(|own| scope.spawn(move || told(own.as_ref()))).collect();
            for (rank, thread) in each.into_iter().enumerate() {
                let expected = (vec![String::new(), "ééé".into(), "éééééé".into()], Vec::new(), rank);
                assert_eq!(thread.join().unwrap(), expected);
            }
        });
    }
}
