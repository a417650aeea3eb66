//! The draws of a fit, and what all queries have in common. The queries themselves are in `query`.

use crate::array::{Array, array};
use crate::error::{raised, run, spec, store};
use crate::memory::check_answer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::draws::Source;
use rflvm::internal::error::RunError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::convergence::Convergence;
use rflvm::internal::posterior::fitted::Fitted;
use rflvm::internal::posterior::predicted::Predicted;
use rflvm::internal::run::pool;
use rflvm_study::drawn::Drawn;
use rflvm_study::{Error, Fit};
use std::sync::Arc;

/// The draws of a fit, which answer queries. Some chains may be set aside.
#[pyclass(module = "rflvm._native", frozen)]
pub struct Answers {
    pub fit: Arc<Fit>,
    pub drawn: Drawn,
    pub convergence: Convergence,
}

impl Answers {
    /// The draws in the folder of a fit, which may be finished, stopped or still running.
    pub fn open(fit: Arc<Fit>) -> Result<Self, Error> {
        let (drawn, convergence) = Drawn::open(&fit)?;
        Ok(Answers { fit, drawn, convergence })
    }

    /// Runs a query with the threads of the fit, with the GIL released. Each kind of query uses the same random stream as the
    /// program's command of that name.
    pub fn query<T: Send>(
        &self,
        py: Python<'_>,
        question: &'static str,
        answer: impl FnOnce(&Fitted<'_>) -> Result<T, RunError> + Send,
    ) -> PyResult<T> {
        let pool = pool(&self.fit.settings).map_err(spec)?;
        self.fit.use_instructions();
        py.detach(|| pool.install(|| answer(&self.drawn.fitted(&self.fit, question)))).map_err(run)
    }

    /// Checks that predictions of that many rows, and the resulting array, fit in memory.
    pub fn check_predicted(&self, rows: usize) -> PyResult<()> {
        check_answer(&[2, 5, rows, self.fit.model.columns()])
    }

    /// Checks that that many tables fit in memory, and that there are draws for them.
    pub fn check_tables(&self, count: usize, rows: usize) -> PyResult<()> {
        self.drawn.check_count(count).map_err(raised)?;
        check_answer(&[count, rows, self.fit.model.columns()])
    }

    /// mean, sd, q05, q50, q95 of each row and column, 5×N×J in the order of the table's columns.
    pub fn predicted(&self, py: Python<'_>, cells: &[Vec<Predicted>]) -> PyResult<Array> {
        let places = self.fit.places();
        let parts: [fn(&Predicted) -> f64; 5] =
            [|p| p.mean, |p| p.sd, |p| p.quantiles[0], |p| p.quantiles[1], |p| p.quantiles[2]];
        let rows = || cells.iter().flat_map(|row| places.iter().map(move |&j| &row[j]));
        let numbers = parts.iter().flat_map(|part| rows().map(part)).collect();
        array(py, numbers, &[parts.len(), cells.len(), places.len()])
    }

    /// Adds a table, with its columns in the user's order.
    pub fn add(&self, table: &Mat, to: &mut Vec<f64>) {
        let places = self.fit.places();
        table.iter_rows().for_each(|row| to.extend(places.iter().map(|&j| row[j])));
    }

    /// Draws × rows × columns.
    pub fn tables(&self, py: Python<'_>, numbers: Vec<f64>, count: usize, rows: usize) -> PyResult<Array> {
        array(py, numbers, &[count, rows, self.fit.model.columns()])
    }

    /// Every `thin`-th draw of the used chains.
    pub fn chosen(&self, thin: usize) -> PyResult<(Vec<(usize, usize)>, usize)> {
        if thin == 0 {
            return Err(PyValueError::new_err("thin is 0, but it must be at least 1"));
        }
        let draws = self.drawn.store.size().map_err(store)?.1;
        let of = |&chain: &usize| (0..draws).step_by(thin).map(move |draw| (chain, draw));
        Ok((self.drawn.used.iter().flat_map(of).collect(), draws.div_ceil(thin)))
    }

    /// Checks that these are rows of the fit.
    pub fn check_rows(&self, rows: &[usize]) -> PyResult<()> {
        let all = self.fit.model.rows();
        match rows.iter().find(|&&n| n >= all) {
            Some(n) => Err(PyValueError::new_err(format!("row is {n}, but the rows of this fit are 0 to {}", all - 1))),
            None => Ok(()),
        }
    }
}
