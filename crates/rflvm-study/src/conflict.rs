//! Priors that conflict with their posterior, in words: what conflicts, and which setting to change.

use rflvm::internal::model::{Amplitude, Model};
use rflvm::internal::posterior::check::{Assumption, Conflict};

/// Said if there are none.
pub const NONE: &str = "no prior conflicts with its posterior";

/// The column or axis that is farthest outside; nothing if there is only one quantity of its kind.
pub fn worst(conflict: &Conflict, model: &Model) -> Option<String> {
    match conflict.assumption {
        Assumption::Weights | Assumption::Amplitude | Assumption::Parameter(..) => {
            Some(format!("column '{}'", model.names()[conflict.worst]))
        }
        Assumption::LengthScale | Assumption::NoiseShare => Some(format!("axis {}", conflict.worst + 1)),
        Assumption::Alpha | Assumption::Clusters => None,
    }
}

/// Where and how far the posterior is from the prior.
pub fn words(conflict: &Conflict, model: &Model) -> String {
    let side = if conflict.is_above() { "above" } else { "below" };
    let [low, high] = conflict.limits().map(number);
    let median = number(conflict.median);
    let Some(worst) = worst(conflict, model) else {
        return format!("its posterior median, {median}, is {side} its prior ({low} … {high})");
    };
    let plural = match (conflict.block, conflict.all) {
        (Some(_), 1) => "column",
        (Some(_), _) => "columns",
        (None, 1) => "axis",
        (None, _) => "axes",
    };
    let (outside, all) = (conflict.outside, conflict.all);
    format!("{outside} of {all} {plural}; worst: {worst}, posterior median {median}, {side} its prior ({low} … {high})")
}

/// What to change. Settings are marked, for [`crate::message::render`].
pub fn advice(conflict: &Conflict, model: &Model) -> String {
    let block = conflict.block.map(|b| &model.blocks()[b]);
    let family = block.map_or("", |block| block.family.name());
    let (name, prior) = match (conflict.assumption, block.map(|block| model.amplitude(block))) {
        (Assumption::Weights, Some(Amplitude::Fixed(tau2))) => {
            let side = if conflict.is_above() { "stronger" } else { "weaker" };
            let own = number(tau2 * conflict.median);
            return format!(
                "the signal is {side} than the prior allows: try ⟨amplitude=learned⟩ or ⟨amplitude={own}⟩, and compare their predictions"
            );
        }
        (Assumption::Weights, Some(Amplitude::Shared(_))) => {
            return "columns differ more in strength than one amplitude allows: try ⟨amplitude=learned⟩".into();
        }
        (Assumption::Weights | Assumption::Amplitude, _) => ("the amplitude", "amplitude"),
        (Assumption::Parameter(name, _), _) => match (family, name) {
            ("student-t", "dof") => ("the degrees of freedom", "student-t.dof"),
            ("student-t", _) => ("the noise", "student-t.noise"),
            (_, "precision") => ("the noise", "noise"),
            (_, "r") => ("the dispersion", "dispersion"),
            (_, "logit_pi") => ("the share of extra zeros", "zero-inflation"),
            (_, name) if name.starts_with("ln_gap") => ("the gaps between cut points", "cut-points"),
            _ => return format!("change the prior of {name} in the family {family}"),
        },
        (Assumption::Alpha | Assumption::Clusters, _) => ("the clusters of frequencies", "alpha"),
        (Assumption::LengthScale, _) => ("the length-scales", "length-scale"),
        (Assumption::NoiseShare, _) => ("the shares of noise", "noise-share"),
    };
    format!("the data contradict the prior of {name}: if the table has no errors, change ⟨priors={prior}⟩")
}

/// Three significant digits.
fn number(value: f64) -> String {
    let power = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    match power {
        p if !(-4.0..6.0).contains(&p) => format!("{value:.2e}"),
        p => format!("{value:.*}", (2.0 - p).max(0.0) as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Plain, render};
    use rflvm::internal::model::family::Gaussian;
    use rflvm::internal::model::{HalfT, ModelSpec, Priors};
    use rflvm::internal::observations::Observations;

    fn model(amplitude: Amplitude) -> Model {
        let y = rflvm::internal::linalg::Mat::from_fn(6, 2, |n, j| (n * (j + 1) % 4) as f64);
        let priors = Priors { amplitude: Some(amplitude), ..Priors::default() };
        let spec = ModelSpec { features: 4, priors, ..ModelSpec::default() };
        Model::new(Observations::new(y).unwrap(), Gaussian::default(), spec).unwrap()
    }

    fn conflict(assumption: Assumption, block: Option<usize>) -> Conflict {
        let prior = [0.5, 0.75, 1.0, 1.25, 1.5];
        Conflict { assumption, block, all: 2, outside: 1, worst: 1, median: 12.34, prior }
    }

    #[test]
    fn words_name_the_worst_column_and_advice_the_setting() {
        let fixed = model(Amplitude::Fixed(2.0));
        let weights = conflict(Assumption::Weights, Some(0));
        let expected = "1 of 2 columns; worst: column '2', posterior median 12.3, above its prior (0.500 … 1.50)";
        assert_eq!(words(&weights, &fixed), expected);
        let said = |conflict: &Conflict, model: &Model| render(&advice(conflict, model), &Plain);
        let learned = model(Amplitude::Learned(HalfT::default()));
        let shared = model(Amplitude::Shared(HalfT::default()));
        assert!(said(&weights, &fixed).contains("stronger"));
        assert!(said(&weights, &fixed).contains("`amplitude = learned` or `amplitude = 24.7`"));
        assert!(said(&weights, &shared).contains("`amplitude = learned`"));
        assert!(said(&weights, &learned).contains("`[priors] amplitude`"));
        let noise = conflict(Assumption::Parameter("precision", 0), Some(0));
        assert!(said(&noise, &learned).contains("`[priors] noise`"));
        for (assumption, prior) in [
            (Assumption::Alpha, "alpha"),
            (Assumption::Clusters, "alpha"),
            (Assumption::LengthScale, "length-scale"),
            (Assumption::NoiseShare, "noise-share"),
        ] {
            assert!(said(&conflict(assumption, None), &learned).contains(&format!("`[priors] {prior}`")));
        }
        let clusters = words(&conflict(Assumption::Clusters, None), &learned);
        assert_eq!(clusters, "its posterior median, 12.3, is above its prior (0.500 … 1.50)");
        assert!(words(&conflict(Assumption::LengthScale, None), &learned).starts_with("1 of 2 axes; worst: axis 2"));
    }
}
