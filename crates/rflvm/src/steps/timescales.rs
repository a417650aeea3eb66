//! ℓ_d and ρ_d of the paths, by elliptical slices under their Gaussian prior (in ln ℓ and logit ρ), in two ways that help where the
//! other is stuck: with X held, which is right where the data pin X down, and with the noise held that X is made from (X = L(ℓ, ρ)u),
//! which moves X along and is right where they do not. One axis a sweep must do: where C is dense a
//! few factors of it cost as much as the rest of a sweep.

use crate::dist::normals;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::features::{Features, fill};
use crate::model::latent::{Axis, AxisPrior, Path, Paths};
use crate::model::{Model, State, predictor};
use crate::rng::{Stream, StreamRng};
use crate::slice::{self, Landing};
use rand::RngExt;

/// ℓ and ρ of one axis, drawn at random, given X; `paths` follows.
pub fn centred(state: &mut State, paths: &mut Paths<'_>, stream: Stream) -> Result<(), NumericalError> {
    let rng = &mut stream.rng();
    let (d, x) = (rng.random_range(0..state.axes.len()), state.features.x());
    let current = paths.dynamics().ln_axis(d, paths.of_axis(d), x);
    finite(current, d)?;
    let (dynamics, mut taken) = (paths.dynamics(), None);
    let ellipse = Ellipse::new(dynamics.prior(), &state.axes[d], rng);
    let landing = slice::elliptical(rng, current, |cos, sin| {
        // Hyperparameters whose covariance has no factor are refused.
        let Ok(candidate) = Paths::axis(dynamics, &ellipse.at(cos, sin), None) else { return f64::NEG_INFINITY };
        let ln_density = dynamics.ln_axis(d, &candidate, x);
        taken = Some(candidate);
        ln_density
    });
    ellipse.land(landing, taken, d, &mut state.axes, paths);
    Ok(())
}

/// ℓ and ρ of one axis, drawn at random, given the noise that X is made from; X and `paths` follow. Each candidate costs a
/// likelihood of all cells beside its factor.
pub fn whitened(model: &Model, state: &mut State, paths: &mut Paths<'_>, stream: Stream) -> Result<(), NumericalError> {
    let (mut x, mut h) = (state.features.x().clone(), state.features.h().clone());
    let mut f = Mat::zeros(model.rows(), model.columns());
    let rng = &mut stream.rng();
    let d = rng.random_range(0..state.axes.len());
    let noise = paths.whiten_axis(d, state.features.x(), rng);
    let current = model.ln_lik(state);
    finite(current, d)?;
    let (dynamics, mut taken) = (paths.dynamics(), None);
    let ellipse = Ellipse::new(dynamics.prior(), &state.axes[d], rng);
    let landing = slice::elliptical(rng, current, |cos, sin| {
        let Ok(candidate) = Paths::axis(dynamics, &ellipse.at(cos, sin), None) else { return f64::NEG_INFINITY };
        paths.colour_axis(d, &candidate, &noise, &mut x);
        taken = Some(candidate);
        fill(&x, state.features.w(), &mut h);
        predictor(&h, state.beta.view(), model.offset(), &mut f);
        crate::par::sum(model.rows(), 4 * model.columns(), |rows| {
            rows.map(|n| model.ln_lik_row(&state.theta, n, f.row(n))).sum()
        })
    });
    if landing.sin != 0.0 {
        state.features = Features::new(x.clone(), state.features.w().clone());
        std::mem::swap(&mut state.f, &mut f);
    }
    ellipse.land(landing, taken, d, &mut state.axes, paths);
    Ok(())
}

/// Refuses to go on from a density that is not finite.
fn finite(value: f64, d: usize) -> Result<(), NumericalError> {
    let place = || format!("axis {}", d + 1);
    if value.is_finite() {
        Ok(())
    } else {
        Err(NumericalError::NotFinite { step: "time scales", value, place: place() })
    }
}

/// The prior's coordinates of an axis, and a draw of them.
struct Ellipse {
    prior: AxisPrior,
    from: [f64; 2],
    draw: Vec<f64>,
}

impl Ellipse {
    fn new(prior: &AxisPrior, axis: &Axis, rng: &mut StreamRng) -> Self {
        Ellipse { prior: *prior, from: prior.coordinates(axis), draw: normals(2, rng) }
    }

    fn at(&self, cos: f64, sin: f64) -> Axis {
        self.prior.at([0, 1].map(|i| cos * self.from[i] + sin * self.draw[i]))
    }

    /// The candidate priced last is the one that was taken.
    fn land(&self, landing: Landing, taken: Option<Vec<Path>>, d: usize, axes: &mut [Axis], paths: &mut Paths<'_>) {
        if let (true, Some(taken)) = (landing.sin != 0.0, taken) {
            axes[d] = self.at(landing.cos, landing.sin);
            paths.set_axis(d, taken);
        }
    }
}
