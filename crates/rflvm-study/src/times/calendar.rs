//! The meaning of numbers on the time axis: plain numbers, or days since the first date, to be written as the user wrote them.

use crate::moment::{Date, Form, Moment, compact_date};
use chrono::{Datelike, FixedOffset, NaiveDateTime, NaiveTime, TimeDelta, Timelike};

/// How times are written.
#[derive(Debug, Clone, PartialEq)]
pub enum Calendar {
    /// Plain numbers.
    Numbers,
    /// Days since the earliest date.
    Dates {
        /// The date of day 0.
        origin: NaiveDateTime,
        /// The character between date and time of day.
        separator: Option<char>,
        /// Whether seconds are written.
        has_seconds: bool,
        /// Whether microseconds are written.
        has_micros: bool,
        /// The time zone, if times have one.
        zone: Option<FixedOffset>,
        /// How days are written.
        form: Form,
    },
}

const MILLISECONDS: f64 = 86_400_000.0;

impl Calendar {
    /// The calendar of some texts, and the times on it; the error says what is wrong with the first that cannot be read.
    pub fn of_texts(texts: &[String]) -> Result<(Vec<f64>, Self), String> {
        let moments = texts.iter().map(|text| Moment::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let calendar = Calendar::of(&moments).map_err(|(_, problem)| problem)?;
        let at = texts.iter().map(|text| calendar.parse(text)).collect::<Result<_, _>>()?;
        Ok((at, calendar))
    }

    /// The calendar of some times; the error has the index of the first time that does not match those before it, and the reason.
    ///
    /// Numbers that are all dates such as 20010530 are dates: as numbers, the last of April and the first of May would be 71 apart.
    pub fn of(moments: &[Moment]) -> Result<Self, (usize, String)> {
        let compact = |moment: &Moment| match moment {
            Moment::Number(number) => compact_date(*number).map(Moment::Date),
            Moment::Date(_) => None,
        };
        if let Some(dates) = moments.iter().map(compact).collect::<Option<Vec<Moment>>>().filter(|d| !d.is_empty()) {
            return Calendar::of(&dates);
        }
        let Some(Moment::Date(first)) = moments.first() else {
            return match moments.iter().position(|m| matches!(m, Moment::Date(_))) {
                Some(n) => Err((
                    n,
                    "this time is a date, but those before it are numbers; write all times in one format".into(),
                )),
                None => Ok(Calendar::Numbers),
            };
        };
        let mut origin = first.at;
        let (mut separator, mut has_seconds, mut has_micros, mut form) = (first.separator, false, false, first.form);
        for (n, moment) in moments.iter().enumerate() {
            let Moment::Date(date) = moment else {
                return Err((
                    n,
                    "this time is a number, but those before it are dates; write all times in one format".into(),
                ));
            };
            if date.zone.is_some() != first.zone.is_some() {
                return Err((
                    n,
                    "some times have a time zone and others do not; give all of them one, or remove it".into(),
                ));
            }
            origin = origin.min(date.at);
            separator = separator.or(date.separator);
            has_seconds |= date.has_seconds;
            has_micros |= date.at.nanosecond() % 1_000_000 != 0;
            form = if form == date.form { form } else { Form::Day };
        }
        Ok(Calendar::Dates { origin, separator, has_seconds, has_micros, zone: first.zone, form })
    }

    /// Parses a time as a user writes it; the error says what is wrong and what to do.
    pub fn parse(&self, text: &str) -> Result<f64, String> {
        let strange =
            || format!("the time `{text}` is not written like those of the table; write it as {}", self.format(0.0));
        Moment::parse(text).and_then(|moment| self.place(&moment).ok_or_else(strange))
    }

    fn place(&self, moment: &Moment) -> Option<f64> {
        match (self, moment) {
            (Calendar::Numbers, Moment::Number(number)) => Some(*number),
            (Calendar::Dates { form: Form::Compact, .. }, Moment::Number(number)) => {
                self.place(&Moment::Date(compact_date(*number)?))
            }
            (Calendar::Dates { origin, zone, .. }, Moment::Date(Date { at, zone: own, .. })) => {
                let span = *at - *origin;
                let milliseconds = span.num_milliseconds() as f64 + f64::from(span.subsec_nanos() % 1_000_000) * 1e-6;
                (zone.is_some() == own.is_some()).then_some(milliseconds / MILLISECONDS)
            }
            _ => None,
        }
    }

    /// A time on the axis as a local date, to the millisecond, or to the microsecond if times have them; none if it is no date.
    pub(super) fn date(&self, time: f64) -> Option<NaiveDateTime> {
        let Calendar::Dates { origin, has_micros, zone, .. } = self else { return None };
        let milliseconds = time * MILLISECONDS;
        let span = match has_micros {
            true => TimeDelta::microseconds((milliseconds * 1000.0).round() as i64),
            false => TimeDelta::try_milliseconds(milliseconds.round() as i64)?,
        };
        origin.checked_add_signed(span)?.checked_add_offset(zone.unwrap_or(FixedOffset::east_opt(0)?))
    }

    /// A local date on the axis.
    pub(super) fn place_date(&self, at: NaiveDateTime) -> Option<f64> {
        let Calendar::Dates { zone, .. } = self else { return None };
        let at = at.checked_sub_offset(zone.unwrap_or(FixedOffset::east_opt(0)?))?;
        self.place(&Moment::Date(Date { at, separator: None, has_seconds: false, zone: *zone, form: Form::Day }))
    }

    /// A time on the axis as the user would write it.
    pub fn format(&self, time: f64) -> String {
        let Calendar::Dates { separator, has_seconds, zone, form, .. } = self else { return time.to_string() };
        let Some(at) = self.date(time) else { return format!("{time} days") };
        let is_midnight = at.time() == NaiveTime::MIN;
        match form {
            Form::Compact if is_midnight => return at.format("%Y%m%d").to_string(),
            Form::Month if is_midnight && at.day() == 1 => return at.format("%Y-%m").to_string(),
            Form::Quarter { hyphen } if is_midnight && at.day() == 1 && at.month0() % 3 == 0 => {
                return format!("{}{}Q{}", at.year(), if *hyphen { "-" } else { "" }, at.month0() / 3 + 1);
            }
            _ => {}
        }
        let is_short = !has_seconds && at.second() == 0 && at.nanosecond() == 0;
        let clock = match (separator, is_midnight) {
            (None, true) => return at.format("%Y-%m-%d").to_string(),
            _ if is_short => at.format("%H:%M"),
            _ => at.format("%H:%M:%S%.f"),
        };
        let zone = match zone {
            None => String::new(),
            Some(zone) if zone.local_minus_utc() == 0 => "Z".into(),
            Some(zone) => zone.to_string(),
        };
        format!("{}{}{clock}{zone}", at.format("%Y-%m-%d"), separator.unwrap_or(' '))
    }

    /// Rounds a time to what is written for it, without the rounding errors of sums.
    pub fn rounded(&self, time: f64) -> Result<f64, String> {
        match self {
            Calendar::Numbers => self.parse(&format!("{time:.13e}")),
            Calendar::Dates { .. } => self.parse(&self.format(time)),
        }
    }

    /// A length of time in words.
    pub fn span(&self, length: f64) -> String {
        if *self == Calendar::Numbers {
            return length.to_string();
        }
        let (size, unit) = match length {
            l if l >= 1.0 => (l, "days"),
            l if l >= 1.0 / 24.0 => (l * 24.0, "hours"),
            l if l >= 1.0 / 1440.0 => (l * 1440.0, "minutes"),
            l => (l * 86_400.0, "seconds"),
        };
        // Rounding of dates can make a step slightly fractional.
        format!("{} {unit}", (size * 1000.0).round() / 1000.0)
    }

    /// The unit of the axis in the CF conventions, by which xarray recognises dates.
    pub fn units(&self) -> Option<String> {
        match self {
            Calendar::Numbers => None,
            Calendar::Dates { origin, .. } => Some(format!("days since {}", origin.format("%Y-%m-%d %H:%M:%S%.f"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(texts: &[&str]) -> Vec<Moment> {
        texts.iter().map(|t| Moment::parse(t).unwrap()).collect()
    }

    #[test]
    fn times_are_written_as_they_were_given() {
        for texts in [
            &["3", "-1.5", "1000"][..],
            &["2001-05-30", "2001-05-29", "2024-02-29"],
            &["2001-05-30 12:00", "2001-05-31 00:00"],
            &["2001-05-30 12:00:00", "2001-05-31 00:00:00"],
            &["2001-05-30T12:00:01", "2001-05-31T23:59:59.500"],
            &["2001-05-30T12:00Z", "2001-05-30T12:30Z"],
            &["2001-05-30 12:00:00+02:00", "1999-12-31 00:30:00+02:00"],
            &["2001-05-30 12:00:00.123456", "2001-05-31 00:00:00"],
            &["20240430", "20240501"],
            &["2001-05", "2001-12"],
            &["2001Q2", "1999Q4"],
            &["2001-Q2", "1999-Q4"],
        ] {
            let moments = moments(texts);
            let calendar = Calendar::of(&moments).unwrap();
            let written: Vec<String> = texts.iter().map(|t| calendar.format(calendar.parse(t).unwrap())).collect();
            assert_eq!(written, texts);
        }
    }

    #[test]
    fn dates_are_days_since_the_first() {
        let moments = moments(&["2001-05-30", "2001-05-28", "2001-05-28 12:00"]);
        let calendar = Calendar::of(&moments).unwrap();
        let places: Vec<f64> = moments.iter().filter_map(|m| calendar.place(m)).collect();
        assert_eq!(places, [2.0, 0.0, 0.5]);
        assert_eq!(calendar.units().unwrap(), "days since 2001-05-28 00:00:00");
        let problem = calendar.parse("7").unwrap_err();
        assert!(problem.contains("`7`") && problem.contains("2001-05-28"), "{problem}");
        assert!(calendar.format(1e300).ends_with(" days"));
        assert_eq!((calendar.span(2.0), calendar.span(1.0 / 48.0)), ("2 days".into(), "30 minutes".into()));
    }

    #[test]
    fn rounded_times_equal_what_is_written() {
        let numbers = Calendar::of(&moments(&["0.1"])).unwrap();
        assert_eq!(numbers.rounded(0.1 + 0.2), Ok(0.3));
        assert_eq!(numbers.rounded(1_234_567_890.125), Ok(1_234_567_890.125));
        let hours = Calendar::of(&moments(&["2001-05-28 12:00"])).unwrap();
        let third = hours.rounded(1.0 / 3.0).unwrap();
        assert_eq!(hours.parse(&hours.format(third)), Ok(third));
        assert!(hours.rounded(1e300).is_err());
    }

    #[test]
    fn inconsistent_times_are_reported_with_their_place() {
        for (texts, place) in [
            (&["1", "2001-05-30"][..], 1),
            (&["2001-05-30", "2001-05-31", "7"], 2),
            (&["2001-05-30 12:00Z", "2001-05-30 12:00"], 1),
        ] {
            assert_eq!(Calendar::of(&moments(texts)).unwrap_err().0, place);
        }
    }
}
