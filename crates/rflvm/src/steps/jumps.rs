//! Jumps of X and W in a complete Gaussian table, with β and σ² integrated out: a row, or a frequency, chooses among places from anywhere.
//! Gradient moves are local: by them a row in the wrong place stays there, and a frequency that the kernel lacks is never found.
//!
//! Of the current place and independent draws from a density q, each is chosen with probability ∝ π/q, which leaves π invariant (iterated
//! sampling importance resampling: Andrieu, Lee & Vihola 2018). With H' and b_j as in [`crate::model::collapsed`], V = (H'ᵀH' + δI)⁻¹,
//! G = VH'ᵀỸ, and a minus for what is left without row n (V₋, G₋ and b₋ differ from V, G and b by one rank), the table at x_n = x is
//!
//! ```text
//! p(Y | X, W) ∝ s^(−J/2) Π_j (1 + e_j²/(2 s b₋_j))^(−a_n),   s = 1 + hᵀV₋h,   e_j = ỹ_nj − hᵀG₋_j,
//! ```
//!
//! and, with R the residuals of the table without the two columns U of frequency l, and E the matrix by which R = EỸ,
//!
//! ```text
//! p(Y | X, W) ∝ |S|^(−J/2) Π_j (b₋_j − ½ r_jᵀS⁻¹r_j)^(−a_n),   S = δI + UᵀEU,   r_j = UᵀR_j.
//! ```

use super::assignments::{Seating, choose};
use crate::dist::{LN_SQRT_2PI, normal};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, mul, par_mul};
use crate::model::collapsed::{CollapsedData, scaled_gram};
use crate::model::features::{Features, Turned, fill_row};
use crate::model::spectral::Kernel;
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};
use crate::simd;
use rand::RngExt;

/// Candidates of a row and of a frequency.
const ROW_CANDIDATES: usize = 96;
const FREQUENCY_CANDIDATES: usize = 64;
/// Half of a row's candidates lie about the places of so many other rows, at about this distance.
const OTHERS: usize = 16;
const NEAR: f64 = 0.3;
/// So many rows may jump in a sweep of any table, on average.
const FEW_ROWS: f64 = 64.0;
/// Rows whose features at candidate frequencies are in memory at the same time.
const PIECE: usize = 64;

/// Jumps of a random `share` of the rows (unless X is held) and of the frequencies; z goes with W, and clusters are redrawn later.
pub(crate) fn update(
    model: &Model,
    state: &mut State,
    target: &CollapsedData,
    (positions, share): (bool, f64),
    stream: Stream,
) -> Result<(), NumericalError> {
    let Some(tau2) = target.common(&state.tau2) else { return Ok(()) };
    let mut table = Table::new(target, &mut state.features, tau2)?;
    if positions {
        let stream = stream.named("rows");
        let turned = Turned::new(&table.w);
        // A row costs as much as a gradient of some hundred: of a long table only a tenth jumps, or the sweep would consist of jumps.
        let share = share.min((FEW_ROWS / model.rows() as f64).max(0.1));
        for n in (0..model.rows()).filter(|&n| stream.at(n as u64).is_chosen(share)) {
            table.jump_row(n, (model.covariates().row(n), &turned), &mut stream.at(n as u64).rng());
        }
    }
    let stream = stream.named("frequencies");
    let mut seating = match &model.spec().kernel {
        Kernel::Learned(mixture) => Some(Seating::new(mixture, &state.spectral, &table.w)?),
        Kernel::Rbf { .. } => None,
    };
    for l in (0..model.frequencies()).filter(|&l| stream.at(l as u64).is_chosen(share)) {
        table.jump_frequency(l, state, seating.as_mut(), &mut stream.at(l as u64).rng())?;
    }
    let Table { x, w, h, .. } = table;
    state.features.take_back(h, Some((x.as_slice(), w.as_slice())));
    Ok(())
}

