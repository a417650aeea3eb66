//! Frequencies of the collapsed Gaussian: a frequency is two columns of H, removed from A by a Schur complement, and a new
//! pair is evaluated in O(N(M + J)).

use crate::error::NumericalError;

use crate::linalg::Mat;
use crate::model::State;
use crate::model::collapsed::{CollapsedData, Factored};
use crate::model::features::{Features, Pair};
use crate::rng::Stream;
use crate::simd;
use crate::slice;
use crate::steps::{FrequencyMove, Moves, SweepInfo};
use rand::RngExt;

/// A without the two columns of frequency l, and what evaluating a new pair needs.
pub(super) struct WithoutPair<'a> {
    target: &'a CollapsedData,
    h: &'a Mat,
    /// Indices of the two columns in H.
    at: [usize; 2],
    factored: Factored,
    prior: f64,
    /// Scratch and result of the last evaluation: V = P_−HᵀU, D = UᵀE_−, S⁻¹.
    v: [Vec<f64>; 2],
    d: [Vec<f64>; 2],
    s_inverse: [f64; 3],
}

impl<'a> WithoutPair<'a> {
    pub(super) fn new(target: &'a CollapsedData, h: &'a Mat, l: usize, mut factored: Factored) -> Self {
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
            // Row n of (H P_·U S) G_U is added back to the residuals.
            let (ka, kb) = times(s, simd::dot(row, &pa), simd::dot(row, &pb));
            simd::axpy2(ka, &ga, kb, &gb, factored.e.row_mut(n));
        }
        for i in 0..h.cols() {
            let (ka, kb) = times(s, pa[i], pb[i]);
            simd::axpy2(-ka, &pa, -kb, &pb, factored.p.row_mut(i));
            simd::axpy2(-ka, &ga, -kb, &gb, factored.g.row_mut(i));
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
    pub(super) fn price(&mut self, pair: &Pair) -> f64 {
        let columns = [&pair.sin, &pair.cos];
        let mut t = [vec![0.0; self.h.cols()], vec![0.0; self.h.cols()]];
        for i in 0..2 {
            simd::vecmat(columns[i], self.h.as_slice(), &mut t[i]);
            self.v[i].fill(0.0);
            simd::vecmat(&t[i], self.factored.p.as_slice(), &mut self.v[i]);
            self.d[i].fill(0.0);
            simd::vecmat(columns[i], self.factored.e.as_slice(), &mut self.d[i]);
        }
        let s = [
            self.prior + simd::dot(columns[0], columns[0]) - simd::dot(&t[0], &self.v[0]),
            simd::dot(columns[0], columns[1]) - simd::dot(&t[0], &self.v[1]),
            self.prior + simd::dot(columns[1], columns[1]) - simd::dot(&t[1], &self.v[1]),
        ];
        self.s_inverse = inverse2(s);
        let ln_rates: f64 = (0..self.d[0].len()).map(|j| self.rate(j).ln()).sum();
        -0.5 * self.d[0].len() as f64 * (s[0] * s[2] - s[1] * s[1]).ln() - self.target.shape * ln_rates
    }

    /// b_j with the last evaluated pair.
    fn rate(&self, j: usize) -> f64 {
        let (a, b, s) = (self.d[0][j], self.d[1][j], self.s_inverse);
        self.factored.rate[j] - 0.5 * (s[0] * a * a + 2.0 * s[1] * a * b + s[2] * b * b)
    }

    /// Inserts the last evaluated pair.
    pub(super) fn commit(mut self, pair: &Pair) -> Factored {
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
            let ka = pair.sin[n] - simd::dot(row, &self.v[0]);
            let kb = pair.cos[n] - simd::dot(row, &self.v[1]);
            simd::axpy2(-ka, &ga, -kb, &gb, factored.e.row_mut(n));
        }
        for i in (0..self.h.cols()).filter(|i| !self.at.contains(i)) {
            let (va, vb) = (self.v[0][i], self.v[1][i]);
            let (ka, kb) = times(s, va, vb);
            simd::axpy2(ka, &self.v[0], kb, &self.v[1], factored.p.row_mut(i));
            simd::axpy2(-va, &ga, -vb, &gb, factored.g.row_mut(i));
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

/// All frequencies, or a fraction of them, in turn.
pub(crate) fn update(
    target: &CollapsedData,
    state: &mut State,
    moves: Moves,
    table: &mut Mat,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let mut factored = Factored::within(target, state.features.h(), std::mem::take(table))?;
    let count = state.features.frequencies();
    let mut pair = Pair::new(target.y.rows());
    let (mut made, mut tries, mut moved) = (0, 0, 0);
    for l in (0..count).filter(|&l| stream.at(l as u64).is_chosen(moves.share())) {
        made += 1;
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
        let taken = match moves.frequencies {
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
    *table = factored.e;
    info.frequency_tries = f64::from(tries) / f64::from(made.max(1));
    info.frequency_moves = f64::from(moved) / f64::from(made.max(1));
    Ok(())
}

/// ln p(Y | w_l') − ln p(Y | w_l), as evaluated by a frequency move. For identity tests.
pub fn frequency_ln_ratio(
    target: &CollapsedData,
    features: &Features,
    l: usize,
    w: &[f64],
) -> Result<f64, NumericalError> {
    let mut without = WithoutPair::new(target, features.h(), l, Factored::new(target, features.h())?);
    let mut pair = Pair::new(target.y.rows());
    features.current_pair(l, &mut pair);
    let old = without.price(&pair);
    features.pair(w, &mut pair);
    Ok(without.price(&pair) - old)
}
