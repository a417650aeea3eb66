//! What was typed.

use crate::flags::{ConfigArgs, ModelArgs};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use rflvm_study::config::KernelKind;
use rflvm_study::latent_dim::LatentDim;
use rflvm_study::settings::Value;
use rflvm_study::table::{Decimal, Separator};
use std::path::PathBuf;

/// Bayesian non-linear dimension reduction for counts, yes/no, compositional, real and incomplete tables.
///
/// Start with `rflvm demo`, or with a table of your own:
///
///   rflvm doctor counts.csv
///   rflvm map counts.csv --likelihood negative-binomial --out picture
///   rflvm fit counts.csv --likelihood negative-binomial --out fit
///   rflvm summary fit
///
/// Exit codes: 0 done; 1 sampling or writing failed; 2 the input or the command must be corrected; 130 stopped by Ctrl-C,
/// with all saved.
#[derive(Debug, Parser)]
#[command(name = "rflvm", version, propagate_version = true, verbatim_doc_comment)]
pub struct Program {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch the model learn an S-shaped manifold from counts.
    Demo(DemoArgs),
    /// Look at a table before fitting it: what it holds, which families suit it, what a fit would cost.
    Doctor(Box<DoctorArgs>),
    /// Fit a table: latent positions of its rows, with their uncertainty.
    Fit(Box<FitArgs>),
    /// See a table in seconds: latent positions at the maximum of their posterior, with hardly a word of uncertainty.
    Map(Box<MapArgs>),
    /// Fit a table in several ways and say which predicts held-out cells best: latent dimension, family, kernel, features.
    Compare(Box<CompareArgs>),
    /// Go on with a fit that was stopped, killed or interrupted, as if it had never been.
    Resume(ResumeArgs),
    /// Say whether a fit has converged, and what to do if not.
    Summary(SummaryArgs),
    /// Estimate the missing cells of a fitted table, or complete the table several times.
    Impute(ImputeArgs),
    /// Say what a fit with times expects of times that have no row: ahead, or between rows.
    Forecast(ForecastArgs),
    /// Place rows that the fit has never seen, and say how surprising they are.
    Transform(TransformArgs),
    /// Say what a fit expects of rows of its table, seen again, or at places of its latent space where no row is.
    Predict(PredictArgs),
    /// Compare the fitted table with tables that the fit makes: does the family suit?
    Check(CheckArgs),
    /// Write the kernel that a fit learnt, with its uncertainty and its spectral density, and draw it.
    Kernel(KernelArgs),
    /// Write draws as CSV or NumPy arrays.
    Export(ExportArgs),
    /// Draw a table from the model, or the S-curve, with its truth.
    Simulate(SimulateArgs),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, in the format that man reads.
    Man,
}

/// How much to say.
#[derive(Debug, Clone, Args)]
pub struct VoiceArgs {
    /// One JSON object a line on stdout: progress, warnings, the final summary. Nothing else is printed there.
    #[arg(long)]
    pub json: bool,
    /// No progress, no summary; errors only.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also say where the time goes.
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct FitArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Read settings from this file, in the form of the config.toml that a fit leaves behind; flags win over it.
    #[arg(long = "config", value_name = "FILE.toml")]
    pub file: Option<PathBuf>,
    /// Folder for the results.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace the fit that the folder holds.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub voice: VoiceArgs,
}

#[derive(Debug, Args)]
#[command(mut_args(crate::map::hide_sampling))]
pub struct MapArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Read settings from this file, in the form of the config.toml that a fit leaves behind; flags win over it.
    #[arg(long = "config", value_name = "FILE.toml")]
    pub file: Option<PathBuf>,
    /// Starts to climb from; after two rounds the best goes on.
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub starts: usize,
    /// Folder for the results.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace the fit or point estimate that the folder holds.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub voice: VoiceArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("warmup", |arg| arg.help("Sweeps before draws are kept [default: 300]")))]
