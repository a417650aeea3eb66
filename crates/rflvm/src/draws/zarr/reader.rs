//! Draws from disk: array by array, chunk by chunk, so that memory does not grow with their number.

use crate::atomic::plain_reason;
use crate::error::StoreError;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A store to read from.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    metadata: Value,
}

/// The shape and chunks of an array of draws.
struct Drawn {
    shape: Vec<usize>,
    chunk: Vec<usize>,
    is_integer: bool,
}

impl Reader {
    /// Opens a store.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = path.join(".zmetadata");
        let name = || file.display().to_string();
        let text = fs::read_to_string(&file)
            .map_err(|error| StoreError::Read { path: name(), reason: plain_reason(&error) })?;
        let metadata: Value = serde_json::from_str(&text).map_err(|error| StoreError::Damaged {
            path: name(),
            problem: format!("the file is not the metadata of a Zarr store ({error}); restore it from a copy"),
        })?;
        Ok(Reader { path: path.to_path_buf(), metadata })
    }

    /// What the store says of its run.
    pub fn attributes(&self) -> &Value {
        &self.metadata["metadata"][".zattrs"]
    }

    /// Chains and draws.
    pub fn size(&self) -> Result<(usize, usize), StoreError> {
        let shape = self.drawn("sample_stats/lp")?.shape;
        Ok((shape[0], shape[1]))
    }

    /// Names of the arrays of a group.
    pub fn names(&self, group: &str) -> Vec<String> {
        let all = self.metadata["metadata"].as_object().into_iter().flatten();
        let name = |(key, _): (&String, &Value)| {
            key.strip_prefix(group)?.strip_prefix('/')?.strip_suffix("/.zarray").map(String::from)
        };
        all.filter_map(name).collect()
    }

    /// Whether there are draws of this name, such as `posterior/x`.
    pub fn is_drawn(&self, name: &str) -> bool {
        let dims = &self.metadata["metadata"][format!("{name}/.zattrs")]["_ARRAY_DIMENSIONS"];
        dims[0] == "chain" && dims[1] == "draw"
    }

    /// Numbers in one draw of an array.
    pub fn numbers(&self, name: &str) -> Result<usize, StoreError> {
        Ok(self.drawn(name)?.shape[2..].iter().product())
    }

    /// The shape of an array.
    pub fn shape(&self, name: &str) -> Result<Vec<usize>, StoreError> {
        Ok(self.drawn(name)?.shape)
    }

    /// Hands the draws of a chain to `take`, in order.
    pub fn each(&self, name: &str, chain: usize, mut take: impl FnMut(&[f64])) -> Result<(), StoreError> {
        let array = self.drawn(name)?;
        let numbers: usize = array.shape[2..].iter().product();
        let (draws, per_chunk) = (array.shape[1], array.chunk[1].max(1));
        let mut values = Vec::new();
        for chunk in 0..draws.div_ceil(per_chunk) {
            let rest = ".0".repeat(array.shape.len() - 2);
            let file = self.path.join(name).join(format!("{chain}.{chunk}{rest}"));
            let bytes = self.read(&file, array.chunk.iter().product::<usize>())?;
            values.clear();
            values.extend(bytes.chunks_exact(8).map(|b| {
                let mut word = [0; 8];
                word.copy_from_slice(b);
                if array.is_integer { i64::from_le_bytes(word) as f64 } else { f64::from_le_bytes(word) }
            }));
            let here = (draws - chunk * per_chunk).min(per_chunk);
            values.chunks_exact(numbers.max(1)).take(here).for_each(&mut take);
        }
        Ok(())
    }

    /// All draws of a chain of an array that has few numbers: draw after draw.
    pub fn all(&self, name: &str, chain: usize) -> Result<Vec<f64>, StoreError> {
        let mut all = Vec::new();
        self.each(name, chain, |values| all.extend_from_slice(values))?;
        Ok(all)
    }

    fn read(&self, file: &Path, numbers: usize) -> Result<Vec<u8>, StoreError> {
        let path = || file.display().to_string();
        let bytes = fs::read(file).map_err(|error| StoreError::Read { path: path(), reason: plain_reason(&error) })?;
        if bytes.len() != 8 * numbers {
            let problem = format!(
                "the file has {} bytes where {} were written; restore it from a copy",
                bytes.len(),
                8 * numbers
            );
            return Err(StoreError::Damaged { path: path(), problem });
        }
        Ok(bytes)
    }

    fn drawn(&self, name: &str) -> Result<Drawn, StoreError> {
        let array = self.array(name)?;
        if array.shape.len() < 2 {
            return Err(self.damaged(name));
        }
        Ok(array)
    }

    fn array(&self, name: &str) -> Result<Drawn, StoreError> {
        let about = &self.metadata["metadata"][format!("{name}/.zarray")];
        let lengths = |key: &str| -> Option<Vec<usize>> {
            about[key].as_array()?.iter().map(|v| v.as_u64().map(|v| v as usize)).collect()
        };
        let is_integer = about["dtype"] == "<i8";
        match (lengths("shape"), lengths("chunks")) {
            (Some(shape), Some(chunk)) if shape.len() == chunk.len() && (is_integer || about["dtype"] == "<f8") => {
                // A size that no file can have would overflow before any file is looked at.
                let size = |lengths: &[usize]| lengths.iter().try_fold(8_usize, |a, &b| a.checked_mul(b));
                if size(&shape).is_none() || size(&chunk).is_none() {
                    return Err(self.damaged(name));
                }
                Ok(Drawn { shape, chunk, is_integer })
            }
            _ => Err(self.damaged(name)),
        }
    }

    fn damaged(&self, name: &str) -> StoreError {
        let path = self.path.join(".zmetadata").display().to_string();
        let problem = format!(
            "it says nothing sensible of {name}; the store is not one of ours, or was kept without it (see --keep)"
        );
        StoreError::Damaged { path, problem }
    }
}
