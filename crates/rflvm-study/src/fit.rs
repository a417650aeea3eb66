//! A fit: a table, a model, how to run it, and the folder where the draws are stored.

use crate::apart::{OutputError, keep_apart};
use crate::blocks::{self, Given};
use crate::choices::{ColumnProcessKind, Precision};
use crate::column_families::ColumnFamilies;
use crate::config::Config;
use crate::covariates::Covariates;
use crate::device::Card;
use crate::error::Error;
use crate::folder::{FolderLock, RESULTS, config_path, is_replacing, limits_path, map_path, store_path, trials_path};
use crate::memory;
use crate::model;
use crate::outputs;
use crate::reading::read;
use crate::run;
use crate::sample::{Follow, Sampling};
use crate::table::Table;
use crate::times::Timeline;
use crate::write;
use rflvm::internal::draws::Kept;
use rflvm::internal::draws::zarr::RowLabels;
use rflvm::internal::error::SpecError;
use rflvm::internal::identity::Identity;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::Model;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::Settings;
use rflvm::internal::run::checkpoint::Checkpoint;
use rflvm::internal::run::modes::Plan;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A fit with all its settings checked; nothing is written yet.
pub struct Fit {
    /// The folder.
    pub dir: PathBuf,
    /// The settings, as they are written into the folder.
    pub saved: Config,
    /// The settings, with all files found.
    pub config: Config,
    /// Families by column and trials that were passed in memory or chosen automatically, rather than read from files.
    pub given: Given,
    /// The table, without its values, which the model holds.
    pub table: Table,
    /// When the rows were observed, if known.
    pub timeline: Option<Timeline>,
    /// What is known of the rows besides their cells.
    pub covariates: Covariates,
    /// The model.
    pub model: Model,
    /// The columns of this process, where several share them.
    pub part: Option<Model>,
    /// The identity, from before the table was shared.
    pub(crate) identity: Option<Identity>,
    /// How to run it.
    pub settings: Settings,
    /// What is stored of each draw.
    pub keep: Vec<Kept>,
    /// Time between checkpoints.
    pub every: Duration,
}

impl Fit {
    /// Reads the table and checks everything that can be checked before sampling.
    pub fn new(config: Config, dir: &Path) -> Result<Self, Error> {
        Fit::of(config, Given::default(), dir, read)
    }

    /// A fit whose table, and perhaps families and trials, do not come from files.
    pub fn of(
        config: Config,
        given: Given,
        dir: &Path,
        read: impl FnOnce(&Config) -> Result<Table, Error>,
    ) -> Result<Self, Error> {
        let saved = config.clone();
        let config = config.beside(dir);
        Fit::set_up(saved, config, given, dir, read, false)
    }

    /// The same; a table that `is_outline` has no cells.
    pub(crate) fn set_up(
        mut saved: Config,
        mut config: Config,
        mut given: Given,
        dir: &Path,
        read: impl FnOnce(&Config) -> Result<Table, Error>,
        is_outline: bool,
    ) -> Result<Self, Error> {
        if config.likelihood.is_none() && config.blocks.is_none() && given.column_families.is_none() {
            return Err(no_family().into());
        }
        saved.check_paths()?;
        let settings = run::settings(&config);
        settings.check()?;
        config.sampling.starts.map_or(Ok(()), run::check_starts)?;
        let keep = config.sampling.keep.iter().flat_map(|names| &names.0);
        let keep = keep.map(|name| Kept::named(name)).collect::<Result<_, _>>()?;
        let every = run::seconds(config.compute.checkpoint.unwrap_or(30.0))?;
        model::time_spec(&config)?;
        let mut table = read(&config)?;
        blocks::choose(&mut config, &mut given, &mut table);
        saved.likelihood = config.likelihood.clone();
        saved.blocks = given.column_families.as_ref().map_or(saved.blocks, |_| Some(ColumnFamilies::FILE.into()));
        let trials_file = || trials_path(Path::new("")).to_string_lossy().into_owned();
        saved.trials = given.trials.as_ref().map_or(saved.trials, |_| Some(trials_file()));
        let timeline = Timeline::of(&config, &table)?;
        let covariates = Covariates::of(&config, &table)?;
        let model = match is_outline {
            true => model::outlined(&config, &given, &table)?,
            false => model::model(&config, &given, &mut table, timeline.as_ref())?,
        };
        if timeline.is_some() {
            // The folder says what was chosen, so that it need not be chosen again.
            saved.paths.column_process = Some(ColumnProcessKind::of(model.spec().column_process));
            config.paths.column_process = saved.paths.column_process;
        }
        Plan::check(&model, &settings)?;
        // Columns named after levels may have other families.
        table.categories.retain(|category| {
            let columns: Vec<usize> = category.columns().collect();
            model.blocks().iter().any(|b| b.family.is_whole() && model.order()[b.columns.clone()] == columns)
        });
        Ok(Fit {
            dir: dir.to_path_buf(),
            saved,
            config,
            given,
            table,
            timeline,
            covariates,
            model,
            part: None,
            identity: None,
            settings,
            keep,
            every,
        })
    }

