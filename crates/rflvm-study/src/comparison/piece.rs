//! The scores of one fit of a comparison, as stored.

use rflvm::internal::posterior::ranking::RowScores;
use serde::{Deserialize, Serialize};

/// The scores of one fit; numbers that are not finite are null.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Piece {
    /// In words.
    pub candidate: String,
    /// Identifies the table and the model.
    pub fingerprint: String,
    /// Log predictive density of each row.
    pub ln_density: Vec<Option<f64>>,
    /// Points scored in each row.
    pub points: Vec<usize>,
    /// Smallest effective sample size.
    pub ess: Option<f64>,
    /// Largest R̂.
    pub r_hat: Option<f64>,
    /// Chains that were set aside.
    pub set_aside: usize,
    /// Rows whose k̂ is too large, if rows were left out.
    pub doubtful: Option<usize>,
    /// How long it took.
    pub seconds: f64,
}

impl Piece {
    /// A density that is not a number is that of an impossible point.
    pub fn rows(&self) -> RowScores {
        let ln_density = self.ln_density.iter().map(|v| v.unwrap_or(f64::NEG_INFINITY)).collect();
        RowScores { ln_density, points: self.points.clone() }
    }
}
