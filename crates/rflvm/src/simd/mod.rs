//! Vectorised arithmetic for the sampler's inner loops, chosen at run time.
//!
//! Written by hand because a call to `f64::exp` or `f64::sin` stays a scalar library call that
//! LLVM cannot vectorise, and SIMD crates pick their width at compile time, so that they reach
//! AVX only under `-C target-cpu=native`. Here every function is an ordinary branch-free loop,
//! compiled once per instruction set by `dispatch!` and selected by one relaxed atomic load.
//!
//! Results depend only on the input and on whether the level has fused multiply-add:
//! sums run in eight fixed lanes whatever the register width, so [`Level::Avx2`] and
//! [`Level::Avx512`] agree to the last bit.

mod level;
mod likelihood;
mod linear;
pub mod math;
mod product;
mod sweep;
#[cfg(test)]
pub(crate) mod tests;
mod tile;
mod triangle;
mod tridiagonal;

pub(crate) use level::BASELINE_FMA;
pub use level::{Level, detected, force, level};
pub use likelihood::*;
pub use linear::*;
pub use product::*;
pub use tile::*;
pub use triangle::*;
pub use tridiagonal::*;

/// Compiles each function's body once per [`Level`], with a constant `FMA` and a type `Eight`
/// of eight lanes, and calls the active one. Whatever the body calls must be `#[inline(always)]`, or it is compiled
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
                type Eight = $crate::simd::tile::Avx512;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) $(-> $ret)? {
                #[allow(dead_code)]
                const FMA: bool = true;
                #[allow(dead_code)]
                type Eight = $crate::simd::tile::Avx2;
                $body
            }
            fn baseline($($arg: $ty),*) $(-> $ret)? {
                #[allow(dead_code)]
                const FMA: bool = $crate::simd::BASELINE_FMA;
                #[allow(dead_code)]
                type Eight = $crate::simd::tile::Baseline;
                $body
            }
            match $crate::simd::level() {
                // SAFETY: the level never exceeds `detected()`, which looked for these features.
                #[cfg(target_arch = "x86_64")]
                $crate::simd::Level::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::simd::Level::Avx2 => unsafe { avx2($($arg),*) },
                _ => baseline($($arg),*),
            }
        }
    )*};
}
use dispatch;
