//! The Pólya-gamma distribution PG(b, c) for real b > 0 and real c,
//!
//! ```text
//! ω = 1/(2π²) Σ_{k≥1} g_k / ((k − ½)² + c²/(4π²)),   g_k ~ Ga(b, 1) independent,
//! E[exp(−tω)] = cosh^b(c/2) / cosh^b(√((c²/2 + t)/2)),
//! ```
//!
//! the mixing distribution that makes logistic and negative-binomial likelihoods
//! conditionally Gaussian (Polson, Scott and Windle 2013).
//!
//! | where                | method                                         | error in the CDF |
//! |----------------------|------------------------------------------------|------------------|
//! | b ≤ 1 + exp(\|c\|)   | rejection from one inverse Gaussian            | rounding only    |
//! | b > 1 + exp(\|c\|)   | 6 leading gammas and one gamma for the rest    | < 4e-7           |
//!
//! so b ≤ 2 is exact for every c, and every b is exact once |c| ≥ ln b.
//!
//! # The exact method
//!
//! PG(b, c) = J*(b, z)/4 with z = |c|/2. The density of J*(b, 0) is the
//! alternating series (Biane, Pitman and Yor 2001)
//!
//! ```text
//! f(x) = l(x) r(x),   l(x) = 2^b b/√(2πx³) exp(−b²/(2x)),   r(x) = Σ_{n≥0} (−1)^n a_n(x),
//! a_n(x) = Γ(n+b)/(Γ(b) n!) (2n+b)/b exp(−2n(n+b)/x),       a_0 = 1,
//! ```
//!
//! and J*(b, z) has density ∝ exp(−z²x/2) f(x). The leading term l bounds f for
//! all x and all b, so 0 ≤ r ≤ 1: with s = √(2λ) its Laplace transform is
//!
//! ```text
//! 2^b e^{−bs} = cosh^{−b}(s) (1 + e^{−2s})^b = cosh^{−b}(s) (1 + Σ_{k≥1} C(b,k) e^{−2ks}),
//! ```
//!
//! and the sum is the transform of Σ_k C(b,k) 2k/√(2πx³) exp(−2k²/x), which is
//! nowhere negative: k C(b,k) is positive for k < b + 1, and beyond that it
//! alternates while decreasing. Thus l = f + f∗(a positive measure) ≥ f. Tilted by
//! exp(−z²x/2), l is an inverse Gaussian of mean b/z and shape b²; such a draw is
//! accepted with probability r(x), overall (1 + e^{−2z})^{−b} ≥ ¼. The event u < r(x)
//! is decided by the partial sums as in Devroye (2009), who instead splits the line in
//! two because he has a second series for b = 1; here b need not be 1.
//!
//! # The gamma sum
//!
//! Truncating the sum is the approximation of Polson, Scott and Windle (2013), and
//! Windle, Polson and Scott (2014) survey others for large b. Here one more gamma
//! has the exact mean and variance of the omitted terms, which leaves an error
//! in the third and higher cumulants; a test bounds it by the characteristic functions.
//!
//! # References
//!
//! * N. G. Polson, J. G. Scott, J. Windle (2013). Bayesian inference for logistic
//!   models using Pólya-gamma latent variables. JASA 108, 1339–1349.
//! * L. Devroye (2009). On exact simulation algorithms for some distributions
//!   related to Jacobi theta functions. Stat. Probab. Lett. 79, 2251–2259.
//! * J. Windle, N. G. Polson, J. G. Scott (2014). Sampling Pólya-gamma random
//!   variates: alternate and approximate techniques. arXiv:1405.0506.
//! * P. Biane, J. Pitman, M. Yor (2001). Probability laws related to the Jacobi
//!   theta and Riemann zeta functions. Bull. AMS 38, 435–465.

use core::f64::consts::PI;
use core::fmt;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// Leading terms of the gamma sum that are drawn individually.
const LEADING: usize = 6;

/// The Pólya-gamma distribution PG(b, c).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolyaGamma {
    b: f64,
    c: f64,
}

