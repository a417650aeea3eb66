//! Forecasts: predictions at new times of one sequence or of all.

use super::cells::{Cells, Of};
use super::{Column, stream};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::times::Timeline;
use rflvm::internal::error::SpecError;
use rflvm::internal::posterior::fitted::DRAWS;
use rflvm::internal::posterior::forecast::NewTime;
use rflvm::internal::posterior::predicted::Predicted;

/// Most new times of a sequence: a path is drawn at all of them together, which takes memory quadratic in their number.
const MOST: usize = 5000;
/// Names of sequences shown in a message.
const NAMES_SHOWN: usize = 8;

/// Which times to forecast.
pub enum When {
    /// These times, as numbers on the time axis.
    At(Vec<f64>),
    /// This many steps beyond the last time of each sequence.
    Beyond(usize),
}

/// What to forecast.
pub struct Ahead<'a> {
    /// The times.
    pub when: When,
    /// The sequence; all if none is named.
    pub sequence: Option<&'a str>,
    /// Covariates of the new rows as `NAME=VALUE`; the others are at the average of the rows.
    pub covariates: &'a [String],
}

/// The cells of new rows.
pub fn forecast<'a>(fit: &'a Fit, drawn: &'a Drawn, times: Vec<NewTime>) -> Result<Cells<'a>, Error> {
    let timeline = timeline(fit)?;
    let mut lead = vec![Column::texts("time", times.iter().map(|t| timeline.calendar.format(t.time)).collect())];
    if !timeline.names.is_empty() {
        let of = times.iter().map(|t| t.sequence).collect();
        lead.push(Column::names("sequence", timeline.names.clone(), of));
    }
    Ok(Cells { fit, drawn, lead, of: Of::Times(times) })
}

/// What is predicted of each new row (outer) and column of the model (inner).
pub fn predicted(fit: &Fit, drawn: &Drawn, times: &[NewTime]) -> Result<Vec<Vec<Predicted>>, Error> {
    Ok(drawn.fitted(fit, stream::TIMES).forecast(times, DRAWS)?)
}

/// The times of the rows, without which there is nothing to forecast.
pub fn timeline(fit: &Fit) -> Result<&Timeline, Error> {
    fit.timeline.as_ref().ok_or_else(|| Error::Timeless { dir: fit.dir.display().to_string() })
}

/// All new rows, with the mean of the rows' offsets: by sequence, then by time, without repeated times. The fit must have times.
pub fn new_times(fit: &Fit, Ahead { when, sequence, covariates }: Ahead<'_>) -> Result<Vec<NewTime>, Error> {
    let timeline = timeline(fit)?;
    let (offset, covariates) = (fit.mean_offset().unwrap_or(0.0), fit.covariates_set(covariates)?);
    let when = match when {
        When::At(mut times) => {
            times.sort_by(f64::total_cmp);
            times.dedup();
            check_count("times", times.len())?;
            When::At(times)
        }
        When::Beyond(steps) => {
            check_count("horizon", steps)?;
            When::Beyond(steps)
        }
    };
    let mut all = Vec::new();
    for sequence in sequences(sequence, timeline)? {
        let times = match &when {
            When::At(times) => {
                check_start(times, timeline, sequence)?;
                times.clone()
            }
            When::Beyond(steps) => beyond(timeline, sequence, *steps)?,
        };
        let new = |time| NewTime { time, sequence, offset, covariates: covariates.clone() };
        all.extend(times.into_iter().map(new));
    }
    Ok(all)
}

fn wrong(setting: &'static str, value: String, rule: String) -> Error {
    SpecError::Setting { setting, value, rule }.into()
}

/// The sequences to forecast.
fn sequences(name: Option<&str>, timeline: &Timeline) -> Result<Vec<usize>, Error> {
    let names = &timeline.names;
    let Some(name) = name else { return Ok((0..names.len().max(1)).collect()) };
    if names.is_empty() {
        let rule = "the rows of this fit are one sequence without a name; omit ⟨sequence⟩";
        return Err(wrong("sequence", name.into(), rule.into()));
    }
    let unknown = || {
        let some: Vec<&str> = names.iter().take(NAMES_SHOWN).map(String::as_str).collect();
        let more = if names.len() > NAMES_SHOWN { ", …" } else { "" };
        SpecError::Unknown { what: "sequence", name: name.into(), known: format!("{}{more}", some.join(", ")) }
    };
    Ok(vec![names.iter().position(|known| known == name.trim()).ok_or_else(unknown)?])
}

/// Steps beyond the last time of a sequence.
fn beyond(timeline: &Timeline, sequence: usize, steps: usize) -> Result<Vec<f64>, Error> {
    let too_far =
        |_| wrong("horizon", steps.to_string(), "it is beyond the end of the calendar; ask for fewer steps".into());
    timeline.beyond(sequence, steps).map_err(too_far)
}

fn check_count(setting: &'static str, count: usize) -> Result<(), Error> {
    match count {
        0 => Err(wrong(setting, "0".into(), "there is nothing to forecast; ask for at least one new time".into())),
        1..=MOST => Ok(()),
        _ => {
            let rule = format!("at most {MOST} new times per sequence can be forecast together; give fewer");
            Err(wrong(setting, count.to_string(), rule))
        }
    }
}

/// Checks that all times come after the start of a sequence.
fn check_start(times: &[f64], timeline: &Timeline, sequence: usize) -> Result<(), Error> {
    let (first, _) = timeline.ends(sequence);
    let Some(early) = times.iter().find(|time| **time < first) else { return Ok(()) };
    let of = timeline.names.get(sequence).map_or(String::new(), |name| format!(" of the sequence `{name}`"));
    let rule = format!(
        "it is before the first row{of}, and paths are not forecast backwards; give times after {}",
        timeline.calendar.format(first)
    );
    Err(wrong("times", timeline.calendar.format(*early), rule))
}
