//! Tables of the prior, and tables that contradict one of its numbers.

use super::*;
use crate::draws::{Chains, Memory};
use crate::model::ModelSpec;
use crate::model::family::{Family, Gaussian, NegativeBinomial, Poisson};
use crate::model::priors::Centred;
use crate::model::{HalfT, Priors};
use crate::observations::{Observations, Times};
use crate::run::{Settings, run};
use crate::simulate::{blank, draw_data, draw_prior, s_curve};
use std::ops::ControlFlow;
use std::sync::Arc;

fn spec(amplitude: Option<Amplitude>) -> ModelSpec {
    ModelSpec { features: 16, priors: Priors { amplitude, ..Priors::default() }, ..ModelSpec::default() }
}

fn conflicts(model: &Model) -> Vec<Conflict> {
    let settings = Settings { warmup: 150, draws: 100, chains: 1, seed: 3, ..Settings::default() };
    let chains = run(model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(())).unwrap();
    let fitted =
        Fitted { store: &Chains(chains), model, used: &[0], modes: &[], is_pooled: false, stream: Stream::new(4) };
    fitted.conflicts(VISITED).unwrap()
}

/// The conflict about the weights, if there is one.
fn weights(found: &[Conflict]) -> Option<&Conflict> {
    found.iter().find(|conflict| conflict.assumption == Assumption::Weights)
}

#[test]
fn a_table_of_the_prior_has_no_conflicts() {
    let families: [Arc<dyn Family>; 3] =
        [Arc::new(Gaussian::default()), Arc::new(Poisson), Arc::new(NegativeBinomial::default())];
    for (seed, family) in families.into_iter().enumerate() {
        let blank = blank(40, vec![(6, family.clone())], 1, spec(None)).unwrap();
        let truth = draw_prior(&blank, Stream::new(seed as u64)).unwrap();
        let table = draw_data(&blank, &truth, Stream::new(9));
        let blocks = vec![((0..6).collect(), family)];
        let model = Model::with_blocks(Observations::new(table).unwrap(), blocks, spec(None)).unwrap();
        assert_eq!(conflicts(&model), [], "{}", model.blocks()[0].family.name());
    }
}

#[test]
fn a_strong_signal_conflicts_with_a_fixed_amplitude_and_not_with_a_learned_one() {
    let precise = Theta { values: Mat::from_fn(1, 8, |_, _| 1e4), hyper: Vec::new() };
    // σ² grows with the weights: their strength is at most about 1 + N/M, so that many rows are needed to see it.
    let curve = s_curve(100, 8, &Gaussian::default(), &precise, 1, Stream::new(1)).unwrap();
    let model =
        |amplitude| Model::new(Observations::new(curve.y.clone()).unwrap(), Gaussian::default(), spec(Some(amplitude)));
    let found = conflicts(&model(Amplitude::Fixed(1.0)).unwrap());
    let worst = weights(&found).unwrap();
    assert!(worst.is_above() && worst.outside > 4 && worst.all == 8 && worst.block == Some(0), "{worst:?}");
    // χ²₁₆/16 at 0.0625% and 99.9375%: 0.229 and 2.54.
    let [low, high] = worst.limits();
    assert!(worst.prior.is_sorted() && (low - 0.229).abs() < 0.03 && (high - 2.54).abs() < 0.15, "{worst:?}");
    let found = conflicts(&model(Amplitude::Learned(HalfT::default())).unwrap());
    assert!(weights(&found).is_none(), "{found:?}");
}

#[test]
fn counts_of_a_huge_signal_conflict_with_unit_amplitude() {
    let curve = s_curve(40, 6, &Poisson, &Theta::none(6), 1, Stream::new(2)).unwrap();
    let y = Mat::from_fn(40, 6, |n, j| (6.0 * curve.f[(n, j)]).clamp(-30.0, 14.0).exp().round());
    let found = conflicts(&Model::new(Observations::new(y).unwrap(), Poisson, spec(None)).unwrap());
    assert!(weights(&found).unwrap().is_above(), "{found:?}");
}

#[test]
fn a_smooth_path_conflicts_with_a_prior_of_short_length_scales() {
    let precise = Theta { values: Mat::from_fn(1, 8, |_, _| 100.0), hyper: Vec::new() };
    let curve = s_curve(60, 8, &Gaussian::default(), &precise, 1, Stream::new(5)).unwrap();
    let find = |length_scale| {
        let times = Times { at: curve.t.clone(), sequence: vec![0; 60] };
        let data = Observations::new(curve.y.clone()).unwrap().with_times(times).unwrap();
        let mut spec = spec(None);
        spec.priors.length_scale = length_scale;
        let found = conflicts(&Model::new(data, Gaussian::default(), spec).unwrap());
        found.into_iter().find(|conflict| conflict.assumption == Assumption::LengthScale)
    };
    let found = find(Centred { median: 0.002, sd: 0.4 }).unwrap();
    assert!(found.is_above() && found.block.is_none() && found.all == 2, "{found:?}");
    assert_eq!(find(Priors::default().length_scale), None);
}

#[test]
fn columns_share_the_hundredth() {
    let kind = Kind { assumption: Assumption::Weights, block: Some(0), places: vec![3, 5] };
    let prior: Vec<f64> = (0..=1000).map(f64::from).collect();
    assert_eq!(compare(&kind, &prior, &[3.0, 997.0]), None);
    let found = compare(&kind, &prior, &[500.0, 998.0]).unwrap();
    assert_eq!((found.all, found.outside, found.worst, found.is_above()), (2, 1, 5, true));
    assert_eq!(found.prior, [2.5, 50.0, 500.0, 950.0, 997.5]);
    assert!(!compare(&kind, &prior, &[2.0, 998.0]).unwrap().limits().contains(&998.0));
}