/// Error type returned from [`PolyaGamma::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// `b <= 0`, infinite or NaN.
    ShapeInvalid,
    /// `c` infinite or NaN.
    TiltInvalid,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::ShapeInvalid => "b is not positive and finite in Pólya-gamma distribution",
            Error::TiltInvalid => "c is not finite in Pólya-gamma distribution",
        })
    }
}

impl std::error::Error for Error {}

impl PolyaGamma {
    /// PG(b, c) with shape `b > 0` and tilt `c`, both finite.
    pub fn new(b: f64, c: f64) -> Result<Self, Error> {
        if !(b > 0.0 && b.is_finite()) {
            return Err(Error::ShapeInvalid);
        }
        if !c.is_finite() {
            return Err(Error::TiltInvalid);
        }
        Ok(Self { b, c })
    }

    /// `E[ω]` = b/(2c) tanh(c/2).
    pub fn mean(&self) -> f64 {
        self.b * unit_moments(self.c.abs()).0
    }

    /// `Var[ω]` = b/(4c³) (sinh c − c) sech²(c/2).
    pub fn variance(&self) -> f64 {
        self.b * unit_moments(self.c.abs()).1
    }

    /// The Laplace transform E[exp(−tω)], for `t >= -c²/2`.
    pub fn laplace(&self, t: f64) -> f64 {
        // ln cosh u = u + ln(1 + e^{−2u}) − ln 2, and u − v without cancellation.
        let u = 0.5 * self.c.abs();
        let v = (u * u + 0.5 * t).sqrt();
        let linear = if t == 0.0 { 0.0 } else { -0.5 * t / (u + v) };
        (self.b * (linear + (-2.0 * u).exp().ln_1p() - (-2.0 * v).exp().ln_1p())).exp()
    }
}

impl Distribution<f64> for PolyaGamma {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        draw(self.b, self.c, rng)
    }
}

/// One draw of PG(b, c) without validating the parameters: NaN if `b` is not
/// positive or `c` is not finite.
pub fn draw<R: Rng + ?Sized>(b: f64, c: f64, rng: &mut R) -> f64 {
    if !(b > 0.0 && c.is_finite()) {
        return f64::NAN;
    }
    let c = c.abs();
    if b <= 1.0 || (b - 1.0) * (-c).exp() <= 1.0 {
        0.25 * draw_jacobi(b, 0.5 * c, rng)
    } else {
        draw_gamma_sum(b, c, rng)
    }
}

/// One draw of J*(b, z), z ≥ 0, by rejection from the inverse Gaussian.
fn draw_jacobi<R: Rng + ?Sized>(b: f64, z: f64, rng: &mut R) -> f64 {
    // P(J*(b, z) > 30 + 4b) ≤ e^{−30−4b} E[exp J*(b, 0)] = e^{−30−4b} / cos^b(√2)
    // < 1e-13: beyond this point the sum would be only rounding error.
    let least = 1.0 / (30.0 + 4.0 * b);
    // x⁴ r(x) ≤ 10(1 + b)² if b ≤ 2 (tested) rejects most long draws at once.
    let quick = 10.0 * (1.0 + b) * (1.0 + b);
    let inverse_b = 1.0 / b;
    loop {
        // Michael, Schucany and Haas (1976), their smaller root written without
        // cancellation; for z = 0 it is the Lévy draw b²/N². Everything is in w = 1/x, which
        // keeps divisions out of the loop.
        let n: f64 = rng.sample(StandardNormal);
        let g = 0.5 * inverse_b * n * n;
        let w = if z == 0.0 {
            2.0 * g * inverse_b
        } else {
            let d = z + g + (g * (g + 2.0 * z)).sqrt();
            if rng.random::<f64>() * (d + z) <= d { d * inverse_b } else { (z / d) * (z * inverse_b) }
        };
        let u: f64 = rng.random();
        let is_long = w < least || (b <= 2.0 && u > quick * (w * w) * (w * w));
        if !is_long && is_below_ratio(u, b, w) {
            return 1.0 / w;
        }
    }
}

