//! A table passed in from Python: the only copy that is made of it.

use crate::array::{Array, array};
use crate::memory::check_memory;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Rows × columns of numbers, NaN where a cell is missing; filled from Python piece by piece and then passed to a fit.
#[pyclass(module = "rflvm._native")]
pub struct Values {
    rows: usize,
    columns: usize,
    cells: Vec<f64>,
}

/// A number as the model represents it.
trait Number: Element + Copy {
    fn number(self) -> f64;
}

macro_rules! number {
    ($($kind:ty),*) => { $(impl Number for $kind {
        fn number(self) -> f64 {
            self as f64
        }
    })* };
}

number!(f64, f32, i64, i32, i16, i8, u64, u32, u16, u8);

impl Number for bool {
    fn number(self) -> f64 {
        f64::from(u8::from(self))
    }
}

/// Calls `$method` with the first numeric type that `$from` has.
macro_rules! of_any_kind {
    ($self:ident.$method:ident($from:ident $(, $other:expr)*), $array:ident) => {
        of_any_kind!($self, $method, $from, [$($other),*], $array, f64, f32, i64, i32, bool, u8, u32, u64, i16, i8, u16)
    };
    ($self:ident, $method:ident, $from:ident, $other:tt, $array:ident, $($kind:ty),*) => {
        $(if let Ok(array) = $from.extract::<$array<'_, $kind>>() {
            return of_any_kind!(@call $self, $method, array, $other);
        })*
    };
    (@call $self:ident, $method:ident, $from:ident, [$($other:expr),*]) => { $self.$method(&$from $(, $other)*) };
}

#[pymethods]
impl Values {
    /// A table of zeros.
    #[new]
    fn new(rows: usize, columns: usize) -> PyResult<Self> {
        check_memory(rows, columns)?;
        let count = rows.saturating_mul(columns);
        let mut cells = Vec::new();
        // The system may refuse memory that is free, for instance because of a limit on the process.
        cells.try_reserve_exact(count).map_err(|_| {
            PyMemoryError::new_err(format!("the system grants no memory for {rows} rows × {columns} columns"))
        })?;
        cells.resize(count, 0.0);
        Ok(Values { rows, columns, cells })
    }

    /// Copies all cells from a two-dimensional array.
    fn fill(&mut self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        of_any_kind!(self.take_all(array), PyReadonlyArray2);
        Err(PyTypeError::new_err("a table must be a two-dimensional array of real numbers"))
    }

    /// Copies a column from a one-dimensional array.
    fn column(&mut self, column: usize, array: &Bound<'_, PyAny>) -> PyResult<()> {
        of_any_kind!(self.take_column(array, column), PyReadonlyArray1);
        Err(PyTypeError::new_err("a column must be a one-dimensional array of real numbers"))
    }

    /// Copies the cells of some columns from a two-dimensional array, from row `row` on.
    fn tile(&mut self, row: usize, columns: Vec<usize>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let columns = &columns;
        of_any_kind!(self.take_tile(array, row, columns), PyReadonlyArray2);
        Err(PyTypeError::new_err("a tile must be a two-dimensional array of real numbers"))
    }

    /// Copies the stored cells of a sparse matrix by rows (CSR); other cells are zero, and duplicates are added.
    fn sparse(
        &mut self,
        data: PyReadonlyArray1<'_, f64>,
        indices: PyReadonlyArray1<'_, i64>,
        starts: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<()> {
        let (data, indices, starts) = (data.as_array(), indices.as_array(), starts.as_array());
        let bad = || PyValueError::new_err("the sparse matrix is invalid: its indices do not fit its shape");
        if starts.len() != self.rows + 1 {
            return Err(bad());
        }
        for n in 0..self.rows {
            for at in starts[n].max(0) as usize..starts[n + 1].max(0) as usize {
                let (Some(&column), Some(&value)) = (indices.get(at), data.get(at)) else { return Err(bad()) };
                let column = usize::try_from(column).ok().filter(|&j| j < self.columns).ok_or_else(bad)?;
                self.cells[n * self.columns + column] += value;
            }
        }
        Ok(())
    }

    /// A copy of the cells.
    fn to_numpy(&self, py: Python<'_>) -> PyResult<Array> {
        array(py, self.cells.clone(), &[self.rows, self.columns])
    }

    /// Marks cells as missing where the mask is true.
    fn hide(&mut self, mask: PyReadonlyArray2<'_, bool>) -> PyResult<()> {
        let mask = mask.as_array();
        self.check(mask.dim(), "the mask")?;
        self.cells.iter_mut().zip(mask.iter()).filter(|(_, hidden)| **hidden).for_each(|(cell, _)| *cell = f64::NAN);
        Ok(())
    }
}

impl Values {
    /// The numbers of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Takes the cells.
    pub fn hand_over(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.cells)
    }

    /// Row by row.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks_exact(self.columns.max(1))
    }

    fn check(&self, (rows, columns): (usize, usize), what: &str) -> PyResult<()> {
        if (rows, columns) == (self.rows, self.columns) {
            return Ok(());
        }
        let (r, c) = (self.rows, self.columns);
        Err(PyValueError::new_err(format!("{what} has shape ({rows}, {columns}), but the data need ({r}, {c})")))
    }

    fn take_all<T: Number>(&mut self, array: &PyReadonlyArray2<'_, T>) -> PyResult<()> {
        let array = array.as_array();
        self.check(array.dim(), "the table")?;
        self.cells.iter_mut().zip(array.iter()).for_each(|(cell, value)| *cell = value.number());
        Ok(())
    }

    fn take_tile<T: Number>(&mut self, array: &PyReadonlyArray2<'_, T>, row: usize, to: &[usize]) -> PyResult<()> {
        let array = array.as_array();
        let (height, width) = array.dim();
        if row.saturating_add(height) > self.rows || width != to.len() || to.iter().any(|&j| j >= self.columns) {
            return Err(PyValueError::new_err("the tile lies outside of the table"));
        }
        for (cells, from) in
            self.cells[row * self.columns..].chunks_exact_mut(self.columns.max(1)).zip(array.outer_iter())
        {
            to.iter().zip(from).for_each(|(&j, value)| cells[j] = value.number());
        }
        Ok(())
    }

    fn take_column<T: Number>(&mut self, array: &PyReadonlyArray1<'_, T>, column: usize) -> PyResult<()> {
        let array = array.as_array();
        if array.len() != self.rows || column >= self.columns {
            let sentence = format!("column {column} has {} cells, but the table has {} rows", array.len(), self.rows);
            return Err(PyValueError::new_err(sentence));
        }
        let cells = self.cells.iter_mut().skip(column).step_by(self.columns);
        cells.zip(array.iter()).for_each(|(cell, value)| *cell = value.number());
        Ok(())
    }
}
