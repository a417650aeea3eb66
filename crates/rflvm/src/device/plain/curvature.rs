//! How sharply cells determine their f, and the Gaussian that this gives for the weights of a column.

use crate::dist::canonical::Canonical;
use crate::linalg::Symmetric;
use crate::model::Block;
use crate::model::family::{Law, Row};

/// A fit with a larger curvature is of no use, since its squares overflow.
const MOST_CURVATURE: f64 = 1e100;

/// The Gaussian with a curvature and a response, under a prior; the prior itself, where they are too large or not positive definite.
pub(super) fn law(curvature: &Symmetric, response: &[f64], precision: &[f64], centre: f64) -> Canonical {
    let last = response.len() - 1;
    let shift = |response: &[f64]| {
        let mut shift = response.to_vec();
        shift[last] += precision[last] * centre;
        shift
    };
    let is_usable = (0..=last).all(|m| response[m].abs() < MOST_CURVATURE && curvature.at(m, m).abs() < MOST_CURVATURE);
    let fitted = || Canonical::new(curvature.scaled_plus(1.0, precision), shift(response), 1.0, "weights").ok();
    is_usable.then(fitted).flatten().unwrap_or_else(|| {
        let mut prior = Symmetric::default();
        prior.compute(last + 1, |_, row| row.fill(0.0));
        let nothing = vec![0.0; last + 1];
        let prior = Canonical::new(prior.scaled_plus(1.0, precision), shift(&nothing), 1.0, "weights");
        prior.expect("precisions are positive")
    })
}

/// The information of a cell of column j of a block, whose second derivative is known; exact, where [`crate::Family::information`] may be a difference
/// quotient.
pub(super) fn information_of(block: &Block, row: Row<'_>, j: usize, f: f64) -> f64 {
    let logistic = 1.0 / (1.0 + (-f).exp());
    let theta = |p: usize| row.theta.values[(p, j)];
    match Law::of(block.family.as_ref()) {
        Some(Law::Gaussian(_) | Law::Isotropic(_)) => theta(0),
        Some(Law::Poisson | Law::Multinomial) => f.min(690.0).exp(),
        Some(Law::Binomial(trials)) => trials.of(row.n, j) * logistic * (1.0 - logistic),
        Some(Law::NegativeBinomial(_)) => (row.y[j] + theta(0)) * logistic * (1.0 - logistic),
        Some(Law::StudentT(_)) => theta(0) * (theta(1) + 1.0) / (theta(1) + 3.0),
        // As if it were known which zeros are counts.
        Some(Law::ZeroInflatedPoisson(_)) => {
            let rate = f.min(690.0).exp();
            rate * if row.y[j] == 0.0 { crate::dist::logistic(-theta(0) - rate) } else { 1.0 }
        }
        None => f64::NAN,
    }
}
