//! Arguments of the commands that ask a fit a question.

use super::{ReplaceArgs, ReplyArgs};
use clap::{ArgGroup, Args, ValueEnum};
use rflvm_report::Image;
use rflvm_study::device::DeviceChoice;
use rflvm_study::table::{Decimal, Separator};
use std::path::PathBuf;

/// Explains the lines and columns of a summary.
const SUMMARY_NOTES: &str = "\
Quantities:
  lp              log joint density
  log_likelihood  log-likelihood
  alpha           concentration of the Dirichlet process
  clusters        number of clusters of frequencies
  w2              sum of squared frequencies
  distance        distances between some pairs of rows
  f_cell          linear predictor of some cells
  time_scale      geometric mean of the length-scales over time
  axes_in_use     number of axes in use

Columns: posterior mean and standard deviation, Monte Carlo standard error of the mean, bulk and tail effective sample size, R̂.";

#[derive(Debug, Args)]
#[command(after_help = SUMMARY_NOTES)]
pub struct SummaryArgs {
    /// The folder of the fit; it may still be running.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct ImputeArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Output file, a .csv with the columns row (counted from 1), column, mean, sd, q05, q50 and q95: one line per missing cell.
    /// Without it, --json prints these columns.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["truth", "json"])]
    pub out: Option<PathBuf>,
    /// Score the predictions against this table, which has the rows and columns of the fitted one and values for cells that were missing
    /// there: squared error, log density, and how many cells lie in the intervals.
    #[arg(long, value_name = "TABLE", conflicts_with = "draws")]
    pub truth: Option<PathBuf>,
    /// Write M completed tables instead, for multiple imputation: FILE-1.csv, FILE-2.csv, … next to FILE. Observed
    /// cells are kept; missing ones are drawn, each table from a different posterior draw.
    #[arg(long, value_name = "M", requires = "out")]
    pub draws: Option<usize>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("when").required(true).multiple(true).args(["times", "horizon", "backtest"])))]
