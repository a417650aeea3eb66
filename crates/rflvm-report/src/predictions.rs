//! Observed cells compared with what the fit predicts for them, and predictions of missing cells.

use crate::number::number;
use crate::subject::Subject;
use rflvm::internal::error::RunError;
use rflvm::internal::posterior::fitted::DRAWS;
use rflvm::internal::posterior::predict::Points;
use rflvm_study::answers::stream;
use serde_json::{Value, json};

/// Observed cells that are compared.
const CELLS: usize = 4_000;
/// Missing cells that are listed.
const LISTED: usize = 400;

/// Row, column, observed value, mean, and 5% and 95% quantiles of a new replicate, for cells of rows evenly spaced over the table.
pub fn section(subject: &Subject<'_>) -> Result<Value, RunError> {
    let model = subject.fitted.model;
    let count = (CELLS / model.columns()).clamp(1, model.rows());
    let rows: Vec<usize> = (0..count).map(|i| (2 * i + 1) * model.rows() / (2 * count)).collect();
    cells(subject, &rows, CELLS, |y| !y.is_nan())
}

/// These numbers for the first missing cells, which are those of `imputed.csv`, and how many cells are missing.
pub fn missing(subject: &Subject<'_>) -> Result<Value, RunError> {
    let model = subject.fitted.model;
    let holes = |n: &usize| model.columns() - model.observed(*n);
    let total: usize = (0..model.rows()).map(|n| holes(&n)).sum();
    if total == 0 {
        return Ok(Value::Null);
    }
    let mut room = LISTED as isize;
    let rows: Vec<usize> = (0..model.rows())
        .filter(|n| holes(n) > 0)
        .take_while(|n| {
            let is_room = room > 0;
            room -= holes(n) as isize;
            is_room
        })
        .collect();
    Ok(json!({ "total": total, "cells": cells(subject, &rows, LISTED, f64::is_nan)? }))
}

/// One list per cell, row by row in the order of the table's columns.
fn cells(
    subject: &Subject<'_>,
    rows: &[usize],
    most: usize,
    is_wanted: impl Fn(f64) -> bool,
) -> Result<Value, RunError> {
    let y = subject.fitted.model.y();
    let predicted = subject.asked(stream::CELLS).predict(Points::Rows(rows), DRAWS)?;
    let all = rows.iter().zip(&predicted).flat_map(|(&n, row)| {
        subject.places.iter().enumerate().map(move |(column, &place)| (n, column, y[(n, place)], &row[place]))
    });
    let told = all.filter(|cell| is_wanted(cell.2)).take(most).map(|(n, column, y, cell)| {
        json!([n, column, number(y), number(cell.centre()), number(cell.quantiles[0]), number(cell.quantiles[2])])
    });
    Ok(told.collect())
}