/// What the table says at X and W.
struct Table<'a> {
    target: &'a CollapsedData,
    /// δ.
    delta: f64,
    /// s, the scale of the linear part.
    s: f64,
    x: Mat,
    w: Mat,
    /// H'.
    h: Mat,
    /// V.
    v: Mat,
    /// G.
    g: Mat,
    /// b.
    rate: Vec<f64>,
    /// Memory.
    choice: RowChoice,
}

impl<'a> Table<'a> {
    /// Uses the memory of H, which must be given back.
    fn new(target: &'a CollapsedData, features: &mut Features, tau2: f64) -> Result<Self, NumericalError> {
        let (unit, delta) = (target.intercept_variance.sqrt(), 1.0 / tau2);
        let mut a = scaled_gram(features.h(), unit);
        let mut h = features.lend();
        let last = h.cols() - 1;
        (0..h.rows()).for_each(|n| h[(n, last)] = unit);
        (0..=last).for_each(|m| a[(m, m)] += delta);
        let v = Cholesky::new(&a, "jumps")?.inverse();
        let (mut c, mut g) = (Mat::zeros(last + 1, target.y.cols()), Mat::zeros(last + 1, target.y.cols()));
        par_mul(&mut c, h.view().transpose(), target.y.view(), false);
        par_mul(&mut g, v.view(), c.view(), false);
        let mut rate = target.total.clone();
        for (c, g) in c.iter_rows().zip(g.iter_rows()) {
            rate.iter_mut().zip(c.iter().zip(g)).for_each(|(b, (c, g))| *b -= 0.5 * c * g);
        }
        rate.iter_mut().zip(&target.prior_rate).for_each(|(b, least)| *b = b.max(*least));
        let (x, w, s) = (features.x().clone(), features.w().clone(), features.plain().s());
        Ok(Table { target, delta, s, x, w, h, v, g, rate, choice: RowChoice::default() })
    }

