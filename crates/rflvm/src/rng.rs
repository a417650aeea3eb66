//! One seed, named streams: each piece of work (chain, sweep, step, index) has its own generator,
//! so that draws do not depend on which thread does the work, or in what order.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator of a stream.
pub type StreamRng = Xoshiro256PlusPlus;

/// A node in the tree of random streams. Cheap to copy; holds no mutable state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    // 128 bits, so that no two of the ~1e10 streams of a long run are likely to coincide.
    key: [u64; 2],
}

impl Stream {
    /// The root of the tree.
    pub fn new(seed: u64) -> Self {
        Stream { key: [mix(seed), mix(!seed)] }
    }

    /// The branch called `name`.
    pub fn named(self, name: &str) -> Self {
        // FNV-1a: a name is a few letters, and only needs to differ from its siblings.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        self.at(hash)
    }

    /// The branch number `index`.
    pub fn at(self, index: u64) -> Self {
        let a = mix(self.key[0] ^ mix(index));
        let b = mix(self.key[1].wrapping_add(index).rotate_left(23) ^ a);
        Stream { key: [a, b] }
    }

    /// Its key.
    pub fn key(self) -> [u64; 2] {
        self.key
    }

    /// The branch at several indices in turn.
    pub(crate) fn along(self, indices: impl IntoIterator<Item = u64>) -> Self {
        indices.into_iter().fold(self, Stream::at)
    }

    /// Whether the piece of work with this stream belongs to a random fraction.
    pub(crate) fn is_chosen(self, share: f64) -> bool {
        share >= 1.0 || self.named("made").rng().random::<f64>() < share
    }

    /// A generator at the start of this stream.
    pub fn rng(self) -> StreamRng {
        let mut seed = [0_u8; 32];
        let words = [self.key[0], self.key[1], mix(self.key[0] ^ GOLDEN), mix(self.key[1] ^ GOLDEN)];
        for (bytes, word) in seed.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        StreamRng::from_seed(seed)
    }
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64 (Steele, Lea, Flood 2014): a bijection that scatters near-by keys.
fn mix(x: u64) -> u64 {
    let z = x.wrapping_add(GOLDEN);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_repeatable_and_distinct() {
        let root = Stream::new(7);
        let first = |s: Stream| s.rng().random::<u64>();
        assert_eq!(first(root.named("x").at(3)), first(Stream::new(7).named("x").at(3)));
        let mut seen: Vec<u64> = (0..1000).map(|i| first(root.named("x").at(i))).collect();
        seen.extend((0..1000).map(|i| first(root.named("w").at(i))));
        seen.extend((0..1000).map(|i| first(root.at(i).named("x"))));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 3000);
    }
}
