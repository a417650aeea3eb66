//! Moves along directions in which F does not change: exact, nearly free, and the slowest directions of the other moves.

use crate::chunks::Chunk;
use crate::dist::normal;
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat};
use crate::model::latent::{Dynamics, Paths};
use crate::model::spectral::Kernel;
use crate::model::{Model, State};
use crate::slice;
use rand::{Rng, RngExt};

/// Translation: x_n → x_n + c, and each pair (β_l, β_{L+l}) rotated by the angle w_l·c, so that F and the prior of β are unchanged.
/// The shift is drawn exactly: with Q_d the prior's precision of axis d (I for rows without times),
/// c_d ~ N(−1ᵀQ_d x_·d / 1ᵀQ_d1, 1 / 1ᵀQ_d1).
///
/// A linear part would change f_nj by s b_j·c, which the intercept takes up: its prior then enters the law of c, which stays normal.
pub fn translate<R: Rng + ?Sized>(
    model: &Model,
    state: &mut State,
    paths: Option<&Paths<'_>>,
    rng: &mut R,
) -> Result<(), NumericalError> {
    let c: Vec<f64> = if state.features.plain().is_linear() {
        let (pull, precision) = translation(model, state, paths);
        Cholesky::new(&precision, "translation")?.draw_from_precision(&pull, 1.0, rng)
    } else {
        let of_positions = of_positions(state.features.x(), paths).into_iter();
        of_positions.map(|(pull, precision)| pull / precision + normal(rng) / precision.sqrt()).collect()
    };
    shift(model, state, &c);
    Ok(())
}

/// −1ᵀQ_d x_·d and 1ᵀQ_d1 of each axis.
fn of_positions(x: &Mat, paths: Option<&Paths<'_>>) -> Vec<(f64, f64)> {
    let of_axis = |d: usize| match paths {
        None => (-(0..x.rows()).map(|n| x[(n, d)]).sum::<f64>(), x.rows() as f64),
        Some(paths) => (-paths.product(d, |_| 1.0, |n| x[(n, d)]), paths.product(d, |_| 1.0, |_| 1.0)),
    };
    (0..x.cols()).map(of_axis).collect()
}

/// The law of c as P and Pm, precision and precision times mean: the positions contribute 1ᵀQ_d1 and −1ᵀQ_d x_·d to axis d, and the
/// intercept of column j, of prior precision p_j about its centre, p_j s² b_j b_jᵀ and p_j s (β_0j − centre_j) b_j.
pub fn translation(model: &Model, state: &State, paths: Option<&Paths<'_>>) -> (Vec<f64>, Mat) {
    let x = state.features.x();
    let of_positions = of_positions(x, paths);
    let mut pull: Vec<f64> = of_positions.iter().map(|(pull, _)| *pull).collect();
    let mut precision = Mat::from_fn(x.cols(), x.cols(), |d, e| if d == e { of_positions[d].1 } else { 0.0 });
    let (s, last) = (state.features.plain().s(), state.beta.rows() - 1);
    // One row per axis: its pull, and its precisions with all axes.
    let width = 1 + x.cols();
    let of_columns = model.chunks().add(&mut model.chunks().own(), x.cols() * width, |Chunk { columns, .. }, to| {
        for j in columns.clone().filter(|&j| model.is_free(j)) {
            let p = model.weight_scale(&state.theta, j) / (state.tau2[j] * model.spec().priors.intercept);
            let b: Vec<f64> = model.linear().map(|m| s * state.beta[(m, j)]).collect();
            let away = state.beta[(last, j)] - model.units()[j].centre;
            for (to, bd) in to.chunks_exact_mut(width).zip(&b) {
                to[0] += p * away * bd;
                to[1..].iter_mut().zip(&b).for_each(|(to, be)| *to += p * bd * be);
            }
        }
    });
    for (d, of_axis) in of_columns.chunks_exact(width).enumerate() {
        pull[d] += of_axis[0];
        precision.row_mut(d).iter_mut().zip(&of_axis[1..]).for_each(|(to, p)| *to += p);
    }
    (pull, precision)
}

