//! The model: data and priors (`Model`) and unknowns (`State`).

mod amplitude;
#[doc(hidden)]
pub mod axes;
mod block;
#[doc(hidden)]
pub mod collapsed;
mod collect;
#[doc(hidden)]
pub mod column_process;
pub mod family;
#[doc(hidden)]
pub mod features;
mod fewer;
mod gamma;
#[doc(hidden)]
pub mod joint;
mod known;
pub mod latent;
mod likelihood;
mod noise;
mod outline;
mod part;
mod partial;
#[doc(hidden)]
pub mod plain;
pub mod pool;
pub(crate) mod position;
pub mod priors;
pub mod roughness;
mod rows;
mod spec;
pub mod spectral;
mod state;
pub(crate) mod strength;

pub use amplitude::{Amplitude, HalfT};
pub use block::Block;
pub use column_process::{ColumnProcess, ColumnScales};
pub use known::Known;
pub use pool::Pool;
pub use priors::Priors;
pub use spec::{MOST_AXES, MOST_FEATURES, ModelSpec};
pub use state::State;
pub(crate) use state::{Lent, predictor};

use crate::chunks::Chunks;
use crate::error::SpecError;
use crate::linalg::Mat;
use crate::observations::Observations;
use block::Part;
use family::{Family, Theta, Unit};
use latent::{AxisPrior, Dynamics};
use plain::Plain;
use spectral::{Kernel, Scales};
use std::sync::Arc;

/// Data, families and priors.
#[derive(Debug, Clone)]
pub struct Model {
    y: Mat,
    offset: Vec<f64>,
    covariates: Mat,
    covariate_names: Vec<String>,
    names: Vec<String>,
    order: Vec<usize>,
    blocks: Vec<Block>,
    units: Vec<Unit>,
    spec: ModelSpec,
    missing: bool,
    dynamics: Option<Dynamics>,
    warnings: Vec<String>,
    /// The chunks of the columns of all processes.
    chunks: Chunks,
    /// What this process has of each block.
    parts: Vec<Part>,
}

impl Model {
    /// One family for all columns.
    pub fn new(data: Observations, family: impl Family + 'static, spec: ModelSpec) -> Result<Self, SpecError> {
        let columns = (0..data.columns()).collect();
        Self::with_blocks(data, vec![(columns, Arc::new(family))], spec)
    }

    /// Several families: each column index belongs to exactly one block.
    pub fn with_blocks(
        mut data: Observations,
        blocks: Vec<(Vec<usize>, Arc<dyn Family>)>,
        spec: ModelSpec,
    ) -> Result<Self, SpecError> {
        let (order, blocks) = arranged(data.columns(), blocks, &spec)?;
        let constant: Vec<&str> = data.constant_columns().into_iter().map(|c| data.names[c].as_str()).collect();
        let warnings = warnings(&data.missing_rows(), &constant);
        let names: Vec<String> = order.iter().map(|&c| data.names[c].clone()).collect();
        // Row by row, in place: the table is not held twice.
        let (mut y, mut row) = (std::mem::take(&mut data.y), vec![0.0; order.len()]);
        for n in (0..y.rows()).filter(|_| !order.is_sorted()) {
            row.copy_from_slice(y.row(n));
            y.row_mut(n).iter_mut().zip(&order).for_each(|(cell, &c)| *cell = row[c]);
        }
        let mut units = Vec::with_capacity(order.len());
        for block in &blocks {
            block.check_values(&y, &names)?;
            block.check_offset(&data.offset)?;
            units.extend(block.units(&y, &data.offset));
        }
        blocks.iter().for_each(|block| block.relate(&mut units));
        let missing = y.as_slice().iter().any(|v| v.is_nan());
        data.y = y;
        Ok(Model { warnings, ..Model::assembled(data, (order, blocks), spec, (units, missing))? })
    }

    /// From its parts; the table is that of the data, in the order of the model.
    fn assembled(
        data: Observations,
        (order, blocks): (Vec<usize>, Vec<Block>),
        spec: ModelSpec,
        (units, missing): (Vec<Unit>, bool),
    ) -> Result<Self, SpecError> {
        let (chunks, parts) = block::whole(&data.y, &blocks);
        let dynamics = data.times.map(|times| Dynamics::new(times, spec.time.clone())).transpose()?;
        let scales = AxisPrior { length_scale: spec.priors.length_scale, noise: spec.priors.noise_share };
        let dynamics = dynamics.map(|dynamics| dynamics.with_prior(scales));
        let covariates = spec.priors.covariates_in_its_units(data.covariates);
        Ok(Model {
            names: order.iter().map(|&c| data.names[c].clone()).collect(),
            y: data.y,
            offset: data.offset,
            covariates,
            covariate_names: data.covariate_names,
            order,
            blocks,
            units,
            spec,
            missing,
            dynamics,
            warnings: Vec::new(),
            chunks,
            parts,
        })
    }

