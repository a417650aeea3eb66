//! Forecasts that need no model: the last value, the value one period earlier, a straight line. Their predictive distribution is the
//! point forecast plus its own errors at earlier origins, at the same number of rows ahead.

use super::origins::LEAST;
use super::{Held, Origin};
use crate::error::SpecError;
use crate::model::Model;
use crate::observations::Times;
use crate::posterior::outlook::Outlook;
use std::collections::BTreeMap;

/// Number of last observed values through which the line is fitted.
pub const LINE: usize = 10;
/// Most errors of a baseline in its predictive distribution, the latest ones.
const ERRORS: usize = 200;
/// Fewer errors of one sequence than this are pooled with those of the others.
const FEW: usize = 20;

/// A baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Baseline {
    /// The last observed value.
    Last,
    /// The value at the same time of the last period that was observed.
    Seasonal(f64),
    /// The least-squares line over time through the last [`LINE`] observed values.
    Line,
}

/// The cells of a column in the rows of a sequence, ordered by time; NaN where missing.
#[derive(Debug, Clone)]
pub(super) struct Series {
    pub times: Vec<f64>,
    pub values: Vec<f64>,
}

impl Baseline {
    /// All baselines, without the seasonal one if no period is given.
    pub(super) fn all(times: &Times, origins: &[Origin], period: Option<f64>) -> Result<Vec<Self>, SpecError> {
        let Some(period) = period else { return Ok(vec![Baseline::Last, Baseline::Line]) };
        let wrong = |rule: String| Err(SpecError::Setting { setting: "period", value: period.to_string(), rule });
        if !(period > 0.0 && period.is_finite()) {
            return wrong("it must be a positive number, in the units of the times (days for dates)".into());
        }
        let mut spans: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for &n in origins.iter().flat_map(|origin| &origin.train) {
            let (low, high) = spans.entry(times.sequence[n]).or_insert((f64::INFINITY, f64::NEG_INFINITY));
            (*low, *high) = (low.min(times.at[n]), high.max(times.at[n]));
        }
        let span = spans.values().map(|(low, high)| high - low).fold(0.0, f64::max);
        if period > span {
            return wrong(format!(
                "the rows before the last origin span only {span}; give a shorter period, or omit it"
            ));
        }
        Ok(vec![Baseline::Last, Baseline::Seasonal(period), Baseline::Line])
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Baseline::Last => "last value",
            Baseline::Seasonal(_) => "one period earlier",
            Baseline::Line => "straight line",
        }
    }

    /// The point forecast at a later time from the first `known` rows of a series; `None` if no cell of them is observed, or not yet one
    /// period earlier.
    pub(super) fn point(self, series: &Series, known: usize, to: f64) -> Option<f64> {
        let (times, values) = (&series.times[..known], &series.values[..known]);
        let last = values.iter().rposition(|v| !v.is_nan())?;
        match self {
            Baseline::Last => Some(values[last]),
            Baseline::Line => Some(line(times, values, to).unwrap_or(values[last])),
            Baseline::Seasonal(period) => {
                // A time that is a whole number of periods ahead, but for rounding, is that many periods ahead.
                let back = ((to - times[known - 1]) / period - 1e-9).ceil().max(1.0);
                let wanted = to - back * period;
                let nearest = (0..known)
                    .filter(|&i| !values[i].is_nan())
                    .min_by(|&a, &b| (times[a] - wanted).abs().total_cmp(&(times[b] - wanted).abs()))?;
                let half_step = 0.5 * (times[known - 1] - times[0]) / known as f64;
                (wanted >= times[0] - half_step).then_some(values[nearest])
            }
        }
    }

    /// Its errors at earlier origins within the first `known` rows, `step` rows ahead, the latest ones last.
    pub(super) fn errors(self, series: &Series, known: usize, step: usize) -> Vec<f64> {
        let first = LEAST.max((known + 1).saturating_sub(step + ERRORS));
        let error = |origin: usize| {
            let target = origin + step - 1;
            let (truth, to) = (series.values[target], series.times[target]);
            (!truth.is_nan()).then(|| self.point(series, origin, to).map(|point| truth - point)).flatten()
        };
        (first..(known + 1).saturating_sub(step)).filter_map(error).collect()
    }
}

/// The line through the last observed values, at a later time; `None` if they do not determine one.
fn line(times: &[f64], values: &[f64], to: f64) -> Option<f64> {
    let seen = (0..values.len()).rev().filter(|&i| !values[i].is_nan()).take(LINE);
    let points: Vec<(f64, f64)> = seen.map(|i| (times[i], values[i])).collect();
    let count = points.len() as f64;
    let middle = points.iter().map(|p| p.0).sum::<f64>() / count;
    let mean = points.iter().map(|p| p.1).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|p| (p.0 - middle).powi(2)).sum();
    let slope = points.iter().map(|p| (p.0 - middle) * (p.1 - mean)).sum::<f64>() / spread;
    (spread > 0.0).then_some(mean + slope * (to - middle))
}

/// Adds the forecast of every baseline to the cells of one origin.
pub(super) fn add(baselines: &[Baseline], model: &Model, origin: &Origin, cells: &mut [Held]) {
    let Some(times) = model.dynamics().map(crate::model::latent::Dynamics::times) else { return };
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    origin.train.iter().for_each(|&n| rows.entry(times.sequence[n]).or_default().push(n));
    rows.values_mut().for_each(|rows| rows.sort_by(|&a, &b| times.at[a].total_cmp(&times.at[b])));
    for column in 0..model.columns() {
        let series = |rows: &Vec<usize>| Series {
            times: rows.iter().map(|&n| times.at[n]).collect(),
            values: rows.iter().map(|&n| model.y()[(n, column)]).collect(),
        };
        let all: BTreeMap<usize, Series> = rows.iter().map(|(&sequence, rows)| (sequence, series(rows))).collect();
        for &baseline in baselines {
            let mut known: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
            for cell in cells.iter_mut().filter(|cell| cell.column == column) {
                let sequence = times.sequence[cell.row];
                let errors =
                    known.entry((sequence, cell.step)).or_insert_with(|| errors(baseline, &all, sequence, cell.step));
                let own = &all[&sequence];
                let at = |baseline: Baseline| baseline.point(own, own.values.len(), times.at[cell.row]);
                // A column without any value in this sequence is foretold by the others.
                let point = at(baseline).or(at(Baseline::Last)).unwrap_or_else(|| mean(&all));
                let mut drawn: Vec<f64> = errors.iter().map(|error| point + error).collect();
                cell.outlooks.push(Outlook::of(point, &mut drawn, cell.truth));
            }
        }
    }
}

/// The errors of one sequence; of all of them if it has few.
fn errors(baseline: Baseline, all: &BTreeMap<usize, Series>, sequence: usize, step: usize) -> Vec<f64> {
    let of = |series: &Series| baseline.errors(series, series.values.len(), step);
    let own = of(&all[&sequence]);
    let errors = if own.len() < FEW { all.values().flat_map(of).collect() } else { own };
    // Too little is known for an interval: the point forecast alone.
    if errors.is_empty() { vec![0.0] } else { errors }
}

/// The mean of all observed values.
fn mean(all: &BTreeMap<usize, Series>) -> f64 {
    let seen: Vec<f64> = all.values().flat_map(|s| &s.values).copied().filter(|v| !v.is_nan()).collect();
    seen.iter().sum::<f64>() / seen.len().max(1) as f64
}