/// The translation by a given c.
pub fn shift(model: &Model, state: &mut State, c: &[f64]) {
    if state.features.plain().is_linear() {
        let (s, last) = (state.features.plain().s(), state.beta.rows() - 1);
        for j in 0..state.beta.cols() {
            let taken: f64 = model.linear().zip(c).map(|(m, c)| s * state.beta[(m, j)] * c).sum();
            state.beta[(last, j)] -= taken;
        }
    }
    let frequencies = state.features.frequencies();
    let w = state.features.w().clone();
    for l in 0..frequencies {
        let (sin, cos) = w.row(l).iter().zip(c).map(|(w, c)| w * c).sum::<f64>().sin_cos();
        for j in 0..state.beta.cols() {
            let (a, b) = (state.beta[(l, j)], state.beta[(frequencies + l, j)]);
            state.beta[(l, j)] = cos * a + sin * b;
            state.beta[(frequencies + l, j)] = cos * b - sin * a;
        }
    }
    let x = Mat::from_fn(state.features.x().rows(), c.len(), |n, d| state.features.x()[(n, d)] + c[d]);
    state.features.set(x.as_slice(), w.as_slice());
}

/// Scale of each axis in turn: x_·d → e^u x_·d, w_·d → e^−u w_·d, clusters scaled along, and b_·d → e^−u b_·d for a linear part; u by a slice.
/// F is unchanged.
pub fn scale<R: Rng + ?Sized>(model: &Model, state: &mut State, rng: &mut R) -> Result<(), NumericalError> {
    let rows = model.rows() as f64;
    for d in 0..model.latent_dim() {
        let x = state.features.x();
        let square: f64 = (0..x.rows()).map(|n| x[(n, d)].powi(2)).sum();
        let slopes = slopes_square(model, state, d);
        let ln_density = |u: f64| -0.5 * (2.0 * u).exp() * square + ln_stretched_given(model, state, slopes, d, u);
        // The slice is about as wide as |x_·d| varies for N rows.
        let (u, _) = slice::univariate(rng, 0.0, ln_density(0.0), (2.0 / rows).sqrt(), ln_density);
        stretch(model, state, d, u)?;
    }
    Ok(())
}

/// Scale of one random axis, for rows with times. The rows' own noise determines the scale of a path, since there is
/// one value of it per row, although the path itself hardly does: so its share moves along, logit ρ_d → logit ρ_d + 2u.
pub fn scale_path<R: Rng + ?Sized>(
    model: &Model,
    state: &mut State,
    paths: &mut Paths<'_>,
    rng: &mut R,
) -> Result<(), NumericalError> {
    // Few effective rows: only the sizes of a few wiggles determine the scale of a path.
    const WIDTH: f64 = 0.3;
    let d = rng.random_range(0..model.latent_dim());
    let axis = state.axes[d];
    let dynamics = paths.dynamics();
    let slopes = slopes_square(model, state, d);
    let ln_density = |u: f64| ln_path(model, state, (dynamics, slopes), d, u).unwrap_or(f64::NEG_INFINITY);
    let (u, _) = slice::univariate(rng, 0.0, ln_density(0.0), WIDTH, ln_density);
    state.axes[d] = dynamics.prior().louder(&axis, u);
    stretch(model, state, d, u)?;
    paths.set_axis(d, Paths::axis(dynamics, &state.axes[d], None)?);
    Ok(())
}

/// The log density of u in [`scale_path`], up to a constant: the joint density of the moved state times the Jacobian.
pub fn ln_path_scaled(
    model: &Model,
    state: &State,
    dynamics: &Dynamics,
    d: usize,
    u: f64,
) -> Result<f64, NumericalError> {
    ln_path(model, state, (dynamics, slopes_square(model, state, d)), d, u)
}

