//! When the rows were observed: from columns of times and sequences to the model's times, and back to text.

mod calendar;
mod months;

pub use calendar::Calendar;

use crate::config::Config;
use crate::error::Error;
use crate::moment::Moment;
use crate::note::Note;
use crate::table::Table;
use chrono::NaiveDateTime;
use months::Monthly;
use rflvm::internal::error::{DataError, SpecError};
use rflvm::internal::observations::Times;
use std::collections::BTreeMap;

/// The times of a table.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Their meaning.
    pub calendar: Calendar,
    /// As the model sees them.
    pub times: Times,
    /// Names of the sequences, in order of appearance; empty for a single unnamed sequence.
    pub names: Vec<String>,
}

impl Timeline {
    /// The times of a table that was read with a column of times.
    pub fn of(config: &Config, table: &Table) -> Result<Option<Self>, Error> {
        let (Some(column), Some(texts)) = (&config.time, &table.time) else { return Ok(None) };
        let wrong = |place: String, problem: String| Error::Data {
            file: table.path.display().to_string(),
            error: SpecError::Data(DataError::Time { place, problem }),
        };
        let in_row = |n: usize, column: &str| format!("row {}, column `{column}`", n + 1);
        let mut moments = Vec::with_capacity(texts.len());
        for (n, text) in texts.iter().enumerate() {
            moments.push(Moment::parse(text).map_err(|problem| wrong(in_row(n, column), problem))?);
        }
        let calendar = Calendar::of(&moments).map_err(|(n, problem)| wrong(in_row(n, column), problem))?;
        let mut at = Vec::with_capacity(texts.len());
        for (n, text) in texts.iter().enumerate() {
            at.push(calendar.parse(text).map_err(|problem| wrong(in_row(n, column), problem))?);
        }
        let (sequence, names) = match (&table.sequence, &config.sequence) {
            (Some(cells), Some(column)) => {
                if let Some(n) = cells.iter().position(|cell| cell.trim().is_empty()) {
                    let problem = "the sequence is missing; fill it in, or remove the row".to_string();
                    return Err(wrong(in_row(n, column), problem));
                }
                numbered(cells)
            }
            _ => (vec![0; texts.len()], Vec::new()),
        };
        let timeline = Timeline { calendar, times: Times { at, sequence }, names };
        match timeline.says_nothing() {
            Some(problem) => Err(wrong(format!("column `{column}`"), problem.into())),
            None => Ok(Some(timeline)),
        }
    }

