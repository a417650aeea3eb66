//! What is known of the paths: times, sequences, the kernel, and the prior of its hyperparameters.

use super::path::Path;
use super::paths::along;
use super::{Form, TimeKernel, TimeSpec};
use crate::dist::{ln_normal, logistic, normal};
use crate::error::{NumericalError, SpecError};
use crate::linalg::Mat;
use crate::observations::Times;
use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::LN_10;

/// Rows up to which a sequence of a kernel that is not Markov is held as a dense matrix.
const DENSE_ROWS: usize = 1000;

/// Prior of ln ℓ, in units of the longest sequence's span: from a seventieth to seven tenths of it, most likely.
const LN_LENGTH_SCALE: (f64, f64) = (-LN_10, 1.0);
/// Prior of the logit of ρ: a hundredth; from a twentieth of a percent to a sixth, most likely.
const LOGIT_NOISE: (f64, f64) = (-4.59511985013459, 1.5);

/// Hyperparameters of one axis of X.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// ℓ_d, in units of the longest sequence's span.
    pub length_scale: f64,
    /// ρ_d: share of white noise in the variance.
    pub noise: f64,
}

impl Axis {
    /// At standard normal coordinates of the prior.
    pub fn at([length_scale, noise]: [f64; 2]) -> Self {
        Axis {
            length_scale: (LN_LENGTH_SCALE.0 + LN_LENGTH_SCALE.1 * length_scale).exp(),
            noise: logistic(LOGIT_NOISE.0 + LOGIT_NOISE.1 * noise),
        }
    }

    /// Its coordinates.
    pub fn coordinates(&self) -> [f64; 2] {
        let logit = self.noise.ln() - (-self.noise).ln_1p();
        [(self.length_scale.ln() - LN_LENGTH_SCALE.0) / LN_LENGTH_SCALE.1, (logit - LOGIT_NOISE.0) / LOGIT_NOISE.1]
    }

    /// ln p(ℓ, ρ).
    pub fn ln_prior(&self) -> f64 {
        let jacobian =
            (self.length_scale * LN_LENGTH_SCALE.1).ln() + (self.noise * (1.0 - self.noise) * LOGIT_NOISE.1).ln();
        self.ln_coordinates() - jacobian
    }

    /// The same with the odds of the noise e^2u times what they were.
    pub fn louder(&self, u: f64) -> Self {
        let [length_scale, noise] = self.coordinates();
        Axis::at([length_scale, noise + 2.0 * u / LOGIT_NOISE.1])
    }

    /// ln of the prior's density of the coordinates.
    pub fn ln_coordinates(&self) -> f64 {
        self.coordinates().iter().map(|&c| ln_normal(c, 0.0, 1.0)).sum()
    }

    /// A draw from the prior.
    pub fn draw<R: Rng + ?Sized>(rng: &mut R) -> Self {
        Axis::at([normal(rng), normal(rng)])
    }
}

/// The rows of one sequence in the order of their times, and these times in units of the span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sequence {
    pub rows: Vec<usize>,
    pub times: Vec<f64>,
}

/// The knowns of the paths.
#[derive(Debug, Clone, PartialEq)]
pub struct Dynamics {
    given: Times,
    spec: TimeSpec,
    /// Middle and length of the longest sequence, in the user's units.
    middle: f64,
    span: f64,
    /// Mean and spread of all times, in units of the span.
    centre: f64,
    spread: f64,
    pub(super) sequences: Vec<Sequence>,
}

impl Dynamics {
    /// Of checked times.
    pub fn new(given: Times, spec: TimeSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        given.sequence.iter().enumerate().for_each(|(n, &s)| rows.entry(s).or_default().push(n));
        let mut longest = (0.0, 0.0);
        for rows in rows.values_mut() {
            // Rows of equal times keep the order of the table.
            rows.sort_by(|&a, &b| given.at[a].total_cmp(&given.at[b]));
            let (first, last) = (given.at[rows[0]], given.at[rows[rows.len() - 1]]);
            if last - first > longest.1 {
                longest = (0.5 * (first + last), last - first);
            }
        }
        let (middle, span) = longest;
        let scaled = |t: f64| (t - middle) / span;
        let sequence = |rows: Vec<usize>| Sequence { times: rows.iter().map(|&n| scaled(given.at[n])).collect(), rows };
        let sequences: Vec<Sequence> = rows.into_values().map(sequence).collect();
        let count = given.at.len() as f64;
        let centre = given.at.iter().map(|&t| scaled(t)).sum::<f64>() / count;
        let spread = (given.at.iter().map(|&t| (scaled(t) - centre).powi(2)).sum::<f64>() / count).sqrt();
        Ok(Dynamics { given, spec, middle, span, centre, spread, sequences })
    }

    /// The rows' times, as given.
    pub fn times(&self) -> &Times {
        &self.given
    }

    /// The settings.
    pub fn spec(&self) -> &TimeSpec {
        &self.spec
    }

