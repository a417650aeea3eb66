//! Elementary functions as straight-line arithmetic, so that loops over them vectorise.
//!
//! Written by hand because no call into libm vectorises. There are no branches, tables or
//! float-to-integer conversions (AVX2 has none for 64 bits): integers are read off the low bits
//! of a float to which 1.5·2^52 has been added. `FMA` says whether `mul_add` is one instruction;
//! without it the argument reductions stay accurate because their leading constants have
//! trailing zeros. The polynomials are minimax fits, made for these intervals.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_4, LOG2_E};

/// Adding this to |x| < 2^51 rounds x to the nearest integer, left in the low mantissa bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
const LN_2_HI: f64 = 6.931_471_803_691_238e-1;
const LN_2_LO: f64 = 1.908_214_929_270_587_7e-10;
const PI_2_HI: f64 = 1.570_796_326_734_125_6;
const PI_2_LO: f64 = 6.077_100_506_506_192e-11;

/// Where [`exp`] saturates, at 1.65e308.
pub const EXP_MAX: f64 = 709.7;
/// ln of the smallest normal number, below which [`exp`] is zero.
const EXP_MIN: f64 = -708.396_418_532_264_1;

/// a·b + c.
#[inline(always)]
pub fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// c_0 + c_1 x + c_2 x² + c_3 x³, given x². The polynomials are sums of these (Estrin's scheme),
/// rather than Horner's: a processor looks too few instructions ahead to hide long chains.
#[inline(always)]
fn cubic<const FMA: bool>(x: f64, square: f64, c: [f64; 4]) -> f64 {
    let low = fma::<FMA>(c[1], x, c[0]);
    fma::<FMA>(fma::<FMA>(c[3], x, c[2]), square, low)
}

/// e^x: zero where the result would be subnormal (subnormals stall the processor), saturating
/// at e^[`EXP_MAX`].
#[inline(always)]
pub fn exp<const FMA: bool>(x: f64) -> f64 {
    exp_capped::<FMA>(x, EXP_MAX)
}

/// e^min(x, cap), for cap ≤ [`EXP_MAX`].
#[inline(always)]
pub fn exp_capped<const FMA: bool>(x: f64, cap: f64) -> f64 {
    // The constant comes first so that a NaN propagates.
    exp_uncapped::<FMA>(if cap < x { cap } else { x })
}

/// e^x for x ≤ [`EXP_MAX`].
#[inline(always)]
fn exp_uncapped<const FMA: bool>(x: f64) -> f64 {
    let t = fma::<FMA>(x, LOG2_E, ROUND);
    let k = t - ROUND;
    let r = fma::<FMA>(k, -LN_2_LO, fma::<FMA>(k, -LN_2_HI, x));
    let z = r * r;
    let z2 = z * z;
    // (e^r − 1 − r) / r²
    let low = [0.500_000_000_000_001_1, 0.166_666_666_666_664_13, 0.041_666_666_666_530_27, 0.008_333_333_333_494_848];
    let high = [
        0.001_388_888_894_363_512_7,
        0.000_198_412_695_057_647,
        2.480_149_306_541_756_5e-5,
        2.755_758_699_584_043_3e-6,
    ];
    let q = fma::<FMA>(2.499_991_453_905_412_5e-8, r, 2.763_026_861_094_991e-7);
    let q = fma::<FMA>(q, z2, cubic::<FMA>(r, z, high));
    let q = fma::<FMA>(q, z2, cubic::<FMA>(r, z, low));
    let p = 1.0 + fma::<FMA>(z, q, r);
    // Adding k to the exponent field multiplies by 2^k. This fails below EXP_MIN.
    let e = f64::from_bits(p.to_bits().wrapping_add(t.to_bits() << 52));
    if x < EXP_MIN { 0.0 } else { e }
}

/// ln(1+t) for t in [0, 1], given s = t / (2+t): 2 atanh(s).
#[inline(always)]
fn two_atanh<const FMA: bool>(s: f64) -> f64 {
    let z = s * s;
    let z2 = z * z;
    let z4 = z2 * z2;
    let low = [0.666_666_666_666_777_1, 0.399_999_999_960_463_2, 0.285_714_290_583_641_5, 0.222_221_928_855_474_34];
    let high = [0.181_828_146_197_636_15, 0.153_642_864_344_989_67, 0.135_864_014_750_523_45, 0.099_023_726_248_404];
    let q = fma::<FMA>(0.177_407_140_989_246_2, z4, cubic::<FMA>(z, z2, high));
    let q = fma::<FMA>(q, z4, cubic::<FMA>(z, z2, low));
    fma::<FMA>(s * z, q, s + s)
}

/// ln(1 + e^f), with small relative error in both tails.
#[inline(always)]
pub fn softplus<const FMA: bool>(f: f64) -> f64 {
    let t = exp_uncapped::<FMA>(-f.abs());
    let positive = if f > 0.0 { f } else { 0.0 };
    positive + two_atanh::<FMA>(t / (2.0 + t))
}

