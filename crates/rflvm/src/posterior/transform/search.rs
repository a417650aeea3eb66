//! Mode search for the posterior of a new position. It often has several modes: y informs x through waves of all
//! frequencies. Positions of the draw's own rows, and some others, are candidates; from those with a higher density than all
//! their neighbours, Gauss–Newton steps lead to the modes.

use super::target::{Local, Prior, or_nothing, square, square_apart};
use crate::dist::normals;
use crate::linalg::{Cholesky, Mat};
use crate::model::position::{Positions, Scratch};
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
const NEAR: f64 = 0.05;
/// A mode whose predicted height is this far below the highest one has negligible mass.
const HOPELESS: f64 = 15.0;
/// Derivatives at anchors are kept if they are at most that many numbers.
const SHARED: usize = 1 << 21;

/// Positions of one draw at which every new row is evaluated, with their f; all rows share them.
pub struct Anchors {
    /// The prior's centre if it is standard normal, positions of rows, then others.
    x: Mat,
    /// Without offsets and covariates.
    f: Mat,
    /// ∂f along the axes at each of them; empty if that is too much to keep.
    df: Vec<f64>,
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

/// Where a search begins.
pub struct Start {
    pub u: Vec<f64>,
    pub ln_lik: f64,
    /// The Gaussian approximation, if it is known.
    pub local: Option<Local>,
}

impl Anchors {
    /// Random rows of the draw, and some other positions, for new rows with this many covariates.
    pub fn new(parameters: &Parameters, covariates: usize, stream: Stream) -> Self {
        let (rows, dim) = (parameters.x.rows(), parameters.x.cols());
        let rng = &mut stream.rng();
        let chosen = rand::seq::index::sample(rng, rows, ROWS.min(rows)).into_vec();
        let mut values = vec![0.0; dim];
        values.extend(chosen.iter().flat_map(|&n| parameters.x.row(n)));
        values.extend(normals(OTHERS * dim, rng).iter().map(|v| SPREAD * v));
        let x = Mat::from_vec(1 + chosen.len() + OTHERS, dim, values);
        let f = parameters.f(x.clone(), &vec![0.0; x.rows()], Mat::zeros(x.rows(), covariates));
        let points: Vec<&[f64]> = x.iter_rows().collect();
        let nearest = nearest(&points);
        Anchors { f, x, df: Vec::new(), rows: chosen.len(), nearest }
    }

    /// With the derivatives of f, which the first step of all rows then shares.
    pub fn with_slopes(self, positions: &Positions<'_>) -> Self {
        let is_small = self.f.as_slice().len() * self.x.cols() <= SHARED;
        Anchors { df: if is_small { positions.derivatives(self.x.as_slice()) } else { Vec::new() }, ..self }
    }

