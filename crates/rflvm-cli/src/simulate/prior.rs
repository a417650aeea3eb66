//! What a prior assumes: cells of many tables drawn from it, and a few columns as functions of the first latent axis.

use super::broken;
use super::request::Request;
use crate::failure::Failure;
use crate::picture::prior::{Picture, Scale, svg};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::Cells;
use rflvm::internal::model::{Model, State};
use rflvm::internal::posterior::parameters::Parameters;
use rflvm::internal::rng::Stream;
use rflvm::internal::simulate::{draw_data, draw_prior};

/// Tables drawn. Each has its own kernel, amplitudes and parameters.
const TABLES: u64 = 200;
/// Rows of each table, and points of each function.
const ROWS: usize = 61;
/// Most columns of each table; more would change only the time that it takes.
const COLUMNS: usize = 100;
/// Functions shown, each of another table.
const FUNCTIONS: u64 = 6;
/// The functions are shown where nearly all rows are: up to this many standard deviations of the axis.
const REACH: f64 = 3.0;

/// Draws the picture.
pub fn picture(request: &Request, columns: usize, stream: Stream) -> Result<String, Failure> {
    let model = request.model(ROWS, columns.min(COLUMNS))?;
    let (quantity, scale) = quantity(request.family.about().map(|about| about.cells));
    let line = |n: usize| REACH * (2.0 * n as f64 / (ROWS - 1) as f64 - 1.0);
    let axis = Mat::from_fn(ROWS, model.latent_dim(), |n, d| if d == 0 { line(n) } else { 0.0 });
    let (mut values, mut functions) = (Vec::new(), Vec::new());
    for i in 0..TABLES {
        let stream = stream.at(i);
        let state = draw_prior(&model, stream).map_err(broken)?;
        let table = match scale {
            Scale::Share => means(&model, &state, &state.f, request.total()),
            Scale::Log(_) | Scale::Plain => draw_data(&model, &state, stream),
        };
        values.extend_from_slice(table.as_slice());
        if i < FUNCTIONS {
            let f = Parameters::from(&state).f(axis.clone(), model.offset(), Mat::zeros(axis.rows(), 0));
            let means = means(&model, &state, &f, request.total());
            functions.push((0..ROWS).map(|n| (line(n), means[(n, 0)])).collect());
        }
    }
    let about = format!("{} columns drawn from the prior", request.family.name());
    let note = format!(
        "left: {TABLES} tables; right: one column of each of {FUNCTIONS} tables, its mean where the other axes are 0"
    );
    Ok(svg(&Picture { title: &about, quantity, scale, values, functions, notes: &[note] }))
}

/// The quantity shown, and its scale: probabilities where the cells themselves are 0 or 1, or shares of a total.
fn quantity(cells: Option<Cells>) -> (&'static str, Scale) {
    match cells {
        Some(Cells::Counts) => ("count", Scale::Log(1.0)),
        Some(Cells::Binary | Cells::Trials) => ("probability", Scale::Share),
        Some(Cells::Categories) => ("share of a category", Scale::Share),
        Some(Cells::Levels) => ("level", Scale::Plain),
        Some(Cells::Positive) => ("amount", Scale::Log(0.01)),
        // Most noise is a few hundredths of a column's spread.
        Some(Cells::Real) | None => ("cell, in units of its column", Scale::Log(0.01)),
    }
}

/// E[y | f] of every cell, as a share of `total`.
fn means(model: &Model, state: &State, f: &Mat, total: f64) -> Mat {
    let mut means = Mat::zeros(f.rows(), f.cols());
    for (block, theta) in model.blocks().iter().zip(&state.theta) {
        for n in 0..f.rows() {
            block.family.mean(model.row(block, n, theta), f.row(n), means.row_mut(n));
        }
    }
    means.as_mut_slice().iter_mut().for_each(|mean| *mean /= total);
    means
}
