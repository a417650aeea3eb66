//! A complete Gaussian table with β and σ² integrated out.
//!
//! The intercept's column of H is taken in units of its prior, H' = [Φ, …, s_c·1], so that the prior precision of β_j is δ_j I, δ_j = 1/τ_j²,
//! in units of σ_j². One decomposition H'ᵀH' = QΛQᵀ then serves the amplitude of every column: with c̃_j = QᵀH'ᵀỹ_j,
//!
//! ```text
//! ln p(y_j | X, W, τ_j) = const + ½ Σ_m ln(δ_j/(λ_m + δ_j)) − a_n ln b_j,   b_j = b0_j + ½(ỹ_jᵀỹ_j − Σ_m c̃_mj²/(λ_m + δ_j)),
//! σ_j² ~ IG(a_n, b_j),   β'_j | σ_j² ~ N(Q c̃_j/(Λ + δ_j), σ_j² Q(Λ + δ_j)⁻¹Qᵀ).
//! ```

use super::family::Theta;
use super::priors::Gamma;
use super::{Model, State};
use crate::chunks::Chunks;
use crate::dist::{gamma, ln_gamma, normal};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Eigen, Mat, eigen, gram, mul, par_mul};
use crate::simd;
use rand::Rng;
use std::ops::Range;

/// H'ᵀH' from H and s_c.
pub(crate) fn scaled_gram(h: &Mat, unit: f64) -> Mat {
    let last = h.cols() - 1;
    let mut a = gram(h, None, &vec![0.0; h.cols()]).to_mat();
    a.row_mut(last).iter_mut().for_each(|v| *v *= unit);
    (0..=last).for_each(|i| a[(i, last)] *= unit);
    a
}

/// ln p(Y | X, W, s, τ²) as a function of s, from one product of H with itself and one with the table.
#[derive(Debug)]
pub struct AlongS<'a> {
    target: &'a CollapsedData,
    /// H'ᵀH' and H'ᵀỸ at s = `at`.
    gram: Mat,
    c: Mat,
    linear: Range<usize>,
    at: f64,
    /// τ² of all columns, if it is the same for all.
    common: Option<f64>,
}

impl AlongS<'_> {
    /// Up to a constant; −∞ where it does not exist.
    pub fn ln(&self, s: f64, tau2: &[f64]) -> f64 {
        let (mut a, mut c, factor) = (self.gram.clone(), self.c.clone(), s / self.at);
        for m in self.linear.clone() {
            a.row_mut(m).iter_mut().for_each(|v| *v *= factor);
            (0..a.rows()).for_each(|i| a[(i, m)] *= factor);
            c.row_mut(m).iter_mut().for_each(|v| *v *= factor);
        }
        let found = match self.common {
            Some(tau2) => self.common(a, &c, tau2),
            None => self.own(&a, c, tau2),
        };
        found.filter(|ln| !ln.is_nan()).unwrap_or(f64::NEG_INFINITY)
    }

    /// One amplitude for all columns: one Cholesky factor.
    fn common(&self, mut a: Mat, c: &Mat, tau2: f64) -> Option<f64> {
        let (order, target) = (a.rows(), self.target);
        (0..order).for_each(|i| a[(i, i)] += 1.0 / tau2);
        let factor = Cholesky::new(&a, "linear part").ok()?;
        let mut z = Mat::zeros(order, c.cols());
        mul(z.as_mut_slice(), factor.inverse_lower().view(), c.view(), false);
        let mut explained = vec![0.0; c.cols()];
        z.iter_rows().for_each(|row| explained.iter_mut().zip(row).for_each(|(e, z)| *e += z * z));
        let ln_rates = target.total.iter().zip(&explained).zip(&target.prior_rate);
        let ln_rates: Vec<f64> =
            ln_rates.map(|((total, e), least)| ((total - 0.5 * e).max(*least) / least).ln()).collect();
        let ln_rates = target.chunks.sum(|chunk| ln_rates[chunk.columns.clone()].iter().sum());
        let ln_det = factor.ln_det() + order as f64 * tau2.ln();
        Some(-0.5 * target.chunks.columns() as f64 * ln_det - target.shape * ln_rates)
    }

    /// One amplitude per column.
    fn own(&self, a: &Mat, mut c: Mat, tau2: &[f64]) -> Option<f64> {
        let spectrum = Spectrum::of(a, 1.0)?;
        let mut scratch = Mat::zeros(c.rows(), c.cols());
        spectrum.turn(&mut c, &mut scratch);
        Some(self.target.sum(|j| self.target.column(&spectrum, &c, j).ln(tau2[j])))
    }
}

