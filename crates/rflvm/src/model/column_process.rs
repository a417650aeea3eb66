//! Column processes: f_nj = o_n + h_n·β_j + g_j(t_n), where g_j is a path over time of standard deviation s_j u_j and length-scale ℓ_j,
//! independent of the positions and of the other columns. u_j is the column's unit: the standard deviation of a Gaussian column, the spread
//! of a Student-t column, and otherwise 1 on the link scale, so that a table in other units has the same s_j.
//!
//! s_j is half-t, by default half-Cauchy, so that it can vanish where the positions explain all that is smooth; ln ℓ_j is normal.

use super::family::{Family, Unit};
use super::latent::{ColumnPath, Dynamics, TimeKernel};
use super::priors::{Centred, Priors};
use super::{HalfT, Model};
use crate::dist::{ln_normal, normal};
use crate::linalg::Mat;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Scales of a column process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ColumnScales {
    /// s_j², in units of the column.
    pub share: f64,
    /// ℓ_j, in units of the longest sequence's span.
    pub length_scale: f64,
}

impl ColumnScales {
    /// Standard deviation of the path.
    pub fn amplitude(&self, unit: &Unit) -> f64 {
        self.share.sqrt() * unit.scale
    }
}

/// All column processes; empty where columns have none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnProcess {
    /// g, N×J.
    pub g: Mat,
    /// One per column.
    pub scales: Vec<ColumnScales>,
}

/// Initial s_j: a tenth of the column's unit.
const START: f64 = 0.01;

impl ColumnProcess {
    /// Where a chain begins: no path yet.
    pub(super) fn start(model: &Model) -> Self {
        let Some(law) = model.column_process() else { return ColumnProcess::default() };
        let own = ColumnScales { share: START, length_scale: law.length_scale.median };
        ColumnProcess { g: Mat::zeros(model.rows(), model.columns()), scales: vec![own; model.columns()] }
    }
}

/// The prior of column processes.
#[derive(Debug, Clone, Copy)]
pub struct ColumnProcessPrior<'a> {
    dynamics: &'a Dynamics,
    kernel: TimeKernel,
    /// Of s_j.
    pub share: HalfT,
    /// Of ℓ_j.
    pub length_scale: Centred,
}

impl<'a> ColumnProcessPrior<'a> {
    /// The path of a length-scale.
    pub fn path(&self, length_scale: f64) -> ColumnPath<'a> {
        self.dynamics.column_path(self.kernel, length_scale)
    }

    /// The kernel.
    pub fn kernel(&self) -> TimeKernel {
        self.kernel
    }

    /// The times.
    pub fn dynamics(&self) -> &'a Dynamics {
        self.dynamics
    }

    /// ln p(ln s²).
    pub fn ln_share(&self, u: f64) -> f64 {
        self.share.ln_density(u)
    }

    /// ln p(ln ℓ).
    pub fn ln_length_scale(&self, v: f64) -> f64 {
        ln_normal(v, self.length_scale.median.ln(), self.length_scale.sd.powi(2))
    }

    /// A draw of the scales of a column.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> ColumnScales {
        let length_scale = self.length_scale.median * (self.length_scale.sd * normal(rng)).exp();
        ColumnScales { share: self.share.draw(rng), length_scale }
    }
}

impl Model {
    /// The prior of column processes, if they have them.
    pub fn column_process(&self) -> Option<ColumnProcessPrior<'_>> {
        let (dynamics, kernel) = (self.dynamics.as_ref()?, self.spec.column_process?);
        let Priors { column_process: share, column_process_length_scale: length_scale, .. } = self.spec.priors;
        Some(ColumnProcessPrior { dynamics, kernel, share, length_scale })
    }

    /// Whether the paths themselves belong to a stored draw: those of Gaussian columns can be drawn again given the rest.
    pub fn stores_column_process(&self) -> bool {
        let is_gaussian = |family: &dyn Family| family.as_gaussian().is_some() && !family.is_logarithmic();
        self.column_process().is_some() && self.blocks.iter().any(|block| !is_gaussian(block.family.as_ref()))
    }

    /// Draws column processes from their prior; nothing where columns have none.
    pub fn draw_column_process<R: Rng + ?Sized>(&self, rng: &mut R) -> ColumnProcess {
        let Some(law) = self.column_process() else { return ColumnProcess::default() };
        let mut column_process = ColumnProcess::start(self);
        for j in (0..self.columns()).filter(|&j| self.is_free(j)) {
            let own = law.draw(rng);
            column_process.scales[j] = own;
            let g = law.path(own.length_scale).draw(own.amplitude(&self.units[j]), rng);
            column_process.g.set_col(j, &g);
        }
        column_process
    }
}
