//! Predictions for new replicates of rows of the table, and for points of the latent space without a row.
//!
//! Given a draw of the parameters, a row has its own x and offset, and a cell is a draw from its family given f: over the draws of the
//! posterior these are draws of p(ỹ_nj | Y), of a new replicate of the observed cell. A point is given in the
//! common frame and mapped into each draw by that draw's own alignment. Its trials are unknown: a multinomial row has one,
//! and so has a binomial cell unless all cells have the same number.

use super::fitted::{Fitted, HELD};
use super::frame::Frame;
use super::parameters::{Parameters, Stored};
use super::predicted::{Predicted, Replica, gather};
use crate::error::{RunError, StoreError};
use crate::linalg::Mat;
use crate::model::Model;
use crate::par;
use crate::rng::Stream;
use std::ops::Range;

/// What to predict.
#[derive(Debug, Clone, Copy)]
pub enum Points<'a> {
    /// Rows of the table.
    Rows(&'a [usize]),
    /// Rows of the table at their positions, with other covariates than their own.
    Adjusted {
        /// The rows.
        rows: &'a [usize],
        /// Their covariates, K×C ([`Model::in_prior_units`]).
        covariates: &'a Mat,
    },
    /// Points of the latent space, K×D in the frame, with a common offset.
    Places {
        /// The frame.
        frame: &'a Frame,
        /// Their positions.
        x: &'a Mat,
        /// o.
        offset: f64,
        /// Their covariates, K×C ([`Model::in_prior_units`]).
        covariates: &'a Mat,
    },
}

impl Points<'_> {
    /// Number of rows or points.
    pub fn count(&self) -> usize {
        match self {
            Points::Rows(rows) | Points::Adjusted { rows, .. } => rows.len(),
            Points::Places { x, .. } => x.rows(),
        }
    }

    /// F of some of them under a draw.
    pub fn f(&self, model: &Model, parameters: &Parameters, some: Range<usize>) -> Mat {
        match self {
            Points::Rows(rows) => parameters.f_of_rows(model, &rows[some]),
            Points::Adjusted { rows, covariates } => {
                parameters.f_of_rows_with(model, &rows[some.clone()], part(covariates, some))
            }
            Points::Places { frame, x, offset, covariates } => {
                let placement = frame.of(&parameters.x, &parameters.w);
                let offsets = vec![*offset; some.len()];
                parameters.f(placement.back(&part(x, some.clone())), &offsets, part(covariates, some))
            }
        }
    }

    /// The table row of a point; for a latent point, one beyond the table.
    fn row(&self, model: &Model, i: usize) -> usize {
        match self {
            Points::Rows(rows) | Points::Adjusted { rows, .. } => rows[i],
            Points::Places { .. } => model.rows(),
        }
    }

    /// Key of the random stream of a point: a row gets the same draws whatever else is requested.
    fn key(&self, i: usize) -> u64 {
        match self {
            Points::Rows(rows) | Points::Adjusted { rows, .. } => rows[i] as u64,
            Points::Places { .. } => i as u64,
        }
    }
}

/// Some rows of a matrix.
fn part(of: &Mat, some: Range<usize>) -> Mat {
    Mat::from_fn(some.len(), of.cols(), |i, c| of[(some.start + i, c)])
}

impl Fitted<'_> {
    /// Summary of each point (outer) and column of the model (inner), from at most `most` draws.
    pub fn predict(&self, points: Points<'_>, most: usize) -> Result<Vec<Vec<Predicted>>, RunError> {
        self.predict_holding(points, most, HELD)
    }

    fn predict_holding(&self, points: Points<'_>, most: usize, held: usize) -> Result<Vec<Vec<Predicted>>, RunError> {
        let visited = self.visited_at(points, most)?;
        let mut cells = gather((points.count(), self.model.columns()), visited.len(), held, |some, take| {
            self.visit_points(&visited, points, some, |_, replica| take(replica))
        })?;
        if let Points::Rows(rows) | Points::Adjusted { rows, .. } = points {
            self.drop_moments(&mut cells, |i, column| self.model.y()[(rows[i], column)].is_nan());
        }
        Ok(cells)
    }

    /// Passes `count` generated tables to `take`, points × columns of the model, each from a different draw of the parameters.
    pub fn replicas<E: From<RunError>>(
        &self,
        points: Points<'_>,
        count: usize,
        mut take: impl FnMut(usize, &Mat) -> Result<(), E>,
    ) -> Result<(), E> {
        let visited = self.visited_at(points, count).map_err(RunError::from)?;
        // Keep the first error; a closure cannot return it.
        let mut outcome = Ok(());
        self.visit_points(&visited, points, 0..points.count(), |i, replica| {
            if outcome.is_ok() {
                outcome = take(i, &replica.drawn);
            }
        })?;
        outcome
    }

    /// Draws of all modes for rows of the table; a point of the latent space belongs to one mode.
    fn visited_at(&self, points: Points<'_>, most: usize) -> Result<Vec<(usize, usize)>, StoreError> {
        match points {
            Points::Rows(_) | Points::Adjusted { .. } => self.visited(most),
            Points::Places { .. } => self.visited_in_map(most),
        }
    }

    /// Passes cells of some points to `take`, draw after draw. They do not depend on which points are requested together.
    fn visit_points(
        &self,
        visited: &[(usize, usize)],
        points: Points<'_>,
        some: Range<usize>,
        mut take: impl FnMut(usize, &Replica),
    ) -> Result<(), RunError> {
        let mut stored = Stored::open(self.store, self.model)?;
        // Reading is one task; processing a draw is one task per draw.
        let at_once = rayon::current_num_threads();
        for (start, part) in (0..).step_by(at_once).zip(visited.chunks(at_once)) {
            let read = |&(chain, draw): &(usize, usize)| stored.at(chain, draw);
            let parameters = part.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let replica = |(&(chain, draw), parameters): (&(usize, usize), &Parameters)| {
                let stream = self.stream.at(chain as u64).at(draw as u64);
                Replica::draw(self.model, parameters, points, some.clone(), stream)
            };
            let replicas = par::collect(part.iter().zip(&parameters), 1, replica);
            replicas.iter().zip(start..).for_each(|(replica, i)| take(i, replica));
        }
        Ok(())
    }
}

impl Replica {
    fn draw(model: &Model, parameters: &Parameters, points: Points<'_>, some: Range<usize>, stream: Stream) -> Self {
        let f = points.f(model, parameters, some.clone());
        let unseen = vec![f64::NAN; f.cols()];
        let mut replica = Replica::empty(f.rows(), f.cols());
        for (i, point) in some.enumerate() {
            let n = points.row(model, point);
            let y = if n < model.rows() { model.y().row(n) } else { &unseen };
            replica.fill(i, model, &parameters.theta, (n, y), f.row(i), stream.at(points.key(point)));
        }
        replica
    }
}

#[cfg(test)]
mod tests;