/// 1 / (1 + e^-f).
#[inline(always)]
pub fn logistic<const FMA: bool>(f: f64) -> f64 {
    let t = exp_uncapped::<FMA>(-f.abs());
    (if f < 0.0 { t } else { 1.0 }) / (1.0 + t)
}

/// [`softplus`] and [`logistic`] of f, for little more than the cost of one.
#[inline(always)]
pub fn softplus_logistic<const FMA: bool>(f: f64) -> (f64, f64) {
    let t = exp_uncapped::<FMA>(-f.abs());
    let positive = if f > 0.0 { f } else { 0.0 };
    let numerator = if f < 0.0 { t } else { 1.0 };
    let (one, two) = (1.0 + t, 2.0 + t);
    // One division serves both quotients: it costs as much as the whole polynomial.
    let inverse = 1.0 / (one * two);
    let softplus = positive + two_atanh::<FMA>(t * one * inverse);
    (softplus, numerator * two * inverse)
}

/// ln x for positive, normal, finite x.
#[inline(always)]
pub fn ln<const FMA: bool>(x: f64) -> f64 {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const EXPONENT: u64 = 0x4330_0000_0000_0000;
    // x = 2^k (1+f) with 1+f in [√½, √2).
    let shifted = x.to_bits().wrapping_add(ONE - SQRT_HALF);
    let k = f64::from_bits((shifted >> 52) | EXPONENT) - (4_503_599_627_370_496.0 + 1023.0);
    let f = f64::from_bits((shifted & 0x000f_ffff_ffff_ffff) + SQRT_HALF) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let low = [0.666_666_666_666_673_4, 0.399_999_999_994_160_2, 0.285_714_287_421_013_5, 0.222_221_986_012_391_4];
    let q = fma::<FMA>(0.153_140_843_389_486_28, z, 0.181_835_629_373_087_95);
    let q = fma::<FMA>(0.147_956_286_582_187_87, z2, q);
    let q = fma::<FMA>(q, z2 * z2, cubic::<FMA>(z, z2, low));
    let half = 0.5 * f * f;
    // ln(1+f) = f - half + s (half + z q); the small parts are added first.
    let tail = fma::<FMA>(k, LN_2_LO, s * fma::<FMA>(z, q, half));
    fma::<FMA>(k, LN_2_HI, f - (half - tail))
}

/// (sin x, cos x): absolute error near 1e-16 for |x| ≤ 1e6, growing like |x|·1e-16 beyond, the
/// results staying within [-1, 1] for every finite x.
#[inline(always)]
pub fn sin_cos<const FMA: bool>(x: f64) -> (f64, f64) {
    let t = fma::<FMA>(x, FRAC_2_PI, ROUND);
    let k = t - ROUND;
    let r = fma::<FMA>(k, -PI_2_LO, fma::<FMA>(k, -PI_2_HI, x));
    // Applies only where x is so large that the reduction has lost all precision.
    let bound = FRAC_PI_4 + 1e-3;
    let r = if bound < r { bound } else { r };
    let r = if -bound > r { -bound } else { r };
    let z = r * r;
    let z2 = z * z;
    let z4 = z2 * z2;
    let low =
        [-1.666_666_666_666_663_2e-1, 8.333_333_333_322_49e-3, -1.984_126_982_985_795e-4, 2.755_731_370_707_006_8e-6];
    let s = fma::<FMA>(1.589_690_995_211_55e-10, z, -2.505_076_025_340_686_3e-8);
    let s = fma::<FMA>(s, z4, cubic::<FMA>(z, z2, low));
    let sin = fma::<FMA>(r * z, s, r);
    let low =
        [4.166_666_666_666_66e-2, -1.388_888_888_887_411e-3, 2.480_158_728_947_673e-5, -2.755_731_435_139_066_3e-7];
    let c = fma::<FMA>(-1.135_964_755_778_819_5e-11, z, 2.087_572_321_298_175e-9);
    let c = fma::<FMA>(c, z4, cubic::<FMA>(z, z2, low));
    let cos = 1.0 - fma::<FMA>(z2, -c, 0.5 * z);
    // The quadrant, in the low two bits of t, says whether to swap the two and which to negate.
    // Bit arithmetic rather than selects: SSE2 and AVX2 lack the 64-bit comparisons.
    let quadrant = t.to_bits();
    let (sin, cos) = (sin.to_bits(), cos.to_bits());
    let swap = (sin ^ cos) & (quadrant & 1).wrapping_neg();
    let sin = sin ^ swap ^ ((quadrant & 2) << 62);
    let cos = cos ^ swap ^ ((quadrant.wrapping_add(1) & 2) << 62);
    (f64::from_bits(sin), f64::from_bits(cos))
}

