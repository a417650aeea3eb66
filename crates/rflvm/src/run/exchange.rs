//! Chains of one mode exchange states during warm-up: a chain whose neighbourhood has clearly less posterior mass than that of the best continues from
//! the best one's state, with its own random streams.
//!
//! A mode has more than one place where a chain can settle: which column is fitted almost exactly, on which side of a curve some rows lie.
//! Chains leave such places in hundreds of sweeps or never, and the places differ by tens or hundreds of nats. Warm-up is there to find the
//! best; left alone, each chain finds one by itself. The draws come after the last exchange, each chain on its own.

use super::chain::Chain;
use super::exchange_state::Replaced;

/// A chain joins the best one if its evidence is lower by this many standard errors of their difference, and by more than the entropies of two
/// chains of the same mode differ by chance.
const CLEARLY: f64 = 2.0;

/// Lets the chains of each mode exchange states.
pub(super) fn exchange(chains: &mut [Chain<'_>]) {
    let found: Vec<(f64, f64)> = chains.iter().map(|chain| chain.exchange().burst.compared()).collect();
    let known = |chain: usize| found[chain].0.is_finite() && found[chain].1.is_finite();
    let modes: Vec<usize> = chains.iter().map(|chain| chain.exchange().mode).collect();
    let best = |mode: usize| {
        let own = (0..modes.len()).filter(|&chain| modes[chain] == mode && known(chain));
        own.max_by(|&a, &b| found[a].0.total_cmp(&found[b].0))
    };
    for chain in 0..chains.len() {
        let of = best(modes[chain]).filter(|&of| known(chain) && of != chain);
        if let Some(of) = of {
            let (below, error) = (found[of].0 - found[chain].0, found[of].1.hypot(found[chain].1));
            if below > (CLEARLY * error).max(chains[chain].exchange().burst.chance()) {
                let replaced = Replaced { sweep: chains[of].done(), chain, of, below };
                let best = chains[of].snapshot().clone();
                chains[chain].replace(&best, replaced);
            }
        }
    }
    for chain in chains {
        chain.leave_exchange();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::plain::OnHost;
    use crate::dist::normals;
    use crate::draws::Memory;
    use crate::init::start;
    use crate::linalg::Mat;
    use crate::model::family::Gaussian;
    use crate::model::{Model, ModelSpec, State};
    use crate::observations::Observations;
    use crate::rng::Stream;
    use crate::run::Run;
    use crate::run::Settings;
    use crate::run::exchange_state::Exchanges;
    use crate::table::{Host, Remote, Table};
    use std::ops::ControlFlow;

    fn model() -> Model {
        // Waves along a line, with noise.
        let noise = normals(320, &mut Stream::new(1).rng());
        let wave = |n: usize, j: usize| (0.15 * n as f64 + j as f64).sin() + 0.1 * noise[8 * n + j];
        let spec = ModelSpec { features: 20, ..ModelSpec::default() };
        Model::new(Observations::new(Mat::from_fn(40, 8, wave)).unwrap(), Gaussian::default(), spec).unwrap()
    }

    fn settings() -> Settings {
        Settings {
            warmup: 200,
            draws: 4,
            chains: 3,
            seed: 1,
            threads: 1,
            init: crate::Init::Search,
            init_effort: 1.0,
            ..Settings::default()
        }
    }

    #[test]
    fn a_chain_in_a_poor_place_continues_from_the_best_one_with_its_own_randomness() {
        let (model, settings) = (model(), settings());
        let here = || -> Box<dyn Table> { Box::new(Host::default()) };
        let there = || -> Box<dyn Table> { Box::new(Remote(Box::new(OnHost::new(&model)))) };
        for table in [&here as &dyn Fn() -> Box<dyn Table>, &there] {
            exchanges_at(&model, |chain, state| Chain::at(&model, &settings, chain, state, table()).unwrap());
        }
    }

    fn exchanges_at<'a>(model: &'a Model, at: impl Fn(usize, State) -> Chain<'a>) {
        let settings = settings();
        let good = start(&mut Host::default(), model, settings.init, Stream::new(2)).unwrap();
        let mut poor = good.clone();
        // Rows in the wrong order, far from where the sampler would find its way in a few sweeps.
        let x = good.features.x();
        let shuffled = Mat::from_fn(x.rows(), x.cols(), |n, d| x[(n * 17 % x.rows(), d)]);
        poor.features.set(shuffled.as_slice(), good.features.w().as_slice());
        poor.refresh(model);
        // The third chain samples another mode, and is left alone.
        let states = [poor.clone(), good, poor];
        let mut chains: Vec<Chain<'_>> = states.into_iter().enumerate().map(|(i, state)| at(i, state)).collect();
        chains[2].belongs_to(1);
        let next = chains[0].next_exchange().unwrap();
        for chain in &mut chains {
            while chain.done() < next {
                chain.advance().unwrap();
            }
        }
        exchange(&mut chains);
        let [replaced] = chains[0].exchange().replaced[..] else { panic!("{:?}", chains[0].exchange().replaced) };
        assert!((replaced.sweep, replaced.chain, replaced.of) == (next, 0, 1) && replaced.below > 0.0, "{replaced:?}");
        assert!(chains[1].exchange().replaced.is_empty() && chains[2].exchange().replaced.is_empty());
        assert_eq!(chains[0].state().features.x(), chains[1].state().features.x());
        assert!(chains.iter().all(|chain| chain.next_exchange() == Some(2 * next)));
        for chain in &mut chains {
            chain.advance().unwrap();
        }
        assert_ne!(chains[0].state().features.x(), chains[1].state().features.x());
    }

    #[test]
    fn a_run_that_is_stopped_between_and_at_exchanges_gives_the_same_draws() {
        let (model, settings) = (model(), settings());
        let run = |stops: &[u64]| {
            let mut run = Run::start(&model, &settings, None).unwrap();
            let mut sinks = vec![Memory::default(); settings.chains];
            for &stop in stops.iter().chain(&[u64::MAX]) {
                let watch = |p: crate::run::Progress<'_>| {
                    if p.sweep >= stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                run.go_on(&mut sinks, watch).unwrap();
                let snapshots = run.chains().iter().map(|chain| chain.snapshot().clone()).collect();
                run = Run::resume(&model, &settings, snapshots, None).unwrap();
            }
            sinks
        };
        let (whole, stopped) = (run(&[]), run(&[44, 50, 51, 149]));
        for (whole, stopped) in whole.iter().zip(&stopped) {
            assert!(whole.numbers().count() > 0 && whole.numbers().eq(stopped.numbers()));
        }
    }

    #[test]
    fn chains_meet_three_times_and_only_if_a_search_has_put_several_into_one_map() {
        let model = model();
        let of = |settings: Settings| {
            (0..4).map(|exchanged| Exchanges::new(&model, &settings).after(exchanged)).collect::<Vec<_>>()
        };
        assert_eq!(of(settings()), [Some(50), Some(100), Some(150), None]);
        for alone in [
            Settings { chains: 1, ..settings() },
            Settings { modes: 3, ..settings() },
            Settings { warmup: 199, ..settings() },
            Settings { init: crate::Init::Pca, ..settings() },
        ] {
            assert_eq!(of(alone), [None; 4]);
        }
    }
}
