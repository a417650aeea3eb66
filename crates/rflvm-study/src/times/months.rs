//! Steps of whole months: quarters and years are not equally long in days.

use chrono::{Datelike, Months, NaiveDate, NaiveDateTime};

/// Dates on one day of the month, or on the last day of months that are shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Monthly {
    day: u32,
    /// Typical number of months from one date to the next.
    pub step: u32,
}

impl Monthly {
    /// For the dates of some sequences, each in order; none if they are not months apart.
    pub fn of(sequences: &[Vec<NaiveDateTime>]) -> Option<Self> {
        let all = || sequences.iter().flatten();
        let (day, clock) = (all().map(NaiveDateTime::day).max()?, all().next()?.time());
        let is_on_day = |at: &NaiveDateTime| at.time() == clock && at.day() == day.min(last_day(at.date()));
        if !all().all(is_on_day) {
            return None;
        }
        let month = |at: &NaiveDateTime| 12 * at.year() + at.month0() as i32;
        let gaps = sequences.iter().flat_map(|own| own.windows(2).map(|pair| month(&pair[1]) - month(&pair[0])));
        let mut gaps: Vec<i32> = gaps.filter(|gap| *gap > 0).collect();
        gaps.sort_unstable();
        let step = u32::try_from(*gaps.get(gaps.len() / 2)?).ok()?;
        Some(Monthly { day, step })
    }

    /// The date `count` steps after another.
    pub fn after(&self, last: NaiveDateTime, count: usize) -> Option<NaiveDateTime> {
        let months = self.step.checked_mul(u32::try_from(count).ok()?)?;
        let month = last.date().with_day(1)?.checked_add_months(Months::new(months))?;
        Some(month.with_day(self.day.min(last_day(month)))?.and_time(last.time()))
    }

    /// The step in words.
    pub fn words(&self) -> String {
        let (count, unit) = if self.step.is_multiple_of(12) { (self.step / 12, "year") } else { (self.step, "month") };
        format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
    }
}

/// The last day of a date's month.
fn last_day(date: NaiveDate) -> u32 {
    (28..=31).rev().find(|&day| date.with_day(day).is_some()).unwrap_or(28)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates(texts: &[&str]) -> Vec<NaiveDateTime> {
        let date = |text: &&str| NaiveDate::parse_from_str(text, "%Y-%m-%d").unwrap().and_hms_opt(0, 0, 0).unwrap();
        texts.iter().map(date).collect()
    }

    #[test]
    fn quarters_months_and_years_are_steps_of_the_calendar() {
        for (own, words, next) in [
            (&["2006-01-01", "2006-04-01", "2006-07-01"][..], "3 months", "2006-10-01"),
            (&["2006-03-31", "2006-06-30", "2006-09-30"], "3 months", "2006-12-31"),
            (&["2007-11-30", "2007-12-31", "2008-01-31"], "1 month", "2008-02-29"),
            (&["2004-02-29", "2005-02-28", "2006-02-28"], "1 year", "2007-02-28"),
            (&["1990-07-01", "2000-07-01"], "10 years", "2010-07-01"),
        ] {
            let own = dates(own);
            let monthly = Monthly::of(std::slice::from_ref(&own)).unwrap();
            assert_eq!(
                (monthly.words().as_str(), monthly.after(own[own.len() - 1], 1)),
                (words, Some(dates(&[next])[0]))
            );
        }
        for own in [&["2006-01-01", "2006-01-02"][..], &["2006-01-01"], &["2006-01-01", "2006-01-31"]] {
            assert_eq!(Monthly::of(&[dates(own)]), None, "{own:?}");
        }
    }
}
