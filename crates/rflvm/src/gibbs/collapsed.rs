//! X and W of a complete Gaussian with β and σ² integrated out: ln p(Y | X, W) = const − (J/2) ln|A| − a_n Σ_j ln b_j.
//!
//! A row is taken out of A by a rank-1 downdate and its new position priced as a product of Student-t densities, O(M² + MJ).
//! A frequency is two columns of H, taken out by a Schur complement and priced in O(N(M + J)). Both leave
//! P = A⁻¹, G = PC, E = Ỹ − HG and b_j exact, so that the marginal is never computed anew within a step.

use super::gradient::{Layout, Potential, hamiltonian, hold, to_positions};
use super::tuning::Trajectory;
use super::{FrequencyMove, Moves, SweepInfo};
use crate::dist::normals;
use crate::error::NumericalError;
use crate::kernels;
use crate::linalg::{Cholesky, Mat, gram, par_mul};
use crate::model::features::{Features, Pair, fill, fill_row};
use crate::model::spectral::Spectral;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::slice;
use rand::RngExt;

/// All collapsed moves of a sweep.
pub fn update(
    model: &Model,
    state: &mut State,
    moves: Moves,
    trajectory: &Trajectory,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let target = Target::new(model);
    frequencies(&target, state, moves.frequencies, stream.named("w"), info)?;
    if moves.positions {
        rows(&target, state, stream.named("x"), info)?;
    }
    if moves.gradient {
        let layout = Layout::new(model, false);
        let mut q = layout.gather(state);
        let held = hold(model, layout, trajectory, moves.positions);
        let mut marginal = Marginal::new(&target, &state.spectral, layout);
        info.acceptance = hamiltonian(&mut marginal, &mut q, &held, &mut stream.named("gradient").rng());
        let (x, w, _) = layout.split(&q);
        state.features.set(x, w);
    }
    Ok(())
}

/// What the collapsed likelihood needs of the model.
#[derive(Debug)]
pub struct Target {
    /// Ỹ = Y − o − centre.
    y: Mat,
    /// S0⁻¹.
    precision: Vec<f64>,
    /// b0_j.
    rate: Vec<f64>,
    /// a_n.
    shape: f64,
}

impl Target {
    /// For a model with one complete Gaussian block (see [`Model::is_collapsed`]).
    pub fn new(model: &Model) -> Self {
        let units = model.units();
        let y =
            Mat::from_fn(model.rows(), model.columns(), |n, j| model.y()[(n, j)] - model.offset()[n] - units[j].centre);
        let crate::model::Amplitude::Fixed(tau2) = model.spec().amplitude else {
            unreachable!("a collapsed model has a known amplitude")
        };
        let Some(gaussian) = model.blocks()[0].family.as_gaussian() else {
            unreachable!("a collapsed model is Gaussian")
        };
        Target {
            precision: model.weight_precision(tau2),
            rate: units.iter().map(|u| gaussian.column_rate(u)).collect(),
            shape: gaussian.shape + 0.5 * model.rows() as f64,
            y,
        }
    }

    /// ln p(Y | X, W) up to a constant, plainly from the definition.
    pub fn ln_marginal(&self, h: &Mat) -> Result<f64, NumericalError> {
        let factored = Factored::new(self, h)?;
        let columns = self.y.cols() as f64;
        let ln_rates: f64 = factored.rate.iter().map(|b| b.ln()).sum();
        Ok(-0.5 * columns * factored.ln_det - self.shape * ln_rates)
    }
}

/// P = A⁻¹, G = PC, E = Ỹ − HG, b_j and ln|A| for the current H.
#[derive(Debug)]
pub struct Factored {
    p: Mat,
    g: Mat,
    e: Mat,
    rate: Vec<f64>,
    ln_det: f64,
}

impl Factored {
    /// From scratch, O(NM² + NMJ).
    pub fn new(target: &Target, h: &Mat) -> Result<Self, NumericalError> {
        let a = gram(h, None, &target.precision, &mut Mat::default());
        let cholesky = Cholesky::new(&a, "positions")?;
        let mut c = Mat::zeros(h.cols(), target.y.cols());
        par_mul(&mut c, h.view().transpose(), target.y.view(), false);
        let mut g = c.clone();
        cholesky.solve_mat(&mut g);
        let mut e = Mat::zeros(h.rows(), target.y.cols());
        par_mul(&mut e, h.view(), g.view(), false);
        e.as_mut_slice().iter_mut().zip(target.y.as_slice()).for_each(|(e, y)| *e = y - *e);
        // ỹᵀỹ − cᵀg = ỹᵀe: a sum of products of residuals, not a difference of large sums.
        let mut rate = target.rate.clone();
        for (y, e) in target.y.iter_rows().zip(e.iter_rows()) {
            rate.iter_mut().zip(y.iter().zip(e)).for_each(|(b, (y, e))| *b += 0.5 * y * e);
        }
        Ok(Factored { p: cholesky.inverse(), g, e, rate, ln_det: cholesky.ln_det() })
    }

