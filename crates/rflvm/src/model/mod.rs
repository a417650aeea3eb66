//! What is true: the knowns (`Model`) beside the unknowns (`State`).

pub mod axes;
pub mod family;
pub mod features;
pub mod joint;
pub mod latent;
pub(crate) mod position;
mod rows;
pub mod spectral;

use crate::error::{DataError, NumericalError, SpecError};
use crate::linalg::{self, Mat};
use crate::observations::Observations;
use family::{BlockView, Family, Row, Theta, Unit};
use features::Features;
use latent::{Axis, Dynamics, Paths, TimeSpec};
use serde::{Deserialize, Serialize};
use spectral::{Kernel, Scales, Spectral};
use std::ops::Range;
use std::sync::Arc;

/// Columns that share one family.
#[derive(Debug, Clone)]
pub struct Block {
    /// Where its columns stand in the model's order of columns.
    pub columns: Range<usize>,
    /// Its family.
    pub family: Arc<dyn Family>,
}

/// Variance τ_j² of the weights of column j.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amplitude {
    /// The same known τ² for all columns.
    Fixed(f64),
    /// τ_j² ~ IG(shape, rate), one a column: real columns differ in scale.
    Learned {
        /// Shape of the inverse gamma.
        shape: f64,
        /// Rate (scale) of the inverse gamma.
        rate: f64,
    },
}

/// What to fit, apart from the data and families.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// D.
    pub latent_dim: usize,
    /// M = 2L, an even number.
    pub features: usize,
    /// Prior of the frequencies.
    pub kernel: Kernel,
    /// Variance of the weights.
    pub amplitude: Amplitude,
    /// s_c²: variance of the intercepts about the link of their column's mean.
    pub intercept_variance: f64,
    /// Prior of X over time, where the data have times.
    pub time: TimeSpec,
}

impl Default for ModelSpec {
    fn default() -> Self {
        ModelSpec {
            latent_dim: 2,
            features: 100,
            kernel: Kernel::default(),
            amplitude: Amplitude::Fixed(1.0),
            intercept_variance: 5.0,
            time: TimeSpec::default(),
        }
    }
}

/// The knowns: data, families, priors.
#[derive(Debug, Clone)]
pub struct Model {
    y: Mat,
    offset: Vec<f64>,
    names: Vec<String>,
    order: Vec<usize>,
    blocks: Vec<Block>,
    units: Vec<Unit>,
    spec: ModelSpec,
    missing: bool,
    dynamics: Option<Dynamics>,
    warnings: Vec<String>,
}

/// The unknowns, and F = o + Hβ that follows from them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    /// X, W and their features.
    pub features: Features,
    /// Clusters of frequencies.
    pub spectral: Spectral,
    /// β, (M+1)×J, intercepts in the last row.
    pub beta: Mat,
    /// τ_j², one a column.
    pub tau2: Vec<f64>,
    /// θ of each block.
    pub theta: Vec<Theta>,
    /// Hyperparameters of the paths, one an axis; none where rows have no times.
    pub axes: Vec<Axis>,
    /// F = o + Hβ, N×J.
    pub f: Mat,
}

/// The memory of H and F, whatever it holds.
pub(crate) struct Lent {
    pub h: Mat,
    pub f: Mat,
}

impl Model {
    /// One family for all columns.
    pub fn new(data: Observations, family: impl Family + 'static, spec: ModelSpec) -> Result<Self, SpecError> {
        let columns = (0..data.columns()).collect();
        Self::with_blocks(data, vec![(columns, Arc::new(family))], spec)
    }

