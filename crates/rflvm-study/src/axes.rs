//! A word about the number of axes in use, where that is learned.

use rflvm::posterior::axes::AxesInUse;
use serde_json::{Value, json};

/// One line: how many, how sure, and what the data tell of each.
pub fn line(axes: &AxesInUse) -> String {
    let most = axes.probabilities.len() - 1;
    let sure = axes.probabilities[axes.mode()];
    let others: Vec<String> = axes
        .probabilities
        .iter()
        .enumerate()
        .filter(|&(count, &p)| count != axes.mode() && p >= 0.005)
        .map(|(count, p)| format!("{count}: {p:.2}"))
        .collect();
    let others = if others.is_empty() { String::new() } else { format!(", {}", others.join(", ")) };
    let told: Vec<String> = axes.information.iter().map(|i| format!("{i:.1}")).collect();
    let limit = if axes.mode() == most {
        format!("; all are, so ask for more with ⟨latent-dim=auto:{}⟩", 2 * most)
    } else {
        String::new()
    };
    format!(
        "axes in use: {} of {most} (probability {sure:.2}{others}){limit}; what the data tell of each, in units of the prior: {}",
        axes.mode(),
        told.join(", ")
    )
}

/// The same for programs.
pub fn as_json(axes: &AxesInUse) -> Value {
    json!({ "in_use": axes.mode(), "probabilities": axes.probabilities, "information": axes.information })
}
