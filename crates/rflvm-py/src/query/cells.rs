//! Predictions of cells: missing ones, rows of the table, points of the latent space, new times, new rows.

use crate::answers::{Answers, Columns};
use crate::array::{Array, array};
use crate::error::raised;
use crate::memory::check_answer;
use crate::message::Parameters;
use crate::rows::{NewRows, mat};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::linalg::Mat;
use rflvm_study::answers::cells::Cells;
use rflvm_study::answers::forecast::{Ahead, When, forecast, new_times, timeline};
use rflvm_study::answers::{Answer, imputed, placed, positions, predictions, revealed};
use rflvm_study::message::render;
use rflvm_study::table::Table;
use rflvm_study::{Error, Fit};

/// What is predicted of each cell, in the columns of the program's CSV file; or tables, count × rows × columns.
#[derive(IntoPyObject)]
pub enum Predicted {
    Cells(Columns),
    Tables(Array),
}

#[pymethods]
impl Answers {
    /// Missing cells, or `count` completed tables.
    #[pyo3(signature = (count=0))]
    fn missing(&self, py: Python<'_>, count: usize) -> PyResult<Predicted> {
        self.cells(py, count, || imputed::imputed(&self.fit, &self.drawn))
    }

    /// Rows of the table as if observed again, perhaps with other covariates.
    #[pyo3(signature = (rows, *, covariates=Vec::new()))]
    fn predict_rows(&self, py: Python<'_>, rows: Vec<usize>, covariates: Vec<String>) -> PyResult<Predicted> {
        self.check_rows(&rows)?;
        self.cells(py, 0, || predictions::rows(&self.fit, &self.drawn, rows, &covariates))
    }

    /// Points of the latent space. Covariates are those of all points, as NAME=VALUE; those of `names` differ between points, one list of texts per
    /// covariate.
    #[pyo3(signature = (places, *, covariates=Vec::new(), names=Vec::new(), cells=Vec::new()))]
    fn predict_places(
        &self,
        py: Python<'_>,
        places: PyReadonlyArray2<'_, f64>,
        covariates: Vec<String>,
        names: Vec<String>,
        cells: Vec<Vec<String>>,
    ) -> PyResult<Predicted> {
        if let Some(bad) = places.as_array().iter().find(|v| !v.is_finite()) {
            return Err(PyValueError::new_err(format!("a position is {bad}, but positions must be finite numbers")));
        }
        let x = mat(&places);
        if let Some(cells) = cells.iter().find(|cells| cells.len() != x.rows()) {
            let (found, expected) = (cells.len(), x.rows());
            let sentence = format!("a covariate has {found} entries, but there are {expected} positions");
            return Err(PyValueError::new_err(sentence));
        }
        let (fit, drawn) = (&self.fit, &self.drawn);
        self.cells(py, 0, || {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let table = Table { path: "covariates".into(), rows: x.rows(), covariates: cells, ..Table::default() };
            let covariates = fit.covariates_of_points(&table, &names, &covariates)?;
            predictions::places(fit, drawn, (positions::positions(fit, drawn, 1)?.frame, x), covariates)
        })
    }

    /// New times, or `count` futures.
    #[pyo3(signature = (*, times=None, horizon=None, sequence=None, covariates=Vec::new(), count=0))]
    fn forecast(
        &self,
        py: Python<'_>,
        times: Option<Vec<String>>,
        horizon: Option<usize>,
        sequence: Option<&str>,
        covariates: Vec<String>,
        count: usize,
    ) -> PyResult<Predicted> {
        let no_times = "the rows of this fit have no times, so there is nothing to forecast; fit again with times";
        let timeline = timeline(&self.fit).map_err(|_| PyValueError::new_err(no_times))?;
        let when = match (times, horizon) {
            (Some(times), None) => {
                let parse = |time: &String| timeline.calendar.parse(time).map_err(PyValueError::new_err);
                When::At(times.iter().map(parse).collect::<PyResult<Vec<f64>>>()?)
            }
            (None, Some(steps)) => When::Beyond(steps),
            _ => return Err(PyValueError::new_err("give either times or a horizon, but not both")),
        };
        self.cells(py, count, || {
            let times = new_times(&self.fit, Ahead { when, sequence, covariates: &covariates })?;
            forecast(&self.fit, &self.drawn, times)
        })
    }

    /// New rows, or `count` tables of them.
    #[pyo3(signature = (rows, *, count=0))]
    fn predict_new(&self, py: Python<'_>, rows: &NewRows, count: usize) -> PyResult<Predicted> {
        self.cells(py, count, || Ok(placed::cells(&self.fit, &self.drawn, &rows.new)))
    }

    /// New rows in the columns of embedding.csv, with their densities and outlier_score; and `draws` draws of their positions.
    #[pyo3(signature = (rows, *, draws=0))]
    fn transform(&self, py: Python<'_>, rows: &NewRows, draws: usize) -> PyResult<(Columns, Array)> {
        let found = self.query(py, |fit, drawn| placed::placed(fit, drawn, &rows.new, draws))?;
        let height = rows.new.model.rows();
        let unnamed = Table { ids: vec![String::new(); height], rows: height, ..Table::default() };
        let axes = found.draws.first().map_or(0, Mat::cols);
        let kept = found.draws.iter().flat_map(Mat::as_slice).copied().collect();
        Ok((Columns(found.answer(&unnamed)), array(py, kept, &[found.draws.len(), height, axes])?))
    }

    /// ln p of each new row given the table.
    fn log_density(&self, py: Python<'_>, rows: &NewRows) -> PyResult<Array> {
        let found = self.query(py, |fit, drawn| placed::log_density(fit, drawn, &rows.new))?;
        array(py, found, &[rows.new.model.rows()])
    }

    /// Why a larger latent dimension would predict missing cells better, if it would.
    fn larger_dim(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.query(py, imputed::larger_dim)?.map(|note| render(&note.text, &Parameters)))
    }

    /// Scores of the missing cells whose values are in `truth`, N×J in the order of the table's columns: of each column, and of all.
    fn score_missing(&self, py: Python<'_>, truth: PyReadonlyArray2<'_, f64>) -> PyResult<Columns> {
        let truth = mat(&truth);
        let scores = |fit: &Fit, drawn: &_| -> Result<Answer, Error> {
            Ok(revealed::scores(&revealed::cells(&truth, "the table of true values", fit, drawn)?, fit))
        };
        Ok(Columns(self.query(py, scores)?))
    }
}

impl Answers {
    /// Asks about cells, once it is known that the answer fits into memory.
    fn cells<'a>(
        &'a self,
        py: Python<'_>,
        count: usize,
        question: impl FnOnce() -> Result<Cells<'a>, Error> + Send,
    ) -> PyResult<Predicted> {
        let columns = self.fit.model.columns();
        let cells = self.query(py, |_, _| question())?;
        if count == 0 {
            if cells.is_of_rows() {
                // Its five numbers twice, and its place among rows and columns.
                check_answer(&[2 * 5 + 2, cells.rows(), columns])?;
            }
            return Ok(Predicted::Cells(Columns(self.query(py, |_, _| cells.answer())?)));
        }
        cells.check_tables(count).map_err(raised)?;
        check_answer(&[count, cells.rows(), columns])?;
        let mut numbers = Vec::new();
        self.query(py, |_, _| {
            cells.tables(count, |_, table| -> Result<(), Error> {
                numbers.extend_from_slice(table.as_slice());
                Ok(())
            })
        })?;
        Ok(Predicted::Tables(array(py, numbers, &[count, cells.rows(), columns])?))
    }
}
