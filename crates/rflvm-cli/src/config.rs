//! The settings of a fit, as flags or as a file of the same names; what is not set has a default. The merged settings are
//! written beside the result and reproduce it.

use crate::args::{InstructionsArg, KernelArg, StartArg, TimeFormArg};
use crate::failure::Failure;
use crate::latent_dim::LatentDim;
use crate::listing::Listing;
use crate::table::{Decimal, ReadOptions, Separator, Texts};
use clap::Args;
use rflvm::atomic::plain_reason;
use rflvm::error::SpecError;
use rflvm::model::latent::TimeSpec;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// All settings of a fit.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The table, one row a sample: .csv, .tsv or .mtx (also .gz), .npy, .npz, .parquet, .arrow or .feather. Empty, NA
    /// and null cells are missing.
    pub table: Option<PathBuf>,
    /// Family of the columns: gaussian, poisson, bernoulli, binomial, negative-binomial, multinomial, student-t,
    /// zero-inflated-poisson; or auto, which chooses one for each column: bernoulli for yes/no, a count family for counts,
    /// gaussian for other numbers, multinomial for text, one column per level. The choice is kept as blocks.csv.
    #[arg(long)]
    pub likelihood: Option<String>,
    /// Families per column: a .csv with the columns `column`, `likelihood`, and `trials` where a binomial needs them. A column of
    /// text is a category if its family is multinomial. `rflvm doctor --blocks-out` writes such a file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["likelihood", "trials"])]
    pub blocks: Option<PathBuf>,
    /// Trials of a binomial: a number, or a table of the data's shape.
    #[arg(long)]
    pub trials: Option<String>,
    /// Known offset of each row on the link scale: none, size-factors (ln of the row's total over the mean total, for counts
    /// whose totals say nothing), or the name of a column.
    #[arg(long, value_name = "none|size-factors|COL")]
    pub offset: Option<String>,
    /// Column with labels: they colour the picture and are scored, and never enter the fit.
    #[arg(long, value_name = "COL")]
    pub labels: Option<String>,
    /// Column with names of the rows.
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,
    /// Column with the time of each row, as numbers or dates such as 2001-05-30 or 2001-05-30 12:00:00: positions then follow a
    /// smooth path over time. Rows may come in any order.
    #[arg(long, value_name = "COL")]
    pub time: Option<String>,
    /// Column that says to which sequence (trial, recording) a row belongs: each has a path of its own.
    #[arg(long, value_name = "COL")]
    pub sequence: Option<String>,
    /// Columns to fit, comma-separated; all but those named by other flags by default.
    #[arg(long, value_delimiter = ',', value_name = "COL,…")]
    pub columns: Option<Vec<String>>,
    /// Columns to leave out, comma-separated.
    #[arg(long, value_delimiter = ',', value_name = "COL,…")]
    pub without: Option<Vec<String>>,
    /// What separates the cells of a text table: a character such as ';', or tab, comma, semicolon, pipe, space [default: by
    /// the extension].
    #[arg(long, value_name = "CHAR")]
    pub separator: Option<Separator>,
    /// Decimal mark of a text table: '.' or ',' [default: .].
    #[arg(long, value_name = "CHAR")]
    pub decimal: Option<Decimal>,
    /// Words for missing cells of a text table, comma-separated, besides an empty cell, NA, N/A, NaN and null.
    #[arg(long, value_delimiter = ',', value_name = "WORD,…", allow_hyphen_values = true)]
    pub na: Option<Vec<String>>,
    /// Array of an .npz file that holds several.
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Which run these settings were saved by; a new fit has one of its own.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Families per column that `auto` has chosen.
    #[arg(skip)]
    #[serde(skip)]
    pub listing: Option<Listing>,
    /// Title of the pictures [default: the name of the table].
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// The model.
    #[command(flatten)]
    pub model: ModelConfig,
    /// The paths over time.
    #[command(flatten)]
    pub path: PathConfig,
    /// The run.
    #[command(flatten)]
    pub run: RunConfig,
}

/// The model.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelConfig {
    /// Latent dimension D: a number; or auto, which begins with 6 axes (auto:8 with 8) and lets those go that the data do not
    /// ask for [default: 2].
    #[arg(long, value_name = "D|auto|auto:D")]
    pub latent_dim: Option<LatentDim>,
    /// Random features M, an even number (sine and cosine of M/2 frequencies) [default: 100].
    #[arg(long)]
    pub features: Option<usize>,
    /// Kernel: learned with the frequencies, or a fixed RBF of length-scale --length-scale [default: learned].
    #[arg(long, value_enum)]
    pub kernel: Option<KernelArg>,
    /// Length-scale of the fixed RBF kernel [default: 1].
    #[arg(long)]
    pub length_scale: Option<f64>,
    /// Variance of the weights: a number for all columns, or `learned` for one a column [default: 1].
    #[arg(long)]
    pub amplitude: Option<String>,
}

