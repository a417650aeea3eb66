//! A frequency jumps, with its cluster. With a minus for what is left without the two columns U of frequency l, R the residuals of the
//! table without them, and E the matrix by which R = EỸ,
//!
//! ```text
//! p(Y | X, W) ∝ |S|^(−J/2) Π_j (b₋_j − ½ r_jᵀS⁻¹r_j)^(−a_n),   S = δI + UᵀEU,   r_j = UᵀR_j.
//! ```

use super::table::{LOST, Table, keep_sound};
use crate::error::NumericalError;
use crate::linalg::{Mat, par_mul};
use crate::model::State;
use crate::rng::StreamRng;
use crate::simd;
use crate::steps::assignments::{Seating, choose};

/// Candidates of a frequency.
const CANDIDATES: usize = 64;
/// Rows whose features at candidate frequencies are in memory at the same time.
const PIECE: usize = 64;

impl Table<'_> {
    /// Frequency l chooses its value and its cluster; the first candidate is what it is.
    pub(super) fn jump_frequency(
        &mut self,
        l: usize,
        state: &mut State,
        mut seating: Option<&mut Seating>,
        rng: &mut StreamRng,
    ) -> Result<(), NumericalError> {
        let mut w = Mat::zeros(CANDIDATES + 1, self.w.cols());
        w.row_mut(0).copy_from_slice(self.w.row(l));
        let mut z = vec![state.spectral.z[l]];
        if let Some(seating) = &mut seating {
            seating.leave(&state.spectral, &self.w, l)?;
            let sizes = seating.ln_sizes(&state.spectral, l);
            for k in 1..=CANDIDATES {
                z.push(choose(&sizes, rng));
                w.row_mut(k).copy_from_slice(&seating.law(z[k]).draw(rng));
            }
        } else {
            let cluster = state.spectral.cluster(l);
            for k in 1..=CANDIDATES {
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
    pub(super) fn price_frequency(&self, l: usize, w: &Mat) -> Result<FrequencyChoice, NumericalError> {
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
        let ln_lik = ln_lik.map(|(ln, s)| -0.5 * columns * s.det().ln() - self.target.shape * ln);
        let mut ln_lik: Vec<f64> = ln_lik.collect();
        keep_sound(&mut ln_lik, |k| {
            let (Two([[a, _], [_, d]]), [sin, _, cos]) = (schur[k], squares[k]);
            schur[k].det() > LOST * (a + d) * (self.delta + sin + cos)
        });
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
            simd::sin_cos(&argument, sin, cos, scale);
        }
    }

    pub(super) fn put_frequency(&mut self, l: usize, k: usize, w: &Mat, choice: &FrequencyChoice) {
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

/// Values of a frequency.
pub(super) struct FrequencyChoice {
    /// ln p(Y | X, W) at each, up to a constant.
    pub(super) ln_lik: Vec<f64>,
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
