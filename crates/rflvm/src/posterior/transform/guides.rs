//! Where to look for the modes of new rows in wide tables. A search from anchors takes most of the time of placing a row, and in every
//! draw it finds the same places: near the same rows of the fit. So it is made for a few pilot draws, and in every draw the modes are sought from these
//! rows. What the pilots do not know is left to the prior's share of the proposal: evidence stays unbiased.
//!
//! Narrow tables, whose rows may have modes anywhere and are placed quickly, are searched in every draw.

use super::given::{own_paths, prior};
use super::new_rows::{Key, NewRows};
use super::search::{Anchors, Search};
use super::target::{Prior, Target, square};
use crate::error::{NumericalError, RunError};
use crate::linalg::Mat;
use crate::model::position::{Positions, Scratch};
use crate::model::{Known, Model};
use crate::par;
use crate::posterior::fitted::Fitted;
use crate::posterior::parameters::{Parameters, Stored};
use crate::rng::Stream;
use std::ops::Range;

/// Tables with fewer columns are narrow.
const WIDE: usize = 64;
/// Number of pilot draws; there are at least as many others as this for each.
const PILOTS: usize = 8;
const PER_PILOT: usize = 4;
/// Rows of the fit, evenly spaced, among which those next to a mode are found.
const ROWS: usize = 2000;
/// Modes whose mass is smaller than that of the largest by a factor of e to this are left out.
const LIGHT: f64 = 12.0;
/// Most rows that guide a search.
const MOST: usize = 12;

/// Rows of the fit next to the modes of each new row.
pub struct Guides {
    /// The first new row.
    first: usize,
    rows: Vec<Vec<usize>>,
}

impl Guides {
    /// From some of the visited draws; none for narrow tables and few draws.
    pub fn of(
        fitted: &Fitted<'_>,
        visited: &[(usize, usize)],
        (new, keys): (&NewRows, &[Key]),
        some: Range<usize>,
    ) -> Result<Option<Self>, RunError> {
        if fitted.model.columns() < WIDE || visited.len() < PER_PILOT * PILOTS {
            return Ok(None);
        }
        let mut stored = Stored::open(fitted.store, fitted.model)?;
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); some.len()];
        for i in 0..PILOTS {
            let (chain, draw) = visited[(2 * i + 1) * visited.len() / (2 * PILOTS)];
            let parameters = stored.at(chain, draw)?;
            let stream = fitted.stream.at(chain as u64).at(draw as u64).named("pilots");
            let found = beside_modes(fitted.model, (new, keys), some.clone(), &parameters, stream);
            let fail = |source| RunError::Numerical { chain: chain + 1, sweep: draw as u64 + 1, source };
            for (rows, found) in rows.iter_mut().zip(found.map_err(fail)?) {
                let new = found.into_iter().filter(|row| !rows.contains(row)).collect::<Vec<_>>();
                rows.extend(new);
                rows.truncate(MOST);
            }
        }
        Ok(Some(Guides { first: some.start, rows }))
    }

    #[cfg(test)]
    pub fn from_rows(first: usize, rows: Vec<Vec<usize>>) -> Self {
        Guides { first, rows }
    }

    /// Starting points of a new row in a draw with these positions, best first; none if it has no guides.
    pub fn starts(&self, n: usize, target: &Target<'_>, x: &Mat, scratch: &mut Scratch) -> Vec<Vec<f64>> {
        let points = self.rows[n - self.first].iter().map(|&row| target.prior.coordinates(x.row(row)));
        let points: Vec<Vec<f64>> = points.collect();
        let height = |(u, ln_lik): (Vec<f64>, f64)| (ln_lik - 0.5 * square(&u), u);
        let values = target.ln_lik_of_several(&points, scratch);
        let mut points: Vec<(f64, Vec<f64>)> = points.into_iter().zip(values).map(height).collect();
        points.retain(|(height, _)| height.is_finite());
        points.sort_by(|a, b| b.0.total_cmp(&a.0));
        points.into_iter().map(|(_, u)| u).collect()
    }
}

/// For each new row, the rows of the fit next to its modes in a draw, the largest mode first.
pub(super) fn beside_modes(
    model: &Model,
    (new, keys): (&NewRows, &[Key]),
    some: Range<usize>,
    parameters: &Parameters,
    stream: Stream,
) -> Result<Vec<Vec<usize>>, NumericalError> {
    let own = own_paths(model, (new, keys), some.clone(), parameters, stream.named("own paths"));
    let positions = Positions::new(&new.model, &parameters.theta, &parameters.beta, (&parameters.w, parameters.s));
    let positions = positions.beside(Known::new(new.model.offset(), &own));
    let anchors = Anchors::new(parameters, model.covariates().cols(), stream.named("anchors"));
    let (mean, sd) = prior(model, new, parameters)?;
    let count = model.rows().min(ROWS);
    let rows: Vec<usize> = (0..count).map(|i| (2 * i + 1) * model.rows() / (2 * count)).collect();
    Ok(par::map(some.len(), usize::MAX, |i| {
        let n = some.start + i;
        if new.model.observed(n) == 0 {
            return Vec::new();
        }
        let target = Target { positions: &positions, row: n, prior: Prior { mean: mean.row(n), sd: sd.row(n) } };
        let mut scratch = positions.scratch();
        let mut modes = Search::new(anchors.starts(&target, &mut scratch)).run(&target, &mut scratch);
        modes.sort_by(|a, b| b.ln_mass.total_cmp(&a.ln_mass));
        let least = modes.first().map_or(0.0, |mode| mode.ln_mass - LIGHT);
        let heavy = modes.iter().take_while(|mode| mode.ln_mass >= least);
        heavy.filter_map(|mode| nearest(&parameters.x, &rows, &target.prior.position(&mode.u))).collect()
    }))
}

/// The row next to a position.
fn nearest(x: &Mat, rows: &[usize], at: &[f64]) -> Option<usize> {
    let apart = |row: usize| x.row(row).iter().zip(at).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let each = rows.iter().map(|&row| (apart(row), row));
    each.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row)
}
