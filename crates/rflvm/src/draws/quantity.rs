//! Which quantities of a draw are stored, and in which array.

use super::traced::Traced;
use crate::draws::Draw;
use crate::error::SpecError;
use crate::linalg::Mat;
use crate::model::features::Features;
use crate::model::{Model, State, axes, predictor};

/// The large quantities that a user can choose to store. X and the small quantities are always stored.
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
    /// Stored by default: everything that predictions need.
    pub const DEFAULT: [Kept; 3] = [Kept::W, Kept::Beta, Kept::Theta];

    /// The quantity called `name`.
    pub fn named(name: &str) -> Result<Self, SpecError> {
        let known = || Self::NAMES.map(|(name, _)| name).join(", ");
        let found = Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kept)| *kept);
        found.ok_or_else(|| SpecError::Unknown { what: "quantity to keep", name: name.into(), known: known() })
    }
}

/// A stored quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    X,
    W,
    Z,
    Beta,
    Tau2,
    LinearScale,
    F,
    Theta { block: usize, parameter: usize },
    Alpha,
    Clusters,
    FrequencyNorm,
    AxisInformation,
    AxesInUse,
    LengthScale,
    NoiseShare,
    ColumnProcessScale,
    ColumnProcessLengthScale,
    ColumnProcess,
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

/// Layout of a quantity, known before sampling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// The quantity.
    pub quantity: Quantity,
    /// Its group: `posterior`, or `sample_stats` for sampler statistics.
    pub group: &'static str,
    /// Its name.
    pub name: String,
    /// Whether its values are integers.
    pub is_integer: bool,
    /// Names and lengths of the axes of one draw.
    pub axes: Vec<(String, usize)>,
}

impl Described {
    /// Group and name.
    pub fn path(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }
}

/// The quantities stored for each draw of a model.
pub fn quantities(model: &Model, keep: &[Kept]) -> Vec<Described> {
    let (n, j, d, l) = (model.rows(), model.columns(), model.latent_dim(), model.frequencies());
    let (row, column, latent, frequency) = (("row", n), ("column", j), ("latent", d), ("frequency", l));
    let mut all = Vec::new();
    let mut add = |quantity, name: &str, is_integer, axes: &[(&str, usize)]| {
        let statistics = [
            Quantity::LnJoint,
            Quantity::LnLikelihood,
            Quantity::Acceptance,
            Quantity::StepSize,
            Quantity::FrequencyTries,
            Quantity::PositionTries,
        ];
        let group = if statistics.contains(&quantity) { "sample_stats" } else { "posterior" };
        let axes = axes.iter().map(|&(axis, length)| (axis.to_string(), length)).collect();
        all.push(Described { quantity, group, name: name.into(), is_integer, axes });
    };
    add(Quantity::X, "x", false, &[row, latent]);
    // Where axes can be pruned, positions cannot be interpreted without the frequencies.
    if keep.contains(&Kept::W) || model.has_relevance() {
        add(Quantity::W, "w", false, &[frequency, latent]);
        add(Quantity::Z, "z", true, &[frequency]);
    }
    if keep.contains(&Kept::Beta) {
        add(Quantity::Beta, "beta", false, &[("feature", model.width()), column]);
    }
    if keep.contains(&Kept::Theta) {
        if model.blocks().iter().any(|block| model.amplitude(block).prior().is_some()) {
            add(Quantity::Tau2, "tau2", false, &[column]);
        }
        for (block, b) in model.blocks().iter().enumerate() {
            let (_, axis) = block_names(model, block);
            for (parameter, name) in b.family.parameters().into_iter().enumerate() {
                let quantity = Quantity::Theta { block, parameter };
                add(quantity, &parameter_name(model, block, name), false, &[(&axis, b.columns.len())]);
            }
        }
    }
    if keep.contains(&Kept::F) {
        add(Quantity::F, "f", false, &[row, column]);
    }
    if model.has_linear() {
        add(Quantity::LinearScale, "linear_scale", false, &[]);
    }
    add(Quantity::Alpha, "alpha", false, &[]);
    add(Quantity::Clusters, "clusters", true, &[]);
    add(Quantity::FrequencyNorm, "w2", false, &[]);
    if model.has_relevance() {
        add(Quantity::AxisInformation, "axis_information", false, &[latent]);
        add(Quantity::AxesInUse, "axes_in_use", true, &[]);
    }
    if model.dynamics().is_some() {
        add(Quantity::LengthScale, "length_scale", false, &[latent]);
        add(Quantity::NoiseShare, "noise_share", false, &[latent]);
        add(Quantity::TimeScale, "time_scale", false, &[]);
    }
    if model.column_process().is_some() {
        add(Quantity::ColumnProcessScale, "column_process_scale", false, &[column]);
        add(Quantity::ColumnProcessLengthScale, "column_process_length_scale", false, &[column]);
    }
    if model.stores_column_process() {
        add(Quantity::ColumnProcess, "column_process", false, &[row, column]);
    }
    let traced = Traced::of(model);
    add(Quantity::Distance, "distance", false, &[("pair", traced.pairs.len())]);
    add(Quantity::Cell, "f_cell", false, &[("cell", traced.cells.len())]);
    add(Quantity::LnJoint, "lp", false, &[]);
    add(Quantity::LnLikelihood, "log_likelihood", false, &[]);
    add(Quantity::Acceptance, "acceptance_rate", false, &[]);
    add(Quantity::StepSize, "step_size", false, &[]);
    add(Quantity::FrequencyTries, "frequency_tries", false, &[]);
    add(Quantity::PositionTries, "position_tries", false, &[]);
    all
}

