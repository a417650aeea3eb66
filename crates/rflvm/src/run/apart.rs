//! Chains that run apart, such as on several machines, and come together only where they exchange states. Each is passed on as its snapshot, so
//! draws are identical to those of a run in one place.

use super::chain::Snapshot;
use super::chains::{Progress, Run};
use super::exchange_state::{Exchanges, Replaced, replaced};
use super::modes::{Found, Stop};
use super::settings::Settings;
use crate::draws::Draws;
use crate::error::RunError;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// All chains at their start.
#[derive(Debug, Serialize, Deserialize)]
pub struct Started {
    /// The chains.
    pub chains: Vec<Snapshot>,
    /// The modes that the search has found.
    pub found: Vec<Found>,
}

/// Initialises all chains, with the search for modes that they share; `None` if `stop` says so.
pub fn start(model: &Model, settings: &Settings, stop: &Stop<'_>) -> Result<Option<Started>, RunError> {
    let run = Run::start_unless(model, settings, None, stop)?;
    Ok(run.map(|run| {
        let found = run.modes().found.clone();
        Started { chains: run.into_snapshots(), found }
    }))
}

/// The sweep up to which a chain runs without the others: its next exchange, or its end.
pub fn until(model: &Model, settings: &Settings, at: &Snapshot) -> u64 {
    Exchanges::new(model, settings).after(at.exchange().exchanged).unwrap_or(settings.sweeps())
}

/// Continues chain number `chain` without the others, at most up to [`until`].
pub fn advance(
    model: &Model,
    settings: &Settings,
    chain: usize,
    at: Snapshot,
    sink: &mut (impl Draws + Send),
    watch: impl Fn(Progress<'_>) -> ControlFlow<()> + Sync,
) -> Result<Snapshot, RunError> {
    let mut run = Run::resume_one(model, settings, chain, at)?;
    run.go_to_exchange(std::slice::from_mut(sink), &watch)?;
    // There is one chain.
    Ok(run.into_snapshots().remove(0))
}

/// Lets all chains exchange states, if all have come to their next exchange. Returns them, and whether they have.
pub fn exchange(model: &Model, settings: &Settings, chains: Vec<Snapshot>) -> Result<(Vec<Snapshot>, bool), RunError> {
    let mut run = Run::resume(model, settings, chains, None)?;
    let have_exchanged = run.exchange();
    Ok((run.into_snapshots(), have_exchanged))
}

/// The chains of a mode that continued from the state of another, in the order of the sweeps.
pub fn all_replaced(chains: &[Snapshot], mode: usize) -> Vec<Replaced> {
    replaced(chains.iter().map(Snapshot::exchange), mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::draws::Memory;
    use crate::linalg::Mat;
    use crate::model::ModelSpec;
    use crate::model::family::Gaussian;
    use crate::observations::Observations;
    use crate::rng::Stream;

    #[test]
    fn chains_that_run_apart_in_short_legs_give_the_draws_of_a_run_in_one_place() {
        let noise = normals(320, &mut Stream::new(1).rng());
        let wave = |n: usize, j: usize| (0.15 * n as f64 + j as f64).sin() + 0.1 * noise[8 * n + j];
        let spec = ModelSpec { features: 20, ..ModelSpec::default() };
        let data = Observations::new(Mat::from_fn(40, 8, wave)).unwrap();
        let model = Model::new(data, Gaussian::default(), spec).unwrap();
        // With a search, and three exchanges.
        let settings = Settings {
            warmup: 200,
            draws: 6,
            chains: 3,
            seed: 1,
            threads: 1,
            init: crate::Init::Search,
            init_effort: 1.0,
            ..Settings::default()
        };
        let whole = super::super::run(&model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(())).unwrap();

        let Started { mut chains, found } = start(&model, &settings, &|| false).unwrap().unwrap();
        assert!(!found.is_empty());
        let mut sinks = vec![Memory::default(); settings.chains];
        let mut exchanges = 0;
        while chains.iter().any(|at| at.done() < settings.sweeps()) {
            for chain in 0..settings.chains {
                let end = until(&model, &settings, &chains[chain]);
                while chains[chain].done() < end {
                    let segment = chains[chain].done() + 17;
                    let watch = |p: Progress<'_>| {
                        assert_eq!(p.chain, chain);
                        if p.sweep >= segment { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    };
                    let at = chains[chain].clone();
                    chains[chain] = advance(&model, &settings, chain, at, &mut sinks[chain], watch).unwrap();
                }
            }
            let (exchanged, have_exchanged) = exchange(&model, &settings, chains).unwrap();
            chains = exchanged;
            exchanges += usize::from(have_exchanged);
        }
        assert_eq!(exchanges, 3);
        for (whole, apart) in whole.iter().zip(&sinks) {
            assert!(whole.numbers().count() > 0 && whole.numbers().eq(apart.numbers()));
        }
    }
}
