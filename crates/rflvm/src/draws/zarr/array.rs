//! One array of a store: its metadata and the location of its chunks.
//!
//! Zarr's format 2 (zarr-specs.readthedocs.io), which every version of zarr-python reads. Written by hand: it is a few lines
//! of JSON next to files of raw numbers, and no crate we found appends in a way that survives being killed at any time.

use super::sealed;
use crate::draws::quantity::Described;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Data type, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataType {
    /// 64-bit float; NaN where nothing has been written.
    Float,
    /// 64-bit integer; −1 where nothing has been written.
    Integer,
    /// Text of at most this many characters, four bytes each.
    Text(usize),
}

impl DataType {
    /// Bytes of one value.
    pub fn size(self) -> usize {
        match self {
            DataType::Float | DataType::Integer => 8,
            DataType::Text(length) => 4 * length,
        }
    }

    /// Its name in the metadata.
    pub fn code(self) -> String {
        match self {
            DataType::Float => "<f8".into(),
            DataType::Integer => "<i8".into(),
            DataType::Text(length) => format!("<U{length}"),
        }
    }

    /// The fill value of cells never written.
    pub fn fill(self) -> [u8; 8] {
        match self {
            DataType::Float => f64::NAN.to_le_bytes(),
            DataType::Integer | DataType::Text(_) => (-1_i64).to_le_bytes(),
        }
    }
}

/// Target size of a chunk in bytes: small enough to be rewritten at each checkpoint, large enough to keep chunks few.
const CHUNK_BYTES: usize = 1 << 20;
/// Draws per chunk of a numeric array.
const CHUNK_DRAWS: usize = 512;

/// An array in a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The group it belongs to.
    pub group: &'static str,
    /// Its name.
    pub name: String,
    /// Its data type.
    pub kind: DataType,
    /// Names of its axes.
    pub dims: Vec<String>,
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// Length of a chunk along each axis.
    pub chunk: Vec<usize>,
    /// Unit of its values, if it needs one.
    pub units: Option<String>,
}

impl Array {
    /// An array stored as one chunk.
    pub fn whole(group: &'static str, name: &str, kind: DataType, axes: &[(&str, usize)]) -> Self {
        let shape: Vec<usize> = axes.iter().map(|a| a.1).collect();
        let chunk = shape.iter().map(|&length| length.max(1)).collect();
        let dims = axes.iter().map(|a| a.0.to_string()).collect();
        Array { group, name: name.into(), kind, dims, shape, chunk, units: None }
    }

    /// An array of draws: chain × draw × its own axes, empty at first.
    pub fn drawn(described: &Described, chains: usize) -> Self {
        let Described { group, name, is_integer, axes, .. } = described;
        let kind = if *is_integer { DataType::Integer } else { DataType::Float };
        let own: Vec<usize> = axes.iter().map(|a| a.1).collect();
        let per_draw = own.iter().product::<usize>().max(1) * kind.size();
        let mut dims = vec!["chain".to_string(), "draw".to_string()];
        dims.extend(axes.iter().map(|a| a.0.clone()));
        let per_chunk = (CHUNK_BYTES / per_draw).clamp(1, CHUNK_DRAWS);
        let whole = |first: [usize; 2]| first.into_iter().chain(own.iter().copied()).collect();
        Array {
            group,
            name: name.clone(),
            kind,
            dims,
            shape: whole([chains, 0]),
            chunk: whole([1, per_chunk]),
            units: None,
        }
    }

    /// Its folder in the store.
    pub fn folder(&self, store: &Path) -> PathBuf {
        store.join(self.group).join(&self.name)
    }

    /// The file of a chunk.
    pub fn file(&self, store: &Path, chunk: &[u64]) -> PathBuf {
        let name: Vec<String> = chunk.iter().map(u64::to_string).collect();
        // An array without axes has one chunk, called 0.
        self.folder(store).join(if name.is_empty() { "0".into() } else { name.join(".") })
    }

    /// Size of a whole chunk in bytes.
    pub fn chunk_bytes(&self) -> usize {
        self.chunk.iter().product::<usize>() * self.kind.size()
    }

    /// Contents of `.zarray`.
    pub fn metadata(&self) -> Value {
        // Integers and text have no fill value: with one, xarray would convert them to floats and objects.
        let fill = if self.kind == DataType::Float { json!("NaN") } else { Value::Null };
        json!({
            "zarr_format": 2, "shape": self.shape, "chunks": self.chunk, "dtype": self.kind.code(), "fill_value": fill,
            "order": "C", "compressor": { "id": sealed::CODEC }, "filters": null,
        })
    }

    /// Contents of `.zattrs`.
    pub fn attributes(&self) -> Value {
        let mut attributes = json!({ "_ARRAY_DIMENSIONS": self.dims });
        if let Some(units) = &self.units {
            attributes["units"] = json!(units);
        }
        attributes
    }
}
