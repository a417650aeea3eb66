//! Pointwise log-likelihoods.

use crate::answers::Answers;
use crate::array::{Array, array};
use crate::memory::check_answer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::posterior::fitted::Fitted;

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
                let answer = |fitted: &Fitted<'_>| fitted.ln_cells(&chosen, |_, pieces| self.add(pieces, &mut numbers));
                self.query(py, "pointwise", answer)?;
            }
            "row" if self.fit.timeline.is_some() => {
                let sentence =
                    "rows with times are not independent given the parameters; ask for the log-likelihood of each cell";
                return Err(PyValueError::new_err(sentence));
            }
            "row" => {
                check_answer(&shape)?;
                let answer = |fitted: &Fitted<'_>| fitted.ln_rows(&chosen, |_, rows| numbers.extend_from_slice(rows));
                self.query(py, "pointwise", answer)?;
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
