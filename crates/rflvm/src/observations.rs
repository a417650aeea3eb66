//! The data: N×J values (NaN marks a missing cell), names, and what is known of each row: its offset on the link scale, its covariates
//! and its time.

use crate::error::DataError;
use crate::linalg::Mat;
use std::collections::BTreeMap;

/// A table as the model sees it.
#[derive(Debug, Clone)]
pub struct Observations {
    pub(crate) y: Mat,
    pub(crate) names: Vec<String>,
    pub(crate) offset: Vec<f64>,
    pub(crate) covariates: Mat,
    pub(crate) covariate_names: Vec<String>,
    pub(crate) times: Option<Times>,
}

/// When the rows were observed, in any unit and order. Rows of different sequences (trials, recordings) have independent
/// paths that share the model and its hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// The time of each row.
    pub at: Vec<f64>,
    /// The sequence of each row, counted from 0.
    pub sequence: Vec<usize>,
}

impl Times {
    /// Times of a single sequence.
    pub fn new(at: Vec<f64>) -> Self {
        Times { sequence: vec![0; at.len()], at }
    }
}

/// Known offset o_n of each row on the link scale.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Offset {
    /// o_n = 0.
    #[default]
    None,
    /// Given values.
    Given(Vec<f64>),
    /// ln of the row's total over the mean total: the size factors of count data.
    SizeFactors,
}

impl Observations {
    /// From values; NaN marks a missing cell, infinite values are rejected.
    pub fn new(y: Mat) -> Result<Self, DataError> {
        let names = (1..=y.cols()).map(|j| j.to_string()).collect();
        Self::named(y, names)
    }

    /// The same, with column names for messages.
    pub fn named(y: Mat, names: Vec<String>) -> Result<Self, DataError> {
        let (rows, columns) = (y.rows(), y.cols());
        if rows < 2 || columns < 1 {
            return Err(DataError::Empty { rows, columns });
        }
        if names.len() != columns {
            let (found, expected) = (names.len().to_string(), columns.to_string());
            return Err(DataError::Shape { what: "the list of column names", found, expected });
        }
        for (n, row) in y.iter_rows().enumerate() {
            if let Some(j) = row.iter().position(|v| v.is_infinite()) {
                return Err(DataError::Support {
                    row: n + 1,
                    column: names[j].clone(),
                    value: row[j],
                    problem: "is not a finite number; clear the cell to mark it missing".into(),
                });
            }
        }
        if let Some(j) = (0..columns).find(|&j| (0..rows).all(|n| y[(n, j)].is_nan())) {
            return Err(DataError::MissingColumn { column: names[j].clone() });
        }
        let (covariates, covariate_names) = (Mat::zeros(rows, 0), Vec::new());
        Ok(Observations { offset: vec![0.0; rows], covariates, covariate_names, y, names, times: None })
    }

    /// A table whose cells other processes have checked and hold.
    pub(crate) fn hollow(rows: usize, names: Vec<String>) -> Self {
        let y = Mat::hollow(rows, names.len());
        let (covariates, covariate_names) = (Mat::zeros(rows, 0), Vec::new());
        Observations { offset: vec![0.0; rows], covariates, covariate_names, y, names, times: None }
    }

    /// Sets the row offsets.
    pub fn with_offset(mut self, offset: Offset) -> Result<Self, DataError> {
        match offset {
            Offset::None => self.offset.fill(0.0),
            Offset::Given(values) => {
                if values.len() != self.y.rows() {
                    return Err(DataError::Shape {
                        what: "the offset",
                        found: values.len().to_string(),
                        expected: format!("{} (one per row)", self.y.rows()),
                    });
                }
                if let Some(n) = values.iter().position(|v| !v.is_finite()) {
                    let problem = format!("the offset {} is not a finite number", values[n]);
                    return Err(DataError::Offset { row: n + 1, problem });
                }
                self.offset = values;
            }
            Offset::SizeFactors => self.offset = size_factors(&self.y)?,
        }
        Ok(self)
    }

    /// Sets the covariates of the rows, N×C: f_nj = o_n + h_n·β_j + u_n·γ_j. They are used as they are, so centre them, and scale
    /// them so that an effect of one unit is as likely as the signal of the column ([`Priors::covariates`]).
    ///
    /// [`Priors::covariates`]: crate::model::Priors::covariates
    pub fn with_covariates(mut self, covariates: Mat, names: Vec<String>) -> Result<Self, DataError> {
        if covariates.rows() != self.rows() || covariates.cols() != names.len() {
            let found = format!("{} rows, {} columns", covariates.rows(), covariates.cols());
            let expected = format!("{} rows, {} columns", self.rows(), names.len());
            return Err(DataError::Shape { what: "the covariates", found, expected });
        }
        check_covariates(&covariates)?;
        (self.covariates, self.covariate_names) = (covariates, names);
        Ok(self)
    }

