//! The settings of a fit: from flags, from a file, from Python, or by default. The merged settings are written next to the
//! results, and reproduce them.

mod earlier;
mod section;

use crate::choices::{
    ColumnProcessKind, InitAt, Instructions, KernelKind, LinearPart, Method, Precision, TimeForm, TimeKernelKind,
};
use crate::device::DeviceChoice;
use crate::error::Error;
use crate::latent_dim::LatentDim;
use crate::settings::{Group, Names, Setting, settings};
use crate::table::{Decimal, Separator};
use rflvm::internal::atomic::plain_reason;
use rflvm::internal::error::SpecError;
use rflvm::internal::model::latent::MOST_INDUCING;
use rflvm::internal::model::{Amplitude, HalfT, MOST_AXES, MOST_FEATURES, Priors};
use rflvm::internal::run::{MOST_CHAINS, MOST_MODES, MOST_SWEEPS, MOST_THREADS};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

pub use earlier::RunConfig;
pub use section::Section;

/// The most initialisations of a point estimate.
pub const MOST_STARTS: usize = 1000;

settings! {
    /// All settings of a fit: its table first.
    Config {
        /// The table, one row per sample: .csv, .tsv or .mtx (also .gz), .npy, .npz, .parquet, .arrow, .feather, or a folder of Zarr or
        /// AnnData. Empty, NA and null cells are missing.
        table: PathBuf => .short("Table, one row per sample: .csv, .tsv, .mtx, .npy, .parquet, a folder of AnnData, …");
        /// Family of the columns: {families}; or auto, which chooses one for each column: bernoulli for yes/no, a count family for counts,
        /// ordinal for answers on a scale, log-normal for amounts with cells such as <0.5, gaussian for other numbers, multinomial for text, one column
        /// per level. The choice is kept as blocks.csv. Required, unless there are blocks.
        likelihood: String => .placeholder("FAMILY|auto").short("Family of the columns, such as poisson; auto chooses one for each")
            .parameter("likelihood").python_type("Union[str, Mapping]").python_default("\"gaussian\"")
            .python_help("str or mapping", "family of the columns, a family per column, or \"auto\"");
        /// Families per column: a .csv with the columns `column`, `likelihood`, and `trials` where a binomial needs them or the levels of an ordinal are known. A column of
        /// text is a category if its family is multinomial. `rflvm doctor --blocks-out` writes such a file.
        blocks: PathBuf => .placeholder("FILE").conflicts(&["likelihood", "trials"]);
        /// Trials of a binomial: a number, or a table of the same shape as the data. For ordinal, the number of levels; by default the largest of
        /// each column.
        trials: String => .placeholder("N|TABLE").parameter("trials").python_type("Optional[int]").python_help("int or None", "trials per cell of a binomial (`fit` also takes a table of them); levels of an ordinal").python_default("None");
        /// Known offset of each row on the link scale: none, size-factors (ln of the row's total over the mean total, for counts
        /// whose totals carry no information), or the name of a column.
        offset: String => .placeholder("OFFSET").default("none").short("size-factors, for counts whose row totals carry no information")
            .parameter("offset").python_type("Optional[str]").python_help("None or \"size-factors\"", "\"size-factors\" where row totals of counts carry no information").python_default("None");
        /// Column with labels: they colour the picture and are scored, but never enter the fit.
        labels: String => .placeholder("COL").short("Column with labels, which only colour the picture");
        /// Column with the names of the rows.
        id: String => .placeholder("COL").short("Column with the names of the rows");
        /// Column with the time of each row, as numbers or dates such as 2001-05-30 or 2001-05-30 12:00:00: positions then follow a
        /// smooth path over time. Rows may come in any order. A year and a quarter, a year and a month (and a day), or a date and a time of day may be
        /// in separate columns: year,quarter.
        time: String => .placeholder("COL").short("Column with the times of the rows: positions follow a smooth path");
        /// Column with the sequence (trial, recording) that each row belongs to: each sequence has its own path.
        sequence: String => .placeholder("COL");
        /// Columns with covariates of the rows, comma-separated (a name with a comma in double quotes), such as batch, plate, sex or age: their effects on every column are estimated,
        /// so that positions are free of them. Numbers are standardised; text is a category, and so are numbers named NAME:category.
        covariates: Names => .placeholder("COL,…").short("Columns whose effects are estimated, such as batch");
        /// Table with the columns that the flags above name (offset, labels, id, time, sequence, covariates), one line per row of the data and in
        /// the same order: for data without such columns, such as .npy, .npz and .mtx.
        row_data: PathBuf => .placeholder("FILE");
        /// Columns to fit, comma-separated (a name with a comma in double quotes).
        columns: Names => .placeholder("COL,…").otherwise("all columns not named by another flag");
        /// Columns to leave out, comma-separated (a name with a comma in double quotes).
        without: Names => .placeholder("COL,…").short("Columns to leave out");
        /// What separates the cells of a text table: a character such as ';', or tab, comma, semicolon, pipe, space.
        separator: Separator => .placeholder("CHAR").otherwise("by the extension");
        /// Decimal mark of a text table: '.' or ','.
        decimal: Decimal => .placeholder("CHAR").otherwise(".");
        /// Words for missing cells of a text table, comma-separated, besides an empty cell, NA, N/A, NaN and null. With an empty word (--na '') only
        /// an empty cell and these words are missing, so that NA can be a name.
        na: Names => .placeholder("WORD,…").hyphens();
        /// Array of an .npz file that holds several.
        array: String => .placeholder("NAME");
        /// Title of the pictures.
        title: String => .placeholder("TEXT").otherwise("the name of the table");
    }
    and {
        /// The run that saved these settings; every new fit has its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub identity: Option<String>,
        /// The table of that run.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub table_identity: Option<String>,
        /// The sweep from which the warm-up of that run was extended.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub warmup_from: Option<u64>,
        /// The model.
        pub model: ModelConfig,
        /// The paths over time.
        pub paths: PathsConfig,
        /// What is sampled.
        pub sampling: SamplingConfig,
        /// Where it is computed.
        pub compute: ComputeConfig,
        /// Priors, all of them: those that a file leaves out have their defaults.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub priors: Option<Priors>,
        /// The sections of version 0.2, which are read but not written: see [`Config::given`].
        #[doc(hidden)]
        #[serde(skip_serializing)]
        pub path: Option<PathsConfig>,
        #[doc(hidden)]
        #[serde(skip_serializing)]
        pub run: Option<RunConfig>,
    }
}

