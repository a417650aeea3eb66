//! Which chains sample which mode.
//!
//! The first chains sample the chosen mode, the next ones the second, and so on: the chains of a mode are the same, to the last bit, however
//! many modes are sampled after it. If fewer modes were found than asked for, the remaining chains begin again with the first.

use crate::run::Settings;

/// The chains of each of `found` modes; none for modes that are not sampled.
pub fn chains(settings: &Settings, found: usize) -> Vec<Vec<usize>> {
    let (sampled, each) = (settings.modes.min(found), settings.chains_per_mode().max(1));
    let mut chains = vec![Vec::new(); found];
    if sampled > 0 {
        (0..settings.chains).for_each(|chain| chains[chain / each % sampled].push(chain));
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_samples_one_mode_and_all_modes_have_the_same_number() {
        let of = |chains_: usize, modes: usize, found: usize| {
            chains(&Settings { chains: chains_, modes, ..Settings::default() }, found)
        };
        assert_eq!(of(2, 1, 3), [vec![0, 1], vec![], vec![]]);
        assert_eq!(of(4, 2, 3), [vec![0, 1], vec![2, 3], vec![]]);
        assert_eq!(of(6, 3, 2), [vec![0, 1, 4, 5], vec![2, 3]]);
        assert_eq!(of(6, 3, 1), [vec![0, 1, 2, 3, 4, 5]]);
        assert!(of(2, 1, 0).is_empty());
    }
}
