//! Positions from which chains begin, and modes are sought.

use crate::error::NumericalError;
use crate::init::graph::{self, Graph};
use crate::init::{lift, principal_scores, wide_scores};
use crate::linalg::Mat;
use crate::model::Model;
use crate::rng::Stream;

/// How X starts.
#[derive(Debug, Clone, Copy)]
pub(in crate::run) enum Start {
    Pca,
    Isomap(usize),
    Eigenmaps(usize),
    /// Principal components in this many axes more than the model has, which are then given up.
    Lifted(usize),
    /// The same from Isomap with 20 neighbours.
    LiftedIsomap(usize),
}

/// A table with more cells than this has no start in more axes: it would take as long as a hundred sweeps.
const MOST_LIFTED: usize = 1_000_000;

impl Start {
    pub fn name(self) -> String {
        match self {
            Start::Pca => "principal components".into(),
            Start::Isomap(k) => format!("Isomap, {k} neighbours"),
            Start::Eigenmaps(k) => format!("Laplacian eigenmaps, {k} neighbours"),
            Start::Lifted(extra) => format!("principal components, {extra} more axes"),
            Start::LiftedIsomap(extra) => format!("Isomap, {extra} more axes"),
        }
    }

    /// X, its widest axis with unit variance; `None` if the table is too large for it.
    pub fn positions(self, model: &Model, points: &Mat, stream: Stream) -> Result<Option<Mat>, NumericalError> {
        let (dim, rng) = (model.latent_dim(), &mut stream.named("positions").rng());
        Ok(match self {
            Start::Pca => Some(principal_scores(model, rng)),
            Start::Isomap(k) => Some(graph::isomap(&Graph::new(points, k), dim, rng)),
            Start::Eigenmaps(k) => graph::eigenmaps(&Graph::new(points, k), dim, rng),
            Start::Lifted(extra) => {
                let x = wide_scores(model, dim + extra, rng);
                Some(lift::lowered(model, x, stream.named("lowered"), rng)?)
            }
            Start::LiftedIsomap(extra) => {
                let x = graph::isomap(&Graph::new(points, 20), dim + extra, rng);
                Some(lift::lowered(model, x, stream.named("lowered"), rng)?)
            }
        })
    }

    /// That of a chain, if each has its own start.
    pub fn of_chain(model: &Model, chain: usize) -> Start {
        // On S-shaped curves fits in one more axis, and graphs of many neighbours, have the highest continuity.
        let all = [
            Start::Lifted(1),
            Start::Isomap(40),
            Start::Pca,
            Start::Lifted(2),
            Start::Isomap(20),
            Start::Eigenmaps(20),
            Start::LiftedIsomap(2),
            Start::Isomap(10),
            Start::Eigenmaps(10),
        ];
        let possible: Vec<Start> = all.into_iter().filter(|start| start.is_possible(model)).collect();
        possible[chain % possible.len()]
    }

    /// Whether it makes sense for a table.
    fn is_possible(self, model: &Model) -> bool {
        let (rows, cells) = (model.rows(), model.rows() * model.all_columns());
        let has_graph = |k: usize| 3 * k < rows && rows <= graph::MOST_ROWS;
        // Columns are fewer than the axes would be, or rows lie along paths, which have as many axes as the model.
        let has_lift = |extra: usize| {
            model.dynamics().is_none()
                && cells <= MOST_LIFTED
                && model.latent_dim() + extra < model.all_columns().min(rows)
        };
        match self {
            Start::Pca => true,
            Start::Isomap(k) | Start::Eigenmaps(k) => has_graph(k),
            Start::Lifted(extra) => has_lift(extra),
            Start::LiftedIsomap(extra) => has_lift(extra) && has_graph(20),
        }
    }
}

/// The starts of a search.
pub(super) fn portfolio(model: &Model) -> Vec<Start> {
    let starts = [Start::Pca, Start::Isomap(10), Start::Isomap(20), Start::Isomap(40), Start::Eigenmaps(20)];
    starts.into_iter().filter(|start| start.is_possible(model)).collect()
}