    /// Takes row n with features h and cells y out of P, G and b. E is not kept up by row moves.
    fn remove_row(&mut self, h: &[f64], y: &[f64]) {
        let mut v = vec![0.0; h.len()];
        kernels::vecmat(h, self.p.as_slice(), &mut v);
        let rest = 1.0 - kernels::dot(h, &v);
        self.exchange(h, y, &v, -rest);
    }

    /// Puts it back.
    fn insert_row(&mut self, h: &[f64], y: &[f64]) {
        let mut v = vec![0.0; h.len()];
        kernels::vecmat(h, self.p.as_slice(), &mut v);
        let grown = 1.0 + kernels::dot(h, &v);
        self.exchange(h, y, &v, grown);
    }

    /// A ± hhᵀ by Sherman–Morrison: with v = Ph and k = ±(1 ± h·v), P −= vvᵀ/k, g_j += v e_j/k, b_j += ½ e_j²/k for the
    /// residual e_j = y_j − g_j·h before the change.
    fn exchange(&mut self, h: &[f64], y: &[f64], v: &[f64], k: f64) {
        let mut residual = vec![0.0; y.len()];
        kernels::vecmat(h, self.g.as_slice(), &mut residual);
        residual.iter_mut().zip(y).for_each(|(r, y)| *r = y - *r);
        for (i, &v_i) in v.iter().enumerate() {
            kernels::axpy(-v_i / k, v, self.p.row_mut(i));
            kernels::axpy(v_i / k, &residual, self.g.row_mut(i));
        }
        self.rate.iter_mut().zip(&residual).for_each(|(b, e)| *b += 0.5 * e * e / k);
    }

    /// ln p(y_n | rest) for candidate features, up to a constant: Student-t with 2a degrees of freedom,
    /// a = a_n − ½, location g_j·h and squared scale b_j(1+s)/a, s = hᵀPh. The row must have been removed.
    fn price_row(&self, shape: f64, h: &[f64], y: &[f64], scratch: &mut (Vec<f64>, Vec<f64>)) -> f64 {
        let (v, mean) = scratch;
        v.fill(0.0);
        kernels::vecmat(h, self.p.as_slice(), v);
        let grown = 1.0 + kernels::dot(h, v);
        mean.fill(0.0);
        kernels::vecmat(h, self.g.as_slice(), mean);
        // Σ ln(1 + t_j) as the log of products of eight: one logarithm for eight columns.
        let mut ln_sum = 0.0;
        for ((mean, y), rate) in mean.chunks(8).zip(y.chunks(8)).zip(self.rate.chunks(8)) {
            let terms = mean.iter().zip(y).zip(rate);
            ln_sum += terms.map(|((m, y), b)| 1.0 + (y - m).powi(2) / (2.0 * b * grown)).product::<f64>().ln();
        }
        // (a_n − ½) + ½ = a_n: the exponent of a t-density with 2a degrees of freedom is a + ½.
        -0.5 * y.len() as f64 * grown.ln() - shape * ln_sum
    }
}

/// All rows in turn: they see each other through β, so there is no doing them at once.
fn rows(target: &Target, state: &mut State, stream: Stream, info: &mut SweepInfo) -> Result<(), NumericalError> {
    let mut factored = Factored::new(target, state.features.h())?;
    let (n_rows, m) = (target.y.rows(), state.features.h().cols());
    let mut argument = vec![0.0; state.features.frequencies()];
    let mut h = vec![0.0; m];
    let mut scratch = (vec![0.0; m], vec![0.0; target.y.cols()]);
    let mut tries = 0;
    for n in 0..n_rows {
        let rng = &mut stream.at(n as u64).rng();
        let y = target.y.row(n);
        factored.remove_row(state.features.h().row(n), y);
        let current = factored.price_row(target.shape, state.features.h().row(n), y, &mut scratch);
        if !current.is_finite() {
            let place = format!("row {}", n + 1);
            return Err(NumericalError::NotFinite { step: "positions", value: current, place });
        }
        let x = state.features.x().row(n);
        let auxiliary = normals(x.len(), rng);
        let candidate =
            |cos: f64, sin: f64| -> Vec<f64> { x.iter().zip(&auxiliary).map(|(x, nu)| cos * x + sin * nu).collect() };
        let landing = slice::elliptical(rng, current, |cos, sin| {
            fill_row(&candidate(cos, sin), state.features.w(), &mut argument, &mut h);
            factored.price_row(target.shape, &h, y, &mut scratch)
        });
        tries += landing.tries;
        if landing.sin != 0.0 {
            let x = candidate(landing.cos, landing.sin);
            state.features.set_row(n, &x, &h);
        }
        factored.insert_row(state.features.h().row(n), y);
    }
    info.position_tries = f64::from(tries) / n_rows as f64;
    Ok(())
}

