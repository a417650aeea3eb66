//! A gamma prior.

use super::partial::partial;
use serde::{Deserialize, Serialize};

/// Shape and rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gamma {
    /// Its shape.
    pub shape: f64,
    /// Its rate.
    pub rate: f64,
}
partial!(Gamma { shape, rate });