settings! {
    /// The model.
    ModelConfig {
        /// Latent dimension D: a number; or auto, which begins with 6 axes (auto:8 with 8) and prunes axes that the data do not
        /// support.
        latent_dim: LatentDim => .placeholder("D|auto").default("2").range(1.0, MOST_AXES as f64).short("Latent dimension; auto prunes axes that the data do not support")
            .parameter("latent_dim").earlier(&["n_components"]).python_type("Union[int, str]")
            .python_help("int, \"auto\" or \"auto:K\"", "latent axes; \"auto\" prunes axes that the data do not support");
        /// Random features M, an even number: sine and cosine of M/2 frequencies.
        features: usize => .placeholder("M").default("100").range(2.0, MOST_FEATURES as f64).python("features").earlier(&["n_random_features", "n_features"]);
        /// Kernel: learned with the frequencies, or a fixed RBF kernel with the given length-scale.
        kernel: KernelKind => .default("learned").python("kernel").earlier(&["kernel"]);
        /// Length-scale of the fixed RBF kernel.
        length_scale: f64 => .default("1").python("length_scale").earlier(&["length_scale"]);
        /// Linear part of the map, besides the kernel.
        linear: LinearPart => .default("none").python("linear").earlier(&["linear"]);
        /// Signal strength, the prior variance of the weights: a number for all columns, `learned` (one per column), `shared` (one per
        /// block), or `default` for that of each family: shared for gaussian, isotropic and student-t, 1 for the others.
        amplitude: String => .placeholder("NUMBER|learned|shared|default").default("default").otherwise("by family").python("amplitude").earlier(&["amplitude"]).python_type("Union[float, str]")
            .python_help("float, \"learned\", \"shared\" or \"default\", default=\"default\"", "Signal strength, the prior variance of the weights: a number for all columns, \"learned\" (one per column), \"shared\" (one per block), or \"default\" for that of each family: shared for gaussian, isotropic and student-t, 1 for the others.").python_default("\"default\"");
    }
}

