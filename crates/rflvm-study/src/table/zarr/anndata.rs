//! AnnData as it is written to Zarr: names of cells and genes, and what is known of the cells.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::array::{Array, Node, node};
use super::folder::{children, damaged};
use crate::table::TableError;
use crate::table::kind::is_zarr;
use crate::table::words::{list, shorten};

pub(super) struct AnnData {
    folder: PathBuf,
}

impl AnnData {
    /// Where a folder holds it.
    pub fn of(folder: &Path, found: &Node) -> Option<Self> {
        let is_anndata = |about: &Value| about["encoding-type"] == "anndata";
        let has_parts = || ["X", "obs", "var"].iter().all(|name| is_zarr(&folder.join(name)));
        match found {
            Node::Group(about) if is_anndata(about) || has_parts() => Some(AnnData { folder: folder.to_path_buf() }),
            _ => None,
        }
    }

    /// Names of the rows (`obs`) or columns (`var`), if there are any.
    pub fn names(&self, of: &str, count: u64) -> Result<Option<Vec<String>>, String> {
        let frame = self.folder.join(of);
        let Ok(Node::Group(about)) = node(&frame) else { return Ok(None) };
        let index = about["_index"].as_str().unwrap_or("_index");
        let names = Array::open(&frame.join(index))?;
        if names.shape != [count] {
            return Err(format!("`{of}` does not have {count} names"));
        }
        names.texts().map(Some)
    }

    /// A column of `obs`, as texts.
    pub fn column(&self, name: &str, rows: u64, option: &'static str) -> Result<Vec<String>, TableError> {
        let frame = self.folder.join("obs");
        let available = children(&frame);
        if !available.iter().any(|own| own == name) {
            let (file, name, available) = (self.folder.clone(), shorten(name, 40), list(&available));
            return Err(TableError::UnknownColumn { file, option, name, hint: " in obs".into(), available });
        }
        let cells =
            cells(&frame.join(name)).map_err(|reason| damaged(&self.folder, format!("obs/{name}: {reason}")))?;
        if cells.len() as u64 != rows {
            return Err(damaged(&self.folder, format!("obs/{name} has {} cells instead of {rows}", cells.len())));
        }
        Ok(cells)
    }
}

/// The cells of a column: numbers, some of which may be missing, texts, or codes of categories.
fn cells(folder: &Path) -> Result<Vec<String>, String> {
    match node(folder)? {
        Node::Array(array) => array.texts(),
        // Numbers some of which are missing.
        Node::Group(_) if is_zarr(&folder.join("mask")) => {
            let values = Array::open(&folder.join("values"))?.texts()?;
            let mask = Array::open(&folder.join("mask"))?.numbers()?;
            if values.len() != mask.len() {
                return Err("its mask does not have the length of its values".into());
            }
            let cell = |(value, hidden): (String, f64)| if hidden == 0.0 { value } else { String::new() };
            Ok(values.into_iter().zip(mask).map(cell).collect())
        }
        Node::Group(_) => {
            let levels = Array::open(&folder.join("categories"))?.texts()?;
            let codes = Array::open(&folder.join("codes"))?.numbers()?;
            let level = |code: f64| match code {
                // Missing.
                code if code < 0.0 => Ok(String::new()),
                code => levels.get(code as usize).cloned().ok_or_else(|| "a code has no category".to_string()),
            };
            codes.into_iter().map(level).collect()
        }
    }
}
