//! What identifies a run: everything its draws depend on. Written with the settings, into the store and into every checkpoint, so
//! that parts of different runs are never mixed.

use crate::model::latent::{TimeKernel, TimeSpec};
use crate::model::{Model, ModelSpec};
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// Everything the draws of a run depend on. The number of threads and the time between checkpoints do not belong here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Digest of the table: cells, offsets, times, names.
    pub data: String,
    /// Digest of the model: families, priors, dimensions.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// Number of chains.
    pub chains: usize,
    /// Number of warm-up sweeps.
    pub warmup: u64,
    /// The sweep from which the warm-up was extended; 0 if it was not.
    #[serde(default)]
    pub warmup_from: u64,
    /// Draws kept per chain.
    pub draws: u64,
    /// Sweeps per kept draw.
    pub thin: u64,
    /// The initialisation of the chains.
    pub init: String,
}

/// A difference between two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// Their tables.
    Data,
    /// Their models.
    Model,
    /// A setting of the run.
    Setting {
        /// Its name.
        name: &'static str,
        /// Its value in the first run.
        one: String,
        /// Its value in the second run.
        other: String,
    },
}

impl Identity {
    /// All of it as one short string.
    pub fn digest(&self) -> String {
        let numbers = [self.seed, self.chains as u64, self.warmup, self.draws, self.thin];
        let stream = Stream::new(1).named(&self.data).named(&self.model).named(&self.init);
        // Fits whose warm-up was not extended keep the digest of versions that could not extend it.
        let extended = (self.warmup_from > 0).then_some(self.warmup_from);
        hex(stream.along(numbers.into_iter().chain(extended)))
    }

    /// The first difference from another run.
    pub fn difference(&self, other: &Identity) -> Option<Difference> {
        if self.data != other.data {
            return Some(Difference::Data);
        }
        if self.model != other.model {
            return Some(Difference::Model);
        }
        let named = |i: &Identity| {
            [
                ("seed", i.seed.to_string()),
                ("chains", i.chains.to_string()),
                ("warmup", i.warmup.to_string()),
                ("warmup_from", i.warmup_from.to_string()),
                ("draws", i.draws.to_string()),
                ("thin", i.thin.to_string()),
                ("init", i.init.clone()),
            ]
        };
        let mut pairs = named(self).into_iter().zip(named(other));
        let ((name, one), (_, other)) = pairs.find(|((_, one), (_, other))| one != other)?;
        Some(Difference::Setting { name, one, other })
    }
}

/// Digest of a table: cells, offsets, covariates, times, names.
pub fn of_data(model: &Model) -> String {
    let mut digest = Digest::new(model);
    digest.add(model.y().as_slice());
    digest.finish(model)
}

/// The digest of a table whose cells come some rows at a time.
#[derive(Debug, Clone, Copy)]
pub struct Digest(Stream);

impl Digest {
    /// For the table of a model, which need not have its cells.
    pub fn new(model: &Model) -> Self {
        Digest(Stream::new(0).along([model.rows() as u64, model.columns() as u64]))
    }

    /// Adds cells, one row after the other.
    pub fn add(&mut self, cells: &[f64]) {
        self.0 = along(self.0, cells);
    }

    /// Adds what else belongs to the table.
    pub fn finish(self, model: &Model) -> String {
        let stream = along(along(self.0, model.offset()), model.covariates().as_slice());
        let times = model.dynamics().map(|dynamics| dynamics.times());
        let stream =
            stream.along(times.iter().flat_map(|t| t.at.iter().map(bits).chain(t.sequence.iter().map(|&s| s as u64))));
        hex(model.names().iter().fold(stream, |stream, name| stream.named(name)))
    }
}

/// Digest of a model of the table: families, priors, dimensions.
pub fn of_model(model: &Model) -> String {
    hex(specification(model))
}

fn hex(stream: Stream) -> String {
    let [a, b] = stream.key();
    format!("{a:016x}{b:016x}")
}

/// Every bit of a number counts, except that all NaNs (missing cells) are equal.
fn bits(v: &f64) -> u64 {
    if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }
}

fn along(stream: Stream, numbers: &[f64]) -> Stream {
    stream.along(numbers.iter().map(bits))
}

/// The model.
fn specification(model: &Model) -> Stream {
    let units = model.units().iter().flat_map(|u| [u.centre.to_bits(), u.scale.to_bits()]);
    let blocks = model.blocks().iter().map(|b| format!("{:?} {:?}", b.columns, b.family));
    let stream = blocks.fold(Stream::new(0).along(units), |stream, block| stream.named(&block));
    let spec = model.spec();
    // Rows without times have no kernel over time; their digest names the default of the versions that began with it.
    let untimed = || ModelSpec { time: TimeSpec { kernel: TimeKernel::Rbf, ..TimeSpec::default() }, ..spec.clone() };
    stream.named(&if model.dynamics().is_some() { written(spec) } else { written(&untimed()) })
}

/// Settings that older versions do not have, written as they are where they change nothing: a fit of such a version keeps its digest.
const LATER: [&str; 8] = [
    " linear: false,",
    " covariates: 1.0,",
    " linear: HalfT { scale: 1.0, dof: 1.0 },",
    ", period: None",
    ", cut_points: Normal { mean: 0.0, sd: 1.0 }",
    ", residual: HalfT { scale: 1.0, dof: 1.0 }",
    ", residual_length_scale: Centred { median: 0.1, sd: 1.5 }",
    ", residual: None",
];

/// The settings of a model, as they enter its digest.
fn written(spec: &ModelSpec) -> String {
    LATER
        .iter()
        .fold(format!("{spec:?}").replace("column_process", "residual"), |text, later| text.replacen(later, "", 1))
}