settings! {
    /// How positions change over time.
    PathsConfig {
        /// Kernel over time: how similar the positions at two times are.
        time_kernel: TimeKernelKind => .default("matern52").python("time_kernel").earlier(&["time_kernel"]);
        /// Whether to add a straight line in time to each path.
        time_trend: bool => .default("false").python("time_trend").earlier(&["time_trend"]);
        /// How the covariance of a path is represented.
        time_form: TimeForm => .default("automatic").python("time_form").earlier(&["time_form"]);
        /// Period of a seasonal kernel, in the units of the times; days for dates.
        period: f64 => .placeholder("P").otherwise("none").python("period").earlier(&["period"]).python_type("Optional[float]")
            .python_help("float or None, default=None", "Period of a seasonal kernel, in the units of the times; days for dates.").python_default("None");
        /// Column processes: what is smooth over time in a column but not explained by the positions. Their kernel; or none; or auto:
        /// matern12 or matern32, whichever suits the columns better, if all columns are gaussian, isotropic or student-t, and none otherwise.
        [serde(alias = "residual")]
        column_process: ColumnProcessKind => .default("auto").alias("residual").python("column_process").earlier(&["column_process", "residual"]);
        /// Inducing points per sequence, where they are used.
        inducing: usize => .placeholder("K").default("64").range(2.0, MOST_INDUCING as f64).python("inducing").earlier(&["inducing"]);
    }
}

settings! {
    /// What is sampled, and for how long.
    SamplingConfig {
        /// How positions are found: by sampling the posterior, or by maximising it.
        method: Method => .default("mcmc").short("Sample the posterior, or maximise it in seconds");
        /// Number of initialisations with --method mode; after two rounds, only the best one is optimised further.
        starts: usize => .placeholder("K").default("3").range(1.0, MOST_STARTS as f64);
        /// Warm-up sweeps per chain, before draws are kept.
        warmup: u64 => .default("300").range(0.0, MOST_SWEEPS as f64).short("Warm-up sweeps per chain").python("warmup").earlier(&["warmup"]);
        /// Draws kept per chain.
        draws: u64 => .default("200").range(1.0, MOST_SWEEPS as f64).short("Draws kept per chain").python("draws").earlier(&["draws"]);
        /// Sweeps per kept draw.
        thin: u64 => .default("1").range(1.0, MOST_SWEEPS as f64).python("thin").earlier(&["thin"]);
        /// Number of chains; of each mode if several are sampled. Convergence can be judged from two or more.
        chains: usize => .default("8").range(1.0, MOST_CHAINS as f64).short("Number of chains").python("chains").earlier(&["chains"]);
        /// The seed, from which all randomness follows.
        seed: u64 => .otherwise("drawn and printed").short("Seed, from which all randomness follows").parameter("random_state").python_type("Any")
            .python_help("int, RandomState, Generator or None", "seed, from which all randomness follows").python_default("None");
        /// Where chains begin.
        [serde(alias = "start")]
        init: InitAt => .default("spread").alias("start").python("init").earlier(&["init", "start"]);
        /// Sweeps of the search for modes, as a share of the warm-up of all chains of a mode. With fewer than 20 sweeps per start there is no
        /// search, and chains begin at principal components.
        init_effort: f64 => .placeholder("SHARE").default("0.2").range(0.0, 10.0).python("init_effort").earlier(&["init_effort"]);
        /// How many of the modes that the search finds are sampled, the chosen one first. Predictions combine them by stacking
        /// weights; positions are those of the first.
        modes: usize => .placeholder("K").default("1").range(1.0, MOST_MODES as f64).python("modes").earlier(&["modes"]);
        /// What is stored of each draw besides X and the small quantities: any of w, beta, theta, f, comma-separated. Predictions
        /// need the first three.
        keep: Names => .placeholder("NAME,…").default("w,beta,theta").python("keep").earlier(&["keep"])
            .python_help("sequence of str, default=(\"w\", \"beta\", \"theta\")", "What is stored of each draw besides the positions: any of \"w\", \"beta\", \"theta\", \"f\". Predictions need the first three.");
    }
}

settings! {
    /// Where and how it is computed.
    ComputeConfig {
        /// Threads to use, 0 for all cores. The draws do not depend on it.
        threads: usize => .default("0").range(0.0, MOST_THREADS as f64).parameter("n_jobs").python_type("Optional[int]")
            .python_help("int or None", "threads, None for all cores; the draws do not depend on it").python_default("None");
        /// Where the table of a chain is held, and what touches all of its cells is computed: cpu, cuda (chains share
        /// the cards of the machine; cuda:1 is the second card alone), or auto, a card if there is one that can.
        device: DeviceChoice => .placeholder("DEVICE").default("cpu").python("device").earlier(&["device"]).python_type("str").python_default("\"cpu\"");
        /// In which precision a card computes what touches each cell. Not used on the CPU, which computes in float64.
        precision: Precision => .default("double").python("precision").earlier(&["precision"]);
        /// The most advanced instruction set that may be used. Draws are identical to the last bit only between machines that use
        /// the same one, since fused instructions round sums differently.
        instructions: Instructions => .default("best").python("instructions").earlier(&["instructions"]);
        /// Seconds between checkpoints.
        checkpoint: f64 => .placeholder("SECONDS").default("30").python("checkpoint").earlier(&["checkpoint"]);
    }
}