    /// Several families: each column index stands in exactly one block.
    pub fn with_blocks(
        data: Observations,
        blocks: Vec<(Vec<usize>, Arc<dyn Family>)>,
        spec: ModelSpec,
    ) -> Result<Self, SpecError> {
        let j = data.columns();
        check_spec(&spec, j)?;
        let order: Vec<usize> = blocks.iter().flat_map(|(columns, _)| columns.iter().copied()).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted != (0..j).collect::<Vec<_>>() || blocks.iter().any(|(columns, _)| columns.is_empty()) {
            return Err(SpecError::Setting {
                setting: "blocks",
                value: format!("{:?}", blocks.iter().map(|(columns, _)| columns).collect::<Vec<_>>()),
                rule: format!("each of the {j} columns must stand in exactly one block, and no block may be empty"),
            });
        }
        let mut warnings = Vec::new();
        for n in data.missing_rows() {
            warnings.push(format!("row {}: no cell is observed, so its position is drawn from the prior", n + 1));
        }
        for c in data.constant_columns() {
            let name = &data.names[c];
            warnings.push(format!("column '{name}' is constant: it is fitted by its intercept and tells nothing of X"));
        }
        let names: Vec<String> = order.iter().map(|&c| data.names[c].clone()).collect();
        // Row by row where they lie: a table is not held twice.
        let (mut y, mut row) = (data.y, vec![0.0; j]);
        for n in (0..y.rows()).filter(|_| order != sorted) {
            row.copy_from_slice(y.row(n));
            y.row_mut(n).iter_mut().zip(&order).for_each(|(cell, &c)| *cell = row[c]);
        }
        let mut start = 0;
        let blocks: Vec<Block> = blocks
            .into_iter()
            .map(|(columns, family)| {
                let range = start..start + columns.len();
                start = range.end;
                Block { columns: range, family }
            })
            .collect();
        let mut units = Vec::with_capacity(j);
        for block in &blocks {
            check_block(block, &y, &names)?;
            for (local, c) in block.columns.clone().enumerate() {
                let cells = (0..y.rows()).filter(|&n| !y[(n, c)].is_nan());
                let seen: Vec<_> = cells.map(|n| (n, y[(n, c)], data.offset[n])).collect();
                units.push(block.family.unit(local, &seen));
            }
            block.family.relate(&mut units[block.columns.clone()]);
        }
        let missing = y.as_slice().iter().any(|v| v.is_nan());
        let dynamics = data.times.map(|times| Dynamics::new(times, spec.time.clone())).transpose()?;
        Ok(Model { y, offset: data.offset, names, order, blocks, units, spec, missing, dynamics, warnings })
    }

    /// N.
    pub fn rows(&self) -> usize {
        self.y.rows()
    }

    /// J.
    pub fn columns(&self) -> usize {
        self.y.cols()
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

    /// How many cells of row n are observed.
    pub fn observed(&self, n: usize) -> usize {
        self.y.row(n).iter().filter(|y| !y.is_nan()).count()
    }

    /// o_n.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// Names of the columns, in the model's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// For each column of the model, its index in the table it came from.
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

    /// What a user should know about the data before the fit.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What is known of the latent paths, where rows have times.
    pub fn dynamics(&self) -> Option<&Dynamics> {
        self.dynamics.as_ref()
    }

    /// The prior of the paths at a state's hyperparameters, where rows have times.
    pub fn paths(&self, state: &State) -> Result<Option<Paths<'_>>, NumericalError> {
        self.dynamics.as_ref().map(|dynamics| Paths::new(dynamics, &state.axes)).transpose()
    }

    /// Whether β and σ² are integrated out: one complete Gaussian block with known amplitude, rows without times.
    /// Elsewhere (holes, other families beside it, learned amplitudes) columns have no common A, and β is kept; and rows
    /// that follow a path are not moved one by one.
    pub fn is_collapsed(&self) -> bool {
        let [block] = self.blocks.as_slice() else { return false };
        let is_gaussian = block.family.as_gaussian().is_some() && matches!(self.spec.amplitude, Amplitude::Fixed(_));
        is_gaussian && !self.missing && self.dynamics.is_none()
    }

    /// Whether each axis has a scale ψ_d of its own, so that axes may fall out of use.
    pub fn has_relevance(&self) -> bool {
        matches!(&self.spec.kernel, Kernel::Learned(mixture) if matches!(mixture.scales, Scales::Learned(_)))
    }

    /// Replaces the observed values and keeps the pattern of missing cells and all priors:
    /// for joint-distribution tests, where data are redrawn from the model.
    pub fn set_values(&mut self, y: &Mat) {
        for (old, &new) in self.y.as_mut_slice().iter_mut().zip(y.as_slice()) {
            if !old.is_nan() {
                *old = new;
            }
        }
    }

    /// Replaces the centres and scales that were computed from the data, so that a prior does not depend on them.
    pub fn set_units(&mut self, units: Vec<Unit>) {
        assert_eq!(units.len(), self.columns(), "one unit a column");
        self.units = units;
    }

