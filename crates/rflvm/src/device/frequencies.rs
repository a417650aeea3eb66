//! W, one frequency at a time, with the proposals and streams of [`crate::steps::frequencies`].

use super::{Device, check};
use crate::error::NumericalError;
use crate::model::State;
use crate::rng::Stream;
use crate::steps::frequencies::propose;
use crate::steps::{Moves, SweepInfo};

/// Moves each frequency, or a fraction of them, in turn.
pub fn update(
    device: &mut dyn Device,
    state: &mut State,
    moves: Moves,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let mut ln_lik = device.ln_lik();
    let (mut made, mut tries, mut moved) = (0, 0, 0);
    let x = state.features.x().clone();
    let due = (0..state.features.frequencies()).filter(|&l| stream.at(l as u64).is_chosen(moves.share()));
    for l in due {
        check(device)?;
        if !ln_lik.is_finite() {
            let place = format!("frequency {}", l + 1);
            return Err(NumericalError::NotFinite { step: "frequencies", value: ln_lik, place });
        }
        let rng = &mut stream.at(l as u64).rng();
        let landing = propose(state, moves.frequencies, l, ln_lik, rng, |w| device.ln_lik_frequency(l, w));
        made += 1;
        tries += landing.tries;
        if let Some(w) = landing.w {
            device.set_frequency(l, &w);
            let mut all = state.features.w().clone();
            all.row_mut(l).copy_from_slice(&w);
            state.features.set(x.as_slice(), all.as_slice());
            ln_lik = landing.ln_lik;
            moved += 1;
        }
    }
    info.frequency_tries = f64::from(tries) / f64::from(made.max(1));
    info.frequency_moves = f64::from(moved) / f64::from(made.max(1));
    check(device)
}