/// Whether u < r(1/w), using as few terms of the alternating series as needed.
///
/// a_{n+1}/a_n decreases in n for every b and x, so once the terms decrease they keep
/// decreasing, and from there on the partial sums enclose r(x).
fn is_below_ratio(u: f64, b: f64, w: f64) -> bool {
    let mut step = (-2.0 * (1.0 + b) * w).exp();
    let mut term = (b + 2.0) * step;
    let mut sum = 1.0 - term;
    // If a_1 < 1 then a_2/a_1 < (1+b)(4+b)/(2(2+b)²) < 1, so this is a lower bound.
    if u <= sum {
        return true;
    }
    // Needs b > 38, hence z > 1.8 in `draw`, and a proposal of probability below
    // e^{−300}; rejected only so that the terms cannot overflow.
    if term > 40.0 {
        return false;
    }
    let shrink = (-4.0 * w).exp();
    let mut n = 1.0;
    let mut is_upper = false;
    loop {
        step *= shrink;
        let next = term * step * (n + b) * (2.0 * n + 2.0 + b) / ((n + 1.0) * (2.0 * n + b));
        is_upper = !is_upper;
        sum += if is_upper { next } else { -next };
        if next <= term {
            if is_upper && u >= sum {
                return false;
            }
            if !is_upper && u <= sum {
                return true;
            }
        }
        term = next;
        n += 1.0;
    }
}

/// PG(b, c) by its leading gammas and one gamma for the remainder; needs b > 1, c ≥ 0.
fn draw_gamma_sum<R: Rng + ?Sized>(b: f64, c: f64, rng: &mut R) -> f64 {
    let GammaSum { weights, shape, scale } = gamma_sum(c);
    let leading: f64 = weights.iter().map(|w| w * draw_gamma(b, rng)).sum();
    leading + scale * draw_gamma(b * shape, rng)
}

/// A weighted sum of gammas: the leading ones, and one that has the mean and variance of the remainder, its shape per unit of b.
struct GammaSum {
    weights: [f64; LEADING],
    shape: f64,
    scale: f64,
}

fn gamma_sum(c: f64) -> GammaSum {
    let (mut mean, mut variance) = unit_moments(c);
    let weights = core::array::from_fn(|k| {
        let h = k as f64 + 0.5;
        let w = 1.0 / (2.0 * PI * PI * h * h + 0.5 * c * c);
        mean -= w;
        variance -= w * w;
        w
    });
    GammaSum { weights, shape: mean * mean / variance, scale: variance / mean }
}

/// Ga(shape, 1), shape ≥ 1, by Marsaglia and Tsang (2000).
fn draw_gamma<R: Rng + ?Sized>(shape: f64, rng: &mut R) -> f64 {
    let d = shape - 1.0 / 3.0;
    let slope = 1.0 / (9.0 * d).sqrt();
    loop {
        let x: f64 = rng.sample(StandardNormal);
        let root = 1.0 + slope * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let u: f64 = rng.random();
        let x2 = x * x;
        if u < 1.0 - 0.0331 * x2 * x2 || u.ln() < 0.5 * x2 + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}

/// Mean and variance of PG(1, c), c ≥ 0.
fn unit_moments(c: f64) -> (f64, f64) {
    let c2 = c * c;
    if c < 0.15 {
        // Taylor series, since t − 2ce/(1 + e)² below cancels; relative error < 1e-12.
        let mean = 31.0 / 1_451_520.0;
        let mean = 1.0 / 480.0 - c2 * (17.0 / 80_640.0 - c2 * mean);
        let variance = 31.0 / 181_440.0 - c2 * 691.0 / 31_933_440.0;
        let variance = 1.0 / 120.0 - c2 * (17.0 / 13_440.0 - c2 * variance);
        (0.25 - c2 * (1.0 / 48.0 - c2 * mean), 1.0 / 24.0 - c2 * variance)
    } else {
        let e = (-c).exp();
        let t = (1.0 - e) / (1.0 + e);
        let sech2 = 4.0 * e / ((1.0 + e) * (1.0 + e));
        (t / (2.0 * c), (t - 0.5 * c * sech2) / (2.0 * c * c2))
    }
}

#[cfg(test)]
mod tests;