#[command(mut_arg("draws", |arg| arg.help("Draws kept per chain [default: 300]")))]
pub struct CompareArgs {
    /// What all candidates share; what is listed below is tried in every combination.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Latent dimensions to try, comma-separated.
    #[arg(long, value_delimiter = ',', value_name = "D,…", conflicts_with = "latent_dim")]
    pub latent_dims: Option<Vec<LatentDim>>,
    /// Families to try, comma-separated. A multinomial does not compare with others.
    #[arg(long, value_delimiter = ',', value_name = "FAMILY,…", conflicts_with_all = ["likelihood", "blocks"])]
    pub likelihoods: Option<Vec<String>>,
    /// Kernels to try, comma-separated.
    #[arg(long, value_delimiter = ',', value_name = "KERNEL,…", value_parser = kernel, conflicts_with = "kernel")]
    pub kernels: Option<Vec<KernelKind>>,
    /// Numbers of random features to try, comma-separated.
    #[arg(long, value_delimiter = ',', value_name = "M,…", conflicts_with = "features")]
    pub feature_counts: Option<Vec<usize>>,
    /// Hold out every cell once, in so many parts; 1 holds out some cells once. Each candidate is fitted so many times.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub folds: usize,
    /// Share of the cells that is held out; of a multinomial, share of the trials [default: 0.1].
    #[arg(long, value_name = "SHARE")]
    pub held_out: Option<f64>,
    /// Also score rows left out one by one, by importance sampling from one more fit of the whole table.
    #[arg(long)]
    pub loo: bool,
    /// Folder for the results: compare.csv, compare.svg, and what is done so far. The same command takes up a comparison that
    /// was stopped; longer lists add to one that is there.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace the comparison that the folder holds.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub voice: VoiceArgs,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The folder of the fit.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Draws per chain in all: more than the fit was begun with draws more of the same chains.
    #[arg(long, value_name = "DRAWS")]
    pub draws: Option<u64>,
    /// Threads to use; as the fit began if not given. The draws do not depend on it.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Replay from the last checkpoint with a line a sweep: what led to a numerical failure comes again, to the bit.
    #[arg(long)]
    pub debug: bool,
    #[command(flatten)]
    pub voice: VoiceArgs,
}

#[derive(Debug, Args)]
pub struct SummaryArgs {
    /// The folder of the fit; it may still be running.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The same as one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ImputeArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The file, a .csv with the columns row (counted from 1), column, mean, sd, q05, q50 and q95: one line per missing cell.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Write so many completed tables instead, for multiple imputation: FILE-1.csv, FILE-2.csv, … beside FILE. Observed
    /// cells are kept, missing ones drawn, each table from another draw of the posterior.
    #[arg(long, value_name = "M")]
    pub draws: Option<usize>,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("when").required(true).args(["times", "horizon"])))]
pub struct ForecastArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The new times, comma-separated and written as those of the table, or a file with one a line; none before the first row.
    #[arg(long, value_name = "T,…|FILE", allow_hyphen_values = true)]
    pub times: Option<String>,
    /// So many new times beyond the last of each sequence, as far apart as times typically are.
    #[arg(long, value_name = "K")]
    pub horizon: Option<usize>,
    /// Only this sequence; all by default.
    #[arg(long, value_name = "NAME")]
    pub sequence: Option<String>,
    /// The file, a .csv with the columns time, sequence (where there are any), column, mean, sd, q05, q50 and q95: one line a new
    /// time and column.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Write so many simulated futures instead: FILE-1.csv, FILE-2.csv, … beside FILE, one line a new time, each from another
    /// draw of the posterior.
    #[arg(long, value_name = "M")]
    pub draws: Option<usize>,
}

