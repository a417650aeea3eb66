//! The value of a statistic for a block of observed or replicated cells.

use crate::linalg::Mat;
use crate::model::Block;
use crate::model::family::{Statistic, Theta};
use crate::posterior::diagnostics::quantile;
use crate::posterior::spread::mean_and_sd;

use Statistic::{
    Association, ColumnMeans, Entropy, Kurtosis, Largest, LargestResidual, Likeliest, RowMeans, RowTotals,
    VarianceToMean, Zeros,
};

/// The cells of a block, with the draw of the parameters under which they are compared.
pub(super) struct Sample<'a> {
    pub y: &'a Mat,
    pub f: &'a Mat,
    pub theta: &'a Theta,
    pub block: &'a Block,
    /// The other category of a pair.
    pub other: Option<&'a Block>,
}

/// The statistic of some cells.
pub(super) fn value(statistic: Statistic, cells: &Sample<'_>) -> f64 {
    match statistic {
        Zeros => mean_and_sd(&cells.all().map(|y| f64::from(u8::from(y == 0.0))).collect::<Vec<_>>()).0,
        Largest => cells.all().fold(f64::NEG_INFINITY, f64::max),
        VarianceToMean => {
            let ratio = |(mean, sd): (f64, f64)| if mean > 0.0 { sd * sd / mean } else { f64::NAN };
            let mut ratios: Vec<f64> =
                cells.columns().map(|c| ratio(mean_and_sd(&c))).filter(|r| !r.is_nan()).collect();
            ratios.sort_unstable_by(f64::total_cmp);
            quantile(&ratios, 0.5)
        }
        RowTotals => cells.block.columns.len() as f64 * value(RowMeans, cells),
        RowMeans => mean_and_sd(&cells.rows().map(|r| mean_and_sd(&r).0).collect::<Vec<_>>()).1,
        ColumnMeans => mean_and_sd(&cells.columns().map(|c| mean_and_sd(&c).0).collect::<Vec<_>>()).1,
        LargestResidual => cells.residuals().fold(0.0, |largest, r| r.abs().max(largest)),
        Kurtosis => {
            let residuals: Vec<f64> = cells.residuals().collect();
            let (mean, sd) = mean_and_sd(&residuals);
            residuals.iter().map(|r| ((r - mean) / sd).powi(4)).sum::<f64>() / residuals.len() as f64
        }
        Entropy => mean_and_sd(&cells.rows().map(|r| entropy(&r)).collect::<Vec<_>>()).0,
        Likeliest => {
            let columns = cells.block.columns.clone();
            let (mut there, mut all) = (0.0, 0.0);
            for (y, f) in cells.y.iter_rows().zip(cells.f.iter_rows()) {
                let (y, f) = (&y[columns.clone()], &f[columns.clone()]);
                let total: f64 = y.iter().sum();
                let likeliest = f.iter().zip(y).max_by(|a, b| a.0.total_cmp(b.0));
                if let Some((_, y)) = likeliest.filter(|_| !total.is_nan()) {
                    (there, all) = (there + y, all + total);
                }
            }
            there / all
        }
        Association => cells.other.map_or(f64::NAN, |other| association(cells.y, cells.block, other)),
    }
}

/// Cramér's V of two categories, over the rows that have both; NaN if a row of a block is not one answer.
pub(super) fn association(y: &Mat, one: &Block, two: &Block) -> f64 {
    let (height, width) = (one.columns.len(), two.columns.len());
    let (mut joint, mut count) = (Mat::zeros(height, width), 0.0);
    for row in y.iter_rows() {
        let (one, two) = (&row[one.columns.clone()], &row[two.columns.clone()]);
        let is_answer = |cells: &[f64]| cells.iter().sum::<f64>() == 1.0 && cells.contains(&1.0);
        if one[0].is_nan() || two[0].is_nan() {
            continue;
        }
        if !is_answer(one) || !is_answer(two) {
            return f64::NAN;
        }
        let place = |cells: &[f64]| cells.iter().position(|y| *y == 1.0).unwrap_or(0);
        joint[(place(one), place(two))] += 1.0;
        count += 1.0;
    }
    let total = |of: &dyn Fn(usize) -> f64, n: usize| (0..n).map(of).sum::<f64>();
    let rows: Vec<f64> = (0..height).map(|i| total(&|j| joint[(i, j)], width)).collect();
    let columns: Vec<f64> = (0..width).map(|j| total(&|i| joint[(i, j)], height)).collect();
    let mut chi = 0.0;
    for (i, a) in rows.iter().enumerate() {
        for (j, b) in columns.iter().enumerate().filter(|(_, b)| a * **b > 0.0) {
            let expected = a * b / count;
            chi += (joint[(i, j)] - expected).powi(2) / expected;
        }
    }
    (chi / (count * (height.min(width) - 1).max(1) as f64)).sqrt()
}

impl Sample<'_> {
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
            let link = |y: f64| if self.block.family.is_logarithmic() { y.ln() } else { y };
            let of = |j: usize| (link(y[j]) - f[j]) * scale[j - start];
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
