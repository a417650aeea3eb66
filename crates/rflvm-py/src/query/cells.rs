//! Predictions of cells: for rows of the table, at points of the latent space, and for missing cells.

use crate::answers::Answers;
use crate::array::{Array, array};
use crate::error::raised;
use crate::message::Parameters;
use crate::rows::mat;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::error::{RunError, SpecError};
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::fitted::{DRAWS, Fitted};
use rflvm::internal::posterior::frame::Frame;
use rflvm::internal::posterior::outlook::Scores;
use rflvm::internal::posterior::predict::Points;
use rflvm::internal::posterior::predicted::Predicted;
use rflvm_study::axes;
use rflvm_study::drawn::CELLS;
use rflvm_study::message::render;
use rflvm_study::revealed;
use rflvm_study::table::Table;

/// A column, its number of cells, and their scores.
type Line = (String, usize, [f64; 6]);

#[pymethods]
impl Answers {
    /// Predictions for rows of the table as if observed again, perhaps with other covariates: 5×N×J.
    #[pyo3(signature = (rows, *, covariates=Vec::new()))]
    fn predict_rows(&self, py: Python<'_>, rows: Vec<usize>, covariates: Vec<String>) -> PyResult<Array> {
        self.check_rows(&rows)?;
        self.check_predicted(rows.len())?;
        let known = self.fit.covariates_of_rows(&rows, &covariates).map_err(raised)?;
        let points = match covariates.is_empty() {
            true => Points::Rows(&rows),
            false => Points::Adjusted { rows: &rows, covariates: &known },
        };
        let cells = self.query(py, CELLS, |fitted| fitted.predict(points, DRAWS))?;
        self.predicted(py, &cells)
    }

    /// Predictions at points of the latent space: 5×K×J. Covariates are those of all points, as NAME=VALUE; those of `names` differ between points, one
    /// list of texts per covariate.
    #[pyo3(signature = (places, *, covariates=Vec::new(), names=Vec::new(), cells=Vec::new()))]
    fn predict_places(
        &self,
        py: Python<'_>,
        places: PyReadonlyArray2<'_, f64>,
        covariates: Vec<String>,
        names: Vec<String>,
        cells: Vec<Vec<String>>,
    ) -> PyResult<Array> {
        let x = positions(&places)?;
        self.check_predicted(x.rows())?;
        let offset = self.fit.mean_offset().unwrap_or(0.0);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if let Some(cells) = cells.iter().find(|cells| cells.len() != x.rows()) {
            let (found, expected) = (cells.len(), x.rows());
            let sentence = format!("a covariate has {found} entries, but there are {expected} positions");
            return Err(PyValueError::new_err(sentence));
        }
        let table = Table { path: "covariates".into(), rows: x.rows(), covariates: cells, ..Table::default() };
        let covariates = self.fit.covariates_of_points(&table, &names, &covariates).map_err(raised)?;
        let answer = |fitted: &Fitted<'_>| {
            let frame = checked_frame(fitted, &x)?;
            fitted.predict(Points::Places { frame: &frame, x: &x, offset, covariates: &covariates }, DRAWS)
        };
        let cells = self.query(py, "predict", answer)?;
        self.predicted(py, &cells)
    }

    /// Why a larger latent dimension would predict missing cells better, if it would.
    fn larger_dim(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let leftover = self.query(py, "leftover", |fitted| fitted.leftover())?;
        Ok(axes::too_few(&self.fit, leftover).map(|note| render(&note.text, &Parameters)))
    }

    /// Scores of the missing cells whose values are in `truth`, N×J in the order of the table's columns: of all of them, and of each column.
    fn score_missing(&self, py: Python<'_>, truth: PyReadonlyArray2<'_, f64>) -> PyResult<Vec<Line>> {
        let (model, file) = (&self.fit.model, "the table of true values");
        let truth = revealed::model(&mat(&truth), file, &self.fit).map_err(raised)?;
        let cells = self.query(py, CELLS, |fitted| fitted.revealed(&truth, DRAWS))?;
        if cells.is_empty() {
            return Err(raised(revealed::nothing(file.into(), &self.fit)));
        }
        let (all, columns) = revealed::scores(&cells, &self.fit);
        let line = |name: String, s: &Scores| {
            let ln_density = s.ln_density.unwrap_or(f64::NAN);
            (name, s.cells, [s.mse, s.mae, s.crps, ln_density, s.coverage[0], s.coverage[1]])
        };
        let each = columns.iter().map(|(j, scores)| line(model.names()[*j].clone(), scores));
        Ok(each.chain([line(String::new(), &all)]).collect())
    }

    /// Missing cells: their rows, their columns, and mean, sd, q05, q50, q95, 5×cells.
    fn missing(&self, py: Python<'_>) -> PyResult<(Vec<usize>, Vec<usize>, Array)> {
        let mut cells = Vec::new();
        self.query(py, CELLS, |fitted| fitted.missing_cells(DRAWS, |cell| cells.push(cell)))?;
        let of = |part: &dyn Fn(&Predicted) -> f64| cells.iter().map(|c| part(&c.predicted)).collect::<Vec<f64>>();
        let quantile = |i: usize| of(&move |p: &Predicted| p.quantiles[i]);
        let numbers = [of(&|p| p.mean), of(&|p| p.sd), quantile(0), quantile(1), quantile(2)].concat();
        let order = self.fit.model.order();
        Ok((
            cells.iter().map(|cell| cell.row).collect(),
            cells.iter().map(|cell| order[cell.column]).collect(),
            array(py, numbers, &[5, cells.len()])?,
        ))
    }

    /// Completed tables, each from a different draw: count×N×J.
    fn completed(&self, py: Python<'_>, count: usize) -> PyResult<Array> {
        self.check_tables(count, self.fit.model.rows())?;
        let mut numbers = Vec::new();
        let answer = |fitted: &Fitted<'_>| -> Result<(), RunError> {
            fitted.completed_tables(count, |_, table| {
                self.add(table, &mut numbers);
                Ok(())
            })
        };
        self.query(py, CELLS, answer)?;
        self.tables(py, numbers, count, self.fit.model.rows())
    }
}

/// Positions, checked to be finite.
fn positions(places: &PyReadonlyArray2<'_, f64>) -> PyResult<Mat> {
    if let Some(bad) = places.as_array().iter().find(|v| !v.is_finite()) {
        return Err(PyValueError::new_err(format!("a position is {bad}, but positions must be finite numbers")));
    }
    Ok(mat(places))
}

/// The frame, if it has as many axes as the positions.
fn checked_frame(fitted: &Fitted<'_>, x: &Mat) -> Result<Frame, RunError> {
    let frame = fitted.frame()?;
    if frame.axes() == x.cols() {
        return Ok(frame);
    }
    let rule = format!("the positions of this fit have {}; give the same number", frame.axes());
    Err(SpecError::Setting { setting: "the number of axes of the places", value: x.cols().to_string(), rule }.into())
}
