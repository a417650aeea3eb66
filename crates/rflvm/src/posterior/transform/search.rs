//! Mode search for the posterior of a new position. It often has several modes: y informs x through waves of all
//! frequencies. Positions of the draw's own rows, and some others, are candidates; from those with a higher density than all
//! their neighbours, Gauss–Newton steps lead to the modes.

use super::target::{Target, square};
use crate::dist::normals;
use crate::linalg::{Cholesky, Mat};
use crate::model::position::Scratch;
use crate::posterior::parameters::Parameters;
use crate::rng::Stream;

/// Number of rows of the fit whose positions are tried.
const ROWS: usize = 64;
/// Number of other positions that are tried, where there may be no row.
const OTHERS: usize = 16;
/// How far they are spread, in standard deviations of the prior.
const SPREAD: f64 = 2.0;
/// Maximum number of modes searched.
const STARTS: usize = 6;
/// A start must be better than this many nearest positions.
const NEIGHBOURS: usize = 4;
/// Maximum number of steps per search.
const STEPS: usize = 12;
/// A search ends when the predicted gain is below this.
const NEAR: f64 = 1e-3;
/// A mode whose predicted height is this far below the highest one has negligible mass.
const HOPELESS: f64 = 30.0;

/// Positions of one draw at which every new row is evaluated, with their f; all rows share them.
pub struct Anchors {
    /// Positions of rows, then others.
    x: Mat,
    /// Without offsets and covariates.
    f: Mat,
    /// Number of them that are rows.
    rows: usize,
}

/// A mode, and the Gaussian fitted there.
pub struct Mode {
    pub u: Vec<f64>,
    pub factor: Cholesky,
    /// The log mass of that Gaussian, up to a constant shared by all modes.
    pub ln_mass: f64,
}

impl Anchors {
    /// Random rows of the draw, and some other positions, for new rows with this many covariates.
    pub fn new(parameters: &Parameters, covariates: usize, stream: Stream) -> Self {
        let (rows, dim) = (parameters.x.rows(), parameters.x.cols());
        let rng = &mut stream.rng();
        let chosen = rand::seq::index::sample(rng, rows, ROWS.min(rows)).into_vec();
        let mut values: Vec<f64> = chosen.iter().flat_map(|&n| parameters.x.row(n)).copied().collect();
        values.extend(normals(OTHERS * dim, rng).iter().map(|v| SPREAD * v));
        let x = Mat::from_vec(chosen.len() + OTHERS, dim, values);
        let f = parameters.f(x.clone(), &vec![0.0; x.rows()], Mat::zeros(x.rows(), covariates));
        Anchors { f, x, rows: chosen.len() }
    }

    /// Starting points: among the prior's centre and the anchors, those with a higher density than their neighbours, best first.
    pub fn starts(&self, target: &Target<'_>, scratch: &mut Scratch) -> Vec<Vec<f64>> {
        let centre = vec![0.0; target.dim()];
        let mut all = vec![(target.ln_lik(&centre, scratch), centre)];
        for (i, (x, f)) in self.x.iter_rows().zip(self.f.iter_rows()).enumerate() {
            // The other anchors follow the row's own prior; their f is known only if that is standard normal.
            let (u, ln_lik) = if i < self.rows || target.is_standard() {
                (target.coordinates(x), target.positions.ln_lik_at(target.row, f, scratch))
            } else {
                (x.to_vec(), target.ln_lik(x, scratch))
            };
            all.push((ln_lik - 0.5 * square(&u), u));
        }
        all.retain(|(value, _)| value.is_finite());
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let is_top = |&i: &usize| {
            let mut distances: Vec<(f64, usize)> =
                (0..all.len()).filter(|&k| k != i).map(|k| (apart(&all[i].1, &all[k].1), k)).collect();
            let near = NEIGHBOURS.min(distances.len());
            if near > 0 {
                distances.select_nth_unstable_by(near - 1, |a, b| a.0.total_cmp(&b.0));
            }
            // Sorted, so that better points come first.
            distances[..near].iter().all(|&(_, k)| k > i)
        };
        let tops: Vec<usize> = (0..all.len()).filter(is_top).take(STARTS).collect();
        tops.into_iter().map(|i| std::mem::take(&mut all[i].1)).collect()
    }
}

/// The distinct modes reached from these starts.
pub fn modes(target: &Target<'_>, starts: Vec<Vec<f64>>, scratch: &mut Scratch) -> Vec<Mode> {
    let (mut found, mut highest): (Vec<Mode>, f64) = (Vec::new(), f64::NEG_INFINITY);
    for start in starts {
        if let Some((mode, height)) = ascend(target, start, &found, highest, scratch) {
            highest = highest.max(height);
            found.push(mode);
        }
    }
    found
}

/// The mode reached from `u` and its height; `None` if it was found before or is hopeless.
fn ascend(
    target: &Target<'_>,
    mut u: Vec<f64>,
    found: &[Mode],
    highest: f64,
    scratch: &mut Scratch,
) -> Option<(Mode, f64)> {
    let mut height = target.ln_lik(&u, scratch) - 0.5 * square(&u);
    for steps in 0..=STEPS {
        let is_known = |mode: &Mode| {
            let mut apart = minus(&u, &mode.u);
            mode.factor.mul_upper(&mut apart);
            square(&apart) < 0.25
        };
        if found.iter().any(is_known) {
            return None;
        }
        let local = target.local(&u, scratch)?;
        if steps > 1 && height + local.decrement < highest - HOPELESS {
            return None;
        }
        let risen =
            if steps < STEPS && local.decrement > NEAR { rise(target, &u, height, &local.step, scratch) } else { None };
        let Some(higher) = risen else {
            let ln_mass = height - 0.5 * local.factor.ln_det();
            return Some((Mode { u, factor: local.factor, ln_mass }, height));
        };
        (u, height) = higher;
    }
    None
}

/// A higher point along the step, which is halved until one is found; it is the last evaluated.
fn rise(target: &Target<'_>, u: &[f64], height: f64, step: &[f64], scratch: &mut Scratch) -> Option<(Vec<f64>, f64)> {
    let halvings = (0..8).map(|k| 0.5_f64.powi(k));
    let mut there = halvings.map(|share| u.iter().zip(step).map(|(u, s)| u + share * s).collect::<Vec<f64>>());
    there.find_map(|there| {
        let value = target.ln_lik(&there, scratch) - 0.5 * square(&there);
        (value > height).then_some((there, value))
    })
}

/// |a − b|².
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