    /// The row n of a block, with the block's θ.
    pub fn row<'a>(&'a self, block: &Block, n: usize, theta: &'a Theta) -> Row<'a> {
        Row { n, y: &self.y.row(n)[block.columns.clone()], theta }
    }

    /// Σ over blocks of the part of ln p(y_n | f) that depends on f.
    pub fn log_lik_row(&self, theta: &[Theta], n: usize, f: &[f64]) -> f64 {
        let of_block = |(b, theta): (&Block, &Theta)| b.family.log_lik(self.row(b, n, theta), &f[b.columns.clone()]);
        self.blocks.iter().zip(theta).map(of_block).sum()
    }

    /// [`Model::log_lik_row`], and its derivative with respect to f in `g`.
    pub fn gradient_row(&self, theta: &[Theta], n: usize, f: &[f64], g: &mut [f64]) -> f64 {
        let of_block = |(b, theta): (&Block, &Theta)| {
            let columns = b.columns.clone();
            b.family.gradient(self.row(b, n, theta), &f[columns.clone()], &mut g[columns])
        };
        self.blocks.iter().zip(theta).map(of_block).sum()
    }

    /// Roughly how much each cell of row n knows of its f, in `out`; nothing where it is missing.
    pub fn information_row(&self, theta: &[Theta], n: usize, f: &[f64], out: &mut [f64]) {
        for (block, theta) in self.blocks.iter().zip(theta) {
            let columns = block.columns.clone();
            block.family.information(self.row(block, n, theta), &f[columns.clone()], &mut out[columns]);
        }
        out.iter_mut().zip(self.y.row(n)).filter(|(_, y)| y.is_nan()).for_each(|(out, _)| *out = 0.0);
    }

    /// Σ over blocks of ln p(y_n | f) with all constants.
    pub fn log_density_row(&self, theta: &[Theta], n: usize, f: &[f64]) -> f64 {
        let blocks = self.blocks.iter().zip(theta);
        blocks.map(|(b, theta)| b.family.log_density(self.row(b, n, theta), &f[b.columns.clone()])).sum()
    }

    /// Σ over rows of [`Model::log_lik_row`].
    pub fn log_lik(&self, state: &State) -> f64 {
        crate::par::sum(self.rows(), 2 * self.columns(), |rows| {
            rows.map(|n| self.log_lik_row(&state.theta, n, state.f.row(n))).sum()
        })
    }

    /// ln p(Y | F, θ) with all constants, from the state's F.
    pub fn ln_likelihood(&self, state: &State) -> f64 {
        let of_row = |n: usize| self.log_density_row(&state.theta, n, state.f.row(n));
        crate::par::sum(self.rows(), 16 * self.columns(), |rows| rows.map(of_row).sum())
    }

    /// E[y_nj | f_nj] of all cells of row n.
    pub fn expected_row(&self, state: &State, n: usize, cells: &mut [f64]) {
        for (block, theta) in self.blocks.iter().zip(&state.theta) {
            let columns = block.columns.clone();
            let f = &state.f.row(n)[columns.clone()];
            block.family.mean(self.row(block, n, theta), f, &mut cells[columns]);
        }
    }

    /// Prior precision of the weights of column j for unit coefficient scale: 1/τ_j² for features, 1/s_c² last.
    pub fn weight_precision(&self, tau2: f64) -> Vec<f64> {
        let mut precision = vec![1.0 / tau2; self.spec.features + 1];
        precision[self.spec.features] = 1.0 / self.spec.intercept_variance;
        precision
    }

    /// λ_j: what multiplies the prior precision of β_j (1/σ_j² for a Gaussian column, else 1).
    pub fn weight_scale(&self, theta: &[Theta], j: usize) -> f64 {
        let (block, theta) = self.block_of(theta, j);
        block.family.weight_precision(theta, j - block.columns.start)
    }

    /// Whether column j has weights of its own (the last category of a multinomial block has not).
    pub fn is_free(&self, j: usize) -> bool {
        self.blocks.iter().all(|b| !b.columns.contains(&j) || b.family.is_free(j - b.columns.start, b.columns.len()))
    }

