//! Deliberately planted errors. Each is a wrong conditional draw made after a correct sweep, which it overrides; so the
//! sampler itself stays clean. Most have been printed in a paper or used in its code.

use crate::configurations;
use crate::geweke::Step;
use rand::RngExt;
use rflvm::internal::dist::{crt, gamma, ln_normal, normal, polya_gamma, softplus};
use rflvm::internal::error::NumericalError;
use rflvm::internal::linalg::{Cholesky, Mat, gram};
use rflvm::internal::model::collapsed::CollapsedData;
use rflvm::internal::model::family::{
    Column, Density, Gaussian, GaussianConditional, Ordinal, StudentT, weights_given_omega,
};
use rflvm::internal::model::features::Features;
use rflvm::internal::model::latent::ColumnPath;
use rflvm::internal::model::pool::{Sums, ln_integrated};
use rflvm::internal::model::priors::Gamma;
use rflvm::internal::model::spectral::Kernel;
use rflvm::internal::model::{Model, Priors, State};
use rflvm::internal::rng::{Stream, StreamRng};
use rflvm::internal::slice;
use rflvm::internal::steps::{amplitudes, concentration, linear, relevance, symmetry};
use rflvm::internal::table::{Host, Table};

/// A wrong step and where to look for it.
#[derive(Debug, Clone, Copy)]
pub struct Planted {
    /// The mistake.
    pub name: &'static str,
    /// The configuration it is planted in.
    pub configuration: &'static str,
    /// The wrong draw.
    pub step: Step,
    /// Multiple of the usual number of sweeps needed to detect it. Most show at once.
    pub patience: usize,
}

/// All of them.
pub const ALL: [Planted; 35] = [
    planted("M for L in η and the odds of α", "bernoulli", features_for_frequencies, 1),
    planted("weighted sum for the choice of α", "bernoulli", weighted_sum, 2),
    planted("+ for − in b_j", "gaussian", plus_for_minus, 1),
    planted("σ² dropped from β", "gaussian", unit_noise, 1),
    planted("missing cells taken as zeros", "gaussian-missing", missing_as_zero, 1),
    planted("prior of r_j left out", "negative-binomial", dispersion_without_prior, 1),
    planted("stale ω", "multinomial", stale_omega, 8),
    planted("scale move without Jacobian", "poisson", scale_without_jacobian, 1),
    planted("root of the intercept's variance", "gaussian", root_variance, 1),
    planted("row offsets left out of β", "gaussian-missing-offset", without_offset, 1),
    planted("ν0 counted once for all clusters in ψ", "gaussian-relevance", scales_of_one_cluster, 1),
    planted("paths that do not see the data", "poisson-rbf-dense", blind_paths, 1),
    planted("τ² as if the intercept did not know it", "gaussian-amplitude", amplitude_without_intercept, 1),
    planted("shared τ² by one column's weights", "gaussian-shared", amplitude_by_one_column, 1),
    planted("shared σ² by one column's residuals", "isotropic-missing", noise_by_one_column, 1),
    planted("½ν for ½(ν+1) in the weights of cells", "student-t-amplitude", student_without_its_cell, 1),
    planted("s with its products held, without Jacobian", "gaussian-linear-missing", scale_without_slopes, 1),
    planted("translation that forgets the intercepts", "poisson-linear", translation_without_intercepts, 1),
    planted("rows that do not see the linear part", "poisson-linear", rows_without_linear, 1),
    planted("translation as if rows were independent", "bernoulli-rbf-dense", independent_translation, 1),
    planted(
        "translation of a walk as if rows were independent",
        "gaussian-wander-random-walk",
        independent_translation,
        1,
    ),
    planted("twice the noise in the filter's gain", "gaussian-column-process", wrong_gain, 1),
    planted("column processes without their noise", "gaussian-column-process", expected_path, 1),
    planted("prior of s_j left out", "gaussian-column-process", share_without_prior, 1),
    planted("jumps to other rows as if from the prior", "gaussian", jumps_without_density, 1),
    planted("jumps to a new cluster as if to any", "gaussian", jumps_to_new_clusters, 1),
    planted("level and spread by one column's noise", "gaussian-pooled", pool_by_one_column, 1),
    planted("weights not counted in the noise integrated out", "gaussian-pooled-missing", pool_without_weights, 1),
    planted("rounding left out of the noise", "gaussian-pooled", noise_without_rounding, 4),
    planted("spread of dispersions without its prior", "negative-binomial-pooled", pool_without_prior, 1),
    planted("limits taken for values", "censored-gaussian", cells_as_they_are, 1),
    planted("amounts taken for their logarithms", "log-normal", cells_as_they_are, 1),
    planted("every zero an extra one", "zero-inflated-negative-binomial", every_zero_extra, 1),
    planted("gaps between cut points without their logarithm", "ordinal", gaps_without_jacobian, 1),
    planted("weights as if columns had no paths", "gaussian-column-process-missing-offset", weights_without_paths, 1),
];

