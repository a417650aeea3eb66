//! A chain that explores one mode, and what it has found.

use super::evidence::Burst;
use super::found::Found;
use super::start::Start;
use crate::error::NumericalError;
use crate::init::graph::continuity;
use crate::linalg::Mat;
use crate::model::{Model, State};
use crate::posterior::align::align;
use crate::rng::Stream;
use crate::run::chain::Chain;

/// Whether a search should stop.
pub type Stop<'a> = dyn Fn() -> bool + Sync + 'a;

/// Neighbours by which continuity is judged.
const NEIGHBOURS: usize = 15;

/// One start, its chain, and what the chain has drawn in its last burst.
pub(super) struct Candidate<'a> {
    start: Start,
    chain: Chain<'a>,
    burst: Burst,
    /// X of some draws.
    positions: Vec<Mat>,
    /// As many of these draws as chains of the run need: a state is as large as the table.
    pub states: Vec<State>,
}

impl<'a> Candidate<'a> {
    pub fn new(start: Start, chain: Chain<'a>) -> Self {
        Candidate { start, chain, burst: Burst::default(), positions: Vec::new(), states: Vec::new() }
    }

    /// Runs a burst, of which the later two thirds count, and keeps at most `keep` states.
    pub fn go_on(
        &mut self,
        model: &Model,
        (sweeps, keep): (u64, usize),
        stream: Stream,
        stop: &Stop<'_>,
    ) -> Result<(), NumericalError> {
        (self.burst, self.positions, self.states) = (Burst::default(), Vec::new(), Vec::new());
        for sweep in 0..sweeps {
            if stop() {
                break;
            }
            self.chain.advance()?;
            if 3 * sweep < sweeps {
                continue;
            }
            let data = self.chain.ln_data()?;
            let state = self.chain.state();
            self.burst.push(model, state, data, &mut stream.named("noise").at(sweep).rng())?;
            if (sweeps - 1 - sweep).is_multiple_of((sweeps / 8).max(1)) {
                self.positions.push(state.features.x().clone());
                if self.states.len() < keep {
                    self.states.push(state.clone());
                }
            }
        }
        Ok(())
    }

    pub fn found(&self, points: &Mat) -> Found {
        let positions = align(&self.positions.iter().collect::<Vec<_>>()).mean;
        let (evidence, error) = self.burst.evidence();
        let (continuity, trustworthiness) = continuity(points, &positions, NEIGHBOURS);
        let (start, chains, replaced) = (self.start.name(), Vec::new(), Vec::new());
        Found { start, evidence, error, continuity, trustworthiness, positions, chains, replaced }
    }
}
