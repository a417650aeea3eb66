//! Answers to questions about a fit, one file and one function per question: from a fit and a few options to named columns.
//!
//! Each question has one random stream and one number of draws. The program, the Python package, the report and the pictures only render
//! what is computed here, so a cell has the same numbers everywhere.

pub mod backtest;
pub mod cells;
pub mod checks;
pub mod convergence;
pub mod differences;
pub mod distances;
pub mod effects;
pub mod forecast;
pub mod grouping;
pub mod groups;
pub mod imputed;
pub mod kernel;
pub mod placed;
pub mod positions;
pub mod predictions;
pub mod revealed;
pub mod stream;

use crate::cells::{csv_text, number};
use rflvm::internal::posterior::outlook::Scores;
use serde_json::{Value, json};

/// The answer to a question: columns of one length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The columns, in the order of the CSV file.
    pub columns: Vec<Column>,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The unit of its numbers; empty for texts and for numbers without a unit.
    pub unit: &'static str,
    /// One value per line.
    pub values: Values,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers; NaN if unknown.
    Numbers(Vec<f64>),
    /// Whole numbers. Rows and draws are counted from 1.
    Counts(Vec<usize>),
    /// Texts.
    Texts(Vec<String>),
    /// One of a few names per line, by its place in the list.
    Names {
        /// The names.
        names: Vec<String>,
        /// The place of each line's name.
        of: Vec<usize>,
    },
}

/// Cells and their quantiles have the unit of their column in the table.
pub const OF_COLUMN: &str = "column";
/// Scores of cells are relative to the standard deviation of their column.
pub const OF_SD: &str = "standard deviation of the column";
/// Positions have the unit of the latent axes.
pub const OF_AXIS: &str = "latent axis";
/// Predictors have the scale of the link of their column.
pub const OF_LINK: &str = "link";

impl Column {
    /// A column of numbers.
    pub fn numbers(name: impl Into<String>, unit: &'static str, values: Vec<f64>) -> Self {
        Column { name: name.into(), unit, values: Values::Numbers(values) }
    }

    /// A number of each item.
    pub fn of<T>(name: &str, unit: &'static str, items: &[T], number: impl Fn(&T) -> f64) -> Self {
        Column::numbers(name, unit, items.iter().map(number).collect())
    }

    /// A column of whole numbers.
    pub fn counts(name: impl Into<String>, values: Vec<usize>) -> Self {
        Column { name: name.into(), unit: "", values: Values::Counts(values) }
    }

    /// A column of texts.
    pub fn texts(name: impl Into<String>, values: Vec<String>) -> Self {
        Column { name: name.into(), unit: "", values: Values::Texts(values) }
    }

    /// A column of names.
    pub fn names(name: impl Into<String>, names: Vec<String>, of: Vec<usize>) -> Self {
        Column { name: name.into(), unit: "", values: Values::Names { names, of } }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(values) => values.len(),
            Values::Counts(values) => values.len(),
            Values::Texts(values) => values.len(),
            Values::Names { of, .. } => of.len(),
        }
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Each line `times` times.
    fn repeated(&self, times: usize) -> Self {
        fn each<T: Clone>(values: &[T], times: usize) -> Vec<T> {
            values.iter().flat_map(|value| std::iter::repeat_n(value.clone(), times)).collect()
        }
        let values = match &self.values {
            Values::Numbers(values) => Values::Numbers(each(values, times)),
            Values::Counts(values) => Values::Counts(each(values, times)),
            Values::Texts(texts) => {
                let of: Vec<usize> = (0..texts.len()).collect();
                Values::Names { names: texts.clone(), of: each(&of, times) }
            }
            Values::Names { names, of } => Values::Names { names: names.clone(), of: each(of, times) },
        };
        Column { name: self.name.clone(), unit: self.unit, values }
    }

    /// A line as text; empty if it is unknown.
    pub fn text(&self, line: usize) -> String {
        match &self.values {
            Values::Numbers(values) => number(values[line]),
            Values::Counts(values) => values[line].to_string(),
            Values::Texts(values) => values[line].clone(),
            Values::Names { names, of } => names[of[line]].clone(),
        }
    }

    fn json(&self) -> Value {
        let values: Value = match &self.values {
            Values::Numbers(values) => values.iter().map(|&v| finite(v)).collect(),
            Values::Counts(values) => json!(values),
            Values::Texts(values) => json!(values),
            Values::Names { names, of } => of.iter().map(|&i| names[i].as_str()).collect(),
        };
        json!({ "name": self.name, "unit": self.unit, "values": values })
    }
}

impl Answer {
    /// Number of lines.
    pub fn lines(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// The names of the columns.
    pub fn header(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// As CSV.
    pub fn csv(&self) -> String {
        let line = |i| self.columns.iter().map(|column| column.text(i)).collect();
        csv_text(self.header(), (0..self.lines()).map(line))
    }

    /// As a list of columns, each with name, unit and values; unknown ones are null.
    pub fn json(&self) -> Value {
        self.columns.iter().map(Column::json).collect()
    }

    /// As one object per line, by the names of the columns.
    pub fn objects(&self) -> Vec<Value> {
        let value = |column: &Column, i: usize| match &column.values {
            Values::Numbers(values) => finite(values[i]),
            Values::Counts(values) => json!(values[i]),
            _ => json!(column.text(i)),
        };
        let object = |i: usize| self.columns.iter().map(|column| (column.name.clone(), value(column, i))).collect();
        (0..self.lines()).map(object).collect()
    }

    /// A column of numbers by its name; empty if there is none.
    pub fn numbers(&self, name: &str) -> &[f64] {
        match self.columns.iter().find(|column| column.name == name).map(|column| &column.values) {
            Some(Values::Numbers(values)) => values,
            _ => &[],
        }
    }
}

/// The scores of some cells, one line each; the two last are the fractions in the central intervals.
pub(crate) fn of_scores(scores: &[Scores], [in50, in90]: [&str; 2]) -> [Column; 7] {
    [
        Column::counts("cells", scores.iter().map(|s| s.cells).collect()),
        Column::of("crps", OF_SD, scores, |s| s.crps),
        Column::of("mse", OF_SD, scores, |s| s.mse),
        Column::of("mae", OF_SD, scores, |s| s.mae),
        Column::of("log_density", "nats", scores, |s| s.ln_density.unwrap_or(f64::NAN)),
        Column::of(in50, "fraction", scores, |s| s.coverage[0]),
        Column::of(in90, "fraction", scores, |s| s.coverage[1]),
    ]
}

/// A number for JSON, which knows neither NaN nor infinity.
pub fn finite(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_same_as_csv_and_as_json() {
        let texts = Column::texts("time", vec!["1".into(), "a, b".into()]).repeated(2);
        let answer = Answer {
            columns: vec![
                texts,
                Column::counts("row", vec![1, 2]).repeated(2),
                Column::numbers("mean", OF_COLUMN, vec![0.1, f64::NAN, 1.0, -2.5e-9]),
            ],
        };
        assert_eq!(answer.csv(), "time,row,mean\n1,1,0.1\n1,1,\n\"a, b\",2,1\n\"a, b\",2,-0.0000000025\n");
        let told = answer.json();
        assert_eq!(told[0]["values"], json!(["1", "1", "a, b", "a, b"]));
        assert_eq!(told[2], json!({ "name": "mean", "unit": "column", "values": [0.1, null, 1.0, -2.5e-9] }));
        assert_eq!((answer.lines(), answer.numbers("mean").len(), answer.numbers("row").len()), (4, 4, 0));
    }
}
