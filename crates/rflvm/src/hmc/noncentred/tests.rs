//! The gradient against difference quotients.

use super::*;
use crate::hmc::flow::Flowing;
use crate::hmc::frequencies::FrequencyPrior;
use crate::hmc::hamiltonian::Potential;
use crate::model::ModelSpec;
use crate::model::family::{Family, Multinomial, NegativeBinomial, Poisson};
use crate::observations::{Observations, Offset};
use crate::rng::Stream;

fn check(family: impl Family + 'static) {
    let y = Mat::from_fn(9, 4, |n, j| ((n * 7 + j * j * 3) % 5) as f64 * (1 + 3 * j) as f64 + (j == 0) as u32 as f64);
    let spec = ModelSpec { features: 6, ..ModelSpec::default() };
    let data = Observations::new(y).unwrap().with_offset(Offset::SizeFactors).unwrap();
    let model = Model::new(data, family, spec).unwrap();
    let mut state = crate::simulate::draw_prior(&model, Stream::new(3)).unwrap();
    // Moderate weights: where e^f is huge, a difference quotient does not approximate the derivative.
    state.beta.as_mut_slice().iter_mut().for_each(|b| *b *= 0.4);
    state.refresh(&model);
    let reference = Reference::new(&model, &state.theta, model.known(&state), &mut state.f.clone());
    let tau2 = [1.0, 20.0, 0.2, 1.0];
    let lent = state.clone().lend();
    let fixed = Fixed { theta: &state.theta, tau2: &tau2, known: model.known(&state), plain: state.features.plain() };
    let frequencies = FrequencyPrior::integrated(&model.spec().kernel, &state.spectral);
    let workspace = Workspace::default();
    let mut flow = Noncentred::new(&model, fixed, &reference, lent, workspace);
    assert!(flow.groups.len() > 1);
    let (mut target, q) = Flowing::new(&mut flow, (frequencies, None), &state, &mut Stream::new(8).rng());
    let mut g = vec![0.0; q.len()];
    assert!(target.evaluate(&q, &mut g).is_finite());
    let mut beta = state.beta.clone();
    target.flow.beta(&mut beta);
    beta.as_slice().iter().zip(state.beta.as_slice()).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
    // Momenta of zero after one kick are the gradient.
    target.flow.turning().into_iter().for_each(|(_, momenta)| momenta.fill(0.0));
    target.kick(1.0);
    let turning: Vec<Vec<f64>> = target.flow.turning().into_iter().map(|(_, momenta)| momenta.to_vec()).collect();
    let mut unused = g.clone();
    let check = |coordinate: usize, slope: f64, g: f64| {
        assert!((slope - g).abs() < 1e-5 * (1.0 + g.abs()), "{coordinate}: {slope} for {g}");
    };
    for i in 0..q.len() {
        let mut at = |step: f64| {
            let mut q = q.clone();
            q[i] += step;
            target.evaluate(&q, &mut unused)
        };
        check(i, (at(1e-5) - at(-1e-5)) / 2e-5, g[i]);
    }
    for (part, gradient) in turning.iter().enumerate() {
        for (i, &g) in gradient.iter().enumerate() {
            let mut at = |step: f64| {
                target.flow.turning()[part].0[i] += step;
                let value = target.evaluate(&q, &mut unused);
                target.flow.turning()[part].0[i] -= step;
                value
            };
            check(i, (at(1e-5) - at(-1e-5)) / 2e-5, g);
        }
    }
}

#[test]
fn the_gradient_is_the_slope_of_the_density_and_the_map_can_be_undone() {
    check(Poisson);
    check(NegativeBinomial::default());
    check(Multinomial);
}
