//! What is known of the rows besides their cells: batch, plate, sex, age. Numbers are standardised; a category has one effect per level, as
//! centred indicators: the prior makes the effects of all levels identifiable, and no level is special.

use crate::config::Config;
use crate::error::Error;
use crate::table::{Decimal, Table};
use rflvm::internal::closest::closest;
use rflvm::internal::error::{DataError, SpecError};
use rflvm::internal::linalg::Mat;
use std::ops::Range;

/// Ends the name of a column of numbers that is a category.
const CATEGORY: &str = ":category";
/// Names of levels shown in a message.
const LEVELS_SHOWN: usize = 8;

/// The covariates of a fit, as its rows have them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Covariates {
    all: Vec<Covariate>,
    missing: Vec<String>,
    decimal: Option<Decimal>,
}

#[derive(Debug, Clone, PartialEq)]
struct Covariate {
    name: String,
    form: Form,
}

#[derive(Debug, Clone, PartialEq)]
enum Form {
    Number {
        mean: f64,
        sd: f64,
    },
    /// Levels in order, each with its share of the rows.
    Category(Vec<(String, f64)>),
}

/// Names of the columns that settings name as covariates.
pub fn columns(config: &Config) -> Vec<String> {
    let plain = |name: &String| name.strip_suffix(CATEGORY).unwrap_or(name).to_string();
    config.covariates.iter().flat_map(|names| names.0.iter().map(plain)).collect()
}

