//! The meaning of numbers on the time axis: plain numbers, or days since the first date, to be written as the user wrote them.

use crate::moment::{Date, Moment};
use chrono::{FixedOffset, NaiveDateTime, NaiveTime, TimeDelta, Timelike};

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
        /// The time zone, if times have one.
        zone: Option<FixedOffset>,
    },
}

const MILLISECONDS: f64 = 86_400_000.0;

impl Calendar {
    /// The calendar of some times; the error has the index of the first time that does not match those before it, and the reason.
    pub fn of(moments: &[Moment]) -> Result<Self, (usize, String)> {
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
        let (mut separator, mut has_seconds) = (first.separator, false);
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
        }
        Ok(Calendar::Dates { origin, separator, has_seconds, zone: first.zone })
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
            (Calendar::Dates { origin, zone, .. }, Moment::Date(Date { at, zone: own, .. })) => {
                let span = *at - *origin;
                let milliseconds = span.num_milliseconds() as f64 + f64::from(span.subsec_nanos() % 1_000_000) * 1e-6;
                (zone.is_some() == own.is_some()).then_some(milliseconds / MILLISECONDS)
            }
            _ => None,
        }
    }

    /// A time on the axis as the user would write it; dates to the millisecond.
    pub fn format(&self, time: f64) -> String {
        let Calendar::Dates { origin, separator, has_seconds, zone } = self else { return time.to_string() };
        let milliseconds = (time * MILLISECONDS).round();
        let at = TimeDelta::try_milliseconds(milliseconds as i64)
            .and_then(|span| origin.checked_add_signed(span))
            .and_then(|at| at.checked_add_offset(zone.unwrap_or(FixedOffset::east_opt(0)?)));
        let Some(at) = at else { return format!("{time} days") };
        let is_midnight = at.time() == NaiveTime::MIN;
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