pub struct ForecastArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// New times, comma-separated and written like those of the table, or a file with one per line; not before the first row.
    #[arg(long, value_name = "T,…|FILE", allow_hyphen_values = true, conflicts_with_all = ["horizon", "backtest"])]
    pub times: Option<String>,
    /// Number of new times after the last one of each sequence, spaced like the typical gap between times. With --backtest, number
    /// of rows to forecast from each origin [default: 5].
    #[arg(long, value_name = "K")]
    pub horizon: Option<usize>,
    /// Forecast only this sequence [default: all].
    #[arg(long, value_name = "NAME", conflicts_with = "backtest")]
    pub sequence: Option<String>,
    /// Covariates of the new rows, comma-separated; those not given are at the average of the rows.
    #[arg(long, value_name = "NAME=VALUE,…", value_delimiter = ',')]
    pub covariates: Vec<String>,
    /// Output file, a .csv with the columns time, sequence (if there are sequences), column, mean, sd, q05, q50 and q95: one line
    /// per new time and column. With --backtest, a .csv of scores, with the cells in FILE-cells.csv and a picture in FILE.svg
    /// [default: DIR/backtest.csv]. Without it, --json prints these columns.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["backtest", "json"])]
    pub out: Option<PathBuf>,
    /// Write M simulated futures instead: FILE-1.csv, FILE-2.csv, … next to FILE, one line per new time, each from a different
    /// posterior draw.
    #[arg(long, value_name = "M", conflicts_with = "backtest", requires = "out")]
    pub draws: Option<usize>,
    /// Test the forecasts on known rows: from K origins in the last third of each sequence, fit the model to the rows before the
    /// origin, forecast those after it, and compare the forecasts with simple baselines.
    #[arg(long, value_name = "K")]
    pub backtest: Option<usize>,
    /// Period of a seasonal baseline (the value one period earlier), in the units of the times; days for dates.
    #[arg(long, value_name = "P", requires = "backtest")]
    pub period: Option<f64>,
    /// Warm-up sweeps, and draws, of each chain of a back-test [default: as in the fit, but at most 300].
    #[arg(long, value_name = "S", requires = "backtest")]
    pub sweeps: Option<u64>,
    /// Kernels over time to compare in a back-test, comma-separated [default: that of the fit].
    #[arg(long, value_name = "KERNEL,…", value_delimiter = ',', requires = "backtest")]
    pub time_kernels: Option<Vec<String>>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct TransformArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The new rows, in a table of any format that `fit` reads. Columns are matched to those of the fit by name, in any order,
    /// including those of --id, --labels, --offset, --time, --sequence and --covariates; without names, their number must match. Cells may be missing.
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// Output file, a .csv with the columns of embedding.csv, then log_density (of all observed cells of the row jointly),
    /// log_density_per_cell, and outlier_score: the fraction of training rows (leave-one-out) with higher predictive density.
    /// Without it, --json prints these columns.
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    pub out: Option<PathBuf>,
    /// Also write M draws of the positions, each from a different posterior draw, in the frame of embedding.csv.
    #[arg(long, value_name = "M")]
    pub draws: Option<usize>,
    /// File for the draws: a .csv with the columns row and draw (both counted from 1), x1, x2, …, or a .npy (draw × row × axis)
    /// [default: FILE-draws.csv next to FILE].
    #[arg(long, value_name = "FILE", requires = "draws")]
    pub draws_out: Option<PathBuf>,
    /// Trials of the new rows, if the fit has a table of trials: a table with the shape of the new one.
    #[arg(long, value_name = "TABLE")]
    pub trials: Option<String>,
    /// Table with the columns of --id, --labels, --offset, --time, --sequence and --covariates for the new rows, as for `fit`
    /// [default: they are in TABLE].
    #[arg(long, value_name = "FILE")]
    pub row_data: Option<PathBuf>,
    /// Separator of a text table, as for `fit` [default: as in the fit].
    #[arg(long, value_name = "CHAR")]
    pub separator: Option<Separator>,
    /// Decimal mark of a text table, as for `fit` [default: as in the fit].
    #[arg(long, value_name = "CHAR")]
    pub decimal: Option<Decimal>,
    /// Words for missing cells of a text table, as for `fit` [default: as in the fit].
    #[arg(long, value_delimiter = ',', value_name = "WORD,…", allow_hyphen_values = true)]
    pub na: Option<Vec<String>>,
    /// Array of an .npz file that holds several [default: as in the fit].
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Where the rows are placed: auto, cpu, cuda, or cuda:1 for the second card [default: a card if the fit had one and there is one here].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceChoice>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("where").required(true).args(["rows", "at", "grid", "path"])))]
pub struct PredictArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Rows of the table to predict as if observed again: numbers and ranges such as 3,5-9 (counted from 1), names, or all.
    #[arg(long, value_name = "ROWS|all", allow_hyphen_values = true)]
    pub rows: Option<String>,
    /// Positions from a .csv with the columns x1, x2, … of embedding.csv, one line per point; columns named after covariates are those of
    /// the points.
    #[arg(long, value_name = "FILE")]
    pub at: Option<PathBuf>,
    /// A grid with K points per axis over the range of embedding.csv; with more than two axes, over the first two, the others at 0.
    #[arg(long, value_name = "K")]
    pub grid: Option<usize>,
    /// Points on the straight line between the mean positions of two rows, given as for --rows.
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    pub path: Option<String>,
    /// Number of points on the path, including its ends.
    #[arg(long, value_name = "K", default_value_t = 10, requires = "path")]
    pub steps: usize,
    /// Covariates, comma-separated: rows are predicted with these values in place of what was recorded. Of points, those not given are at the
    /// average of the rows.
    #[arg(long, value_name = "NAME=VALUE,…", value_delimiter = ',')]
    pub covariates: Vec<String>,
    /// Output file, a .csv with the columns row, or point and its position (both counted from 1), then column, mean, sd, q05, q50
    /// and q95: one line per cell. Points have the mean of the rows' offsets; a multinomial row at a point has one trial.
    /// Without it, --json prints these columns.
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    pub out: Option<PathBuf>,
    /// Write M drawn tables instead: FILE-1.csv, FILE-2.csv, … next to FILE, one line per row or point, each from a different
    /// posterior draw.
    #[arg(long, value_name = "M", requires = "out")]
    pub draws: Option<usize>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Output file, a .csv with the columns block, family, columns, statistic, observed, mean, q05, q95, p, words and suggests: one
    /// line per statistic, then one per prior that conflicts with its posterior. The picture is written next to it, as FILE.svg [default: DIR/check.csv].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct KernelArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Output file, a .csv with the columns along (x1, x2, … or all directions), delta, mean, q05 and q95 of k(δ). Also written:
    /// FILE-spectrum.csv, the same for the density of |w|, and the picture FILE.svg.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Also write the posterior mean and standard deviation of K(X, X), an array of 2 × rows × rows.
    #[arg(long, value_name = "FILE.npy")]
    pub matrix: Option<PathBuf>,
    /// Rows of the matrix: numbers and ranges such as 3,5-9 (counted from 1), names, or all.
    #[arg(long, value_name = "ROWS|all", requires = "matrix", allow_hyphen_values = true)]
    pub rows: Option<String>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct DistancesArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Output file, a .csv with the columns row, other, mean, sd, q05, q25, q50, q75 and q95: one line per pair of rows.
    /// Without it, --json prints these columns.
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    pub out: Option<PathBuf>,
    /// Rows whose distances are written: numbers and ranges such as 3,5-9 (counted from 1), names, or all.
    #[arg(long, value_name = "ROWS|all", default_value = "all", allow_hyphen_values = true)]
    pub rows: String,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct NeighborsArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Output file, a .csv with the columns row, neighbor, probability (the share of draws in which it is among the nearest) and distance (its mean).
    /// Without it, --json prints these columns.
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    pub out: Option<PathBuf>,
    /// How many rows are the nearest of a row.
    #[arg(long, value_name = "K", default_value_t = 15)]
    pub neighbors: usize,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Picture {
    /// Positions of the rows, with their uncertainty.
    Latent,
    /// Positions over time, if rows have times.
    Paths,
    /// Draws of the quantities by which convergence is judged.
    Trace,
    /// The learned kernel and its spectral density.
    Kernel,
    /// Posterior predictive checks.
    Check,
    /// The next times of the first columns, if rows have times.
    Forecast,
}

#[derive(Debug, Args)]
pub struct PlotArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The picture.
    #[arg(long, value_enum, default_value_t = Picture::Latent)]
    pub what: Picture,
    /// Output file: .svg, .png or .pdf. The last two need the program `rsvg-convert`.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Number of new times of a forecast.
    #[arg(long, value_name = "K", default_value_t = 12)]
    pub horizon: usize,
    /// Title of the picture [default: that of the fit].
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Output file, a web page [default: DIR/report.html].
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
    /// Show rows as pictures: height and width in pixels, one column per pixel, row by row from the top left.
    #[arg(long, value_name = "HxW")]
    pub image: Option<Image>,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The folder of the fit.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Quantity to export: x (positions), w (frequencies), z (cluster of each frequency), beta (weights), alpha (concentration
    /// of the Dirichlet process), clusters (their number), w2 (sum of squared frequencies), distance (between some pairs of rows),
    /// f_cell (linear predictor of some cells), lp (log joint density), log_likelihood, or a family's parameter.
    #[arg(long, default_value = "x")]
    pub what: String,
    /// Output file: .csv (one line per number; chains, draws, rows and columns are counted from 1) or .npy (chain × draw × the
    /// quantity's own axes).
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub reply: ReplyArgs,
}
