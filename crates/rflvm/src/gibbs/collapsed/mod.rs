//! X and W of a complete Gaussian with β and σ² integrated out: ln p(Y | X, W) = const − (J/2) ln|A| − a_n Σ_j ln b_j.
//!
//! Moves of single rows and frequencies keep P = A⁻¹, G = PC, E = Ỹ − HG and b_j exact by low-rank updates, so that the
//! marginal is never computed anew within a step.

mod marginal;
mod pairs;
mod rows;

pub use marginal::Marginal;
pub use pairs::frequency_ln_ratio;
pub use rows::row_ln_ratio;

use super::gradient::Layout;
use super::hamiltonian::{Trajectory, hamiltonian};
use super::noncentred::held;
use super::room::Room;
use super::{Clock, Moves, Step, SweepInfo};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, gram, par_mul};
use crate::model::{Model, State};
use crate::rng::Stream;

/// All collapsed moves of a sweep.
pub(super) fn update(
    model: &Model,
    state: &mut State,
    (moves, trajectory): (Moves, &Trajectory),
    room: &mut Room,
    stream: Stream,
    (info, clock): (&mut SweepInfo, &mut Clock),
) -> Result<(), NumericalError> {
    // F is not asked for while β is integrated out: Ỹ lies in its memory until it is drawn again.
    let target = Target::within(model, std::mem::take(&mut state.f));
    let moved = integrated(&target, model, state, (moves, trajectory), room, stream, (info, clock));
    state.f = target.y;
    moved
}

/// The moves, given Ỹ; E lies in the room's table.
fn integrated(
    target: &Target,
    model: &Model,
    state: &mut State,
    (moves, trajectory): (Moves, &Trajectory),
    room: &mut Room,
    stream: Stream,
    (info, clock): (&mut SweepInfo, &mut Clock),
) -> Result<(), NumericalError> {
    pairs::update(target, state, moves, &mut room.table, stream.named("w"), info)?;
    clock.lap(info, Step::Frequencies);
    if moves.positions {
        rows::update(target, state, moves.share(), &mut room.table, stream.named("x"), info)?;
    }
    clock.lap(info, Step::Positions);
    if moves.gradient {
        let layout = Layout::new(model, false);
        let mut q = layout.gather(state);
        let h = state.features.lend();
        let mut marginal = Marginal::within(target, &state.spectral, layout, h, std::mem::take(room));
        let trajectory = held(trajectory, model, moves.positions, false);
        let landing = hamiltonian(&mut marginal, &mut q, &trajectory, None, &mut stream.named("gradient").rng());
        info.acceptance = landing.acceptance;
        let h;
        (h, *room) = marginal.finish();
        let (x, w, _) = layout.split(&q);
        state.features.take_back(h, landing.is_accepted.then_some((x, w)));
    }
    clock.lap(info, Step::Gradient);
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
    /// b0_j + ½ỹᵀỹ.
    total: Vec<f64>,
    /// a_n.
    shape: f64,
}

impl Target {
    /// For a model with one complete Gaussian block (see [`Model::is_collapsed`]).
    pub fn new(model: &Model) -> Self {
        Self::within(model, Mat::default())
    }

    /// The same, in the memory of another table.
    fn within(model: &Model, mut y: Mat) -> Self {
        let units = model.units();
        y.fit(model.rows(), model.columns());
        for (n, from) in model.y().iter_rows().enumerate() {
            let cells = y.row_mut(n).iter_mut().zip(from).zip(units);
            cells.for_each(|((to, y), unit)| *to = y - model.offset()[n] - unit.centre);
        }
        let crate::model::Amplitude::Fixed(tau2) = model.spec().amplitude else {
            unreachable!("a collapsed model has a known amplitude")
        };
        let Some(gaussian) = model.blocks()[0].family.as_gaussian() else {
            unreachable!("a collapsed model is Gaussian")
        };
        let rate = units.iter().map(|u| gaussian.column_rate(u)).collect();
        Self::of(y, model.weight_precision(tau2), rate, gaussian.shape + 0.5 * model.rows() as f64)
    }

    fn of(y: Mat, precision: Vec<f64>, rate: Vec<f64>, shape: f64) -> Self {
        let mut total = rate.clone();
        for row in y.iter_rows() {
            total.iter_mut().zip(row).for_each(|(b, y)| *b += 0.5 * y * y);
        }
        Target { y, precision, rate, total, shape }
    }

    /// ln p(Y | X, W) up to a constant, plainly from the definition.
    pub fn ln_marginal(&self, h: &Mat) -> Result<f64, NumericalError> {
        let factored = Factored::new(self, h)?;
        let columns = self.y.cols() as f64;
        let ln_rates: f64 = factored.rate.iter().map(|b| b.ln()).sum();
        Ok(-0.5 * columns * factored.ln_det - self.shape * ln_rates)
    }