/// ln p(Y | x_n') − ln p(Y | x_n), the way a row move prices it. For identity tests.
pub fn row_ln_ratio(target: &Target, features: &Features, n: usize, x: &[f64]) -> Result<f64, NumericalError> {
    let mut factored = Factored::new(target, features.h())?;
    let mut h = vec![0.0; features.h().cols()];
    fill_row(x, features.w(), &mut vec![0.0; features.frequencies()], &mut h);
    let mut scratch = (vec![0.0; h.len()], vec![0.0; target.y.cols()]);
    let y = target.y.row(n);
    factored.remove_row(features.h().row(n), y);
    let old = factored.price_row(target.shape, features.h().row(n), y, &mut scratch);
    Ok(factored.price_row(target.shape, &h, y, &mut scratch) - old)
}

/// A with the two columns of frequency l left out, and what pricing a new pair needs.
struct WithoutPair<'a> {
    target: &'a Target,
    h: &'a Mat,
    /// The two columns' places in H.
    at: [usize; 2],
    factored: Factored,
    prior: f64,
    /// Scratch and result of the last pricing: V = P_−HᵀU, D = UᵀE_−, S⁻¹.
    v: [Vec<f64>; 2],
    d: [Vec<f64>; 2],
    s_inverse: [f64; 3],
}

impl<'a> WithoutPair<'a> {
    fn new(target: &'a Target, h: &'a Mat, l: usize, mut factored: Factored) -> Self {
        let at = [l, (h.cols() - 1) / 2 + l];
        let [a, b] = at;
        // S = P_UU⁻¹: the Schur complement of the pair in A.
        let s = inverse2([factored.p[(a, a)], factored.p[(a, b)], factored.p[(b, b)]]);
        let (pa, pb) = (factored.p.row(a).to_vec(), factored.p.row(b).to_vec());
        let (ga, gb) = (factored.g.row(a).to_vec(), factored.g.row(b).to_vec());
        for (j, rate) in factored.rate.iter_mut().enumerate() {
            *rate += 0.5 * (s[0] * ga[j] * ga[j] + 2.0 * s[1] * ga[j] * gb[j] + s[2] * gb[j] * gb[j]);
        }
        for (n, row) in h.iter_rows().enumerate() {
            // Row n of (H P_·U S) G_U goes back into the residuals.
            let (ka, kb) = times(s, kernels::dot(row, &pa), kernels::dot(row, &pb));
            kernels::axpy2(ka, &ga, kb, &gb, factored.e.row_mut(n));
        }
        for i in 0..h.cols() {
            let (ka, kb) = times(s, pa[i], pb[i]);
            kernels::axpy2(-ka, &pa, -kb, &pb, factored.p.row_mut(i));
            kernels::axpy2(-ka, &ga, -kb, &gb, factored.g.row_mut(i));
        }
        for i in at {
            factored.p.row_mut(i).fill(0.0);
            factored.g.row_mut(i).fill(0.0);
            (0..h.cols()).for_each(|k| factored.p[(k, i)] = 0.0);
        }
        factored.ln_det -= (s[0] * s[2] - s[1] * s[1]).ln();
        let (m, j) = (h.cols(), target.y.cols());
        WithoutPair {
            target,
            h,
            at,
            prior: target.precision[l],
            factored,
            v: [vec![0.0; m], vec![0.0; m]],
            d: [vec![0.0; j], vec![0.0; j]],
            s_inverse: [1.0, 0.0, 1.0],
        }
    }

