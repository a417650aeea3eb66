//! Forecasts at times without a row: X follows the rest of its path, and cells follow X.
//!
//! Given a draw of the parameters and of X, the path at the new times is a draw from the Gaussian process given X at the rows, all new
//! times of a sequence jointly; a cell is a draw from its family given f. The trials of new rows are unknown: a multinomial row
//! has one, and so has a binomial cell unless all cells have the same number.

use super::column_process::ahead;
use super::fitted::{Fitted, HELD};
use super::parameters::{Parameters, Stored};
use super::predicted::{Predicted, Replica, gather};
use crate::error::{NumericalError, RunError, SpecError};
use crate::linalg::Mat;
use crate::model::latent::Dynamics;
use crate::par;
use crate::rng::Stream;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A time to forecast.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTime {
    /// The time, in the units of the data's times.
    pub time: f64,
    /// Its sequence, as in [`crate::observations::Times`].
    pub sequence: usize,
    /// Its offset.
    pub offset: f64,
    /// Its covariates, as many as those of a row of the table ([`Model::in_prior_units`]).
    ///
    /// [`Model::in_prior_units`]: crate::model::Model::in_prior_units
    pub covariates: Vec<f64>,
}

impl Fitted<'_> {
    /// Summary of each new row (outer) and column of the model (inner), from at most `most` draws.
    pub fn forecast(&self, moments: &[NewTime], most: usize) -> Result<Vec<Vec<Predicted>>, RunError> {
        self.forecast_holding(moments, most, HELD)
    }

    fn forecast_holding(&self, moments: &[NewTime], most: usize, held: usize) -> Result<Vec<Vec<Predicted>>, RunError> {
        let visited = self.visited(most)?;
        let mut cells = gather((moments.len(), self.model.columns()), visited.len(), held, |some, take| {
            self.visit_futures(&visited, moments, some, |_, future| take(future))
        })?;
        self.drop_moments(&mut cells, |_, _| true);
        Ok(cells)
    }

    /// Passes `count` simulated futures to `take`, new rows × columns of the model, each from a different draw of the parameters.
    pub fn futures<E: From<RunError>>(
        &self,
        moments: &[NewTime],
        count: usize,
        mut take: impl FnMut(usize, &Mat) -> Result<(), E>,
    ) -> Result<(), E> {
        let visited = self.visited(count).map_err(RunError::from)?;
        // Keep the first error; a closure cannot return it.
        let mut outcome = Ok(());
        self.visit_futures(&visited, moments, 0..moments.len(), |i, future| {
            if outcome.is_ok() {
                outcome = take(i, &future.drawn);
            }
        })?;
        outcome
    }

    /// Passes the futures of some new rows to `take`, draw after draw. They do not depend on which rows are requested.
    fn visit_futures(
        &self,
        visited: &[(usize, usize)],
        moments: &[NewTime],
        rows: Range<usize>,
        mut take: impl FnMut(usize, &Replica),
    ) -> Result<(), RunError> {
        let mut stored = Stored::open(self.store, self.model)?;
        let dynamics = self.model.dynamics().ok_or_else(no_times)?;
        // Reading is one task; processing a draw is one task per draw.
        let at_once = rayon::current_num_threads();
        for (start, some) in (0..).step_by(at_once).zip(visited.chunks(at_once)) {
            let read = |&(chain, draw): &(usize, usize)| stored.at(chain, draw);
            let parameters = some.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let future = |(&(chain, draw), parameters): (&(usize, usize), &Parameters)| {
                let stream = self.stream.at(chain as u64).at(draw as u64);
                let fail = |source| RunError::Numerical { chain: chain + 1, sweep: draw as u64 + 1, source };
                self.future(dynamics, parameters, moments, rows.clone(), stream).map_err(fail)
            };
            let futures =
                par::collect(some.iter().zip(&parameters), 1, future).into_iter().collect::<Result<Vec<_>, _>>()?;
            futures.iter().zip(start..).for_each(|(future, i)| take(i, future));
        }
        Ok(())
    }

    fn future(
        &self,
        dynamics: &Dynamics,
        parameters: &Parameters,
        moments: &[NewTime],
        rows: Range<usize>,
        stream: Stream,
    ) -> Result<Replica, NumericalError> {
        let f = self.predictors(dynamics, parameters, moments, rows.clone(), stream)?;
        let unseen = vec![f64::NAN; f.cols()];
        let mut future = Replica::empty(f.rows(), f.cols());
        let (places, cells) = (places(moments), stream.named("cells"));
        for (i, n) in rows.enumerate() {
            let stream = cells.at(moments[n].sequence as u64).at(places[n]);
            // A row beyond those of the table.
            future.fill(i, self.model, &parameters.theta, (self.model.rows(), &unseen), f.row(i), stream);
        }
        Ok(future)
    }

    /// A draw of F at some of the times.
    pub(super) fn predictors(
        &self,
        dynamics: &Dynamics,
        parameters: &Parameters,
        moments: &[NewTime],
        rows: Range<usize>,
        stream: Stream,
    ) -> Result<Mat, NumericalError> {
        let x = positions(dynamics, parameters, moments, rows.clone(), stream.named("paths"))?;
        let own = |sequence: usize, times: &[f64]| {
            let stream = stream.named("own paths").at(sequence as u64);
            Ok(ahead(self.model, &parameters.column_process, sequence, times, stream))
        };
        let own = paths(parameters.column_process.g.cols(), moments, rows.clone(), own)?;
        let offset: Vec<f64> = moments[rows.clone()].iter().map(|m| m.offset).collect();
        let covariates = self.model.covariates().cols();
        let covariates = Mat::from_fn(rows.len(), covariates, |i, c| moments[rows.start + i].covariates[c]);
        Ok(parameters.f_with(x, (&offset, covariates), &own))
    }
}

