//! New rows: their positions, and how unusual they are.
//!
//! Given a draw of the parameters, a new row has the posterior p(x | y, W, β, θ) ∝ p(x) Π_j p(y_j | f_j(x)), from which one draw is
//! taken; over the draws of the fit, each weighted by p(y | W, β, θ), these are draws of p(x | y, Y), and are mapped into the frame of the training rows. The remaining
//! bias of a finite importance sample decays with elliptical slices, which leave the posterior invariant.
//! p(y | Y) is the mean over the draws of p(y | W, β, θ), each of which is estimated without bias.
//!
//! For rows with times, p(x) is the Gaussian process given X at the rows of their sequence, each new row separately: new rows do not
//! inform each other or the fit. Column processes are drawn at the time of each new row given those at the rows, and then
//! count as known: the cells of a new row do not inform them.
//!
//! Many rows can be placed side by side on a device ([`NewRows::open`]), with the same streams. Draws agree up to rounding, and up to
//! proposals: the information of a cell is exact there, and a difference quotient here for most families.

mod cells;
pub(super) mod density;
mod evidence;
mod moments;
mod new_rows;
mod outlier_score;
mod search;
pub(super) mod target;
mod there;
mod weights;

pub use new_rows::{NewRows, Opener, row_key};

use super::align::Embedding;
use super::column_process::ahead;
use super::fitted::Fitted;
use super::parameters::{Parameters, Stored};
use crate::device::Device;
use crate::dist::{ln_sum_exp, normals};
use crate::error::{NumericalError, RunError, SpecError};
use crate::linalg::Mat;
use crate::model::position::{Positions, Scratch};
use crate::model::{Known, Model};
use crate::par;
use crate::rng::Stream;
use crate::slice;
use density::weigh;
use evidence::Sampled;
use moments::RowMoments;
use new_rows::Key;
use outlier_score::OwnRows;
use search::Anchors;
use std::collections::BTreeSet;
use std::ops::Range;
use target::{Prior, Target};
use weights::{resampled, weights};

/// Default number of draws visited: a mean is then known to a fourteenth of its standard deviation.
pub const DRAWS: usize = 200;
/// Elliptical slices after the importance sample.
const SLICES: usize = 4;

/// Results for new rows.
#[derive(Debug, Clone)]
pub struct Transformed {
    /// Posterior mean and covariance of each row, in the frame of the training rows.
    pub embedding: Embedding,
    /// ln p(y | Y) of the observed cells of each row.
    pub ln_density: Vec<f64>,
    /// Number of observed cells of each row.
    pub cells: Vec<usize>,
    /// Fraction of the fit's rows (leave-one-out) with a higher log density per cell. NaN for a row
    /// without observed cells; 1 for a row beyond the range of the fit's rows.
    pub outlier_score: Vec<f64>,
}