#[derive(Debug, Args)]
pub struct TransformArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The new rows, in a table of any format that `fit` reads. Columns are found by the names that they have in the fit, in any
    /// order, as are those of --id, --labels, --offset, --time and --sequence; without names there must be as many. Cells may be missing.
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// The file, a .csv with the columns of embedding.csv and then log_density (of all observed cells of the row together),
    /// log_density_per_cell, and surprise: the share of the fit's own rows, each seen by a fit without it, that surprise less.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Also write so many draws of the positions, each from another draw of the posterior, in the frame of embedding.csv.
    #[arg(long, value_name = "M")]
    pub draws: Option<usize>,
    /// Where the draws go: a .csv with the columns row and draw (both counted from 1), x1, x2, …, or a .npy (draw × row × axis)
    /// [default: FILE-draws.csv beside FILE].
    #[arg(long, value_name = "FILE", requires = "draws")]
    pub draws_out: Option<PathBuf>,
    /// Trials of the new rows, where the fit has a table of trials: a table of the shape of the new one.
    #[arg(long, value_name = "TABLE")]
    pub trials: Option<String>,
    /// What separates the cells of a text table, as for `fit`; as in the fit if not given.
    #[arg(long, value_name = "CHAR")]
    pub separator: Option<Separator>,
    /// Decimal mark of a text table, as for `fit`; as in the fit if not given.
    #[arg(long, value_name = "CHAR")]
    pub decimal: Option<Decimal>,
    /// Words for missing cells of a text table, as for `fit`; as in the fit if not given.
    #[arg(long, value_delimiter = ',', value_name = "WORD,…", allow_hyphen_values = true)]
    pub na: Option<Vec<String>>,
    /// Array of an .npz file that holds several; that of the fit if not given.
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("where").required(true).args(["rows", "at", "grid", "path"])))]
pub struct PredictArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Rows of the table, such as 3,5-9 (counted from 1), their names, or all: what would be seen if they were observed again.
    #[arg(long, value_name = "ROWS|all", allow_hyphen_values = true)]
    pub rows: Option<String>,
    /// Positions from a .csv with the columns x1, x2, … of embedding.csv, one line a point.
    #[arg(long, value_name = "FILE")]
    pub at: Option<PathBuf>,
    /// So many points an axis over the range of embedding.csv; beyond two latent axes over the first two, the others at 0.
    #[arg(long, value_name = "K")]
    pub grid: Option<usize>,
    /// Points on the straight line between the mean positions of two rows, named as for --rows.
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    pub path: Option<String>,
    /// Points of the path, its ends included.
    #[arg(long, value_name = "K", default_value_t = 10, requires = "path")]
    pub steps: usize,
    /// The file, a .csv with the columns row, or point and its position (both counted from 1), then column, mean, sd, q05, q50 and
    /// q95: one line per cell. Points have the mean of the rows' offsets, a multinomial row at a point one trial.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Write so many drawn tables instead: FILE-1.csv, FILE-2.csv, … beside FILE, one line a row or point, each from another
    /// draw of the posterior.
    #[arg(long, value_name = "M")]
    pub draws: Option<usize>,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The file, a .csv with the columns block, family, columns, statistic, observed, mean, q05, q95, p, words and suggests: one line
    /// per statistic. The picture comes beside it, as FILE.svg [default: DIR/check.csv].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object instead of the table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct KernelArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The file, a .csv with the columns along (x1, x2, … or all directions), delta, mean, q05 and q95 of k(δ). Beside it come
    /// FILE-spectrum.csv, the same for the density of |w|, and the picture FILE.svg.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Also write the posterior mean and standard deviation of K(X, X), 2 × rows × rows.
    #[arg(long, value_name = "FILE.npy")]
    pub matrix: Option<PathBuf>,
    /// Rows of the matrix, such as 3,5-9 (counted from 1), their names, or all.
    #[arg(long, value_name = "ROWS|all", requires = "matrix", allow_hyphen_values = true)]
    pub rows: Option<String>,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The folder of the fit.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// What to export: x, w, z, beta, alpha, clusters, distance, f_cell, lp, log_likelihood, a family's parameters.
    #[arg(long, default_value = "x")]
    pub what: String,
    /// The file: .csv (one line per number; chains, draws, rows and columns are counted from 1) or .npy (chain × draw × the
    /// quantity's own axes).
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// What a fit would be given: its cost is that of these settings.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Write the family that suits each column to a .csv for --blocks, to look at and to edit. Without it the next command says
    /// `--likelihood auto` where columns need different families.
    #[arg(long, value_name = "FILE", conflicts_with = "blocks")]
    pub blocks_out: Option<PathBuf>,
    /// The same as one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// The seed of the table and of the chains.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Sweeps before draws are kept.
    #[arg(long, default_value_t = 400)]
    pub warmup: u64,
    /// Draws kept per chain.
    #[arg(long, default_value_t = 400)]
    pub draws: u64,
    /// Threads to use; all cores by default.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
    /// Folder for the results.
    #[arg(long, value_name = "DIR", default_value = "rflvm-demo")]
    pub out: PathBuf,
    /// Title of the picture.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// No progress; only the result.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SourceArg {
    /// X on an S, F from an RBF Gaussian process: the paper's simulation.
    SCurve,
    /// Everything from the model's prior.
    Model,
}

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Where the truth comes from.
    #[arg(long, value_enum, default_value_t = SourceArg::SCurve)]
    pub source: SourceArg,
    /// Family of the columns (see `fit`).
    #[arg(long, default_value = "poisson")]
    pub likelihood: String,
    /// Rows N.
    #[arg(long, default_value_t = 500)]
    pub rows: usize,
    /// Columns J.
    #[arg(long, default_value_t = 100)]
    pub columns: usize,
    /// Trials of a binomial cell (default 1) or of a multinomial row (default 100).
    #[arg(long)]
    pub trials: Option<u32>,
    /// Write a column `time` too: the position along the S.
    #[arg(long)]
    pub time: bool,
    /// Leave this fraction of the cells empty, at random; complete.csv then holds the table without holes.
    #[arg(long, value_name = "FRACTION")]
    pub missing: Option<f64>,
    /// The seed; drawn and printed if not given.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Folder for table.csv and the truth.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub model: ModelArgs,
}

fn kernel(text: &str) -> Result<KernelKind, String> {
    KernelKind::parse(text.as_ref())
}
