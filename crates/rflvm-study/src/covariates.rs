//! What is known of the rows besides their cells: batch, plate, sex, age. Numbers are standardised; a category has one effect per level, as
//! centred indicators: the prior makes the effects of all levels identifiable, and no level is special.

use crate::config::Config;
use crate::error::Error;
use crate::table::{Decimal, Table};
use rflvm::closest::closest;
use rflvm::error::{DataError, SpecError};
use rflvm::linalg::Mat;

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
        let mut values = Vec::new();
        for n in 0..table.rows {
            for (covariate, cells) in self.all.iter().zip(&table.covariates) {
                self.check_known(table, &covariate.name, n, &cells[n])?;
                let place = || format!("row {}, column `{}`", n + 1, covariate.name);
                let wrong = |problem: String| data(table, place(), problem);
                self.encode(covariate, &cells[n], &mut values).map_err(wrong)?;
            }
        }
        Ok(Mat::from_vec(table.rows, self.names().len(), values))
    }

    /// The covariates of one row that is not in a table, from texts such as `batch=A`; those that are not named are those of an average row.
    pub fn set(&self, texts: &[String]) -> Result<Vec<f64>, SpecError> {
        let wrong = |value: &str, rule: String| SpecError::Setting {
            setting: "covariates",
            value: value.chars().take(40).collect(),
            rule,
        };
        let mut chosen: Vec<Option<&str>> = vec![None; self.all.len()];
        for text in texts {
            let known: Vec<&str> = self.all.iter().map(|covariate| covariate.name.as_str()).collect();
            let Some((name, value)) = text.split_once('=') else {
                return Err(wrong(text, "a covariate and its value are given as NAME=VALUE, such as batch=A".into()));
            };
            let Some(place) = known.iter().position(|known| *known == name.trim()) else {
                let rule = match (known.is_empty(), closest(name.trim(), &known)) {
                    (true, _) => "this fit has no covariates; leave it out".to_string(),
                    (_, Some(near)) => format!("no covariate of this fit has that name; did you mean {near}?"),
                    _ => format!("no covariate of this fit has that name; they are {}", known.join(", ")),
                };
                return Err(wrong(text, rule));
            };
            if chosen[place].replace(value.trim()).is_some() {
                return Err(wrong(text, format!("{} is given twice; give it once", known[place])));
            }
        }
        let mut values = Vec::new();
        for (covariate, value) in self.all.iter().zip(chosen) {
            match value {
                Some(value) => {
                    self.encode(covariate, value, &mut values).map_err(|rule| wrong(value, rule))?;
                }
                None => values.resize(values.len() + covariate.width(), 0.0),
            }
        }
        Ok(values)
    }

    /// A missing cell is an error.
    fn check_known(&self, table: &Table, name: &str, n: usize, cell: &str) -> Result<(), Error> {
        let text = cell.trim();
        let usual = ["", "na", "n/a", "nan", "null"].contains(&text.to_lowercase().as_str());
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

    /// Appends the values of one covariate.
    fn encode(&self, covariate: &Covariate, cell: &str, to: &mut Vec<f64>) -> Result<(), String> {
        match &covariate.form {
            Form::Number { mean, sd } => {
                let shown: String = cell.chars().take(32).collect();
                let number = self.number(cell).ok_or_else(|| {
                    format!(
                        "the covariate {} is a number in this fit, and `{shown}` is not one; give a number",
                        covariate.name
                    )
                })?;
                to.push((number - mean) / sd);
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
                to.extend(levels.iter().enumerate().map(|(i, (_, share))| f64::from(u8::from(i == own)) - share));
            }
        }
        Ok(())
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
        assert_eq!(covariates.set(&["batch=a".into()]).unwrap(), [0.0, 0.75, -0.75, 0.0, 0.0]);
        assert_eq!(covariates.set(&["age = 5".into()]).unwrap(), [3.0, 0.0, 0.0, 0.0, 0.0]);
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
            let error = covariates.set(&[texts.to_string()]).unwrap_err().to_string();
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
