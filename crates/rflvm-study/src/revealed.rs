//! The true values of missing cells, and how well the fit predicted them.

use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::new_rows::{self, NewTable};
use crate::note::Note;
use rflvm::error::DataError;
use rflvm::posterior::fitted::DRAWS;
use rflvm::posterior::outlook::{Scores, units};
use rflvm::posterior::revealed::Revealed;

/// The missing cells of a fit that are known in another table of the same rows and columns, with their scores; and notes about that table.
pub fn read(truth: &NewTable, fit: &Fit, drawn: &Drawn) -> Result<(Vec<Revealed>, Vec<Note>), Error> {
    let (table, checked) = new_rows::read(truth, fit)?;
    let file = || table.path.display().to_string();
    if table.rows != fit.model.rows() {
        let (found, expected) =
            (format!("{} rows", table.rows), format!("{}, like the table of the fit", fit.model.rows()));
        let error = DataError::Shape { what: "the table of true values", found, expected }.into();
        return Err(Error::Data { file: file(), error });
    }
    let cells = drawn.fitted(fit, "impute").revealed(&checked.rows.model, DRAWS)?;
    if cells.is_empty() {
        return Err(Error::NothingRevealed { file: file(), table: fit.table.path.display().to_string() });
    }
    Ok((cells, checked.notes))
}

/// Means of the scores, in units of the columns' standard deviations: of all cells, and of each column that has any, by the index of the
/// column in the model.
pub fn scores(cells: &[Revealed], fit: &Fit) -> (Scores, Vec<(usize, Scores)>) {
    let units = units(&fit.model);
    let of = |column: Option<usize>| {
        let chosen = cells.iter().filter(|cell| column.is_none_or(|column| cell.column == column));
        chosen.map(|cell| (cell.outlook, cell.truth, units[cell.column])).collect::<Vec<_>>()
    };
    let columns = fit.places().into_iter().map(|j| (j, of(Some(j)))).filter(|(_, cells)| !cells.is_empty());
    (Scores::of(&of(None)), columns.map(|(j, cells)| (j, Scores::of(&cells))).collect())
}
