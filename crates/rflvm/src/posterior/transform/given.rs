//! What a draw says of new rows before their cells are looked at: columns' own paths at their times, and the prior of their positions.

use super::new_rows::{Key, NewRows};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::Model;
use crate::par;
use crate::posterior::own_paths::ahead;
use crate::posterior::parameters::Parameters;
use crate::rng::Stream;
use std::collections::BTreeSet;
use std::ops::Range;

/// Columns' own paths at some of the new rows, new rows × columns; empty where columns have none.
pub(super) fn own_paths(
    model: &Model,
    (new, keys): (&NewRows, &[Key]),
    some: Range<usize>,
    parameters: &Parameters,
    stream: Stream,
) -> Mat {
    let (true, Some(times)) = (model.residual().is_some(), &new.times) else { return Mat::default() };
    let drawn = par::map(some.len(), 1000 * some.len() * model.rows() * model.columns(), |i| {
        let n = some.start + i;
        ahead(model, &parameters.residual, times.sequence[n], &times.at[n..=n], stream.along(keys[n]))
    });
    let mut own = Mat::zeros(new.model.rows(), model.columns());
    some.zip(drawn).for_each(|(n, drawn)| own.row_mut(n).copy_from_slice(drawn.row(0)));
    own
}

/// Prior mean and standard deviation of each new position, N×D.
pub(super) fn prior(model: &Model, new: &NewRows, parameters: &Parameters) -> Result<(Mat, Mat), NumericalError> {
    let (rows, dim) = (new.model.rows(), parameters.x.cols());
    let (mut mean, mut sd) = (Mat::zeros(rows, dim), Mat::from_fn(rows, dim, |_, _| 1.0));
    let (Some(dynamics), Some(times)) = (model.dynamics(), &new.times) else { return Ok((mean, sd)) };
    for sequence in times.sequence.iter().copied().collect::<BTreeSet<usize>>() {
        let own: Vec<usize> = (0..rows).filter(|&n| times.sequence[n] == sequence).collect();
        let at: Vec<f64> = own.iter().map(|&n| times.at[n]).collect();
        let (m, s) = dynamics.expected(&parameters.axes, &parameters.x, sequence, &at)?;
        for (i, &n) in own.iter().enumerate() {
            mean.row_mut(n).copy_from_slice(m.row(i));
            sd.row_mut(n).copy_from_slice(s.row(i));
        }
    }
    Ok((mean, sd))
}
