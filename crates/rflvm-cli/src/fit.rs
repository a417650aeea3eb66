//! `rflvm fit`: a table in, latent positions with their uncertainty out.

use crate::args::{FitArgs, InstructionsArg, StartArg};
use crate::blocks;
use crate::config::Config;
use crate::failure::Failure;
use crate::folder::{Claim, config_path, map_path, store_path};
use crate::listing::Listing;
use crate::memory;
use crate::output;
use crate::progress::Follower;
use crate::results;
use crate::sample::{Follow, Sampling};
use crate::table::{self, Category, Table};
use crate::times::Timeline;
use crate::voice::Voice;
use rflvm::draws::Kept;
use rflvm::draws::zarr::RowLabels;
use rflvm::error::SpecError;
use rflvm::identity::Identity;
use rflvm::init::Init;
use rflvm::linalg::Mat;
use rflvm::model::{Model, ModelSpec};
use rflvm::observations::{Observations, Offset};
use rflvm::rng::Stream;
use rflvm::run::Settings;
use rflvm::run::checkpoint::Checkpoint;
use rflvm::simd::{self, Level};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs the command.
pub fn run(args: &FitArgs) -> Result<(), Failure> {
    let voice = Voice::from(&args.voice);
    let file = Config::given(args.file.as_deref())?;
    let fit = Fit::new(args.config.clone().or(file).filled(), &args.out)?;
    let claim = fit.claim(args.overwrite)?;
    fit.tell(voice);
    fit.sample(&claim, None, false, voice)
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
        let mut saved = config.clone();
        let mut config = config.beside(dir);
        if config.likelihood.is_none() && config.blocks.is_none() {
            let rule = "a fit needs the family of its columns; give --likelihood, auto if you do not know it, or --blocks for several (rflvm doctor tells what suits a table)";
            return Err(missing("likelihood", rule).into());
        }
        let settings = settings(&config);
        settings.check()?;
        let keep = config.run.keep.iter().flatten().map(|name| Kept::named(name)).collect::<Result<_, _>>()?;
        let every = seconds(config.run.checkpoint.unwrap_or(30.0))?;
        blocks::time_spec(&config)?;
        let mut table = read(&config)?;
        families(&mut config, &mut table);
        (saved.likelihood, saved.listing) = (config.likelihood.clone(), config.listing.clone());
        saved.blocks = saved.listing.as_ref().map_or(saved.blocks, |_| Some(Listing::FILE.into()));
        let timeline = Timeline::of(&config, &table)?;
        let model = model(&config, &mut table, timeline.as_ref())?;
        // Columns that are called as if they were levels may yet have families of their own.
        table.categories.retain(|category| {
            let columns: Vec<usize> = category.columns().collect();
            model.blocks().iter().any(|b| b.family.is_whole() && model.order()[b.columns.clone()] == columns)
        });
        Ok(Fit { dir: dir.to_path_buf(), saved, config, table, timeline, model, settings, keep, every })
    }

    /// The fit that a folder holds, as its settings say; `change` may change some of them.
    pub fn open(dir: &Path, change: impl FnOnce(&mut Config)) -> Result<Self, Failure> {
        let file = config_path(dir);
        if !file.exists() {
            return Err(Failure::NoFit { dir: dir.display().to_string() });
        }
        if map_path(dir).exists() && !store_path(dir).exists() {
            return Err(Failure::OnlyMap { dir: dir.display().to_string() });
        }
        let mut config = Config::read(&file)?;
        change(&mut config);
        // The store holds the table as it was when the fit began, whatever has become of its file since.
        let store = store_path(dir);
        let held = store.join(".zmetadata").exists().then_some(store);
        Fit::of(config, dir, |config| match (held, &config.table) {
            (Some(store), Some(path)) => {
                let mut table = read(&Config { table: Some(store), ..config.clone() })?;
                table.path.clone_from(path);
                // It has columns of levels, where the user's table had one of text.
                if let Some(blocks) = &config.blocks {
                    table.categories = Category::find(&table);
                    Listing::read(blocks)?.mark_texts(&mut table);
                }
                Ok(table)
            }
            _ => read(config),
        })
    }

    /// The right to write into the folder, made ready for this fit: an older fit in it is refused, or removed if that was asked for. Nothing
    /// is touched before it is sure that the fit can start.
    pub fn claim(&self, overwrite: bool) -> Result<Claim, Failure> {
        memory::check(&self.model, &self.settings)?;
        let claim = Claim::take(&self.dir)?;
        claim.clear(overwrite)?;
        Ok(claim)
    }

    /// All that the draws follow from.
    pub fn identity(&self) -> Identity {
        self.settings.identity(&self.model)
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
    pub fn sample(&self, claim: &Claim, from: Option<Checkpoint>, debug: bool, voice: Voice) -> Result<(), Failure> {
        let follower = Follower::new(voice, self.settings.chains, self.settings.sweeps(), debug);
        self.run(claim, from, &follower)?;
        results::write(&self.dir, self, voice)
    }

    /// Samples into the folder.
    pub fn run(&self, claim: &Claim, from: Option<Checkpoint>, follow: &dyn Follow) -> Result<(), Failure> {
        self.use_instructions();
        let identity = self.identity();
        self.write_settings("fit", Some(&identity))?;
        let labels = RowLabels {
            ids: self.table.ids.clone(),
            labels: self.table.labels.clone(),
            times: self.timeline.as_ref().map(|t| t.times.at.clone()),
            time_units: self.timeline.as_ref().and_then(|t| t.calendar.units()),
            times_as_given: self.table.time.clone(),
            sequences: self.table.sequence.clone(),
        };
        let sampling = Sampling {
            dir: &self.dir,
            identity: &identity,
            model: &self.model,
            settings: &self.settings,
            keep: &self.keep,
            labels: &labels,
            every: self.every,
        };
        sampling.run(claim, from, follow)
    }

    /// Writes config.toml, and blocks.csv where families were chosen by column.
    pub fn write_settings(&self, command: &str, identity: Option<&Identity>) -> Result<(), Failure> {
        if let Some(listing) = &self.saved.listing {
            output::write(&self.dir.join(Listing::FILE), &listing.to_csv())?;
        }
        let saved = Config { identity: identity.map(Identity::digest), ..self.saved.clone() };
        output::write(&config_path(&self.dir), &saved.to_toml_of(command))
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
    simd::force(match config.run.instructions {
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
    Ok(table::read(table_path(config)?, &config.read_options()?)?)
}

/// Where the table lies that the settings name.
pub fn table_path(config: &Config) -> Result<&Path, SpecError> {
    config.table.as_deref().ok_or_else(|| missing("table", "there is nothing to look at; name its file"))
}

/// Finds the columns of a store that are categories, and chooses the families where that is asked for.
pub fn families(config: &mut Config, table: &mut Table) {
    let is_store = table.path.is_dir();
    if is_store && (config.is_auto() || config.blocks.is_some()) {
        table.categories = Category::find(table);
    }
    if config.is_auto() {
        Listing::suited(table).settle(config);
    }
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
        init: match run.start {
            Some(StartArg::Random) => Init::Random,
            Some(StartArg::Map) => Init::Map,
            _ => Init::Pca,
        },
        moves: default.moves,
    }
}
