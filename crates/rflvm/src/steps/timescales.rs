//! ℓ_d and ρ_d of the paths, by elliptical slices under their Gaussian prior (in ln ℓ and logit ρ), in two complementary ways:
//! with X fixed, which mixes well if the data determine X, and with the noise from which X is made fixed (X = L(ℓ, ρ)u),
//! which moves X along and mixes well if they do not. One axis per sweep must suffice: if C is dense, a
//! few factorisations cost as much as the rest of a sweep.

use crate::dist::normals;
use crate::error::NumericalError;
use crate::model::latent::{Axis, AxisPrior, Path, Paths};
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};
use crate::slice::{self, Landing};
use crate::table::Table;
use rand::RngExt;

/// ℓ and ρ of one random axis, given X; `paths` is updated.
pub fn centred(state: &mut State, paths: &mut Paths<'_>, stream: Stream) -> Result<(), NumericalError> {
    let rng = &mut stream.rng();
    let (d, x) = (rng.random_range(0..state.axes.len()), state.features.x());
    let current = paths.dynamics().ln_axis(d, paths.of_axis(d), x);
    finite(current, d)?;
    let (dynamics, mut taken) = (paths.dynamics(), None);
    let ellipse = AxisEllipse::new(dynamics.prior(), &state.axes[d], rng);
    let landing = slice::elliptical(rng, current, |cos, sin| {
        // Hyperparameters whose covariance cannot be factored are rejected.
        let Ok(candidate) = Paths::axis(dynamics, &ellipse.at(cos, sin), None) else { return f64::NEG_INFINITY };
        let ln_density = dynamics.ln_axis(d, &candidate, x);
        taken = Some(candidate);
        ln_density
    });
    ellipse.land(landing, taken, d, &mut state.axes, paths);
    Ok(())
}

/// ℓ and ρ of one random axis, given the noise from which X is made; X and `paths` are updated. Each candidate costs a
/// likelihood of all cells besides its factorisation.
pub fn whitened(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    paths: &mut Paths<'_>,
    stream: Stream,
) -> Result<(), NumericalError> {
    let current = table.ln_lik(model, state);
    table.check()?;
    let mut x = state.features.x().clone();
    let rng = &mut stream.rng();
    let d = rng.random_range(0..state.axes.len());
    let noise = paths.whiten_axis(d, &x, rng);
    finite(current, d)?;
    let all: Vec<usize> = (0..model.rows()).collect();
    let (dynamics, mut taken) = (paths.dynamics(), None);
    let ellipse = AxisEllipse::new(dynamics.prior(), &state.axes[d], rng);
    let landing = slice::elliptical(rng, current, |cos, sin| {
        let Ok(candidate) = Paths::axis(dynamics, &ellipse.at(cos, sin), None) else { return f64::NEG_INFINITY };
        paths.colour_axis(d, &candidate, &noise, &mut x);
        taken = Some(candidate);
        table.ln_lik_window_at(model, state, &all, &x)
    });
    if landing.sin != 0.0 {
        table.set_window(state, &all, &x);
    }
    ellipse.land(landing, taken, d, &mut state.axes, paths);
    table.settle_windows(model, state);
    table.check()
}

/// Fails if the current density is not finite.
fn finite(value: f64, d: usize) -> Result<(), NumericalError> {
    let place = || format!("axis {}", d + 1);
    if value.is_finite() {
        Ok(())
    } else {
        Err(NumericalError::NotFinite { step: "time scales", value, place: place() })
    }
}

/// The prior's coordinates of an axis, and a draw of them.
struct AxisEllipse {
    prior: AxisPrior,
    from: [f64; 2],
    draw: Vec<f64>,
}

impl AxisEllipse {
    fn new(prior: &AxisPrior, axis: &Axis, rng: &mut StreamRng) -> Self {
        AxisEllipse { prior: *prior, from: prior.coordinates(axis), draw: normals(2, rng) }
    }

    fn at(&self, cos: f64, sin: f64) -> Axis {
        self.prior.at([0, 1].map(|i| cos * self.from[i] + sin * self.draw[i]))
    }

    /// The last evaluated candidate is the accepted one.
    fn land(&self, landing: Landing, taken: Option<Vec<Path>>, d: usize, axes: &mut [Axis], paths: &mut Paths<'_>) {
        if let (true, Some(taken)) = (landing.sin != 0.0, taken) {
            axes[d] = self.at(landing.cos, landing.sin);
            paths.set_axis(d, taken);
        }
    }
}
