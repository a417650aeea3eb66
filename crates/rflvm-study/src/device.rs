//! The processor that holds the table of a chain.

use crate::choices::Precision;
use crate::settings::{Kind, Value, utf8};
use rflvm::Model;
use rflvm::internal::device::Open;
use rflvm::internal::error::RunError;
use rflvm::internal::run::Settings;
use rflvm::internal::run::modes::Plan;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// Where the table of a chain is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// A card if there is one that can hold the table and fit the model, otherwise this processor.
    Auto,
    /// This processor.
    #[default]
    Cpu,
    /// An NVIDIA card, by its number; without one, all of them: chain after chain is given to the next, or, where several processes share the table, process after
    /// process.
    Cuda(Option<usize>),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda(None)),
            _ => {
                let number = text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
                number
                    .map(|number| DeviceChoice::Cuda(Some(number)))
                    .ok_or_else(|| "choose auto, cpu, cuda, or cuda:1 for the second card".into())
            }
        }
    }
}

impl Value for DeviceChoice {
    const KIND: Kind = Kind::Text;

    fn parse(text: &OsStr) -> Result<Self, String> {
        utf8(text)?.parse()
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Cuda(None) => f.write_str("cuda"),
            DeviceChoice::Cuda(Some(number)) => write!(f, "cuda:{number}"),
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> Self {
        choice.to_string()
    }
}

/// A card that holds the tables of chains, or several that share the chains; where several processes share the table, the one of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Card {
    /// The number of the first.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// In which precision it computes what touches each cell.
    pub precision: Precision,
    /// How many processes share the table.
    pub processes: usize,
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mixed = if self.precision == Precision::Mixed { ", mixed precision" } else { "" };
        match (self.first, self.count) {
            (first, _) if self.processes > 1 => {
                write!(f, "{} processes, the first on cuda:{first}{mixed}", self.processes)
            }
            (first, 1) => write!(f, "cuda:{first}{mixed}"),
            (first, count) => write!(f, "{count} cards from cuda:{first}{mixed}"),
        }
    }
}

impl DeviceChoice {
    /// Resolves `auto`, and checks that the cards can fit the model, and hold its table for all chains at the same time. `None` is this processor.
    pub fn card(self, precision: Precision, model: &Model, settings: &Settings) -> Result<Option<Card>, RunError> {
        let chains = settings.chains.max(Plan::new(model, settings).map_or(0, |_| Plan::memory(model).0));
        let ranks = model.chunks().ranks();
        let possible = |first: usize, count: usize| -> Result<Card, RunError> {
            rflvm::internal::device::supports(model)?;
            if !model.chunks().is_alone() {
                let (number, sharing) = dealt(ranks.place(), count);
                check(model, first.saturating_add(number), chains * sharing)?;
                return Ok(Card { first: first + number, count: 1, precision, processes: ranks.size() });
            }
            (0..count).try_for_each(|i| check(model, first.saturating_add(i), chains.div_ceil(count)))?;
            Ok(Card { first, count, precision, processes: 1 })
        };
        match self {
            DeviceChoice::Cpu => Ok(None),
            DeviceChoice::Auto => Ok(possible(0, number_of_cards()).or_else(|_| possible(0, 1)).ok()),
            DeviceChoice::Cuda(None) => possible(0, number_of_cards()).map(Some),
            DeviceChoice::Cuda(Some(number)) => possible(number, 1).map(Some),
        }
    }
}

/// The card of a process among some, and how many processes of its machine have the same.
fn dealt((process, processes): (usize, usize), cards: usize) -> (usize, usize) {
    let card = process % cards;
    (card, (processes - card).div_ceil(cards))
}

#[cfg(feature = "cuda")]
fn check(model: &Model, number: usize, chains: usize) -> Result<(), RunError> {
    rflvm_cuda::check(model, number, chains)
}

#[cfg(not(feature = "cuda"))]
fn check(_model: &Model, number: usize, _chains: usize) -> Result<(), RunError> {
    let rule =
        "this build of rflvm has no support for cards; build it with --features cuda, or let device be cpu".into();
    Err(rflvm::internal::error::SpecError::Setting {
        setting: "device",
        value: DeviceChoice::Cuda(Some(number)).to_string(),
        rule,
    }
    .into())
}

/// At least one: where there is none, opening the first says why.
fn number_of_cards() -> usize {
    cards().map_or(1, |cards| cards.len().max(1))
}

/// What opens the card.
#[cfg(feature = "cuda")]
pub fn opener(card: Card) -> Box<Open<'static>> {
    Box::new(move |model, chain| {
        rflvm_cuda::open(model, card.first + chain % card.count, card.precision == Precision::Mixed)
    })
}

/// What would open the card, if this build knew any.
#[cfg(not(feature = "cuda"))]
pub fn opener(card: Card) -> Box<Open<'static>> {
    Box::new(move |model, _| {
        check(model, card.first, 1)?;
        Err(RunError::Stopped { sweep: 0 })
    })
}

/// The cards of this machine in words, one after the other, or why none can be used.
#[cfg(feature = "cuda")]
pub fn cards() -> Result<Vec<String>, String> {
    let gb = |bytes: usize| bytes as f64 / 1e9;
    let line =
        |card: &rflvm_cuda::CardInfo| format!("{}, {:.0} GB, {:.0} free", card.name, gb(card.memory), gb(card.free));
    rflvm_cuda::cards().map(|cards| cards.iter().map(line).collect()).map_err(|fault| fault.to_string())
}

/// None in this build.
#[cfg(not(feature = "cuda"))]
pub fn cards() -> Result<Vec<String>, String> {
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_written() {
        for text in ["auto", "cpu", "cuda", "cuda:0", "cuda:3"] {
            assert_eq!(text.parse::<DeviceChoice>().unwrap().to_string(), text);
        }
        assert_eq!("cuda:0".parse(), Ok(DeviceChoice::Cuda(Some(0))));
        assert!("gpu".parse::<DeviceChoice>().is_err());
    }

    #[test]
    fn processes_of_a_machine_are_dealt_its_cards_in_turn() {
        // Three cards and eight processes: cards 0 and 1 have three each, card 2 has two.
        let dealt: Vec<(usize, usize)> = (0..8).map(|process| dealt((process, 8), 3)).collect();
        assert_eq!(dealt[..4], [(0, 3), (1, 3), (2, 2), (0, 3)]);
        for &(card, sharing) in &dealt {
            assert_eq!(dealt.iter().filter(|(other, _)| *other == card).count(), sharing);
        }
        let card = Card { first: 1, count: 1, precision: Precision::Mixed, processes: 4 };
        assert_eq!(card.to_string(), "4 processes, the first on cuda:1, mixed precision");
    }
}
