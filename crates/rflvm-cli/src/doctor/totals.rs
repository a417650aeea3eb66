//! All cells of a table together: missing cells, the dispersion of counts, differences between row totals.

use rflvm_study::families::{self, OVERDISPERSED};
use rflvm_study::seen::{Kind, Seen};
use rflvm_study::table::{Source, Table};

/// Size factors are suggested if row totals differ by more than this factor.
const UNEQUAL: f64 = 5.0;

/// Properties of all cells together.
pub struct Totals {
    pub cells: usize,
    pub missing: usize,
    pub empty_rows: usize,
    /// Whether all columns are counts or zeros and ones, with at least one of counts.
    pub are_counts: bool,
    /// Median over columns of variance over mean.
    pub dispersion: f64,
    /// Fraction of the cells that are zero.
    pub zeros: f64,
    /// Largest over smallest non-zero row total.
    pub ratio: f64,
    /// Rows whose cells are all zero.
    pub zero_rows: usize,
}

impl Totals {
    pub fn of(table: &Table, seen: &[Seen]) -> Self {
        let width = table.columns.len();
        let rows = || table.values.chunks_exact(width.max(1));
        // A category is one cell of the user's, represented by its first column.
        let sources = table.sources();
        let first = |source: &Source| match source {
            Source::Number(j) => *j,
            Source::Category(category) => category.first,
        };
        let missing = |row: &[f64]| sources.iter().filter(|source| row[first(source)].is_nan()).count();
        let count = |kind: Kind| seen.iter().filter(|s| s.kind == kind).count();
        let observed = |row: &[f64]| row.iter().any(|v| !v.is_nan());
        let total = |row: &[f64]| row.iter().filter(|v| !v.is_nan()).sum::<f64>();
        let totals: Vec<f64> = rows().filter(|row| observed(row)).map(total).collect();
        let filled = totals.iter().copied().filter(|total| *total > 0.0);
        let (low, high) = filled.fold((f64::INFINITY, 0.0_f64), |(low, high), t| (low.min(t), high.max(t)));
        let (counts, others) = (count(Kind::Counts), count(Kind::Binary) + count(Kind::Nothing));
        Totals {
            cells: table.rows * sources.len(),
            missing: rows().map(missing).sum(),
            empty_rows: rows().filter(|row| !observed(row)).count(),
            are_counts: counts > 0 && counts + others == seen.len(),
            dispersion: families::dispersion(seen.iter().filter(|s| matches!(s.kind, Kind::Counts | Kind::Binary))),
            zeros: table.values.iter().filter(|v| **v == 0.0).count() as f64 / table.values.len().max(1) as f64,
            ratio: if high > 0.0 { high / low } else { 1.0 },
            zero_rows: totals.iter().filter(|total| **total == 0.0).count(),
        }
    }

    /// Whether size factors are suggested.
    pub fn are_unequal(&self) -> bool {
        self.are_counts && self.ratio > UNEQUAL
    }

    /// In words.
    pub fn lines(&self) -> Vec<String> {
        let share = 100.0 * self.missing as f64 / self.cells.max(1) as f64;
        let mut lines = vec![match (self.missing, self.empty_rows) {
            (0, _) => "no cell is missing".into(),
            (missing, 0) => format!("{missing} cells are missing ({share:.1}%)"),
            (missing, rows) => format!("{missing} cells are missing ({share:.1}%), including {rows} whole rows"),
        }];
        if self.are_counts {
            let word = match self.dispersion > OVERDISPERSED {
                true => "more than Poisson, so negative-binomial suits better",
                false => "consistent with Poisson",
            };
            let (ratio, zeros) = (self.dispersion, 100.0 * self.zeros);
            lines.push(format!(
                "variance over mean of the counts: {ratio:.2} in the median column, {word}; {zeros:.0}% zeros"
            ));
        }
        if self.are_unequal() {
            let ratio = if self.ratio < 1e6 { format!("{:.0}", self.ratio) } else { format!("{:.0e}", self.ratio) };
            let remedy = match self.zero_rows {
                0 => "use --offset size-factors, or multinomial".to_string(),
                rows => format!("drop the rows that are all zero ({rows}) and use --offset size-factors"),
            };
            lines.push(format!("row totals differ {ratio}-fold: if they only reflect how much was measured, {remedy}"));
        }
        lines
    }
}
