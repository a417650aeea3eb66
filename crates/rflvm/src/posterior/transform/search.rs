//! Mode search for the posterior of a new position. It often has several modes: y informs x through waves of all
//! frequencies. Positions of the draw's own rows, and some others, are candidates; from those with a higher density than all
//! their neighbours, Gauss–Newton steps lead to the modes.

use super::target::{Local, Prior, Target, square};
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
/// Maximum number of halvings of a step that does not lead higher.
const HALVINGS: i32 = 8;
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
    /// For each point that is tried, the others by their distance, if the prior is standard normal.
    nearest: Vec<Vec<usize>>,
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
        let mut anchors = Anchors { f, x, rows: chosen.len(), nearest: Vec::new() };
        anchors.nearest = nearest(&anchors.points(Prior { mean: &vec![0.0; dim], sd: &vec![1.0; dim] }));
        anchors
    }

    /// Starting points: among the prior's centre and the anchors, those with a higher density than their neighbours, best first.
    pub fn starts(&self, target: &Target<'_>, scratch: &mut Scratch) -> Vec<Vec<f64>> {
        let points = self.points(target.prior);
        let value = |(i, u): (usize, &Vec<f64>)| match i.checked_sub(1) {
            // The f of an anchor is known, unless it follows the row's own prior.
            Some(i) if i < self.rows || target.prior.is_standard() => {
                target.positions.ln_lik_at(target.row, self.f.row(i), scratch)
            }
            _ => target.ln_lik(u, scratch),
        };
        let values = points.iter().enumerate().map(value).collect::<Vec<f64>>();
        self.tops(target.prior, points, &values)
    }

    /// The points that are tried.
    pub fn points(&self, prior: Prior<'_>) -> Vec<Vec<f64>> {
        (0..self.count()).map(|i| self.point(i, prior)).collect()
    }

    /// Those points with a higher density than their neighbours, best first, by their log-likelihoods.
    pub fn tops(&self, prior: Prior<'_>, points: Vec<Vec<f64>>, ln_lik: &[f64]) -> Vec<Vec<f64>> {
        let of_row = if prior.is_standard() { Vec::new() } else { nearest(&points) };
        let nearest = if prior.is_standard() { &self.nearest } else { &of_row };
        let height: Vec<f64> = points.iter().zip(ln_lik).map(|(u, ln_lik)| ln_lik - 0.5 * square(u)).collect();
        let is_top = |&i: &usize| {
            let near = nearest[i].iter().filter(|&&k| height[k].is_finite()).take(NEIGHBOURS);
            near.copied().all(|k| height[k] < height[i] || height[k] == height[i] && k > i)
        };
        let mut tops: Vec<usize> = (0..points.len()).filter(|&i| height[i].is_finite()).filter(is_top).collect();
        tops.sort_by(|&a, &b| height[b].total_cmp(&height[a]));
        tops.iter().take(STARTS).map(|&i| points[i].clone()).collect()
    }

    /// Number of points that are tried.
    pub fn count(&self) -> usize {
        1 + self.x.rows()
    }

    /// One of them: the prior's centre, an anchor that is a row, or another, which follows the prior of the new row.
    pub fn point(&self, i: usize, prior: Prior<'_>) -> Vec<f64> {
        match i.checked_sub(1) {
            None => vec![0.0; prior.dim()],
            Some(i) if i < self.rows => prior.coordinates(self.x.row(i)),
            Some(i) => self.x.row(i).to_vec(),
        }
    }
}

/// For each point, the others by their distance.
fn nearest(points: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let of = |(i, u): (usize, &Vec<f64>)| {
        let mut others: Vec<(f64, usize)> =
            points.iter().enumerate().filter(|(k, _)| *k != i).map(|(k, v)| (apart(u, v), k)).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        others.into_iter().map(|(_, k)| k).collect()
    };
    points.iter().enumerate().map(of).collect()
}

/// The distinct modes reached from these starts.
pub fn modes(target: &Target<'_>, starts: Vec<Vec<f64>>, scratch: &mut Scratch) -> Vec<Mode> {
    let mut search = Search::new(starts);
    while let Some(query) = search.query() {
        let u = search.point();
        match query {
            Query::LnLik => search.take_ln_lik(target.ln_lik(&u, scratch)),
            Query::Local => search.take_local(target.local(&u, scratch)),
        }
    }
    search.found()
}

