//! What was typed.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Bayesian non-linear dimension reduction for counts, yes/no, compositional, real and incomplete tables.
///
/// Exit codes: 0 done; 1 sampling or writing failed; 2 the input or the command must be corrected.
#[derive(Debug, Parser)]
#[command(name = "rflvm", version, propagate_version = true)]
pub struct Program {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch the model learn an S-shaped manifold from counts.
    Demo(DemoArgs),
    /// Fit a table: latent positions of its rows, with their uncertainty.
    Fit(FitArgs),
    /// Draw a table from the model, or the S-curve, with its truth.
    Simulate(SimulateArgs),
}

/// How long and where to run.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Sweeps before draws are kept.
    #[arg(long, default_value_t = 1000)]
    pub warmup: u64,
    /// Draws kept per chain.
    #[arg(long, default_value_t = 1000)]
    pub draws: u64,
    /// Sweeps per kept draw.
    #[arg(long, default_value_t = 1)]
    pub thin: u64,
    /// Number of chains.
    #[arg(long, default_value_t = 2)]
    pub chains: usize,
    /// The seed, from which all randomness follows; drawn and printed if not given.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Threads to use; all cores by default. The draws do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
    /// The most the processor may use of its instruction sets. Draws agree to the last bit only between machines that use
    /// the same; sums round differently with fused instructions and without.
    #[arg(long, value_enum, default_value_t = InstructionsArg::Best)]
    pub instructions: InstructionsArg,
    /// Where chains begin.
    #[arg(long, value_enum, default_value_t = StartArg::Pca)]
    pub start: StartArg,
    /// No progress, no summary; errors only.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InstructionsArg {
    /// Whatever this machine has.
    Best,
    /// AVX2 with fused multiply-add, even where AVX-512 is there.
    Avx2,
    /// What every processor of the kind has; several times slower.
    Baseline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StartArg {
    /// Principal components on the link scale (probabilistic ones where cells are missing).
    Pca,
    /// Standard normal positions.
    Random,
}

#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Latent dimension D.
    #[arg(long, default_value_t = 2)]
    pub latent_dim: usize,
    /// Random features M, an even number (sine and cosine of M/2 frequencies).
    #[arg(long, default_value_t = 100)]
    pub features: usize,
    /// Kernel: learned with the frequencies, or a fixed RBF of length-scale --length-scale.
    #[arg(long, value_enum, default_value_t = KernelArg::Learned)]
    pub kernel: KernelArg,
    /// Length-scale of the fixed RBF kernel.
    #[arg(long, default_value_t = 1.0)]
    pub length_scale: f64,
    /// Variance of the weights: a number for all columns, or `learned` for one a column.
    #[arg(long, default_value = "1")]
    pub amplitude: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KernelArg {
    /// A Dirichlet-process mixture over frequencies.
    Learned,
    /// exp(−|x−x'|²/(2ℓ²)).
    Rbf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OffsetArg {
    /// No offset.
    None,
    /// ln of each row's total relative to the mean: for counts whose totals say nothing.
    SizeFactors,
}

#[derive(Debug, Args)]
pub struct FitArgs {
    /// The table, one row a sample: .csv, .tsv or .mtx (also .gz), .npy, .npz, .parquet, .arrow or .feather. Empty, NA
    /// and null cells are missing.
    pub table: PathBuf,
    /// Family of the columns: gaussian, poisson, bernoulli, binomial, negative-binomial, multinomial, student-t,
    /// zero-inflated-poisson.
    #[arg(long)]
    pub likelihood: String,
    /// Trials of a binomial: a number, or a table of the data's shape.
    #[arg(long)]
    pub trials: Option<String>,
    /// Known offset of each row on the link scale.
    #[arg(long, value_enum, default_value_t = OffsetArg::None)]
    pub offset: OffsetArg,
    /// Column with labels: they colour the picture and are scored, and never enter the fit.
    #[arg(long, value_name = "COL")]
    pub labels: Option<String>,
    /// Column with names of the rows.
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,
    /// Columns to fit, comma-separated; all numeric ones by default.
    #[arg(long, value_delimiter = ',', value_name = "COL,…")]
    pub columns: Option<Vec<String>>,
    /// Array of an .npz file that holds several.
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Folder for the results.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub run: RunArgs,
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
    /// The seed; drawn and printed if not given.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Folder for table.csv and the truth.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub model: ModelArgs,
}
