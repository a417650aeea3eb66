//! Splits a table into a part to fit and a part held out to score the fit.
//!
//! Cells are held out at random, never the last one of a row or column. A multinomial row is observed or missing as a
//! whole, so trials are held out instead: its counts are thinned binomially. Given f, the remaining and the held-out counts are
//! independent multinomials with the same probabilities. If all rows have one trial, as for a category, a row
//! whose trial is held out is missing.

use crate::error::SpecError;
use crate::linalg::Mat;
use crate::rng::{Stream, StreamRng};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::Binomial;

/// The two parts of a table, both in its shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The part to fit; held-out cells are missing.
    pub train: Mat,
    /// The held-out part; all other cells are missing.
    pub test: Mat,
}

/// How much is held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HeldOut {
    /// This fraction of the cells, once.
    Share(f64),
    /// Each cell once, in this many folds.
    Folds(usize),
}

/// Each fold holds a copy of the table and takes its own fit.
const MOST_FOLDS: usize = 100;

impl HeldOut {
    fn check(self) -> Result<(), SpecError> {
        let fail = |setting, value: String, rule: &str| Err(SpecError::Setting { setting, value, rule: rule.into() });
        match self {
            HeldOut::Share(share) if !(share > 0.0 && share < 1.0) => {
                fail("held-out", share.to_string(), "it must be a fraction of the cells, above 0 and below 1")
            }
            HeldOut::Folds(folds) if !(2..=MOST_FOLDS).contains(&folds) => {
                fail("folds", folds.to_string(), &format!("the number of folds must be from 2 to {MOST_FOLDS}"))
            }
            _ => Ok(()),
        }
    }

    /// Number of splits.
    pub fn splits(self) -> usize {
        match self {
            HeldOut::Share(_) => 1,
            HeldOut::Folds(folds) => folds,
        }
    }
}

/// Splits a table. Each element of `wholes` lists the columns of a multinomial block.
pub fn split(y: &Mat, wholes: &[Vec<usize>], how: HeldOut, stream: Stream) -> Result<Vec<Split>, SpecError> {
    how.check()?;
    let missing = Mat::from_vec(y.rows(), y.cols(), vec![f64::NAN; y.rows() * y.cols()]);
    let mut splits = vec![Split { train: y.clone(), test: missing }; how.splits()];
    cells(y, wholes, how, &mut splits, &mut stream.named("cells").rng());
    for (w, columns) in wholes.iter().enumerate() {
        let total = |n: usize| columns.iter().map(|&j| y[(n, j)]).sum::<f64>();
        let is_category = (0..y.rows()).map(total).all(|total| total.is_nan() || total == 1.0);
        for n in 0..y.rows() {
            let rng = &mut stream.named("trials").at(w as u64).at(n as u64).rng();
            trials(y, n, columns, is_category, how, &mut splits, rng);
        }
    }
    if splits.iter().any(|s| s.test.as_slice().iter().all(|v| v.is_nan())) {
        let (setting, value) = match how {
            HeldOut::Share(share) => ("held-out", share.to_string()),
            HeldOut::Folds(folds) => ("folds", folds.to_string()),
        };
        let rule =
            "no cell of this table can be held out, because every row and column must keep one; choose another number";
        return Err(SpecError::Setting { setting, value, rule: rule.into() });
    }
    Ok(splits)
}

