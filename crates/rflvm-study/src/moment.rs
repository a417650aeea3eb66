//! One time as a user writes it: a number, or an ISO 8601 date with or without a time of day and a time zone.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

/// A parsed time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moment {
    Number(f64),
    Date(Date),
}

/// A date, and how it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Date {
    /// In UTC if it has a time zone.
    pub at: NaiveDateTime,
    /// The character between date and time of day, if it has a time of day.
    pub separator: Option<char>,
    pub has_seconds: bool,
    pub zone: Option<FixedOffset>,
    /// How its day is written.
    pub form: Form,
}

/// How a day is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// 2001-05-30.
    Day,
    /// 20010530.
    Compact,
    /// 2001-05, its first day.
    Month,
    /// 2001Q2, its first day; or 2001-Q2, if there is a hyphen.
    Quarter { hyphen: bool },
}

/// The accepted forms, in words.
pub const FORMS: &str = "write times as numbers, as dates like 2001-05-30, 2001-05 or 2001Q2, or as 2001-05-30 12:00:00 (append Z or +02:00 for a time zone)";

impl Moment {
    /// Parses a text; the error says what is wrong and what to do.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let missing = ["", "na", "n/a", "nan", "null"];
        if missing.iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Err("the time is missing; fill it in, or remove the row".into());
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => return Ok(Moment::Number(number)),
            Ok(_) => return Err(format!("the time `{text}` is not a finite number; correct it")),
            Err(_) => {}
        }
        let shown: String = text.chars().take(40).collect();
        if let Some(date) = Date::parse(text) {
            return match date.at.nanosecond() % 1000 {
                0 => Ok(Moment::Date(date)),
                _ => Err(format!(
                    "the time `{shown}` has nanoseconds, and times are kept to the microsecond; round it, or give times as numbers"
                )),
            };
        }
        Err(match can_be_read_two_ways(text) {
            true => format!("the date `{shown}` can be read in more than one way; write it as 2001-05-30, year first"),
            false => format!("the time `{shown}` cannot be read; {FORMS}"),
        })
    }
}

/// Whether a text is meant as a date, readable or not.
pub fn looks_like_a_date(text: &str) -> bool {
    let is_year_first = |day: &str| {
        let parts: Vec<&str> = day.split(['/', '.', '-']).collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.len() == 3 && parts[0].len() == 4 && parts[1..].iter().all(|p| p.len() < 3) && parts.iter().all(is_number)
    };
    is_year_first(text.split([' ', 'T']).next().unwrap_or_default())
        || can_be_read_two_ways(text)
        || Date::of_period(text).is_some()
}

/// The date that a number such as 20010530 is, if it is one.
pub fn compact_date(number: f64) -> Option<Date> {
    let day = (1.8e7..2.2e7).contains(&number).then(|| NaiveDate::parse_from_str(&number.to_string(), "%Y%m%d").ok());
    Some(Date::first(day??, Form::Compact))
}

impl Date {
    /// The beginning of a day.
    fn first(day: NaiveDate, form: Form) -> Self {
        Date { at: day.and_time(NaiveTime::MIN), separator: None, has_seconds: false, zone: None, form }
    }