    /// Σ over the columns of all processes of the ln of each candidate's product over columns, whose factors `factor(k, j)` are.
    fn ln_products(&self, candidates: usize, factor: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f64> {
        let chunks = &self.target.chunks;
        chunks.add(&mut chunks.own(), candidates, |chunk, to| {
            for (k, to) in to.iter_mut().enumerate() {
                // Eight at a time under one logarithm.
                for first in chunk.columns.clone().step_by(8) {
                    *to += (first..chunk.columns.end.min(first + 8)).map(|j| factor(k, j)).product::<f64>().ln();
                }
            }
        })
    }

    /// Row n chooses its place; the first candidate is where it is.
    fn jump_row(&mut self, n: usize, (covariates, turned): (&[f64], &Turned), rng: &mut StreamRng) {
        let others = self.others(n, rng);
        let x = places(self.x.row(n), &others, rng);
        let mut choice = std::mem::take(&mut self.choice);
        choice.resize((x.rows(), self.h.cols(), self.g.cols()));
        self.features_at(&x, (covariates, turned), &mut choice.h);
        self.price_row(n, &mut choice);
        let prices = choice.ln_lik.iter().zip(x.iter_rows());
        let weights: Vec<f64> = prices.map(|(ln_lik, x)| ln_lik + ln_standard(x) - ln_places(x, &others)).collect();
        let k = choose(&weights, rng);
        if k > 0 {
            self.put_row(n, k, x.row(k), &choice);
        }
        self.choice = choice;
    }

    /// The places of some rows other than n, chosen at random.
    fn others(&self, n: usize, rng: &mut StreamRng) -> Mat {
        let rows = self.x.rows();
        let mut others = Mat::zeros(OTHERS.min(rows - 1), self.x.cols());
        for i in 0..others.rows() {
            let other = (n + rng.random_range(1..rows)) % rows;
            others.row_mut(i).copy_from_slice(self.x.row(other));
        }
        others
    }

    /// Rows of H' at places.
    fn features_at(&self, x: &Mat, (covariates, turned): (&[f64], &Turned), h: &mut Mat) {
        let (last, mut argument) = (self.h.cols() - 1, vec![0.0; self.w.rows()]);
        for (k, x) in x.iter_rows().enumerate() {
            let h = h.row_mut(k);
            fill_row(x, turned, (covariates, self.s), &mut argument, h);
            h[last] = self.h[(0, last)];
        }
    }

    /// The table with row n at the places of a choice, the first of which is its own.
    fn price_row(&self, n: usize, choice: &mut RowChoice) {
        let RowChoice { ln_lik, h, hv, fitted, left, residual, rate, shared, spread } = choice;
        mul(hv.as_mut_slice(), h.view(), self.v.view(), false);
        mul(fitted.as_mut_slice(), h.view(), self.g.view(), false);
        let own = hv.row(0);
        *left = 1.0 - simd::dot(own, h.row(0));
        refill(residual, self.target.y.row(n).iter().zip(fitted.row(0)).map(|(y, f)| y - f));
        let rates = self.rate.iter().zip(&self.target.prior_rate).zip(&*residual);
        refill(rate, rates.map(|((b, least), r)| (b - 0.5 * r * r / *left).max(*least)));
        refill(shared, h.iter_rows().map(|h| simd::dot(h, own) / *left));
        let spreads = shared.iter().enumerate();
        refill(spread, spreads.map(|(k, shared)| 1.0 + simd::dot(hv.row(k), h.row(k)) + shared * shared * *left));
        let error = |k: usize, j: usize| self.target.y[(n, j)] - fitted[(k, j)] + shared[k] * residual[j];
        let factor = |k: usize, j: usize| 1.0 + 0.5 * error(k, j).powi(2) / (spread[k] * rate[j]);
        let ln_products = self.ln_products(h.rows(), factor);
        let columns = self.target.chunks.columns() as f64;
        let prices = ln_products.iter().zip(&*spread);
        refill(ln_lik, prices.map(|(ln, s)| -0.5 * columns * s.ln() - self.target.shape * ln));
    }

    fn put_row(&mut self, n: usize, k: usize, x: &[f64], choice: &RowChoice) {
        let RowChoice { h, hv, fitted, left, residual, rate, shared, spread, .. } = choice;
        let own = hv.row(0);
        let there: Vec<f64> = hv.row(k).iter().zip(own).map(|(there, own)| there + shared[k] * own).collect();
        let fits = self.target.y.row(n).iter().zip(fitted.row(k)).zip(residual);
        let error: Vec<f64> = fits.map(|((y, f), r)| y - f + shared[k] * r).collect();
        for m in 0..self.v.rows() {
            let (leaves, comes) = (own[m] / left, there[m] / spread[k]);
            simd::axpy2(leaves, own, -comes, &there, self.v.row_mut(m));
            simd::axpy2(-leaves, residual, comes, &error, self.g.row_mut(m));
        }
        for ((to, b), e) in self.rate.iter_mut().zip(rate).zip(&error) {
            *to = b + 0.5 * e * e / spread[k];
        }
        self.x.row_mut(n).copy_from_slice(x);
        self.h.row_mut(n).copy_from_slice(h.row(k));
    }

    /// Frequency l chooses its value and its cluster; the first candidate is what it is.
    fn jump_frequency(
        &mut self,
        l: usize,
        state: &mut State,
        mut seating: Option<&mut Seating>,
        rng: &mut StreamRng,
    ) -> Result<(), NumericalError> {
        let mut w = Mat::zeros(FREQUENCY_CANDIDATES + 1, self.w.cols());
        w.row_mut(0).copy_from_slice(self.w.row(l));
        let mut z = vec![state.spectral.z[l]];
        if let Some(seating) = &mut seating {
            seating.leave(&state.spectral, &self.w, l)?;
            let sizes = seating.ln_sizes(&state.spectral, l);
            for k in 1..=FREQUENCY_CANDIDATES {
                z.push(choose(&sizes, rng));
                w.row_mut(k).copy_from_slice(&seating.law(z[k]).draw(rng));
            }
        } else {
            let cluster = state.spectral.cluster(l);
            for k in 1..=FREQUENCY_CANDIDATES {
                let from_mean = cluster.centred_draw(rng);
                w.row_mut(k).iter_mut().zip(cluster.mu.iter().zip(from_mean)).for_each(|(w, (mu, v))| *w = mu + v);
            }
        }
        let choice = self.price_frequency(l, &w)?;
        let k = choose(&choice.ln_lik, rng);
        if k > 0 {
            self.put_frequency(l, k, &w, &choice);
        }
        match seating {
            Some(seating) => seating.seat(&mut state.spectral, &self.w, l, if k > 0 { z[k] } else { z[0] }),
            None => Ok(()),
        }
    }

    /// The table with other values of frequency l, the first of which is its own.
    fn price_frequency(&self, l: usize, w: &Mat) -> Result<FrequencyChoice, NumericalError> {
        let (rows, width, columns, count) = (self.h.rows(), self.h.cols(), self.g.cols(), w.rows());
        let pair = [l, self.w.rows() + l];
        // Without the pair: V₋ and G₋ have zeros in its place.
        let inverse = Two(pair.map(|a| pair.map(|b| self.v[(a, b)]))).inverse();
        let mut v = self.v.clone();
        let mut g = self.g.clone();
        for m in 0..width {
            let part = inverse.times([self.v[(m, pair[0])], self.v[(m, pair[1])]]);
            simd::axpy2(-part[0], self.v.row(pair[0]), -part[1], self.v.row(pair[1]), v.row_mut(m));
            simd::axpy2(-part[0], self.g.row(pair[0]), -part[1], self.g.row(pair[1]), g.row_mut(m));
        }
        for p in pair {
            v.row_mut(p).fill(0.0);
            g.row_mut(p).fill(0.0);
            (0..width).for_each(|m| v[(m, p)] = 0.0);
        }
        let rates = self.rate.iter().enumerate().map(|(j, b)| {
            let own = [self.g[(pair[0], j)], self.g[(pair[1], j)]];
            b + 0.5 * dot(own, inverse.times(own))
        });
        let rate: Vec<f64> = rates.collect();
        // Sines in the first half of the rows of Uᵀ, cosines in the second.
        let (mut seen, mut uh) = (Mat::zeros(2 * count, columns), Mat::zeros(2 * count, width));
        let mut squares = vec![[0.0; 3]; count];
        let mut u = Mat::default();
        for first in (0..rows).step_by(PIECE) {
            let some = PIECE.min(rows - first);
            self.pairs(w, first, some, &mut u);
            par_mul(&mut seen, u.view(), self.target.y.view().subrows(first, some), true);
            par_mul(&mut uh, u.view(), self.h.view().subrows(first, some), true);
            for (k, squares) in squares.iter_mut().enumerate() {
                let (sin, cos) = (u.row(k), u.row(count + k));
                let of = [simd::dot(sin, sin), simd::dot(sin, cos), simd::dot(cos, cos)];
                squares.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
            }
        }
        let (mut uhv, mut explained) = (Mat::zeros(2 * count, width), Mat::zeros(2 * count, columns));
        par_mul(&mut uhv, uh.view(), v.view(), false);
        par_mul(&mut explained, uh.view(), g.view(), false);
        seen.as_mut_slice().iter_mut().zip(explained.as_slice()).for_each(|(s, e)| *s -= e);
        let inner = |a: usize, b: usize| simd::dot(uhv.row(a), uh.row(b));
        let schur: Vec<Two> = (0..count)
            .map(|k| {
                let [sin, both, cos] = squares[k];
                let across = both - inner(k, count + k);
                Two([
                    [self.delta + sin - inner(k, k), across],
                    [across, self.delta + cos - inner(count + k, count + k)],
                ])
            })
            .collect();
        let inverses: Vec<Two> = schur.iter().map(Two::inverse).collect();
        let ln_products = self.ln_products(count, |k, j| {
            let r = [seen[(k, j)], seen[(count + k, j)]];
            1.0 - (0.5 * dot(r, inverses[k].times(r)) / rate[j]).min(1.0 - f64::EPSILON)
        });
        let columns = self.target.chunks.columns() as f64;
        let ln_lik = ln_products.iter().zip(&schur);
        let ln_lik = ln_lik.map(|(ln, s)| -0.5 * columns * s.det().ln() - self.target.shape * ln).collect();
        Ok(FrequencyChoice { ln_lik, v, g, rate, uhv, seen, inverses })
    }

    /// Uᵀ of all candidates for some rows.
    fn pairs(&self, w: &Mat, first: usize, some: usize, u: &mut Mat) {
        if u.cols() != some {
            *u = Mat::zeros(2 * w.rows(), some);
        }
        let (sines, cosines) = u.as_mut_slice().split_at_mut(w.rows() * some);
        let scale = (self.w.rows() as f64).sqrt().recip();
        let mut argument = vec![0.0; some];
        for ((sin, cos), w) in sines.chunks_exact_mut(some).zip(cosines.chunks_exact_mut(some)).zip(w.iter_rows()) {
            for (to, x) in argument.iter_mut().zip(self.x.iter_rows().skip(first)) {
                *to = x.iter().zip(w).map(|(x, w)| x * w).sum();
            }
            simd::sin_cos(&mut argument, sin, cos, scale);
        }
    }

    fn put_frequency(&mut self, l: usize, k: usize, w: &Mat, choice: &FrequencyChoice) {
        let FrequencyChoice { v, g, rate, uhv, seen, inverses, .. } = choice;
        let (count, pair, inverse) = (w.rows(), [l, self.w.rows() + l], &inverses[k]);
        let (sines, cosines) = (k, count + k);
        (self.v, self.g) = (v.clone(), g.clone());
        // −V₋H'ᵀU S⁻¹, and S⁻¹ in the place of the pair.
        let mut across: Vec<[f64; 2]> =
            (0..self.v.rows()).map(|m| inverse.times([-uhv[(sines, m)], -uhv[(cosines, m)]])).collect();
        let (from_sin, from_cos) = (uhv.row(sines), uhv.row(cosines));
        for (m, across) in across.iter().enumerate() {
            simd::axpy2(-across[0], from_sin, -across[1], from_cos, self.v.row_mut(m));
        }
        (across[pair[0]], across[pair[1]]) = (inverse.times([1.0, 0.0]), inverse.times([0.0, 1.0]));
        for (m, across) in across.iter().enumerate() {
            for (p, value) in pair.into_iter().zip(across) {
                self.v[(m, p)] = *value;
                self.v[(p, m)] = *value;
            }
            simd::axpy2(across[0], seen.row(sines), across[1], seen.row(cosines), self.g.row_mut(m));
        }
        for (j, to) in self.rate.iter_mut().enumerate() {
            let r = [seen[(sines, j)], seen[(cosines, j)]];
            *to = (rate[j] - 0.5 * dot(r, inverse.times(r))).max(self.target.prior_rate[j]);
        }
        self.w.row_mut(l).copy_from_slice(w.row(k));
        let chosen = Mat::from_vec(1, w.cols(), w.row(k).to_vec());
        let mut u = Mat::default();
        for first in (0..self.h.rows()).step_by(PIECE) {
            let some = PIECE.min(self.h.rows() - first);
            self.pairs(&chosen, first, some, &mut u);
            for n in 0..some {
                self.h[(first + n, pair[0])] = u[(0, n)];
                self.h[(first + n, pair[1])] = u[(1, n)];
            }
        }
    }
}

/// Places of a row.
#[derive(Debug, Default)]
struct RowChoice {
    /// ln p(Y | X, W) at each, up to a constant.
    ln_lik: Vec<f64>,
    /// h, hᵀV and hᵀG.
    h: Mat,
    hv: Mat,
    fitted: Mat,
    /// 1 − h_nᵀVh_n, of the row where it is.
    left: f64,
    /// ỹ_n − h_nᵀG, of the row where it is.
    residual: Vec<f64>,
    /// b₋.
    rate: Vec<f64>,
    /// hᵀVh_n/(1 − h_nᵀVh_n).
    shared: Vec<f64>,
    /// s.
    spread: Vec<f64>,
}

impl RowChoice {
    fn resize(&mut self, (places, width, columns): (usize, usize, usize)) {
        for (to, width) in [(&mut self.h, width), (&mut self.hv, width), (&mut self.fitted, columns)] {
            if (to.rows(), to.cols()) != (places, width) {
                *to = Mat::zeros(places, width);
            }
        }
    }
}

/// The same memory with other values.
fn refill(to: &mut Vec<f64>, from: impl Iterator<Item = f64>) {
    to.clear();
    to.extend(from);
}

/// Values of a frequency.
struct FrequencyChoice {
    /// ln p(Y | X, W) at each, up to a constant.
    ln_lik: Vec<f64>,
    /// V₋, G₋ and b₋.
    v: Mat,
    g: Mat,
    rate: Vec<f64>,
    /// UᵀH'V₋ and UᵀR of all candidates, sines first.
    uhv: Mat,
    seen: Mat,
    /// S⁻¹ of each candidate.
    inverses: Vec<Two>,
}

/// A symmetric 2×2 matrix.
#[derive(Debug, Clone, Copy)]
struct Two([[f64; 2]; 2]);

impl Two {
    fn det(&self) -> f64 {
        let [[a, b], [c, d]] = self.0;
        a * d - b * c
    }

