//! One array: its metadata, and the bytes of its chunks.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rflvm::internal::atomic::plain_reason;
use rflvm::internal::regular;
use serde_json::Value;

use super::codec::Codec;
use crate::bytes::free;
use crate::table::npy::Element;

/// What a folder is.
pub(super) enum Node {
    Array(Box<Array>),
    /// A group, with its attributes.
    Group(Value),
}

/// An array of numbers or texts.
pub(super) struct Array {
    folder: PathBuf,
    pub shape: Vec<u64>,
    pub chunk: Vec<u64>,
    /// None if it holds texts of variable length.
    pub element: Option<Element>,
    pub fill: f64,
    /// Whether the first axis varies fastest within a chunk.
    pub fortran: bool,
    codecs: Vec<Codec>,
    /// What comes before the numbers of a chunk in its name, and between them.
    key: (&'static str, String),
}

/// The node in a folder; the error says what is wrong.
pub(super) fn node(folder: &Path) -> Result<Node, String> {
    let json = |name: &str| -> Result<Option<Value>, String> {
        match regular::read_to_string(&folder.join(name)) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| format!("{name} is not JSON: {error}")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{name}: {}", plain_reason(&error))),
        }
    };
    if let Some(about) = json("zarr.json")? {
        return match about["node_type"].as_str() {
            Some("group") => Ok(Node::Group(about["attributes"].clone())),
            Some("array") => Array::of_v3(folder, &about).map(|array| Node::Array(Box::new(array))),
            _ => Err("zarr.json says neither group nor array".into()),
        };
    }
    match json(".zarray")? {
        Some(about) => Array::of_v2(folder, &about).map(|array| Node::Array(Box::new(array))),
        None if folder.join(".zgroup").is_file() => Ok(Node::Group(json(".zattrs")?.unwrap_or_default())),
        None => {
            Err(format!("there is no array or group `{}`", folder.file_name().unwrap_or_default().to_string_lossy()))
        }
    }
}

impl Array {
    /// The array in a folder.
    pub fn open(folder: &Path) -> Result<Self, String> {
        match node(folder)? {
            Node::Array(array) => Ok(*array),
            Node::Group(_) => Err(format!("`{}` is a group, not an array", folder.display())),
        }
    }

    fn of_v2(folder: &Path, about: &Value) -> Result<Self, String> {
        let kind = about["dtype"].as_str().ok_or("its elements are records")?.to_string();
        let mut codecs = Vec::new();
        if !about["compressor"].is_null() {
            codecs.push(Codec::named(about["compressor"]["id"].as_str().unwrap_or("unknown"))?);
        }
        let filters: Vec<&str> = about["filters"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|filter| filter["id"].as_str().unwrap_or(""))
            .collect();
        let element = match filters[..] {
            [] => Some(Element::new(&format!("'{kind}'")).map_err(|what| format!("it holds {what}"))?),
            ["vlen-utf8"] => None,
            _ => return Err(format!("its filters {filters:?} are not supported; write it without filters")),
        };
        Array {
            folder: folder.to_path_buf(),
            shape: lengths(&about["shape"])?,
            chunk: lengths(&about["chunks"])?,
            fill: fill(&about["fill_value"]),
            fortran: about["order"].as_str() == Some("F"),
            key: ("", about["dimension_separator"].as_str().unwrap_or(".").into()),
            element,
            codecs,
        }
        .checked()
    }

