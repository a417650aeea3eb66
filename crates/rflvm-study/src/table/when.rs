//! Times in several columns: a year with a quarter, with a month, or with a month and a day; or a date with a time of day.

use super::TableError;
use super::words::shorten;
use crate::names::Names;
use std::path::Path;

/// What a column adds to the year or the date before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Quarter,
    Month,
    Day,
    Clock,
}

/// The names of the columns, where ⟨time⟩ is not the name of one.
pub(super) fn columns(time: &str, is_column: impl Fn(&str) -> bool) -> Vec<String> {
    match time.parse() {
        Ok(Names(names)) if names.len() > 1 && !is_column(time) => names,
        _ => vec![time.to_string()],
    }
}

/// The times of the rows as text, such as 1959Q2, 1959-05, 1959-05-30 and 1959-05-30 12:00, from the texts of each column.
pub fn joined(file: &Path, names: &[String], cells: &[&[String]]) -> Result<Vec<String>, TableError> {
    let wrong = |place: String, problem: String| TableError::Times { file: file.to_path_buf(), place, problem };
    let in_row = |n: usize, c: usize| format!("row {}, column `{}`", n + 1, shorten(&names[c], 32));
    let units =
        units(names, cells).map_err(|(c, problem)| wrong(format!("column `{}`", shorten(&names[c], 32)), problem))?;
    let Some(first) = cells.first() else { return Ok(Vec::new()) };
    let mut times = Vec::with_capacity(first.len());
    for (n, text) in first.iter().enumerate() {
        let mut time = text.trim().to_string();
        if units[0] != Unit::Clock {
            let year = whole(&time).filter(|year| (1..=9999).contains(year));
            let strange = || wrong(in_row(n, 0), format!("`{}` is not a year; correct it", shorten(&time, 32)));
            time = format!("{:04}", year.ok_or_else(strange)?);
        }
        for (c, unit) in (1..).zip(&units) {
            let text = cells[c][n].trim();
            let part = unit.part(text).ok_or_else(|| {
                wrong(in_row(n, c), format!("`{}` is not {}; correct it", shorten(text, 32), unit.words()))
            })?;
            time.push_str(&part);
        }
        times.push(time);
    }
    Ok(times)
}

/// What each column after the first holds; the error has the column.
fn units(names: &[String], cells: &[&[String]]) -> Result<Vec<Unit>, (usize, String)> {
    let is_year = cells[0].iter().all(|text| whole(text.trim()).is_some());
    match (is_year, names.len()) {
        (true, 2) => Ok(vec![part_of_year(&names[1], cells[1]).map_err(|problem| (1, problem))?]),
        (true, 3) => Ok(vec![Unit::Month, Unit::Day]),
        (false, 2) => Ok(vec![Unit::Clock]),
        _ => Err((
            names.len() - 1,
            "times in several columns are a year and a quarter, a year and a month, a year, a month and a day, or a date and a time of \
             day; name these columns, in this order"
                .into(),
        )),
    }
}

/// Whether the numbers that go with a year are quarters or months. From 1 to 4 they may be either, and then the name decides.
fn part_of_year(name: &str, cells: &[String]) -> Result<Unit, String> {
    let is_past_four = |text: &String| whole(text.trim()).is_some_and(|number| number > 4);
    let first = name.trim().chars().next().map(|letter| letter.to_ascii_lowercase());
    match first {
        _ if cells.iter().any(is_past_four) => Ok(Unit::Month),
        _ if cells.iter().all(|text| text.trim().starts_with(['Q', 'q'])) => Ok(Unit::Quarter),
        Some('q') => Ok(Unit::Quarter),
        Some('m') => Ok(Unit::Month),
        _ => Err("its numbers may be quarters or months; name the column quarter or month".into()),
    }
}

impl Unit {
    /// What is appended to the time; none if the text is nothing of the kind.
    fn part(self, text: &str) -> Option<String> {
        let number = |text: &str, most: i64| whole(text).filter(|number| (1..=most).contains(number));
        match self {
            Unit::Quarter => Some(format!("Q{}", number(text.trim_start_matches(['Q', 'q']), 4)?)),
            Unit::Month => Some(format!("-{:02}", number(text, 12)?)),
            Unit::Day => Some(format!("-{:02}", number(text, 31)?)),
            Unit::Clock => text.contains(':').then(|| format!(" {text}")),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Unit::Quarter => "a quarter from 1 to 4",
            Unit::Month => "a month from 1 to 12",
            Unit::Day => "a day from 1 to 31",
            Unit::Clock => "a time of day such as 12:00",
        }
    }
}

/// A whole number, also if it is written as 1959.0.
fn whole(text: &str) -> Option<i64> {
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && number.abs() < 1e6).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn together(names: &[&str], cells: &[&[&str]]) -> Result<Vec<String>, String> {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<String>>();
        let cells: Vec<Vec<String>> = cells.iter().map(|own| texts(own)).collect();
        let cells: Vec<&[String]> = cells.iter().map(Vec::as_slice).collect();
        joined(Path::new("t.csv"), &texts(names), &cells).map_err(|error| error.to_string())
    }

    #[test]
    fn years_quarters_months_days_and_hours_are_one_time() {
        for (names, cells, times) in [
            (&["year", "quarter"][..], &[&["1959.0", "1960"][..], &["1.0", "4"]][..], &["1959Q1", "1960Q4"][..]),
            (&["y", "p"], &[&["1959"], &["Q3"]], &["1959Q3"]),
            (&["y", "p"], &[&["1959", "1959"], &["2", "11"]], &["1959-02", "1959-11"]),
            (&["y", "month"], &[&["1959"], &["2"]], &["1959-02"]),
            (&["y", "m", "d"], &[&["1959"], &["2"], &["3"]], &["1959-02-03"]),
            (&["day", "hour"], &[&["1959-02-03"], &["12:30"]], &["1959-02-03 12:30"]),
        ] {
            assert_eq!(together(names, cells).unwrap(), times, "{names:?}");
        }
    }

    #[test]
    fn what_is_no_time_is_one_sentence_with_its_place() {
        for (names, cells, words) in [
            (&["y", "p"][..], &[&["1959"][..], &["2"]][..], "t.csv: column `p`: its numbers may be quarters or months"),
            (&["y", "quarter"], &[&["1959", "1959"], &["2", ""]], "row 2, column `quarter`: `` is not a quarter"),
            (&["y", "month"], &[&["1959", "1959"], &["7", "13"]], "row 2, column `month`: `13` is not a month"),
            (&["y", "m", "d"], &[&["1959"], &["2"], &["32"]], "row 1, column `d`: `32` is not a day"),
            (&["a", "b"], &[&["May"], &["2"]], "row 1, column `b`: `2` is not a time of day"),
            (&["a", "b", "c", "d"], &[&["1959"], &["2"], &["2"], &["2"]], "column `d`: times in several columns are"),
        ] {
            let problem = together(names, cells).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
    }

    #[test]
    fn a_name_with_a_comma_is_one_column() {
        let is_column = |name: &str| name == "a,b";
        assert_eq!(columns("a,b", is_column), ["a,b"]);
        assert_eq!(columns("a,c", is_column), ["a", "c"]);
        assert_eq!(columns("\"x,y\",c", is_column), ["x,y", "c"]);
    }
}