    /// Initial θ, by moments of the data.
    pub(crate) fn start_parameters(&self) -> Vec<Theta> {
        let of_block = |block: &Block| {
            let units = &self.units()[block.columns.clone()];
            let columns = block::of_columns(self.y(), self.offset(), block.columns.clone(), |local, seen| {
                block.family.start(seen, &units[local])
            });
            let values = Mat::from_fn(block.family.parameters().len(), columns.len(), |p, j| columns[j][p]);
            Theta { hyper: Vec::new(), values }
        };
        let mut theta: Vec<Theta> = self.blocks().iter().map(of_block).collect();
        for (b, block) in self.blocks().iter().enumerate() {
            let values = &theta[b].values;
            let sum = |p: usize| self.sum_block(b, |j| values[(p, j)]);
            let sums: Vec<f64> = (0..values.rows()).map(sum).collect();
            theta[b].hyper = block.family.start_hyper(self.parts[b].all, &sums);
        }
        theta
    }

    /// N.
    pub fn rows(&self) -> usize {
        self.y.rows()
    }

    /// Number of columns of this process: J, unless several processes share them.
    pub fn columns(&self) -> usize {
        self.y.cols()
    }

    /// J.
    pub fn all_columns(&self) -> usize {
        self.chunks.columns()
    }

    /// The same with another number of latent axes.
    pub(crate) fn with_latent_dim(&self, latent_dim: usize) -> Self {
        Model { spec: ModelSpec { latent_dim, ..self.spec.clone() }, ..self.clone() }
    }

    /// D.
    pub fn latent_dim(&self) -> usize {
        self.spec.latent_dim
    }

    /// L.
    pub fn frequencies(&self) -> usize {
        self.spec.features / 2
    }

    /// Y in the model's order of columns, NaN where missing.
    pub fn y(&self) -> &Mat {
        &self.y
    }

    /// Number of observed cells in row n.
    pub fn observed(&self, n: usize) -> usize {
        self.y.row(n).iter().filter(|y| !y.is_nan()).count()
    }

    /// o_n.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// u_n in units of its prior, N×C.
    pub fn covariates(&self) -> &Mat {
        &self.covariates
    }

    /// Names of the covariates.
    pub fn covariate_names(&self) -> &[String] {
        &self.covariate_names
    }

    /// Number of columns of H, and of weights of a column: M features, C covariates, D for a linear part, and the intercept.
    pub fn width(&self) -> usize {
        self.spec.features + self.covariates.cols() + if self.has_linear() { self.latent_dim() } else { 0 } + 1
    }

    /// Whether the map has a linear part.
    pub fn has_linear(&self) -> bool {
        self.spec.linear
    }

    /// The columns of H that are the linear part; none without one.
    pub fn linear(&self) -> std::ops::Range<usize> {
        let first = self.spec.features + self.covariates.cols();
        first..self.width() - 1
    }

    /// The plain columns of H for a linear part of scale s; s has no effect without a linear part.
    pub fn plain(&self, s: f64) -> Plain {
        Plain::new(self.covariates.clone(), if self.has_linear() { s } else { 0.0 })
    }

    /// Names of the columns, in the model's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// For each column of the model, its index in the original table.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The blocks of columns.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Centre and scale of each column, as its priors use them.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The settings.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// Whether any cell is missing.
    pub fn has_missing(&self) -> bool {
        self.missing
    }

    /// Warnings about the data that a user should see before the fit.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The fixed parts of the latent paths, if rows have times.
    pub fn dynamics(&self) -> Option<&Dynamics> {
        self.dynamics.as_ref()
    }

    /// Prior of the amplitudes of a block. Where axes can be pruned they are fixed unless the prior says otherwise: columns with
    /// amplitudes of their own pick up a weak axis one by one, and let go of it only hundreds of sweeps later.
    pub fn amplitude(&self, block: &Block) -> Amplitude {
        self.spec.priors.amplitude.unwrap_or_else(|| match block.family.amplitude() {
            Amplitude::Learned(_) | Amplitude::Shared(_) if self.has_relevance() => Amplitude::Fixed(1.0),
            own => own,
        })
    }

