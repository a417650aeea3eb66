//! What of a draw is stored, and in which array.

use super::array::{Array, Kind};
use super::traced::Traced;
use crate::draws::Draw;
use crate::error::SpecError;
use crate::model::{Amplitude, Model, axes};

/// The large quantities that a user may choose to store. X, which is what a fit is for, and the small ones always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// W and z.
    W,
    /// β.
    Beta,
    /// θ, and τ² where it is learned.
    Theta,
    /// F: as large as the table, in every draw.
    F,
}

impl Kept {
    /// All of them, by the names users type.
    pub const NAMES: [(&'static str, Kept); 4] =
        [("w", Kept::W), ("beta", Kept::Beta), ("theta", Kept::Theta), ("f", Kept::F)];
    /// What is kept unless asked otherwise: all that predictions need.
    pub const DEFAULT: [Kept; 3] = [Kept::W, Kept::Beta, Kept::Theta];

    /// The quantity called `name`.
    pub fn named(name: &str) -> Result<Self, SpecError> {
        let known = || Self::NAMES.map(|(name, _)| name).join(", ");
        let found = Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kept)| *kept);
        found.ok_or_else(|| SpecError::Unknown { what: "quantity to keep", name: name.into(), known: known() })
    }
}

/// A quantity of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    X,
    W,
    Z,
    Beta,
    Tau2,
    F,
    Theta { block: usize, parameter: usize },
    Alpha,
    Clusters,
    FrequencyNorm,
    AxisInformation,
    AxesInUse,
    LengthScale,
    NoiseShare,
    TimeScale,
    Distance,
    Cell,
    LnJoint,
    LnLikelihood,
    Acceptance,
    StepSize,
    FrequencyTries,
    PositionTries,
}

/// Bytes that a chunk aims at: small enough to be rewritten at each checkpoint, large enough to be few.
const CHUNK_BYTES: usize = 1 << 20;
/// Draws in a chunk of numbers.
const CHUNK_DRAWS: usize = 512;

/// An array of draws: chain × draw × its own axes.
fn drawn(group: &'static str, name: &str, kind: Kind, chains: usize, axes: &[(&str, usize)]) -> Array {
    let own: Vec<usize> = axes.iter().map(|a| a.1).collect();
    let bytes = own.iter().product::<usize>().max(1) * kind.size();
    let mut dims = vec!["chain".to_string(), "draw".to_string()];
    dims.extend(axes.iter().map(|a| a.0.to_string()));
    let per_chunk = (CHUNK_BYTES / bytes).clamp(1, CHUNK_DRAWS);
    let whole = |first: [usize; 2]| first.into_iter().chain(own.iter().copied()).collect();
    Array { group, name: name.into(), kind, dims, shape: whole([chains, 0]), chunk: whole([1, per_chunk]), units: None }
}

/// The arrays of draws of a model.
pub fn quantities(model: &Model, keep: &[Kept], chains: usize) -> Vec<(Quantity, Array)> {
    let (n, j, d, l) = (model.rows(), model.columns(), model.latent_dim(), model.frequencies());
    let (row, column, latent, frequency) = (("row", n), ("column", j), ("latent", d), ("frequency", l));
    let mut all = Vec::new();
    let mut add = |quantity, name: &str, kind, axes: &[(&str, usize)]| {
        let statistics = [
            Quantity::LnJoint,
            Quantity::LnLikelihood,
            Quantity::Acceptance,
            Quantity::StepSize,
            Quantity::FrequencyTries,
            Quantity::PositionTries,
        ];
        let group = if statistics.contains(&quantity) { "sample_stats" } else { "posterior" };
        all.push((quantity, drawn(group, name, kind, chains, axes)));
    };
    add(Quantity::X, "x", Kind::Float, &[row, latent]);
    // Where axes fall out of use, positions mean nothing without the frequencies.
    if keep.contains(&Kept::W) || model.has_relevance() {
        add(Quantity::W, "w", Kind::Float, &[frequency, latent]);
        add(Quantity::Z, "z", Kind::Integer, &[frequency]);
    }
    if keep.contains(&Kept::Beta) {
        add(Quantity::Beta, "beta", Kind::Float, &[("feature", 2 * l + 1), column]);
    }
    if keep.contains(&Kept::Theta) {
        if matches!(model.spec().amplitude, Amplitude::Learned { .. }) {
            add(Quantity::Tau2, "tau2", Kind::Float, &[column]);
        }
        for (block, b) in model.blocks().iter().enumerate() {
            let (_, axis) = block_names(model, block);
            for (parameter, name) in b.family.parameters().into_iter().enumerate() {
                let quantity = Quantity::Theta { block, parameter };
                add(quantity, &parameter_name(model, block, name), Kind::Float, &[(&axis, b.columns.len())]);
            }
        }
    }
    if keep.contains(&Kept::F) {
        add(Quantity::F, "f", Kind::Float, &[row, column]);
    }
    add(Quantity::Alpha, "alpha", Kind::Float, &[]);
    add(Quantity::Clusters, "clusters", Kind::Integer, &[]);
    add(Quantity::FrequencyNorm, "w2", Kind::Float, &[]);
    if model.has_relevance() {
        add(Quantity::AxisInformation, "axis_information", Kind::Float, &[latent]);
        add(Quantity::AxesInUse, "axes_in_use", Kind::Integer, &[]);
    }
    if model.dynamics().is_some() {
        add(Quantity::LengthScale, "length_scale", Kind::Float, &[latent]);
        add(Quantity::NoiseShare, "noise_share", Kind::Float, &[latent]);
        add(Quantity::TimeScale, "time_scale", Kind::Float, &[]);
    }
    let traced = Traced::of(model);
    add(Quantity::Distance, "distance", Kind::Float, &[("pair", traced.pairs.len())]);
    add(Quantity::Cell, "f_cell", Kind::Float, &[("cell", traced.cells.len())]);
    add(Quantity::LnJoint, "lp", Kind::Float, &[]);
    add(Quantity::LnLikelihood, "log_likelihood", Kind::Float, &[]);
    add(Quantity::Acceptance, "acceptance_rate", Kind::Float, &[]);
    add(Quantity::StepSize, "step_size", Kind::Float, &[]);
    add(Quantity::FrequencyTries, "frequency_tries", Kind::Float, &[]);
    add(Quantity::PositionTries, "position_tries", Kind::Float, &[]);
    all
}