    /// The fit in a folder, with its settings; `change` may change some of them.
    pub fn open(dir: &Path, change: impl FnOnce(&mut Config)) -> Result<Self, Error> {
        let config = Fit::config_of(dir, change)?;
        Fit::of(config, Given::default(), dir, |config| read_kept(config, dir))
    }

    /// The settings of the fit in a folder; `change` may change some of them.
    pub(crate) fn config_of(dir: &Path, change: impl FnOnce(&mut Config)) -> Result<Config, Error> {
        let file = config_path(dir);
        if is_replacing(dir) {
            return Err(Error::Replacing { dir: dir.display().to_string() });
        }
        if !file.exists() {
            return Err(Error::NoFit { dir: dir.display().to_string() });
        }
        if map_path(dir).exists() && !store_path(dir).exists() {
            return Err(Error::OnlyMap { dir: dir.display().to_string() });
        }
        let mut config = Config::read(&file)?;
        // Folders of versions without such paths do not mention them.
        if config.time.is_some() {
            config.paths.column_process.get_or_insert(ColumnProcessKind::None);
        }
        change(&mut config);
        Ok(config)
    }

    /// The fit in its folder with the whole table, where processes had parts of it, if this one has the memory for it.
    pub fn with_table(&self) -> Result<Option<Fit>, Error> {
        match memory::check_bytes(self.bytes_of_results(), String::new, "") {
            Ok(()) => Fit::open(&self.dir, |_| ()).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The memory that results take which need the whole table: the cells, and what is predicted of them.
    pub fn bytes_of_results(&self) -> u128 {
        4 * 8 * self.model.rows() as u128 * self.model.columns() as u128
    }

    /// Takes the right to write into the folder and prepares it for this fit: an older fit is an error, or is removed with
    /// `overwrite`. Nothing is touched until it is certain that the fit can start.
    pub fn lock(&self, overwrite: bool) -> Result<FolderLock, Error> {
        self.lock_for(&self.settings, self.card()?, overwrite)
    }

    /// The files that the fit reads, and no result may replace. A table in the store of the folder is the fit's own copy.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let mut inputs = outputs::inputs(&self.config);
        inputs.retain(|path| *path != store_path(&self.dir));
        inputs
    }

    /// Refuses a folder in which a result would replace what the fit reads.
    pub fn check_outputs(&self) -> Result<(), OutputError> {
        outputs::outside_of_fits(&self.dir)?;
        let reads = self.inputs();
        let is_written = |name: &str| match name {
            ColumnFamilies::FILE => self.given.column_families.is_some(),
            _ => trials_path(Path::new("")) != Path::new(name) || self.given.trials.is_some(),
        };
        let names = RESULTS.into_iter().filter(|name| is_written(name));
        keep_apart(&reads, names.map(|name| self.dir.join(name)))
    }

    /// [`Fit::lock`] with other settings of the run, and with the table on this card or on none.
    pub(crate) fn lock_for(
        &self,
        settings: &Settings,
        card: Option<Card>,
        overwrite: bool,
    ) -> Result<FolderLock, Error> {
        let model = self.part.as_ref().unwrap_or(&self.model);
        match card {
            None => memory::check(model, settings)?,
            Some(_) => memory::check_with_card(model, settings)?,
        }
        self.check_outputs()?;
        let lock = FolderLock::take(&self.dir)?;
        lock.clear(overwrite, &self.inputs())?;
        Ok(lock)
    }

    /// The card that holds the table, if one does.
    pub fn card(&self) -> Result<Option<Card>, Error> {
        self.card_for(&self.settings)
    }

    /// [`Fit::card`], or none if a process that shares the columns has none. All of them call it, and none opens its card before all have looked.
    fn agreed_card(&self) -> Result<Option<Card>, Error> {
        let card = self.card()?;
        let all = self.all_say(card.is_some());
        Ok(card.filter(|_| all))
    }

    /// [`Fit::card`] with other settings of the run.
    pub(crate) fn card_for(&self, settings: &Settings) -> Result<Option<Card>, Error> {
        let compute = &self.config.compute;
        let precision = compute.precision.unwrap_or(Precision::Double);
        let model = self.part.as_ref().unwrap_or(&self.model);
        Ok(compute.device.unwrap_or_default().card(precision, model, settings)?)
    }

    /// Everything that determines the draws.
    pub fn identity(&self) -> Identity {
        self.identity.clone().unwrap_or_else(|| self.settings.identity(&self.model))
    }

    /// Refuses to continue if the table's file has changed since the fit began. The fit would continue with the table in its
    /// store, which whoever changed the file would not expect. Where processes share the columns, all call it.
    pub fn check_table(&self) -> Result<(), Error> {
        let store = store_path(&self.dir);
        let has_file = self.config.table.as_ref().is_some_and(|path| path.exists() && *path != store)
            && self.config.row_data.as_ref().is_none_or(|path| path.exists());
        let Some(path) = self.config.table.as_ref().filter(|_| self.all_say(has_file)) else { return Ok(()) };
        let now = match &self.part {
            Some(part) if !self.model.has_table() => {
                Fit::shared(self.saved.clone(), &self.dir, part.chunks().shared_ranks())?.identity()
            }
            // All have read the same table.
            Some(part) if !part.chunks().is_first() => return Ok(()),
            _ => Fit::new(self.saved.clone(), &self.dir)?.identity(),
        };
        if now.data == self.identity().data {
            return Ok(());
        }
        let problem = "the table has changed since the fit began; restore it, remove it (the fit has a copy of the original), \
                       or start a new fit in another folder";
        Err(Error::Foreign { path: path.display().to_string(), problem: problem.into() })
    }

    /// Refuses a table that is not the `noted` one, with which the settings were saved.
    pub fn check_noted(&self, noted: Option<String>) -> Result<(), Error> {
        if noted.is_none_or(|noted| noted == self.identity().data) {
            return Ok(());
        }
        let problem = "the table, or how it is read, has changed since the settings were saved, so they would not reproduce that fit; \
                       restore the table, or remove the line `table-identity` from the file of settings to fit the table as it is";
        Err(Error::Foreign { path: self.table.path.display().to_string(), problem: problem.into() })
    }

    /// Whether this is so for all processes that share the columns.
    fn all_say(&self, own: bool) -> bool {
        self.part.as_ref().map_or(own, |part| !part.chunks().any(!own))
    }

    /// Lets the chains warm up for `sweeps` sweeps more from where they are, before they are drawn from again; `draws` times, if given.
    pub fn warm_again(&mut self, sweeps: u64, draws: Option<u64>, from: Option<&Checkpoint>) -> Result<(), Error> {
        let done = || from.into_iter().flat_map(|checkpoint| &checkpoint.chains).map(|(chain, _)| chain.done());
        if done().min().is_none_or(|least| least < self.settings.warmup) {
            let rule = "the fit is still warming up, so there is nothing to extend; continue it with ⟨resume⟩ first";
            return Err(SpecError::Setting { setting: "warmup", value: sweeps.to_string(), rule: rule.into() }.into());
        }
        let begun = done().max().unwrap_or(0);
        let settings = Settings {
            warmup_from: begun,
            warmup: begun.saturating_add(sweeps),
            draws: draws.unwrap_or(self.settings.draws),
            ..self.settings.clone()
        };
        settings.check()?;
        for config in [&mut self.config, &mut self.saved] {
            (config.sampling.warmup, config.warmup_from) = (Some(settings.warmup), Some(begun));
            config.sampling.draws = Some(settings.draws);
        }
        if let Some(identity) = &mut self.identity {
            (identity.warmup, identity.warmup_from, identity.draws) = (settings.warmup, begun, settings.draws);
        }
        self.settings = settings;
        Ok(())
    }

    /// Samples into the folder.
    pub fn run(&self, _lock: &FolderLock, from: Option<Checkpoint>, follow: &dyn Follow) -> Result<(), Error> {
        self.write_settings(Some(&self.identity()))?;
        self.sample(from, follow)
    }

    /// Samples with other processes, the first of which writes into the folder.
    pub fn assist(&self, from: Option<Checkpoint>, follow: &dyn Follow) -> Result<(), Error> {
        self.sample(from, follow)
    }

    fn sample(&self, from: Option<Checkpoint>, follow: &dyn Follow) -> Result<(), Error> {
        self.use_instructions();
        self.with_sampling(|sampling| sampling.run(from, follow))
    }

    /// Does something with all that sampling needs.
    pub(crate) fn with_sampling<T>(&self, act: impl FnOnce(&Sampling<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let (identity, card) = (self.identity(), self.agreed_card()?);
        let labels = RowLabels {
            ids: self.table.ids.clone(),
            labels: self.table.labels.clone(),
            times: self.timeline.as_ref().map(|t| t.times.at.clone()),
            time_units: self.timeline.as_ref().and_then(|t| t.calendar.units()),
            times_as_given: self.table.time.clone(),
            sequences: self.table.sequence.clone(),
            covariates_as_given: self.table.covariates.clone(),
        };
        act(&Sampling {
            dir: &self.dir,
            identity: &identity,
            model: &self.model,
            part: self.part.as_ref().unwrap_or(&self.model),
            settings: &self.settings,
            keep: &self.keep,
            labels: &labels,
            every: self.every,
            card,
        })
    }

    /// Writes config.toml, and the files it names if families or trials did not come from files.
    pub fn write_settings(&self, identity: Option<&Identity>) -> Result<(), Error> {
        if let Some(column_families) = &self.given.column_families {
            write::text(&self.dir.join(ColumnFamilies::FILE), &column_families.to_csv())?;
        }
        if let Some(trials) = &self.given.trials {
            write::npy(&trials_path(&self.dir), &[trials.rows(), trials.cols()], trials.as_slice())?;
        }
        if !self.table.limits.is_empty() {
            let places = self.places();
            let text = self.table.limits_csv(|n, j| self.model.y()[(n, places[j])]);
            write::text(&limits_path(&self.dir), &text)?;
        }
        let (table_identity, identity) = (identity.map(|own| own.data.clone()), identity.map(Identity::digest));
        let saved = Config { identity, table_identity, ..self.saved.clone() };
        write::text(&config_path(&self.dir), &saved.to_toml())
    }

    /// Limits the processor to the requested instruction sets.
    pub fn use_instructions(&self) {
        run::use_instructions(&self.config);
    }

    /// For each column of the table, its position in the model.
    pub fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.model.columns()];
        self.model.order().iter().enumerate().for_each(|(place, &column)| places[column] = place);
        places
    }