    /// β and the precisions 1/σ_j² of a state at their best given X and W: β_j = A⁻¹c_j about its prior mean, and the mode
    /// (a_n − 1)/b_j of the precision.
    pub fn fill_mode(&self, model: &Model, state: &mut State) -> Result<(), NumericalError> {
        let Factored { mut g, rate, .. } = Factored::new(self, state.features.h())?;
        let last = g.rows() - 1;
        g.row_mut(last).iter_mut().zip(model.units()).for_each(|(g, unit)| *g += unit.centre);
        state.beta = g;
        let mode = |b: &f64| (self.shape - 1.0).max(f64::MIN_POSITIVE) / b;
        state.theta[0].values = Mat::from_vec(1, rate.len(), rate.iter().map(mode).collect());
        Ok(())
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
        Self::within(target, h, Mat::default())
    }

    /// The same, with E in the memory of another table.
    fn within(target: &Target, h: &Mat, mut e: Mat) -> Result<Self, NumericalError> {
        let a = gram(h, None, &target.precision);
        let cholesky = Cholesky::new(a, "positions")?;
        let mut c = Mat::zeros(h.cols(), target.y.cols());
        par_mul(&mut c, h.view().transpose(), target.y.view(), false);
        let p = cholesky.inverse();
        let mut g = Mat::zeros(h.cols(), target.y.cols());
        par_mul(&mut g, p.view(), c.view(), false);
        e.fit(h.rows(), target.y.cols());
        par_mul(&mut e, h.view(), g.view(), false);
        e.as_mut_slice().iter_mut().zip(target.y.as_slice()).for_each(|(e, y)| *e = y - *e);
        // ỹᵀỹ − cᵀg = ỹᵀe: a sum of products of residuals, not a difference of large sums.
        let mut rate = target.rate.clone();
        for (y, e) in target.y.iter_rows().zip(e.iter_rows()) {
            rate.iter_mut().zip(y.iter().zip(e)).for_each(|(b, (y, e))| *b += 0.5 * y * e);
        }
        Ok(Factored { p, g, e, rate, ln_det: cholesky.ln_det() })
    }
}

#[cfg(test)]
mod tests {
    use super::pairs::WithoutPair;
    use super::*;
    use crate::dist::normals;
    use crate::model::features::{Features, Pair, Turned};

    /// A target and features of a small random problem.
    fn problem() -> (Target, Features) {
        let mut rng = Stream::new(8).rng();
        let y = Mat::from_vec(9, 4, normals(36, &mut rng));
        let features =
            Features::new(Mat::from_vec(9, 2, normals(18, &mut rng)), Mat::from_vec(3, 2, normals(6, &mut rng)));
        let precision = vec![1.7, 1.7, 1.7, 1.7, 1.7, 1.7, 0.2];
        (Target::of(y, precision, vec![0.3, 0.5, 0.7, 1.1], 2.0 + 4.5), features)
    }

    fn assert_close(what: &str, kept: &[f64], fresh: &[f64]) {
        for (a, b) in kept.iter().zip(fresh) {
            assert!((a - b).abs() < 1e-9, "{what}: {a} for {b}");
        }
    }

    #[test]
    fn a_row_taken_out_and_put_elsewhere_leaves_what_a_fresh_factor_has() {
        let (target, mut features) = problem();
        let mut kept = Factored::new(&target, features.h()).unwrap();
        for n in [2, 5, 2] {
            kept.remove_row(features.h().row(n), target.y.row(n));
            let x = [0.3 * n as f64, -0.4];
            let mut h = vec![0.0; 7];
            crate::model::features::fill_row(&x, &Turned::new(features.w()), &mut [0.0; 3], &mut h);
            features.set_row(n, &x, &h);
            kept.insert_row(&h, target.y.row(n));
            let fresh = Factored::new(&target, features.h()).unwrap();
            assert_close("P", kept.p.as_slice(), fresh.p.as_slice());
            assert_close("G", kept.g.as_slice(), fresh.g.as_slice());
            assert_close("b", &kept.rate, &fresh.rate);
        }
    }

    #[test]
    fn a_pair_taken_out_and_exchanged_leaves_what_a_fresh_factor_has() {
        let (target, mut features) = problem();
        let mut kept = Factored::new(&target, features.h()).unwrap();
        for l in [1, 0, 2, 1] {
            let mut pair = Pair::new(9);
            let w = [0.9 - l as f64, 0.2];
            let mut without = WithoutPair::new(&target, features.h(), l, kept);
            features.pair(&w, &mut pair);
            without.price(&pair);
            kept = without.commit(&pair);
            features.set_pair(l, &w, &pair);
            let fresh = Factored::new(&target, features.h()).unwrap();
            assert_close("P", kept.p.as_slice(), fresh.p.as_slice());
            assert_close("G", kept.g.as_slice(), fresh.g.as_slice());
            assert_close("E", kept.e.as_slice(), fresh.e.as_slice());
            assert_close("b", &kept.rate, &fresh.rate);
            assert_close("ln|A|", &[kept.ln_det], &[fresh.ln_det]);
        }
    }
}
