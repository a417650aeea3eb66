//! Positions from which maps are sought.

use crate::init::graph::{self, Graph};
use crate::init::principal_scores;
use crate::linalg::Mat;
use crate::model::Model;
use crate::rng::Stream;

/// How X starts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Start {
    Pca,
    Isomap(usize),
    Eigenmaps(usize),
}

impl Start {
    pub fn name(self) -> String {
        match self {
            Start::Pca => "principal components".into(),
            Start::Isomap(k) => format!("Isomap, {k} neighbours"),
            Start::Eigenmaps(k) => format!("Laplacian eigenmaps, {k} neighbours"),
        }
    }

    /// X, its widest axis with unit variance; `None` if the table is too large for it.
    pub fn positions(self, model: &Model, points: &Mat, stream: Stream) -> Option<Mat> {
        let (dim, rng) = (model.latent_dim(), &mut stream.named("positions").rng());
        match self {
            Start::Pca => Some(principal_scores(model, rng)),
            Start::Isomap(k) => Some(graph::isomap(&Graph::new(points, k), dim, rng)),
            Start::Eigenmaps(k) => graph::eigenmaps(&Graph::new(points, k), dim, rng),
        }
    }
}

/// The starts that make sense for this many rows.
pub(super) fn portfolio(rows: usize) -> Vec<Start> {
    let starts = [Start::Pca, Start::Isomap(10), Start::Isomap(20), Start::Isomap(40), Start::Eigenmaps(20)];
    let is_possible = |start: &Start| match *start {
        Start::Pca => true,
        Start::Isomap(k) | Start::Eigenmaps(k) => 3 * k < rows && rows <= graph::MOST_ROWS,
    };
    starts.into_iter().filter(is_possible).collect()
}