    /// The offset of new rows if the rows have offsets: their mean.
    pub fn mean_offset(&self) -> Option<f64> {
        let is_given = self.config.offset.as_deref().is_some_and(|offset| offset != "none");
        let offsets = self.model.offset();
        is_given.then(|| offsets.iter().sum::<f64>() / offsets.len() as f64)
    }

    /// Covariates of a row that is not in the table, from texts such as `batch=A`, in the form that predictions take.
    pub fn covariates_set(&self, texts: &[String]) -> Result<Vec<f64>, SpecError> {
        let mut values = Mat::zeros(1, self.covariates.names().len());
        self.covariates.set(texts, &mut values)?;
        Ok(self.model.in_prior_units(values).into_vec())
    }

    /// Covariates of rows of the table, some of them set by texts such as `batch=A`.
    pub fn covariates_of_rows(&self, rows: &[usize], texts: &[String]) -> Result<Mat, Error> {
        let own = self.covariates.matrix(&self.table)?;
        let mut some = Mat::from_fn(rows.len(), own.cols(), |i, c| own[(rows[i], c)]);
        self.covariates.set(texts, &mut some)?;
        Ok(self.model.in_prior_units(some))
    }

    /// Covariates of points, one per row of a table that has those of the given names; the others are set by texts such as `batch=A`, or those of
    /// an average row.
    pub fn covariates_of_points(&self, table: &Table, names: &[&str], texts: &[String]) -> Result<Mat, Error> {
        let wrong = |value: &str, rule| SpecError::Setting { setting: "covariates", value: value.into(), rule };
        for name in names {
            self.covariates.position(name).map_err(|rule| wrong(name, rule))?;
        }
        let is_twice = |text: &&String| text.split_once('=').is_some_and(|(name, _)| names.contains(&name.trim()));
        if let Some(text) = texts.iter().find(is_twice) {
            let file = table.path.display();
            return Err(wrong(text, format!("{file} has a column of that name; remove it, or leave this out")).into());
        }
        let mut values = self.covariates.matrix_of_some(table, names)?;
        self.covariates.set(texts, &mut values)?;
        Ok(self.model.in_prior_units(values))
    }

