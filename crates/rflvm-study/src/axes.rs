//! The number of axes: how many are in use, where that number is learned, and whether there should be more.

use crate::fit::Fit;
use crate::note::Note;
use rflvm::internal::posterior::axes::AxesInUse;
use rflvm::internal::posterior::leftover::Leftover;
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

/// A warning if a larger latent dimension would predict missing cells better.
pub fn too_few(fit: &Fit, leftover: Option<Leftover>) -> Option<Note> {
    let leftover = leftover.filter(Leftover::is_worth_an_axis)?;
    let (dim, share) = (fit.model.latent_dim(), 100.0 * leftover.share);
    let more = match fit.model.has_relevance() {
        true => format!("⟨latent-dim=auto:{}⟩", 2 * dim),
        false => format!("⟨latent-dim={}⟩ or more, or ⟨latent-dim=auto⟩,", dim + 1),
    };
    Some(Note::warn(format!(
        "a larger latent dimension would predict missing cells better: one more axis would explain {share:.0}% of the variance that the {dim} of \
         this fit leave; fit with {more} and compare"
    )))
}
