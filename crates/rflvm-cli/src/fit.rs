//! `rflvm fit`: a table in, latent positions with their uncertainty out.

use crate::args::{FitArgs, InstructionsArg, StartArg};
use crate::blocks;
use crate::config::Config;
use crate::failure::Failure;
use crate::map::map_path;
use crate::progress::Follower;
use crate::results;
use crate::sample::{Follow, Sampling, checkpoint_path, store_path};
use crate::table::{self, ReadOptions, Table};
use crate::times::Timeline;
use crate::voice::Voice;
use crate::{atomic, output};
use rflvm::draws::zarr::{Kept, Labels};
use rflvm::error::SpecError;
use rflvm::gibbs::chain::Settings;
use rflvm::gibbs::checkpoint::Checkpoint;
use rflvm::gibbs::start::Start;
use rflvm::kernels::{self, Level};
use rflvm::linalg::Mat;
use rflvm::model::{Model, ModelSpec};
use rflvm::observations::{Observations, Offset};
use rflvm::rng::Stream;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs the command.
pub fn run(args: &FitArgs) -> Result<(), Failure> {
    let voice = Voice::from(&args.voice);
    let file = Config::given(args.file.as_deref())?;
    let fit = Fit::new(args.config.clone().or(file).filled(), &args.out)?;
    fit.clear(args.overwrite)?;
    fit.tell(voice);
    fit.sample(None, false, voice)
}

/// A fit with all its settings, checked; nothing is written yet.
pub struct Fit {
    pub dir: PathBuf,
    /// The settings, as they are written into the folder.
    pub saved: Config,
    /// The settings, with all files found.
    pub config: Config,
    pub table: Table,
    /// When the rows were observed, if that is known.
    pub timeline: Option<Timeline>,
    pub model: Model,
    pub settings: Settings,
    /// What is stored of each draw.
    pub keep: Vec<Kept>,
    /// Time between checkpoints.
    pub every: Duration,
}

impl Fit {
    /// Reads the table and checks everything that can be checked before sampling.
    pub fn new(config: Config, dir: &Path) -> Result<Self, Failure> {
        Fit::of(config, dir, read)
    }

    /// The same with a table that comes from elsewhere than a file.
    pub fn of(
        config: Config,
        dir: &Path,
        read: impl FnOnce(&Config) -> Result<Table, Failure>,
    ) -> Result<Self, Failure> {
        let saved = config.clone();
        let config = config.beside(dir);
        if config.likelihood.is_none() && config.blocks.is_none() {
            let rule = "a fit needs the family of its columns; give --likelihood, or --blocks for several (rflvm doctor tells what suits a table)";
            return Err(missing("likelihood", rule).into());
        }
        let settings = settings(&config);
        settings.check()?;
        let keep = config.run.keep.iter().flatten().map(|name| Kept::named(name)).collect::<Result<_, _>>()?;
        let every = seconds(config.run.checkpoint.unwrap_or(30.0))?;
        blocks::time_spec(&config)?;
        let mut table = read(&config)?;
        let timeline = Timeline::of(&config, &table)?;
        let model = model(&config, &mut table, timeline.as_ref())?;
        Ok(Fit { dir: dir.to_path_buf(), saved, config, table, timeline, model, settings, keep, every })
    }

    /// The fit that a folder holds, as its settings say; `change` may change some of them.
    pub fn open(dir: &Path, change: impl FnOnce(&mut Config)) -> Result<Self, Failure> {
        let file = dir.join("config.toml");
        if !file.exists() {
            return Err(Failure::NoFit { dir: dir.display().to_string() });
        }
        if map_path(dir).exists() && !store_path(dir).exists() {
            return Err(Failure::OnlyMap { dir: dir.display().to_string() });
        }
        let mut config = Config::read(&file)?;
        change(&mut config);
        Fit::new(config, dir)
    }

    /// Makes the folder ready: an older fit in it is refused, or removed if that was asked for.
    pub fn clear(&self, overwrite: bool) -> Result<(), Failure> {
        atomic::prepare_dir(&self.dir)?;
        let (store, checkpoint, map) = (store_path(&self.dir), checkpoint_path(&self.dir), map_path(&self.dir));
        if !store.exists() && !checkpoint.exists() && !map.exists() {
            return Ok(());
        }
        if !overwrite && map.exists() {
            return Err(Failure::HoldsMap { dir: self.dir.display().to_string() });
        }
        if !overwrite {
            return Err(Failure::Exists { dir: self.dir.display().to_string() });
        }
        let reason = |path: &Path| {
            let path = path.display().to_string();
            move |error: std::io::Error| Failure::Write { path, reason: atomic::plain_reason(&error) }
        };
        // What a fit writes at its end replaces what is there; checks of another fit would stay.
        let checks = ["check.csv", "check.svg"].map(|name| self.dir.join(name));
        for file in [checkpoint, map].iter().chain(&checks).filter(|file| file.exists()) {
            fs::remove_file(file).map_err(reason(file))?;
        }
        if store.exists() {
            fs::remove_dir_all(&store).map_err(reason(&store))?;
        }
        Ok(())
    }

