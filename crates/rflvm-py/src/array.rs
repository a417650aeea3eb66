//! Arrays handed to NumPy.

use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::align::Embedding;

/// A NumPy array of numbers.
pub type Array = Py<PyArrayDyn<f64>>;

/// An array of any shape; the numbers are moved, not copied.
pub fn array<T: Element>(py: Python<'_>, numbers: Vec<T>, shape: &[usize]) -> PyResult<Py<PyArrayDyn<T>>> {
    Ok(PyArray1::from_vec(py, numbers).reshape(shape.to_vec())?.unbind())
}

/// A matrix.
pub fn matrix(py: Python<'_>, mat: &Mat) -> PyResult<Array> {
    array(py, mat.as_slice().to_vec(), &[mat.rows(), mat.cols()])
}

/// Mean N×D and covariance N×D×D.
pub fn embedding_arrays(py: Python<'_>, embedding: &Embedding) -> PyResult<(Array, Array)> {
    let (rows, dim) = (embedding.mean.rows(), embedding.mean.cols());
    let covariance = embedding.covariance.iter().flat_map(|c| c.as_slice()).copied().collect();
    Ok((matrix(py, &embedding.mean)?, array(py, covariance, &[rows, dim, dim])?))
}
