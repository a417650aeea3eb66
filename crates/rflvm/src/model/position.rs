//! The likelihood of one row as a function of its position: x ↦ h = [φ_W(x), u_n, s·x, 1] ↦ f = o_n + g_n + hβ ↦ ln p(y_n | f, θ), and its slope,
//! ∂f_j/∂x_d = L^(-1/2) Σ_l w_ld (cos(w_l·x) β_lj − sin(w_l·x) β_{L+l,j}) + s b_dj.

use super::family::Theta;
use super::features::{Turned, fill_row};
use super::{Known, Model};
use crate::linalg::Mat;
use crate::simd::{self, Packed, View};
use std::ops::Range;
use std::sync::OnceLock;

/// Given W, s, β and θ the rows are independent, so any row can be evaluated at any position.
pub(crate) struct Positions<'a> {
    model: &'a Model,
    known: Known<'a>,
    theta: &'a [Theta],
    beta: &'a Mat,
    w: &'a Mat,
    s: f64,
    turned: Turned,
    /// The columns of `beta`.
    some: Range<usize>,
    /// `beta` as [`simd::multiply`] takes it, once several positions are evaluated together.
    packed: OnceLock<Vec<f64>>,
}

/// Scratch memory for one position; h and f are those of the last evaluated position.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    argument: Vec<f64>,
    pub h: Vec<f64>,
    pub f: Vec<f64>,
    /// For candidates of a position.
    pub workspace: Vec<f64>,
}

/// Derivatives of ln p(y_n | f(x)) with respect to x.
#[derive(Debug, Clone)]
pub(crate) struct Slope {
    /// ∂/∂x.
    pub gradient: Vec<f64>,
    /// Σ_j i_j ∂f_j ∂f_jᵀ, where i_j is the information of cell j about its f: never indefinite.
    pub information: Mat,
}

impl<'a> Positions<'a> {
    pub fn new(model: &'a Model, theta: &'a [Theta], beta: &'a Mat, (w, s): (&'a Mat, f64)) -> Self {
        let some = 0..beta.cols();
        Positions {
            model,
            known: Known::of(model),
            theta,
            beta,
            w,
            s,
            turned: Turned::new(w),
            some,
            packed: OnceLock::new(),
        }
    }

    /// Of some columns alone, whose weights `beta` has.
    pub fn of_columns(self, some: Range<usize>, beta: &'a Mat) -> Self {
        Positions { some, beta, packed: OnceLock::new(), ..self }
    }

    /// With column processes.
    pub fn beside(self, known: Known<'a>) -> Self {
        Positions { known, ..self }
    }

    pub fn scratch(&self) -> Scratch {
        let columns = self.beta.cols();
        let (argument, h) = (vec![0.0; self.w.rows()], vec![0.0; self.beta.rows()]);
        Scratch { argument, h, f: vec![0.0; columns], workspace: Vec::new() }
    }

    /// Number of observed cells in row n.
    pub fn observed(&self, n: usize) -> usize {
        self.model.observed(n)
    }

    /// The part of ln p(y_n | f(x)) that depends on x.
    pub fn ln_lik(&self, n: usize, x: &[f64], scratch: &mut Scratch) -> f64 {
        self.place(n, x, scratch);
        self.model.ln_lik_row(self.theta, n, &scratch.f)
    }

    /// [`Positions::ln_lik`] at each of several positions of row n: β is read once for all of them, which takes a third of the time.
    pub fn ln_lik_of_several(&self, n: usize, x: &[Vec<f64>], scratch: &mut Scratch) -> Vec<f64> {
        let (width, columns) = (self.beta.rows(), self.beta.cols());
        let depth = Packed::depth(width);
        let numbers = self.packed.get_or_init(|| packed(self.beta.view(), depth));
        let plain = (self.model.covariates().row(n), self.s);
        let (mut h, mut f) = (vec![0.0; x.len() * width], vec![0.0; x.len() * columns]);
        for ((x, h), f) in x.iter().zip(h.chunks_exact_mut(width)).zip(f.chunks_exact_mut(columns)) {
            fill_row(x, &self.turned, plain, &mut scratch.argument, h);
            self.known.fill_cells(n, self.some.start, f);
        }
        let h = View::new(&h, x.len(), width, width);
        simd::multiply(h, Packed { numbers, cols: columns, depth }, true, &mut f, columns);
        f.chunks_exact(columns).map(|f| self.model.ln_lik_row(self.theta, n, f)).collect()
    }

    /// h and f at a position.
    pub fn place(&self, n: usize, x: &[f64], scratch: &mut Scratch) {
        let plain = (self.model.covariates().row(n), self.s);
        fill_row(x, &self.turned, plain, &mut scratch.argument, &mut scratch.h);
        self.known.fill_cells(n, self.some.start, &mut scratch.f);
        simd::vecmat(&scratch.h, self.beta.as_slice(), &mut scratch.f);
    }

    /// The likelihood of some columns at the position where row n was placed.
    pub fn ln_lik_placed(&self, n: usize, some: &Range<usize>, scratch: &Scratch) -> f64 {
        self.model.ln_lik_cells(self.theta, n, some, &scratch.f)
    }

    /// The same at a position whose f without offset and covariates is known; h is not.
    pub fn ln_lik_at(&self, n: usize, f: &[f64], scratch: &mut Scratch) -> f64 {
        scratch.f.copy_from_slice(f);
        self.known.add(n, &mut scratch.f);
        for (u, gamma) in self.model.covariates().row(n).iter().zip(self.beta.iter_rows().skip(2 * self.w.rows())) {
            simd::axpy(*u, gamma, &mut scratch.f);
        }
        self.model.ln_lik_row(self.theta, n, &scratch.f)
    }

    /// The slope at the last evaluated position.
    pub fn slope(&self, n: usize, scratch: &Scratch) -> Slope {
        let columns = self.beta.cols();
        let (mut g, mut information) = (vec![0.0; columns], vec![0.0; columns]);
        self.model.gradient_cells(self.theta, n, &self.some, &scratch.f, &mut g);
        self.model.information_cells(self.theta, n, &self.some, &scratch.f, &mut information);
        let cells = information.iter_mut().zip(&self.model.y().row(n)[self.some.clone()]);
        cells.filter(|(_, y)| y.is_nan()).for_each(|(information, _)| *information = 0.0);
        self.slope_of(&g, &information, scratch)
    }

    /// The same, where the cells have slopes `g` and this information about their f.
    pub fn slope_of(&self, g: &[f64], information: &[f64], scratch: &Scratch) -> Slope {
        let (dim, frequencies, columns) = (self.w.cols(), self.w.rows(), self.beta.cols());
        let (sin, cos) = scratch.h[..2 * frequencies].split_at(frequencies);
        let mut df = Mat::zeros(dim, columns);
        let mut dh = vec![0.0; self.beta.rows()];
        let linear = 2 * frequencies + self.model.covariates().cols();
        for d in 0..dim {
            if self.s > 0.0 {
                dh[linear..linear + dim].fill(0.0);
                dh[linear + d] = self.s;
            }
            for l in 0..frequencies {
                dh[l] = self.w[(l, d)] * cos[l];
                dh[frequencies + l] = -self.w[(l, d)] * sin[l];
            }
            simd::vecmat(&dh, self.beta.as_slice(), df.row_mut(d));
        }
        let gradient = df.iter_rows().map(|df| simd::dot(df, g)).collect();
        let weighted = Mat::from_fn(dim, columns, |d, j| df[(d, j)] * information[j]);
        let information = Mat::from_fn(dim, dim, |d, e| simd::dot(weighted.row(d), df.row(e)));
        Slope { gradient, information }
    }

    /// The constant part of ln p(y_n | f, θ), which does not depend on f.
    pub fn constant(&self, n: usize, scratch: &Scratch) -> f64 {
        let ln_density = self.model.ln_density_row(self.theta, n, &scratch.f);
        ln_density - self.model.ln_lik_row(self.theta, n, &scratch.f)
    }
}