impl Covariates {
    /// From the rows of a fit.
    pub fn of(config: &Config, table: &Table) -> Result<Self, Error> {
        let na = config.na.clone().unwrap_or_default().0;
        let mut covariates = Covariates { all: Vec::new(), missing: na, decimal: config.decimal };
        let given = config.covariates.iter().flat_map(|names| &names.0);
        for ((given, name), cells) in given.zip(columns(config)).zip(&table.covariates) {
            for (n, cell) in cells.iter().enumerate() {
                covariates.check_known(table, &name, n, cell)?;
            }
            let numbers: Option<Vec<f64>> = cells.iter().map(|cell| covariates.number(cell)).collect();
            let form = match numbers.filter(|_| !given.ends_with(CATEGORY)) {
                Some(numbers) => of_numbers(&numbers),
                None => of_levels(cells),
            };
            let form = form.map_err(|rule| SpecError::Setting { setting: "covariates", value: name.clone(), rule })?;
            covariates.all.push(Covariate { name, form });
        }
        Ok(covariates)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Names of the effects: of a number its own, of a category one per level.
    pub fn names(&self) -> Vec<String> {
        let of = |covariate: &Covariate| match &covariate.form {
            Form::Number { .. } => vec![covariate.name.clone()],
            Form::Category(levels) => levels.iter().map(|(level, _)| format!("{}={level}", covariate.name)).collect(),
        };
        self.all.iter().flat_map(of).collect()
    }

    /// The covariates of the rows of a table, one column per effect.
    pub fn matrix(&self, table: &Table) -> Result<Mat, Error> {
        self.matrix_of_some(table, &self.columns())
    }

    /// The covariates of the rows of a table that has only those of the given names, in this order; the others are those of an average row.
    pub fn matrix_of_some(&self, table: &Table, names: &[&str]) -> Result<Mat, Error> {
        let mut matrix = Mat::zeros(table.rows, self.names().len());
        for (covariate, place) in self.placed() {
            let Some(cells) = names.iter().position(|name| *name == covariate.name).map(|at| &table.covariates[at])
            else {
                continue;
            };
            for (n, cell) in cells.iter().enumerate() {
                self.check_known(table, &covariate.name, n, cell)?;
                let wrong = |problem| data(table, format!("row {}, column `{}`", n + 1, covariate.name), problem);
                matrix.row_mut(n)[place.clone()].copy_from_slice(&self.encode(covariate, cell).map_err(wrong)?);
            }
        }
        Ok(matrix)
    }

    /// Names of the covariates, as columns of a table.
    pub fn columns(&self) -> Vec<&str> {
        self.all.iter().map(|covariate| covariate.name.as_str()).collect()
    }

    /// Sets some covariates of all rows of a matrix, from texts such as `batch=A`.
    pub fn set(&self, texts: &[String], matrix: &mut Mat) -> Result<(), SpecError> {
        let wrong = |value: &str, rule: String| SpecError::Setting {
            setting: "covariates",
            value: value.chars().take(40).collect(),
            rule,
        };
        let mut chosen: Vec<Option<&str>> = vec![None; self.all.len()];
        for text in texts {
            let Some((name, value)) = text.split_once('=') else {
                return Err(wrong(text, "a covariate and its value are given as NAME=VALUE, such as batch=A".into()));
            };
            let place = self.position(name.trim()).map_err(|rule| wrong(text, rule))?;
            if chosen[place].replace(value.trim()).is_some() {
                return Err(wrong(text, format!("{} is given twice; give it once", self.all[place].name)));
            }
        }
        for ((covariate, place), value) in self.placed().zip(chosen) {
            let Some(value) = value else { continue };
            let values = self.encode(covariate, value).map_err(|rule| wrong(value, rule))?;
            (0..matrix.rows()).for_each(|n| matrix.row_mut(n)[place.clone()].copy_from_slice(&values));
        }
        Ok(())
    }

    /// The position of a covariate among all; or why there is none of that name.
    pub fn position(&self, name: &str) -> Result<usize, String> {
        let known = self.columns();
        known.iter().position(|known| *known == name).ok_or_else(|| match (known.is_empty(), closest(name, &known)) {
            (true, _) => "this fit has no covariates; leave it out".to_string(),
            (_, Some(near)) => format!("no covariate of this fit has that name; did you mean {near}?"),
            _ => format!("no covariate of this fit has that name; they are {}", known.join(", ")),
        })
    }

    /// Names of the covariates, each with its columns of the matrix.
    pub fn places(&self) -> Vec<(&str, Range<usize>)> {
        self.placed().map(|(covariate, place)| (covariate.name.as_str(), place)).collect()
    }

    /// Each covariate with its columns of the matrix.
    fn placed(&self) -> impl Iterator<Item = (&Covariate, Range<usize>)> {
        self.all.iter().scan(0, |end, covariate| {
            let start = *end;
            *end += covariate.width();
            Some((covariate, start..*end))
        })
    }

    /// A missing cell is an error.
    fn check_known(&self, table: &Table, name: &str, n: usize, cell: &str) -> Result<(), Error> {
        let text = cell.trim();
        let usual = ["na", "n/a", "nan", "null"].contains(&text.to_lowercase().as_str());
        let usual = text.is_empty() || usual && !self.missing.iter().any(String::is_empty);
        if usual || self.missing.iter().any(|word| word == text) {
            let place = format!("row {}, column `{name}`", n + 1);
            return Err(data(table, place, "the covariate is missing; fill it in, or remove the row".into()));
        }
        Ok(())
    }

    fn number(&self, cell: &str) -> Option<f64> {
        let text = cell.trim();
        let text = if self.decimal == Some(Decimal::Comma) { text.replace(',', ".") } else { text.to_string() };
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The values of one covariate.
    fn encode(&self, covariate: &Covariate, cell: &str) -> Result<Vec<f64>, String> {
        match &covariate.form {
            Form::Number { mean, sd } => {
                let shown: String = cell.chars().take(32).collect();
                let number = self.number(cell).ok_or_else(|| {
                    format!(
                        "the covariate {} is a number in this fit, and `{shown}` is not one; give a number",
                        covariate.name
                    )
                })?;
                Ok(vec![(number - mean) / sd])
            }
            Form::Category(levels) => {
                let Some(own) = levels.iter().position(|(level, _)| level == cell.trim()) else {
                    let some: Vec<&str> = levels.iter().take(LEVELS_SHOWN).map(|(level, _)| level.as_str()).collect();
                    let more = if levels.len() > LEVELS_SHOWN { ", …" } else { "" };
                    let shown: String = cell.trim().chars().take(32).collect();
                    return Err(format!(
                        "the fit does not know the level `{shown}` of the covariate {}; give one of {}{more}, or fit again with such rows",
                        covariate.name,
                        some.join(", ")
                    ));
                };
                Ok(levels.iter().enumerate().map(|(i, (_, share))| f64::from(u8::from(i == own)) - share).collect())
            }
        }
    }
}

impl Covariate {
    fn width(&self) -> usize {
        match &self.form {
            Form::Number { .. } => 1,
            Form::Category(levels) => levels.len(),
        }
    }
}

fn data(table: &Table, place: String, problem: String) -> Error {
    Error::Data { file: table.path.display().to_string(), error: DataError::Covariate { place, problem }.into() }
}

fn of_numbers(numbers: &[f64]) -> Result<Form, String> {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let sd = (numbers.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
    if sd > 0.0 && sd.is_finite() { Ok(Form::Number { mean, sd }) } else { Err(constant()) }
}

fn of_levels(cells: &[String]) -> Result<Form, String> {
    let mut levels: Vec<&str> = cells.iter().map(|cell| cell.trim()).collect();
    levels.sort_unstable();
    levels.dedup();
    match levels.len() {
        1 => Err(constant()),
        // With a level for almost every row nothing would be left to the map.
        many if 2 * many > cells.len() => Err(format!(
            "it has {many} levels for {} rows, so that hardly anything is left to explain; name a column that groups the rows",
            cells.len()
        )),
        _ => {
            let share =
                |level: &str| cells.iter().filter(|cell| cell.trim() == level).count() as f64 / cells.len() as f64;
            Ok(Form::Category(levels.into_iter().map(|level| (level.to_string(), share(level))).collect()))
        }
    }
}

fn constant() -> String {
    "it is the same in every row, so it can explain nothing; leave it out".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Names;

    fn table(columns: &[&[&str]]) -> Table {
        let texts = |cells: &&[&str]| cells.iter().map(ToString::to_string).collect();
        Table {
            path: "t.csv".into(),
            rows: columns[0].len(),
            covariates: columns.iter().map(texts).collect(),
            ..Table::default()
        }
    }

    fn of(names: &[&str], table: &Table) -> Result<Covariates, Error> {
        let names = Names(names.iter().map(ToString::to_string).collect());
        Covariates::of(&Config { covariates: Some(names), ..Config::default() }, table)
    }

    #[test]
    fn numbers_are_standardised_and_levels_centred() {
        let rows = table(&[&["1", "3", "1", "3"], &["b", "a", "b", "b"], &["1", "2", "1", "2"]]);
        let covariates = of(&["age", "batch", "plate:category"], &rows).unwrap();
        assert_eq!(covariates.names(), ["age", "batch=a", "batch=b", "plate=1", "plate=2"]);
        let matrix = covariates.matrix(&rows).unwrap();
        assert_eq!(matrix.row(0), [-1.0, -0.25, 0.25, 0.5, -0.5]);
        (0..5).for_each(|c| assert!(matrix.col(c).iter().sum::<f64>().abs() < 1e-12));
        let set = |text: &str, mut matrix: Mat| {
            covariates.set(&[text.into()], &mut matrix).unwrap();
            matrix
        };
        assert_eq!(set("batch=a", Mat::zeros(1, 5)).row(0), [0.0, 0.75, -0.75, 0.0, 0.0]);
        assert_eq!(set("age = 5", Mat::zeros(1, 5)).row(0), [3.0, 0.0, 0.0, 0.0, 0.0]);
        // Rows keep the others, and points of which only some are known have the average of the others.
        assert_eq!(set("batch=a", matrix).row(0), [-1.0, 0.75, -0.75, 0.5, -0.5]);
        let some = covariates.matrix_of_some(&table(&[&["2", "1"]]), &["plate"]).unwrap();
        assert_eq!(some.row(0), [0.0, 0.0, 0.0, -0.5, 0.5]);
    }

    #[test]
    fn what_cannot_be_used_is_one_sentence() {
        let rows = table(&[&["1", "3", "1", "3"], &["b", "a", "b", "b"]]);
        let covariates = of(&["age", "batch"], &rows).unwrap();
        for (texts, words) in [
            ("batch", "NAME=VALUE"),
            ("bach=a", "did you mean batch"),
            ("batch=c", "give one of a, b"),
            ("age=old", "give a number"),
        ] {
            let error = covariates.set(&[texts.to_string()], &mut Mat::zeros(1, 3)).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains('\n'), "{error}");
        }
        for (cells, words) in [
            (["1", "", "2", "1"], "row 2, column `age`: the covariate is missing"),
            (["x", "x", "x", "x"], "the same in every row"),
            (["x", "y", "z", "x"], "3 levels for 4 rows"),
        ] {
            let error = of(&["age"], &table(&[&cells])).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let new = table(&[&["2"], &["c"]]);
        let error = covariates.matrix(&new).unwrap_err().to_string();
        assert!(error.contains("row 1, column `batch`") && error.contains("does not know the level `c`"), "{error}");
    }
}