    /// A month such as 2001-05, or a quarter such as 2001Q2.
    fn of_period(text: &str) -> Option<Self> {
        let (year, rest) = text.split_at_checked(4)?;
        let year = year.bytes().all(|b| b.is_ascii_digit()).then(|| year.parse().ok())??;
        let (hyphen, rest) = rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest));
        let (month, form) = match rest.strip_prefix('Q') {
            Some(quarter @ ("1" | "2" | "3" | "4")) => (3 * quarter.parse::<u32>().ok()? - 2, Form::Quarter { hyphen }),
            None if hyphen && rest.len() == 2 && rest.bytes().all(|b| b.is_ascii_digit()) => {
                (rest.parse().ok()?, Form::Month)
            }
            _ => return None,
        };
        Some(Date::first(NaiveDate::from_ymd_opt(year, month, 1)?, form))
    }

    fn parse(text: &str) -> Option<Self> {
        if let Some(period) = Date::of_period(text) {
            return Some(period);
        }
        let day = text.get(..10).filter(|day| day.bytes().map(|b| b.is_ascii_digit()).eq(DIGITS))?;
        let day = NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()?;
        let mut rest = text[10..].chars();
        let Some(separator) = rest.next() else {
            return Some(Date::first(day, Form::Day));
        };
        if !matches!(separator, ' ' | 'T') {
            return None;
        }
        let clock = rest.as_str();
        let split = clock.find(['Z', '+', '-']).unwrap_or(clock.len());
        let (clock, zone) = (clock[..split].trim_end(), &clock[split..]);
        let has_seconds = clock.matches(':').count() > 1;
        let form = if has_seconds { "%H:%M:%S%.f" } else { "%H:%M" };
        let time = NaiveTime::parse_from_str(clock, form).ok()?;
        let zone = match zone {
            "" => None,
            "Z" => FixedOffset::east_opt(0),
            // chrono cannot parse an offset alone.
            _ => {
                Some(*DateTime::parse_from_str(&format!("2000-01-01 00:00 {zone}"), "%Y-%m-%d %H:%M %z").ok()?.offset())
            }
        };
        let at = day.and_time(time).checked_sub_offset(zone.unwrap_or(FixedOffset::east_opt(0)?))?;
        Some(Date { at, separator: Some(separator), has_seconds, zone, form: Form::Day })
    }
}

/// The positions of digits in 2001-05-30.
const DIGITS: [bool; 10] = [true, true, true, true, false, true, true, false, true, true];

/// Whether a text is three numbers that may be meant as a date, with the day or the month first.
fn can_be_read_two_ways(text: &str) -> bool {
    let day = text.split([' ', 'T']).next().unwrap_or_default();
    ['/', '.', '-'].iter().any(|&separator| {
        let parts: Vec<&str> = day.split(separator).collect();
        let is_number = |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        parts.len() == 3 && parts[0].len() < 3 && parts.iter().all(is_number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        match Moment::parse(text) {
            Ok(Moment::Date(date)) => date,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn numbers_dates_times_of_day_and_zones_are_read() {
        assert_eq!(Moment::parse(" -1.5e3"), Ok(Moment::Number(-1500.0)));
        assert_eq!(date("2001-05-30").at, date("2001-05-30 00:00").at);
        let noon = date("2001-05-30 12:00").at;
        for text in ["2001-05-30T12:00:00", "2001-05-30 12:00:00.0", "2001-05-30T12:00:00Z", "2001-05-30T14:00+02:00"] {
            assert_eq!(date(text).at, noon, "{text}");
        }
        assert_eq!(date("2001-05-30 06:30:00 -0530").at, noon);
        assert_eq!((date("2001-05-30 12:00:00.5").at - noon).num_milliseconds(), 500);
    }

    #[test]
    fn errors_say_why_a_text_is_not_a_time() {
        for (text, word) in [
            ("", "missing"),
            ("NA", "missing"),
            ("inf", "finite"),
            ("30/05/2001", "more than one way"),
            ("5.6.2001", "more than one way"),
            ("01-02-2003", "more than one way"),
            ("May 30", "cannot be read"),
            ("2001-13-30", "cannot be read"),
            ("2001-05-30 25:00", "cannot be read"),
            ("2001-13", "cannot be read"),
            ("2001Q5", "cannot be read"),
            ("2001-05-30 12:00:00.123456789", "nanoseconds"),
            ("2001-05-30x", "cannot be read"),
            ("2001-05-30T12:00:00+99:99", "cannot be read"),
            ("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", "cannot be read"),
        ] {
            let problem = Moment::parse(text).unwrap_err();
            assert!(problem.contains(word), "{text}: {problem}");
        }
    }
}