impl Fitted<'_> {
    /// Places new rows using at most `most` draws of the fit. Passes each draw of their aligned positions to `take`, in order. Rows of the fit
    /// are placed for their densities only.
    pub fn transform(
        &self,
        new: &NewRows,
        most: usize,
        mut take: impl FnMut(usize, &Mat),
    ) -> Result<Transformed, RunError> {
        let visited = self.visited_in_map(most)?;
        let frame = self.frame()?;
        let rows = new.model.rows();
        let mut drawn = Vec::with_capacity(visited.len());
        let mut ln_evidence = vec![Vec::with_capacity(visited.len()); rows];
        let mut reference = OwnRows::new(self.model);
        let known = |parameters: &Parameters, stream| reference.ln_evidence(self.model, parameters, stream);
        let mut of_known = Vec::with_capacity(visited.len());
        let mut device = new.device()?;
        self.visit_new(&visited, new, (0..rows, device.as_mut()), known, |_, parameters, placed, known| {
            let mut x = positions(&placed);
            new.own().for_each(|(n, own)| x.row_mut(n).copy_from_slice(parameters.x.row(own)));
            drawn.push(frame.of(&parameters.x, &parameters.w).carry(&x));
            ln_evidence.iter_mut().zip(&placed).for_each(|(all, row)| all.push(row.ln_evidence));
            of_known.push(known);
        })?;
        let weights = weights_of_rows(&ln_evidence, new);
        let mut moments = RowMoments::new(rows, frame.axes());
        drawn.iter().enumerate().for_each(|(i, x)| moments.add(x, |n| weights[n][i]));
        let chosen: Vec<Vec<usize>> = weights.iter().map(|weights| resampled(weights)).collect();
        for i in 0..drawn.len() {
            take(i, &Mat::from_fn(rows, frame.axes(), |n, d| drawn[chosen[n][i]][(n, d)]));
        }
        if !self.modes.is_empty() {
            // Positions are those of one map, densities those of all.
            ln_evidence.iter_mut().for_each(Vec::clear);
            of_known.clear();
            self.visit_new(&self.visited(most)?, new, (0..rows, device.as_mut()), known, |_, _, placed, known| {
                ln_evidence.iter_mut().zip(&placed).for_each(|(all, row)| all.push(row.ln_evidence));
                of_known.push(known);
            })?;
        }
        of_known.into_iter().for_each(|known| reference.take(known));
        let ln_density = ln_mean(&ln_evidence);
        let cells: Vec<usize> = (0..rows).map(|n| new.model.observed(n)).collect();
        let outlier_score = reference.outlier_score(&ln_density, &cells);
        let mut embedding = moments.embedding();
        if new.own().next().is_some() {
            // From all draws, as everywhere else.
            let all = self.embedding(&frame)?;
            for (n, own) in new.own() {
                embedding.mean.row_mut(n).copy_from_slice(all.mean.row(own));
                embedding.covariance[n] = all.covariance[own].clone();
            }
        }
        Ok(Transformed { embedding, ln_density, cells, outlier_score })
    }

    /// ln p(y | Y) of each new row alone, at less than half the cost.
    pub fn ln_density(&self, new: &NewRows, most: usize) -> Result<Vec<f64>, RunError> {
        let visited = self.visited(most)?;
        let rows = new.model.rows();
        let mut ln_evidence = vec![Vec::with_capacity(visited.len()); rows];
        self.visit_new(
            &visited,
            new,
            (0..rows, new.device()?.as_mut()),
            |_, _| Ok(()),
            |_, _, placed, ()| {
                ln_evidence.iter_mut().zip(&placed).for_each(|(all, row)| all.push(row.ln_evidence));
            },
        )?;
        Ok(ln_mean(&ln_evidence))
    }

    /// Passes some of the new rows as placed by each draw, on a device if there is one, to `take`, in order, with the result of `beside` for the draw.
    fn visit_new<B: Send>(
        &self,
        visited: &[(usize, usize)],
        new: &NewRows,
        (some, mut device): (Range<usize>, Option<&mut Box<dyn Device>>),
        beside: impl Fn(&Parameters, Stream) -> Result<B, NumericalError> + Sync,
        mut take: impl FnMut(usize, &Parameters, Vec<Placed>, B),
    ) -> Result<(), RunError> {
        let mut stored = Stored::open(self.store, self.model)?;
        check_times(self.model, new)?;
        let keys = new.keys();
        // Reading is one task; processing a draw is one task per draw.
        let at_once = rayon::current_num_threads();
        for (start, part) in (0..).step_by(at_once).zip(visited.chunks(at_once)) {
            let read = |&(chain, draw): &(usize, usize)| stored.at(chain, draw);
            let given = part.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let stream = |&(chain, draw): &(usize, usize)| self.stream.at(chain as u64).at(draw as u64);
            let here =
                |(of, parameters)| placed(self.model, (new, &keys), some.clone(), parameters, stream(of).named("new"));
            let aside = |(of, parameters)| beside(parameters, stream(of).named("known"));
            let outcomes: Vec<(Result<_, _>, Result<_, _>)> = match &mut device {
                None => par::collect(part.iter().zip(&given), 1, |one| (here(one), aside(one))),
                Some(device) => {
                    // One after the other: a thread that waits for the rows of a device must not be given another task meanwhile.
                    let aside = par::collect(part.iter().zip(&given), 1, aside);
                    let mut there = |(of, parameters)| {
                        there::placed(
                            device.as_mut(),
                            self.model,
                            (new, &keys),
                            some.clone(),
                            parameters,
                            stream(of).named("new"),
                        )
                    };
                    part.iter().zip(&given).zip(aside).map(|(one, aside)| (there(one), aside)).collect()
                }
            };
            for (i, (((placed, beside), parameters), (chain, draw))) in
                (start..).zip(outcomes.into_iter().zip(&given).zip(part))
            {
                let fail = |source| RunError::Numerical { chain: chain + 1, sweep: *draw as u64 + 1, source };
                take(i, parameters, placed.map_err(fail)?, beside.map_err(fail)?);
            }
        }
        Ok(())
    }
}

/// Weights of the draws for each row; equal for rows of the fit, which have entered it already.
fn weights_of_rows(ln_evidence: &[Vec<f64>], new: &NewRows) -> Vec<Vec<f64>> {
    let draws = ln_evidence.first().map_or(0, Vec::len);
    let is_own = |n: usize| new.own.get(n).is_some_and(Option::is_some);
    let of_row = |n: usize| if is_own(n) { vec![1.0 / draws as f64; draws] } else { weights(&ln_evidence[n]) };
    par::map(ln_evidence.len(), 100 * ln_evidence.len() * draws, of_row)
}

/// ln of the mean over the draws, row by row.
fn ln_mean(ln_evidence: &[Vec<f64>]) -> Vec<f64> {
    ln_evidence.iter().map(|draws| ln_sum_exp(draws) - (draws.len() as f64).ln()).collect()
}

/// The positions as a matrix.
fn positions(placed: &[Placed]) -> Mat {
    let dim = placed.first().map_or(0, |row| row.x.len());
    Mat::from_vec(placed.len(), dim, placed.iter().flat_map(|row| row.x.iter().copied()).collect())
}

