//! New rows.

use crate::answers::Answers;
use crate::array::{Array, array, embedding_arrays};
use crate::error::{raised, store};
use crate::rows::NewRows;
use pyo3::prelude::*;
use rflvm::internal::draws::Source;
use rflvm::internal::posterior::fitted::Fitted;
use rflvm::internal::posterior::transform;
use rflvm_study::drawn::is_due;

#[pymethods]
impl Answers {
    /// New rows: mean, covariance, fraction of training rows (leave-one-out) with higher predictive density; and draws of the positions if requested.
    #[pyo3(signature = (rows, *, draws=0))]
    fn transform(&self, py: Python<'_>, rows: &NewRows, draws: usize) -> PyResult<(Array, Array, Array, Array)> {
        let there = self.drawn.used.len() * self.drawn.store.size().map_err(store)?.1;
        if draws > 0 {
            self.drawn.check_positions(draws).map_err(raised)?;
        }
        let visited = there.min(transform::DRAWS.max(draws));
        let mut kept: Vec<f64> = Vec::new();
        let (mut count, mut axes) = (0, 0);
        let answer = |fitted: &Fitted<'_>| {
            fitted.transform(&rows.new, visited, |i, x| {
                axes = x.cols();
                if is_due(i, count, visited, draws) {
                    kept.extend_from_slice(x.as_slice());
                    count += 1;
                }
            })
        };
        let found = self.query(py, "transform", answer)?;
        let height = rows.new.model.rows();
        let (mean, covariance) = embedding_arrays(py, &found.embedding)?;
        Ok((mean, covariance, array(py, found.outlier_score, &[height])?, array(py, kept, &[count, height, axes])?))
    }

    /// ln p of each new row given the table.
    fn log_density(&self, py: Python<'_>, rows: &NewRows) -> PyResult<Array> {
        let found = self.query(py, "transform", |fitted| fitted.ln_density(&rows.new, transform::DRAWS))?;
        array(py, found, &[rows.new.model.rows()])
    }

    /// Predictions of the cells of new rows: mean, sd, q05, q50, q95, 5×N×J.
    fn predict_new(&self, py: Python<'_>, rows: &NewRows) -> PyResult<Array> {
        self.check_predicted(rows.new.model.rows())?;
        let cells = self.query(py, "transform", |fitted| fitted.predict_new(&rows.new, transform::DRAWS))?;
        self.predicted(py, &cells)
    }

    /// Tables of new rows, each from a different draw: count×N×J.
    fn replicas_new(&self, py: Python<'_>, rows: &NewRows, count: usize) -> PyResult<Array> {
        self.check_tables(count, rows.new.model.rows())?;
        let mut numbers = Vec::new();
        let answer =
            |fitted: &Fitted<'_>| fitted.replicas_new(&rows.new, count, |_, drawn| self.add(drawn, &mut numbers));
        self.query(py, "sample", answer)?;
        self.tables(py, numbers, count, rows.new.model.rows())
    }
}
