//! Positions of the rows, distances between them, and the learned kernel.

use crate::answers::{Answers, Columns};
use crate::array::{Array, array, embedding_arrays, matrix};
use crate::memory::check_answer;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rflvm::internal::linalg::Mat;
use rflvm_study::Error;
use rflvm_study::answers::{distances, kernel, positions, stream};

#[pymethods]
impl Answers {
    /// Positions of the rows in the common frame: chains × draws × N × D.
    #[pyo3(signature = (*, thin=1))]
    fn positions(&self, py: Python<'_>, thin: usize) -> PyResult<Array> {
        let (chosen, count) = self.chosen(thin)?;
        let rows = self.fit.model.rows();
        check_answer(&[chosen.len(), rows, self.fit.model.latent_dim()])?;
        let (numbers, axes) = self.query(py, |fit, drawn| -> Result<_, Error> {
            let (fitted, mut numbers) = (drawn.fitted(fit, stream::POSITIONS), Vec::new());
            let frame = fitted.frame()?;
            fitted.aligned(&frame, &chosen, |x| numbers.extend_from_slice(x.as_slice()))?;
            Ok((numbers, frame.axes()))
        })?;
        array(py, numbers, &[self.drawn.used.len(), count, rows, axes])
    }

    /// Mean N×D and covariance N×D×D of the positions in a sampled mode, counted from 1; and the share of each row's variance that lies between modes
    /// of chains that began apart, if there are several.
    #[pyo3(signature = (*, mode=1))]
    fn embedding(&self, py: Python<'_>, mode: usize) -> PyResult<(Array, Array, Option<Array>)> {
        let embedding = self.query(py, |fit, drawn| positions::positions(fit, drawn, mode))?.embedding;
        let (mean, covariance) = embedding_arrays(py, &embedding)?;
        let shares = embedding.between_modes;
        let count = shares.len();
        Ok((mean, covariance, if count > 0 { Some(array(py, shares, &[count])?) } else { None }))
    }

    /// Spatial median of each row's positions, N×D.
    fn medians(&self, py: Python<'_>) -> PyResult<Array> {
        let medians = |fit: &_, drawn: &_| -> Result<Mat, Error> {
            positions::medians(fit, drawn, 1, &positions::positions(fit, drawn, 1)?.frame)
        };
        matrix(py, &self.query(py, medians)?)
    }

    /// Posterior mean of the distance of each pair of rows, N×N.
    fn mean_distances(&self, py: Python<'_>) -> PyResult<Array> {
        check_answer(&[self.fit.model.rows(), self.fit.model.rows()])?;
        matrix(py, &self.query(py, distances::mean_distances)?)
    }

    /// Mean, standard deviation and quantiles of the distances of some pairs of rows, counted from 0.
    fn distances(&self, py: Python<'_>, pairs: Vec<[usize; 2]>) -> PyResult<Columns> {
        self.check_rows(&pairs.concat())?;
        Ok(Columns(self.query(py, |fit, drawn| distances::distances(fit, drawn, &pairs))?))
    }

    /// Each row's neighbors among the k nearest.
    fn neighbors(&self, py: Python<'_>, k: usize) -> PyResult<Columns> {
        Ok(Columns(self.query(py, |fit, drawn| distances::neighbors(fit, drawn, k))?))
    }

    /// The names of the curves; the kernel and its spectral density, along each axis and over all directions.
    fn kernel(&self, py: Python<'_>) -> PyResult<(Vec<String>, Columns, Columns)> {
        let curves = self.query(py, kernel::kernel)?;
        let (along, density) = (curves.kernel(), curves.density());
        Ok((curves.names, Columns(along), Columns(density)))
    }

    /// The picture of the kernel and its spectral density, as JSON.
    fn kernel_picture(&self, py: Python<'_>) -> PyResult<String> {
        rflvm_cli::pictures::kernel(&self.query(py, kernel::kernel)?).map_err(PyRuntimeError::new_err)
    }

    /// Posterior mean and standard deviation of K(X, X) for some rows.
    fn covariance(&self, py: Python<'_>, rows: Vec<usize>) -> PyResult<(Array, Array)> {
        self.check_rows(&rows)?;
        let found = self.query(py, |fit, drawn| kernel::covariance(fit, drawn, &rows))?;
        Ok((matrix(py, &found.mean)?, matrix(py, &found.sd)?))
    }
}
