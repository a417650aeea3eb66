//! A table in Zarr: an array with two axes, or a sparse matrix of AnnData.

use std::path::Path;

use serde_json::Value;

use super::array::{Array, Node, node};
use super::folder::damaged;
use crate::table::TableError;
use crate::table::builder::TableBuilder;

/// Entries of a sparse matrix that are read at a time.
const PIECE: u64 = 1 << 18;

pub(super) enum Matrix {
    Dense(Array),
    Sparse(Box<Sparse>),
}

/// Compressed rows, or columns.
pub(super) struct Sparse {
    by_rows: bool,
    shape: (u64, u64),
    data: Array,
    indices: Array,
    starts: Array,
}

impl Matrix {
    /// The matrix in a folder; the error says why there is none.
    pub fn open(folder: &Path) -> Result<Self, String> {
        let about = match node(folder)? {
            Node::Array(array) if array.element.is_none() => return Err("its table holds texts".into()),
            Node::Array(array) if array.shape.len() != 2 => {
                return Err(format!("its table has {} axes instead of two", array.shape.len()));
            }
            Node::Array(array) => return Ok(Matrix::Dense(*array)),
            Node::Group(about) => about,
        };
        let by_rows = match about["encoding-type"].as_str() {
            Some("csr_matrix") => true,
            Some("csc_matrix") => false,
            _ => return Err("it is a group, neither an array nor a sparse matrix".into()),
        };
        let length = |value: &Value| value.as_u64().ok_or("its sparse matrix has no shape");
        let shape = (length(&about["shape"][0])?, length(&about["shape"][1])?);
        let part = |name: &str| Array::open(&folder.join(name));
        Ok(Matrix::Sparse(Box::new(Sparse {
            by_rows,
            shape,
            data: part("data")?,
            indices: part("indices")?,
            starts: part("indptr")?,
        })))
    }

    /// Rows and columns.
    pub fn shape(&self) -> (u64, u64) {
        match self {
            Matrix::Dense(array) => (array.shape[0], array.shape[1]),
            Matrix::Sparse(sparse) => sparse.shape,
        }
    }

    /// Fills in the wanted columns of a table of zeros.
    pub fn fill(&self, builder: &mut TableBuilder) -> Result<(), TableError> {
        let path = builder.allowance.path.clone();
        let filled = match self {
            _ if builder.width() == 0 => Ok(()),
            Matrix::Dense(array) => dense(array, builder),
            Matrix::Sparse(sparse) => sparse.fill(builder),
        };
        filled.map_err(|reason| damaged(&path, reason))?;
        match builder.values.iter().position(|value| value.is_infinite()) {
            None => Ok(()),
            Some(at) => {
                let place = builder.place(at / builder.width(), builder.numeric[at % builder.width()]);
                Err(TableError::Infinite { file: path, place, text: builder.values[at].to_string() })
            }
        }
    }
}

fn dense(array: &Array, builder: &mut TableBuilder) -> Result<(), String> {
    let Some(element) = &array.element else { return Err("its table holds texts".into()) };
    array.cells()?;
    let ([rows, width], [tall, wide]) = (&array.shape[..], &array.chunk[..]) else {
        return Err("its table does not have two axes".into());
    };
    let own = builder.width();
    for across in 0..width.div_ceil(*wide) {
        let columns = across * wide..((across + 1) * wide).min(*width);
        let wanted: Vec<(usize, usize)> = columns
            .clone()
            .filter_map(|column| builder.slots[column as usize].map(|slot| ((column - columns.start) as usize, slot)))
            .collect();
        if wanted.is_empty() {
            continue;
        }
        for down in 0..rows.div_ceil(*tall) {
            let chunk = array.bytes(&[down, across])?;
            let first = (down * tall) as usize;
            for i in 0..(rows - down * tall).min(*tall) as usize {
                for &(j, slot) in &wanted {
                    let at = if array.fortran { j * *tall as usize + i } else { i * *wide as usize + j };
                    let cell = chunk.as_ref().map(|bytes| element.decode(&bytes[at * element.size..][..element.size]));
                    builder.values[(first + i) * own + slot] = cell.unwrap_or(array.fill);
                }
            }
        }
    }
    Ok(())
}

impl Sparse {
    fn fill(&self, builder: &mut TableBuilder) -> Result<(), String> {
        let (outer, inner) = if self.by_rows { self.shape } else { (self.shape.1, self.shape.0) };
        if self.starts.shape != [outer + 1] {
            return Err("the starts of its sparse matrix do not fit its shape".into());
        }
        let starts = self.starts.numbers()?;
        let entries = self.data.shape.first().copied().unwrap_or(0);
        let is_rising = starts.windows(2).all(|two| two[0] <= two[1]);
        if !is_rising || starts.first() != Some(&0.0) {
            return Err("the starts of its sparse matrix do not rise from zero".into());
        }
        if starts.last().is_none_or(|&last| last as u64 > entries) || self.indices.shape != self.data.shape {
            return Err("its sparse matrix is cut short".into());
        }
        let width = builder.width();
        let mut o = 0;
        while o < outer as usize {
            // As many rows, or columns, as fit into a piece; at least one.
            let first = starts[o] as u64;
            let mut until = o + 1;
            while until < outer as usize && starts[until + 1] as u64 - first <= PIECE {
                until += 1;
            }
            let is_wanted = self.by_rows || (o..until).any(|column| builder.slots[column].is_some());
            let range = if is_wanted { first..starts[until] as u64 } else { first..first };
            let (data, indices) = (self.data.range(range.clone())?, self.indices.range(range)?);
            for outer in o..until {
                let some = starts[outer] as u64 - first..starts[outer + 1] as u64 - first;
                for k in some.start as usize..(some.end as usize).min(data.len()) {
                    if !(0.0..inner as f64).contains(&indices[k]) {
                        return Err("an index of its sparse matrix lies outside".into());
                    }
                    let other = indices[k] as usize;
                    let (row, column) = if self.by_rows { (outer, other) } else { (other, outer) };
                    if let Some(slot) = builder.slots[column] {
                        builder.values[row * width + slot] += data[k];
                    }
                }
            }
            o = until;
        }
        Ok(())
    }
}
