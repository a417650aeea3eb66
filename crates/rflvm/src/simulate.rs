//! Simulation from the model: synthetic tables with their truth, the paper's S-curve, and the generator of
//! joint-distribution tests.

use crate::dist::{normal, normals};
use crate::error::{NumericalError, SpecError};
use crate::linalg::{Cholesky, Mat, par_mul};
use crate::model::family::{Family, Row, Theta, Unit};
use crate::model::features::{self, Features};
use crate::model::latent::{Axis, Paths};
use crate::model::plain::Plain;
use crate::model::spectral::Spectral;
use crate::model::{Amplitude, Model, ModelSpec, State};
use crate::observations::Observations;
use crate::rng::Stream;
use rand::{Rng, RngExt};
use std::f64::consts::PI;
use std::sync::Arc;

/// A draw of all unknowns from the model's prior.
pub fn draw_prior(model: &Model, stream: Stream) -> Result<State, NumericalError> {
    let rng = &mut stream.named("prior").rng();
    let (n, d, l, last) = (model.rows(), model.latent_dim(), model.frequencies(), model.width() - 1);
    let axes: Vec<Axis> =
        model.dynamics().map_or_else(Vec::new, |dynamics| (0..d).map(|_| dynamics.prior().draw(rng)).collect());
    let x = match model.dynamics() {
        None => Mat::from_vec(n, d, normals(n * d, rng)),
        Some(dynamics) => Paths::new(dynamics, &axes)?.draw(stream.named("paths")),
    };
    let (spectral, w) = Spectral::draw_prior(&model.spec().kernel, l, d, rng)?;
    let theta: Vec<Theta> = model
        .blocks()
        .iter()
        .map(|block| block.family.draw_prior(&model.units()[block.columns.clone()], rng))
        .collect();
    let tau2 = draw_amplitudes(model, rng);
    let mut beta = Mat::zeros(last + 1, model.columns());
    for j in (0..model.columns()).filter(|&j| model.is_free(j)) {
        let scale = model.weight_scale(&theta, j);
        for (m, precision) in model.weight_precision(tau2[j]).iter().enumerate() {
            let centre = if m == last { model.units()[j].centre } else { 0.0 };
            beta[(m, j)] = centre + normal(rng) / (precision * scale).sqrt();
        }
    }
    let s = if model.has_linear() { model.spec().priors.linear.draw(rng).sqrt() } else { 0.0 };
    let mut state = State::new(model, Features::with(x, w, model.plain(s)), spectral, beta, tau2, theta);
    state.axes = axes;
    if model.column_process().is_some() {
        state.column_process = model.draw_column_process(&mut stream.named("residual").rng());
        state.refresh(model);
    }
    Ok(state)
}

/// A draw of τ_j² of every column from its prior.
pub(crate) fn draw_amplitudes<R: Rng + ?Sized>(model: &Model, rng: &mut R) -> Vec<f64> {
    let mut tau2 = Vec::with_capacity(model.columns());
    for block in model.blocks() {
        let columns = block.columns.len();
        match model.amplitude(block) {
            Amplitude::Fixed(known) => tau2.extend(vec![known; columns]),
            Amplitude::Learned(prior) => tau2.extend((0..columns).map(|_| prior.draw(rng))),
            Amplitude::Shared(prior) => tau2.extend(vec![prior.draw(rng); columns]),
        }
    }
    tau2
}

/// A draw of all cells given the unknowns, including missing ones (a missing multinomial row gets one trial).
pub fn draw_data(model: &Model, state: &State, stream: Stream) -> Mat {
    let mut y = Mat::zeros(model.rows(), model.columns());
    for n in 0..model.rows() {
        let rng = &mut stream.named("data").at(n as u64).rng();
        for (block, theta) in model.blocks().iter().zip(&state.theta) {
            let columns = block.columns.clone();
            let f = &state.f.row(n)[columns.clone()];
            block.family.simulate(model.row(block, n, theta), f, &mut y.row_mut(n)[columns], rng);
        }
    }
    y
}

/// A model without data: for simulation. `trials` is the total of each multinomial row.
pub fn blank(
    rows: usize,
    blocks: Vec<(usize, Arc<dyn Family>)>,
    trials: u32,
    spec: ModelSpec,
) -> Result<Model, SpecError> {
    let columns = blocks.iter().map(|b| b.0).sum();
    let mut y = Mat::zeros(rows, columns);
    let mut start = 0;
    let blocks = blocks
        .into_iter()
        .map(|(width, family)| {
            if width > 0 && family.is_whole() {
                // All trials in one category: any row with the right total works.
                (0..rows).for_each(|n| y[(n, start)] = f64::from(trials));
            }
            let range = start..start + width;
            start = range.end;
            if family.any_cell() != 0.0 {
                (0..rows).for_each(|n| y.row_mut(n)[range.clone()].fill(family.any_cell()));
            }
            (range.collect(), family)
        })
        .collect();
    let mut model = Model::with_blocks(Observations::new(y)?, blocks, spec)?;
    model.set_units(vec![Unit::new(0.0, 1.0); columns]);
    Ok(model)
}