/// Suffix that distinguishes a block's parameters and their axis from another block's; empty for a single block.
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

/// The block and the parameter that an array holds, if it holds one.
pub fn parameter_of(model: &Model, array: &str) -> Option<(usize, &'static str)> {
    let of_block = |block: usize| model.blocks()[block].family.parameters().into_iter().map(move |name| (block, name));
    (0..model.blocks().len()).flat_map(of_block).find(|&(block, name)| parameter_name(model, block, name) == array)
}

/// F = o + Hβ + G.
fn predicted(model: &Model, state: &State) -> Mat {
    let features = &state.features;
    let own = Features::with(features.x().clone(), features.w().clone(), features.plain().clone());
    let mut f = Mat::zeros(model.rows(), model.columns());
    predictor(own.h(), state.beta.view(), model.known(state), &mut f);
    f
}

/// ℓ_d in the user's units of time.
fn length_scales(draw: &Draw<'_>) -> Vec<f64> {
    let span = draw.model.dynamics().map_or(1.0, |dynamics| dynamics.span());
    draw.state.axes.iter().map(|axis| span * axis.length_scale).collect()
}

impl Quantity {
    /// Appends the bytes of the quantity.
    pub fn write(self, draw: &Draw<'_>, traced: &Traced, to: &mut Vec<u8>) {
        let (state, stats) = (draw.state, &draw.stats);
        let mut put = |values: &[f64]| to.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        match self {
            Quantity::X => put(state.features.x().as_slice()),
            Quantity::W => put(state.features.w().as_slice()),
            Quantity::Beta => put(state.beta.as_slice()),
            Quantity::Tau2 => put(&state.tau2),
            Quantity::LinearScale => put(&[state.features.plain().s()]),
            Quantity::F if state.f.rows() > 0 => put(state.f.as_slice()),
            // A chain on a device holds it there.
            Quantity::F => put(predicted(draw.model, state).as_slice()),
            Quantity::Theta { block, parameter } => put(state.theta[block].values.row(parameter)),
            Quantity::Alpha => put(&[state.spectral.alpha]),
            Quantity::FrequencyNorm => put(&[state.features.w().as_slice().iter().map(|w| w * w).sum()]),
            Quantity::LengthScale => put(&length_scales(draw)),
            Quantity::NoiseShare => put(&state.axes.iter().map(|axis| axis.noise).collect::<Vec<f64>>()),
            Quantity::ColumnProcessScale => {
                put(&state.column_process.scales.iter().map(|own| own.share.sqrt()).collect::<Vec<f64>>());
            }
            Quantity::ColumnProcessLengthScale => {
                let span = draw.model.dynamics().map_or(1.0, |dynamics| dynamics.span());
                put(&state.column_process.scales.iter().map(|own| span * own.length_scale).collect::<Vec<f64>>());
            }
            Quantity::ColumnProcess => put(state.column_process.g.as_slice()),
            Quantity::TimeScale => {
                // The geometric mean: unlike the individual scales, it does not depend on the order of the axes.
                let scales = length_scales(draw);
                put(&[(scales.iter().map(|l| l.ln()).sum::<f64>() / scales.len() as f64).exp()]);
            }
            Quantity::AxisInformation => put(&draw.axis_information),
            Quantity::AxesInUse => {
                let count = draw.axis_information.iter().filter(|i| **i > axes::IN_USE).count();
                to.extend((count as i64).to_le_bytes());
            }
            Quantity::Distance => put(&traced.distances(draw.model, state)),
            Quantity::Cell => put(&draw.cells),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelSpec;
    use crate::model::family::Poisson;
    use crate::rng::Stream;
    use crate::simulate;
    use std::sync::Arc;

    #[test]
    fn f_of_a_state_without_it_is_computed_again() {
        let spec = ModelSpec { features: 10, linear: true, ..ModelSpec::default() };
        let model = simulate::blank(7, vec![(3, Arc::new(Poisson) as _)], 1, spec).unwrap();
        let mut state = simulate::draw_prior(&model, Stream::new(1)).unwrap();
        let before = state.f.clone();
        drop(state.lend());
        assert_eq!(state.f.rows(), 0);
        let apart = predicted(&model, &state);
        let apart = apart.as_slice().iter().zip(before.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(before.rows() == 7 && apart < 1e-12, "{apart}");
    }
}