    /// Says what is about to be fitted.
    pub fn tell(&self, voice: Voice) {
        if !self.table.named {
            voice.say("the file does not name its columns, so they are named 1, 2, …");
        }
        if let Some(timeline) = &self.timeline {
            voice.say(&timeline.line());
            timeline.tell(voice);
        }
        if let Some(dynamics) = self.model.dynamics() {
            voice.say(&dynamics.describe());
        }
        self.model.warnings().iter().for_each(|warning| voice.warn(warning));
        let (rows, columns, seed) = (self.model.rows(), self.model.columns(), self.settings.seed);
        let mut families: Vec<&str> = self.model.blocks().iter().map(|b| b.family.name()).collect();
        families.dedup();
        voice.say(&format!("{rows} rows × {columns} columns, {}; seed {seed}", families.join(" and ")));
        voice.event("start", json!({ "rows": rows, "columns": columns, "families": families, "seed": seed }));
    }

    /// Samples, and writes what comes of it.
    pub fn sample(&self, from: Option<Checkpoint>, debug: bool, voice: Voice) -> Result<(), Failure> {
        let follower = Follower::new(voice, self.settings.chains, self.settings.sweeps(), debug);
        self.run(from, &follower)?;
        results::write(&self.dir, self, voice)
    }

    /// Samples into the folder.
    pub fn run(&self, from: Option<Checkpoint>, follow: &dyn Follow) -> Result<(), Failure> {
        self.use_instructions();
        output::write(&self.dir.join("config.toml"), &self.saved.to_toml())?;
        let labels = Labels {
            ids: self.table.ids.clone(),
            labels: self.table.labels.clone(),
            times: self.timeline.as_ref().map(|t| t.times.at.clone()),
            time_units: self.timeline.as_ref().and_then(|t| t.calendar.units()),
            times_as_given: self.table.time.clone(),
            sequences: self.table.sequence.clone(),
        };
        let sampling = Sampling {
            dir: &self.dir,
            model: &self.model,
            settings: &self.settings,
            keep: &self.keep,
            labels: &labels,
            every: self.every,
        };
        sampling.run(from, follow)
    }

    /// Limits the processor to the instruction sets that were asked for.
    pub fn use_instructions(&self) {
        use_instructions(&self.config);
    }

    /// For each column of the table, its place in the model.
    pub fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.model.columns()];
        self.model.order().iter().enumerate().for_each(|(place, &column)| places[column] = place);
        places
    }

    /// Of the pictures.
    pub fn title(&self) -> String {
        let stem = || self.table.path.file_stem().map_or("latent space".into(), |s| s.to_string_lossy().into_owned());
        self.config.title.clone().unwrap_or_else(stem)
    }

    /// Where the randomness of anything but sampling comes from.
    pub fn stream(&self) -> Stream {
        Stream::new(self.settings.seed)
    }
}

/// Limits the processor to the instruction sets that the settings name.
pub fn use_instructions(config: &Config) {
    kernels::force(match config.run.instructions {
        Some(InstructionsArg::Avx2) => Level::Avx2,
        Some(InstructionsArg::Baseline) => Level::Baseline,
        _ => Level::Avx512,
    });
}

fn seconds(value: f64) -> Result<Duration, SpecError> {
    Duration::try_from_secs_f64(value).map_err(|_| SpecError::Setting {
        setting: "checkpoint",
        value: value.to_string(),
        rule: "it must be a number of seconds".into(),
    })
}

fn missing(setting: &'static str, rule: &str) -> SpecError {
    SpecError::Setting { setting, value: "not given".into(), rule: rule.into() }
}

/// Reads the table that the settings name.
pub fn read(config: &Config) -> Result<Table, Failure> {
    let path = config.table.as_deref().ok_or_else(|| missing("table", "there is nothing to look at; name its file"))?;
    let options = ReadOptions {
        id: config.id.clone(),
        labels: config.labels.clone(),
        offset: config.offset_column().map(String::from),
        time: config.time.clone(),
        sequence: config.sequence.clone(),
        columns: config.columns.clone(),
        array: config.array.clone(),
        like: None,
    };
    Ok(table::read(path, &options)?)
}

/// Takes the values out of the table, so that they are not held twice.
pub fn model(config: &Config, table: &mut Table, timeline: Option<&Timeline>) -> Result<Model, Failure> {
    let blocks = blocks::blocks(config, table)?;
    let y = Mat::from_vec(table.rows, table.columns.len(), std::mem::take(&mut table.values));
    let offset = match (config.offset.as_deref(), table.offset.take()) {
        (Some("size-factors"), _) => Offset::SizeFactors,
        (_, Some(values)) => Offset::Given(values),
        _ => Offset::None,
    };
    let spec = ModelSpec { time: blocks::time_spec(config)?, ..blocks::spec(&config.model, table.columns.len())? };
    let data = Observations::named(y, table.columns.clone()).and_then(|data| data.with_offset(offset));
    let data = data.and_then(|data| match timeline {
        Some(timeline) => data.with_times(timeline.times.clone()),
        None => Ok(data),
    });
    let model = data.map_err(SpecError::from).and_then(|data| Model::with_blocks(data, blocks, spec));
    model.map_err(|error| Failure::Data { file: table.path.display().to_string(), error })
}

/// How to run.
pub fn settings(config: &Config) -> Settings {
    let (run, default) = (&config.run, Settings::default());
    Settings {
        warmup: run.warmup.unwrap_or(default.warmup),
        draws: run.draws.unwrap_or(default.draws),
        thin: run.thin.unwrap_or(default.thin),
        chains: run.chains.unwrap_or(default.chains),
        seed: run.seed.unwrap_or(default.seed),
        threads: run.threads.unwrap_or(default.threads),
        start: match run.start {
            Some(StartArg::Random) => Start::Random,
            Some(StartArg::Map) => Start::Map,
            _ => Start::Pca,
        },
        moves: default.moves,
    }
}