/// A search for modes whose questions are answered from outside, so that those of many rows can go on side by side.
pub struct Search {
    /// Starts to come, the last one first.
    starts: Vec<Vec<f64>>,
    found: Vec<Mode>,
    highest: f64,
    /// The present point and its height.
    u: Vec<f64>,
    height: f64,
    steps: usize,
    stage: Stage,
}

/// What a search needs to know at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    LnLik,
    /// The Gaussian approximation, at the last point whose log-likelihood was asked for.
    Local,
}

enum Stage {
    /// At a start of unknown height.
    Start,
    /// At a point without a Gaussian approximation.
    Local,
    /// Between a point and the predicted mode; halved this often.
    Rise(Local, i32),
    Done,
}

impl Search {
    pub fn new(mut starts: Vec<Vec<f64>>) -> Self {
        starts.reverse();
        let (found, highest) = (Vec::new(), f64::NEG_INFINITY);
        let mut search = Search { starts, found, highest, u: Vec::new(), height: 0.0, steps: 0, stage: Stage::Done };
        search.next();
        search
    }

    /// The distinct modes.
    pub fn found(self) -> Vec<Mode> {
        self.found
    }

    /// The next question; `None` if the search has ended.
    pub fn query(&self) -> Option<Query> {
        match self.stage {
            Stage::Start | Stage::Rise(..) => Some(Query::LnLik),
            Stage::Local => Some(Query::Local),
            Stage::Done => None,
        }
    }

    /// The point of the question.
    pub fn point(&self) -> Vec<f64> {
        match &self.stage {
            Stage::Rise(local, halved) => {
                let share = 0.5_f64.powi(*halved);
                self.u.iter().zip(&local.step).map(|(u, s)| u + share * s).collect()
            }
            _ => self.u.clone(),
        }
    }

    /// Answers the question for the log-likelihood.
    pub fn take_ln_lik(&mut self, ln_lik: f64) {
        let u = self.point();
        let value = ln_lik - 0.5 * square(&u);
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Rise(local, halved) if value <= self.height || value.is_nan() => {
                if halved + 1 < HALVINGS {
                    self.stage = Stage::Rise(local, halved + 1);
                } else {
                    self.settle(local);
                }
            }
            Stage::Rise(..) => {
                (self.u, self.height, self.steps) = (u, value, self.steps + 1);
                self.arrive();
            }
            _ => {
                self.height = value;
                self.arrive();
            }
        }
    }

    /// Answers the question for the Gaussian approximation; `None` if it does not exist.
    pub fn take_local(&mut self, local: Option<Local>) {
        let is_hopeless = |local: &Local| self.steps > 1 && self.height + local.decrement < self.highest - HOPELESS;
        match local.filter(|local| !is_hopeless(local)) {
            None => self.next(),
            Some(local) if self.steps < STEPS && local.decrement > NEAR => self.stage = Stage::Rise(local, 0),
            Some(local) => self.settle(local),
        }
    }

    /// At a new point, unless it belongs to a mode that was found before.
    fn arrive(&mut self) {
        let is_known = |mode: &Mode| {
            let mut apart = minus(&self.u, &mode.u);
            mode.factor.mul_upper(&mut apart);
            square(&apart) < 0.25
        };
        if self.found.iter().any(is_known) {
            self.next();
        } else {
            self.stage = Stage::Local;
        }
    }

    /// The present point is a mode.
    fn settle(&mut self, local: Local) {
        self.highest = self.highest.max(self.height);
        let (u, ln_mass) = (std::mem::take(&mut self.u), self.height - 0.5 * local.factor.ln_det());
        self.found.push(Mode { u, factor: local.factor, ln_mass });
        self.next();
    }

    /// Goes on to the next start.
    fn next(&mut self) {
        self.steps = 0;
        self.stage = match self.starts.pop() {
            Some(start) => {
                self.u = start;
                Stage::Start
            }
            None => Stage::Done,
        };
    }
}

/// |a − b|².
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