/// How positions change over time.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PathConfig {
    /// How alike positions are at two times: very smooth, from rough to smooth, or smooth with long memory [default: rbf].
    #[arg(long, value_name = "rbf|matern12|matern32|matern52|cauchy")]
    pub time_kernel: Option<String>,
    /// Add a straight line in time to each path [default: false].
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub time_trend: Option<bool>,
    /// How the covariance of a path is held [default: automatic].
    #[arg(long, value_enum)]
    pub time_form: Option<TimeFormArg>,
    /// Inducing points of a sequence, where they are used [default: 64].
    #[arg(long, value_name = "K")]
    pub inducing: Option<usize>,
}

/// How long and where to run.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunConfig {
    /// Sweeps before draws are kept [default: 1000].
    #[arg(long)]
    pub warmup: Option<u64>,
    /// Draws kept per chain [default: 1000].
    #[arg(long)]
    pub draws: Option<u64>,
    /// Sweeps per kept draw [default: 1].
    #[arg(long)]
    pub thin: Option<u64>,
    /// Number of chains [default: 2].
    #[arg(long)]
    pub chains: Option<usize>,
    /// The seed, from which all randomness follows; drawn and printed if not given.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Threads to use; all cores by default. The draws do not depend on it.
    #[arg(long)]
    pub threads: Option<usize>,
    /// The most the processor may use of its instruction sets. Draws agree to the last bit only between machines that use
    /// the same; sums round differently with fused instructions and without [default: best].
    #[arg(long, value_enum)]
    pub instructions: Option<InstructionsArg>,
    /// Where chains begin [default: pca].
    #[arg(long, value_enum)]
    pub start: Option<StartArg>,
    /// What is stored of each draw beside X and the small quantities: of w, beta, theta, f, comma-separated
    /// [default: w,beta,theta].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub keep: Option<Vec<String>>,
    /// Seconds between checkpoints [default: 30].
    #[arg(long, value_name = "SECONDS")]
    pub checkpoint: Option<f64>,
}

macro_rules! merge {
    ($own:ident, $other:ident, $($field:ident),*) => {
        $(if $own.$field.is_none() { $own.$field = $other.$field; })*
    };
}