impl Config {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = || path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| Error::Config {
            file: file(),
            problem: format!("the file cannot be read ({})", plain_reason(&error)),
        })?;
        Self::parse(&text).map_err(|problem| Error::Config { file: file(), problem })
    }

    /// The same settings; relative paths are looked up in `folder` first, then in the working directory.
    pub fn beside(self, folder: &Path) -> Self {
        let find =
            |name: PathBuf| Some(folder.join(&name)).filter(|p| name.is_relative() && p.exists()).unwrap_or(name);
        Config {
            table: self.table.map(find),
            blocks: self.blocks.map(find),
            row_data: self.row_data.map(find),
            trials: self.trials.map(|t| find(t.into()).to_string_lossy().into_owned()),
            ..self
        }
    }

    /// Reads settings from the file given in addition to a command's flags.
    pub fn given(path: Option<&Path>) -> Result<Self, Error> {
        let folder = |path: &Path| path.parent().unwrap_or(Path::new("")).to_path_buf();
        path.map_or(Ok(Config::default()), |path| Ok(Config::read(path)?.beside(&folder(path))))
    }

    /// Parses the text of a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        // TOML's messages include an excerpt of the file; only their words fit into one sentence.
        let read: Result<Config, _> = toml::from_str(text);
        read.map(Config::renewed).map_err(|error| {
            let before = |end: usize| text.bytes().take(end).filter(|&byte| byte == b'\n').count() + 1;
            let line = error.span().map(|span| before(span.start));
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            format!("{place}{}", error.message().replace('\n', " "))
        })
    }

    /// All settings, in the order of config.toml.
    pub fn table() -> Vec<Setting> {
        Section::all().into_iter().flat_map(|section| section.settings).collect()
    }

    /// Sets one setting by its name, from what a user typed.
    pub fn set(&mut self, name: &str, text: &OsStr) -> Result<(), String> {
        let found = Group::set(self, name, text).or_else(|| self.model.set(name, text));
        let found = found.or_else(|| self.paths.set(name, text)).or_else(|| self.sampling.set(name, text));
        let found = found.or_else(|| self.compute.set(name, text));
        found.unwrap_or_else(|| Err(format!("there is no setting {name}")))
    }

    /// These settings, completed by those of `other`.
    pub fn or(mut self, mut other: Config) -> Self {
        // A family for all columns and families by column are one setting.
        if self.likelihood.is_some() || self.blocks.is_some() {
            (other.likelihood, other.blocks, other.trials) = (None, None, None);
        }
        self.model = self.model.or(std::mem::take(&mut other.model));
        self.paths = self.paths.or(std::mem::take(&mut other.paths));
        self.sampling = self.sampling.or(std::mem::take(&mut other.sampling));
        self.compute = self.compute.or(std::mem::take(&mut other.compute));
        self.priors = self.priors.or(other.priors.take());
        Group::or(self, other)
    }

    /// The same settings with all defaults and a seed filled in; paths are made absolute, so that they are valid wherever the fit is resumed.
    pub fn filled(self) -> Self {
        let whole = |path: PathBuf| fs::canonicalize(&path).unwrap_or(path);
        let sampling = SamplingConfig {
            seed: self.sampling.seed.or_else(|| Some(fresh_seed())),
            // Chains have no number of initialisations.
            starts: SamplingConfig::defaults().starts.filter(|_| self.sampling.method == Some(Method::Map)),
            ..SamplingConfig::defaults()
        };
        let defaults = Config {
            model: ModelConfig::defaults(),
            sampling,
            compute: ComputeConfig::defaults(),
            // Rows without times have no paths.
            paths: if self.time.is_some() { PathsConfig::defaults() } else { PathsConfig::default() },
            priors: Some(Priors::default()),
            ..Config::defaults()
        };
        let mut filled = self.or(defaults);
        // An unknown name is rejected where it is used.
        filled.likelihood =
            filled.likelihood.map(|name| rflvm::internal::spec::canonical(&name).map_or(name, String::from));
        filled.table = filled.table.map(whole);
        filled.blocks = filled.blocks.map(whole);
        filled.row_data = filled.row_data.map(whole);
        // A number of trials is not a path; a table of them is.
        filled.trials =
            filled.trials.map(|t| fs::canonicalize(&t).map_or(t, |path| path.to_string_lossy().into_owned()));
        filled
    }

    /// Refuses files that config.toml could not name.
    pub fn check_paths(&self) -> Result<(), SpecError> {
        let rule =
            "the path is not valid UTF-8, so the fit could not note it; rename the file, or the folders that it is in"
                .to_string();
        let paths = [("table", &self.table), ("blocks", &self.blocks), ("row-data", &self.row_data)];
        let bad = |path: &&PathBuf| path.to_str().is_none();
        for (setting, path) in paths {
            if let Some(path) = path.as_ref().filter(bad) {
                return Err(SpecError::Setting { setting, value: path.display().to_string(), rule });
            }
        }
        match self.trials.as_ref().filter(|path| path.contains(char::REPLACEMENT_CHARACTER)) {
            Some(path) => Err(SpecError::Setting { setting: "trials", value: path.clone(), rule }),
            None => Ok(()),
        }
    }

    /// The priors, with the amplitude of the setting of that name.
    pub fn all_priors(&self) -> Result<Priors, SpecError> {
        let priors = self.priors.clone().unwrap_or_default();
        match (self.model.amplitude()?, priors.amplitude) {
            (None, _) => Ok(priors),
            (amplitude, None) => Ok(Priors { amplitude, ..priors }),
            (Some(one), Some(_)) => {
                let rule = "the priors have an amplitude too; leave one of them out".into();
                Err(SpecError::Setting { setting: "amplitude", value: one.to_string(), rule })
            }
        }
    }

    /// The settings that read the copy of the table in a store, which is not written like the file.
    pub(crate) fn of_store(&self, store: PathBuf) -> Config {
        let plain = Config { separator: None, decimal: None, na: None, array: None, row_data: None, ..self.clone() };
        // The store has the fitted columns alone, one for each level of a category.
        Config { table: Some(store), columns: None, without: None, ..plain }
    }

    /// The table that these settings were saved with, unless `flags` read it in another way.
    pub fn noted_table(&self, flags: &Config) -> Option<String> {
        // Settings of the other sections do not change the table.
        let about_table = Config { table_identity: None, title: None, ..flags.clone() };
        let others = Config {
            model: flags.model.clone(),
            paths: flags.paths.clone(),
            sampling: flags.sampling.clone(),
            compute: flags.compute.clone(),
            ..Config::default()
        };
        let others = Config { priors: flags.priors.clone(), ..others };
        self.table_identity.clone().filter(|_| about_table == others)
    }

    /// Whether the families are chosen automatically.
    pub fn is_auto(&self) -> bool {
        self.likelihood.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("auto"))
    }

    /// The column of offsets, if there is one.
    pub fn offset_column(&self) -> Option<&str> {
        self.offset.as_deref().filter(|o| *o != "none" && *o != "size-factors")
    }

    /// As a file that `rflvm fit` can repeat.
    pub fn to_toml(&self) -> String {
        let repeated = match self.warmup_from {
            None => "reproduces it exactly".into(),
            Some(sweep) => format!(
                "warms up for as long, but with other draws, since the warm-up was extended after {sweep} sweeps"
            ),
        };
        let head = format!("# The settings of this fit. `rflvm fit --config` with this file {repeated}.\n");
        // Options of numbers, texts and lists all have a form in TOML.
        format!("{head}{}", toml::to_string(self).unwrap_or_default())
    }
}

