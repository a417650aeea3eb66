//! Pointwise log-likelihood under each draw: the input of PSIS-LOO and WAIC.
//!
//! A point is a cell, given the position of its row; or a whole row, its position integrated out, so that a row is left out with its
//! position.

use super::fitted::Fitted;
use super::parameters::{Parameters, Stored};
use super::row_density::RowDensity;
use crate::error::RunError;
use crate::linalg::Mat;
use crate::par;
use crate::rng::Stream;

impl Fitted<'_> {
    /// ln p(y_nj | f_nj, θ_j) of some draws, each N×J in the model's order of columns: NaN where nothing is observed. A
    /// multinomial row is one point, stored at its first cell.
    pub fn ln_cells(&self, draws: &[(usize, usize)], take: impl FnMut(usize, &Mat)) -> Result<(), RunError> {
        self.ln_cells_of(&(0..self.model.rows()).collect::<Vec<_>>(), draws, take)
    }

    /// ln p(y_nj | f_nj, θ_j) of the cells of some rows, in this form.
    pub(super) fn ln_cells_of(
        &self,
        rows: &[usize],
        draws: &[(usize, usize)],
        mut take: impl FnMut(usize, &Mat),
    ) -> Result<(), RunError> {
        let model = self.model;
        let mut stored = Stored::open(self.store, model)?;
        for (i, &(chain, draw)) in draws.iter().enumerate() {
            let parameters = stored.at(chain, draw)?;
            let f = parameters.f_of_rows(model, rows);
            let ln_row = |i: usize| self.ln_row(&parameters, rows[i], f.row(i));
            let each = par::map(rows.len(), 32 * rows.len() * model.columns(), ln_row);
            take(i, &Mat::from_vec(rows.len(), model.columns(), each.concat()));
        }
        Ok(())
    }

    fn ln_row(&self, parameters: &Parameters, n: usize, f: &[f64]) -> Vec<f64> {
        let model = self.model;
        let mut pieces = vec![f64::NAN; model.columns()];
        for (block, theta) in model.blocks().iter().zip(&parameters.theta) {
            let (row, f) = (model.row(block, n, theta), &f[block.columns.clone()]);
            let count = if block.family.is_whole() { 1 } else { row.y.len() };
            for j in (0..count).filter(|&j| !row.y[j].is_nan()) {
                pieces[block.columns.start + j] = block.family.ln_piece(row, j, f);
            }
        }
        pieces
    }

    /// ln p(y_n | W, β, θ) of each row under some draws, x_n integrated out; 0 for a row without observed cells.
    pub fn ln_rows(&self, draws: &[(usize, usize)], mut take: impl FnMut(usize, &[f64])) -> Result<(), RunError> {
        let model = self.model;
        let mut stored = Stored::open(self.store, model)?;
        for (i, &(chain, draw)) in draws.iter().enumerate() {
            let parameters = stored.at(chain, draw)?;
            let density = RowDensity::new(model, &parameters);
            let stream: Stream = self.stream.at(chain as u64).at(draw as u64);
            let work = model.rows() * model.columns() * model.spec().features;
            let each = par::map(model.rows(), work, |n| density.ln(n, stream.at(n as u64)));
            let fail = |source| RunError::Numerical { chain: chain + 1, sweep: draw as u64 + 1, source };
            take(i, &each.into_iter().collect::<Result<Vec<f64>, _>>().map_err(fail)?);
        }
        Ok(())
    }
}
