//! What is compared: numbers of a block of columns that a wrong family, or too few latent axes, would get wrong.

use crate::linalg::Mat;
use crate::model::Block;
use crate::model::family::Theta;
use crate::posterior::diagnostics::quantile;
use crate::posterior::spread::mean_and_sd;

/// A number of a block of columns. Cells that are not observed do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Share of cells that are zero.
    Zeros,
    /// Variance over mean of a column; the median over columns.
    VarianceToMean,
    /// The largest cell.
    Largest,
    /// Standard deviation over rows of the sum of a row's cells, as if none were missing.
    RowTotals,
    /// Standard deviation over columns of a column's mean.
    ColumnMeans,
    /// Standard deviation over rows of the mean of a row's cells.
    RowMeans,
    /// Largest |y − f|/σ.
    LargestResidual,
    /// Kurtosis of (y − f)/σ, 3 for a normal distribution.
    Kurtosis,
    /// Entropy of a row's shares; the mean over rows.
    Entropy,
}

use Statistic::{ColumnMeans, Entropy, Kurtosis, Largest, LargestResidual, RowMeans, RowTotals, VarianceToMean, Zeros};

/// A block of a table, and the draw that it is compared under.
pub(super) struct Cells<'a> {
    pub y: &'a Mat,
    pub f: &'a Mat,
    pub theta: &'a Theta,
    pub block: &'a Block,
}

impl Statistic {
    /// Those that suit a family.
    pub fn of(family: &str) -> &'static [Statistic] {
        match family {
            "poisson" | "negative-binomial" | "zero-inflated-poisson" => &[Zeros, VarianceToMean, Largest, RowTotals],
            "bernoulli" | "binomial" => &[RowTotals, ColumnMeans],
            "gaussian" | "student-t" => &[LargestResidual, Kurtosis, RowMeans],
            "multinomial" => &[Zeros, Largest, Entropy],
            // A family of the user's own: nothing is known of its cells but that they are numbers.
            _ => &[Largest, RowMeans, ColumnMeans],
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Zeros => "share of zeros",
            VarianceToMean => "variance over mean, median column",
            Largest => "largest cell",
            RowTotals => "sd of row totals",
            ColumnMeans => "sd of column means",
            RowMeans => "sd of row means",
            LargestResidual => "largest |residual|/σ",
            Kurtosis => "kurtosis of residuals",
            Entropy => "entropy of rows, mean",
        }
    }

    /// Whether it depends on the draw, and not on the table alone.
    pub(super) fn is_realised(self) -> bool {
        matches!(self, LargestResidual | Kurtosis)
    }

    /// Of some cells.
    pub(super) fn value(self, cells: &Cells<'_>) -> f64 {
        match self {
            Zeros => mean_and_sd(&cells.all().map(|y| f64::from(u8::from(y == 0.0))).collect::<Vec<_>>()).0,
            Largest => cells.all().fold(f64::NEG_INFINITY, f64::max),
            VarianceToMean => {
                let ratio = |(mean, sd): (f64, f64)| if mean > 0.0 { sd * sd / mean } else { f64::NAN };
                let mut ratios: Vec<f64> =
                    cells.columns().map(|c| ratio(mean_and_sd(&c))).filter(|r| !r.is_nan()).collect();
                ratios.sort_unstable_by(f64::total_cmp);
                quantile(&ratios, 0.5)
            }
            RowTotals => cells.block.columns.len() as f64 * RowMeans.value(cells),
            RowMeans => mean_and_sd(&cells.rows().map(|r| mean_and_sd(&r).0).collect::<Vec<_>>()).1,
            ColumnMeans => mean_and_sd(&cells.columns().map(|c| mean_and_sd(&c).0).collect::<Vec<_>>()).1,
            LargestResidual => cells.residuals().fold(0.0, |largest, r| r.abs().max(largest)),
            Kurtosis => {
                let residuals: Vec<f64> = cells.residuals().collect();
                let (mean, sd) = mean_and_sd(&residuals);
                residuals.iter().map(|r| ((r - mean) / sd).powi(4)).sum::<f64>() / residuals.len() as f64
            }
            Entropy => mean_and_sd(&cells.rows().map(|r| entropy(&r)).collect::<Vec<_>>()).0,
        }
    }
}

impl Cells<'_> {
    /// The observed cells of each row that has any.
    fn rows(&self) -> impl Iterator<Item = Vec<f64>> {
        let row = |row: &[f64]| row[self.block.columns.clone()].iter().copied().filter(|y| !y.is_nan()).collect();
        self.y.iter_rows().map(row).filter(|row: &Vec<f64>| !row.is_empty())
    }

    fn columns(&self) -> impl Iterator<Item = Vec<f64>> {
        let column = |j: usize| (0..self.y.rows()).map(|n| self.y[(n, j)]).filter(|y| !y.is_nan()).collect();
        self.block.columns.clone().map(column)
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        self.y.iter_rows().flat_map(|row| &row[self.block.columns.clone()]).copied().filter(|y| !y.is_nan())
    }

    /// (y − f)/σ.
    fn residuals(&self) -> impl Iterator<Item = f64> {
        let start = self.block.columns.start;
        let parameter = self.block.family.parameters().first().copied();
        let inverse = move |j: usize| match parameter {
            Some("precision") => self.theta.values[(0, j)].sqrt(),
            _ => 1.0,
        };
        let scale: Vec<f64> = (0..self.block.columns.len()).map(inverse).collect();
        let rows = self.y.iter_rows().zip(self.f.iter_rows()).flat_map(move |(y, f)| {
            let of = |j: usize| (y[j] - f[j]) * scale[j - start];
            self.block.columns.clone().map(of).collect::<Vec<_>>()
        });
        rows.filter(|r| !r.is_nan())
    }
}

/// −Σ p ln p of the shares of a row.
fn entropy(row: &[f64]) -> f64 {
    let total: f64 = row.iter().sum();
    row.iter().map(|y| y / total).filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum()
}