impl ModelConfig {
    /// The prior of the signal strength, unless each family has its own.
    pub fn amplitude(&self) -> Result<Option<Amplitude>, SpecError> {
        Ok(match self.amplitude.as_deref() {
            None | Some("default") => None,
            Some("learned") => Some(Amplitude::Learned(HalfT::default())),
            Some("shared") => Some(Amplitude::Shared(HalfT::default())),
            Some(number) => Some(Amplitude::Fixed(number.parse().map_err(|_| SpecError::Setting {
                setting: "amplitude",
                value: format!("'{number}'"),
                rule: "it must be a positive number, learned, shared or default".into(),
            })?)),
        })
    }
}

/// A random seed, short enough to type again.
pub fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |t| (t.as_nanos() as u64) % 1_000_000_007)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let file = Config::parse("likelihood = \"poisson\"\n[sampling]\ndraws = 7\nwarmup = 3\n").unwrap();
        let flags =
            Config { sampling: SamplingConfig { draws: Some(9), ..SamplingConfig::default() }, ..Config::default() };
        let merged = flags.or(file).filled();
        assert_eq!(
            (merged.sampling.draws, merged.sampling.warmup, merged.sampling.chains),
            (Some(9), Some(3), Some(8))
        );
        assert_eq!(merged.likelihood.as_deref(), Some("poisson"));
        assert_eq!(Config::parse(&merged.to_toml()).unwrap(), merged);
    }

    #[test]
    fn priors_come_from_the_file_and_are_written_in_full() {
        let file = "[model]\nkernel = \"rbf\"\n[priors]\nintercept = 2\nnoise = { shape = 3, rate = 0.5 }\n";
        let filled = Config::default().or(Config::parse(file).unwrap()).filled();
        let priors = filled.all_priors().unwrap();
        assert_eq!((priors.intercept, priors.noise.law(&[]).shape, priors.alpha.shape), (2.0, 3.0, 3.0));
        assert_eq!(Config::parse(&filled.to_toml()).unwrap(), filled);
        assert_eq!(Config::default().filled().all_priors().unwrap(), Priors::default());
        let problem =
            Config::parse("[sampling]\ndraws = 7\n[priors]\nnosie = { shape = 3, rate = 0.5 }\n").unwrap_err();
        assert!(problem.contains("line 4") && problem.contains("nosie"), "{problem}");
    }

    #[test]
    fn the_amplitude_is_given_once() {
        let amplitude = |text: &str| Config::parse(text).unwrap().all_priors().map(|priors| priors.amplitude);
        assert_eq!(amplitude("[model]\namplitude = \"default\"\n"), Ok(None));
        assert_eq!(amplitude("[model]\namplitude = \"2.5\"\n"), Ok(Some(Amplitude::Fixed(2.5))));
        let wide = Some(Amplitude::Learned(HalfT { scale: 10.0, dof: 1.0 }));
        assert_eq!(amplitude("[priors.amplitude.learned]\nscale = 10\n"), Ok(wide));
        let twice = "[model]\namplitude = \"shared\"\n[priors.amplitude.learned]\nscale = 10\n";
        assert!(amplitude(twice).unwrap_err().to_string().contains("leave one of them out"));
        assert!(amplitude("[model]\namplitude = \"much\"\n").unwrap_err().to_string().contains("learned, shared"));
    }

    /// `RFLVM_FUZZ` is the number of files.
    #[test]
    fn fuzz_no_config_file_causes_a_panic() {
        use rand::RngExt;
        let whole = Config { table: Some("t.csv".into()), likelihood: Some("poisson".into()), ..Config::default() };
        let text = whole.filled().to_toml();
        let tokens = [
            "=",
            "\"",
            "[sampling]",
            "[",
            "]",
            "\n",
            "-1",
            "nan",
            "1e999",
            "99999999999999999999",
            "{",
            "'",
            "\u{e9}",
            "#",
            "\\",
            "true",
        ];
        let count = std::env::var("RFLVM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
        let mut rng = rflvm::internal::rng::Stream::new(1).rng();
        let mut good = 0;
        for _ in 0..count {
            let mut damaged: Vec<char> = text.chars().collect();
            for _ in 0..rng.random_range(1..6) {
                let at = rng.random_range(0..=damaged.len());
                let end = (at + rng.random_range(0..12)).min(damaged.len());
                let token = tokens[rng.random_range(0..tokens.len())];
                damaged.splice(at..end, token.chars());
            }
            let damaged: String = damaged.into_iter().collect();
            match Config::parse(&damaged) {
                Ok(config) => {
                    good += 1;
                    assert_eq!(
                        Config::parse(&config.to_toml()).map(|c| c.to_toml()),
                        Ok(config.to_toml()),
                        "{damaged}"
                    );
                }
                Err(problem) => assert!(!problem.contains('\n'), "{problem}"),
            }
        }
        assert!(good > 0 && good < count, "{good} of {count}");
    }

    #[test]
    fn errors_in_a_file_name_the_line() {
        let problem = Config::parse("likelihood = \"poisson\"\n[sampling]\ndrows = 7\n").unwrap_err();
        assert!(problem.contains("line 3") && problem.contains("drows"), "{problem}");
        assert!(!problem.contains('\n'));
        assert!(Config::parse("[sampling]\ndraws = \"many\"\n").unwrap_err().contains("line 2"));
    }
}