    /// ln p(Y | X, W) up to a constant if the pair had these columns.
    fn price(&mut self, pair: &Pair) -> f64 {
        let columns = [&pair.sin, &pair.cos];
        let mut t = [vec![0.0; self.h.cols()], vec![0.0; self.h.cols()]];
        for i in 0..2 {
            kernels::vecmat(columns[i], self.h.as_slice(), &mut t[i]);
            self.v[i].fill(0.0);
            kernels::vecmat(&t[i], self.factored.p.as_slice(), &mut self.v[i]);
            self.d[i].fill(0.0);
            kernels::vecmat(columns[i], self.factored.e.as_slice(), &mut self.d[i]);
        }
        let s = [
            self.prior + kernels::dot(columns[0], columns[0]) - kernels::dot(&t[0], &self.v[0]),
            kernels::dot(columns[0], columns[1]) - kernels::dot(&t[0], &self.v[1]),
            self.prior + kernels::dot(columns[1], columns[1]) - kernels::dot(&t[1], &self.v[1]),
        ];
        self.s_inverse = inverse2(s);
        let ln_rates: f64 = (0..self.d[0].len()).map(|j| self.rate(j).ln()).sum();
        -0.5 * self.d[0].len() as f64 * (s[0] * s[2] - s[1] * s[1]).ln() - self.target.shape * ln_rates
    }

    /// b_j with the pair that was priced last.
    fn rate(&self, j: usize) -> f64 {
        let (a, b, s) = (self.d[0][j], self.d[1][j], self.s_inverse);
        self.factored.rate[j] - 0.5 * (s[0] * a * a + 2.0 * s[1] * a * b + s[2] * b * b)
    }

    /// Puts in the pair that was priced last.
    fn commit(mut self, pair: &Pair) -> Factored {
        let rates: Vec<f64> = (0..self.d[0].len()).map(|j| self.rate(j)).collect();
        let s = self.s_inverse;
        let [a, b] = self.at;
        // The new rows of G: S⁻¹D.
        let rows = |k: usize| -> Vec<f64> {
            let weights = if k == 0 { (s[0], s[1]) } else { (s[1], s[2]) };
            self.d[0].iter().zip(&self.d[1]).map(|(p, q)| weights.0 * p + weights.1 * q).collect()
        };
        let (ga, gb) = (rows(0), rows(1));
        let factored = &mut self.factored;
        for n in 0..self.h.rows() {
            let row = self.h.row(n);
            let ka = pair.sin[n] - kernels::dot(row, &self.v[0]);
            let kb = pair.cos[n] - kernels::dot(row, &self.v[1]);
            kernels::axpy2(-ka, &ga, -kb, &gb, factored.e.row_mut(n));
        }
        for i in (0..self.h.cols()).filter(|i| !self.at.contains(i)) {
            let (va, vb) = (self.v[0][i], self.v[1][i]);
            let (ka, kb) = times(s, va, vb);
            kernels::axpy2(ka, &self.v[0], kb, &self.v[1], factored.p.row_mut(i));
            kernels::axpy2(-va, &ga, -vb, &gb, factored.g.row_mut(i));
            (factored.p[(i, a)], factored.p[(i, b)]) = (-ka, -kb);
            (factored.p[(a, i)], factored.p[(b, i)]) = (-ka, -kb);
        }
        factored.p[(a, a)] = s[0];
        (factored.p[(a, b)], factored.p[(b, a)]) = (s[1], s[1]);
        factored.p[(b, b)] = s[2];
        factored.g.row_mut(a).copy_from_slice(&ga);
        factored.g.row_mut(b).copy_from_slice(&gb);
        factored.ln_det -= (s[0] * s[2] - s[1] * s[1]).ln();
        factored.rate = rates;
        self.factored
    }
}

/// The inverse of a symmetric 2×2 matrix [aa, ab, bb].
fn inverse2([a, b, c]: [f64; 3]) -> [f64; 3] {
    let det = a * c - b * b;
    [c / det, -b / det, a / det]
}

/// A symmetric 2×2 matrix times a vector.
fn times(s: [f64; 3], a: f64, b: f64) -> (f64, f64) {
    (s[0] * a + s[1] * b, s[1] * a + s[2] * b)
}