/// The paper's simulated manifold: X along an S-shaped curve, F from a Gaussian process on it, Y from F by a family.
#[derive(Debug, Clone)]
pub struct SCurve {
    /// The table, N×J.
    pub y: Mat,
    /// The curve, N×2, each axis with unit standard deviation.
    pub x: Mat,
    /// Position along the curve.
    pub t: Vec<f64>,
    /// F, N×J: RBF Gaussian process with unit length-scale and variance.
    pub f: Mat,
}

/// Number of rows up to which F is drawn with the exact N×N Cholesky factor; above it, many random features are used.
const EXACT_ROWS: usize = 2000;

/// An S-curve with the family's example parameters.
pub fn example(
    rows: usize,
    columns: usize,
    family: &dyn Family,
    trials: u32,
    stream: Stream,
) -> Result<(SCurve, Theta), NumericalError> {
    let own: Vec<Vec<f64>> = (0..columns).map(|j| family.example(j)).collect();
    let parameters = own.first().map_or(0, Vec::len);
    let theta = Theta { values: Mat::from_fn(parameters, columns, |p, j| own[j][p]), hyper: Vec::new() };
    Ok((s_curve(rows, columns, family, &theta, trials, stream)?, theta))
}

/// Draws an S-curve. θ is the family's parameters; `trials` the total of each multinomial row.
pub fn s_curve(
    rows: usize,
    columns: usize,
    family: &dyn Family,
    theta: &Theta,
    trials: u32,
    stream: Stream,
) -> Result<SCurve, NumericalError> {
    let rng = &mut stream.named("s-curve").rng();
    let t: Vec<f64> = (0..rows).map(|_| 3.0 * PI * (rng.random::<f64>() - 0.5)).collect();
    let mut x = Mat::from_fn(rows, 2, |n, d| if d == 0 { t[n].sin() } else { t[n].signum() * (t[n].cos() - 1.0) });
    for d in 0..2 {
        let mean = x.col(d).iter().sum::<f64>() / rows as f64;
        let sd = (x.col(d).iter().map(|v| (v - mean).powi(2)).sum::<f64>() / rows as f64).sqrt();
        (0..rows).for_each(|n| x[(n, d)] /= sd);
    }
    let f = gaussian_process(&x, columns, rng)?;
    let mut y = Mat::zeros(rows, columns);
    let mut total = vec![0.0; columns];
    if let Some(first) = total.first_mut() {
        *first = f64::from(trials);
    }
    for n in 0..rows {
        let rng = &mut stream.named("cells").at(n as u64).rng();
        family.simulate(Row { n, first: 0, y: &total, theta }, f.row(n), y.row_mut(n), rng);
    }
    Ok(SCurve { y, x, t, f })
}

/// Columns drawn from a Gaussian process with kernel exp(−|x−x'|²/2).
fn gaussian_process(x: &Mat, columns: usize, rng: &mut crate::rng::StreamRng) -> Result<Mat, NumericalError> {
    let rows = x.rows();
    let mut f = Mat::zeros(rows, columns);
    if rows <= EXACT_ROWS {
        let kernel = |a: usize, b: usize| {
            let square: f64 = x.row(a).iter().zip(x.row(b)).map(|(p, q)| (p - q).powi(2)).sum();
            (-0.5 * square).exp() + if a == b { 1e-8 } else { 0.0 }
        };
        let cholesky = Cholesky::new(&Mat::from_fn(rows, rows, kernel), "simulate")?;
        let lower = Mat::from_fn(rows, rows, |a, b| cholesky.at(a, b));
        let z = Mat::from_vec(rows, columns, normals(rows * columns, rng));
        par_mul(&mut f, lower.view(), z.view(), false);
    } else {
        let frequencies = 1000;
        let w = Mat::from_vec(frequencies, x.cols(), normals(frequencies * x.cols(), rng));
        let mut h = Mat::zeros(rows, 2 * frequencies + 1);
        features::fill(x, &w, &Plain::none(rows), &mut h);
        let mut beta = Mat::from_vec(2 * frequencies + 1, columns, normals((2 * frequencies + 1) * columns, rng));
        beta.row_mut(2 * frequencies).fill(0.0);
        par_mul(&mut f, h.view(), beta.view(), false);
    }
    Ok(f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::family::Poisson;

    #[test]
    fn the_s_has_unit_axes_and_counts_follow_f() {
        let curve = s_curve(300, 20, &Poisson, &Theta::none(20), 1, Stream::new(1)).unwrap();
        for d in 0..2 {
            let mean = curve.x.col(d).iter().sum::<f64>() / 300.0;
            let variance = curve.x.col(d).iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 300.0;
            assert!((variance - 1.0).abs() < 1e-10);
        }
        // Σ (y − e^f)/√(Σ e^f) is approximately standard normal.
        let rate: f64 = curve.f.as_slice().iter().map(|f| f.exp()).sum();
        let count: f64 = curve.y.as_slice().iter().sum();
        assert!(((count - rate) / rate.sqrt()).abs() < 4.0);
    }

    #[test]
    fn large_curves_have_unit_variance_too() {
        let curve = s_curve(EXACT_ROWS + 1, 50, &Poisson, &Theta::none(50), 1, Stream::new(2)).unwrap();
        let square: f64 = curve.f.as_slice().iter().map(|f| f * f).sum::<f64>() / curve.f.as_slice().len() as f64;
        // 50 functions with few effective degrees of freedom each: the standard error is about 0.1.
        assert!((square - 1.0).abs() < 0.4, "{square}");
    }
}
