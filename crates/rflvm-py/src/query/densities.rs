//! Pointwise log-likelihoods.

use crate::answers::Answers;
use crate::array::{Array, array};
use crate::memory::check_answer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::linalg::Mat;
use rflvm_study::answers::stream;

#[pymethods]
impl Answers {
    /// ln p of each cell (chains × draws × N × J, NaN where nothing is observed) or of each row, with its position integrated out (chains × draws × N).
    #[pyo3(signature = (of, *, thin=1))]
    fn log_likelihood(&self, py: Python<'_>, of: &str, thin: usize) -> PyResult<Array> {
        let (chosen, count) = self.chosen(thin)?;
        let (mut numbers, model) = (Vec::new(), &self.fit.model);
        let mut shape = vec![self.drawn.used.len(), count, model.rows()];
        match of {
            "cell" => {
                shape.push(model.columns());
                check_answer(&shape)?;
                let places = self.fit.places();
                let mut add = |pieces: &Mat| {
                    pieces.iter_rows().for_each(|row| numbers.extend(places.iter().map(|&j| row[j])));
                };
                self.query(py, |fit, drawn| {
                    Ok(drawn.fitted(fit, stream::DENSITIES).ln_cells(&chosen, |_, pieces| add(pieces))?)
                })?;
            }
            "row" if self.fit.timeline.is_some() => {
                let sentence =
                    "rows with times are not independent given the parameters; ask for the log-likelihood of each cell";
                return Err(PyValueError::new_err(sentence));
            }
            "row" => {
                check_answer(&shape)?;
                let mut add = |rows: &[f64]| numbers.extend_from_slice(rows);
                self.query(py, |fit, drawn| {
                    Ok(drawn.fitted(fit, stream::DENSITIES).ln_rows(&chosen, |_, rows| add(rows))?)
                })?;
            }
            _ => {
                return Err(PyValueError::new_err(format!(
                    "there is no log-likelihood of each '{of}'; choose cell or row"
                )));
            }
        }
        array(py, numbers, &shape)
    }
}