impl Config {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let file = || path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| Failure::Config {
            file: file(),
            problem: format!("the file cannot be read ({})", plain_reason(&error)),
        })?;
        Self::parse(&text).map_err(|problem| Failure::Config { file: file(), problem })
    }

    /// The same settings, where files that they name lie in `folder` if they are there, and else where the program runs.
    pub fn beside(self, folder: &Path) -> Self {
        let find =
            |name: PathBuf| Some(folder.join(&name)).filter(|p| name.is_relative() && p.exists()).unwrap_or(name);
        Config {
            table: self.table.map(find),
            blocks: self.blocks.map(find),
            trials: self.trials.map(|t| find(t.into()).to_string_lossy().into_owned()),
            ..self
        }
    }

    /// Reads settings that are named beside the flags of a command.
    pub fn given(path: Option<&Path>) -> Result<Self, Failure> {
        let folder = |path: &Path| path.parent().unwrap_or(Path::new("")).to_path_buf();
        path.map_or(Ok(Config::default()), |path| Ok(Config::read(path)?.beside(&folder(path))))
    }

    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        // TOML's messages come with a drawing of the place; its words alone make one sentence.
        toml::from_str(text).map_err(|error| {
            let before = |end: usize| text.bytes().take(end).filter(|&byte| byte == b'\n').count() + 1;
            let line = error.span().map(|span| before(span.start));
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            format!("{place}{}", error.message().replace('\n', " "))
        })
    }

    /// These settings, and the others' where there are none.
    pub fn or(mut self, other: Config) -> Self {
        // A family given for all columns and families by column are one setting.
        if self.likelihood.is_none() && self.blocks.is_none() {
            (self.likelihood, self.blocks, self.trials) =
                (other.likelihood, other.blocks, self.trials.or(other.trials));
        }
        merge!(
            self, other, table, offset, labels, id, time, sequence, columns, without, separator, decimal, na, array,
            title
        );
        let (own, others) = (&mut self.model, other.model);
        merge!(own, others, latent_dim, features, kernel, length_scale, amplitude);
        let (own, others) = (&mut self.path, other.path);
        merge!(own, others, time_kernel, time_trend, time_form, inducing);
        let (own, others) = (&mut self.run, other.run);
        merge!(own, others, warmup, draws, thin, chains, seed, threads, instructions, start, keep, checkpoint);
        self
    }

    /// The same with a default wherever there is one, and a seed; paths are made to hold wherever the fit is resumed.
    pub fn filled(self) -> Self {
        let whole = |path: PathBuf| fs::canonicalize(&path).unwrap_or(path);
        let defaults = Config {
            offset: Some("none".into()),
            model: ModelConfig {
                latent_dim: Some(LatentDim::default()),
                features: Some(100),
                kernel: Some(KernelArg::Learned),
                length_scale: Some(1.0),
                amplitude: Some("1".into()),
            },
            // Rows without times have no paths to speak of.
            path: if self.time.is_some() { PathConfig::filled() } else { PathConfig::default() },
            run: RunConfig {
                warmup: Some(1000),
                draws: Some(1000),
                thin: Some(1),
                chains: Some(2),
                seed: self.run.seed.or_else(|| Some(fresh_seed())),
                threads: Some(0),
                instructions: Some(InstructionsArg::Best),
                start: Some(StartArg::Pca),
                keep: Some(["w", "beta", "theta"].map(String::from).to_vec()),
                checkpoint: Some(30.0),
            },
            ..Config::default()
        };
        let mut filled = self.or(defaults);
        // A name that is not known is refused where it is used.
        filled.likelihood = filled.likelihood.map(|name| rflvm::spec::canonical(&name).map_or(name, String::from));
        filled.table = filled.table.map(whole);
        filled.blocks = filled.blocks.map(whole);
        // A number of trials is not a path; a table of them is.
        filled.trials =
            filled.trials.map(|t| fs::canonicalize(&t).map_or(t, |path| path.to_string_lossy().into_owned()));
        filled
    }

    /// Whether the families are to be chosen.
    pub fn is_auto(&self) -> bool {
        self.likelihood.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("auto"))
    }

    /// How the table is read.
    pub fn read_options(&self) -> Result<ReadOptions, Failure> {
        // A family that does not exist is told before a table that it could not take.
        if let Some(name) = self.likelihood.as_deref().filter(|_| !self.is_auto()) {
            rflvm::spec::canonical(name)?;
        }
        if let Some(trials) = self.trials.as_ref().filter(|_| self.is_auto()) {
            let rule = "auto never chooses binomial; give --likelihood binomial, or --blocks for several families";
            return Err(SpecError::Setting { setting: "trials", value: trials.clone(), rule: rule.into() }.into());
        }
        let takes_text = self.is_auto() || self.blocks.is_some() || self.likelihood.as_deref() == Some("multinomial");
        Ok(ReadOptions {
            id: self.id.clone(),
            labels: self.labels.clone(),
            offset: self.offset_column().map(String::from),
            time: self.time.clone(),
            sequence: self.sequence.clone(),
            columns: self.columns.clone(),
            without: self.without.clone().unwrap_or_default(),
            texts: if takes_text { Texts::Take } else { Texts::Refuse },
            categories: match &self.blocks {
                Some(path) => Listing::read(path)?.categories(),
                None => Vec::new(),
            },
            separator: self.separator,
            decimal: self.decimal,
            na: self.na.clone().unwrap_or_default(),
            array: self.array.clone(),
            like: None,
        })
    }

    /// The column of offsets, if there is one.
    pub fn offset_column(&self) -> Option<&str> {
        self.offset.as_deref().filter(|o| *o != "none" && *o != "size-factors")
    }

    /// As a file that `rflvm fit` repeats.
    pub fn to_toml(&self) -> String {
        self.to_toml_of("fit")
    }

    /// As a file that a command repeats.
    pub fn to_toml_of(&self, command: &str) -> String {
        let head =
            format!("# The settings of this fit. `rflvm {command} --config` with this file repeats it, to the bit.\n");
        // Options of numbers, texts and lists all have a form in TOML.
        format!("{head}{}", toml::to_string(self).unwrap_or_default())
    }
}

impl PathConfig {
    fn filled() -> Self {
        let default = TimeSpec::default();
        PathConfig {
            time_kernel: Some(default.kernel.name().into()),
            time_trend: Some(default.trend),
            time_form: Some(TimeFormArg::Automatic),
            inducing: Some(default.inducing),
        }
    }
}

/// A seed nobody chose; short enough to type again.
pub fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |t| (t.as_nanos() as u64) % 1_000_000_007)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let file = Config::parse("likelihood = \"poisson\"\n[run]\ndraws = 7\nwarmup = 3\n").unwrap();
        let flags = Config { run: RunConfig { draws: Some(9), ..RunConfig::default() }, ..Config::default() };
        let merged = flags.or(file).filled();
        assert_eq!((merged.run.draws, merged.run.warmup, merged.run.chains), (Some(9), Some(3), Some(2)));
        assert_eq!(merged.likelihood.as_deref(), Some("poisson"));
        assert_eq!(Config::parse(&merged.to_toml()).unwrap(), merged);
    }

    /// `RFLVM_FUZZ` is the number of files.
    #[test]
    fn fuzz_no_file_of_settings_makes_it_panic() {
        use rand::RngExt;
        let whole = Config { table: Some("t.csv".into()), likelihood: Some("poisson".into()), ..Config::default() };
        let text = whole.filled().to_toml();
        let tokens = [
            "=",
            "\"",
            "[run]",
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
        let mut rng = rflvm::rng::Stream::new(1).rng();
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
    fn a_bad_file_is_told_by_its_line() {
        let problem = Config::parse("likelihood = \"poisson\"\n[run]\ndrows = 7\n").unwrap_err();
        assert!(problem.contains("line 3") && problem.contains("drows"), "{problem}");
        assert!(!problem.contains('\n'));
        assert!(Config::parse("[run]\ndraws = \"many\"\n").unwrap_err().contains("line 2"));
    }
}