    fn inverse(&self) -> Self {
        let ([[a, b], [c, d]], det) = (self.0, self.det());
        Two([[d / det, -b / det], [-c / det, a / det]])
    }

    fn times(&self, v: [f64; 2]) -> [f64; 2] {
        self.0.map(|row| dot(row, v))
    }
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// The place of a row, and candidates: half from the prior, half about the places of others.
fn places(here: &[f64], others: &Mat, rng: &mut StreamRng) -> Mat {
    let mut x = Mat::zeros(ROW_CANDIDATES + 1, here.len());
    x.row_mut(0).copy_from_slice(here);
    for k in 1..=ROW_CANDIDATES {
        let to = x.row_mut(k);
        if others.rows() == 0 || rng.random() {
            to.iter_mut().for_each(|to| *to = normal(rng));
        } else {
            let about = others.row(rng.random_range(0..others.rows()));
            to.iter_mut().zip(about).for_each(|(to, x)| *to = x + NEAR * normal(rng));
        }
    }
    x
}

/// ln of the density of these candidates.
fn ln_places(x: &[f64], others: &Mat) -> f64 {
    if others.rows() == 0 {
        return ln_standard(x);
    }
    let near = |other: &[f64]| -> f64 {
        let square: f64 = x.iter().zip(other).map(|(x, other)| ((x - other) / NEAR).powi(2)).sum();
        (-0.5 * square - x.len() as f64 * (LN_SQRT_2PI + NEAR.ln())).exp()
    };
    let near: f64 = others.iter_rows().map(near).sum();
    (0.5 * ln_standard(x).exp() + 0.5 * near / others.rows() as f64).ln()
}

fn ln_standard(x: &[f64]) -> f64 {
    x.iter().map(|x| -0.5 * x * x - LN_SQRT_2PI).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::model::ModelSpec;
    use crate::model::family::Gaussian;
    use crate::simulate;
    use std::sync::Arc;

    fn model() -> (Model, State) {
        let spec = ModelSpec { features: 10, ..ModelSpec::default() };
        let mut model = simulate::blank(12, vec![(5, Arc::new(Gaussian::default()))], 1, spec).unwrap();
        let state = simulate::draw_prior(&model, Stream::new(1)).unwrap();
        model.set_values(&simulate::draw_data(&model, &state, Stream::new(1)));
        (model, state)
    }

    /// ln p(Y | X, W) directly.
    fn ln_marginal(target: &CollapsedData, state: &State, x: &Mat, w: &Mat) -> f64 {
        let mut features = state.features.clone();
        features.set(x.as_slice(), w.as_slice());
        target.ln_marginal(features.h(), &state.tau2).unwrap()
    }

    #[test]
    fn candidates_are_priced_by_the_marginal_likelihood() {
        let (model, state) = model();
        let target = CollapsedData::new(&model);
        let mut table = Table::new(&target, &mut state.features.clone(), state.tau2[0]).unwrap();
        let here = ln_marginal(&target, &state, &table.x, &table.w);
        let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-7, "{found}, {wanted}");
        let rng = &mut Stream::new(2).rng();
        let others = table.others(3, rng);
        let (places, turned) = (places(table.x.row(3), &others, rng), Turned::new(&table.w));
        let mut choice = RowChoice::default();
        choice.resize((places.rows(), table.h.cols(), table.g.cols()));
        table.features_at(&places, (model.covariates().row(3), &turned), &mut choice.h);
        table.price_row(3, &mut choice);
        for k in [1, 7] {
            let mut x = table.x.clone();
            x.row_mut(3).copy_from_slice(places.row(k));
            close(choice.ln_lik[k] - choice.ln_lik[0], ln_marginal(&target, &state, &x, &table.w) - here);
        }
        table.put_row(3, 7, places.row(7), &choice);
        let mut w = Mat::from_vec(3, 2, normals(6, rng));
        w.row_mut(0).copy_from_slice(table.w.row(2));
        let there = ln_marginal(&target, &state, &table.x, &table.w);
        let choice = table.price_frequency(2, &w).unwrap();
        for k in [1, 2] {
            let mut other = table.w.clone();
            other.row_mut(2).copy_from_slice(w.row(k));
            close(choice.ln_lik[k] - choice.ln_lik[0], ln_marginal(&target, &state, &table.x, &other) - there);
        }
        // What is held after jumps is what it would be from the beginning.
        table.put_frequency(2, 1, &w, &choice);
        let mut features = state.features.clone();
        features.set(table.x.as_slice(), table.w.as_slice());
        let again = Table::new(&target, &mut features, state.tau2[0]).unwrap();
        for (a, b) in [(&table.h, &again.h), (&table.v, &again.v), (&table.g, &again.g)] {
            a.as_slice().iter().zip(b.as_slice()).for_each(|(a, b)| close(*a, *b));
        }
        table.rate.iter().zip(&again.rate).for_each(|(a, b)| close(*a, *b));
    }

    #[test]
    fn candidates_have_the_density_that_they_say() {
        // E[p/q] over candidates is one.
        let (mut sum, mut square, mut count) = (0.0, 0.0, 0.0);
        let rng = &mut Stream::new(3).rng();
        let others = Mat::from_vec(4, 2, normals(8, rng));
        for _ in 0..50 {
            for x in places(&[0.0, 0.0], &others, rng).iter_rows().skip(1) {
                let ratio = (ln_standard(x) - ln_places(x, &others)).exp();
                (sum, square, count) = (sum + ratio, square + ratio * ratio, count + 1.0);
            }
        }
        let (mean, error) = (sum / count, (square / count).sqrt() / f64::sqrt(count));
        assert!((mean - 1.0).abs() < 4.0 * error && error < 0.02, "{mean} ± {error}");
    }
}
