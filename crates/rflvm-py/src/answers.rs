//! The draws of a fit, and what all queries have in common. The queries themselves are in `query`.

use crate::error::{raised, spec, store};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rflvm::internal::draws::Source;
use rflvm::internal::posterior::convergence::Convergence;
use rflvm::internal::run::pool;
use rflvm_study::answers::{Answer, Values};
use rflvm_study::drawn::Drawn;
use rflvm_study::{Error, Fit};
use std::sync::Arc;

/// The columns of an answer: numbers as arrays, texts as lists, and names as a list with the place of each line's name.
pub struct Columns(pub Answer);

impl<'py> IntoPyObject<'py> for Columns {
    type Target = PyDict;
    type Output = Bound<'py, PyDict>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let columns = PyDict::new(py);
        for column in self.0.columns {
            let name = column.name;
            match column.values {
                Values::Numbers(numbers) => columns.set_item(name, PyArray1::from_vec(py, numbers))?,
                Values::Counts(counts) => columns.set_item(name, PyArray1::from_vec(py, counts))?,
                Values::Names { names, of } => columns.set_item(name, (names, PyArray1::from_vec(py, of)))?,
                Values::Texts(texts) => columns.set_item(name, texts)?,
            }
        }
        Ok(columns)
    }
}

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

    /// Asks a question with the threads of the fit, with the GIL released.
    pub fn query<'a, T: Send>(
        &'a self,
        py: Python<'_>,
        question: impl FnOnce(&'a Fit, &'a Drawn) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let pool = pool(&self.fit.settings).map_err(spec)?;
        self.fit.use_instructions();
        py.detach(|| pool.install(|| question(&self.fit, &self.drawn))).map_err(raised)
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
