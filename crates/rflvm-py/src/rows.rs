//! Tables from Python in the engine's form: that of a fit, and new rows.

use crate::error::raised;
use crate::values::Values;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::transform;
use rflvm_study::Fit;
use rflvm_study::new_rows::{NewTrials, check};
use rflvm_study::table::Table;

/// The name of a table without a file, in messages.
const NAME: &str = "X";

/// What is known of rows besides their cells.
pub struct Known {
    pub ids: Option<Vec<String>>,
    pub offset: Option<Vec<f64>>,
    pub times: Option<Vec<String>>,
    pub sequences: Option<Vec<String>>,
    /// One covariate after the other.
    pub covariates: Option<Vec<Vec<String>>>,
}

/// A table in the engine's form.
pub fn table(values: &mut Values, columns: Vec<String>, named: bool, known: Known) -> PyResult<Table> {
    let Known { ids, offset, times, sequences, covariates } = known;
    let covariates = covariates.unwrap_or_default();
    let (rows, width) = values.shape();
    let values = values.hand_over();
    if values.len() != rows * width {
        return Err(PyValueError::new_err("these values have already been used"));
    }
    let lengths = [
        ("the offset", offset.as_ref().map(Vec::len)),
        ("the list of row names", ids.as_ref().map(Vec::len)),
        ("the list of times", times.as_ref().map(Vec::len)),
        ("the list of sequences", sequences.as_ref().map(Vec::len)),
    ];
    let of_covariates = covariates.iter().map(|cells| ("a covariate", Some(cells.len())));
    for (what, length) in lengths.into_iter().chain(of_covariates) {
        if let Some(length) = length.filter(|length| *length != rows) {
            return Err(PyValueError::new_err(format!("{what} has {length} entries, but the table has {rows} rows")));
        }
    }
    Ok(Table {
        path: NAME.into(),
        columns,
        ids: ids.unwrap_or_else(|| (1..=rows).map(|n| n.to_string()).collect()),
        offset,
        time: times,
        sequence: sequences,
        covariates,
        rows,
        values,
        named,
        ..Table::default()
    })
}

/// A matrix from NumPy.
pub fn mat(array: &PyReadonlyArray2<'_, f64>) -> Mat {
    let array = array.as_array();
    let (rows, columns) = array.dim();
    Mat::from_vec(rows, columns, array.iter().copied().collect())
}

/// New rows, checked.
#[pyclass(module = "rflvm._native", frozen)]
pub struct NewRows {
    pub new: transform::NewRows,
}

impl NewRows {
    /// New rows of a fit, with everything that belongs to them.
    pub fn of(fit: &Fit, values: &Bound<'_, Values>, trials: NewTrials, known: Known) -> PyResult<Self> {
        let given = known.covariates.as_ref().map_or(0, Vec::len);
        if given != fit.table.covariates.len() {
            return Err(PyValueError::new_err(match fit.covariates.is_empty() {
                true => "the rows of this fit have no covariates; leave those of the new rows out",
                false => "the rows of this fit have covariates; give those of the new rows too",
            }));
        }
        if known.offset.is_none() && fit.config.offset_column().is_some() {
            return Err(PyValueError::new_err("the rows of this fit have offsets; give those of the new rows too"));
        }
        if known.times.is_some() && fit.timeline.is_none() {
            let sentence = "times are given for the new rows, but the rows of this fit have no times; leave them out";
            return Err(PyValueError::new_err(sentence));
        }
        let (values, columns) = (&mut values.borrow_mut(), fit.table.columns.clone());
        let mut table = table(values, columns, fit.table.named, known)?;
        if table.columns.len() * table.rows != table.values.len() {
            let (found, expected) = (table.values.len() / table.rows.max(1), table.columns.len());
            return Err(PyValueError::new_err(format!(
                "the new rows have {found} columns, but the fit has {expected}"
            )));
        }
        Ok(NewRows { new: check(&mut table, trials, fit, None).map_err(raised)?.rows })
    }
}