    /// Span of the longest sequence, in the user's units of time: what length-scales are relative to.
    pub fn span(&self) -> f64 {
        self.span
    }

    /// How many sequences there are.
    pub fn sequences(&self) -> usize {
        self.sequences.len()
    }

    /// The form that a sequence of so many rows has.
    pub fn form(&self, rows: usize) -> Form {
        match self.spec.form {
            Form::Automatic if self.spec.kernel.is_markov() => Form::StateSpace,
            Form::Automatic if rows <= DENSE_ROWS => Form::Dense,
            Form::Automatic => Form::Inducing,
            form => form,
        }
    }

    /// Numbers that the factors of one axis take, about.
    pub fn numbers(&self) -> usize {
        let of = |rows: usize| match self.form(rows) {
            Form::StateSpace => rows.saturating_mul(40),
            Form::Inducing => rows.saturating_mul(3 * self.spec.inducing),
            _ => rows.saturating_mul(6 * rows),
        };
        self.sequences.iter().map(|s| of(s.rows.len())).sum()
    }

    /// A word for the log: how the covariance of the paths is held, and why.
    pub fn describe(&self) -> String {
        let longest = self.sequences.iter().map(|s| s.rows.len()).max().unwrap_or(0);
        let kernel = self.spec.kernel.name();
        let how = match self.form(longest) {
            Form::StateSpace => "as a state-space model, which is exact and linear in the rows".to_string(),
            Form::Inducing => {
                format!("by {} inducing points a sequence (FITC), linear in the rows", self.spec.inducing)
            }
            _ => format!("as dense matrices, which is exact (the longest sequence has {longest} rows)"),
        };
        format!("paths over time have the {kernel} kernel, held {how}")
    }

    /// The prior of one axis of a sequence, at times in units of the span; `extra` is a variance added to each row's.
    pub(super) fn path(&self, times: &[f64], axis: &Axis, extra: Option<&[f64]>) -> Result<Path, NumericalError> {
        self.path_with(times, times, axis, extra)
    }

    /// The same for times of which only `anchors`, in order, decide the form and where inducing points lie.
    pub(super) fn path_with(
        &self,
        times: &[f64],
        anchors: &[f64],
        axis: &Axis,
        extra: Option<&[f64]>,
    ) -> Result<Path, NumericalError> {
        let trend: Option<Vec<f64>> =
            self.spec.trend.then(|| times.iter().map(|t| (t - self.centre) / self.spread).collect());
        let problem = Problem { kernel: self.spec.kernel, times, trend: trend.as_deref(), axis: *axis, extra };
        match self.form(anchors.len()) {
            Form::StateSpace => Ok(Path::Markov(super::markov::Markov::new(&problem))),
            Form::Inducing => {
                let (first, last) = (anchors[0], anchors[anchors.len() - 1]);
                let count = self.spec.inducing.min(anchors.len()).max(2);
                let step = (last - first) / (count - 1) as f64;
                let points: Vec<f64> = (0..count).map(|i| first + step * i as f64).collect();
                Ok(Path::Inducing(super::inducing::Inducing::new(&problem, &points)?))
            }
            _ => Ok(Path::Dense(super::dense::Dense::new(&problem)?)),
        }
    }

    /// ln p(x_·d) under given paths of axis d.
    pub(crate) fn ln_axis(&self, d: usize, paths: &[Path], x: &Mat) -> f64 {
        let pairs: Vec<_> = self.sequences.iter().zip(paths).collect();
        let of = |(sequence, path): &(&Sequence, &Path)| path.ln_density(&along(x, d, &sequence.rows));
        let values: Vec<f64> = pairs.par_iter().map(of).collect();
        values.into_iter().sum()
    }

    /// A time in units of the span.
    pub(super) fn scaled(&self, time: f64) -> f64 {
        (time - self.middle) / self.span
    }
}

/// One axis of one sequence: what its covariance is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problem<'a> {
    pub kernel: TimeKernel,
    pub times: &'a [f64],
    /// The straight line that is added with a standard normal slope.
    pub trend: Option<&'a [f64]>,
    pub axis: Axis,
    pub extra: Option<&'a [f64]>,
}

impl Problem<'_> {
    /// (1 − ρ) k between two times.
    pub fn kernel(&self, a: f64, b: f64) -> f64 {
        (1.0 - self.axis.noise) * self.kernel.at(a - b, self.axis.length_scale)
    }

    /// (1 − ρ) k of many differences of times, which it uses up.
    pub fn kernels(&self, deltas: &mut [f64], out: &mut [f64]) {
        self.kernel.fill(deltas, self.axis.length_scale, 1.0 - self.axis.noise, out);
    }

    /// Variance of row n beyond the path's.
    pub fn noise(&self, n: usize) -> f64 {
        self.axis.noise + self.extra.map_or(0.0, |extra| extra[n])
    }

    /// The line's value at row n.
    pub fn line(&self, n: usize) -> f64 {
        self.trend.map_or(0.0, |line| line[n])
    }
}
