//! The likelihood of a table: the sum over blocks and rows.

use super::family::{Row, Theta};
use super::{Block, Model, State};
use crate::par;

impl Model {
    /// The row n of a block, with the block's θ.
    pub fn row<'a>(&'a self, block: &Block, n: usize, theta: &'a Theta) -> Row<'a> {
        Row { n, y: &self.y.row(n)[block.columns.clone()], theta }
    }

    /// Σ over blocks of the part of ln p(y_n | f) that depends on f.
    pub fn ln_lik_row(&self, theta: &[Theta], n: usize, f: &[f64]) -> f64 {
        let of_block = |(b, theta): (&Block, &Theta)| b.family.ln_lik(self.row(b, n, theta), &f[b.columns.clone()]);
        self.blocks.iter().zip(theta).map(of_block).sum()
    }

    /// [`Model::ln_lik_row`], and its derivative with respect to f in `g`.
    pub fn gradient_row(&self, theta: &[Theta], n: usize, f: &[f64], g: &mut [f64]) -> f64 {
        let of_block = |(b, theta): (&Block, &Theta)| {
            let columns = b.columns.clone();
            b.family.gradient(self.row(b, n, theta), &f[columns.clone()], &mut g[columns])
        };
        self.blocks.iter().zip(theta).map(of_block).sum()
    }

    /// Approximate information of each cell of row n about its f, in `out`; zero where it is missing.
    pub fn information_row(&self, theta: &[Theta], n: usize, f: &[f64], out: &mut [f64]) {
        for (block, theta) in self.blocks.iter().zip(theta) {
            let columns = block.columns.clone();
            block.family.information(self.row(block, n, theta), &f[columns.clone()], &mut out[columns]);
        }
        out.iter_mut().zip(self.y.row(n)).filter(|(_, y)| y.is_nan()).for_each(|(out, _)| *out = 0.0);
    }

    /// Σ over blocks of ln p(y_n | f) with all constants.
    pub fn ln_density_row(&self, theta: &[Theta], n: usize, f: &[f64]) -> f64 {
        let blocks = self.blocks.iter().zip(theta);
        blocks.map(|(b, theta)| b.family.ln_density(self.row(b, n, theta), &f[b.columns.clone()])).sum()
    }

    /// Σ over rows of [`Model::ln_lik_row`].
    pub fn ln_lik(&self, state: &State) -> f64 {
        par::sum(self.rows(), 2 * self.columns(), |rows| {
            rows.map(|n| self.ln_lik_row(&state.theta, n, state.f.row(n))).sum()
        })
    }

    /// ln p(Y | F, θ) with all constants, from the state's F.
    pub fn ln_likelihood(&self, state: &State) -> f64 {
        let of_row = |n: usize| self.ln_density_row(&state.theta, n, state.f.row(n));
        par::sum(self.rows(), 16 * self.columns(), |rows| rows.map(of_row).sum())
    }

    /// E[y_nj | f_nj] of all cells of row n.
    pub fn expected_row(&self, state: &State, n: usize, cells: &mut [f64]) {
        for (block, theta) in self.blocks.iter().zip(&state.theta) {
            let columns = block.columns.clone();
            let f = &state.f.row(n)[columns.clone()];
            block.family.mean(self.row(block, n, theta), f, &mut cells[columns]);
        }
    }
}
