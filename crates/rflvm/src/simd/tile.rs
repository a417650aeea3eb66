//! The register tile from which Gram matrices, Cholesky factors and products are built.
//!
//! Every element of a result is one sum in the order of its terms, so that neither the shape of the
//! tiles nor the division of work affects the bits.

use super::math;
use std::ops::{Deref, DerefMut};

/// Numbers handled together, and the unit of padding.
pub const LANES: usize = 8;

/// Eight numbers in registers. Uses intrinsics, because LLVM spills a tile of arrays; and loops, because a closure is compiled for the
/// baseline, into which no intrinsic of a wider instruction set can be inlined.
pub(super) trait Lanes: Copy {
    /// A register tile is `WIDTH` times eight numbers × `COUNT`: as large as the registers allow.
    const WIDTH: usize;
    const COUNT: usize;
    fn load(x: &[f64]) -> Self;
    fn store(self, x: &mut [f64]);
    /// Loads fewer than eight numbers, then zeros.
    fn load_part(x: &[f64]) -> Self;
    /// Stores only as many numbers as `x` has, fewer than eight.
    fn store_part(self, x: &mut [f64]);
    /// Loads as many numbers as there are, up to eight, then zeros.
    #[inline(always)]
    fn load_some(x: &[f64]) -> Self {
        if x.len() >= LANES { Self::load(x) } else { Self::load_part(x) }
    }
    /// Stores as many numbers as fit.
    #[inline(always)]
    fn store_some(self, x: &mut [f64]) {
        if x.len() >= LANES { self.store(x) } else { self.store_part(x) }
    }
    fn splat(x: f64) -> Self;
    fn times(self, b: Self) -> Self;
    /// c + a·b, or c − a·b if `MINUS`.
    fn fma<const MINUS: bool>(a: Self, b: Self, c: Self) -> Self;
}

/// [`Lanes`] of `N` registers of 8 / `N` numbers with the named intrinsics.
#[cfg(target_arch = "x86_64")]
macro_rules! lanes {
    ($name:ident, $register:ident * $n:literal, $width:literal * $count:literal,
     $load:ident, $store:ident, $load_part:ident, $store_part:ident,
     $splat:ident, $mul:ident, $add:ident, $subtract:ident) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name([x86::$register; $n]);

        // SAFETY of every block: only bodies that `dispatch!` compiled for this instruction set
        // name this type, and loads and stores are of a whole array or of what the slice has.
        impl Lanes for $name {
            const WIDTH: usize = $width;
            const COUNT: usize = $count;
            #[inline(always)]
            fn load(x: &[f64]) -> Self {
                let x: &[f64; LANES] = x[..LANES].try_into().unwrap();
                let mut own = Self::splat(0.0);
                for i in 0..$n {
                    own.0[i] = unsafe { x86::$load(x[i * LANES / $n..].as_ptr()) };
                }
                own
            }
            #[inline(always)]
            fn store(self, x: &mut [f64]) {
                let x: &mut [f64; LANES] = (&mut x[..LANES]).try_into().unwrap();
                for i in 0..$n {
                    unsafe { x86::$store(x[i * LANES / $n..].as_mut_ptr(), self.0[i]) }
                }
            }
            #[inline(always)]
            fn load_part(x: &[f64]) -> Self {
                let mut own = Self::splat(0.0);
                for i in 0..$n {
                    own.0[i] = unsafe { x86::$load_part(x, i * LANES / $n) };
                }
                own
            }
            #[inline(always)]
            fn store_part(self, x: &mut [f64]) {
                for i in 0..$n {
                    unsafe { x86::$store_part(x, i * LANES / $n, self.0[i]) }
                }
            }
            #[inline(always)]
            fn splat(x: f64) -> Self {
                $name([unsafe { x86::$splat(x) }; $n])
            }
            #[inline(always)]
            fn times(mut self, b: Self) -> Self {
                for i in 0..$n {
                    self.0[i] = unsafe { x86::$mul(self.0[i], b.0[i]) };
                }
                self
            }
            #[inline(always)]
            fn fma<const MINUS: bool>(a: Self, b: Self, mut c: Self) -> Self {
                for i in 0..$n {
                    c.0[i] = match MINUS {
                        false => unsafe { x86::$add(a.0[i], b.0[i], c.0[i]) },
                        true => unsafe { x86::$subtract(a.0[i], b.0[i], c.0[i]) },
                    };
                }
                c
            }
        }
    };
}

/// The intrinsics, with loads and stores of the part of a slice from an index: masked lanes touch no memory.
#[cfg(target_arch = "x86_64")]
mod x86 {
    pub use std::arch::x86_64::*;

    #[inline(always)]
    pub unsafe fn load_512(x: &[f64], from: usize) -> __m512d {
        let mask = (1u16 << x.len().saturating_sub(from).min(8)) - 1;
        unsafe { _mm512_maskz_loadu_pd(mask as u8, x.as_ptr().wrapping_add(from)) }
    }

    #[inline(always)]
    pub unsafe fn store_512(x: &mut [f64], from: usize, value: __m512d) {
        let mask = (1u16 << x.len().saturating_sub(from).min(8)) - 1;
        unsafe { _mm512_mask_storeu_pd(x.as_mut_ptr().wrapping_add(from), mask as u8, value) }
    }