    /// Whether β and σ² are integrated out: one complete Gaussian block, rows without times. Otherwise (missing cells,
    /// other families) columns have no common HᵀH, and β is sampled.
    pub fn is_collapsed(&self) -> bool {
        let [block] = self.blocks.as_slice() else { return false };
        block.family.as_gaussian().is_some() && !self.missing && self.dynamics.is_none()
    }

    /// Whether each axis has its own scale ψ_d, so that axes can be pruned.
    pub fn has_relevance(&self) -> bool {
        matches!(&self.spec.kernel, Kernel::Learned(mixture) if matches!(mixture.scales, Scales::Learned(_)))
    }

    /// Replaces the observed values and keeps the pattern of missing cells and all priors:
    /// for joint-distribution tests, in which data are redrawn from the model.
    pub fn set_values(&mut self, y: &Mat) {
        for (old, &new) in self.y.as_mut_slice().iter_mut().zip(y.as_slice()) {
            if !old.is_nan() {
                *old = new;
            }
        }
    }

    /// The same with independent counts in the place of categories: for devices, which hold them so.
    pub(crate) fn as_counts(&self) -> Model {
        let mut counts = self.clone();
        for block in &mut counts.blocks {
            if family::Law::of(block.family.as_ref()) == Some(family::Law::Multinomial) {
                block.family = Arc::new(family::Poisson);
            }
        }
        counts
    }

    /// Replaces the centres and scales computed from the data, so that a prior does not depend on the data.
    pub fn set_units(&mut self, units: Vec<Unit>) {
        assert_eq!(units.len(), self.columns(), "one unit per column");
        self.units = units;
    }

    /// Prior precision of the weights of column j for unit weight scale: 1/τ_j² for features, 1/(τ_j²s_c²) last.
    pub fn weight_precision(&self, tau2: f64) -> Vec<f64> {
        let mut precision = vec![1.0 / tau2; self.width()];
        precision[self.width() - 1] /= self.spec.priors.intercept;
        precision
    }

    /// λ_j: the factor of the prior precision of β_j (1/σ_j² for a Gaussian column, otherwise 1).
    pub fn weight_scale(&self, theta: &[Theta], j: usize) -> f64 {
        let (block, theta) = self.block_of(theta, j);
        block.family.weight_precision(theta, j - block.columns.start)
    }

    /// Whether column j has its own weights (the last category of a multinomial block does not).
    pub fn is_free(&self, j: usize) -> bool {
        self.blocks.iter().all(|b| !b.columns.contains(&j) || b.family.is_free(j - b.columns.start, b.columns.len()))
    }

    fn block_of<'a>(&'a self, theta: &'a [Theta], j: usize) -> (&'a Block, &'a Theta) {
        let index = self.blocks.partition_point(|b| b.columns.end <= j);
        (&self.blocks[index], &theta[index])
    }
}

/// What a user should know of a table before it is fitted: rows without cells, and columns of equal cells.
fn warnings(missing: &[usize], constant: &[&str]) -> Vec<String> {
    let row = |n: &usize| format!("row {}: no cell is observed, so its position is drawn from the prior", n + 1);
    let column = |name: &&str| {
        format!("column '{name}' is constant: it is fitted by its intercept and carries no information about X")
    };
    missing.iter().map(row).chain(constant.iter().map(column)).collect()
}

/// The order of the columns in the model, and its blocks.
fn arranged(
    j: usize,
    blocks: Vec<(Vec<usize>, Arc<dyn Family>)>,
    spec: &ModelSpec,
) -> Result<(Vec<usize>, Vec<Block>), SpecError> {
    spec.check(j)?;
    let order: Vec<usize> = blocks.iter().flat_map(|(columns, _)| columns.iter().copied()).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted != (0..j).collect::<Vec<_>>() || blocks.iter().any(|(columns, _)| columns.is_empty()) {
        return Err(SpecError::Setting {
            setting: "blocks",
            value: format!("{:?}", blocks.iter().map(|(columns, _)| columns).collect::<Vec<_>>()),
            rule: format!("each of the {j} columns must belong to exactly one block, and no block may be empty"),
        });
    }
    let mut start = 0;
    let blocks = blocks.into_iter().map(|(columns, family)| {
        let range = start..start + columns.len();
        start = range.end;
        Block { columns: range, family }
    });
    Ok((order, blocks.collect()))
}
