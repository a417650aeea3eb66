//! New rows: their positions, how unusual they are, and predictions of their cells.

use super::cells::{Cells, Of};
use super::positions::columns;
use super::{Answer, Column, stream};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::table::Table;
use rflvm::internal::draws::Source;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::transform::{DRAWS, NewRows, Transformed};

/// New rows in the latent space.
pub struct Placed {
    found: Transformed,
    /// The draws of their positions that were asked for, rows × axes.
    pub draws: Vec<Mat>,
}

/// Places new rows, and keeps `count` draws of their positions, evenly spaced over those visited.
pub fn placed(fit: &Fit, drawn: &Drawn, new: &NewRows, count: usize) -> Result<Placed, Error> {
    if count > 0 {
        drawn.check_positions(count)?;
    }
    // Densities are over all modes, which may have more draws than the one of the positions.
    let most = DRAWS.max(count);
    let visited = most.min(drawn.used.len() * drawn.store.size()?.1);
    let mut draws: Vec<Mat> = Vec::with_capacity(count);
    let found = drawn.fitted(fit, stream::NEW_ROWS).transform(new, most, |i, x| {
        if is_due(i, draws.len(), visited, count) {
            draws.push(x.clone());
        }
    })?;
    Ok(Placed { found, draws })
}

impl Placed {
    /// The columns of embedding.csv, then `log_density,log_density_per_cell,outlier_score`.
    pub fn answer(&self, table: &Table) -> Answer {
        let Transformed { embedding, ln_density, cells, outlier_score } = &self.found;
        let mut answer = columns(embedding, None, table);
        let per_cell = ln_density.iter().zip(cells).map(|(ln, &cells)| ln / cells as f64).collect();
        answer.columns.push(Column::numbers("log_density", "nats", ln_density.clone()));
        answer.columns.push(Column::numbers("log_density_per_cell", "nats", per_cell));
        answer.columns.push(Column::numbers("outlier_score", "fraction", outlier_score.clone()));
        answer
    }

    /// `row,draw,x1,…`, both counted from 1: one line per row and draw.
    pub fn lines_of_draws(&self) -> Answer {
        let (rows, axes) = self.draws.first().map_or((0, 0), |x| (x.rows(), x.cols()));
        let each = || (0..rows).flat_map(|n| (0..self.draws.len()).map(move |i| (n, i)));
        let mut columns = vec![
            Column::counts("row", each().map(|(n, _)| n + 1).collect()),
            Column::counts("draw", each().map(|(_, i)| i + 1).collect()),
        ];
        let axis = |d: usize| each().map(|(n, i)| self.draws[i][(n, d)]).collect();
        columns.extend((0..axes).map(|d| Column::numbers(format!("x{}", d + 1), super::OF_AXIS, axis(d))));
        Answer { columns }
    }
}

/// ln p of each new row given the table.
pub fn log_density(fit: &Fit, drawn: &Drawn, new: &NewRows) -> Result<Vec<f64>, Error> {
    Ok(drawn.fitted(fit, stream::NEW_ROWS).ln_density(new, DRAWS)?)
}

/// The cells of new rows.
pub fn cells<'a>(fit: &'a Fit, drawn: &'a Drawn, new: &'a NewRows) -> Cells<'a> {
    let lead = vec![Column::counts("row", (1..=new.model.rows()).collect())];
    Cells { fit, drawn, lead, of: Of::New(new) }
}

/// Whether draw i is the next to keep, so that `wanted` draws are evenly spaced over those visited; `kept` of them are kept already.
fn is_due(i: usize, kept: usize, visited: usize, wanted: usize) -> bool {
    // The middle of each of `wanted` equal stretches.
    kept < wanted && (2 * kept + 1) * visited / (2 * wanted) == i
}