    fn of_v3(folder: &Path, about: &Value) -> Result<Self, String> {
        let (mut codecs, mut fortran, mut big, mut is_text) = (Vec::new(), false, false, false);
        let axes = lengths(&about["shape"])?.len();
        for codec in about["codecs"].as_array().into_iter().flatten() {
            let (name, with) = (codec["name"].as_str().unwrap_or("unknown"), &codec["configuration"]);
            match name {
                "bytes" => big = with["endian"].as_str() == Some("big"),
                "vlen-utf8" => is_text = true,
                "transpose" => {
                    let order = lengths(&with["order"])?;
                    fortran = order.len() == axes && axes > 1 && order.iter().rev().copied().eq(0..axes as u64);
                    if !fortran && !order.iter().copied().eq(0..axes as u64) {
                        return Err("its axes are permuted; write it in the order of rows or of columns".into());
                    }
                }
                // Compressors are undone in the reverse order.
                _ => codecs.insert(0, Codec::named(name)?),
            }
        }
        let kind = match about["data_type"].as_str().ok_or("its type of elements is not supported")? {
            "bool" => "|b1".to_string(),
            "string" => "|O".to_string(),
            name => {
                let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
                let letter = match &name[..digits] {
                    "float" => 'f',
                    "int" => 'i',
                    "uint" => 'u',
                    _ => return Err(format!("its elements are of type {name}; write numbers")),
                };
                let bits: usize = name[digits..].parse().map_err(|_| format!("its elements are of type {name}"))?;
                format!("{}{letter}{}", if big { '>' } else { '<' }, bits / 8)
            }
        };
        let element = match is_text {
            true => None,
            false => Some(Element::new(&format!("'{kind}'")).map_err(|what| format!("it holds {what}"))?),
        };
        let keys = &about["chunk_key_encoding"];
        let separator = |default: &str| keys["configuration"]["separator"].as_str().unwrap_or(default).to_string();
        if about["chunk_grid"]["name"].as_str() != Some("regular") {
            return Err("its chunks have different shapes; write it with chunks of one shape".into());
        }
        Array {
            folder: folder.to_path_buf(),
            shape: lengths(&about["shape"])?,
            chunk: lengths(&about["chunk_grid"]["configuration"]["chunk_shape"])?,
            fill: fill(&about["fill_value"]),
            key: if keys["name"].as_str() == Some("v2") { ("", separator(".")) } else { ("c", separator("/")) },
            element,
            fortran,
            codecs,
        }
        .checked()
    }

    fn checked(self) -> Result<Self, String> {
        if self.shape.len() != self.chunk.len() || self.chunk.contains(&0) {
            return Err("its chunks do not have the axes of the array".into());
        }
        let separators = [".", "/"];
        if !separators.contains(&self.key.1.as_str()) {
            return Err("the names of its chunks are not understood".into());
        }
        Ok(self)
    }

    /// Cells of a chunk.
    pub fn cells(&self) -> Result<usize, String> {
        let cells = self.chunk.iter().try_fold(1_u64, |all, &length| all.checked_mul(length));
        let size = self.element.as_ref().map_or(1, |element| element.size as u64);
        let bytes = cells.and_then(|cells| cells.checked_mul(size)).ok_or("its chunks are too large")?;
        affordable(bytes, "a chunk").map_err(|problem| format!("{problem}; write it with smaller chunks"))?;
        cells.map(|cells| cells as usize).ok_or_else(|| "its chunks are too large".into())
    }

