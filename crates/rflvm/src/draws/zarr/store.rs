//! A whole store: the description of the run, and the number of draws it holds.

use super::array::{Array, DataType};
use super::earlier;
use super::labels::RowLabels;
use super::sealed;
use crate::atomic;
use crate::checksum::Summed;
use crate::draws::moments::Moments;
use crate::draws::quantity::{Described, Kept, Quantity, block_names, quantities};
use crate::draws::traced::Traced;
use crate::encode;
use crate::error::StoreError;
use crate::model::Model;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A store for writing draws.
#[derive(Debug)]
pub struct Store {
    pub(super) path: PathBuf,
    pub(super) drawn: Arc<Vec<(Quantity, Array)>>,
    fixed: Vec<Array>,
    /// Number of complete chunks of the coordinate `draw`.
    numbered: u64,
    attributes: Value,
    /// The metadata on disk.
    said: Map<String, Value>,
}

/// The groups, in the order in which readers meet them.
const GROUPS: [&str; 5] = ["posterior", "sample_stats", "observed_data", "constant_data", "moments"];

/// The groups that hold draws.
const SAMPLED: [&str; 2] = ["posterior", "sample_stats"];
/// Values per chunk of the coordinate `draw`.
const NUMBERS: u64 = 4096;

/// The coordinate `draw` of a group.
fn numbers(group: &'static str) -> Array {
    let chunk = vec![NUMBERS as usize];
    Array { chunk, ..Array::whole(group, "draw", DataType::Integer, &[("draw", 0)]) }
}

/// Checksum of the metadata, with which readers verify them.
pub(super) fn metadata_sum(metadata: &Map<String, Value>) -> u32 {
    // Keys are sorted, so the order in which they were read does not matter.
    let sorted: BTreeMap<_, _> = metadata.iter().collect();
    let mut sum = crc32fast::Hasher::new();
    sorted.into_iter().for_each(|(key, value)| {
        sum.update(key.as_bytes());
        sum.update(value.to_string().as_bytes());
    });
    sum.finalize()
}

/// Names of the columns of H.
fn features(model: &Model) -> Vec<String> {
    let l = model.frequencies();
    let mut names: Vec<String> = (0..l).map(|i| format!("sin {i}")).collect();
    names.extend((0..l).map(|i| format!("cos {i}")));
    names.extend(model.covariate_names().iter().map(|name| format!("covariate {name}")));
    if model.has_linear() {
        names.extend((0..model.latent_dim()).map(|d| format!("linear {d}")));
    }
    names.push("intercept".into());
    names
}

/// The array with the cells of covariate i, as the user wrote them.
pub fn covariate_name(i: usize) -> String {
    format!("covariate_as_given_{}", i + 1)
}

impl Store {
    /// The store of a run. Nothing is written yet.
    pub fn new(path: &Path, model: &Model, keep: &[Kept], chains: usize, attributes: Value) -> Self {
        let array = |d: Described| (d.quantity, Array::drawn(&d, chains));
        let drawn = Arc::new(quantities(model, keep).into_iter().map(array).collect());
        Store { path: path.to_path_buf(), drawn, fixed: Vec::new(), numbered: 0, attributes, said: Map::new() }
    }

    /// The arrays of draws.
    pub(super) fn drawn(&self) -> Arc<Vec<(Quantity, Array)>> {
        Arc::clone(&self.drawn)
    }