    /// Where the search of a row begins, from log-likelihoods by the f of the anchors; `elsewhere` has those of points that follow the row's own prior.
    pub fn starts(
        &self,
        positions: &Positions<'_>,
        (n, prior): (usize, Prior<'_>),
        scratch: &mut Scratch,
        elsewhere: impl FnOnce(&[f64]) -> Vec<f64>,
    ) -> Vec<Start> {
        let own: Vec<usize> = (0..self.count()).filter(|&i| !self.is_known(i, prior)).collect();
        let mut ln_lik = vec![0.0; self.count()];
        if !own.is_empty() {
            let x: Vec<f64> = own.iter().flat_map(|&i| prior.position(&self.point(i, prior))).collect();
            own.iter().zip(elsewhere(&x)).for_each(|(&i, value)| ln_lik[i] = value);
        }
        for i in (0..self.count()).filter(|&i| self.is_known(i, prior)) {
            ln_lik[i] = or_nothing(positions.ln_lik_at(n, self.f.row(i), scratch));
        }
        let each = self.f.cols() * self.x.cols();
        let start = |i: usize| {
            let u = self.point(i, prior);
            let local = (self.is_known(i, prior) && !self.df.is_empty()).then(|| {
                positions.place_at(n, self.f.row(i), scratch);
                prior.local(&u, &positions.slope_at(n, &scratch.f, &self.df[i * each..][..each]))
            });
            Start { local: local.flatten(), ln_lik: ln_lik[i], u }
        };
        self.tops(prior, &ln_lik).into_iter().map(start).collect()
    }

    /// Whether the f of a point that is tried is that of an anchor.
    fn is_known(&self, i: usize, prior: Prior<'_>) -> bool {
        (1..=self.rows).contains(&i) || prior.is_standard()
    }

    /// Among the points that are tried, those with a higher density than their neighbours, best first, by their log-likelihoods.
    pub fn tops(&self, prior: Prior<'_>, ln_lik: &[f64]) -> Vec<usize> {
        let (is_standard, points) = (prior.is_standard(), (0..self.count()).map(|i| self.point(i, prior)));
        let points: Vec<Vec<f64>> = if is_standard { Vec::new() } else { points.collect() };
        let place = |i: usize| if is_standard { self.x.row(i) } else { &points[i][..] };
        let height: Vec<f64> = ln_lik.iter().enumerate().map(|(i, ln_lik)| ln_lik - 0.5 * square(place(i))).collect();
        let is_lower = |i: usize, k: usize| height[k] < height[i] || height[k] == height[i] && k > i;
        let is_top = |&i: &usize| {
            if is_standard {
                let near = self.nearest[i].iter().filter(|&&k| height[k].is_finite()).take(NEIGHBOURS);
                return near.copied().all(|k| is_lower(i, k));
            }
            nearest_of(i, &points, |k| height[k].is_finite()).into_iter().all(|(_, k)| is_lower(i, k))
        };
        let mut tops: Vec<usize> = (0..self.count()).filter(|&i| height[i].is_finite()).filter(is_top).collect();
        tops.sort_by(|&a, &b| height[b].total_cmp(&height[a]));
        tops.truncate(STARTS);
        tops
    }

    /// Number of points that are tried.
    pub fn count(&self) -> usize {
        self.x.rows()
    }

    /// One of them: the prior's centre, an anchor that is a row, or another, which follows the prior of the new row.
    pub fn point(&self, i: usize, prior: Prior<'_>) -> Vec<f64> {
        match i {
            1.. if i <= self.rows => prior.coordinates(self.x.row(i)),
            _ => self.x.row(i).to_vec(),
        }
    }
}

/// The nearest of some other points, with their distances.
fn nearest_of(i: usize, points: &[Vec<f64>], is_one: impl Fn(usize) -> bool) -> Vec<(f64, usize)> {
    let mut found: Vec<(f64, usize)> = Vec::with_capacity(NEIGHBOURS + 1);
    for k in (0..points.len()).filter(|&k| k != i && is_one(k)) {
        let distance = apart(&points[i], &points[k]);
        let place = found.partition_point(|(other, _)| *other <= distance);
        if place < NEIGHBOURS {
            found.insert(place, (distance, k));
            found.truncate(NEIGHBOURS);
        }
    }
    found
}

/// For each point, the others by their distance.
fn nearest(points: &[&[f64]]) -> Vec<Vec<usize>> {
    let of = |(i, u): (usize, &&[f64])| {
        let mut others: Vec<(f64, usize)> =
            points.iter().enumerate().filter(|(k, _)| *k != i).map(|(k, v)| (apart(u, v), k)).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        others.into_iter().map(|(_, k)| k).collect()
    };
    points.iter().enumerate().map(of).collect()
}

/// A search for modes whose questions are answered from outside, so that those of many rows can go on side by side.
pub struct Search {
    /// Starts to come, the last one first.
    starts: Vec<Start>,
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
    /// The Gaussian approximation.
    Local,
}

enum Stage {
    /// At a point without a Gaussian approximation.
    Local,
    /// Between a point and the predicted mode; halved this often.
    Rise(Local, i32),
    Done,
}

impl Search {
    pub fn new(mut starts: Vec<Start>) -> Self {
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
            Stage::Rise(..) => Some(Query::LnLik),
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
            _ => {
                (self.u, self.height, self.steps) = (u, value, self.steps + 1);
                self.arrive();
            }
        }
    }

    /// Answers the question for the Gaussian approximation; `None` if it does not exist.
    pub fn take_local(&mut self, local: Option<Local>) {
        let is_hopeless = |local: &Local| self.height + local.decrement < self.highest - HOPELESS;
        match local.filter(|local| !is_hopeless(local)) {
            None => self.next(),
            Some(local) if self.steps < STEPS && local.decrement > NEAR => self.stage = Stage::Rise(local, 0),
            Some(local) => self.settle(local),
        }
    }

    /// At a new point, unless it belongs to a mode that was found before.
    fn arrive(&mut self) {
        if self.is_known() {
            self.next();
        } else {
            self.stage = Stage::Local;
        }
    }

    /// Whether the present point belongs to a mode that was found before.
    fn is_known(&self) -> bool {
        self.found.iter().any(|mode| square_apart(&mode.factor, &self.u, &mode.u) < 0.25)
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
        (self.steps, self.stage) = (0, Stage::Done);
        while let Some(Start { u, ln_lik, local }) = self.starts.pop() {
            (self.height, self.u) = (ln_lik - 0.5 * square(&u), u);
            if self.is_known() {
                continue;
            }
            self.stage = Stage::Local;
            if local.is_some() {
                self.take_local(local);
            }
            return;
        }
    }
}

/// |a − b|².
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}
