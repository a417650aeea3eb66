//! W: one frequency at a time, prior N(μ_z, Σ_z) times likelihood. A new w_l changes two columns of Φ, so
//! F' = F + Δsin β_lᵀ + Δcos β_{L+l}ᵀ costs O(NJ), never O(NMJ).

use super::{FrequencyMove, Moves, SweepInfo};
use crate::error::NumericalError;
use crate::model::family::Shift;
use crate::model::features::Pair;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::simd;
use crate::slice;
use rand::{Rng, RngExt};

/// Moves each frequency, or a fraction of them, in turn.
pub fn update(
    model: &Model,
    state: &mut State,
    moves: Moves,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let frequencies = state.features.frequencies();
    let rows = model.rows();
    let (mut old, mut new) = (Pair::new(rows), Pair::new(rows));
    let mut ln_lik = model.ln_lik(state);
    let (mut made, mut tries, mut moved) = (0, 0, 0);
    for l in (0..frequencies).filter(|&l| stream.at(l as u64).is_chosen(moves.share())) {
        if !ln_lik.is_finite() {
            let place = format!("frequency {}", l + 1);
            return Err(NumericalError::NotFinite { step: "frequencies", value: ln_lik, place });
        }
        let rng = &mut stream.at(l as u64).rng();
        state.features.current_pair(l, &mut old);
        let landing = propose(model, state, moves.frequencies, l, (&old, &mut new), ln_lik, rng);
        made += 1;
        tries += landing.tries;
        if let Some(w) = landing.w {
            commit(state, l, &w, &old, &new);
            ln_lik = landing.ln_lik;
            moved += 1;
        }
    }
    info.frequency_tries = f64::from(tries) / f64::from(made.max(1));
    info.frequency_moves = f64::from(moved) / f64::from(made.max(1));
    Ok(())
}

struct MovedFrequency {
    w: Option<Vec<f64>>,
    ln_lik: f64,
    tries: u32,
}

fn propose<R: Rng + ?Sized>(
    model: &Model,
    state: &State,
    how: FrequencyMove,
    l: usize,
    (old, new): (&Pair, &mut Pair),
    ln_lik: f64,
    rng: &mut R,
) -> MovedFrequency {
    let cluster = state.spectral.cluster(l);
    let at = state.features.w().row(l);
    let auxiliary = cluster.centred_draw(rng);
    let candidate = |cos: f64, sin: f64| -> Vec<f64> {
        let around = cluster.mu.iter().zip(at).zip(&auxiliary);
        around.map(|((mu, w), nu)| mu + cos * (w - mu) + sin * nu).collect()
    };
    let mut price = |w: &[f64]| {
        state.features.pair(w, new);
        shifted_ln_lik(model, state, l, old, new)
    };
    match how {
        FrequencyMove::Slice => {
            let landing = slice::elliptical(rng, ln_lik, |cos, sin| price(&candidate(cos, sin)));
            let w = (landing.sin != 0.0).then(|| candidate(landing.cos, landing.sin));
            MovedFrequency { w, ln_lik: landing.ln_lik, tries: landing.tries }
        }
        FrequencyMove::Metropolis => {
            let w = candidate(0.0, 1.0);
            let proposed = price(&w);
            let accept = rng.random::<f64>().ln() < proposed - ln_lik;
            MovedFrequency { w: accept.then_some(w), ln_lik: proposed, tries: 1 }
        }
    }
}

/// The log-likelihood if frequency l had the columns `new`.
fn shifted_ln_lik(model: &Model, state: &State, l: usize, old: &Pair, new: &Pair) -> f64 {
    let (u, v) = (state.beta.row(l), state.beta.row(state.features.frequencies() + l));
    let of_row = |n: usize| -> f64 {
        let (a, b) = (new.sin[n] - old.sin[n], new.cos[n] - old.cos[n]);
        let of_block = |(block, theta): (&crate::model::Block, _)| {
            let columns = block.columns.clone();
            let shift = Shift { a, u: &u[columns.clone()], b, v: &v[columns.clone()] };
            block.family.ln_lik_shifted(model.row(block, n, theta), &state.f.row(n)[columns], shift)
        };
        model.blocks().iter().zip(&state.theta).map(of_block).sum()
    };
    crate::par::sum(model.rows(), 2 * model.columns(), |rows| rows.map(of_row).sum())
}

fn commit(state: &mut State, l: usize, w: &[f64], old: &Pair, new: &Pair) {
    let (u, v) = (state.beta.row(l), state.beta.row(state.features.frequencies() + l));
    for n in 0..state.f.rows() {
        simd::axpy2(new.sin[n] - old.sin[n], u, new.cos[n] - old.cos[n], v, state.f.row_mut(n));
    }
    state.features.set_pair(l, w, new);
}

/// ln p(w_l' | rest) − ln p(w_l | rest): the target of the slice, prior included. For identity tests.
pub fn ln_ratio(model: &Model, state: &State, l: usize, w: &[f64]) -> f64 {
    let (mut old, mut new) = (Pair::new(model.rows()), Pair::new(model.rows()));
    state.features.current_pair(l, &mut old);
    state.features.pair(w, &mut new);
    let cluster = state.spectral.cluster(l);
    shifted_ln_lik(model, state, l, &old, &new) - model.ln_lik(state) + cluster.ln_density(w)
        - cluster.ln_density(state.features.w().row(l))
}
