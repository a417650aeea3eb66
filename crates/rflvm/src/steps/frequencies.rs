//! W: one frequency at a time, prior N(μ_z, Σ_z) times likelihood. A new w_l changes two columns of Φ only.

use super::{FrequencyMove, Moves, SweepInfo};
use crate::error::NumericalError;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::slice;
use crate::table::{Host, Table};
use rand::{Rng, RngExt};

/// Moves each frequency, or a fraction of them, in turn.
pub fn update(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    moves: Moves,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let frequencies = state.features.frequencies();
    let mut ln_lik = table.ln_lik(model, state);
    let (mut made, mut tries, mut moved) = (0, 0, 0);
    for l in (0..frequencies).filter(|&l| stream.at(l as u64).is_chosen(moves.share())) {
        table.check()?;
        if !ln_lik.is_finite() {
            let place = format!("frequency {}", l + 1);
            return Err(NumericalError::NotFinite { step: "frequencies", value: ln_lik, place });
        }
        let rng = &mut stream.at(l as u64).rng();
        let price = |w: &[f64]| table.ln_lik_frequency(model, state, l, w);
        let landing = propose(state, moves.frequencies, l, ln_lik, rng, price);
        made += 1;
        tries += landing.tries;
        if let Some(w) = landing.w {
            table.set_frequency(state, l, &w);
            ln_lik = landing.ln_lik;
            moved += 1;
        }
    }
    info.frequency_tries = f64::from(tries) / f64::from(made.max(1));
    info.frequency_moves = f64::from(moved) / f64::from(made.max(1));
    table.check()
}

/// Where a frequency has moved, if it has.
struct MovedFrequency {
    w: Option<Vec<f64>>,
    ln_lik: f64,
    tries: u32,
}

/// A move of frequency l from log-likelihood `ln_lik`, `price` being that of other frequencies.
fn propose<R: Rng + ?Sized>(
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

/// ln p(w_l' | rest) − ln p(w_l | rest): the target of the slice, prior included. For identity tests.
pub fn ln_ratio(model: &Model, state: &State, l: usize, w: &[f64]) -> f64 {
    let cluster = state.spectral.cluster(l);
    Host::default().ln_lik_frequency(model, state, l, w) - model.ln_lik(state) + cluster.ln_density(w)
        - cluster.ln_density(state.features.w().row(l))
}
