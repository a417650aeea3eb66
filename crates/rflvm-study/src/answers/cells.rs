//! Cells that a fit predicts: of missing cells, rows of the table, points of the latent space, new times or new rows.
//!
//! Each of these can be asked for a summary of every cell, or for tables that are drawn, each from a different draw of the posterior.

use super::{Answer, Column, OF_COLUMN, stream};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::error::RunError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::fitted::{DRAWS, Fitted};
use rflvm::internal::posterior::forecast::NewTime;
use rflvm::internal::posterior::frame::Frame;
use rflvm::internal::posterior::predict::Points;
use rflvm::internal::posterior::predicted::Predicted;
use rflvm::internal::posterior::transform::{self, NewRows};
use std::collections::HashMap;

/// Cells to predict.
pub struct Cells<'a> {
    /// The fit.
    pub fit: &'a Fit,
    pub(super) drawn: &'a Drawn,
    /// What identifies each row.
    pub lead: Vec<Column>,
    pub(super) of: Of<'a>,
}

/// What the cells belong to.
pub(super) enum Of<'a> {
    /// Rows of the table, of which only the missing cells are asked for.
    Missing,
    /// Rows of the table.
    Rows(Vec<usize>),
    /// Rows of the table with other covariates.
    Adjusted { rows: Vec<usize>, covariates: Mat },
    /// Points of the latent space.
    Places { frame: Frame, x: Mat, offset: f64, covariates: Mat },
    /// New times.
    Times(Vec<NewTime>),
    /// New rows.
    New(&'a NewRows),
}

impl Cells<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match &self.of {
            Of::Missing => self.fit.model.rows(),
            Of::Rows(rows) | Of::Adjusted { rows, .. } => rows.len(),
            Of::Places { x, .. } => x.rows(),
            Of::Times(times) => times.len(),
            Of::New(new) => new.model.rows(),
        }
    }

    /// Whether all cells of rows are asked for, and not only missing ones.
    pub fn is_of_rows(&self) -> bool {
        !matches!(self.of, Of::Missing)
    }

    fn points(&self) -> Option<Points<'_>> {
        match &self.of {
            Of::Rows(rows) => Some(Points::Rows(rows)),
            Of::Adjusted { rows, covariates } => Some(Points::Adjusted { rows, covariates }),
            Of::Places { frame, x, offset, covariates } => {
                Some(Points::Places { frame, x, offset: *offset, covariates })
            }
            _ => None,
        }
    }

    fn fitted(&self) -> Fitted<'_> {
        let stream = match &self.of {
            Of::Missing | Of::Rows(_) | Of::Adjusted { .. } => stream::CELLS,
            Of::Places { .. } => stream::PLACES,
            Of::Times(_) => stream::TIMES,
            Of::New(_) => stream::NEW_ROWS,
        };
        self.drawn.fitted(self.fit, stream)
    }

    /// The mean, standard deviation and quantiles of each cell: one line per cell, row by row in the order of the table's columns.
    pub fn answer(&self) -> Result<Answer, Error> {
        let (fit, fitted) = (self.fit, self.fitted());
        if let Of::Missing = self.of {
            return missing(fit, &fitted);
        }
        let predicted = match (&self.of, self.points()) {
            (Of::Times(times), _) => fitted.forecast(times, DRAWS)?,
            (Of::New(new), _) => fitted.predict_new(new, transform::DRAWS)?,
            (_, Some(points)) => fitted.predict(points, DRAWS)?,
            _ => Vec::new(),
        };
        let places = fit.places();
        let mut columns: Vec<Column> = self.lead.iter().map(|lead| lead.repeated(places.len())).collect();
        let of = predicted.iter().flat_map(|_| 0..places.len()).collect();
        columns.push(Column::names("column", fit.table.columns.clone(), of));
        let cells = predicted.iter().flat_map(|row| places.iter().map(move |&j| &row[j]));
        columns.extend(summaries(cells));
        Ok(Answer { columns })
    }

    /// Passes `count` drawn tables to `take`, rows × columns of the table. Those of missing cells are completed tables.
    pub fn tables<E: From<RunError>>(
        &self,
        count: usize,
        mut take: impl FnMut(usize, &Mat) -> Result<(), E>,
    ) -> Result<(), E> {
        let places = self.fit.places();
        let mut take =
            |i: usize, table: &Mat| take(i, &Mat::from_fn(table.rows(), places.len(), |n, j| table[(n, places[j])]));
        match (&self.of, self.points()) {
            (Of::Missing, _) => self.fitted().completed_tables(count, take),
            (Of::Times(times), _) => self.fitted().futures(times, count, take),
            (Of::New(new), _) => {
                // Keep the first error; the closure cannot return it.
                let mut outcome = Ok(());
                self.drawn.fitted(self.fit, stream::NEW_TABLES).replicas_new(new, count, |i, table| {
                    if outcome.is_ok() {
                        outcome = take(i, table);
                    }
                })?;
                outcome
            }
            (_, Some(points)) => self.fitted().replicas(points, count, take),
            _ => Ok(()),
        }
    }

    /// Checks that there are enough draws for `count` tables. Points have the positions of one mode only.
    pub fn check_tables(&self, count: usize) -> Result<(), Error> {
        match self.of {
            Of::Places { .. } => self.drawn.check_positions(count),
            _ => self.drawn.check_count(count),
        }
    }
}

/// `row,column,mean,sd,q05,q50,q95`, with rows counted from 1, and `id` if rows have names. A cell that is one of several ordered levels is followed
/// by each of its levels, as a cell that is 1 or 0.
fn missing(fit: &Fit, fitted: &Fitted<'_>) -> Result<Answer, Error> {
    let (order, mut names) = (fit.model.order(), fit.table.columns.clone());
    let mut levels: HashMap<usize, usize> = HashMap::new();
    let (mut rows, mut of_names, mut predicted) = (Vec::new(), Vec::new(), Vec::new());
    fitted.missing_cells(DRAWS, |cell| {
        let j = order[cell.column];
        let first = *levels.entry(j).or_insert(names.len());
        if first == names.len() {
            names.extend((1..=cell.levels.len()).map(|level| format!("{}={level}", fit.table.columns[j])));
        }
        rows.extend(vec![cell.row; 1 + cell.levels.len()]);
        of_names.extend([j].into_iter().chain(first..first + cell.levels.len()));
        predicted
            .extend([cell.predicted].into_iter().chain(cell.levels.iter().map(|&share| Predicted::of_share(share))));
    })?;
    let row = Column::counts("row", rows.iter().map(|row| row + 1).collect());
    let mut columns = vec![row, Column::names("column", names, of_names)];
    columns.extend(summaries(predicted.iter()));
    if fit.table.has_ids() {
        columns.push(Column::names("id", fit.table.ids.clone(), rows));
    }
    Ok(Answer { columns })
}

/// `mean,sd,q05,q50,q95`.
fn summaries<'a>(cells: impl Iterator<Item = &'a Predicted> + Clone) -> Vec<Column> {
    type Part = fn(&Predicted) -> f64;
    let parts: [(&str, Part); 5] = [
        ("mean", |p| p.mean),
        ("sd", |p| p.sd),
        ("q05", |p| p.quantiles[0]),
        ("q50", |p| p.quantiles[1]),
        ("q95", |p| p.quantiles[2]),
    ];
    parts.into_iter().map(|(name, part)| Column::numbers(name, OF_COLUMN, cells.clone().map(part).collect())).collect()
}