/// Holds out cells of the columns that are not in `wholes`.
fn cells(y: &Mat, wholes: &[Vec<usize>], how: HeldOut, splits: &mut [Split], rng: &mut StreamRng) {
    let columns: Vec<usize> = (0..y.cols()).filter(|j| !wholes.iter().any(|w| w.contains(j))).collect();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for n in 0..y.rows() {
        order.extend(columns.iter().map(|&j| (n, j)).filter(|&cell| !y[cell].is_nan()));
    }
    order.shuffle(rng);
    let share = match how {
        HeldOut::Share(share) => share,
        HeldOut::Folds(folds) => 1.0 / folds as f64,
    };
    let count = order.len() as f64;
    let bound = |fold: usize| ((fold as f64 * share * count).round() as usize).min(order.len());
    for (fold, split) in splits.iter_mut().enumerate() {
        let mut left_in_row = vec![0; y.rows()];
        let mut left_in_column = vec![0; y.cols()];
        for &(n, j) in &order {
            left_in_row[n] += 1;
            left_in_column[j] += 1;
        }
        for &(n, j) in &order[bound(fold)..bound(fold + 1)] {
            if left_in_row[n] > 1 && left_in_column[j] > 1 {
                left_in_row[n] -= 1;
                left_in_column[j] -= 1;
                split.test[(n, j)] = y[(n, j)];
                split.train[(n, j)] = f64::NAN;
            }
        }
    }
}

/// Holds out trials of one multinomial row; a row that would lose all its trials keeps them, unless it is a category.
fn trials(
    y: &Mat,
    n: usize,
    columns: &[usize],
    is_category: bool,
    how: HeldOut,
    splits: &mut [Split],
    rng: &mut StreamRng,
) {
    if y[(n, columns[0])].is_nan() {
        return;
    }
    let mut left: Vec<u64> = columns.iter().map(|&j| y[(n, j)] as u64).collect();
    let total: u64 = left.iter().sum();
    let count = splits.len();
    for (fold, split) in splits.iter_mut().enumerate() {
        let share = match how {
            HeldOut::Share(share) => share,
            HeldOut::Folds(_) => 1.0 / (count - fold) as f64,
        };
        let take = |&left: &u64| Binomial::new(left, share).map_or(0, |law| rng.sample(law));
        let taken: Vec<u64> = left.iter().map(take).collect();
        left.iter_mut().zip(&taken).for_each(|(left, taken)| *left -= taken);
        let held: u64 = taken.iter().sum();
        if (1..total).contains(&held) {
            for (&j, &taken) in columns.iter().zip(&taken) {
                split.test[(n, j)] = taken as f64;
                split.train[(n, j)] = y[(n, j)] - taken as f64;
            }
        } else if held > 0 && is_category && can_spare(&split.train, n, columns) {
            for &j in columns {
                split.test[(n, j)] = y[(n, j)];
                split.train[(n, j)] = f64::NAN;
            }
        }
    }
}

