//! The cards of this machine, and what a fit would cost on each.

use super::cost::Cost;
use rflvm::internal::model::Model;
use rflvm::internal::run::Settings;
use rflvm_study::choices::Precision;
use rflvm_study::device::{self, Card, DeviceChoice};
use serde_json::{Value, json};

/// A card, or why none can be used.
pub struct Told {
    /// Its name and memory; nothing where no card can be used.
    name: Option<(usize, String)>,
    /// Seconds per sweep of all chains, or why it cannot fit the table.
    sweep: Result<f64, String>,
}

/// The cards that this build knows, each timed with the fit.
pub fn of(model: &Model, settings: &Settings) -> Vec<Told> {
    match device::cards() {
        Err(fault) => vec![Told { name: None, sweep: Err(fault) }],
        Ok(cards) => cards.into_iter().enumerate().map(|(number, name)| timed(model, settings, number, name)).collect(),
    }
}

fn timed(model: &Model, settings: &Settings, number: usize, name: String) -> Told {
    let possible =
        DeviceChoice::Cuda(Some(number)).card(Precision::Double, model, settings).map_err(|error| error.to_string());
    let cost = possible.and_then(|_| {
        let open = device::opener(Card { first: number, count: 1, precision: Precision::Double, processes: 1 });
        Cost::of(model, settings, Some(open.as_ref())).map_err(|failure| failure.to_string())
    });
    Told { name: Some((number, name)), sweep: cost.map(|cost| cost.sweep) }
}

impl Told {
    /// In words.
    pub fn line(&self) -> String {
        match (&self.name, &self.sweep) {
            (Some((number, name)), Ok(sweep)) => format!("cuda:{number}: {name}; {sweep:.3} s per sweep"),
            (Some((number, name)), Err(reason)) => format!("cuda:{number}: {name}; {reason}"),
            (None, Err(reason)) => format!("cards: {reason}"),
            (None, Ok(_)) => String::new(),
        }
    }
}

/// For programs.
pub fn as_json(told: &[Told]) -> Value {
    let of_card = |card: &Told| {
        let (number, name) = card.name.as_ref()?;
        Some(match &card.sweep {
            Ok(sweep) => json!({"device": format!("cuda:{number}"), "name": name, "seconds_per_sweep": sweep}),
            Err(reason) => json!({"device": format!("cuda:{number}"), "name": name, "problem": reason}),
        })
    };
    told.iter().filter_map(of_card).collect()
}