/// A draw of a position, and the estimate of ln p(y | W, β, θ).
struct Placed {
    x: Vec<f64>,
    /// Column processes at its time; empty where columns have none.
    own: Vec<f64>,
    ln_evidence: f64,
}

/// Some of the new rows given one draw of the parameters.
fn placed(
    model: &Model,
    (new, keys): (&NewRows, &[Key]),
    some: Range<usize>,
    parameters: &Parameters,
    stream: Stream,
) -> Result<Vec<Placed>, NumericalError> {
    let own = column_processes(model, (new, keys), some.clone(), parameters, stream.named("own paths"));
    let positions = Positions::new(&new.model, &parameters.theta, &parameters.beta, (&parameters.w, parameters.s));
    let positions = positions.beside(Known::new(new.model.offset(), &own));
    let anchors = Anchors::new(parameters, model.covariates().cols(), stream.named("anchors"));
    let (mean, sd) = prior(model, new, parameters)?;
    let each = par::map(some.len(), 1000 * some.len() * new.model.columns(), |i| {
        let n = some.start + i;
        let target = Target { positions: &positions, row: n, prior: Prior { mean: mean.row(n), sd: sd.row(n) } };
        let mut scratch = positions.scratch();
        let starts = anchors.starts(&target, &mut scratch);
        let placed = place(&target, starts, &mut scratch, stream.along(keys[n]))?;
        let own = if own.rows() > 0 { own.row(n).to_vec() } else { Vec::new() };
        Ok(Placed { own, ..placed })
    });
    each.into_iter().collect()
}

/// Column processes at some of the new rows, new rows × columns; empty where columns have none.
fn column_processes(
    model: &Model,
    (new, keys): (&NewRows, &[Key]),
    some: Range<usize>,
    parameters: &Parameters,
    stream: Stream,
) -> Mat {
    let (true, Some(times)) = (model.column_process().is_some(), &new.times) else { return Mat::default() };
    let drawn = par::map(some.len(), 1000 * some.len() * model.rows() * model.columns(), |i| {
        let n = some.start + i;
        ahead(model, &parameters.column_process, times.sequence[n], &times.at[n..=n], stream.along(keys[n]))
    });
    let mut own = Mat::zeros(new.model.rows(), model.columns());
    some.zip(drawn).for_each(|(n, drawn)| own.row_mut(n).copy_from_slice(drawn.row(0)));
    own
}

/// One row: mode search, importance sample, slices.
fn place(
    target: &Target<'_>,
    starts: Vec<Vec<f64>>,
    scratch: &mut Scratch,
    stream: Stream,
) -> Result<Placed, NumericalError> {
    let rng = &mut stream.rng();
    if target.positions.observed(target.row) == 0 {
        return Ok(Placed {
            x: target.prior.position(&normals(target.prior.dim(), rng)),
            own: Vec::new(),
            ln_evidence: 0.0,
        });
    }
    let Sampled { ln_evidence, mut u, mut ln_lik } = weigh(target, starts, scratch, rng)?;
    let mut workspace = Vec::new();
    for _ in 0..SLICES {
        ln_lik = slice::standard(rng, &mut u, ln_lik, &mut workspace, |u| target.ln_lik(u, scratch)).ln_lik;
    }
    Ok(Placed { x: target.prior.position(&u), own: Vec::new(), ln_evidence })
}

/// Prior mean and standard deviation of each new position, N×D.
fn prior(model: &Model, new: &NewRows, parameters: &Parameters) -> Result<(Mat, Mat), NumericalError> {
    let (rows, dim) = (new.model.rows(), parameters.x.cols());
    let (mut mean, mut sd) = (Mat::zeros(rows, dim), Mat::from_fn(rows, dim, |_, _| 1.0));
    let (Some(dynamics), Some(times)) = (model.dynamics(), &new.times) else { return Ok((mean, sd)) };
    for sequence in times.sequence.iter().copied().collect::<BTreeSet<usize>>() {
        let own: Vec<usize> = (0..rows).filter(|&n| times.sequence[n] == sequence).collect();
        let at: Vec<f64> = own.iter().map(|&n| times.at[n]).collect();
        let (m, s) = dynamics.expected(&parameters.axes, &parameters.x, sequence, &at)?;
        for (i, &n) in own.iter().enumerate() {
            mean.row_mut(n).copy_from_slice(m.row(i));
            sd.row_mut(n).copy_from_slice(s.row(i));
        }
    }
    Ok((mean, sd))
}

/// New rows must have times if, and only if, those of the fit have.
fn check_times(model: &Model, new: &NewRows) -> Result<(), SpecError> {
    let wrong =
        |value: &str, rule: &str| Err(SpecError::Setting { setting: "time", value: value.into(), rule: rule.into() });
    match (model.dynamics(), &new.times) {
        (Some(_), None) => {
            wrong("not given for the new rows", "the rows of this fit have times; give the times of the new rows too")
        }
        (None, Some(_)) => wrong("given for the new rows", "the rows of this fit have no times; leave them out"),
        (Some(_), Some(times)) if times.at.len() != new.model.rows() || times.sequence.len() != new.model.rows() => {
            wrong("not given for all new rows", "each new row needs one")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