    /// The bytes of a chunk; `None` if it was never written, and so holds the fill value.
    pub fn bytes(&self, index: &[u64]) -> Result<Option<Vec<u8>>, String> {
        let mut words: Vec<String> = index.iter().map(u64::to_string).collect();
        if !self.key.0.is_empty() {
            words.insert(0, self.key.0.to_string());
        } else if words.is_empty() {
            words.push("0".into());
        }
        let name = words.join(&self.key.1);
        let bytes = match regular::read(&self.folder.join(&name)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("chunk {name}: {}", plain_reason(&error))),
        };
        let whole = match &self.element {
            Some(element) => Some(self.cells()?.checked_mul(element.size).ok_or("its chunks are too large")?),
            None => None,
        };
        let decoded = self.codecs.iter().try_fold(bytes, |bytes, codec| codec.decode(bytes, whole));
        let decoded = decoded.map_err(|problem| format!("chunk {name}: {problem}"))?;
        match whole {
            Some(whole) if decoded.len() != whole => {
                Err(format!("chunk {name} has {} bytes instead of {whole}", decoded.len()))
            }
            _ => Ok(Some(decoded)),
        }
    }

    /// All numbers of an array with one axis.
    pub fn numbers(&self) -> Result<Vec<f64>, String> {
        let [length] = self.shape[..] else { return Err("an array has the wrong number of axes".into()) };
        self.range(0..length)
    }

    /// Some numbers of an array with one axis.
    pub fn range(&self, range: std::ops::Range<u64>) -> Result<Vec<f64>, String> {
        let Some(element) = &self.element else { return Err("an array holds texts instead of numbers".into()) };
        let ([length], [chunk]) = (&self.shape[..], &self.chunk[..]) else {
            return Err("an array has the wrong number of axes".into());
        };
        if range.start > range.end || range.end > *length {
            return Err("an array is shorter than others say".into());
        }
        affordable((range.end - range.start).saturating_mul(8), "an array")?;
        let mut numbers = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let (index, inside) = (at / chunk, at % chunk);
            let until = range.end.min((index + 1).saturating_mul(*chunk));
            match self.bytes(&[index])? {
                Some(bytes) => {
                    let from = inside as usize * element.size;
                    let to = from + (until - at) as usize * element.size;
                    numbers.extend(bytes[from..to].chunks_exact(element.size).map(|cell| element.decode(cell)));
                }
                None => numbers.resize(numbers.len() + (until - at) as usize, self.fill),
            }
            at = until;
        }
        Ok(numbers)
    }

    /// All texts of an array with one axis.
    pub fn texts(&self) -> Result<Vec<String>, String> {
        let ([length], [chunk]) = (&self.shape[..], &self.chunk[..]) else {
            return Err("an array of names has the wrong number of axes".into());
        };
        if self.element.is_some() {
            // A missing number has no text.
            let text = |number: &f64| if number.is_nan() { String::new() } else { number.to_string() };
            return Ok(self.numbers()?.iter().map(text).collect());
        }
        affordable(length.saturating_mul(size_of::<String>() as u64), "an array of texts")?;
        let mut all = Vec::new();
        for index in 0..length.div_ceil(*chunk) {
            let wanted = (length - index * chunk).min(*chunk) as usize;
            let before = all.len();
            match self.bytes(&[index])? {
                Some(bytes) => {
                    all.extend(texts(&bytes).ok_or("an array of texts is damaged")?.into_iter().take(wanted))
                }
                None => all.resize(before + wanted, String::new()),
            }
            if all.len() != before + wanted {
                return Err("an array of texts is cut short".into());
            }
        }
        Ok(all)
    }
}

/// Whether there is memory for so much; metadata may ask for anything.
fn affordable(bytes: u64, what: &str) -> Result<(), String> {
    match free() {
        Some(free) if bytes > 64 << 20 && u128::from(bytes) > free => {
            Err(format!("{what} takes more memory than is free"))
        }
        _ => Ok(()),
    }
}

/// Texts, each after its length: a count, then length and bytes of each.
fn texts(bytes: &[u8]) -> Option<Vec<String>> {
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let (count, mut at) = (number(0)?, 4);
    let mut all = Vec::new();
    for _ in 0..count {
        let length = number(at)?;
        let text = bytes.get(at + 4..at.checked_add(4)?.checked_add(length)?)?;
        all.push(std::str::from_utf8(text).ok()?.to_string());
        at += 4 + length;
    }
    Some(all)
}

fn lengths(value: &Value) -> Result<Vec<u64>, String> {
    let all = value.as_array().ok_or("its shape is missing")?;
    all.iter().map(|length| length.as_u64().ok_or_else(|| "its shape is not one of whole numbers".into())).collect()
}

/// The value of cells that were never written.
fn fill(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64().unwrap_or(0.0),
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::String(text) if text == "NaN" => f64::NAN,
        _ => 0.0,
    }
}
