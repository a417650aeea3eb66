//! β of a fraction of the columns: an elliptical slice about a Gaussian that is fitted to each column's likelihood, exact for any fit
//! (as [`crate::model::family::poisson`] does it), for all families alike.

use super::{Device, check, parameters};
use crate::dist::canonical::Canonical;
use crate::dist::normals;
use crate::error::NumericalError;
use crate::linalg::{Mat, Symmetric};
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};
use crate::slice::Ellipse;
use rayon::prelude::*;

/// Newton steps of the fit, from the f of the reference, which is near the posterior's.
const STEPS: usize = 2;
/// A fit with a larger curvature is of no use, since its squares overflow.
const MOST_CURVATURE: f64 = 1e100;
/// Columns that are redrawn together: their Gram matrices and their f are held at once.
const TOGETHER: usize = 256;

/// Redraws θ, and β of a fraction of the columns, then F.
pub fn update(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    share: f64,
    stream: Stream,
) -> Result<(), NumericalError> {
    let mut due = Vec::new();
    for (b, block) in model.blocks().iter().enumerate() {
        let own = block.columns.clone().filter(|&j| model.is_free(j));
        due.extend(own.filter(|&j| stream.at(b as u64).at((j - block.columns.start) as u64).is_chosen(share)));
    }
    parameters::update(device, model, state, share, stream.named("theta"))?;
    for columns in due.chunks(TOGETHER) {
        redraw(device, model, state, columns, stream.named("weights"))?;
    }
    device.set_weights(&state.beta);
    check(device)
}

/// One column's fit and slice: β = mean + cos · from_mean + sin · auxiliary.
struct Slice {
    rng: StreamRng,
    mean: Vec<f64>,
    from_mean: Vec<f64>,
    auxiliary: Vec<f64>,
    /// −2 ln of the prior over the fit as a quadratic in cos and sin, up to a constant: cos, sin, cos², cos sin, sin².
    quadratic: [f64; 5],
}

impl Slice {
    fn beta(&self, (cos, sin): (f64, f64)) -> Vec<f64> {
        let weights = self.mean.iter().zip(&self.from_mean).zip(&self.auxiliary);
        weights.map(|((mean, from), auxiliary)| mean + cos * from + sin * auxiliary).collect()
    }

    /// ln of the prior over the fit, up to a constant.
    fn ln_beside(&self, (cos, sin): (f64, f64)) -> f64 {
        let terms = [cos, sin, cos * cos, cos * sin, sin * sin];
        -0.5 * self.quadratic.iter().zip(terms).map(|(q, t)| q * t).sum::<f64>()
    }

    /// A slice about a fit, from β, under a prior.
    fn new(law: &Canonical, beta: &[f64], (precision, centre): (&[f64], f64), mut rng: StreamRng) -> Self {
        let mean = law.mean();
        let mut auxiliary = normals(mean.len(), &mut rng);
        law.colour(&mut auxiliary);
        let from_mean: Vec<f64> = beta.iter().zip(&mean).map(|(beta, mean)| beta - mean).collect();
        let last = mean.len() - 1;
        let from_centre: Vec<f64> =
            mean.iter().enumerate().map(|(m, mean)| mean - if m == last { centre } else { 0.0 }).collect();
        let under_prior = |u: &[f64], v: &[f64]| -> f64 { (0..=last).map(|m| precision[m] * u[m] * v[m]).sum() };
        let beside = |u: &[f64], v: &[f64]| under_prior(u, v) - law.product(u, v);
        let quadratic = [
            2.0 * under_prior(&from_centre, &from_mean),
            2.0 * under_prior(&from_centre, &auxiliary),
            beside(&from_mean, &from_mean),
            2.0 * beside(&from_mean, &auxiliary),
            beside(&auxiliary, &auxiliary),
        ];
        Slice { rng, mean, from_mean, auxiliary, quadratic }
    }
}

/// Prior precision of β_j.
fn precision(model: &Model, state: &State, j: usize) -> Vec<f64> {
    let scale = model.weight_scale(&state.theta, j);
    model.weight_precision(state.tau2[j]).into_iter().map(|p| p * scale).collect()
}