    /// Rows of each sequence, ordered by time.
    pub fn sequences(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.names.len().max(1)];
        self.times.sequence.iter().enumerate().for_each(|(n, &s)| rows[s].push(n));
        rows.iter_mut().for_each(|rows| rows.sort_by(|&a, &b| self.times.at[a].total_cmp(&self.times.at[b])));
        rows
    }

    /// The first and the last time of a sequence.
    pub fn ends(&self, sequence: usize) -> (f64, f64) {
        let own = self.times.at.iter().zip(&self.times.sequence).filter(|(_, s)| **s == sequence);
        own.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (&t, _)| (low.min(t), high.max(t)))
    }

    /// The months between dates, where these are months apart.
    fn monthly(&self) -> Option<Monthly> {
        let date = |&n: &usize| self.calendar.date(self.times.at[n]);
        let dates = |rows: &Vec<usize>| rows.iter().map(date).collect::<Option<Vec<NaiveDateTime>>>();
        Monthly::of(&self.sequences().iter().map(dates).collect::<Option<Vec<_>>>()?)
    }

    /// The next `count` times after the last of a sequence, typical steps apart; the error says why there are fewer.
    pub fn beyond(&self, sequence: usize, count: usize) -> Result<Vec<f64>, String> {
        let ((_, last), step, monthly) = (self.ends(sequence), self.typical_step(), self.monthly());
        let next = |k: usize| match (monthly, self.calendar.date(last)) {
            (Some(monthly), Some(date)) => {
                let date = monthly.after(date, k).and_then(|date| self.calendar.place_date(date));
                date.ok_or_else(|| "the calendar ends".into())
            }
            _ => self.calendar.rounded(last + step * k as f64),
        };
        (1..=count).map(next).collect()
    }

    /// The median gap between successive times of a sequence.
    fn typical_step(&self) -> f64 {
        let at = &self.times.at;
        let gaps = |rows: &Vec<usize>| rows.windows(2).map(|pair| at[pair[1]] - at[pair[0]]).collect::<Vec<_>>();
        let mut gaps: Vec<f64> = self.sequences().iter().flat_map(gaps).filter(|gap| *gap > 0.0).collect();
        gaps.sort_by(f64::total_cmp);
        gaps[gaps.len() / 2]
    }

    /// Why the times cannot order any rows, if so.
    fn says_nothing(&self) -> Option<&'static str> {
        let (at, sequences) = (&self.times.at, self.sequences());
        let differ = |rows: &Vec<usize>| rows.first().zip(rows.last()).is_some_and(|(&a, &b)| at[a] < at[b]);
        if sequences.iter().any(differ) {
            None
        } else if at.iter().all(|t| *t == at[0]) {
            Some("all times are equal, so ⟨time⟩ carries no information; name another column, or omit ⟨time⟩")
        } else if sequences.iter().all(|rows| rows.len() == 1) {
            Some(
                "every sequence has a single row, so ⟨time⟩ carries no information; omit ⟨sequence⟩, or name a column whose values repeat",
            )
        } else {
            Some(
                "no sequence has two different times, so ⟨time⟩ carries no information; name other columns with ⟨time⟩ and ⟨sequence⟩, or omit both",
            )
        }
    }

    /// One line about the times.
    pub fn line(&self) -> String {
        let (low, high) =
            self.times.at.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &t| (l.min(t), h.max(t)));
        let (from, to) = (self.calendar.format(low), self.calendar.format(high));
        let step = self.monthly().map_or_else(|| self.calendar.span(self.typical_step()), |monthly| monthly.words());
        format!("times from {from} to {to} in {}, typically {step} apart", count(self.sequences().len()))
    }

    /// Warnings about possible mistakes.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let at = &self.times.at;
        let sequences = self.sequences();
        let is_ordered = |rows: &Vec<usize>| {
            let mut rows = rows.clone();
            rows.sort_unstable();
            rows.is_sorted_by_key(|&n| at[n])
        };
        if !sequences.iter().all(is_ordered) {
            let sequences = count(sequences.len());
            notes.push(Note::say(format!(
                "times are not in order: rows are ordered by time within {sequences}; results keep the table's order"
            )));
        }
        let single: Vec<&str> = self
            .names
            .iter()
            .zip(&sequences)
            .filter(|(_, rows)| rows.len() == 1)
            .map(|(name, _)| name.as_str())
            .collect();
        if let Some(first) = single.first() {
            let (word, have) = (count(single.len()), if single.len() == 1 { "has" } else { "have" });
            notes.push(Note::warn(format!(
                "{word} {have} a single row (such as `{first}`), whose time carries no information"
            )));
        }
        let pairs = || sequences.iter().flat_map(|rows| rows.windows(2)).filter(|pair| at[pair[0]] == at[pair[1]]);
        if let Some(pair) = pairs().next() {
            let (count, time) = (pairs().count(), self.calendar.format(at[pair[0]]));
            let rows = if count == 1 { "1 row has".into() } else { format!("{count} rows have") };
            notes.push(Note::say(format!(
                "{rows} the same time as another row of the sequence (such as rows {} and {}, both at {time}); if they are not repeated \
                 measurements, name the sequences with ⟨sequence⟩, or name all columns of the time, such as ⟨time=year,quarter⟩",
                pair[0] + 1,
                pair[1] + 1
            )));
        }
        notes
    }
}

/// The number of sequences, in words.
fn count(sequences: usize) -> String {
    if sequences == 1 { "1 sequence".into() } else { format!("{sequences} sequences") }
}

/// The number of each name, in order of appearance, and the names.
fn numbered(cells: &[String]) -> (Vec<usize>, Vec<String>) {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = Vec::new();
    let mut numbers = Vec::with_capacity(cells.len());
    for cell in cells {
        let next = known.len();
        let number = *known.entry(cell.trim()).or_insert(next);
        if number == names.len() {
            names.push(cell.trim().to_string());
        }
        numbers.push(number);
    }
    (numbers, names)
}
