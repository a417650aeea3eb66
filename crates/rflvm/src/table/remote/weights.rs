//! β of a fraction of the columns: an elliptical slice about a Gaussian that is fitted to each column's likelihood, exact for any fit
//! (as [`crate::model::family::poisson`] does it), for all families alike.

use super::parameters;
use crate::device::{Device, Priors, Turns, check};
use crate::dist::normals;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};
use crate::slice::Ellipse;

/// Newton steps of the fit, from the f of the reference, which is near the posterior's.
const STEPS: usize = 2;
/// Columns that are redrawn together: their Gram matrices and their f are held at once.
const TOGETHER: usize = 256;

/// Redraws θ, and β of a fraction of the columns, then F.
pub(super) fn update(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    share: f64,
    stream: Stream,
) -> Result<(), NumericalError> {
    let mut due = Vec::new();
    for (b, block) in model.blocks().iter().enumerate() {
        let own = block.columns.clone().filter(|&j| model.is_free(j));
        due.extend(own.filter(|&j| stream.at(b as u64).at(model.number_in_block(b, j) as u64).is_chosen(share)));
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

    /// A slice about a fit, from β, under a prior; `squares` as [`Device::aim_columns`] returns them.
    fn new(
        [mean, from_mean, auxiliary]: [&[f64]; 3],
        (precision, centre): (&[f64], f64),
        squares: [f64; 3],
        rng: StreamRng,
    ) -> Self {
        let last = mean.len() - 1;
        let from_centre: Vec<f64> =
            mean.iter().enumerate().map(|(m, mean)| mean - if m == last { centre } else { 0.0 }).collect();
        let under_prior = |u: &[f64], v: &[f64]| -> f64 { (0..=last).map(|m| precision[m] * u[m] * v[m]).sum() };
        let quadratic = [
            2.0 * under_prior(&from_centre, from_mean),
            2.0 * under_prior(&from_centre, auxiliary),
            under_prior(from_mean, from_mean) - squares[0],
            2.0 * (under_prior(from_mean, auxiliary) - squares[1]),
            under_prior(auxiliary, auxiliary) - squares[2],
        ];
        let [mean, from_mean, auxiliary] = [mean, from_mean, auxiliary].map(<[f64]>::to_vec);
        Slice { rng, mean, from_mean, auxiliary, quadratic }
    }
}

/// Prior precision of β_j.
fn precision(model: &Model, state: &State, j: usize) -> Vec<f64> {
    let scale = model.weight_scale(&state.theta, j);
    model.weight_precision(state.tau2[j]).into_iter().map(|p| p * scale).collect()
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
    let (count, width) = (columns.len(), state.beta.rows());
    let precision: Vec<f64> = columns.iter().flat_map(|&j| precision(model, state, j)).collect();
    let centre = columns.iter().map(|&j| model.units()[j].centre).collect();
    let priors = Priors { precision: Mat::from_vec(count, width, precision), centre };
    let mut means = Mat::zeros(count, width);
    for _ in 0..STEPS {
        means = device.fit_columns(&priors);
        check(device)?;
    }
    let mut rngs: Vec<StreamRng> = columns.iter().map(|&j| stream.at(model.number(j) as u64).rng()).collect();
    let z: Vec<f64> = rngs.iter_mut().flat_map(|rng| normals(width, rng)).collect();
    let from_mean = Mat::from_fn(count, width, |i, m| state.beta[(m, columns[i])] - means[(i, m)]);
    let (auxiliary, squares) = device.aim_columns(&Mat::from_vec(count, width, z), &from_mean);
    check(device)?;
    let begin = |(i, rng): (usize, StreamRng)| {
        let at = [means.row(i), from_mean.row(i), auxiliary.row(i)];
        Slice::new(at, (priors.precision.row(i), priors.centre[i]), squares[i], rng)
    };
    let mut slices: Vec<Slice> = rngs.into_iter().enumerate().map(begin).collect();
    let mut values = vec![0.0; columns.len()];
    let mut price = |slices: &[Slice], turns: &Turns, values: &mut [f64]| {
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