    /// The title of pictures.
    pub fn title(&self) -> String {
        let stem = || self.table.path.file_stem().map_or("latent space".into(), |s| s.to_string_lossy().into_owned());
        self.config.title.clone().unwrap_or_else(stem)
    }

    /// The random stream for everything except sampling.
    pub fn stream(&self) -> Stream {
        Stream::new(self.settings.seed)
    }
}

/// The table of a fit: its store holds the table as it was when the fit began, even if its file has changed since.
fn read_kept(config: &Config, dir: &Path) -> Result<Table, Error> {
    let (Some(store), Some(path)) = (kept(dir), &config.table) else { return read(config) };
    let mut table = read(&config.of_store(store))?;
    table.path.clone_from(path);
    // It has one column per level, where the user's table had one column of text.
    if let Some(blocks) = &config.blocks {
        table.categories = ColumnFamilies::read(blocks)?.categories_of(&table);
    }
    // The store holds the limits themselves, not what they are.
    let limits = limits_path(dir);
    if let Ok(file) = std::fs::File::open(&limits) {
        let damaged = || Error::Config {
            file: limits.display().to_string(),
            problem: "it does not list cells of the table of the fit; restore the file, or fit again".into(),
        };
        table = table.with_limits(file).ok_or_else(damaged)?;
    }
    Ok(table)
}

/// The store of a fit, if it holds the table.
pub(crate) fn kept(dir: &Path) -> Option<PathBuf> {
    let store = store_path(dir);
    store.join(".zmetadata").exists().then_some(store)
}

fn no_family() -> SpecError {
    let rule = "a fit needs the family of its columns; give ⟨likelihood⟩ (auto if you do not know it), or ⟨blocks⟩ for several \
                (⟨doctor⟩ shows which suit a table)";
    SpecError::Setting { setting: "likelihood", value: "not given".into(), rule: rule.into() }
}