const fn planted(name: &'static str, configuration: &'static str, step: Step, patience: usize) -> Planted {
    Planted { name, configuration, step, patience }
}

/// Escobar & West with 2L in place of L.
fn features_for_frequencies(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    alpha(model, state, 2.0, false, stream);
    Ok(())
}

/// The two gammas added with weights π and 1−π.
fn weighted_sum(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    alpha(model, state, 1.0, true, stream);
    Ok(())
}

fn alpha(model: &Model, state: &mut State, factor: f64, sum: bool, stream: Stream) {
    let Kernel::Learned(mixture) = &model.spec().kernel else { return };
    let rng = &mut stream.rng();
    let spectral = &mut state.spectral;
    let (count, clusters) = (factor * spectral.z.len() as f64, spectral.count() as f64);
    let (a, b) = (gamma(spectral.alpha + 1.0, 1.0, rng), gamma(count, 1.0, rng));
    let rate = mixture.alpha_rate - (a / (a + b)).ln();
    let odds = concentration::odds(mixture, clusters, count, rate);
    let pi = odds / (1.0 + odds);
    let high = gamma(mixture.alpha_shape + clusters, rate, rng);
    let low = gamma(mixture.alpha_shape + clusters - 1.0, rate, rng);
    spectral.alpha = if sum {
        pi * high + (1.0 - pi) * low
    } else if rng.random::<f64>() < pi {
        high
    } else {
        low
    };
}

/// ψ_d ~ Ga(½ + ν0/2, …), as if there were one cluster.
fn scales_of_one_cluster(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let Kernel::Learned(mixture) = &model.spec().kernel else { return Ok(()) };
    let rng = &mut stream.rng();
    for d in 0..state.spectral.psi.len() {
        let (shape, rate) = relevance::conditional(mixture, &state.spectral, d);
        let too_small = 0.5 + (shape - 0.5) / state.spectral.count() as f64;
        state.spectral.psi[d] = gamma(too_small, rate, rng);
    }
    Ok(())
}

/// Column j of a model with one block, as a family's update sees it.
fn column<'a>(model: &'a Model, state: &'a State, j: usize) -> Column<'a> {
    Column {
        is_due: true,
        j,
        h: state.features.h(),
        y: model.y().col(j),
        f: state.f.col(j),
        offset: model.offset().to_vec(),
        unit: model.units()[j],
        beta: state.beta.col(j),
        theta: state.theta[0].values.col(j),
        hyper: &state.theta[0].hyper,
        tau2: state.tau2[j],
        precision: model.weight_precision(state.tau2[j]),
    }
}

/// A over the observed rows.
fn factor(column: &Column<'_>) -> Result<Cholesky, NumericalError> {
    let seen: Vec<f64> = column.y.iter().map(|y| if y.is_nan() { 0.0 } else { 1.0 }).collect();
    Cholesky::new(gram(column.h, Some(&seen), &column.precision), "planted")
}