fn ln_path(
    model: &Model,
    state: &State,
    (dynamics, slopes): (&Dynamics, Option<f64>),
    d: usize,
    u: f64,
) -> Result<f64, NumericalError> {
    let axis = dynamics.prior().louder(&state.axes[d], u);
    let paths = Paths::axis(dynamics, &axis, None)?;
    let x = state.features.x();
    let stretched = Mat::from_fn(x.rows(), x.cols(), |n, i| x[(n, i)] * if i == d { u.exp() } else { 1.0 });
    Ok(dynamics.ln_axis(d, &paths, &stretched)
        + dynamics.prior().ln_coordinates(&axis)
        + ln_stretched_given(model, state, slopes, d, u))
}

/// The joint density of the stretched state except the density of X, times the Jacobian, as a function of u: X contributes N,
/// and each cluster −(D+2) (one for μ_k, D+1 for Σ_k); W's own −L cancels against its density given the clusters, except for a
/// known kernel, which does not stretch. The slopes b_·d of a linear part have their own density, and contribute −1 per column. −∞ if a cluster has no
/// density.
pub fn ln_stretched(model: &Model, state: &State, d: usize, u: f64) -> f64 {
    ln_stretched_given(model, state, slopes_square(model, state, d), d, u)
}

fn ln_stretched_given(model: &Model, state: &State, slopes: Option<f64>, d: usize, u: f64) -> f64 {
    let x = state.features.x();
    let of_kernel = match &model.spec().kernel {
        Kernel::Learned(mixture) => {
            let base = mixture.base(&state.spectral.psi);
            let mut total = -(state.spectral.count() as f64 * (x.cols() as f64 + 2.0)) * u;
            for cluster in &state.spectral.clusters {
                let (mu, sigma) = stretched(&cluster.mu, &cluster.sigma, d, u);
                total += base.ln_density(&mu, &sigma).unwrap_or(f64::NEG_INFINITY);
            }
            total
        }
        Kernel::Rbf { length_scale } => {
            let w = state.features.w();
            let square: f64 = (0..w.rows()).map(|l| w[(l, d)].powi(2)).sum();
            -0.5 * (length_scale * (-u).exp()).powi(2) * square - w.rows() as f64 * u
        }
    };
    // ln p(b_·d e^−u) − J u; zero without a linear part.
    let of_slopes = slopes.map_or(0.0, |square| -0.5 * (-2.0 * u).exp() * square - model.all_free() as f64 * u);
    x.rows() as f64 * u + of_kernel + of_slopes
}

/// Σ_j b_jd² in units of their prior variances; nothing without a linear part.
fn slopes_square(model: &Model, state: &State, d: usize) -> Option<f64> {
    let m = model.linear().nth(d)?;
    Some(model.sum_free(|j| state.beta[(m, j)].powi(2) * model.weight_scale(&state.theta, j) / state.tau2[j]))
}

/// Stretches axis d by e^u.
pub fn stretch(model: &Model, state: &mut State, d: usize, u: f64) -> Result<(), NumericalError> {
    let (mut x, mut w) = (state.features.x().clone(), state.features.w().clone());
    (0..x.rows()).for_each(|n| x[(n, d)] *= u.exp());
    (0..w.rows()).for_each(|l| w[(l, d)] *= (-u).exp());
    state.features.set(x.as_slice(), w.as_slice());
    if let Some(m) = model.linear().nth(d) {
        state.beta.row_mut(m).iter_mut().for_each(|b| *b *= (-u).exp());
    }
    if matches!(model.spec().kernel, Kernel::Learned(_)) {
        for cluster in &mut state.spectral.clusters {
            let (mu, sigma) = stretched(&cluster.mu, &cluster.sigma, d, u);
            *cluster = crate::dist::cluster::Cluster::new(mu, sigma)?;
        }
    }
    Ok(())
}

fn stretched(mu: &[f64], sigma: &Mat, d: usize, u: f64) -> (Vec<f64>, Mat) {
    let factor = |i: usize| if i == d { (-u).exp() } else { 1.0 };
    let mu = mu.iter().enumerate().map(|(i, m)| m * factor(i)).collect();
    let sigma = Mat::from_fn(sigma.rows(), sigma.cols(), |i, j| sigma[(i, j)] * factor(i) * factor(j));
    (mu, sigma)
}