/// H'ᵀH' = QΛQᵀ.
#[derive(Debug)]
pub struct Spectrum {
    /// Λ.
    pub lambda: Vec<f64>,
    /// Q, eigenvectors in columns.
    pub q: Mat,
    /// s_c.
    pub(crate) unit: f64,
}

impl Spectrum {
    /// Of H; `intercept_variance` is s_c².
    pub fn new(h: &Mat, intercept_variance: f64) -> Result<Self, NumericalError> {
        let unit = intercept_variance.sqrt();
        let broken = || NumericalError::NotFinite { step: "weights", value: f64::NAN, place: "HᵀH".into() };
        Self::of(&scaled_gram(h, unit), unit).ok_or_else(broken)
    }

    /// Of H'ᵀH'.
    fn of(gram: &Mat, unit: f64) -> Option<Self> {
        let Eigen { mut values, vectors } = eigen(gram)?;
        // Eigenvalues below this are rounding, and so is c̃ in their directions: with a zero in their place, an amplitude large enough
        // would explain any table by them.
        let rounding = values.len() as f64 * f64::EPSILON * values.iter().copied().fold(0.0, f64::max);
        values.iter_mut().for_each(|v| *v = v.max(rounding));
        Some(Spectrum { lambda: values, q: vectors, unit })
    }

    /// C̃ = QᵀH'ᵀỸ, in the place of `c` = HᵀỸ; `scratch` has its shape.
    pub fn turn(&self, c: &mut Mat, scratch: &mut Mat) {
        let last = c.rows() - 1;
        c.row_mut(last).iter_mut().for_each(|v| *v *= self.unit);
        mul(scratch.as_mut_slice(), self.q.view().transpose(), c.view(), false);
        std::mem::swap(c, scratch);
    }

    /// β of β': the intercept in its own units.
    fn restore(&self, beta: &mut [f64]) {
        if let Some(intercept) = beta.last_mut() {
            *intercept *= self.unit;
        }
    }
}

/// One column of the table, its weights and noise integrated out.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    spectrum: &'a Spectrum,
    /// c̃_j.
    pub c: Vec<f64>,
    /// b0_j.
    pub prior_rate: f64,
    /// b0_j + ½ỹᵀỹ.
    pub total: f64,
    /// a_n.
    pub shape: f64,
}

impl<'a> Evidence<'a> {
    /// From c̃_j, b0_j, ½ỹᵀỹ and a_n.
    pub fn new(spectrum: &'a Spectrum, c: Vec<f64>, prior_rate: f64, half_square: f64, shape: f64) -> Self {
        Evidence { spectrum, c, prior_rate, total: prior_rate + half_square, shape }
    }

    /// Another prior, of a column of this many rows.
    pub(super) fn set_prior(&mut self, Gamma { shape, rate }: Gamma, rows: usize) {
        self.total += rate - self.prior_rate;
        self.prior_rate = rate;
        self.shape = shape + 0.5 * rows as f64;
    }

    /// b_j.
    pub fn rate(&self, tau2: f64) -> f64 {
        let delta = 1.0 / tau2;
        let explained: f64 = self.c.iter().zip(&self.spectrum.lambda).map(|(c, l)| c * c / (l + delta)).sum();
        // Rounding must not make the rate smaller than that of the prior.
        (self.total - 0.5 * explained).max(self.prior_rate)
    }

    /// ½(ỹ_jᵀỹ_j − Σ_m c̃_mj²/(λ_m + δ_j)): the part of b_j that is not its prior's.
    pub fn half_square(&self, tau2: f64) -> f64 {
        self.rate(tau2) - self.prior_rate
    }

    /// ln p(y_j | X, W, τ_j) up to a constant.
    pub fn ln(&self, tau2: f64) -> f64 {
        // ln(δ/(λ + δ)) = −ln(1 + λτ²), eight at a time under one logarithm.
        let lambda = &self.spectrum.lambda;
        let ln_det: f64 = lambda.chunks(8).map(|l| l.iter().map(|l| 1.0 + l * tau2).product::<f64>().ln()).sum();
        // In units of b0_j, so that a table in other units has the same evidence.
        -0.5 * ln_det - self.shape * (self.rate(tau2) / self.prior_rate).ln()
    }

