//! Chains that begin at different starts. The posterior has several modes, and a chain stays near the one in which it begins: chains from one start agree
//! with one another and not with the posterior. Together, chains from several starts show how far it reaches.

use super::modes::Start;
use super::settings::Settings;
use crate::error::NumericalError;
use crate::init::{Init, graph, principal_scores};
use crate::linalg::Mat;
use crate::model::Model;
use crate::rng::Stream;

/// Where chains begin if each has its own start.
pub(super) struct Spread {
    /// Rows as points, whose neighbours make the graphs.
    points: Mat,
    seed: u64,
}

impl Spread {
    /// `None` if chains begin otherwise.
    pub fn new(model: &Model, settings: &Settings) -> Option<Self> {
        let stream = Stream::new(settings.seed).named("spread");
        (settings.init == Init::Spread)
            .then(|| Spread { points: graph::points(model, &mut stream.named("points").rng()), seed: settings.seed })
    }

    /// X of a chain, and the chain's stream.
    pub fn positions(&self, model: &Model, chain: usize) -> Result<(Mat, Stream), NumericalError> {
        let stream = Stream::new(self.seed).named("spread").at(chain as u64);
        // A graph in pieces has no eigenmaps; then principal components do.
        let own = Start::of_chain(model, chain).positions(model, &self.points, stream)?;
        Ok((own.unwrap_or_else(|| principal_scores(model, &mut stream.named("positions").rng())), stream))
    }
}

/// The name of a chain's start.
pub fn start_of(model: &Model, chain: usize) -> String {
    Start::of_chain(model, chain).name()
}
