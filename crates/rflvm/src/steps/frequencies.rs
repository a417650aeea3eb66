//! W: one frequency at a time, prior N(μ_z, Σ_z) times likelihood. A new w_l changes two columns of Φ, so
//! F' = F + Δsin β_lᵀ + Δcos β_{L+l}ᵀ costs O(NJ), never O(NMJ).

use super::{FrequencyMove, Moves, SweepInfo};
use crate::error::NumericalError;
use crate::model::family::Shift;
use crate::model::features::Pair;
use crate::model::{Model, State};
use crate::par;
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
    let mut new = Pair::new(rows);
    let mut ln_lik = model.ln_lik(state);
    let (mut made, mut tries, mut moved) = (0, 0, 0);
    for l in (0..frequencies).filter(|&l| stream.at(l as u64).is_chosen(moves.share())) {
        if !ln_lik.is_finite() {
            let place = format!("frequency {}", l + 1);
            return Err(NumericalError::NotFinite { step: "frequencies", value: ln_lik, place });
        }
        let rng = &mut stream.at(l as u64).rng();
        let price = |w: &[f64]| shifted_ln_lik(model, state, l, w, &mut new);
        let landing = propose(state, moves.frequencies, l, ln_lik, rng, price);
        made += 1;
        tries += landing.tries;
        if let Some(w) = landing.w {
            commit(state, l, &w, &new);
            ln_lik = landing.ln_lik;
            moved += 1;
        }
    }
    info.frequency_tries = f64::from(tries) / f64::from(made.max(1));
    info.frequency_moves = f64::from(moved) / f64::from(made.max(1));
    Ok(())
}

/// Where a frequency has moved, if it has.
pub(crate) struct MovedFrequency {
    pub w: Option<Vec<f64>>,
    pub ln_lik: f64,
    pub tries: u32,
}

/// A move of frequency l from log-likelihood `ln_lik`, `price` being that of other frequencies.
pub(crate) fn propose<R: Rng + ?Sized>(
    state: &State,
    how: FrequencyMove,
    l: usize,
    ln_lik: f64,
    rng: &mut R,
    mut price: impl FnMut(&[f64]) -> f64,
) -> MovedFrequency {
    let cluster = state.spectral.cluster(l);
    let at = state.features.w().row(l);
    let auxiliary = cluster.centred_draw(rng);
    let candidate = |cos: f64, sin: f64| -> Vec<f64> {
        let around = cluster.mu.iter().zip(at).zip(&auxiliary);
        around.map(|((mu, w), nu)| mu + cos * (w - mu) + sin * nu).collect()
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

/// The log-likelihood if frequency l were `w`, with its columns in `new`.
fn shifted_ln_lik(model: &Model, state: &State, l: usize, w: &[f64], new: &mut Pair) -> f64 {
    let (u, v) = (state.beta.row(l), state.beta.row(state.features.frequencies() + l));
    par::rows(new.tables(), 64, |first, tables| {
        state.features.pair(w, first, tables);
        0.0
    });
    model.sum_cells(model.rows(), 2, |n, some| {
        let old = state.features.current_pair(l, n);
        let shift = Shift { a: new.sin[n] - old.0, u, b: new.cos[n] - old.1, v };
        model.ln_lik_cells_shifted(&state.theta, n, some, state.f.row(n), shift)
    })
}

fn commit(state: &mut State, l: usize, w: &[f64], new: &Pair) {
    let State { features, beta, f, .. } = state;
    let (u, v) = (beta.row(l), beta.row(features.frequencies() + l));
    let columns = f.cols();
    par::rows([(f.as_mut_slice(), columns)], columns, |first, [f]| {
        for (n, f) in (first..).zip(f.chunks_exact_mut(columns)) {
            let (sin, cos) = features.current_pair(l, n);
            simd::axpy2(new.sin[n] - sin, u, new.cos[n] - cos, v, f);
        }
        0.0
    });
    features.set_pair(l, w, new);
}

/// ln p(w_l' | rest) − ln p(w_l | rest): the target of the slice, prior included. For identity tests.
pub fn ln_ratio(model: &Model, state: &State, l: usize, w: &[f64]) -> f64 {
    let mut new = Pair::new(model.rows());
    let cluster = state.spectral.cluster(l);
    shifted_ln_lik(model, state, l, w, &mut new) - model.ln_lik(state) + cluster.ln_density(w)
        - cluster.ln_density(state.features.w().row(l))
}
