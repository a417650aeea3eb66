//! What a fit expects of the cells of new rows: of those that are not observed, and of the others seen again.

use super::{NewRows, positions};
use crate::error::RunError;
use crate::linalg::Mat;
use crate::posterior::fitted::{Fitted, HELD};
use crate::posterior::parameters::Parameters;
use crate::posterior::predicted::{Predicted, Replica, gather};
use crate::rng::Stream;
use std::ops::Range;

impl Fitted<'_> {
    /// What is expected of each new row (outer) and column of the model (inner), from at most `most` draws.
    pub fn predict_new(&self, new: &NewRows, most: usize) -> Result<Vec<Vec<Predicted>>, RunError> {
        let visited = self.visited(most)?;
        gather((new.model.rows(), self.model.columns()), visited.len(), HELD, |some, take| {
            self.visit_cells(&visited, new, some, |_, replica| take(replica))
        })
    }

    /// Hands `count` drawn tables to `take`, new rows × columns of the model, each from another draw of the parameters. Rows without
    /// any observed cell are rows that the model makes up.
    pub fn replicas_new(&self, new: &NewRows, count: usize, mut take: impl FnMut(usize, &Mat)) -> Result<(), RunError> {
        let visited = self.visited(count)?;
        self.visit_cells(&visited, new, 0..new.model.rows(), |i, replica| take(i, &replica.drawn))
    }

    fn visit_cells(
        &self,
        visited: &[(usize, usize)],
        new: &NewRows,
        some: Range<usize>,
        mut take: impl FnMut(usize, &Replica),
    ) -> Result<(), RunError> {
        let alone = |_: &Parameters, stream: Stream| Ok(stream.named("cells"));
        let (rows, keys) = (some.clone(), new.keys());
        self.visit_new(visited, new, some, alone, |i, parameters, placed, stream| {
            let model = &new.model;
            let f = parameters.f(positions(&placed), &model.offset()[rows.clone()]);
            let mut replica = Replica::empty(rows.len(), model.columns());
            for (place, n) in rows.clone().enumerate() {
                replica.fill(
                    place,
                    model,
                    &parameters.theta,
                    (n, model.y().row(n)),
                    f.row(place),
                    stream.along(keys[n]),
                );
            }
            take(i, &replica);
        })
    }
}
