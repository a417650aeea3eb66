//! Arguments of the commands that say what drives columns and what sets groups of rows apart.

use super::{ReplaceArgs, ReplyArgs};
use clap::{ArgGroup, Args};
use rflvm_study::answers::{differences, groups};
use std::path::PathBuf;

/// Explains places.
const EFFECTS_NOTES: &str = "\
Without --along, --towards, --from or --path, the variance of each column over the rows is divided by where it comes from: the map, each axis on \
its own, the interaction of axes, covariates, the column's own process over time, and noise. Shares of positions and covariates that go together \
need not add up to one.

A PLACE is a row (its number, counted from 1, or its name), or coordinates along the axes of embedding.csv, separated by commas: 0.5,-1.2. With a single \
axis, a number with a decimal point is a coordinate.";

#[derive(Debug, Args)]
#[command(after_help = EFFECTS_NOTES)]
#[command(group(ArgGroup::new("what").args(["along", "towards", "from", "path"])))]
pub struct EffectsArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The gradient of each column along an axis of embedding.csv, such as x1; averaged over the rows, or at --at.
    #[arg(long, value_name = "AXIS")]
    pub along: Option<String>,
    /// The gradient of each column towards a place, from --at, or from the mean of all positions.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    pub towards: Option<String>,
    /// Where the gradient is taken.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true, conflicts_with_all = ["from", "path"])]
    pub at: Option<String>,
    /// How each column changes from this place to --to.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true, requires = "to")]
    pub from: Option<String>,
    /// The end of the way.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true, requires = "from")]
    pub to: Option<String>,
    /// How each column changes along straight lines between places, separated by semicolons.
    #[arg(long, value_name = "PLACE;…", allow_hyphen_values = true)]
    pub path: Option<String>,
    /// Output file, a .csv with one line per source and column: variance on the scale of the link and its share, each with standard deviation and 5%
    /// and 95% quantiles. Gradients and changes have one line per column, the largest in units of the column first.
    /// Without it, --json prints these columns.
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct DifferencesArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Groups of the rows: the column of --labels, a covariate, another column of the table, or a .csv with the id of a row and its group in each line.
    #[arg(long, value_name = "COL|FILE")]
    pub groups: String,
    /// Compare two groups [default: each group with all others].
    #[arg(long, value_name = "A,B")]
    pub between: Option<String>,
    /// Differences up to this size do not count: on the scale of the link, and in standard deviations of columns of real numbers.
    #[arg(long, value_name = "SIZE", default_value_t = differences::SIZE, allow_negative_numbers = true)]
    pub size: f64,
    /// Write only the columns that are listed at this false discovery rate.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub fdr: Option<f64>,
    /// Output file, a .csv with one line per comparison and column, first the difference that is at least the largest: the difference on the scale of
    /// the link, the probability of its direction, the p-value of a difference up to SIZE, the false discovery rate at which the column is listed, and
    /// the means and the difference on the scale of the data, at average covariates and the mean offset.
    /// Without it, --json prints these columns.
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}

#[derive(Debug, Args)]
pub struct GroupsArgs {
    /// The folder of the fit; it may still be running, or have been stopped.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Groups of the rows: the column of --labels, a covariate, another column of the table, or a .csv with the id of a row and its group in each line.
    #[arg(long, value_name = "COL|FILE")]
    pub groups: String,
    /// How many rows are the nearest of a row.
    #[arg(long, value_name = "K", default_value_t = groups::NEIGHBORS)]
    pub neighbors: usize,
    /// Output file, a .csv with one line per row: its group, the probability that one of its nearest rows belongs to it, the most probable other group,
    /// whether the row is inside, at the boundary of, or outside its group, and the probability of each group.
    /// Without it, --json prints these columns.
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    #[command(flatten)]
    pub reply: ReplyArgs,
}
