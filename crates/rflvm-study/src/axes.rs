//! A summary of the number of axes in use, where that number is learned.

use rflvm::posterior::axes::AxesInUse;
use serde_json::{Value, json};

/// One line: how many axes are in use, with what probability, and how informative the data are about each.
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
        format!("; all of them, so allow more with ⟨latent-dim=auto:{}⟩", 2 * most)
    } else {
        String::new()
    };
    format!(
        "axes in use: {} of {most} (probability {sure:.2}{others}){limit}; information about each, relative to the prior: {}",
        axes.mode(),
        told.join(", ")
    )
}

/// The number of axes in use, as JSON.
pub fn as_json(axes: &AxesInUse) -> Value {
    json!({ "in_use": axes.mode(), "probabilities": axes.probabilities, "information": axes.information })
}