    /// Sets the times of the rows: X then follows a Gaussian process over them.
    pub fn with_times(mut self, times: Times) -> Result<Self, DataError> {
        for (what, found) in [("the times", times.at.len()), ("the sequences", times.sequence.len())] {
            if found != self.rows() {
                let expected = format!("{} (one per row)", self.rows());
                return Err(DataError::Shape { what, found: found.to_string(), expected });
            }
        }
        if let Some(n) = times.at.iter().position(|t| !t.is_finite()) {
            let problem = format!("the time {} is not a finite number", times.at[n]);
            return Err(DataError::Time { place: format!("row {}", n + 1), problem });
        }
        let mut first = BTreeMap::new();
        if times.at.iter().zip(&times.sequence).all(|(t, s)| first.entry(s).or_insert(t) == &t) {
            let problem =
                "no sequence has two different times, so time carries no information; leave the times out".into();
            return Err(DataError::Time { place: "the times".into(), problem });
        }
        self.times = Some(times);
        Ok(self)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.y.rows()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.y.cols()
    }

    /// The values, NaN where missing.
    pub fn values(&self) -> &Mat {
        &self.y
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Rows without any observed cell. They are allowed: their positions are drawn from the prior.
    pub fn missing_rows(&self) -> Vec<usize> {
        (0..self.rows()).filter(|&n| self.y.row(n).iter().all(|v| v.is_nan())).collect()
    }

    /// Columns whose observed cells are all equal. They are allowed, but carry no information about the rows.
    pub fn constant_columns(&self) -> Vec<usize> {
        (0..self.columns()).filter(|&j| is_constant(&self.y, j)).collect()
    }
}

/// Whether all observed cells of a column are equal.
pub(crate) fn is_constant(y: &Mat, j: usize) -> bool {
    let mut seen = (0..y.rows()).map(|n| y[(n, j)]).filter(|v| !v.is_nan());
    let first = seen.next();
    seen.all(|v| Some(v) == first)
}

/// Covariates must be known.
pub(crate) fn check_covariates(covariates: &Mat) -> Result<(), DataError> {
    match (0..covariates.rows()).find(|&n| covariates.row(n).iter().any(|u| !u.is_finite())) {
        None => Ok(()),
        Some(n) => {
            let problem = "a covariate is not a finite number; covariates must be known for every row".into();
            Err(DataError::Covariate { place: format!("row {}", n + 1), problem })
        }
    }
}

/// ln of each row's mean over its observed cells, relative to the average row.
fn size_factors(y: &Mat) -> Result<Vec<f64>, DataError> {
    size_factors_beside(y, y)
}

/// Size factors relative to the average row of another table: for new rows of a fit.
#[doc(hidden)]
pub fn size_factors_beside(y: &Mat, fitted: &Mat) -> Result<Vec<f64>, DataError> {
    let means = |y: &Mat| y.iter_rows().map(row_mean).collect::<Vec<Option<f64>>>();
    size_factors_of(&means(y), &means(fitted))
}

/// Size factors from the means of rows.
pub(crate) fn size_factors_of(means: &[Option<f64>], fitted: &[Option<f64>]) -> Result<Vec<f64>, DataError> {
    let overall = fitted.iter().map(|mean| mean.unwrap_or(0.0)).sum::<f64>() / fitted.len() as f64;
    let factor = |(n, mean): (usize, &Option<f64>)| match mean {
        None => Ok(0.0),
        Some(mean) if *mean > 0.0 => Ok((mean / overall).ln()),
        Some(_) => {
            let problem = "the row total is not positive, so it has no size factor; drop the row or use no offset";
            Err(DataError::Offset { row: n + 1, problem: problem.into() })
        }
    };
    means.iter().enumerate().map(factor).collect()
}

/// The mean of a row over its observed cells, if it has any.
pub(crate) fn row_mean(row: &[f64]) -> Option<f64> {
    let seen: Vec<f64> = row.iter().copied().filter(|v| !v.is_nan()).collect();
    (!seen.is_empty()).then(|| seen.iter().sum::<f64>() / seen.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_factors_are_relative_row_totals() {
        let y = Mat::from_vec(2, 2, vec![1.0, 1.0, 3.0, 3.0]);
        let o = Observations::new(y).unwrap().with_offset(Offset::SizeFactors).unwrap();
        assert!((o.offset[0] - 0.5_f64.ln()).abs() < 1e-15);
        assert!((o.offset[1] - 1.5_f64.ln()).abs() < 1e-15);
        // A new row of mean 4 next to rows of mean 2; one without cells counts as average.
        let new = Mat::from_vec(2, 2, vec![4.0, f64::NAN, f64::NAN, f64::NAN]);
        let beside = size_factors_beside(&new, &o.y).unwrap();
        assert!((beside[0] - 2.0_f64.ln()).abs() < 1e-15 && beside[1] == 0.0);
    }

    #[test]
    fn bad_tables_are_refused_with_their_place() {
        let infinite = Mat::from_vec(2, 2, vec![1.0, 2.0, 3.0, f64::INFINITY]);
        let error = Observations::new(infinite).unwrap_err().to_string();
        assert!(error.contains("row 2") && error.contains("column '2'"), "{error}");
        let hole = Mat::from_vec(2, 2, vec![1.0, f64::NAN, 3.0, f64::NAN]);
        assert_eq!(Observations::new(hole).unwrap_err(), DataError::MissingColumn { column: "2".into() });
        assert!(matches!(Observations::new(Mat::zeros(0, 3)).unwrap_err(), DataError::Empty { .. }));
        let zero = Mat::from_vec(2, 1, vec![0.0, 1.0]);
        let error = Observations::new(zero).unwrap().with_offset(Offset::SizeFactors).unwrap_err();
        assert!(error.to_string().contains("row 1"));
    }
}
