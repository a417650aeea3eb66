//! The active instruction set.

use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction set the functions are compiled for, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// What the compilation target guarantees.
    Baseline = 1,
    /// AVX2 with fused multiply-add.
    Avx2 = 2,
    /// AVX-512 F, DQ and VL.
    Avx512 = 3,
}

/// Whether [`Level::Baseline`] may fuse: without the instruction, `mul_add` is a slow library call.
pub(crate) const BASELINE_FMA: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

#[cfg(test)]
thread_local! {
    /// A level for a single test: [`force`] would affect tests running in parallel.
    pub(super) static PINNED: std::cell::Cell<Option<Level>> = const { std::cell::Cell::new(None) };
}

/// The active [`Level`] as its discriminant, or 0 before the first call.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// The active level: the best this machine has, unless lowered by [`force`].
#[inline]
pub fn level() -> Level {
    #[cfg(test)]
    if let Some(level) = PINNED.get() {
        return level;
    }
    match LEVEL.load(Ordering::Relaxed) {
        1 => Level::Baseline,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => force(Level::Avx512),
    }
}

/// Sets the level for the whole process, or the best level below it that the machine has; returns that.
#[cold]
pub fn force(level: Level) -> Level {
    let level = level.min(detected());
    LEVEL.store(level as u8, Ordering::Relaxed);
    level
}

/// The best level this machine has.
pub fn detected() -> Level {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        return if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            Level::Avx512
        } else {
            Level::Avx2
        };
    }
    Level::Baseline
}
