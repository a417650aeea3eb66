//! The S-curve of the paper, for any family.

use rflvm::error::NumericalError;
use rflvm::linalg::Mat;
use rflvm::model::family::{Family, Theta, Unit};
use rflvm::rng::Stream;
use rflvm::simulate::{self, SCurve};

/// The S-curve, with fixed parameters: noise of standard deviation ½ for real columns, dispersion r_j = j as in the paper, and
/// the prior mean elsewhere.
pub fn s_curve(
    family: &dyn Family,
    rows: usize,
    columns: usize,
    trials: u32,
    stream: Stream,
) -> Result<(SCurve, Theta), NumericalError> {
    let unit = Unit { centre: 0.0, scale: 1.0 };
    let of_column = |j: usize| match family.name() {
        "gaussian" => vec![4.0],
        "negative-binomial" => vec![(j + 1) as f64],
        _ => family.start(&[], &unit),
    };
    let own: Vec<Vec<f64>> = (0..columns).map(of_column).collect();
    let theta = Theta { values: Mat::from_fn(own[0].len(), columns, |p, j| own[j][p]), hyper: Vec::new() };
    Ok((simulate::s_curve(rows, columns, family, &theta, trials, stream)?, theta))
}
