//! The command line.

mod answers;
mod effects;

use crate::console::Console;
use crate::flags::{ConfigArgs, MethodArgs, ModelArgs};
pub use answers::*;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
pub use effects::*;
use rflvm_report::Image;
use rflvm_study::Config;
use rflvm_study::choices::KernelKind;
use rflvm_study::device::DeviceChoice;
use rflvm_study::latent_dim::LatentDim;
use rflvm_study::settings::Value;
use std::path::PathBuf;

/// Bayesian non-linear dimension reduction for counts, yes/no, compositional, real and incomplete tables.
///
/// Start with `rflvm demo`, or with your own table:
///
///   rflvm doctor counts.csv
///   rflvm fit counts.csv --likelihood negative-binomial --method map --out picture
///   rflvm fit counts.csv --likelihood negative-binomial --out fit
///   rflvm summary fit
///
/// Exit codes: 0 done; 1 sampling or writing failed; 2 the input or the command must be corrected;
/// 130 stopped by Ctrl-C, with everything saved.
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
    /// Inspect a table before fitting it: columns, families, flags, and the cost of a fit.
    Doctor(Box<DoctorArgs>),
    /// Fit a table: latent positions of its rows, with their uncertainty.
    Fit(Box<FitArgs>),
    /// The name of `fit --method map` until version 0.2.
    #[command(hide = true)]
    Map(Box<FitArgs>),
    /// Fit a table in several ways, and report which predicts held-out cells best.
    Compare(Box<CompareArgs>),
    /// Resume an interrupted fit, or extend a finished one; the draws are the same.
    Resume(ResumeArgs),
    /// Report whether a fit has converged, and what to do if not.
    Summary(SummaryArgs),
    /// Estimate the missing cells of a fitted table, or complete the table several times.
    Impute(ImputeArgs),
    /// Predict cells at times without a row: after the last row, or between rows.
    Forecast(ForecastArgs),
    /// Place new rows in the latent space of a fit, and report how unusual they are.
    Transform(TransformArgs),
    /// Predict rows as if observed again, or cells at any point of the latent space.
    Predict(PredictArgs),
    /// Compare the table of a fit with replicated ones, and the posterior with the priors.
    Check(CheckArgs),
    /// Write the distances between rows over all modes, with their uncertainty.
    Distances(DistancesArgs),
    /// Write each row's nearest neighbors over all modes, with their probabilities.
    Neighbors(NeighborsArgs),
    /// Show what drives each column: variance, gradients, changes between places.
    Effects(EffectsArgs),
    /// List the columns that differ between groups of rows, with a false discovery rate.
    Differences(DifferencesArgs),
    /// Show how sure groups of rows are, and which rows lie between groups.
    Groups(GroupsArgs),
    /// Write and draw the learned kernel and its spectral density.
    Kernel(KernelArgs),
    /// Draw one picture of a fit for a paper, as SVG, PNG or PDF.
    Plot(PlotArgs),
    /// Write the report of a fit: one interactive web page that needs no network.
    Report(ReportArgs),
    /// Write draws as CSV or NumPy arrays.
    Export(ExportArgs),
    /// Simulate a table with its true values, from an S-shaped curve or from the prior.
    Simulate(SimulateArgs),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, in the format that `man` reads.
    Man,
}

/// How a command that runs for long answers.
#[derive(Debug, Clone, Args)]
pub struct ConsoleArgs {
    #[command(flatten)]
    pub reply: ReplyArgs,
    /// Also print where time is spent.
    #[arg(short, long, conflicts_with = "quiet", hide_short_help = true)]
    pub verbose: bool,
}

impl From<&ConsoleArgs> for Console {
    fn from(args: &ConsoleArgs) -> Self {
        Console { json: args.reply.json, quiet: args.reply.quiet, verbose: args.verbose }
    }
}

/// How every command answers.
#[derive(Debug, Clone, Args)]
pub struct ReplyArgs {
    /// Whether to print JSON.
    #[arg(
        long,
        help = "Print JSON to stdout, one object per line",
        long_help = "Print JSON to stdout, one object per line: the last is the answer, or names the `files` that were written, and a run prints its \
                     progress before it. Warnings go to stderr"
    )]
    pub json: bool,
    /// Whether to print only errors.
    #[arg(
        short,
        long,
        help = "Print only errors, and with --json the answer",
        long_help = "Print only errors and how a table was read where that may be wrong; with --json, also the answer"
    )]
    pub quiet: bool,
    /// The answer itself goes to stdout.
    #[arg(skip)]
    pub is_piped: bool,
}

/// Whether files may be replaced that the command does not name.
#[derive(Debug, Args)]
pub struct ReplaceArgs {
    /// Replace files that exist already. Without it, only a file that is named by --out, --draws-out or --matrix is replaced.
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Args)]
pub struct FitArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    #[command(flatten)]
    pub method: MethodArgs,
    /// The file with settings.
    #[arg(
        long = "config",
        value_name = "FILE.toml",
        help = "Read settings from this file, such as the config.toml of a fit",
        long_help = "Read settings from this file, in the format of the config.toml that every fit writes; flags override it"
    )]
    pub file: Option<PathBuf>,
    /// Folder for the results.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace the fit in that folder.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub console: ConsoleArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("draws", |arg| crate::flags::with_default(arg, "300")))]
