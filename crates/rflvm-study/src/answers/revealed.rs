//! The true values of missing cells, and how well the fit predicted them.

use super::{Answer, Column, of_scores, stream};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::new_rows::{self, NewTable};
use crate::note::Note;
use crate::table::{Category, Table};
use rflvm::Model;
use rflvm::internal::error::DataError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::fitted::DRAWS;
use rflvm::internal::posterior::outlook::{Scores, units};
use rflvm::internal::posterior::revealed::Revealed;
use std::collections::{BTreeMap, HashMap};

/// Differences of observed cells, in standard deviations of their column, that may come from rounding.
const ROUNDING: f64 = 0.01;

/// The missing cells of a fit that are known in another table of the same rows and columns, with their scores; and notes about that table.
/// Rows are matched by their ids where both tables have them, and otherwise by position.
pub fn read(truth: &NewTable, fit: &Fit, drawn: &Drawn) -> Result<(Vec<Revealed>, Vec<Note>), Error> {
    let (mut table, ignored) = new_rows::read_table(truth, fit)?;
    let file = table.path.display().to_string();
    let values = Mat::from_vec(table.rows, table.columns.len(), std::mem::take(&mut table.values));
    let values = in_order(values, &table, &file, fit)?;
    Ok((cells(&values, &file, fit, drawn)?, ignored.into_iter().collect()))
}

/// The missing cells that true values fill, of which there must be some. `file` names the values in messages.
pub fn cells(truth: &Mat, file: &str, fit: &Fit, drawn: &Drawn) -> Result<Vec<Revealed>, Error> {
    let cells = drawn.fitted(fit, stream::CELLS).revealed(&model(truth, file, fit)?, DRAWS)?;
    if cells.is_empty() {
        return Err(Error::NothingRevealed { file: file.into(), table: fit.table.path.display().to_string() });
    }
    Ok(cells)
}

/// True values in the form that the fit takes. Their rows and columns are those of its table, of which they may only fill gaps.
fn model(truth: &Mat, file: &str, fit: &Fit) -> Result<Model, Error> {
    let wrong = |error: DataError| Error::Data { file: file.into(), error: error.into() };
    let own = &fit.model;
    check_rows(truth.rows(), fit).map_err(wrong)?;
    let rows: Vec<usize> = (0..own.rows()).collect();
    let known = (own.offset().to_vec(), own.covariates_of(&rows));
    let truth = own.with_rows(truth, known, own.families_of(&rows)).map_err(wrong)?;
    let units = units(own);
    for n in rows {
        let cells = own.y().row(n).iter().zip(truth.y().row(n));
        if let Some((j, (&fitted, &given))) =
            cells.enumerate().find(|(j, (fitted, given))| (*fitted - *given).abs() > ROUNDING * units[*j])
        {
            return Err(Error::OtherTruth {
                file: file.into(),
                row: n + 1,
                column: own.names()[j].clone(),
                given,
                fitted,
            });
        }
    }
    Ok(truth)
}

fn check_rows(rows: usize, fit: &Fit) -> Result<(), DataError> {
    if rows == fit.model.rows() {
        return Ok(());
    }
    let (found, expected) = (format!("{rows} rows"), format!("{}, like the table of the fit", fit.model.rows()));
    Err(DataError::Shape { what: "the table of true values", found, expected })
}

/// Rows in the order of the fit, by their ids, if both tables have ids.
fn in_order(values: Mat, truth: &Table, file: &str, fit: &Fit) -> Result<Mat, Error> {
    let (ids, own) = (&truth.ids, &fit.table.ids);
    if ids == own || !truth.has_ids() || !fit.table.has_ids() {
        return Ok(values);
    }
    check_rows(ids.len(), fit).map_err(|error| Error::Data { file: file.into(), error: error.into() })?;
    let wrong = |id: &str, problem| Error::OtherRow { file: file.into(), id: id.into(), problem };
    let mut places = HashMap::new();
    for (place, id) in ids.iter().enumerate() {
        if places.insert(id, place).is_some() {
            return Err(wrong(id, "names two rows"));
        }
    }
    let mut place = |id: &String| places.remove(id).ok_or_else(|| wrong(id, "names no row here, but one of the fit"));
    let places = own.iter().map(&mut place).collect::<Result<Vec<usize>, Error>>()?;
    Ok(Mat::from_fn(values.rows(), values.cols(), |n, j| values[(places[n], j)]))
}

/// How well the answers to a category were predicted.
pub struct Answers {
    /// The name of the category.
    pub name: String,
    /// Number of answers.
    pub count: usize,
    /// The fraction whose most probable level is the true one.
    pub accuracy: f64,
    /// Mean log probability of an answer.
    pub ln_probability: f64,
}

/// The scores of categories of which any answer is known.
pub fn answers(cells: &[Revealed], fit: &Fit) -> Vec<Answers> {
    let places = fit.places();
    let of = |category: &Category| {
        let columns: Vec<usize> = category.columns().map(|j| places[j]).collect();
        let mut rows: BTreeMap<usize, Vec<&Revealed>> = BTreeMap::new();
        cells.iter().filter(|cell| columns.contains(&cell.column)).for_each(|c| rows.entry(c.row).or_default().push(c));
        let is_right = |row: &&Vec<&Revealed>| {
            row.iter().max_by(|a, b| a.outlook.mean.total_cmp(&b.outlook.mean)).is_some_and(|level| level.truth > 0.0)
        };
        let count = rows.len();
        let right = rows.values().filter(is_right).count();
        let ln: f64 = rows.values().flatten().filter_map(|cell| cell.outlook.ln_density).sum();
        let (accuracy, ln_probability) = (right as f64 / count as f64, ln / count as f64);
        Answers { name: category.name.clone(), count, accuracy, ln_probability }
    };
    fit.table.categories.iter().map(of).filter(|answers| answers.count > 0).collect()
}

/// `column,cells,crps,mse,mae,log_density,in50,in90`: means of the scores of each column that has any, and, last, of all cells.
pub fn scores(cells: &[Revealed], fit: &Fit) -> Answer {
    let units = units(&fit.model);
    let of = |column: Option<usize>| {
        let chosen = cells.iter().filter(|cell| column.is_none_or(|column| cell.column == column));
        chosen.map(|cell| (cell.outlook, cell.truth, units[cell.column])).collect::<Vec<_>>()
    };
    let columns = fit.places().into_iter().map(|j| (fit.model.names()[j].clone(), of(Some(j))));
    let (names, scores): (Vec<String>, Vec<Scores>) = columns
        .chain([("all".into(), of(None))])
        .filter(|(_, cells)| !cells.is_empty())
        .map(|(name, cells)| (name, Scores::of(&cells)))
        .unzip();
    let mut columns = vec![Column::texts("column", names)];
    columns.extend(of_scores(&scores, ["in50", "in90"]));
    Answer { columns }
}