#[cfg(test)]
mod tests {
    use super::super::tests::Uniform;
    use super::*;

    /// The largest error of `found`, in units of the last place of `expected`, over random x.
    fn worst_ulp(low: f64, high: f64, found: fn(f64) -> f64, expected: fn(f64) -> f64) -> f64 {
        let mut random = Uniform(7);
        let mut worst: f64 = 0.0;
        for _ in 0..200_000 {
            let x = random.draw(low, high);
            let expected = expected(x);
            let ulp = expected.abs().next_up() - expected.abs();
            worst = worst.max((found(x) - expected).abs() / ulp);
        }
        worst
    }

    fn assert_ulp(bound: f64, low: f64, high: f64, found: [fn(f64) -> f64; 2], e: fn(f64) -> f64) {
        for found in found {
            let worst = worst_ulp(low, high, found, e);
            assert!(worst <= bound, "{worst} ulp in [{low}, {high}]");
        }
    }

    fn softplus_std(f: f64) -> f64 {
        f.max(0.0) + (-f.abs()).exp().ln_1p()
    }

    fn logistic_std(f: f64) -> f64 {
        if f < 0.0 { f.exp() / (1.0 + f.exp()) } else { 1.0 / (1.0 + (-f).exp()) }
    }

    #[test]
    fn exp_is_accurate() {
        for (low, high) in [(-708.39, 709.7), (-1.0, 1.0), (-40.0, 10.0)] {
            assert_ulp(2.0, low, high, [exp::<true>, exp::<false>], f64::exp);
        }
        for exp in [exp::<true>, exp::<false>] {
            assert_eq!(exp(0.0), 1.0);
            for x in [-709.0, -745.0, -1e4, -1e300, f64::NEG_INFINITY] {
                assert_eq!(exp(x), 0.0);
            }
            for x in [709.7, 710.0, 1e300, f64::INFINITY] {
                assert_eq!(exp(x), exp(EXP_MAX));
            }
            assert!(exp(EXP_MAX).is_finite() && exp(EXP_MAX) > 1.6e308);
            assert!(exp(EXP_MIN).is_normal() && exp(f64::NAN).is_nan());
        }
    }

    #[test]
    fn softplus_and_logistic_are_accurate() {
        fn first<const FMA: bool>(f: f64) -> f64 {
            softplus_logistic::<FMA>(f).0
        }
        fn second<const FMA: bool>(f: f64) -> f64 {
            softplus_logistic::<FMA>(f).1
        }
        for (low, high) in [(-700.0, 700.0), (-40.0, 40.0), (-1.0, 1.0)] {
            assert_ulp(4.0, low, high, [softplus::<true>, softplus::<false>], softplus_std);
            assert_ulp(5.0, low, high, [first::<true>, first::<false>], softplus_std);
            assert_ulp(4.0, low, high, [logistic::<true>, logistic::<false>], logistic_std);
            assert_ulp(5.0, low, high, [second::<true>, second::<false>], logistic_std);
        }
        assert_eq!(softplus::<false>(1e300), 1e300);
        assert_eq!(softplus::<false>(-1e300), 0.0);
        assert_eq!(softplus_logistic::<false>(1e300), (1e300, 1.0));
        assert_eq!(softplus_logistic::<false>(-1e300), (0.0, 0.0));
    }

    #[test]
    fn ln_is_accurate() {
        for (low, high) in [(0.5, 2.0), (0.99, 1.01), (1e-300, 1e300), (1e-9, 1e-3), (1.0, 1e6)] {
            assert_ulp(2.0, low, high, [ln::<true>, ln::<false>], f64::ln);
        }
        assert_eq!(ln::<false>(1.0), 0.0);
        assert!((ln::<false>(f64::MIN_POSITIVE) - f64::MIN_POSITIVE.ln()).abs() < 1e-12);
    }

    #[test]
    fn sin_cos_is_accurate() {
        let mut random = Uniform(8);
        for sin_cos in [sin_cos::<true>, sin_cos::<false>] {
            for reach in [1.0, 10.0, 1e3, 1e5] {
                for _ in 0..100_000 {
                    let x = random.draw(-reach, reach);
                    let (sin, cos) = sin_cos(x);
                    assert!((sin - x.sin()).abs() < 4e-16, "{x}");
                    assert!((cos - x.cos()).abs() < 4e-16, "{x}");
                }
            }
            for exponent in 0..1020 {
                let x = random.draw(1.0, 2.0) * 2f64.powi(exponent);
                let (sin, cos) = sin_cos(-x);
                let error = (sin + x.sin()).abs().max((cos - x.cos()).abs());
                assert!(sin.abs() <= 1.0 && cos.abs() <= 1.0);
                assert!(x > 1e14 || error < 1e-15 + 2e-16 * x, "{x} {error}");
            }
            assert_eq!(sin_cos(0.0), (0.0, 1.0));
        }
    }
}