/// Whether row n has other cells, and the category at `columns` has other rows.
fn can_spare(train: &Mat, n: usize, columns: &[usize]) -> bool {
    let has_cells = (0..train.cols()).any(|j| !columns.contains(&j) && !train[(n, j)].is_nan());
    has_cells && (0..train.rows()).any(|other| other != n && !train[(other, columns[0])].is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize, columns: usize) -> Mat {
        Mat::from_fn(rows, columns, |n, j| if (n + 2 * j) % 7 == 0 { f64::NAN } else { (3 * n + j) as f64 })
    }

    #[test]
    fn folds_hold_out_every_cell_once_and_parts_add_up() {
        let y = table(20, 9);
        let splits = split(&y, &[], HeldOut::Folds(4), Stream::new(1)).unwrap();
        for (i, &cell) in y.as_slice().iter().enumerate() {
            let held = splits.iter().filter(|s| !s.test.as_slice()[i].is_nan()).count();
            assert_eq!(held, usize::from(!cell.is_nan()));
            for s in &splits {
                let (train, test) = (s.train.as_slice()[i], s.test.as_slice()[i]);
                assert!(cell.is_nan() || (train == cell) != (test == cell));
            }
        }
    }

    #[test]
    fn no_row_or_column_loses_its_last_cell() {
        let mut y = table(30, 4);
        (0..29).for_each(|n| y[(n, 2)] = f64::NAN);
        (0..3).for_each(|j| y[(7, j)] = f64::NAN);
        let split = &split(&y, &[], HeldOut::Share(0.9), Stream::new(2)).unwrap()[0];
        assert!(!split.train[(29, 2)].is_nan() && !split.train[(7, 3)].is_nan());
        for n in 0..30 {
            assert!(split.train.row(n).iter().any(|v| !v.is_nan()));
        }
        for j in 0..4 {
            assert!(split.train.col(j).iter().any(|v| !v.is_nan()));
        }
    }

    #[test]
    fn the_share_is_held_out() {
        let y = Mat::from_fn(50, 20, |n, j| (n + j) as f64);
        let split = &split(&y, &[], HeldOut::Share(0.1), Stream::new(3)).unwrap()[0];
        assert_eq!(split.test.as_slice().iter().filter(|v| !v.is_nan()).count(), 100);
    }

    #[test]
    fn trials_of_multinomial_rows_are_shared_out() {
        let y = Mat::from_fn(40, 5, |n, j| if n == 3 { f64::NAN } else { (n * (j + 1)) as f64 + 1.0 });
        let wholes = [(0..5).collect::<Vec<_>>()];
        let one = &split(&y, &wholes, HeldOut::Share(0.2), Stream::new(4)).unwrap()[0];
        let (mut held, mut all) = (0.0, 0.0);
        for n in (0..40).filter(|&n| n != 3) {
            for j in 0..5 {
                let test = if one.test[(n, j)].is_nan() { 0.0 } else { one.test[(n, j)] };
                assert_eq!(one.train[(n, j)] + test, y[(n, j)]);
                held += test;
                all += y[(n, j)];
            }
            assert!(one.train.row(n).iter().sum::<f64>() >= 1.0);
        }
        assert!(one.train.row(3).iter().chain(one.test.row(3)).all(|v| v.is_nan()));
        // Four standard errors of a binomial.
        assert!((held - 0.2 * all).abs() < 4.0 * (0.16_f64 * all).sqrt(), "{held} of {all}");
        let folds = split(&y, &wholes, HeldOut::Folds(3), Stream::new(4)).unwrap();
        for n in (4..40).filter(|&n| n != 3) {
            for j in 0..5 {
                assert_eq!(folds.iter().map(|s| s.test[(n, j)]).sum::<f64>(), y[(n, j)]);
            }
        }
    }

    #[test]
    fn cells_of_a_category_are_held_out_as_a_whole() {
        // Two columns of a category next to one of numbers; row 0 has nothing else.
        let y = Mat::from_fn(60, 3, |n, j| match (n, j) {
            (0, 0) | (5, 1 | 2) => f64::NAN,
            (_, 0) => n as f64,
            _ => f64::from(n % 2 == j % 2),
        });
        let splits = split(&y, &[vec![1, 2]], HeldOut::Folds(3), Stream::new(4)).unwrap();
        for n in 1..60 {
            let held: Vec<usize> = (0..3).filter(|&s| !splits[s].test[(n, 1)].is_nan()).collect();
            assert_eq!(held.len(), usize::from(n != 5), "row {n}");
            for &s in &held {
                assert_eq!(splits[s].test.row(n)[1..], y.row(n)[1..]);
                assert!(splits[s].train.row(n)[1..].iter().all(|v| v.is_nan()));
            }
        }
        assert!(splits.iter().all(|s| s.test[(0, 1)].is_nan() && s.train[(0, 1)] == y[(0, 1)]));
    }

    #[test]
    fn what_cannot_be_held_out_is_refused() {
        let y = Mat::from_fn(3, 1, |n, _| n as f64);
        for how in [HeldOut::Share(0.0), HeldOut::Share(1.0), HeldOut::Share(f64::NAN), HeldOut::Folds(1)] {
            assert!(split(&y, &[], how, Stream::new(1)).is_err());
        }
        // Each row has only one cell.
        assert!(split(&y, &[], HeldOut::Share(0.5), Stream::new(1)).unwrap_err().to_string().contains("no cell"));
    }
}
