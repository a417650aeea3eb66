//! The arrays of the store, unchanged.

use crate::answers::Answers;
use crate::array::{Array, array};
use crate::error::store;
use crate::memory::check_answer;
use pyo3::prelude::*;
use rflvm::internal::draws::Source;

#[pymethods]
impl Answers {
    /// Number of chains, and of draws per chain.
    #[getter]
    fn size(&self) -> PyResult<(usize, usize)> {
        self.drawn.store.size().map_err(store)
    }

    /// The chains that are used; the others are stuck in a minor mode.
    #[getter]
    fn used(&self) -> Vec<usize> {
        self.drawn.used.clone()
    }

    /// Names of the arrays of a group.
    fn names(&self, group: &str) -> Vec<String> {
        self.drawn.store.names(group)
    }

    /// Every `thin`-th draw of an array such as `posterior/beta`: chains × draws × its own axes, for the used chains.
    #[pyo3(signature = (name, *, thin=1))]
    fn draws(&self, py: Python<'_>, name: &str, thin: usize) -> PyResult<Array> {
        let (chosen, count) = self.chosen(thin)?;
        let mut shape = self.drawn.store.shape(name).map_err(store)?;
        (shape[0], shape[1]) = (self.drawn.used.len(), count);
        check_answer(&shape)?;
        let numbers = py
            .detach(|| {
                let mut cursor = self.drawn.store.cursor(name)?;
                let mut numbers = Vec::new();
                for (chain, draw) in chosen {
                    numbers.extend_from_slice(cursor.at(chain, draw)?);
                }
                Ok(numbers)
            })
            .map_err(store)?;
        array(py, numbers, &shape)
    }

    /// An array without draws, such as `observed_data/y`.
    fn fixed(&self, py: Python<'_>, name: &str) -> PyResult<Array> {
        array(py, self.drawn.store.fixed(name).map_err(store)?, &self.drawn.store.lengths(name).map_err(store)?)
    }

    /// Names of the axes of an array.
    fn dims(&self, name: &str) -> Vec<String> {
        self.drawn.store.dims(name)
    }

    /// The texts of a coordinate such as `posterior/feature`, or its numbers.
    fn coordinate(&self, name: &str) -> PyResult<Vec<String>> {
        if let Ok(texts) = self.drawn.store.texts(name) {
            return Ok(texts);
        }
        Ok(self.drawn.store.fixed(name).map_err(store)?.iter().map(f64::to_string).collect())
    }
}
