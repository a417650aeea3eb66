//! Predictions at new times.

use crate::answers::Answers;
use crate::array::Array;
use crate::error::raised;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::error::RunError;
use rflvm::posterior::fitted::{DRAWS, Fitted};
use rflvm::posterior::forecast::NewTime;
use rflvm_study::future::{When, moments};

#[pymethods]
impl Answers {
    /// New times: as written, with their sequences, and 5×K×J; or `count` futures, count×K×J.
    #[pyo3(signature = (*, times=None, horizon=None, sequence=None, covariates=Vec::new(), count=0))]
    fn forecast(
        &self,
        py: Python<'_>,
        times: Option<Vec<String>>,
        horizon: Option<usize>,
        sequence: Option<&str>,
        covariates: Vec<String>,
        count: usize,
    ) -> PyResult<(Vec<String>, Vec<String>, Array)> {
        let Some(timeline) = &self.fit.timeline else {
            return Err(PyValueError::new_err(
                "the rows of this fit have no times, so there is nothing to forecast; fit again with times",
            ));
        };
        let when = match (times, horizon) {
            (Some(times), None) => {
                let parse = |time: &String| timeline.calendar.parse(time).map_err(PyValueError::new_err);
                When::At(times.iter().map(parse).collect::<PyResult<Vec<f64>>>()?)
            }
            (None, Some(steps)) => When::Beyond(steps),
            _ => return Err(PyValueError::new_err("give either times or a horizon, but not both")),
        };
        let offset = self.fit.mean_offset().unwrap_or(0.0);
        let covariates = self.fit.covariates_set(&covariates).map_err(|e| raised(e.into()))?;
        let moments: Vec<NewTime> = moments(when, sequence, timeline, (offset, &covariates)).map_err(raised)?;
        let written = moments.iter().map(|m| timeline.calendar.format(m.time)).collect();
        let name = |m: &NewTime| timeline.names.get(m.sequence).cloned().unwrap_or_default();
        let sequences = moments.iter().map(name).collect();
        if count == 0 {
            self.check_predicted(moments.len())?;
            let cells = self.ask(py, "forecast", |fitted| fitted.forecast(&moments, DRAWS))?;
            return Ok((written, sequences, self.predicted(py, &cells)?));
        }
        self.check_tables(count, moments.len())?;
        let mut numbers = Vec::new();
        let answer = |fitted: &Fitted<'_>| -> Result<(), RunError> {
            fitted.futures(&moments, count, |_, table| {
                self.add(table, &mut numbers);
                Ok(())
            })
        };
        self.ask(py, "forecast", answer)?;
        Ok((written, sequences, self.tables(py, numbers, count, moments.len())?))
    }
}
