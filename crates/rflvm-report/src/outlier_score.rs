//! How badly each row is predicted: the fraction of the rows whose observed cells have a higher predictive density per cell.
//!
//! The density of a cell is the mean over draws of p(y_nj | f_nj, θ_j). Rows are not left out, as `rflvm transform` does at far more cost,
//! so a row that shapes its surroundings has a lower score than it should.

use crate::subject::Subject;
use rflvm::internal::error::RunError;
use rflvm::internal::posterior::parameters::evenly;

/// Cells × draws that are evaluated: about a second.
const WORK: usize = 20_000_000;
/// Draws that are visited at most, and at least if any.
const DRAWS: usize = 30;
const LEAST: usize = 3;

/// The outlier score of each row, NaN for one without observed cells; `None` if the store lacks draws, or the table is too large.
pub fn outlier_score(subject: &Subject<'_>) -> Result<Option<Vec<f64>>, RunError> {
    let fitted = &subject.fitted;
    let (rows, columns) = (fitted.model.rows(), fitted.model.columns());
    let affordable = (WORK / (rows * columns)).min(DRAWS);
    if affordable < LEAST {
        return Ok(None);
    }
    let draws = evenly(fitted.used, fitted.store.size()?.1, affordable);
    // The mean over draws, relative to the largest so far: densities underflow.
    let (mut largest, mut sum) = (vec![f64::NEG_INFINITY; rows * columns], vec![0.0; rows * columns]);
    let outcome = fitted.ln_cells(&draws, |_, ln| {
        for ((ln, largest), sum) in ln.as_slice().iter().zip(&mut largest).zip(&mut sum) {
            let top = largest.max(*ln);
            if top > f64::NEG_INFINITY {
                *sum = *sum * (*largest - top).exp() + (ln - top).exp();
                *largest = top;
            }
        }
    });
    match outcome {
        Err(RunError::Spec(_)) => return Ok(None),
        other => other?,
    }
    let of_row = |n: usize| {
        let cells = n * columns..(n + 1) * columns;
        let ln: Vec<f64> = cells.filter(|&i| sum[i] > 0.0).map(|i| largest[i] + sum[i].ln()).collect();
        ln.iter().sum::<f64>() / ln.len() as f64
    };
    Ok(Some(fractions_above(&(0..rows).map(of_row).collect::<Vec<_>>())))
}

/// For each value, the fraction of the others that are larger.
fn fractions_above(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let others = (sorted.len().max(2) - 1) as f64;
    let above = |v: f64| (sorted.len() - sorted.partition_point(|s| *s <= v)) as f64 / others;
    values.iter().map(|&v| if v.is_nan() { f64::NAN } else { above(v) }).collect()
}

#[cfg(test)]
mod tests {
    use super::fractions_above;

    #[test]
    fn the_least_dense_row_has_the_highest_outlier_score() {
        let found = fractions_above(&[-3.0, f64::NAN, -1.0, -2.0]);
        assert_eq!((found[0], found[2], found[3]), (1.0, 0.0, 0.5));
        assert!(found[1].is_nan());
    }
}
