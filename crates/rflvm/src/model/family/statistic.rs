//! Statistics of a block of columns that a wrong family, or too few latent axes, would reproduce badly.

/// A number computed from the observed cells of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Share of cells that are zero.
    Zeros,
    /// Variance over mean of each column; the median over columns.
    VarianceToMean,
    /// The largest cell.
    Largest,
    /// Standard deviation over rows of the row totals, rescaled to complete rows.
    RowTotals,
    /// Standard deviation over columns of the column means.
    ColumnMeans,
    /// Standard deviation over rows of the row means.
    RowMeans,
    /// Largest |y − f|/σ.
    LargestResidual,
    /// Kurtosis of (y − f)/σ, 3 for a normal distribution.
    Kurtosis,
    /// Entropy of the shares in a row; the mean over rows.
    Entropy,
    /// Share of all counts that are in the category with the largest f of their row.
    Likeliest,
    /// Cramér's V of two categories with one answer per row: from 0, unrelated, to 1.
    Association,
}

use Statistic::{
    Association, ColumnMeans, Entropy, Kurtosis, Largest, LargestResidual, Likeliest, RowMeans, RowTotals,
    VarianceToMean, Zeros,
};

impl Statistic {
    /// For a family that says nothing about its cells except that they are numbers.
    pub const ANY: &[Statistic] = &[Largest, RowMeans, ColumnMeans];
    /// For unbounded counts.
    pub const COUNTS: &[Statistic] = &[Zeros, VarianceToMean, Largest, RowTotals];
    /// For yes/no cells and counts with known trials.
    pub const TRIALS: &[Statistic] = &[RowTotals, ColumnMeans];
    /// For real numbers with noise of scale σ.
    pub const REAL: &[Statistic] = &[LargestResidual, Kurtosis, RowMeans];
    /// For ordered levels.
    pub const LEVELS: &[Statistic] = &[VarianceToMean, RowMeans, ColumnMeans];
    /// For counts over the categories of a row.
    pub const CATEGORIES: &[Statistic] = &[Zeros, Largest, Entropy, ColumnMeans, Likeliest];

    /// Its name in reports.
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
            Likeliest => "share in the likeliest category",
            Association => "association",
        }
    }

    /// Whether it depends on the parameters as well as on the table.
    pub(crate) fn is_realised(self) -> bool {
        matches!(self, LargestResidual | Kurtosis | Likeliest)
    }
}
