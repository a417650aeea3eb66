//! The learned kernel.

use crate::answers::Answers;
use crate::array::{Array, array, matrix};
use crate::error::spec;
use pyo3::prelude::*;
use rflvm::internal::posterior::fitted::{DRAWS, Fitted};
use rflvm::internal::posterior::kernel::{Curve, diameter};
use rflvm_study::drawn::check_kernel_rows;

/// A curve along an axis: its name, positions, mean, 5% and 95% quantiles.
type Curves = Vec<(String, Array, Array, Array, Array)>;

#[pymethods]
impl Answers {
    /// The kernel and its spectral density, along each axis and over all directions.
    fn kernel(&self, py: Python<'_>) -> PyResult<(Curves, Curves)> {
        let answer = |fitted: &Fitted<'_>| {
            let frame = fitted.frame()?;
            let reach = diameter(&fitted.embedding(&frame)?.mean);
            Ok((fitted.kernel(&frame, reach, DRAWS)?, frame.axes()))
        };
        let (learned, axes) = self.query(py, "kernel", answer)?;
        let names: Vec<String> = (1..=axes).map(|d| format!("x{d}")).chain(["all".into()]).collect();
        let arrays = |curves: &[Curve]| -> PyResult<Curves> {
            let one = |(name, curve): (&String, &Curve)| {
                let put = |numbers: Vec<f64>| array(py, numbers, &[curve.at.len()]);
                let band = |i: usize| put(curve.band.iter().map(|b| b[i]).collect());
                Ok((name.clone(), put(curve.at.clone())?, put(curve.mean.clone())?, band(0)?, band(1)?))
            };
            names.iter().zip(curves).map(one).collect()
        };
        Ok((arrays(&learned.kernel)?, arrays(&learned.density)?))
    }

    /// Posterior mean and standard deviation of K(X, X) for some rows.
    fn covariance(&self, py: Python<'_>, rows: Vec<usize>) -> PyResult<(Array, Array)> {
        self.check_rows(&rows)?;
        check_kernel_rows(rows.len()).map_err(spec)?;
        let found = self.query(py, "kernel", |fitted| fitted.covariance(&rows, DRAWS))?;
        Ok((matrix(py, &found.mean)?, matrix(py, &found.sd)?))
    }
}