/// Forecasts need times.
pub(crate) fn no_times() -> SpecError {
    SpecError::Setting {
        setting: "time",
        value: "not given in this fit".into(),
        rule: "forecasts need the times of the rows; fit again with times".into(),
    }
}

/// The index of each time within its sequence, so that a sequence has the same future alone and together with others.
fn places(moments: &[NewTime]) -> Vec<u64> {
    let mut count: BTreeMap<usize, u64> = BTreeMap::new();
    let mut next = |m: &NewTime| {
        let count = count.entry(m.sequence).or_default();
        *count += 1;
        *count - 1
    };
    moments.iter().map(&mut next).collect()
}

/// A draw of X at some of the times.
fn positions(
    dynamics: &Dynamics,
    parameters: &Parameters,
    moments: &[NewTime],
    rows: Range<usize>,
    stream: Stream,
) -> Result<Mat, NumericalError> {
    paths(parameters.x.cols(), moments, rows, |sequence, times| {
        dynamics.ahead(&parameters.axes, &parameters.x, sequence, times, stream.at(sequence as u64))
    })
}

/// A draw of X, or of column processes, at some of the times. Each sequence has its own, which `draw` draws at all of its times jointly.
fn paths(
    width: usize,
    moments: &[NewTime],
    rows: Range<usize>,
    draw: impl Fn(usize, &[f64]) -> Result<Mat, NumericalError>,
) -> Result<Mat, NumericalError> {
    if width == 0 {
        return Ok(Mat::default());
    }
    let mut x = Mat::zeros(rows.len(), width);
    let sequences: BTreeSet<usize> = moments[rows.clone()].iter().map(|m| m.sequence).collect();
    for sequence in sequences {
        let own: Vec<usize> = (0..moments.len()).filter(|&i| moments[i].sequence == sequence).collect();
        let times: Vec<f64> = own.iter().map(|&i| moments[i].time).collect();
        let drawn = draw(sequence, &times)?;
        for (k, &i) in own.iter().enumerate().filter(|(_, i)| rows.contains(i)) {
            x.row_mut(i - rows.start).copy_from_slice(drawn.row(k));
        }
    }
    Ok(x)
}

#[cfg(test)]
mod tests;