/// The Gaussian with the curvature and the response of column j; its prior, where they are too large. Neither depends on β_j.
fn law(
    model: &Model,
    state: &State,
    j: usize,
    curvature: &Symmetric,
    response: &[f64],
) -> Result<Canonical, NumericalError> {
    let is_usable = response.iter().all(|r| r.abs() < MOST_CURVATURE)
        && (0..response.len()).all(|m| curvature.at(m, m) < MOST_CURVATURE);
    if !is_usable {
        let mut none = Symmetric::default();
        none.compute(response.len(), |_, row| row.fill(0.0));
        return law(model, state, j, &none, &vec![0.0; response.len()]);
    }
    let (precision, mut shift) = (precision(model, state, j), response.to_vec());
    let last = shift.len() - 1;
    shift[last] += precision[last] * model.units()[j].centre;
    Canonical::new(curvature.scaled_plus(1.0, &precision), shift, 1.0, "weights")
}

fn redraw(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    columns: &[usize],
    stream: Stream,
) -> Result<(), NumericalError> {
    let numbers: Vec<u32> = columns.iter().map(|&j| j as u32).collect();
    device.take_columns(&numbers);
    let mut laws = Vec::new();
    for _ in 0..STEPS {
        let (curvature, response) = device.curvature();
        check(device)?;
        let fit = |i: usize| law(model, state, columns[i], &curvature[i], response.row(i));
        laws = (0..columns.len()).into_par_iter().map(fit).collect::<Result<Vec<_>, _>>()?;
        let means: Vec<f64> = laws.par_iter().flat_map_iter(|law| law.mean()).collect();
        device.move_columns(&Mat::from_vec(columns.len(), state.beta.rows(), means));
    }
    let begin = |(law, &j): (&Canonical, &usize)| {
        let (precision, centre) = (precision(model, state, j), model.units()[j].centre);
        Slice::new(law, &state.beta.col(j), (&precision, centre), stream.at(j as u64).rng())
    };
    let mut slices: Vec<Slice> = laws.par_iter().zip(columns).map(begin).collect();
    let directions = slices.iter().flat_map(|slice| slice.auxiliary.iter().copied()).collect();
    device.aim_columns(&Mat::from_vec(columns.len(), state.beta.rows(), directions));
    let mut values = vec![0.0; columns.len()];
    let mut price = |slices: &[Slice], turns: &super::Turns, values: &mut [f64]| {
        device.ln_lik_turned(turns, values);
        let beside = slices.iter().zip(turns).map(|(slice, &turn)| slice.ln_beside(turn));
        values.iter_mut().zip(beside).for_each(|(value, beside)| *value += beside);
    };
    price(&slices, &vec![(1.0, 0.0); columns.len()], &mut values);
    if let Some(i) = values.iter().position(|value| !value.is_finite()) {
        check(device)?;
        let place = format!("column '{}'", model.names()[columns[i]]);
        return Err(NumericalError::NotFinite { step: "weights", value: values[i], place });
    }
    let mut ellipses: Vec<Ellipse> =
        slices.iter_mut().zip(&values).map(|(slice, value)| Ellipse::new(&mut slice.rng, *value)).collect();
    let mut landed: Vec<Option<(f64, f64)>> = vec![None; columns.len()];
    while landed.iter().any(Option::is_none) {
        let turns = ellipses.iter().zip(&landed).map(|(e, turn)| turn.unwrap_or(e.candidate())).collect();
        price(&slices, &turns, &mut values);
        for (((ellipse, slice), value), landed) in ellipses.iter_mut().zip(&mut slices).zip(&values).zip(&mut landed) {
            if landed.is_none() {
                *landed = ellipse.judge(&mut slice.rng, *value).map(|landing| (landing.cos, landing.sin));
            }
        }
    }
    for ((slice, turn), &j) in slices.iter().zip(landed.into_iter().flatten()).zip(columns) {
        state.beta.set_col(j, &slice.beta(turn));
    }
    check(device)
}
