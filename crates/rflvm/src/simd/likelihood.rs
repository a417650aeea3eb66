//! Log-likelihoods of a row of cells given the function values f, and their gradients.
//!
//! Written by hand, and fused, because they are the sampler's hottest loops: the `_moved` forms
//! evaluate f + a·u + b·v without storing it. Each function returns the part of the log-likelihood
//! that depends on f. A cell with y = NaN is missing and contributes nothing.

use super::dispatch;
use super::math;
use super::sweep::{Cell, sweep};
use super::tile::LANES;

/// Poisson rates saturate at e^690 = 4.5e299, which leaves room to sum any number of cells:
/// a hopeless proposal gets a huge negative log-likelihood, never an infinity or a NaN.
const MAX_LOG_RATE: f64 = 690.0;

/// A likelihood of single cells with datum y, a weight specific to the family, and value f.
trait Likelihood {
    /// The part of the log-likelihood that depends on f.
    fn ln_lik<const FMA: bool>(&self, y: f64, weight: f64, f: f64) -> f64;
    /// The same, and its derivative with respect to f.
    fn grad<const FMA: bool>(&self, y: f64, weight: f64, f: f64) -> (f64, f64);
}

/// y f − e^f; the weight is not used.
struct PoissonCell;

impl Likelihood for PoissonCell {
    #[inline(always)]
    fn ln_lik<const FMA: bool>(&self, y: f64, _: f64, f: f64) -> f64 {
        self.grad::<FMA>(y, 0.0, f).0
    }

    #[inline(always)]
    fn grad<const FMA: bool>(&self, y: f64, _: f64, f: f64) -> (f64, f64) {
        let rate = math::exp_capped::<FMA>(f, MAX_LOG_RATE);
        (math::fma::<FMA>(y, f, -rate), y - rate)
    }
}

/// y f − b ln(1 + e^f), the weight being b.
struct Logistic;

impl Likelihood for Logistic {
    #[inline(always)]
    fn ln_lik<const FMA: bool>(&self, y: f64, b: f64, f: f64) -> f64 {
        math::fma::<FMA>(y, f, -(b * math::softplus::<FMA>(f)))
    }

    #[inline(always)]
    fn grad<const FMA: bool>(&self, y: f64, b: f64, f: f64) -> (f64, f64) {
        let (softplus, logistic) = math::softplus_logistic::<FMA>(f);
        let ln_lik = math::fma::<FMA>(y, f, -(b * softplus));
        (ln_lik, math::fma::<FMA>(-b, logistic, y))
    }
}

/// [`Logistic`] with the same b for all cells; the weight is not used.
struct SameTrials(f64);

impl Likelihood for SameTrials {
    #[inline(always)]
    fn ln_lik<const FMA: bool>(&self, y: f64, _: f64, f: f64) -> f64 {
        Logistic.ln_lik::<FMA>(y, self.0, f)
    }

    #[inline(always)]
    fn grad<const FMA: bool>(&self, y: f64, _: f64, f: f64) -> (f64, f64) {
        Logistic.grad::<FMA>(y, self.0, f)
    }
}

/// [`Logistic`] with b = y + r, the weight being r.
struct NegativeBinomialCell;

impl Likelihood for NegativeBinomialCell {
    #[inline(always)]
    fn ln_lik<const FMA: bool>(&self, y: f64, r: f64, f: f64) -> f64 {
        Logistic.ln_lik::<FMA>(y, y + r, f)
    }

    #[inline(always)]
    fn grad<const FMA: bool>(&self, y: f64, r: f64, f: f64) -> (f64, f64) {
        Logistic.grad::<FMA>(y, y + r, f)
    }
}

/// −½ precision (y − f)², the weight being the precision.
struct GaussianCell;

impl Likelihood for GaussianCell {
    #[inline(always)]
    fn ln_lik<const FMA: bool>(&self, y: f64, precision: f64, f: f64) -> f64 {
        self.grad::<FMA>(y, precision, f).0
    }

    #[inline(always)]
    fn grad<const FMA: bool>(&self, y: f64, precision: f64, f: f64) -> (f64, f64) {
        let slope = precision * (y - f);
        (-0.5 * slope * (y - f), slope)
    }
}

/// `value`, or 0 if the datum is missing.
#[inline(always)]
fn observed(y: f64, value: f64) -> f64 {
    if y.is_nan() { 0.0 } else { value }
}

struct LogLik<L>(L);

