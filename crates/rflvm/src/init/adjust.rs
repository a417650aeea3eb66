//! A table without the effects of covariates, so that a start does not show them: rows of one batch would otherwise begin together, and a
//! chain leaves such a start slowly.

use crate::linalg::{Cholesky, Mat};
use crate::model::Model;
use crate::par;

/// Precision of an effect, in units of the columns: as weak as a single row.
const RIDGE: f64 = 1.0;

/// Subtracts from each column of `link` its regression on the covariates, over the cells that are not missing.
pub(super) fn without_covariates(model: &Model, link: &mut Mat) {
    let (u, count) = (model.covariates(), model.covariates().cols());
    if count == 0 {
        return;
    }
    let work = link.rows() * link.cols() * count * count;
    let effects = par::map(link.cols(), work, |j| {
        let seen: Vec<usize> = (0..link.rows()).filter(|&n| !link[(n, j)].is_nan()).collect();
        let mean = seen.iter().map(|&n| link[(n, j)]).sum::<f64>() / seen.len().max(1) as f64;
        let (mut a, mut c) = (Mat::identity(count, RIDGE), vec![0.0; count]);
        for &n in &seen {
            for (i, ui) in u.row(n).iter().enumerate() {
                c[i] += ui * (link[(n, j)] - mean);
                a.row_mut(i).iter_mut().zip(u.row(n)).for_each(|(a, uk)| *a += ui * uk);
            }
        }
        // Without a factor the column stays as it is: only a start depends on it.
        Cholesky::new(&a, "covariates").ok().map(|factor| {
            factor.solve(&mut c);
            c
        })
    });
    for (j, gamma) in effects.iter().enumerate() {
        let Some(gamma) = gamma else { continue };
        for n in 0..link.rows() {
            link[(n, j)] -= u.row(n).iter().zip(gamma).map(|(u, g)| u * g).sum::<f64>();
        }
    }
}