/// Redraws (σ_j², β_j) of all columns of a Gaussian after `spoil` has changed the data, and `twist` the
/// conditional.
fn gaussian(
    model: &Model,
    state: &mut State,
    stream: Stream,
    spoil: impl Fn(&mut Column<'_>),
    twist: impl Fn(&Column<'_>, &mut GaussianConditional<'_>),
) -> Result<(), NumericalError> {
    let Some(family) = model.blocks()[0].family.as_gaussian() else { return Ok(()) };
    conditionally(family, model, state, stream, spoil, twist)
}

/// Redraws (σ_j², β_j) as [`gaussian`] does, for a given family.
fn conditionally(
    family: &Gaussian,
    model: &Model,
    state: &mut State,
    stream: Stream,
    spoil: impl Fn(&mut Column<'_>),
    twist: impl Fn(&Column<'_>, &mut GaussianConditional<'_>),
) -> Result<(), NumericalError> {
    for j in 0..model.columns() {
        let (precision, mut beta) = {
            let mut column = column(model, state, j);
            spoil(&mut column);
            let cholesky = factor(&column)?;
            let mut conditional = GaussianConditional::new(family, &column, &cholesky);
            twist(&column, &mut conditional);
            conditional.draw(&mut stream.at(j as u64).rng())
        };
        beta[model.width() - 1] += model.units()[j].centre;
        state.beta.set_col(j, &beta);
        state.theta[0].values[(0, j)] = precision;
    }
    state.refresh(model);
    Ok(())
}

/// b_j = b0 + ½(ỹᵀỹ + cᵀA⁻¹c).
fn plus_for_minus(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let Some(family) = model.blocks()[0].family.as_gaussian() else { return Ok(()) };
    let twist = |column: &Column<'_>, conditional: &mut GaussianConditional<'_>| {
        let centred = column.y.iter().zip(&column.offset).map(|(y, o)| y - o - column.unit.centre);
        let square: f64 = centred.map(|y| y * y).sum();
        // b0 + ½ỹᵀỹ lies half way between the right rate and the wrong one.
        let prior = family.prior(column.hyper, &column.unit).rate;
        conditional.rate = 2.0 * (prior + 0.5 * square) - conditional.rate;
    };
    gaussian(model, state, stream, |_| (), twist)
}

/// β_j ~ N(A⁻¹c, A⁻¹), given the right σ_j².
fn unit_noise(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    for j in 0..model.columns() {
        let mut beta = {
            let column = column(model, state, j);
            let mut c = vec![0.0; column.precision.len()];
            for (n, h) in column.h.iter_rows().enumerate() {
                let centred = column.y[n] - column.offset[n] - column.unit.centre;
                c.iter_mut().zip(h).for_each(|(c, h)| *c += centred * h);
            }
            factor(&column)?.draw_from_precision(&c, 1.0, &mut stream.at(j as u64).rng())
        };
        beta[model.width() - 1] += model.units()[j].centre;
        state.beta.set_col(j, &beta);
    }
    state.refresh(model);
    Ok(())
}

fn missing_as_zero(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let spoil = |column: &mut Column<'_>| column.y.iter_mut().filter(|y| y.is_nan()).for_each(|y| *y = 0.0);
    gaussian(model, state, stream, spoil, |_, _| ())
}

/// s_c in place of s_c².
fn root_variance(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let last = model.width() - 1;
    let spoil = |column: &mut Column<'_>| column.precision[last] = column.precision[last].sqrt();
    gaussian(model, state, stream, spoil, |_, _| ())
}

/// r_j ~ Ga(Σ T, Σ ln(1+e^f)), as the paper displays it.
fn dispersion_without_prior(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    for j in 0..model.columns() {
        let rng = &mut stream.at(j as u64).rng();
        let r = state.theta[0].values[(0, j)];
        let seen = (0..model.rows()).filter(|&n| !model.y()[(n, j)].is_nan());
        let (mut tables, mut rate) = (0.0, 0.0);
        for n in seen {
            tables += crt::draw(model.y()[(n, j)] as u64, r, rng) as f64;
            rate += softplus(state.f[(n, j)]);
        }
        // A column of zeros has no tables, and this is then not a distribution: r stays.
        if tables > 0.0 {
            state.theta[0].values[(0, j)] = gamma(tables, rate, rng);
        }
    }
    Ok(())
}

/// All ω of a multinomial drawn first, then all β: the second category's ω no longer matches the first one's new β.
fn stale_omega(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let (rows, columns) = (model.rows(), model.columns());
    let total = |n: usize| model.y().row(n).iter().sum::<f64>();
    let others =
        |f: &Mat, n: usize, j: usize| (0..columns).filter(|&k| k != j).map(|k| f[(n, k)].exp()).sum::<f64>().ln();
    let rng = &mut stream.rng();
    let mut omega = Mat::zeros(columns, rows);
    for j in 0..columns - 1 {
        for n in (0..rows).filter(|&n| !total(n).is_nan()) {
            omega[(j, n)] = polya_gamma::draw(total(n), state.f[(n, j)] - others(&state.f, n, j), rng);
        }
    }
    for j in 0..columns - 1 {
        let beta = {
            let column = column(model, state, j);
            let (mut kappa, mut known) = (vec![0.0; rows], vec![0.0; rows]);
            for n in (0..rows).filter(|&n| !total(n).is_nan()) {
                kappa[n] = column.y[n] - 0.5 * total(n);
                known[n] = column.offset[n] - others(&state.f, n, j);
            }
            weights_given_omega(&column, omega.row(j), &kappa, &known)?.draw(rng)
        };
        state.beta.set_col(j, &beta);
        state.refresh(model);
    }
    Ok(())
}

/// The slice along each axis's scale on the joint density alone.
fn scale_without_jacobian(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let rng = &mut stream.rng();
    let dim = model.latent_dim() as f64;
    for d in 0..model.latent_dim() {
        let ln_jacobian = model.rows() as f64 - state.spectral.count() as f64 * (dim + 2.0);
        let x = state.features.x();
        let square: f64 = (0..x.rows()).map(|n| x[(n, d)].powi(2)).sum();
        let ln_density =
            |u: f64| -0.5 * (2.0 * u).exp() * square + symmetry::ln_stretched(model, state, d, u) - ln_jacobian * u;
        let (u, _) = slice::univariate(rng, 0.0, ln_density(0.0), 0.7, ln_density);
        symmetry::stretch(model, state, d, u)?;
    }
    Ok(())
}

/// X redrawn from its prior.
fn blind_paths(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let Some(paths) = model.paths(state)? else { return Ok(()) };
    let w = state.features.w().clone();
    state.features.set(paths.draw(stream).as_slice(), w.as_slice());
    state.refresh(model);
    Ok(())
}

/// c ~ N(−x̄, I/N) where rows follow a path.
fn independent_translation(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    symmetry::translate(model, state, None, &mut stream.rng())
}

/// p(b = (s·b)/s) p(s) as the density of s.
fn scale_without_slopes(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let (_, square) = linear::weights(model, state);
    let ln = |u: f64| amplitudes::ln_centred(model.spec().priors.linear, 0.0, square, u);
    let u = 2.0 * state.features.plain().s().ln();
    let (u, _) = slice::univariate(&mut stream.rng(), u, ln(u), 1.0, ln);
    linear::rescale(model, state, u);
    state.refresh(model);
    Ok(())
}

/// c ~ N(−x̄, I/N), although the intercepts take up s b_j·c.
fn translation_without_intercepts(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let (x, rng) = (state.features.x(), &mut stream.rng());
    let rows = x.rows() as f64;
    let mean = |d: usize| -(0..x.rows()).map(|n| x[(n, d)]).sum::<f64>() / rows;
    let c: Vec<f64> = (0..x.cols()).map(|d| mean(d) + normal(rng) / rows.sqrt()).collect();
    symmetry::shift(model, state, &c);
    Ok(())
}

/// Slices of rows by the likelihood in which s·x·b stays what it was.
fn rows_without_linear(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let (w, last) = (state.features.w().clone(), state.beta.rows() - 1);
    let (mut x, columns) = (state.features.x().clone(), model.columns());
    for n in 0..model.rows() {
        let (h, old) = (state.features.h().row(n), x.row(n).to_vec());
        let ln_lik = |x: &[f64]| {
            let moved = Features::new(Mat::from_vec(1, x.len(), x.to_vec()), w.clone());
            let changed = |m: usize| if m < 2 * w.rows() { moved.h()[(0, m)] } else { h[m] };
            let of_column = |j: usize| (0..=last).map(|m| changed(m) * state.beta[(m, j)]).sum::<f64>();
            let f: Vec<f64> = (0..columns).map(|j| model.offset()[n] + of_column(j)).collect();
            model.ln_lik_row(&state.theta, n, &f)
        };
        let mut at = old.clone();
        slice::standard(&mut stream.at(n as u64).rng(), &mut at, ln_lik(&old), &mut Vec::new(), ln_lik);
        x.row_mut(n).copy_from_slice(&at);
    }
    state.features.set(x.as_slice(), w.as_slice());
    state.refresh(model);
    Ok(())
}

/// τ_j² given the weights, the intercept's among the squares and not in their count.
fn amplitude_without_intercept(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let Some(prior) = model.amplitude(&model.blocks()[0]).prior() else { return Ok(()) };
    for j in 0..model.columns() {
        let (count, square) = ((model.width() - 1) as f64, amplitudes::square(model, state, j));
        let ln = |u: f64| amplitudes::ln_centred(prior, count, square, u);
        let u = state.tau2[j].ln();
        state.tau2[j] = slice::univariate(&mut stream.at(j as u64).rng(), u, ln(u), 1.0, ln).0.exp();
    }
    Ok(())
}

/// τ² of all columns given the weights of the first.
fn amplitude_by_one_column(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let Some(prior) = model.amplitude(&model.blocks()[0]).prior() else { return Ok(()) };
    let (count, square) = (state.beta.rows() as f64, amplitudes::square(model, state, 0));
    let ln = |u: f64| amplitudes::ln_centred(prior, count, square, u);
    let u = state.tau2[0].ln();
    let u = slice::univariate(&mut stream.rng(), u, ln(u), 1.0, ln).0;
    state.tau2.fill(u.exp());
    Ok(())
}

/// σ² of all columns given the cells and weights of the first.
fn noise_by_one_column(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let prior = configurations::GAUSSIAN.noise.law(&[]);
    let column = column(model, state, 0);
    let cells = column.y.iter().zip(&column.f).filter(|(y, _)| !y.is_nan());
    let square = cells.clone().map(|(y, f)| (y - f).powi(2)).sum::<f64>() + column.weighted_square();
    let shape = prior.shape + 0.5 * (cells.count() + column.beta.len()) as f64;
    let rate = prior.rate + 0.5 * square / column.unit.scale.powi(2);
    let factor = gamma(shape, rate, &mut stream.rng()) / state.theta[0].hyper[0];
    let theta = &mut state.theta[0];
    theta.hyper[0] *= factor;
    theta.values.as_mut_slice().iter_mut().for_each(|precision| *precision *= factor);
    Ok(())
}

/// λ_j or r_j of all columns, in units of the column.
fn noise(model: &Model, state: &State) -> Vec<f64> {
    let own = |j: usize| model.blocks()[0].family.standardised(0, state.theta[0].values[(0, j)], &model.units()[j]);
    (0..model.columns()).map(own).collect()
}

/// Level and spread given the precision of the first column.
fn pool_by_one_column(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let first = noise(model, state)[0];
    let sums = Sums { count: 1.0, ln: first.ln(), plain: first };
    configurations::POOL.slice(&mut state.theta[0].hyper, &mut stream.rng(), |law| sums.ln(law));
    Ok(())
}

/// Level and spread with the precisions integrated out, as if these had not been those of the weights' prior; then the precisions.
fn pool_without_weights(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let Some(family) = model.blocks()[0].family.as_gaussian() else { return Ok(()) };
    let view = model.block_view(0, state, 1.0);
    let seen = family.seen(&view, &vec![None; model.columns()]);
    let half = 0.5 * model.width() as f64;
    let ln = |law: Gamma| seen.iter().map(|[power, sum]| ln_integrated(law, power - half, *sum)).sum::<f64>();
    configurations::POOL.slice(&mut state.theta[0].hyper, &mut stream.rng(), ln);
    precisions(model, state, &seen, stream);
    Ok(())
}

/// Precisions given the weights and what the columns add to their law.
fn precisions(model: &Model, state: &mut State, seen: &[[f64; 2]], stream: Stream) {
    let [shape, rate] = state.theta[0].hyper[..] else { return };
    for (j, [power, sum]) in seen.iter().enumerate() {
        let own = gamma(shape + power, rate + sum, &mut stream.named("own").at(j as u64).rng());
        state.theta[0].values[(0, j)] = own / model.units()[j].scale.powi(2);
    }
}

/// Precisions as if cells were not rounded.
fn noise_without_rounding(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let Some(family) = model.blocks()[0].family.as_gaussian() else { return Ok(()) };
    let view = model.block_view(0, state, 1.0);
    let mut seen = family.seen(&view, &vec![None; model.columns()]);
    seen.iter_mut().zip(model.units()).for_each(|(seen, unit)| seen[1] -= unit.rounding / unit.scale.powi(2));
    precisions(model, state, &seen, stream);
    Ok(())
}

/// Level and spread by the dispersions alone, at a flat prior of the logarithms of both.
fn pool_without_prior(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let r = noise(model, state);
    let sums = Sums { count: r.len() as f64, ln: r.iter().map(|r| r.ln()).sum(), plain: r.iter().sum() };
    let prior = configurations::DISPERSIONS;
    prior.slice(&mut state.theta[0].hyper, &mut stream.rng(), |law| sums.ln(law) - 0.8 * prior.ln_density(law));
    Ok(())
}

/// q ~ Ga(½ν, ½(ν + (y−f)²/σ²)), then (σ_j², β_j) given q.
fn student_without_its_cell(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let family = StudentT::new(configurations::STUDENT);
    for j in 0..model.columns() {
        let rng = &mut stream.at(j as u64).rng();
        let (precision, mut beta) = {
            let column = column(model, state, j);
            let (precision, dof) = (column.theta[0], column.theta[1]);
            let of_cell = |(y, f): (&f64, &f64)| match y.is_nan() {
                true => 0.0,
                false => gamma(0.5 * dof, 0.5 * (dof + precision * (y - f).powi(2)), rng),
            };
            let q: Vec<f64> = column.y.iter().zip(&column.f).map(of_cell).collect();
            let cholesky = Cholesky::new(gram(column.h, Some(&q), &column.precision), "planted")?;
            family.given_weights(&column, &q, &cholesky).draw(&mut stream.named("draw").at(j as u64).rng())
        };
        beta[model.width() - 1] += model.units()[j].centre;
        state.beta.set_col(j, &beta);
        state.theta[0].values[(0, j)] = precision;
    }
    state.refresh(model);
    Ok(())
}

/// ỹ = y − centre, the offset forgotten.
fn without_offset(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    gaussian(model, state, stream, |column| column.offset.fill(0.0), |_, _| ())
}

/// (σ_j², β_j) given y − o, the path forgotten.
fn weights_without_paths(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    gaussian(model, state, stream, |_| (), |_, _| ())
}

/// Redraws the paths of a Gaussian table by `draw`, from a path's prior, its amplitude, the variance of the noise and y − o − Hβ.
fn column_processes(
    model: &Model,
    state: &mut State,
    draw: impl Fn(usize, &ColumnPath<'_>, f64, &[f64], &[f64]) -> Vec<f64>,
) -> Result<(), NumericalError> {
    let Some(law) = model.column_process() else { return Ok(()) };
    for j in 0..model.columns() {
        let (own, y, f, g) =
            (state.column_process.scales[j], model.y().col(j), state.f.col(j), state.column_process.g.col(j));
        let noise = 1.0 / state.theta[0].values[(0, j)];
        let variance: Vec<f64> = y.iter().map(|y| if y.is_nan() { f64::INFINITY } else { noise }).collect();
        let rest = |n: usize| if y[n].is_nan() { 0.0 } else { y[n] - f[n] + g[n] };
        let r: Vec<f64> = (0..y.len()).map(rest).collect();
        let drawn = draw(j, &law.path(own.length_scale), own.amplitude(&model.units()[j]), &variance, &r);
        state.column_process.g.set_col(j, &drawn);
    }
    state.refresh(model);
    Ok(())
}

/// g_j given y as if the noise were twice as large.
fn wrong_gain(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    column_processes(model, state, |j, path, amplitude, variance, r| {
        let twice: Vec<f64> = variance.iter().map(|v| 2.0 * v).collect();
        path.through(amplitude, &twice).draw(r, &mut stream.at(j as u64).rng())
    })
}

/// E[g_j | y] in place of a draw.
fn expected_path(model: &Model, state: &mut State, _: Stream) -> Result<(), NumericalError> {
    column_processes(model, state, |_, path, amplitude, variance, r| path.through(amplitude, variance).expected(r))
}

/// s_j² given g_j alone.
fn share_without_prior(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let Some(law) = model.column_process() else { return Ok(()) };
    for j in 0..model.columns() {
        let (own, g, unit) = (state.column_process.scales[j], state.column_process.g.col(j), model.units()[j].scale);
        let path = law.path(own.length_scale);
        let ln = |u: f64| path.ln_density((0.5 * u).exp() * unit, &g);
        let u = own.share.ln();
        state.column_process.scales[j].share =
            slice::univariate(&mut stream.at(j as u64).rng(), u, ln(u), 1.0, ln).0.exp();
    }
    Ok(())
}

/// Candidates about other rows, chosen by the likelihood alone.
fn jumps_without_density(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let rng = &mut stream.rng();
    for n in 0..model.rows() {
        let (mut x, w) = (state.features.x().clone(), state.features.w().clone());
        let other = x.row((n + rng.random_range(1..model.rows())) % model.rows()).to_vec();
        x.row_mut(n).iter_mut().zip(other).for_each(|(x, other)| *x = other + 0.3 * normal(rng));
        jump(model, state, (&x, &w), rng)?;
    }
    Host::default().draw_weights(model, state, 1.0, stream.named("beta"))
}

/// Candidates from the prior of a new cluster, chosen by the likelihood alone.
fn jumps_to_new_clusters(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let rng = &mut stream.rng();
    let Kernel::Learned(mixture) = &model.spec().kernel else { unreachable!("the kernel is learned") };
    let new = mixture.base(&state.spectral.psi).predictive()?;
    for l in 0..model.frequencies() {
        let (x, mut w) = (state.features.x().clone(), state.features.w().clone());
        w.row_mut(l).copy_from_slice(&new.draw(rng));
        jump(model, state, (&x, &w), rng)?;
    }
    Host::default().draw_weights(model, state, 1.0, stream.named("beta"))
}

/// Takes X and W or keeps its own, by the likelihood with β and σ² integrated out.
fn jump(model: &Model, state: &mut State, (x, w): (&Mat, &Mat), rng: &mut StreamRng) -> Result<(), NumericalError> {
    let target = CollapsedData::new(model, &state.theta);
    let mut there = state.features.clone();
    there.set(x.as_slice(), w.as_slice());
    let gain = target.ln_marginal(there.h(), &state.tau2)? - target.ln_marginal(state.features.h(), &state.tau2)?;
    if rng.random::<f64>().ln() < gain {
        state.features = there;
    }
    Ok(())
}

/// logit π given the zeros, none of which the negative binomial makes.
fn every_zero_extra(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let prior = Priors::default().zero_inflation;
    for j in 0..model.columns() {
        let cells = model.y().col(j);
        let zeros = cells.iter().filter(|y| **y == 0.0).count() as f64;
        let ln = |t: f64| zeros * t - cells.len() as f64 * softplus(t) + ln_normal(t, prior.mean, prior.sd.powi(2));
        let t = state.theta[0].values[(1, j)];
        state.theta[0].values[(1, j)] = slice::univariate(&mut stream.at(j as u64).rng(), t, ln(t), 1.0, ln).0;
    }
    Ok(())
}

/// The first gap by a slice of the gap itself, as if the prior of its logarithm were its own.
fn gaps_without_jacobian(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let family = Ordinal::new(4, configurations::CUT_POINTS).expect("few levels");
    let prior = configurations::CUT_POINTS;
    for j in 0..model.columns() {
        let (y, f) = (model.y().col(j), state.f.col(j));
        let mut theta = state.theta[0].values.col(j);
        let ln = |gap: f64| {
            if gap <= 0.0 {
                return f64::NEG_INFINITY;
            }
            theta[0] = gap.ln();
            let cells = y.iter().zip(&f).map(|(&y, &f)| family.ln_density(y, f, &theta));
            cells.sum::<f64>() + ln_normal(theta[0], prior.mean, prior.sd.powi(2))
        };
        let gap = state.theta[0].values[(0, j)].exp();
        let mut ln = ln;
        let current = ln(gap);
        let gap = slice::univariate(&mut stream.at(j as u64).rng(), gap, current, 1.0, ln).0;
        state.theta[0].values[(0, j)] = gap.ln();
    }
    Ok(())
}

/// (σ_j², β_j) as if cells were Gaussian.
fn cells_as_they_are(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    conditionally(&configurations::GAUSSIAN, model, state, stream, |_| (), |_, _| ())
}