pub struct CompareArgs {
    /// Settings that all candidates share; the lists below are tried in every combination.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Latent dimensions to try, comma-separated.
    #[arg(long, value_delimiter = ',', value_name = "D,…", conflicts_with = "latent_dim")]
    pub latent_dims: Option<Vec<LatentDim>>,
    /// Families to try, comma-separated. Multinomial cannot be compared with others.
    #[arg(long, value_delimiter = ',', value_name = "FAMILY,…", conflicts_with_all = ["likelihood", "blocks"])]
    pub likelihoods: Option<Vec<String>>,
    /// Kernels to try, comma-separated.
    #[arg(long, value_delimiter = ',', value_name = "KERNEL,…", value_parser = kernel, conflicts_with = "kernel")]
    pub kernels: Option<Vec<KernelKind>>,
    /// Numbers of random features to try, comma-separated.
    #[arg(long, value_delimiter = ',', value_name = "M,…", conflicts_with = "features")]
    pub feature_counts: Option<Vec<usize>>,
    /// Number of folds: every cell is held out once, and each candidate is fitted K times; 1 holds out a fraction of the cells once.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub folds: usize,
    /// Fraction of the cells to hold out; for a multinomial, fraction of the trials [default: 0.1].
    #[arg(long, value_name = "SHARE")]
    pub held_out: Option<f64>,
    /// Also score rows by leave-one-out, with importance sampling from one more fit of the whole table.
    #[arg(long)]
    pub loo: bool,
    /// Folder for the results: compare.csv, compare.svg, and the scores so far. The same command resumes an interrupted
    /// comparison; longer lists extend an existing one.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace the comparison in that folder.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub console: ConsoleArgs,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The folder of the fit.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Draws per chain in all; a larger number than before extends the same chains.
    #[arg(long, value_name = "DRAWS")]
    pub draws: Option<u64>,
    /// Extend a warm-up that was too short: drop the draws kept so far, warm up for this many sweeps more from where the chains are, then draw
    /// again.
    #[arg(long, value_name = "SWEEPS")]
    pub warmup: Option<u64>,
    /// Threads to use; by default as in the fit. The draws do not depend on it.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Where the table is held from now on; by default as in the fit.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceChoice>,
    /// Replay from the last checkpoint with one line per sweep; a numerical failure is reproduced exactly.
    #[arg(long)]
    pub debug: bool,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub console: ConsoleArgs,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Settings of the fit; its cost is estimated for them.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Write the family that suits each column to a .csv for --blocks, to review and edit. Without it, the suggested command has
    /// `--likelihood auto` if columns need different families.
    #[arg(long, value_name = "FILE", conflicts_with = "blocks")]
    pub blocks_out: Option<PathBuf>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Seed of the table and of the chains.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Warm-up sweeps per chain.
    #[arg(long, default_value_t = 150)]
    pub warmup: u64,
    /// Draws kept per chain.
    #[arg(long, default_value_t = 100)]
    pub draws: u64,
    /// Threads to use [default: all cores].
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
    /// Folder for the results.
    #[arg(long, value_name = "DIR", default_value = "rflvm-demo")]
    pub out: PathBuf,
    /// Title of the picture.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Do not write report.html.
    #[arg(long)]
    pub no_report: bool,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SourceArg {
    /// X on an S-shaped curve, F from a Gaussian process with an RBF kernel: the paper's simulation.
    SCurve,
    /// Everything drawn from the model's prior.
    Model,
}

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Source of the true values.
    #[arg(long, value_enum, default_value_t = SourceArg::SCurve)]
    pub source: SourceArg,
    /// Draw everything from the model's prior, as with `--source model`; prior.svg then shows what the prior assumes.
    #[arg(long, conflicts_with = "source")]
    pub prior: bool,
    /// Read the family, the priors and the other settings of the model from this file, in the format of the config.toml that every fit
    /// writes; flags override it. Only for tables from the prior.
    #[arg(long = "config", value_name = "FILE.toml")]
    pub file: Option<PathBuf>,
    /// Family of the columns (see `fit`) [default: poisson].
    #[arg(long)]
    pub likelihood: Option<String>,
    /// Rows N.
    #[arg(long, default_value_t = 500)]
    pub rows: usize,
    /// Columns J.
    #[arg(long, default_value_t = 100)]
    pub columns: usize,
    /// Trials per binomial cell (default 1) or per multinomial row (default 100).
    #[arg(long)]
    pub trials: Option<u32>,
    /// Also write a column `time`: the position along the S.
    #[arg(long)]
    pub time: bool,
    /// Fraction of the cells to leave empty, at random; complete.csv then holds the complete table.
    #[arg(long, value_name = "FRACTION")]
    pub missing: Option<f64>,
    /// The seed [default: drawn and printed].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Folder for table.csv and the true values.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

impl FitArgs {
    /// All settings that were typed.
    pub fn typed(&self) -> Config {
        self.config.0.clone().or(self.method.0.clone())
    }
}

impl SimulateArgs {
    /// Where the true values come from.
    pub fn source(&self) -> SourceArg {
        if self.prior { SourceArg::Model } else { self.source }
    }
}

fn kernel(text: &str) -> Result<KernelKind, String> {
    KernelKind::parse(text.as_ref())
}

/// The report that a run writes at its end.
#[derive(Debug, Args)]
pub struct PageArgs {
    /// Do not write report.html.
    #[arg(long, hide_short_help = true)]
    pub no_report: bool,
    /// Show rows as pictures in the report: height and width in pixels, one column per pixel, row by row from the top left.
    #[arg(long, value_name = "HxW", conflicts_with = "no_report", hide_short_help = true)]
    pub image: Option<Image>,
}
