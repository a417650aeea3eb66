//! Vectorised arithmetic for the sampler's inner loops, chosen at run time.
//!
//! Written by hand because a call to `f64::exp` or `f64::sin` stays a scalar library call that
//! LLVM cannot vectorise, and SIMD crates pick their width at compile time, so that they reach
//! AVX only under `-C target-cpu=native`. Here every function is an ordinary branch-free loop,
//! compiled once per instruction set by `dispatch!` and picked by one relaxed atomic load.
//!
//! Results depend on the input and on whether the level has fused multiply-add, on nothing else:
//! sums run in eight fixed lanes whatever the register width, so [`Level::Avx2`] and
//! [`Level::Avx512`] agree to the last bit.

mod likelihood;
mod linear;
pub mod math;
mod product;
mod sweep;
#[cfg(test)]
pub(crate) mod tests;
mod tile;
mod triangle;

use std::sync::atomic::{AtomicU8, Ordering};

pub use likelihood::*;
pub use linear::*;
pub use product::*;
pub use tile::*;
pub use triangle::*;

/// An instruction set the kernels are compiled for, weakest first.
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

/// Whether [`Level::Baseline`] may fuse: without the instruction `mul_add` is a slow library call.
const BASELINE_FMA: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// The [`Level`] in force as its discriminant, or 0 before the first call.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// The level in force: the best this machine has, unless [`force`] has lowered it.
#[inline]
pub fn level() -> Level {
    #[cfg(test)]
    if let Some(level) = tests::PINNED.get() {
        return level;
    }
    match LEVEL.load(Ordering::Relaxed) {
        1 => Level::Baseline,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => force(Level::Avx512),
    }
}

/// Sets the level for the whole process, or the best below it that the machine has; returns that.
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

/// Compiles each function's body once per [`Level`], with `FMA` naming a constant and `Eight` a type
/// of eight lanes in it, and calls the one in force. What the body calls must be `#[inline(always)]`, or it is compiled
/// for the baseline.
macro_rules! dispatch {
    ($($(#[$meta:meta])*
        pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block)*) => {$(
        $(#[$meta])*
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
            fn avx512($($arg: $ty),*) $(-> $ret)? {
                #[allow(dead_code)]
                const FMA: bool = true;
                #[allow(dead_code)]
                type Eight = $crate::kernels::tile::Avx512;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) $(-> $ret)? {
                #[allow(dead_code)]
                const FMA: bool = true;
                #[allow(dead_code)]
                type Eight = $crate::kernels::tile::Avx2;
                $body
            }
            fn baseline($($arg: $ty),*) $(-> $ret)? {
                #[allow(dead_code)]
                const FMA: bool = $crate::kernels::BASELINE_FMA;
                #[allow(dead_code)]
                type Eight = $crate::kernels::tile::Baseline;
                $body
            }
            match $crate::kernels::level() {
                // SAFETY: the level never exceeds `detected()`, which looked for these features.
                #[cfg(target_arch = "x86_64")]
                $crate::kernels::Level::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::kernels::Level::Avx2 => unsafe { avx2($($arg),*) },
                _ => baseline($($arg),*),
            }
        }
    )*};
}
use dispatch;