    #[inline(always)]
    unsafe fn mask_256(len: usize, from: usize) -> __m256i {
        const MASKS: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
        unsafe { _mm256_loadu_si256(MASKS[4 - len.saturating_sub(from).min(4)..].as_ptr().cast()) }
    }

    #[inline(always)]
    pub unsafe fn load_256(x: &[f64], from: usize) -> __m256d {
        unsafe { _mm256_maskload_pd(x.as_ptr().wrapping_add(from), mask_256(x.len(), from)) }
    }

    #[inline(always)]
    pub unsafe fn store_256(x: &mut [f64], from: usize, value: __m256d) {
        unsafe { _mm256_maskstore_pd(x.as_mut_ptr().wrapping_add(from), mask_256(x.len(), from), value) }
    }
}

#[cfg(target_arch = "x86_64")]
lanes!(
    Avx512,
    __m512d * 1,
    3 * 8,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    load_512,
    store_512,
    _mm512_set1_pd,
    _mm512_mul_pd,
    _mm512_fmadd_pd,
    _mm512_fnmadd_pd
);
#[cfg(target_arch = "x86_64")]
lanes!(
    Avx2,
    __m256d * 2,
    1 * 6,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    load_256,
    store_256,
    _mm256_set1_pd,
    _mm256_mul_pd,
    _mm256_fmadd_pd,
    _mm256_fnmadd_pd
);

#[derive(Clone, Copy)]
pub(super) struct Baseline([f64; LANES]);

impl Lanes for Baseline {
    const WIDTH: usize = 1;
    const COUNT: usize = if cfg!(target_arch = "aarch64") { 6 } else { 2 };
    #[inline(always)]
    fn load(x: &[f64]) -> Self {
        Baseline(x[..LANES].try_into().unwrap())
    }
    #[inline(always)]
    fn store(self, x: &mut [f64]) {
        x[..LANES].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn load_part(x: &[f64]) -> Self {
        let mut own = [0.0; LANES];
        own[..x.len()].copy_from_slice(x);
        Baseline(own)
    }
    #[inline(always)]
    fn store_part(self, x: &mut [f64]) {
        x.iter_mut().zip(self.0).for_each(|(x, value)| *x = value);
    }
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Baseline([x; LANES])
    }
    #[inline(always)]
    fn times(mut self, b: Self) -> Self {
        for i in 0..LANES {
            self.0[i] *= b.0[i];
        }
        self
    }
    #[inline(always)]
    fn fma<const MINUS: bool>(a: Self, b: Self, mut c: Self) -> Self {
        for i in 0..LANES {
            let a = if MINUS { -a.0[i] } else { a.0[i] };
            c.0[i] = math::fma::<{ super::level::BASELINE_FMA }>(a, b.0[i], c.0[i]);
        }
        c
    }
}

/// `C` times 8 `V` sums: a tile of the result, each of its `C` lines contiguous in memory.
pub(super) type Tile<T, const V: usize, const C: usize> = [[T; V]; C];

/// The terms of a tile's sums: outer products of 8 `V` numbers along the lines and one number per line. Not `Iterator`,
/// whose methods are not `#[inline(always)]`.
pub(super) trait Terms<T: Lanes, const V: usize, const C: usize> {
    fn next(&mut self) -> Option<([T; V], [f64; C])>;
}

/// The sums, with all terms added or, if `MINUS`, subtracted.
#[inline(always)]
pub(super) fn add_terms<T: Lanes, const MINUS: bool, const V: usize, const C: usize>(
    mut sums: Tile<T, V, C>,
    mut terms: impl Terms<T, V, C>,
) -> Tile<T, V, C> {
    while let Some((along, across)) = terms.next() {
        for j in 0..C {
            let across = T::splat(across[j]);
            for v in 0..V {
                sums[j][v] = T::fma::<MINUS>(along[v], across, sums[j][v]);
            }
        }
    }
    sums
}

/// Eight numbers on their own cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct CacheLine([f64; LANES]);

/// Numbers aligned to a cache line: loads that straddle two lines cost a tenth of the time.
#[derive(Debug, Clone, Default)]
pub struct CacheLines(Vec<CacheLine>);

impl CacheLines {
    /// Empty.
    pub const fn new() -> Self {
        CacheLines(Vec::new())
    }

    /// Enough zeros to fill whole lines, reusing memory if it is large enough.
    pub fn reset(&mut self, numbers: usize) {
        self.0.clear();
        self.0.resize(numbers.div_ceil(LANES), CacheLine::default());
    }

    /// Space for at least this many numbers; their values are unspecified.
    pub fn reserve(&mut self, numbers: usize) {
        if self.len() < numbers {
            self.0.resize(numbers.div_ceil(LANES), CacheLine::default());
        }
    }
}

impl Deref for CacheLines {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        // SAFETY: a line is an array of numbers and nothing else.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * LANES) }
    }
}

impl DerefMut for CacheLines {
    fn deref_mut(&mut self) -> &mut [f64] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * LANES) }
    }
}
