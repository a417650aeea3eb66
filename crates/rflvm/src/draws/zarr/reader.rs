//! Draws read from disk, array by array and chunk by chunk, so that memory does not grow with their number.

use super::earlier::{folder, renamed};
use super::sealed::{self, Sealed};
use super::store::metadata_sum;
use crate::atomic::plain_reason;
use crate::error::StoreError;
use crate::identity::Identity;
use crate::regular;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Numbers that are read at a time.
const PIECE: usize = 1 << 13;

/// A store for reading.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    pub(super) metadata: Value,
}

/// The shape and chunks of an array of draws.
#[derive(Debug)]
pub(super) struct DrawShape {
    pub shape: Vec<usize>,
    pub chunk: Vec<usize>,
    is_integer: bool,
}

impl DrawShape {
    fn decode(&self, word: [u8; 8]) -> f64 {
        if self.is_integer { i64::from_le_bytes(word) as f64 } else { f64::from_le_bytes(word) }
    }
}

impl Reader {
    /// Opens a store.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = path.join(".zmetadata");
        let name = || file.display().to_string();
        let text = regular::read_to_string(&file)
            .map_err(|error| StoreError::Read { path: name(), reason: plain_reason(&error) })?;
        let mut metadata: Value = serde_json::from_str(&text).map_err(|error| StoreError::Damaged {
            path: name(),
            problem: format!("the file is not the metadata of a Zarr store ({error}); restore it from a copy"),
        })?;
        let sum = metadata["metadata"].as_object().map(|all| u64::from(metadata_sum(all)));
        if sum.is_none() || metadata["checksum"].as_u64() != sum {
            let problem = "the metadata are not those that were written (their checksum differs), or were written by an older \
                           version of rflvm; restore the file from a copy, or fit again";
            return Err(StoreError::Damaged { path: name(), problem: problem.into() });
        }
        if let Value::Object(all) = metadata["metadata"].take() {
            metadata["metadata"] = Value::Object(renamed(all));
        }
        Ok(Reader { path: path.to_path_buf(), metadata })
    }

    /// The run that the draws belong to.
    pub fn identity(&self) -> Result<Identity, StoreError> {
        serde_json::from_value(self.attributes()["identity"].clone()).map_err(|_| self.damaged("its run"))
    }

    /// Path of the store.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Attributes of the store that describe the run.
    pub fn attributes(&self) -> &Value {
        &self.metadata["metadata"][".zattrs"]
    }

    /// Unit of an array, if it has one.
    pub fn units(&self, name: &str) -> Option<&str> {
        self.metadata["metadata"][format!("{name}/.zattrs")]["units"].as_str()
    }

    /// Names of the arrays of a group.
    pub fn arrays(&self, group: &str) -> Vec<String> {
        let all = self.metadata["metadata"].as_object().into_iter().flatten();
        let name = |(key, _): (&String, &Value)| {
            key.strip_prefix(group)?.strip_prefix('/')?.strip_suffix("/.zarray").map(String::from)
        };
        all.filter_map(name).collect()
    }

    /// Names of the axes of an array; none if there is no such array.
    pub fn dims(&self, name: &str) -> Vec<String> {
        let dims = self.metadata["metadata"][format!("{name}/.zattrs")]["_ARRAY_DIMENSIONS"].as_array();
        dims.into_iter().flatten().filter_map(|dim| dim.as_str().map(String::from)).collect()
    }

    /// The shape of an array of fixed size.
    pub fn lengths(&self, name: &str) -> Result<Vec<usize>, StoreError> {
        Ok(self.array(name)?.shape)
    }

    /// The shape of an array of draws.
    pub fn shape(&self, name: &str) -> Result<Vec<usize>, StoreError> {
        Ok(self.drawn(name)?.shape)
    }

    /// The values of an array of fixed size, such as `observed_data/y`.
    pub fn fixed(&self, name: &str) -> Result<Vec<f64>, StoreError> {
        let array = self.array(name)?;
        let mut numbers = Vec::with_capacity(array.shape.iter().product());
        self.words(name, &array, |word| {
            numbers.push(array.decode(word));
            true
        })?;
        Ok(numbers)
    }

    /// The values of some columns, in this order, of an array of fixed size with two axes. The others are not held.
    pub fn fixed_columns(&self, name: &str, columns: &[usize]) -> Result<Vec<f64>, StoreError> {
        let array = self.array(name)?;
        let [rows, width] = array.shape[..] else { return Err(self.damaged(name)) };
        let mut places = vec![None; width];
        for (place, &column) in columns.iter().enumerate() {
            *places.get_mut(column).ok_or_else(|| self.damaged(name))? = Some(place);
        }
        let mut numbers = vec![0.0; rows * columns.len()];
        let mut at = 0;
        self.words(name, &array, |word| {
            if let Some(place) = places[at % width] {
                numbers[at / width * columns.len() + place] = array.decode(word);
            }
            at += 1;
            true
        })?;
        Ok(numbers)
    }

    /// Whether an array of fixed size holds exactly these values, bit for bit. It is read piece by piece.
    pub fn holds(&self, name: &str, numbers: &[f64]) -> Result<bool, StoreError> {
        let array = self.array(name)?;
        if array.is_integer || array.shape.iter().product::<usize>() != numbers.len() {
            return Ok(false);
        }
        let mut ours = numbers.iter();
        self.words(name, &array, |word| ours.next().is_some_and(|number| number.to_le_bytes() == word))
    }

    /// Passes the values of a single-chunk array to `take` until it returns false; returns whether it never did.
    fn words(&self, name: &str, array: &DrawShape, mut take: impl FnMut([u8; 8]) -> bool) -> Result<bool, StoreError> {
        let is_whole = array.shape.iter().zip(&array.chunk).all(|(&length, &chunk)| chunk == length.max(1));
        if !is_whole {
            return Err(self.damaged(name));
        }
        let count: usize = array.shape.iter().product();
        let path = folder(&self.path, name).join(vec!["0"; array.shape.len().max(1)].join("."));
        let mut file = Sealed::open(path, 8 * count)?;
        let mut piece = vec![0; 8 * PIECE.min(count)];
        for first in (0..count).step_by(PIECE) {
            let some = &mut piece[..8 * PIECE.min(count - first)];
            file.read(some)?;
            let (words, _) = some.as_chunks::<8>();
            if !words.iter().all(|word| take(*word)) {
                return Ok(false);
            }
        }
        file.check()?;
        Ok(true)
    }

    /// The text of an array of fixed size, such as `observed_data/row`.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, StoreError> {
        let about = &self.metadata["metadata"][format!("{name}/.zarray")];
        let length = about["dtype"].as_str().and_then(|d| d.strip_prefix("<U")?.parse::<usize>().ok());
        let (Some(length), Some(count)) = (length.filter(|l| *l > 0), about["shape"][0].as_u64()) else {
            return Err(self.damaged(name));
        };
        let width = length.checked_mul(4).ok_or_else(|| self.damaged(name))?;
        let size = width.checked_mul(count as usize).ok_or_else(|| self.damaged(name))?;
        let bytes = sealed::read(folder(&self.path, name).join("0"), size)?;
        let letter = |word: &[u8]| word.try_into().ok().and_then(|w| char::from_u32(u32::from_le_bytes(w)));
        let text = |cell: &[u8]| cell.chunks_exact(4).map_while(letter).take_while(|c| *c != '\0').collect();
        Ok(bytes.chunks_exact(width).map(text).collect())
    }

    /// Whether the array exists.
    pub fn has(&self, name: &str) -> bool {
        self.metadata["metadata"].get(format!("{name}/.zarray")).is_some()
    }

    /// The values of a chunk of draws; replaces the contents of `values`.
    pub(super) fn chunk(
        &self,
        name: &str,
        array: &DrawShape,
        chain: usize,
        chunk: usize,
        values: &mut Vec<f64>,
    ) -> Result<(), StoreError> {
        let rest = ".0".repeat(array.shape.len() - 2);
        let file = folder(&self.path, name).join(format!("{chain}.{chunk}{rest}"));
        let bytes = sealed::read(file, 8 * array.chunk.iter().product::<usize>())?;
        values.clear();
        values.extend(bytes.as_chunks::<8>().0.iter().map(|&word| array.decode(word)));
        Ok(())
    }

    pub(super) fn drawn(&self, name: &str) -> Result<DrawShape, StoreError> {
        let array = self.array(name)?;
        if array.shape.len() < 2 || array.shape[2..] != array.chunk[2..] || array.chunk[1] == 0 {
            return Err(self.damaged(name));
        }
        Ok(array)
    }

    fn array(&self, name: &str) -> Result<DrawShape, StoreError> {
        let about = &self.metadata["metadata"][format!("{name}/.zarray")];
        let lengths = |key: &str| -> Option<Vec<usize>> {
            about[key].as_array()?.iter().map(|v| v.as_u64().map(|v| v as usize)).collect()
        };
        let is_integer = about["dtype"] == "<i8";
        let is_number = (is_integer || about["dtype"] == "<f8") && about["compressor"]["id"] == sealed::CODEC;
        match (lengths("shape"), lengths("chunks")) {
            (Some(shape), Some(chunk)) if shape.len() == chunk.len() && is_number => {
                // Check sizes here: a shape that no file can have would overflow later.
                let size = |lengths: &[usize]| lengths.iter().try_fold(8_usize, |a, &b| a.checked_mul(b));
                if size(&shape).is_none() || size(&chunk).is_none() {
                    return Err(self.damaged(name));
                }
                Ok(DrawShape { shape, chunk, is_integer })
            }
            _ => Err(self.damaged(name)),
        }
    }

    pub(super) fn damaged(&self, name: &str) -> StoreError {
        let path = self.path.join(".zmetadata").display().to_string();
        let problem = format!(
            "it has no valid entry for {name}; the store was not written by rflvm, or {name} was not among the kept quantities"
        );
        StoreError::Damaged { path, problem }
    }
}