    /// A draw of the precision 1/σ_j², then of β_j minus its prior mean.
    pub fn draw<R: Rng + ?Sized>(&self, tau2: f64, rng: &mut R) -> (f64, Vec<f64>) {
        let precision = gamma(self.shape, self.rate(tau2), rng);
        (precision, self.draw_weights(precision, tau2, rng))
    }

    /// A draw of β_j minus its prior mean, given the precision.
    pub fn draw_weights<R: Rng + ?Sized>(&self, precision: f64, tau2: f64, rng: &mut R) -> Vec<f64> {
        let delta = 1.0 / tau2;
        let turned: Vec<f64> = self
            .c
            .iter()
            .zip(&self.spectrum.lambda)
            .map(|(c, l)| c / (l + delta) + normal(rng) / (precision * (l + delta)).sqrt())
            .collect();
        self.unturn(&turned)
    }

    /// E[β_j] minus its prior mean.
    pub fn mean(&self, tau2: f64) -> Vec<f64> {
        let delta = 1.0 / tau2;
        let turned: Vec<f64> = self.c.iter().zip(&self.spectrum.lambda).map(|(c, l)| c / (l + delta)).collect();
        self.unturn(&turned)
    }

    fn unturn(&self, turned: &[f64]) -> Vec<f64> {
        let mut beta: Vec<f64> = self.spectrum.q.iter_rows().map(|row| simd::dot(row, turned)).collect();
        self.spectrum.restore(&mut beta);
        beta
    }
}

/// Parts of the model that the collapsed likelihood needs.
#[derive(Debug)]
pub struct CollapsedData {
    /// Ỹ = Y − o − centre.
    pub(crate) y: Mat,
    /// b0_j.
    pub(crate) prior_rate: Vec<f64>,
    /// b0_j + ½ỹᵀỹ.
    pub(crate) total: Vec<f64>,
    /// a_n.
    pub(crate) shape: f64,
    /// s_c².
    pub(crate) intercept_variance: f64,
    /// The chunks of the columns of all processes.
    pub(crate) chunks: Chunks,
}

impl CollapsedData {
    /// Σ over the columns of all processes.
    pub fn sum(&self, f: impl Fn(usize) -> f64 + Sync) -> f64 {
        self.chunks.sum(|chunk| chunk.columns.clone().map(&f).sum())
    }

    /// τ² of all columns of all processes, if it is the same for all.
    pub fn common(&self, tau2: &[f64]) -> Option<f64> {
        let all = self.chunks.gather(tau2);
        all.iter().all(|t| *t == all[0]).then_some(all[0])
    }

    /// For a model with one complete Gaussian block (see [`Model::is_collapsed`]), given the hyperparameters of its noise; rows may also have times.
    pub fn new(model: &Model, theta: &[Theta]) -> Self {
        Self::within(model, theta, Mat::default())
    }

    /// The same, reusing the memory of another table.
    pub(crate) fn within(model: &Model, theta: &[Theta], mut y: Mat) -> Self {
        let units = model.units();
        y.fit(model.rows(), model.columns());
        let is_logarithmic = model.blocks()[0].family.is_logarithmic();
        for (n, from) in model.y().iter_rows().enumerate() {
            let cells = y.row_mut(n).iter_mut().zip(from).zip(units);
            cells.for_each(|((to, y), unit)| {
                let y = if is_logarithmic { y.ln() } else { *y };
                *to = y - model.offset()[n] - unit.centre;
            });
        }
        let Some(gaussian) = model.blocks()[0].family.as_gaussian() else {
            unreachable!("a collapsed model is Gaussian")
        };
        let hyper = &theta[0].hyper;
        let prior_rate: Vec<f64> = units.iter().map(|unit| gaussian.prior(hyper, unit).rate).collect();
        let mut total = prior_rate.clone();
        for row in y.iter_rows() {
            total.iter_mut().zip(row).for_each(|(b, y)| *b += 0.5 * y * y);
        }
        let shape = gaussian.noise.law(hyper).shape + 0.5 * model.rows() as f64;
        let chunks = model.chunks().clone();
        CollapsedData { y, prior_rate, total, shape, intercept_variance: model.spec().priors.intercept, chunks }
    }

    /// The memory of Ỹ; its values are unspecified.
    pub(crate) fn into_memory(self) -> Mat {
        self.y
    }

