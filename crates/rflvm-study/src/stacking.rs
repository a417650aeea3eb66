//! The weights by which the predictions of several modes are combined. They are computed when a fit ends and kept in weights.json; a fit that
//! has more draws by now, because it is still running or was resumed, has other weights.

use crate::error::Error;
use crate::fit::Fit;
use crate::folder::weights_path;
use crate::write;
use rflvm::internal::draws::Source;
use rflvm::internal::draws::zarr::Reader;
use rflvm::internal::posterior::fitted::Fitted;
use rflvm::internal::posterior::stacking::{mean_ln_density, weights};
use rflvm::internal::regular;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How well one mode predicts cells that were left out, and its weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// The stacking weight.
    pub weight: f64,
    /// Mean log density of a cell, given all others.
    pub log_density: f64,
    /// Cells whose score is unreliable (k̂ above 0.7).
    pub doubtful: usize,
}

/// The weights of all sampled modes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stacking {
    /// Draws per chain from which they were computed.
    pub draws: usize,
    /// Number of cells that were scored.
    pub cells: usize,
    /// Mean log density of a cell under the weighted modes.
    pub log_density: f64,
    /// Each mode.
    #[serde(alias = "maps")]
    pub modes: Vec<Scored>,
}

impl Stacking {
    /// The weights of modes, given the chains of each; `None` if the draws that are stored do not suffice for predictions.
    pub fn of(fit: &Fit, store: &Reader, modes: &[Vec<usize>]) -> Result<Option<Self>, Error> {
        let draws = store.size()?.1;
        match Self::read(fit).filter(|kept| kept.draws == draws && kept.modes.len() == modes.len()) {
            Some(kept) => Ok(Some(kept)),
            None => Self::compute(fit, store, modes, draws),
        }
    }

    fn compute(fit: &Fit, store: &Reader, modes: &[Vec<usize>], draws: usize) -> Result<Option<Self>, Error> {
        let mut left = Vec::with_capacity(modes.len());
        for used in modes {
            let stream = fit.stream().named("stacking");
            match (Fitted { store, model: &fit.model, used, modes: &[], is_pooled: false, stream })
                .left_cells()
                .map_err(Error::from)
            {
                Ok(scores) => left.push(scores),
                Err(Error::Spec(_)) => return Ok(None),
                Err(other) => return Err(other),
            }
        }
        let ln_density: Vec<Vec<f64>> = left.iter().map(|mode| mode.ln_density.clone()).collect();
        let weights = weights(&ln_density);
        let scored = left.iter().zip(&weights).zip(&ln_density).map(|((mode, &weight), ln_density)| Scored {
            weight,
            log_density: mean_ln_density(std::slice::from_ref(ln_density), &[1.0]),
            doubtful: mode.doubtful,
        });
        let modes = scored.collect();
        let cells = ln_density.first().map_or(0, Vec::len);
        Ok(Some(Stacking { draws, cells, log_density: mean_ln_density(&ln_density, &weights), modes }))
    }

    /// The weights in the folder; `None` if there are none, or they cannot be read: they are then computed again.
    fn read(fit: &Fit) -> Option<Self> {
        let kept: Stacking = serde_json::from_str(&regular::read_to_string(&weights_path(&fit.dir)).ok()?).ok()?;
        let is_weight = |mode: &Scored| (0.0..=1.0).contains(&mode.weight);
        let sum: f64 = kept.modes.iter().map(|mode| mode.weight).sum();
        (kept.modes.iter().all(is_weight) && (sum - 1.0).abs() < 1e-9).then_some(kept)
    }

    /// Keeps them in the folder.
    pub fn write(&self, fit: &Fit) -> Result<(), Error> {
        write::text(&weights_path(&fit.dir), &format!("{}\n", json!(self)))
    }

    /// In words: the weights, and what they combine.
    pub fn words(&self) -> String {
        let weights: Vec<String> = self.modes.iter().map(|mode| format!("{:.2}", mode.weight)).collect();
        let doubtful = self.modes.iter().map(|mode| mode.doubtful).max().unwrap_or(0);
        let caution = match doubtful {
            0 => String::new(),
            count => format!("; the scores of up to {count} cells are unreliable (Pareto k above 0.7)"),
        };
        format!(
            "predictions combine the modes with weights {} (mean log density of a cell left out: {:.3} together; {} cells){caution}",
            weights.join(", "),
            self.log_density,
            self.cells
        )
    }

    /// As JSON.
    pub fn as_json(&self) -> Value {
        let number = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
        json!({
            "weights": self.modes.iter().map(|mode| mode.weight).collect::<Vec<_>>(),
            "log_density": number(self.log_density), "cells": self.cells, "words": self.words(),
        })
    }
}