    /// Writes everything of fixed size: data, names, coordinates. It overwrites only what it wrote before. The cells come from a part of the
    /// model where processes share it: they must call [`Model::collect_table`] meanwhile.
    pub fn begin(&mut self, model: &Model, part: &Model, labels: &RowLabels, chains: usize) -> Result<(), StoreError> {
        let (n, j, d, l) = (model.rows(), model.columns(), model.latent_dim(), model.frequencies());
        let traced = Traced::of(model);
        self.fixed.clear();
        for group in GROUPS {
            make_folder(&self.path.join(group))?;
        }
        earlier::rename(&self.path)?;
        for (_, array) in self.drawn.iter() {
            make_folder(&array.folder(&self.path))?;
        }
        let names: Vec<&str> = model.names().iter().map(String::as_str).collect();
        let ids: Vec<&str> = labels.ids.iter().map(String::as_str).collect();
        let whole = |length: usize| (0..length as i64).collect::<Vec<i64>>();
        for group in GROUPS {
            let drawn = self.drawn();
            let has = |dim: &str| drawn.iter().any(|(_, a)| a.group == group && a.dims.iter().any(|d| d == dim));
            let table = matches!(group, "observed_data" | "moments");
            let sampled = SAMPLED.contains(&group);
            if sampled || group == "moments" {
                self.integers(group, "chain", &[("chain", chains)], &whole(chains))?;
            }
            if sampled {
                make_folder(&numbers(group).folder(&self.path))?;
            }
            if table || group == "constant_data" || has("row") {
                self.texts(group, "row", "row", &ids)?;
                self.times(group, labels)?;
            }
            if table || has("column") {
                self.texts(group, "column", "column", &names)?;
            }
            if has("latent") || group == "moments" {
                self.integers(group, "latent", &[("latent", d)], &whole(d))?;
            }
            if has("frequency") {
                self.integers(group, "frequency", &[("frequency", l)], &whole(l))?;
            }
            if has("feature") {
                let features = features(model);
                self.texts(group, "feature", "feature", &features.iter().map(String::as_str).collect::<Vec<_>>())?;
            }
            for (block, b) in model.blocks().iter().enumerate().filter(|_| model.blocks().len() > 1) {
                let (_, axis) = block_names(model, block);
                if has(&axis) {
                    self.texts(group, &axis, &axis, &names[b.columns.clone()])?;
                }
            }
            if has("pair") {
                let name = |(a, b): &(usize, usize)| format!("{} {}", ids[*a], ids[*b]);
                let pairs: Vec<String> = traced.pairs.iter().map(name).collect();
                self.texts(group, "pair", "pair", &pairs.iter().map(String::as_str).collect::<Vec<_>>())?;
                let name = |(n, j): &(usize, usize)| format!("{} {}", ids[*n], names[*j]);
                let cells: Vec<String> = traced.cells.iter().map(name).collect();
                self.texts(group, "cell", "cell", &cells.iter().map(String::as_str).collect::<Vec<_>>())?;
            }
        }
        self.fix(Array::whole("observed_data", "y", DataType::Float, &[("row", n), ("column", j)]), |file| {
            part.collect_table(|cells| file.write_all(&encode::floats(cells)))
        })?;
        self.floats("constant_data", "offset", &[("row", n)], model.offset())?;
        if !model.covariate_names().is_empty() {
            let covariates: Vec<&str> = model.covariate_names().iter().map(String::as_str).collect();
            self.texts("constant_data", "covariate", "covariate", &covariates)?;
            let axes = [("row", n), ("covariate", covariates.len())];
            self.floats("constant_data", "covariates", &axes, model.covariates().as_slice())?;
        }
        for (i, texts) in labels.covariates_as_given.iter().enumerate() {
            let (name, texts) = (covariate_name(i), texts.iter().map(String::as_str).collect::<Vec<_>>());
            self.texts("constant_data", &name, "row", &texts)?;
        }
        // With these two, the store holds the table as the user wrote it.
        let order: Vec<i64> = model.order().iter().map(|&column| column as i64).collect();
        self.integers("constant_data", "order", &[("column", j)], &order)?;
        for (name, texts) in [("label", &labels.labels), ("time_as_given", &labels.times_as_given)] {
            if let Some(texts) = texts {
                self.texts("constant_data", name, "row", &texts.iter().map(String::as_str).collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    /// Times and sequences as coordinates of the rows.
    fn times(&mut self, group: &'static str, labels: &RowLabels) -> Result<(), StoreError> {
        if let Some(times) = &labels.times {
            self.floats(group, "time", &[("row", times.len())], times)?;
            if let Some(array) = self.fixed.last_mut() {
                array.units.clone_from(&labels.time_units);
            }
        }
        match &labels.sequences {
            Some(names) => self.texts(group, "sequence", "row", &names.iter().map(String::as_str).collect::<Vec<_>>()),
            None => Ok(()),
        }
    }

    /// Writes the running moments, one set per chain.
    pub fn moments(&mut self, model: &Model, moments: &[&Moments]) -> Result<(), StoreError> {
        let (chains, n, j, d) = (moments.len(), model.rows(), model.columns(), model.latent_dim());
        if moments.iter().any(|m| m.x.count() == 0) {
            return Ok(());
        }
        let of = |take: &dyn Fn(&Moments) -> Vec<f64>| moments.iter().flat_map(|m| take(m)).collect::<Vec<f64>>();
        let (axes, table) =
            ([("chain", chains), ("row", n), ("latent", d)], [("chain", chains), ("row", n), ("column", j)]);
        self.floats("moments", "x_mean", &axes, &of(&|m| m.x.mean().to_vec()))?;
        self.floats("moments", "x_sd", &axes, &of(&|m| m.x.sd()))?;
        if moments.iter().all(|m| m.f.count() > 0) {
            self.floats("moments", "f_mean", &table, &of(&|m| m.f.mean().to_vec()))?;
            self.floats("moments", "f_sd", &table, &of(&|m| m.f.sd()))?;
        }
        Ok(())
    }

    /// Records that every chain has `draws` draws on disk.
    pub fn publish(&mut self, draws: u64) -> Result<(), StoreError> {
        self.number(draws)?;
        let mut all = Map::new();
        let (path, said) = (&self.path, &self.said);
        let mut put = |key: String, value: Value| -> Result<(), StoreError> {
            // Unchanged metadata need not be written again.
            if said.get(&key) != Some(&value) {
                write(&path.join(&key), value.to_string().as_bytes())?;
            }
            all.insert(key, value);
            Ok(())
        };
        put(".zgroup".into(), json!({ "zarr_format": 2 }))?;
        put(".zattrs".into(), self.attributes.clone())?;
        for group in GROUPS {
            put(format!("{group}/.zgroup"), json!({ "zarr_format": 2 }))?;
            let beside = |name: &&str| self.fixed.iter().any(|a| a.group == group && a.name == *name);
            let coordinates: Vec<&str> = ["time", "sequence"].into_iter().filter(beside).collect();
            let mut attributes = self.attributes.clone();
            if !coordinates.is_empty() {
                // This attribute tells xarray that they are coordinates.
                attributes["coordinates"] = json!(coordinates.join(" "));
            }
            put(format!("{group}/.zattrs"), attributes)?;
        }
        let grown = |array: &Array| {
            let mut array = array.clone();
            if let Some(axis) = array.dims.iter().position(|d| d == "draw") {
                array.shape[axis] = draws as usize;
            }
            array
        };
        let numbers = SAMPLED.map(numbers);
        for array in self.fixed.iter().chain(self.drawn.iter().map(|(_, a)| a)).chain(&numbers).map(grown) {
            put(format!("{}/{}/.zarray", array.group, array.name), array.metadata())?;
            put(format!("{}/{}/.zattrs", array.group, array.name), array.attributes())?;
        }
        // Readers look at this file first: writing it publishes the new draws.
        let metadata = json!({ "zarr_consolidated_format": 1, "checksum": metadata_sum(&all), "metadata": all });
        write(&self.path.join(".zmetadata"), metadata.to_string().as_bytes())?;
        self.said = all;
        Ok(())
    }

    /// Numbers the draws. Whole chunks are written, so that memory does not grow with the draws and files are rewritten rarely.
    fn number(&mut self, draws: u64) -> Result<(), StoreError> {
        for chunk in self.numbered..draws.div_ceil(NUMBERS) {
            for array in SAMPLED.map(numbers) {
                let values = (chunk * NUMBERS) as i64..((chunk + 1) * NUMBERS) as i64;
                sealed::write_with(&array.file(&self.path, &[chunk]), |file| {
                    values.clone().try_for_each(|v| file.write_all(&v.to_le_bytes()))
                })?;
            }
            self.numbered = chunk + 1;
        }
        Ok(())
    }

    fn floats(
        &mut self,
        group: &'static str,
        name: &str,
        axes: &[(&str, usize)],
        values: &[f64],
    ) -> Result<(), StoreError> {
        self.fix(Array::whole(group, name, DataType::Float, axes), |file| {
            values.chunks(4096).try_for_each(|some| file.write_all(&encode::floats(some)))
        })
    }

    fn integers(
        &mut self,
        group: &'static str,
        name: &str,
        axes: &[(&str, usize)],
        values: &[i64],
    ) -> Result<(), StoreError> {
        self.fix(Array::whole(group, name, DataType::Integer, axes), |file| {
            values.iter().try_for_each(|v| file.write_all(&v.to_le_bytes()))
        })
    }

    fn texts(&mut self, group: &'static str, name: &str, axis: &str, values: &[&str]) -> Result<(), StoreError> {
        let length = values.iter().map(|v| v.chars().count()).max().unwrap_or(0).max(1);
        let mut bytes = Vec::with_capacity(4 * length * values.len());
        for value in values {
            let end = bytes.len() + 4 * length;
            bytes.extend(value.chars().flat_map(|c| u32::from(c).to_le_bytes()));
            bytes.resize(end, 0);
        }
        self.fix(Array::whole(group, name, DataType::Text(length), &[(axis, values.len())]), |file| {
            file.write_all(&bytes)
        })
    }

    /// Writes an array of fixed size. Its bytes are streamed, so that the table is not held twice.
    fn fix(
        &mut self,
        array: Array,
        fill: impl FnOnce(&mut Summed<&mut BufWriter<File>>) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        make_folder(&array.folder(&self.path))?;
        let first = vec![0; array.shape.len()];
        let path = array.file(&self.path, &first);
        sealed::write_with(&path, fill)?;
        self.fixed.retain(|a| (a.group, &a.name) != (array.group, &array.name));
        self.fixed.push(array);
        Ok(())
    }
}

/// Writes a file atomically.
fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    atomic::write(path, bytes).map_err(|error| refused(path, &error))
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(path).map_err(|error| refused(path, &error))
}

fn refused(path: &Path, error: &io::Error) -> StoreError {
    StoreError::unwritten(path, error)
}