/// All frequencies in turn.
fn frequencies(
    target: &Target,
    state: &mut State,
    how: FrequencyMove,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let mut factored = Factored::new(target, state.features.h())?;
    let count = state.features.frequencies();
    let mut pair = Pair::new(target.y.rows());
    let (mut tries, mut moved) = (0, 0);
    for l in 0..count {
        let rng = &mut stream.at(l as u64).rng();
        let mut without = WithoutPair::new(target, state.features.h(), l, factored);
        state.features.current_pair(l, &mut pair);
        let current = without.price(&pair);
        if !current.is_finite() {
            let place = format!("frequency {}", l + 1);
            return Err(NumericalError::NotFinite { step: "frequencies", value: current, place });
        }
        let cluster = state.spectral.cluster(l);
        let w = state.features.w().row(l);
        let auxiliary = cluster.centred_draw(rng);
        let candidate = |cos: f64, sin: f64| -> Vec<f64> {
            let around = cluster.mu.iter().zip(w).zip(&auxiliary);
            around.map(|((mu, w), nu)| mu + cos * (w - mu) + sin * nu).collect()
        };
        let mut price = |cos: f64, sin: f64| {
            state.features.pair(&candidate(cos, sin), &mut pair);
            without.price(&pair)
        };
        let taken = match how {
            FrequencyMove::Slice => {
                let landing = slice::elliptical(rng, current, price);
                tries += landing.tries;
                (landing.sin != 0.0).then_some((landing.cos, landing.sin))
            }
            FrequencyMove::Metropolis => {
                tries += 1;
                (rng.random::<f64>().ln() < price(0.0, 1.0) - current).then_some((0.0, 1.0))
            }
        };
        let new = match taken {
            Some((cos, sin)) => {
                moved += 1;
                Some(candidate(cos, sin))
            }
            None => {
                state.features.current_pair(l, &mut pair);
                without.price(&pair);
                None
            }
        };
        factored = without.commit(&pair);
        if let Some(w) = new {
            state.features.set_pair(l, &w, &pair);
        }
    }
    info.frequency_tries = f64::from(tries) / count as f64;
    info.frequency_moves = f64::from(moved) / count as f64;
    Ok(())
}

/// ln p(Y | w_l') − ln p(Y | w_l), the way a frequency move prices it. For identity tests.
pub fn frequency_ln_ratio(target: &Target, features: &Features, l: usize, w: &[f64]) -> Result<f64, NumericalError> {
    let mut without = WithoutPair::new(target, features.h(), l, Factored::new(target, features.h())?);
    let mut pair = Pair::new(target.y.rows());
    features.current_pair(l, &mut pair);
    let old = without.price(&pair);
    features.pair(w, &mut pair);
    Ok(without.price(&pair) - old)
}

/// ln p(Y | X, W) + ln p(X) + ln p(W | clusters) with its gradient:
/// ∂H = −J·HP + Σ_j (a_n/b_j) e_j g_jᵀ.
pub struct Marginal<'a> {
    target: &'a Target,
    spectral: &'a Spectral,
    layout: Layout,
    x: Mat,
    w: Mat,
    h: Mat,
    dh: Mat,
}

impl<'a> Marginal<'a> {
    /// Given the clusters.
    pub fn new(target: &'a Target, spectral: &'a Spectral, layout: Layout) -> Self {
        let (n, m) = (target.y.rows(), target.precision.len());
        let dim = spectral.clusters[0].mu.len();
        let (x, w) = (Mat::zeros(n, dim), Mat::zeros((m - 1) / 2, dim));
        Marginal { target, spectral, layout, x, w, h: Mat::zeros(n, m), dh: Mat::zeros(n, m) }
    }
}

impl Potential for Marginal<'_> {
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
        let (x, w, _) = self.layout.split(q);
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        fill(&self.x, &self.w, &mut self.h);
        // A candidate whose A has no factor is a rejection, not an error.
        let Ok(mut factored) = Factored::new(self.target, &self.h) else { return f64::NAN };
        let columns = self.target.y.cols() as f64;
        let ln_rates: f64 = factored.rate.iter().map(|b| b.ln()).sum();
        let ln_marginal = -0.5 * columns * factored.ln_det - self.target.shape * ln_rates;
        factored.p.as_mut_slice().iter_mut().for_each(|p| *p *= -columns);
        par_mul(&mut self.dh, self.h.view(), factored.p.view(), false);
        for row in factored.e.as_mut_slice().chunks_exact_mut(factored.rate.len()) {
            row.iter_mut().zip(&factored.rate).for_each(|(e, b)| *e *= self.target.shape / b);
        }
        par_mul(&mut self.dh, factored.e.view(), factored.g.view().transpose(), true);
        let (gx, gw, _) = self.layout.split_mut(g);
        ln_marginal + to_positions(&self.x, &self.w, &self.h, &self.dh, self.spectral, gx, gw)
    }
}
