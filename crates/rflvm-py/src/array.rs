//! Numbers on their way to NumPy.

use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use rflvm::linalg::Mat;

/// An array of numbers in Python's hands.
pub type Array = Py<PyArrayDyn<f64>>;

/// An array of any shape; the numbers are moved, not copied.
pub fn array<T: Element>(py: Python<'_>, numbers: Vec<T>, shape: &[usize]) -> PyResult<Py<PyArrayDyn<T>>> {
    Ok(PyArray1::from_vec(py, numbers).reshape(shape.to_vec())?.unbind())
}

/// A matrix.
pub fn matrix(py: Python<'_>, mat: &Mat) -> PyResult<Array> {
    array(py, mat.as_slice().to_vec(), &[mat.rows(), mat.cols()])
}
