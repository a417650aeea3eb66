//! Chains of rflvm with the table on an NVIDIA GPU: what touches all of its cells is computed there, in float64.
//!
//! | file | what |
//! |---|---|
//! | `card` | a card: memory, products, compiled kernels |
//! | `kernels.cu` | features, likelihoods and slopes, sums, noise |
//! | `shape` | its sizes |
//! | `table` | a table on a card, and how it is held |
//! | `columns` | columns side by side: likelihoods elsewhere, fits and draws of weights |
//! | `device` | what a chain asks of it: [`rflvm::internal::device::Device`] |
//! | `candidates` | rows at other positions: likelihoods and their slopes |
//! | `rows` | H, the slope of the likelihood and where it leads, the noise of a trajectory |
//! | `reference` | the reference of the trajectories |
//! | `weights`, `flow` | the weights of a trajectory, and a trajectory: [`rflvm::internal::hmc::flow::Flow`] |
//! | `list` | the cards of this machine, and what a table needs |

/// The cells of a table as an argument of a kernel, whatever their type.
macro_rules! push_cells {
    ($launch:ident, $cells:expr) => {
        match &$cells {
            crate::table::Cells::Byte(cells) => $launch.arg(cells),
            crate::table::Cells::Short(cells) => $launch.arg(cells),
            crate::table::Cells::Real(cells) => $launch.arg(cells),
        };
    };
}

/// Values that may be absent as an argument of a kernel: a null pointer then.
macro_rules! push_option {
    ($launch:ident, $values:expr, $none:ident) => {
        match &$values {
            Some(values) => $launch.arg(values),
            None => $launch.arg(&$none),
        };
    };
}

mod candidates;
mod card;
mod columns;
mod device;
mod flow;
mod list;
mod reference;
mod rows;
mod shape;
mod table;
mod weights;

pub use list::{CardInfo, cards, needed};
pub use table::OnCard;

use rflvm::internal::device::Device;
use rflvm::internal::error::{RunError, SpecError};
use rflvm::internal::model::Model;

/// Whether card number `ordinal` can hold the table of a model for this many chains at the same time; if not, the error has the numbers.
pub fn check(model: &Model, ordinal: usize, chains: usize) -> Result<(), RunError> {
    let cards = cards().map_err(|fault| refusal(ordinal, format!("{fault}, or let device be cpu")))?;
    let Some(card) = cards.get(ordinal) else {
        let rule = format!("this machine has {} of them, numbered from 0; choose one, or cpu", cards.len());
        return Err(refusal(ordinal, rule));
    };
    let need = needed(model);
    if need.saturating_mul(chains) > card.free {
        let gb = |bytes: usize| bytes as f64 / 1e9;
        let (need, free, memory) = (gb(need), gb(card.free), gb(card.memory));
        let remedy =
            if need <= free { "fewer chains, no search for modes (let init be pca)" } else { "fewer rows or columns" };
        let rule = format!(
            "each of {chains} chains at the same time needs {need:.1} GB there, and {free:.1} GB of {memory:.1} GB are free; use {remedy}, or cpu"
        );
        return Err(refusal(ordinal, rule));
    }
    Ok(())
}

/// Opens card number `ordinal` with the table of a model; in mixed precision the exponentials and logarithms of cells are taken in float32.
pub fn open(model: &Model, ordinal: usize, is_mixed: bool) -> Result<Box<dyn Device>, RunError> {
    check(model, ordinal, 1)?;
    let table = OnCard::new(model, ordinal, is_mixed)
        .map_err(|fault| refusal(ordinal, format!("{fault}; let device be cpu")))?;
    Ok(Box::new(table))
}

fn refusal(ordinal: usize, rule: String) -> RunError {
    SpecError::Setting { setting: "device", value: format!("cuda:{ordinal}"), rule }.into()
}