impl<L: Likelihood> Cell<3, 0, 1> for LogLik<L> {
    #[inline(always)]
    fn at<const FMA: bool>(&self, [y, weight, f]: [f64; 3]) -> ([f64; 0], [f64; 1]) {
        ([], [observed(y, self.0.ln_lik::<FMA>(y, weight, f))])
    }
}

struct Moved<L> {
    likelihood: L,
    a: f64,
    b: f64,
}

impl<L: Likelihood> Cell<5, 0, 1> for Moved<L> {
    #[inline(always)]
    fn at<const FMA: bool>(&self, [y, weight, f, u, v]: [f64; 5]) -> ([f64; 0], [f64; 1]) {
        let f = math::fma::<FMA>(self.b, v, math::fma::<FMA>(self.a, u, f));
        ([], [observed(y, self.likelihood.ln_lik::<FMA>(y, weight, f))])
    }
}

struct Grad<L>(L);

impl<L: Likelihood> Cell<3, 1, 1> for Grad<L> {
    #[inline(always)]
    fn at<const FMA: bool>(&self, [y, weight, f]: [f64; 3]) -> ([f64; 1], [f64; 1]) {
        let (ln_lik, slope) = self.0.grad::<FMA>(y, weight, f);
        ([observed(y, slope)], [observed(y, ln_lik)])
    }
}

/// The sums a multinomial row needs: y (f − max), y and e^(f − max).
struct MultinomialCell {
    max: f64,
}

impl Cell<2, 1, 3> for MultinomialCell {
    #[inline(always)]
    fn at<const FMA: bool>(&self, [y, f]: [f64; 2]) -> ([f64; 1], [f64; 3]) {
        let (y, f) = (observed(y, y), f - self.max);
        let e = math::exp::<FMA>(f);
        ([e], [y * f, y, e])
    }
}

impl Cell<2, 0, 3> for MultinomialCell {
    #[inline(always)]
    fn at<const FMA: bool>(&self, input: [f64; 2]) -> ([f64; 0], [f64; 3]) {
        let (_, sums): ([f64; 1], _) = self.at::<FMA>(input);
        ([], sums)
    }
}

#[inline(always)]
fn ln_lik<const FMA: bool>(l: impl Likelihood, y: &[f64], weight: &[f64], f: &[f64]) -> f64 {
    let [sum] = sweep::<FMA, 3, 0, 1>(&LogLik(l), [y, weight, f], []);
    sum
}

#[inline(always)]
fn moved<const FMA: bool>(
    likelihood: impl Likelihood,
    [y, weight, f]: [&[f64]; 3],
    [a, b]: [f64; 2],
    [u, v]: [&[f64]; 2],
) -> f64 {
    let [sum] = sweep::<FMA, 5, 0, 1>(&Moved { likelihood, a, b }, [y, weight, f, u, v], []);
    sum
}

#[inline(always)]
fn grad<const FMA: bool>(l: impl Likelihood, y: &[f64], weight: &[f64], f: &[f64], g: &mut [f64]) -> f64 {
    let [sum] = sweep::<FMA, 3, 1, 1>(&Grad(l), [y, weight, f], [g]);
    sum
}

/// The largest element; −∞ if there is none.
#[inline(always)]
fn maximum(x: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let (blocks, rest) = x.as_chunks::<LANES>();
    let mut max = [f64::NEG_INFINITY; LANES];
    for block in blocks {
        for lane in 0..LANES {
            max[lane] = larger(block[lane], max[lane]);
        }
    }
    max.iter().chain(rest).fold(f64::NEG_INFINITY, |max, x| larger(*x, max))
}