    fn block_of<'a>(&'a self, theta: &'a [Theta], j: usize) -> (&'a Block, &'a Theta) {
        let index = self.blocks.partition_point(|b| b.columns.end <= j);
        (&self.blocks[index], &theta[index])
    }

    /// A view of block b for the family's own update, which need only redraw the weights of this share of columns.
    pub fn block_view<'a>(&'a self, b: usize, state: &'a mut State, share: f64) -> BlockView<'a> {
        let columns = self.blocks[b].columns.clone();
        BlockView {
            h: state.features.h(),
            y: &self.y,
            offset: &self.offset,
            units: &self.units[columns.clone()],
            tau2: &state.tau2[columns.clone()],
            intercept_variance: self.spec.intercept_variance,
            theta: &mut state.theta[b],
            beta: &mut state.beta,
            f: &mut state.f,
            share,
            columns,
        }
    }
}

impl State {
    /// Assembles a state and its F; paths have the medians of their hyperparameters.
    pub fn new(
        model: &Model,
        features: Features,
        spectral: Spectral,
        beta: Mat,
        tau2: Vec<f64>,
        theta: Vec<Theta>,
    ) -> Self {
        let f = Mat::default();
        let axes = vec![Axis::at([0.0; 2]); if model.dynamics.is_some() { model.latent_dim() } else { 0 }];
        let mut state = State { features, spectral, beta, tau2, theta, axes, f };
        state.refresh(model);
        state
    }

    /// Lends out the memory of H and F to a move that asks for neither, and gives it back to [`State::take_back`].
    pub(crate) fn lend(&mut self) -> Lent {
        Lent { h: self.features.lend(), f: std::mem::take(&mut self.f) }
    }

    /// Takes the memory back, with X and W where they have moved, and computes H and F again.
    pub(crate) fn take_back(&mut self, model: &Model, lent: Lent, moved: Option<(&[f64], &[f64])>) {
        self.features.take_back(lent.h, moved);
        self.f = lent.f;
        self.refresh(model);
    }

    /// F = o + Hβ, afresh.
    pub fn refresh(&mut self, model: &Model) {
        self.f.fit(model.rows(), model.columns());
        predictor(self.features.h(), self.beta.view(), &model.offset, &mut self.f);
    }
}

/// F = o + HB.
pub(crate) fn predictor(h: &Mat, beta: linalg::View<'_>, offset: &[f64], f: &mut Mat) {
    for (n, &o) in offset.iter().enumerate() {
        f.row_mut(n).fill(o);
    }
    linalg::par_mul(f, h.view(), beta, true);
}

fn check_spec(spec: &ModelSpec, columns: usize) -> Result<(), SpecError> {
    let fail = |setting, value: String, rule: &str| Err(SpecError::Setting { setting, value, rule: rule.into() });
    if spec.latent_dim == 0 || spec.latent_dim > columns {
        let rule = format!("it must lie between 1 and the number of columns, {columns}; use --latent-dim {columns}");
        return fail("latent-dim", spec.latent_dim.to_string(), &rule);
    }
    if spec.features < 2 || !spec.features.is_multiple_of(2) {
        let rule = "features come in sine–cosine pairs, so their number must be even and at least 2";
        return fail("features", spec.features.to_string(), rule);
    }
    if let Kernel::Rbf { length_scale } = spec.kernel
        && !(length_scale > 0.0 && length_scale.is_finite())
    {
        return fail("length-scale", length_scale.to_string(), "it must be a positive number");
    }
    let amplitude_is_valid = match spec.amplitude {
        Amplitude::Fixed(tau2) => tau2 > 0.0 && tau2.is_finite(),
        Amplitude::Learned { shape, rate } => shape > 0.0 && rate > 0.0 && (shape * rate).is_finite(),
    };
    if !amplitude_is_valid {
        return fail("amplitude", format!("{:?}", spec.amplitude), "its numbers must be positive");
    }
    if !(spec.intercept_variance > 0.0 && spec.intercept_variance.is_finite()) {
        let value = spec.intercept_variance.to_string();
        return fail("intercept-variance", value, "it must be a positive number");
    }
    Ok(())
}

fn check_block(block: &Block, y: &Mat, names: &[String]) -> Result<(), DataError> {
    block.family.check_shape(y.rows(), block.columns.len())?;
    for (n, row) in y.iter_rows().enumerate() {
        let row = &row[block.columns.clone()];
        for (j, &value) in row.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
            if let Some(problem) = block.family.problem(n, j, value) {
                let column = names[block.columns.start + j].clone();
                return Err(DataError::Support { row: n + 1, column, value, problem });
            }
        }
        block.family.check_row(n, row)?;
    }
    Ok(())
}
