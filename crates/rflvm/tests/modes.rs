//! Several modes in memory: predictions are their weighted combination, positions are those of the first.

use crate::curve;
use rflvm::internal::draws::Memory;
use rflvm::internal::posterior::Posterior;
use rflvm::internal::run::{Settings, run};
use std::ops::ControlFlow;

#[test]
fn imputed_means_are_the_weighted_means_of_the_modes() {
    let model = curve::model("poisson", true);
    // Chains of any two modes: here the four begin alike, and their predictions differ by chance.
    let settings = Settings { warmup: 20, draws: 20, chains: 4, seed: 5, ..Settings::default() };
    let chains = run(&model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(())).unwrap();
    let modes = [vec![0, 1], vec![2, 3]];
    let of = |modes: &[Vec<usize>]| Posterior::of_modes(model.clone(), chains.clone(), modes, 1).unwrap();
    let (both, one, two) = (of(&modes), of(&modes[..1]), of(&modes[1..]));
    // A single mode has all the weight, and is what its chains alone give.
    assert_eq!(one.modes()[0].weight, 1.0);
    let alone = Posterior::new(model.clone(), chains[..2].to_vec(), 1).unwrap();
    assert_eq!(one.impute().unwrap(), alone.impute().unwrap());
    assert_eq!(both.embedding().unwrap().mean.as_slice(), alone.embedding().unwrap().mean.as_slice());
    assert_ne!(two.embedding().unwrap().mean.as_slice(), alone.embedding().unwrap().mean.as_slice());
    assert_eq!(both.convergence(), alone.convergence());
    let weights: Vec<f64> = both.modes().iter().map(|mode| mode.weight).collect();
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{weights:?}");
    // Draws come in whole numbers, so weights are met to within one of the draws that are used; and those of a mode with a small weight
    // are only some of its draws, whose mean has an error.
    let draws =
        both.modes().iter().map(|mode| (20 * mode.used.len()) as f64 / mode.weight).fold(f64::INFINITY, f64::min);
    let cells = both.impute().unwrap();
    let parts = (one.impute().unwrap(), two.impute().unwrap());
    assert!(!cells.is_empty());
    for ((cell, a), b) in cells.iter().zip(&parts.0).zip(&parts.1) {
        let expected = weights[0] * a.predicted.mean + weights[1] * b.predicted.mean;
        let (apart, sd) = ((a.predicted.mean - b.predicted.mean).abs(), a.predicted.sd.max(b.predicted.sd));
        let thinned = weights.iter().copied().fold(1.0, f64::min).sqrt() * sd / draws.sqrt();
        assert!((cell.predicted.mean - expected).abs() <= apart / draws + 5.0 * thinned, "{cell:?}, {expected}");
    }
}