    /// The decomposition at H, and C̃.
    pub fn at(&self, h: &Mat) -> Result<(Spectrum, Mat), NumericalError> {
        let spectrum = Spectrum::new(h, self.intercept_variance)?;
        let mut c = Mat::zeros(h.cols(), self.y.cols());
        par_mul(&mut c, h.view().transpose(), self.y.view(), false);
        let mut scratch = Mat::zeros(c.rows(), c.cols());
        spectrum.turn(&mut c, &mut scratch);
        Ok((spectrum, c))
    }

    /// Column j at a decomposition.
    pub fn column<'a>(&self, spectrum: &'a Spectrum, c: &Mat, j: usize) -> Evidence<'a> {
        Evidence::new(spectrum, c.col(j), self.prior_rate[j], self.total[j] - self.prior_rate[j], self.shape)
    }

    /// The evidence as a function of s, whose columns of H are `linear`; H has them at s = `at`.
    pub fn along_s(&self, h: &Mat, linear: Range<usize>, at: f64, tau2: &[f64]) -> AlongS<'_> {
        let (unit, last) = (self.intercept_variance.sqrt(), h.cols() - 1);
        let mut c = Mat::zeros(h.cols(), self.y.cols());
        par_mul(&mut c, h.view().transpose(), self.y.view(), false);
        c.row_mut(last).iter_mut().for_each(|c| *c *= unit);
        AlongS { target: self, gram: scaled_gram(h, unit), c, linear, at, common: self.common(tau2) }
    }

    /// ln p(Y | X, W, τ²) up to a constant, directly from the definition.
    pub fn ln_marginal(&self, h: &Mat, tau2: &[f64]) -> Result<f64, NumericalError> {
        let (spectrum, c) = self.at(h)?;
        Ok(self.sum(|j| self.column(&spectrum, &c, j).ln(tau2[j])))
    }

    /// What [`CollapsedData::ln_marginal`] leaves out and depends on the hyperparameters of the noise.
    pub(crate) fn ln_constant(&self, model: &Model, state: &State) -> f64 {
        let Some(gaussian) = model.blocks()[0].family.as_gaussian() else { return 0.0 };
        let Gamma { shape, rate } = gaussian.noise.law(&state.theta[0].hyper);
        let rising = ln_gamma(self.shape) - ln_gamma(shape);
        // a ln b − a_n ln(b + rounding), b in the units of the column.
        let of_column =
            |j: usize| shape * (rate * model.units()[j].scale.powi(2)).ln() - self.shape * self.prior_rate[j].ln();
        self.sum(|j| rising + of_column(j))
    }

    /// β and the precisions 1/σ_j² of a state at their optimum given X, W and τ²: E[β_j], and the mode (a_n − 1)/b_j of the precision.
    pub fn fill_mode(&self, model: &Model, state: &mut State) -> Result<(), NumericalError> {
        let (spectrum, c) = self.at(state.features.h())?;
        let last = c.rows() - 1;
        for j in 0..model.columns() {
            let column = self.column(&spectrum, &c, j);
            let mut beta = column.mean(state.tau2[j]);
            beta[last] += model.units()[j].centre;
            state.beta.set_col(j, &beta);
            state.theta[0].values[(0, j)] = (self.shape - 1.0).max(f64::MIN_POSITIVE) / column.rate(state.tau2[j]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::rng::Stream;

    #[test]
    fn directions_that_are_rounding_explain_nothing() {
        // Features that are nearly constant, of many rows: all but a few directions of H are lost in rounding.
        let rows = 4000;
        let rng = &mut Stream::new(1).rng();
        let (x, y) = (normals(rows, rng), normals(rows, rng));
        let h = Mat::from_fn(rows, 21, |n, m| (0.02 * m as f64 * x[n]).cos());
        let spectrum = Spectrum::new(&h, 25.0).unwrap();
        let mut c = Mat::zeros(21, 1);
        for (n, row) in h.iter_rows().enumerate() {
            row.iter().enumerate().for_each(|(m, v)| c[(m, 0)] += v * y[n]);
        }
        spectrum.turn(&mut c, &mut Mat::zeros(21, 1));
        let square = 0.5 * y.iter().map(|y| y * y).sum::<f64>();
        let evidence = Evidence::new(&spectrum, c.col(0), 1e-4, square, 0.5 * rows as f64);
        for tau2 in [1e10, 1e20, 1e30] {
            assert!(
                evidence.ln(tau2) < evidence.ln(1.0),
                "τ² = {tau2}: {} and {}",
                evidence.ln(tau2),
                evidence.ln(1.0)
            );
        }
    }
}
