//! The likelihood of a table: the sum over chunks of columns, rows and blocks.

use super::family::{Row, Shift, Theta};
use super::{Block, Model, State};
use crate::chunks::Chunk;
use crate::par;
use std::ops::Range;

/// The columns of a block that belong to a chunk.
struct Piece<'a> {
    block: &'a Block,
    theta: &'a Theta,
    columns: Range<usize>,
}

impl Model {
    /// The row n of a block, with the block's θ.
    pub fn row<'a>(&'a self, block: &Block, n: usize, theta: &'a Theta) -> Row<'a> {
        Row { n, first: 0, y: &self.y.row(n)[block.columns.clone()], theta }
    }

    /// The blocks of some columns.
    fn pieces<'a>(&'a self, theta: &'a [Theta], some: &Range<usize>) -> impl Iterator<Item = Piece<'a>> + use<'a> {
        let some = some.clone();
        let within = move |block: &Block| block.columns.start.max(some.start)..block.columns.end.min(some.end);
        let pieces = self.blocks.iter().zip(theta);
        pieces
            .map(move |(block, theta)| Piece { block, theta, columns: within(block) })
            .filter(|p| !p.columns.is_empty())
    }

    fn row_of<'a>(&'a self, piece: &Piece<'a>, n: usize) -> Row<'a> {
        let first = piece.columns.start - piece.block.columns.start;
        Row { n, first, y: &self.y.row(n)[piece.columns.clone()], theta: piece.theta }
    }

    /// Σ over some columns of row n of the part of ln p(y_n | f) that depends on f, which is that of all columns.
    pub fn ln_lik_cells(&self, theta: &[Theta], n: usize, some: &Range<usize>, f: &[f64]) -> f64 {
        let of_piece = |p: Piece<'_>| p.block.family.ln_lik(self.row_of(&p, n), &f[p.columns.clone()]);
        self.pieces(theta, some).map(of_piece).sum()
    }

    /// The same at f + a·u + b·v.
    pub fn ln_lik_cells_shifted(
        &self,
        theta: &[Theta],
        n: usize,
        some: &Range<usize>,
        f: &[f64],
        shift: Shift<'_>,
    ) -> f64 {
        let Shift { a, u, b, v } = shift;
        let of_piece = |p: Piece<'_>| {
            let shift = Shift { a, u: &u[p.columns.clone()], b, v: &v[p.columns.clone()] };
            p.block.family.ln_lik_shifted(self.row_of(&p, n), &f[p.columns.clone()], shift)
        };
        self.pieces(theta, some).map(of_piece).sum()
    }

    /// [`Model::ln_lik_cells`], and its derivative with respect to f in `g`; both hold only the cells of these columns.
    pub fn gradient_cells(&self, theta: &[Theta], n: usize, some: &Range<usize>, f: &[f64], g: &mut [f64]) -> f64 {
        let of_piece = |p: Piece<'_>| {
            let at = p.columns.start - some.start..p.columns.end - some.start;
            p.block.family.gradient(self.row_of(&p, n), &f[at.clone()], &mut g[at])
        };
        self.pieces(theta, some).map(of_piece).sum()
    }

    /// Approximate information of some cells of row n about their f, in `out`; both hold only these. A missing cell may have any.
    pub fn information_cells(&self, theta: &[Theta], n: usize, some: &Range<usize>, f: &[f64], out: &mut [f64]) {
        for p in self.pieces(theta, some) {
            let at = p.columns.start - some.start..p.columns.end - some.start;
            p.block.family.information(self.row_of(&p, n), &f[at.clone()], &mut out[at]);
        }
    }

    /// Σ over all columns of row n of the part of ln p(y_n | f) that depends on f. Only where one process has them all.
    pub fn ln_lik_row(&self, theta: &[Theta], n: usize, f: &[f64]) -> f64 {
        self.chunks.fold(|columns| self.ln_lik_cells(theta, n, &columns, f))
    }

    /// Σ over blocks of ln p(y_n | f) with all constants.
    pub fn ln_density_row(&self, theta: &[Theta], n: usize, f: &[f64]) -> f64 {
        self.ln_density_cells(theta, n, &(0..self.columns()), f)
    }

    fn ln_density_cells(&self, theta: &[Theta], n: usize, some: &Range<usize>, f: &[f64]) -> f64 {
        let of_piece = |p: Piece<'_>| p.block.family.ln_density(self.row_of(&p, n), &f[p.columns.clone()]);
        self.pieces(theta, some).map(of_piece).sum()
    }

    /// Σ over rows of the part of ln p(Y | F) that depends on F.
    pub fn ln_lik(&self, state: &State) -> f64 {
        self.sum_cells(self.rows(), 2, |n, some| self.ln_lik_cells(&state.theta, n, some, state.f.row(n)))
    }

    /// Σ over rows and columns of what `of_row` says of the columns of a chunk in a row, `cost` per cell.
    pub fn sum_cells(&self, rows: usize, cost: usize, of_row: impl Fn(usize, &Range<usize>) -> f64 + Sync) -> f64 {
        self.chunks.sum(|Chunk { columns, .. }| {
            par::sum(rows, cost * columns.len(), |rows| rows.map(|n| of_row(n, columns)).sum())
        })
    }

    /// ln p(Y | F, θ) with all constants, from the state's F.
    pub fn ln_likelihood(&self, state: &State) -> f64 {
        self.sum_cells(self.rows(), 16, |n, some| self.ln_density_cells(&state.theta, n, some, state.f.row(n)))
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