/// A matrix in blocks of `depth` rows.
fn packed(b: View<'_>, depth: usize) -> Vec<f64> {
    let width = Packed::width(b.cols());
    let mut numbers = vec![0.0; b.rows() * width];
    for k in (0..b.rows()).step_by(depth) {
        let block = b.subrows(k, depth.min(b.rows() - k));
        simd::pack(block, &mut numbers[k * width..][..block.rows() * width]);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelSpec;
    use crate::model::family::{Family, Gaussian, NegativeBinomial};
    use crate::rng::Stream;
    use crate::simulate;
    use std::sync::Arc;

    #[test]
    fn the_slope_is_the_derivative_and_constants_make_it_a_density() {
        let families: Vec<(usize, Arc<dyn Family>)> =
            vec![(3, Arc::new(NegativeBinomial::default())), (2, Arc::new(Gaussian::default()))];
        let spec = ModelSpec { features: 10, ..ModelSpec::default() };
        let mut model = simulate::blank(4, families, 1, spec).unwrap();
        let state = simulate::draw_prior(&model, Stream::new(1)).unwrap();
        model.set_values(&simulate::draw_data(&model, &state, Stream::new(1)));
        let w = state.features.w();
        let positions = Positions::new(&model, &state.theta, &state.beta, (w, 0.0));
        let mut scratch = positions.scratch();
        let x = [0.3, -0.8];
        let value = positions.ln_lik(2, &x, &mut scratch);
        let density = model.ln_density_row(&state.theta, 2, &scratch.f);
        assert!((value + positions.constant(2, &scratch) - density).abs() < 1e-9);
        let slope = positions.slope(2, &scratch);
        for d in 0..2 {
            let mut at = |step: f64| {
                let mut x = x;
                x[d] += step;
                positions.ln_lik(2, &x, &mut scratch)
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope.gradient[d] - difference).abs() < 1e-5 * (1.0 + difference.abs()), "{d}: {difference}");
        }
        // Together as alone.
        let several: Vec<Vec<f64>> = (0..11).map(|k| vec![0.2 * f64::from(k), 0.5 - 0.1 * f64::from(k)]).collect();
        let together = positions.ln_lik_of_several(2, &several, &mut scratch);
        for (x, together) in several.iter().zip(together) {
            let alone = positions.ln_lik(2, x, &mut scratch);
            assert!((alone - together).abs() < 1e-10 * (1.0 + alone.abs()), "{together} for {alone}");
        }
        let i = &slope.information;
        assert!(i[(0, 0)] > 0.0 && i[(1, 1)] > 0.0 && i[(0, 0)] * i[(1, 1)] > i[(0, 1)] * i[(1, 0)]);
    }
}