dispatch! {
    /// Σ y f − e^f.
    pub fn poisson_ln_lik(y: &[f64], f: &[f64]) -> f64 {
        ln_lik::<FMA>(PoissonCell, y, y, f)
    }

    /// [`poisson_ln_lik`] at f + a u + b v.
    pub fn poisson_ln_lik_moved(
        y: &[f64],
        f: &[f64],
        a: f64,
        u: &[f64],
        b: f64,
        v: &[f64],
    ) -> f64 {
        moved::<FMA>(PoissonCell, [y, y, f], [a, b], [u, v])
    }

    /// [`poisson_ln_lik`], with its gradient in g.
    pub fn poisson_grad(y: &[f64], f: &[f64], g: &mut [f64]) -> f64 {
        grad::<FMA>(PoissonCell, y, y, f, g)
    }

    /// Σ y f − b ln(1 + e^f).
    pub fn logistic_ln_lik(y: &[f64], b: &[f64], f: &[f64]) -> f64 {
        ln_lik::<FMA>(Logistic, y, b, f)
    }

    /// [`logistic_ln_lik`], whose b is here called `trials`, at f + a u + b v.
    pub fn logistic_ln_lik_moved(
        y: &[f64],
        trials: &[f64],
        f: &[f64],
        a: f64,
        u: &[f64],
        b: f64,
        v: &[f64],
    ) -> f64 {
        moved::<FMA>(Logistic, [y, trials, f], [a, b], [u, v])
    }

    /// [`logistic_ln_lik`], with its gradient in g.
    pub fn logistic_grad(y: &[f64], b: &[f64], f: &[f64], g: &mut [f64]) -> f64 {
        grad::<FMA>(Logistic, y, b, f, g)
    }

    /// [`logistic_ln_lik`] with the same b for all cells.
    pub fn logistic_ln_lik_same(y: &[f64], b: f64, f: &[f64]) -> f64 {
        ln_lik::<FMA>(SameTrials(b), y, y, f)
    }

    /// [`logistic_ln_lik_same`], whose b is here called `trials`, at f + a u + b v.
    pub fn logistic_ln_lik_same_moved(
        y: &[f64],
        trials: f64,
        f: &[f64],
        a: f64,
        u: &[f64],
        b: f64,
        v: &[f64],
    ) -> f64 {
        moved::<FMA>(SameTrials(trials), [y, y, f], [a, b], [u, v])
    }

    /// [`logistic_ln_lik_same`], with its gradient in g.
    pub fn logistic_grad_same(y: &[f64], b: f64, f: &[f64], g: &mut [f64]) -> f64 {
        grad::<FMA>(SameTrials(b), y, y, f, g)
    }

    /// Σ y f − (y + r) ln(1 + e^f).
    pub fn negative_binomial_ln_lik(y: &[f64], r: &[f64], f: &[f64]) -> f64 {
        ln_lik::<FMA>(NegativeBinomialCell, y, r, f)
    }

    /// [`negative_binomial_ln_lik`] at f + a u + b v.
    pub fn negative_binomial_ln_lik_moved(
        y: &[f64],
        r: &[f64],
        f: &[f64],
        a: f64,
        u: &[f64],
        b: f64,
        v: &[f64],
    ) -> f64 {
        moved::<FMA>(NegativeBinomialCell, [y, r, f], [a, b], [u, v])
    }

    /// [`negative_binomial_ln_lik`], with its gradient in g.
    pub fn negative_binomial_grad(y: &[f64], r: &[f64], f: &[f64], g: &mut [f64]) -> f64 {
        grad::<FMA>(NegativeBinomialCell, y, r, f, g)
    }

    /// −½ Σ precision (y − f)².
    pub fn gaussian_ln_lik(y: &[f64], precision: &[f64], f: &[f64]) -> f64 {
        ln_lik::<FMA>(GaussianCell, y, precision, f)
    }

    /// [`gaussian_ln_lik`] at f + a u + b v.
    pub fn gaussian_ln_lik_moved(
        y: &[f64],
        precision: &[f64],
        f: &[f64],
        a: f64,
        u: &[f64],
        b: f64,
        v: &[f64],
    ) -> f64 {
        moved::<FMA>(GaussianCell, [y, precision, f], [a, b], [u, v])
    }

    /// [`gaussian_ln_lik`], with its gradient in g.
    pub fn gaussian_grad(y: &[f64], precision: &[f64], f: &[f64], g: &mut [f64]) -> f64 {
        grad::<FMA>(GaussianCell, y, precision, f, g)
    }

    /// Σ y f − (Σ y) ln Σ e^f. Missing cells count as zero, so that an all-missing row gives 0.
    pub fn multinomial_ln_lik(y: &[f64], f: &[f64]) -> f64 {
        let max = maximum(f);
        let [inner, total, sum] = sweep::<FMA, 2, 0, 3>(&MultinomialCell { max }, [y, f], []);
        inner - total * math::ln::<FMA>(sum)
    }

    /// [`multinomial_ln_lik`], with its gradient in g.
    pub fn multinomial_grad(y: &[f64], f: &[f64], g: &mut [f64]) -> f64 {
        let max = maximum(f);
        let [inner, total, sum] =
            sweep::<FMA, 2, 1, 3>(&MultinomialCell { max }, [y, f], [&mut *g]);
        let ratio = total / sum;
        for (g, y) in g.iter_mut().zip(y) {
            *g = math::fma::<FMA>(-ratio, *g, observed(*y, *y));
        }
        inner - total * math::ln::<FMA>(sum)
    }
}
