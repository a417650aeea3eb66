//! Positions of the rows, in the common frame.

use crate::answers::Answers;
use crate::array::{Array, array, embedding_arrays, matrix};
use crate::error::spec;
use crate::memory::check_answer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::error::RunError;
use rflvm::internal::posterior::fitted::{DRAWS, Fitted};
use rflvm_study::drawn::check_graph;

#[pymethods]
impl Answers {
    /// Positions of the rows in the common frame: chains × draws × N × D.
    #[pyo3(signature = (*, thin=1))]
    fn positions(&self, py: Python<'_>, thin: usize) -> PyResult<Array> {
        let (chosen, count) = self.chosen(thin)?;
        check_answer(&[chosen.len(), self.fit.model.rows(), self.fit.model.latent_dim()])?;
        let answer = |fitted: &Fitted<'_>| -> Result<(Vec<f64>, usize), RunError> {
            let (frame, mut numbers) = (fitted.frame()?, Vec::new());
            fitted.aligned(&frame, &chosen, |x| numbers.extend_from_slice(x.as_slice()))?;
            Ok((numbers, frame.axes()))
        };
        let (numbers, axes) = self.query(py, "results", answer)?;
        array(py, numbers, &[self.drawn.used.len(), count, self.fit.model.rows(), axes])
    }

    /// Posterior mean of the distance of each pair of rows, N×N.
    fn mean_distances(&self, py: Python<'_>) -> PyResult<Array> {
        check_answer(&[self.fit.model.rows(), self.fit.model.rows()])?;
        matrix(py, &self.query(py, "distances", |fitted: &Fitted<'_>| fitted.mean_distances(DRAWS))?)
    }

    /// Mean, standard deviation and quantiles of the distances of some pairs of rows, counted from 0: one line per pair.
    fn distances(&self, py: Python<'_>, pairs: Vec<[usize; 2]>) -> PyResult<Array> {
        self.check_rows(&pairs.concat())?;
        let found = self.query(py, "distances", |fitted: &Fitted<'_>| fitted.distances(&pairs, DRAWS))?;
        let numbers = found.iter().flat_map(|d| [d.mean, d.sd].into_iter().chain(d.quantiles)).collect();
        array(py, numbers, &[pairs.len(), 7])
    }

    /// Each row's neighbours among the k nearest: row, neighbour, probability and mean distance, one line per pair.
    fn neighbors(&self, py: Python<'_>, k: usize) -> PyResult<Array> {
        check_graph(self.fit.model.rows()).map_err(spec)?;
        let found = self.query(py, "neighbors", |fitted: &Fitted<'_>| fitted.neighbours(k, DRAWS))?;
        let numbers = found.iter().flat_map(|e| [e.row as f64, e.neighbour as f64, e.probability, e.mean]).collect();
        array(py, numbers, &[found.len(), 4])
    }

    /// Spatial median of each row's positions, N×D.
    fn medians(&self, py: Python<'_>) -> PyResult<Array> {
        let medians = self.query(py, "results", |fitted: &Fitted<'_>| fitted.medians(&fitted.frame()?))?;
        matrix(py, &medians)
    }

    /// Mean N×D and covariance N×D×D of the positions in a sampled mode, counted from 1.
    #[pyo3(signature = (*, mode=1))]
    fn embedding(&self, py: Python<'_>, mode: usize) -> PyResult<(Array, Array)> {
        let used = match mode.checked_sub(2).map(|other| self.drawn.others.get(other)) {
            None if mode == 1 => self.drawn.used.clone(),
            Some(Some(other)) => other.used(),
            _ => {
                let sampled = self.drawn.others.len() + 1;
                let sentence = format!("mode is {mode}, but the modes that this fit samples are 1 to {sampled}");
                return Err(PyValueError::new_err(sentence));
            }
        };
        let answer = |fitted: &Fitted<'_>| {
            let fitted = Fitted { used: &used, ..*fitted };
            fitted.embedding(&fitted.frame()?)
        };
        embedding_arrays(py, &self.query(py, "results", answer)?)
    }
}
