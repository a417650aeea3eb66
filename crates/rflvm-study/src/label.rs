//! Quantities by which convergence is judged, named as their user knows them: by rows and columns.

use crate::fit::Fit;
use rflvm::internal::draws::{Traced, parameter_of};
use rflvm::internal::posterior::convergence::Diagnosed;

/// What a quantity is about, each with its own line in a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Where rows are.
    Positions,
    /// What the columns are expected to be there.
    Cells,
    /// Everything else.
    Parameters,
}

impl About {
    /// All of them, with their names.
    pub const ALL: [(About, &'static str); 3] =
        [(About::Positions, "positions"), (About::Cells, "cells"), (About::Parameters, "other parameters")];

    /// That of an array of draws.
    pub fn of(array: &str) -> Self {
        match array {
            "distance" => About::Positions,
            "f_cell" | "lp" | "log_likelihood" => About::Cells,
            _ => About::Parameters,
        }
    }
}

/// Names the quantities of a fit.
pub fn label(lines: &mut [Diagnosed], fit: &Fit) {
    let traced = Traced::of(&fit.model);
    lines.iter_mut().for_each(|line| line.label = label_of(line, fit, &traced));
}

fn label_of(line: &Diagnosed, fit: &Fit, traced: &Traced) -> String {
    let (model, i) = (&fit.model, line.index);
    let row = |n: usize| fit.table.ids.get(n).map_or("", |id| id);
    let of_column = |what: &str, j: usize| format!("{what} of column '{}'", model.names()[j]);
    match line.array.as_str() {
        "lp" => "the log joint density".into(),
        "log_likelihood" => "the log-likelihood".into(),
        "alpha" => "the concentration of the frequencies".into(),
        "clusters" => "the number of clusters of frequencies".into(),
        "w2" => "the sum of squared frequencies".into(),
        "time_scale" => "the length-scale over time".into(),
        "linear_scale" => "the strength of the linear part".into(),
        "axes_in_use" => "the number of axes in use".into(),
        "distance" => traced.pairs.get(i).map_or_else(
            || line.name.clone(),
            |&(a, b)| format!("the distance between rows '{}' and '{}'", row(a), row(b)),
        ),
        "f_cell" => traced.cells.get(i).map_or_else(
            || line.name.clone(),
            |&(n, j)| format!("the linear predictor of row '{}', column '{}'", row(n), model.names()[j]),
        ),
        "tau2" => of_column("the amplitude", i),
        "column_process_scale" => of_column("the standard deviation of the column process", i),
        "column_process_length_scale" => of_column("the length-scale of the column process", i),
        array => match parameter_of(model, array) {
            Some((block, name)) => of_column(in_words(name), model.blocks()[block].columns.start + i),
            None => line.name.clone(),
        },
    }
}

/// A parameter of a family.
fn in_words(name: &'static str) -> &'static str {
    match name {
        "r" => "the dispersion",
        "precision" => "the precision",
        "dof" => "the degrees of freedom",
        "logit_pi" => "the zero inflation",
        gap if gap.starts_with("ln_gap") => "the logarithm of a gap between cut points",
        other => other,
    }
}
