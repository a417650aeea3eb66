//! The hills of the posterior of a new position. It often has several: what y says of x is known through waves of all
//! frequencies. Positions of the draw's own rows, and some others, show where hills may lie; from those that are better than all
//! about them Gauss–Newton steps lead to the tops.

use super::target::{Target, square};
use crate::dist::normals;
use crate::linalg::{Cholesky, Mat};
use crate::model::position::Scratch;
use crate::posterior::parameters::Parameters;
use crate::rng::Stream;

/// Rows of the fit whose positions are tried.
const ROWS: usize = 64;
/// Other positions that are tried, where no row may be.
const OTHERS: usize = 16;
/// How far they are spread, in standard deviations of the prior.
const SPREAD: f64 = 2.0;
/// Hills that are climbed at most.
const STARTS: usize = 6;
/// A start is better than so many positions nearest to it.
const NEIGHBOURS: usize = 4;
/// Steps of a climb at most.
const STEPS: usize = 12;
/// A climb ends where the top is no higher than this.
const NEAR: f64 = 1e-3;
/// A hill whose top would lie this far below the highest one has no mass to speak of.
const HOPELESS: f64 = 30.0;

/// Positions of one draw where every new row is priced, with their f; the same for all rows.
pub struct Anchors {
    /// Positions of rows, then others.
    x: Mat,
    /// Without offsets.
    f: Mat,
    /// How many are rows.
    rows: usize,
}

/// The top of a hill, and the Gaussian fitted there.
pub struct Mode {
    pub u: Vec<f64>,
    pub factor: Cholesky,
    /// The log of the mass of that Gaussian, up to what all modes share.
    pub ln_mass: f64,
}

impl Anchors {
    /// Rows of the draw at random, and some other positions.
    pub fn new(parameters: &Parameters, stream: Stream) -> Self {
        let (rows, dim) = (parameters.x.rows(), parameters.x.cols());
        let rng = &mut stream.rng();
        let chosen = rand::seq::index::sample(rng, rows, ROWS.min(rows)).into_vec();
        let mut values: Vec<f64> = chosen.iter().flat_map(|&n| parameters.x.row(n)).copied().collect();
        values.extend(normals(OTHERS * dim, rng).iter().map(|v| SPREAD * v));
        let x = Mat::from_vec(chosen.len() + OTHERS, dim, values);
        Anchors { f: parameters.f(x.clone(), &vec![0.0; x.rows()]), x, rows: chosen.len() }
    }

    /// Where to begin: of the prior's centre and the anchors those that are likelier than their neighbours, the likeliest first.
    pub fn starts(&self, target: &Target<'_>, scratch: &mut Scratch) -> Vec<Vec<f64>> {
        let centre = vec![0.0; target.dim()];
        let mut all = vec![(target.ln_lik(&centre, scratch), centre)];
        for (i, (x, f)) in self.x.iter_rows().zip(self.f.iter_rows()).enumerate() {
            // The others follow the row's own prior; only where it is standard normal their f are known.
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
            // In order, so that what is likelier stands before.
            distances[..near].iter().all(|&(_, k)| k > i)
        };
        let tops: Vec<usize> = (0..all.len()).filter(is_top).take(STARTS).collect();
        tops.into_iter().map(|i| std::mem::take(&mut all[i].1)).collect()
    }
}

/// The tops that climbs from these starts lead to, each once.
pub fn modes(target: &Target<'_>, starts: Vec<Vec<f64>>, scratch: &mut Scratch) -> Vec<Mode> {
    let (mut found, mut highest): (Vec<Mode>, f64) = (Vec::new(), f64::NEG_INFINITY);
    for start in starts {
        if let Some((mode, height)) = climb(target, start, &found, highest, scratch) {
            highest = highest.max(height);
            found.push(mode);
        }
    }
    found
}

/// The top above `u` and its height; none where the climb leads to a hill that was found before, or to a hopeless one.
fn climb(
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

/// A higher point along the step, which is halved until there is one; it is priced last.
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
