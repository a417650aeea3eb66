//! Points in the latent space to predict: from a file, on a grid, or on the line between two rows.

use super::rows;
use crate::args::PredictArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::align::Embedding;
use rflvm_study::table::{self, ReadOptions};
use rflvm_study::{Error, Fit};
use std::path::Path;

/// The points of one request.
const MOST: usize = 1_000_000;

/// The points, one per row, in the frame of embedding.csv, and their covariates.
pub fn places(args: &PredictArgs, fit: &Fit, embedding: &Embedding) -> Result<(Mat, Mat), Failure> {
    let x = match (&args.at, args.grid, &args.path) {
        (Some(file), ..) => return at(file, &args.covariates, fit, embedding.mean.cols()),
        (_, Some(steps), _) => grid(steps, &embedding.mean, Reply::from(&args.reply).console())?,
        (.., Some(ends)) => path(ends, args.steps, fit, &embedding.mean)?,
        _ => Mat::zeros(0, embedding.mean.cols()),
    };
    let same = fit.covariates_set(&args.covariates)?;
    let covariates = Mat::from_fn(x.rows(), same.len(), |_, c| same[c]);
    Ok((x, covariates))
}

fn wrong(setting: &'static str, value: impl ToString, rule: impl Into<String>) -> SpecError {
    SpecError::Setting { setting, value: value.to_string(), rule: rule.into() }
}

/// Positions from a file with the columns x1, x2, …, and covariates from columns of their names, where it has them.
fn at(file: &Path, given: &[String], fit: &Fit, dim: usize) -> Result<(Mat, Mat), Failure> {
    let columns: Vec<String> = (1..=dim).map(|d| format!("x{d}")).collect();
    let names = columns.join(", ");
    let bad = |problem: String| Failure::from(Error::Config { file: file.display().to_string(), problem });
    let look = table::look(file, &ReadOptions::default())?;
    let mut known = fit.covariates.columns();
    known.retain(|name| look.has(name) && !columns.iter().any(|column| column == name));
    let covariates = known.iter().map(ToString::to_string).collect();
    let all = table::read(file, &ReadOptions { covariates, ..ReadOptions::default() })?;
    if !all.named || all.columns != columns {
        let found = all.columns.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
        let and = if fit.covariates.is_empty() { "" } else { ", and covariates" };
        let problem =
            format!("its columns are {found}, but the positions of this fit are {names}; give only these columns{and}");
        return Err(bad(problem));
    }
    if let Some(hole) = all.values.iter().position(|v| !v.is_finite()) {
        let (row, column) = (hole / dim + 1, &columns[hole % dim]);
        return Err(bad(format!(
            "row {row}, column '{column}': the position is missing; fill it in, or remove the row"
        )));
    }
    check_count("at", all.rows)?;
    let covariates = fit.covariates_of_points(&all, &known, given)?;
    Ok((Mat::from_vec(all.rows, dim, all.values), covariates))
}

/// A grid with `steps` points per axis over the range of the rows; with more than two axes, the others stay at the centre of the rows.
fn grid(steps: usize, mean: &Mat, console: Console) -> Result<Mat, SpecError> {
    let (dim, axes) = (mean.cols(), mean.cols().min(2));
    if steps < 2 {
        return Err(wrong("grid", steps, "a grid needs at least 2 points per axis"));
    }
    check_count("grid", steps.saturating_pow(axes as u32))?;
    if dim > 2 {
        console.say(&format!("the grid is over x1 and x2; the other {} of {dim} axes stay at 0", dim - 2));
    }
    let ends: Vec<(f64, f64)> = (0..axes)
        .map(|d| mean.col(d).into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v))))
        .collect();
    let place = |i: usize, d: usize| {
        // x1 varies fastest.
        let step = if d == 0 { i % steps } else { i / steps };
        ends.get(d).map_or(0.0, |(low, high)| low + (high - low) * step as f64 / (steps - 1) as f64)
    };
    Ok(Mat::from_fn(steps.pow(axes as u32), dim, place))
}

/// Points from the mean position of one row to that of another, both included.
fn path(ends: &str, steps: usize, fit: &Fit, mean: &Mat) -> Result<Mat, SpecError> {
    let rows = rows::rows(ends, &fit.table)?;
    let [a, b] = rows[..] else {
        return Err(wrong(
            "path",
            ends,
            format!("a path leads from one row to another, such as 1,2; these are {} rows", rows.len()),
        ));
    };
    if steps < 2 {
        return Err(wrong("steps", steps, "a path needs at least 2 points"));
    }
    check_count("steps", steps)?;
    let share = |i: usize| i as f64 / (steps - 1) as f64;
    Ok(Mat::from_fn(steps, mean.cols(), |i, d| (1.0 - share(i)) * mean[(a, d)] + share(i) * mean[(b, d)]))
}

fn check_count(setting: &'static str, count: usize) -> Result<(), SpecError> {
    match count {
        0 => Err(wrong(setting, count, "there are no points to predict; give at least one")),
        1..=MOST => Ok(()),
        _ => Err(wrong(setting, count, format!("at most {MOST} points can be predicted together; give fewer"))),
    }
}
