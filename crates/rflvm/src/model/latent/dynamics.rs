//! The fixed parts of the paths: times, sequences, the kernel, and the prior of its hyperparameters.

use super::axis::{Axis, AxisPrior};
use super::dense::Dense;
use super::inducing::Inducing;
use super::markov::Markov;
use super::path::Path;
use super::problem::Problem;
use super::sequence::Sequence;
use super::{Form, TimeSpec};
use crate::error::{NumericalError, SpecError};
use crate::linalg::Mat;
use crate::observations::Times;
use crate::par;
use std::collections::BTreeMap;

/// Number of rows up to which a sequence with a non-Markov kernel is represented as a dense matrix.
const DENSE_ROWS: usize = 1000;

/// The fixed parts of the paths.
#[derive(Debug, Clone, PartialEq)]
pub struct Dynamics {
    given: Times,
    spec: TimeSpec,
    prior: AxisPrior,
    /// Midpoint and length of the longest sequence, in the user's units.
    middle: f64,
    span: f64,
    /// Mean and standard deviation of all times, in units of the span.
    centre: f64,
    spread: f64,
    pub(super) sequences: Vec<Sequence>,
}

impl Dynamics {
    /// From validated times.
    pub fn new(given: Times, spec: TimeSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        given.sequence.iter().enumerate().for_each(|(n, &s)| rows.entry(s).or_default().push(n));
        let mut longest = (0.0, 0.0);
        for rows in rows.values_mut() {
            // Rows with equal times keep the order of the table.
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
        Ok(Dynamics { given, spec, prior: AxisPrior::default(), middle, span, centre, spread, sequences })
    }

    /// The rows' times, as given.
    pub fn times(&self) -> &Times {
        &self.given
    }

    /// With another prior of the scales.
    pub fn with_prior(self, prior: AxisPrior) -> Self {
        Dynamics { prior, ..self }
    }

    /// The prior of length-scales and noise shares.
    pub fn prior(&self) -> &AxisPrior {
        &self.prior
    }

    /// The settings.
    pub fn spec(&self) -> &TimeSpec {
        &self.spec
    }

    /// Span of the longest sequence, in the user's units of time: the unit of length-scales.
    pub fn span(&self) -> f64 {
        self.span
    }

    /// Number of sequences.
    pub fn sequences(&self) -> usize {
        self.sequences.len()
    }

    /// The representation of a sequence with this many rows.
    pub fn form(&self, rows: usize) -> Form {
        match self.spec.form {
            Form::Automatic if self.spec.kernel.is_markov() => Form::StateSpace,
            Form::Automatic if rows <= DENSE_ROWS => Form::Dense,
            Form::Automatic => Form::Inducing,
            form => form,
        }
    }

    /// Approximate number of values in the factors of one axis.
    pub fn numbers(&self) -> usize {
        let of = |rows: usize| match self.form(rows) {
            Form::StateSpace => rows.saturating_mul(40),
            Form::Inducing => rows.saturating_mul(3 * self.spec.inducing),
            _ => rows.saturating_mul(6 * rows),
        };
        self.sequences.iter().map(|s| of(s.rows.len())).sum()
    }

    /// A sentence for the log: how the covariance of the paths is represented, and why.
    pub fn describe(&self) -> String {
        let longest = self.sequences.iter().map(|s| s.rows.len()).max().unwrap_or(0);
        let kernel = self.spec.kernel.name();
        let how = match self.form(longest) {
            Form::StateSpace => "as a state-space model, which is exact and linear in the rows".to_string(),
            Form::Inducing => {
                format!("by {} inducing points per sequence (FITC), linear in the rows", self.spec.inducing)
            }
            _ => format!("as dense matrices, which is exact (the longest sequence has {longest} rows)"),
        };
        format!("paths over time use the {kernel} kernel, represented {how}")
    }

    /// The prior of one axis of a sequence, at times in units of the span; `extra` is a variance added to each row.
    pub(super) fn path(&self, times: &[f64], axis: &Axis, extra: Option<&[f64]>) -> Result<Path, NumericalError> {
        self.path_with(times, times, axis, extra)
    }

    /// The same, where only the times in `anchors`, in order, determine the representation and the inducing points.
    pub(super) fn path_with(
        &self,
        times: &[f64],
        anchors: &[f64],
        axis: &Axis,
        extra: Option<&[f64]>,
    ) -> Result<Path, NumericalError> {
        let trend: Option<Vec<f64>> =
            self.spec.trend.then(|| times.iter().map(|t| (t - self.centre) / self.spread).collect());
        let period = self.period();
        let problem = Problem { kernel: self.spec.kernel, period, times, trend: trend.as_deref(), axis: *axis, extra };
        match self.form(anchors.len()) {
            Form::StateSpace => Ok(Path::Markov(Box::new(Markov::new(&problem)))),
            Form::Inducing => {
                let (first, last) = (anchors[0], anchors[anchors.len() - 1]);
                let count = self.spec.inducing.min(anchors.len()).max(2);
                let step = (last - first) / (count - 1) as f64;
                let points: Vec<f64> = (0..count).map(|i| first + step * i as f64).collect();
                Ok(Path::Inducing(Inducing::new(&problem, &points)?))
            }
            _ => Ok(Path::Dense(Dense::new(&problem)?)),
        }
    }

    /// ln p(x_·d) under given paths of axis d.
    pub(crate) fn ln_axis(&self, d: usize, paths: &[Path], x: &Mat) -> f64 {
        let of = |(sequence, path): (&Sequence, &Path)| path.ln_density(&sequence.along(x, d));
        par::collect(self.sequences.iter().zip(paths), 1, of).into_iter().sum()
    }

    /// The period of seasons in units of the span; NaN without one.
    pub(super) fn period(&self) -> f64 {
        self.spec.period.map_or(f64::NAN, |period| period / self.span)
    }

    /// A time in units of the span.
    pub(super) fn scaled(&self, time: f64) -> f64 {
        (time - self.middle) / self.span
    }
}