/// What tells the names of a block's parameters, and their axis, from another block's: nothing where there is only one.
pub fn block_names(model: &Model, block: usize) -> (String, String) {
    if model.blocks().len() == 1 {
        return (String::new(), "column".into());
    }
    (format!("_{}", block + 1), format!("column_{}", block + 1))
}

/// The array of a block's parameter.
pub fn parameter_name(model: &Model, block: usize, parameter: &str) -> String {
    format!("{parameter}{}", block_names(model, block).0)
}

/// ℓ_d in the user's units of time.
fn length_scales(draw: &Draw<'_>) -> Vec<f64> {
    let span = draw.model.dynamics().map_or(1.0, |dynamics| dynamics.span());
    draw.state.axes.iter().map(|axis| span * axis.length_scale).collect()
}

impl Quantity {
    /// Adds the quantity's bytes.
    pub fn write(self, draw: &Draw<'_>, traced: &Traced, to: &mut Vec<u8>) {
        let (state, stats) = (draw.state, &draw.stats);
        let mut put = |values: &[f64]| to.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        match self {
            Quantity::X => put(state.features.x().as_slice()),
            Quantity::W => put(state.features.w().as_slice()),
            Quantity::Beta => put(state.beta.as_slice()),
            Quantity::Tau2 => put(&state.tau2),
            Quantity::F => put(state.f.as_slice()),
            Quantity::Theta { block, parameter } => put(state.theta[block].values.row(parameter)),
            Quantity::Alpha => put(&[state.spectral.alpha]),
            Quantity::FrequencyNorm => put(&[state.features.w().as_slice().iter().map(|w| w * w).sum()]),
            Quantity::LengthScale => put(&length_scales(draw)),
            Quantity::NoiseShare => put(&state.axes.iter().map(|axis| axis.noise).collect::<Vec<f64>>()),
            Quantity::TimeScale => {
                // The geometric mean: unlike the axes' own, it does not depend on which axis is called which.
                let scales = length_scales(draw);
                put(&[(scales.iter().map(|l| l.ln()).sum::<f64>() / scales.len() as f64).exp()]);
            }
            Quantity::AxisInformation => put(&draw.axis_information),
            Quantity::AxesInUse => {
                let count = draw.axis_information.iter().filter(|i| **i > axes::IN_USE).count();
                to.extend((count as i64).to_le_bytes());
            }
            Quantity::Distance => put(&traced.distances(draw.model, state)),
            Quantity::Cell => put(&traced.values(state)),
            Quantity::LnJoint => put(&[draw.ln_joint]),
            Quantity::LnLikelihood => put(&[draw.ln_likelihood]),
            Quantity::Acceptance => put(&[stats.acceptance]),
            Quantity::StepSize => put(&[stats.step]),
            Quantity::FrequencyTries => put(&[stats.frequency_tries]),
            Quantity::PositionTries => put(&[stats.position_tries]),
            Quantity::Z => to.extend(state.spectral.z.iter().flat_map(|&z| (z as i64).to_le_bytes())),
            Quantity::Clusters => to.extend((state.spectral.count() as i64).to_le_bytes()),
        }
    }
}
