//! Columns side by side: their likelihoods elsewhere, and the fits and draws of their weights.

use crate::card::{Extent, Fault, THREADS, Values, blocks, each, plain, transposed};
use crate::shape::Shape;
use crate::table::{At, OnCard, PIECE, TILE};
use cudarc::driver::{LaunchConfig, PushKernelArg};
use rayon::prelude::*;
use rflvm::internal::device::{ColumnAt, Priors, Turns};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::Tally;

/// Columns across, pieces of rows down.
pub(crate) fn pieces(rows: usize, columns: usize) -> LaunchConfig {
    let threads = columns.next_multiple_of(32).min(THREADS as usize) as u32;
    let across = columns.div_ceil(threads as usize) as u32;
    LaunchConfig { grid_dim: (across, rows.div_ceil(PIECE) as u32, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

impl OnCard {
    /// Sums of the pieces in `sums`, of `count` columns, into `out`.
    pub(crate) fn gather_pieces(&mut self, count: usize, out: &mut [f64]) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (pieces, columns) = (shape.rows.div_ceil(PIECE) as i32, count as i32);
        let mut launch = card.stream.launch_builder(card.kernel("sum_pieces"));
        launch.arg(&pieces).arg(&columns).arg(&self.sums).arg(&mut self.small);
        // SAFETY: as above.
        unsafe { launch.launch(each(count.div_ceil(32) * THREADS as usize))? };
        card.get(&self.small, out)
    }

    pub(crate) fn columns_at(&mut self, columns_at: &[ColumnAt], out: &mut [f64]) -> Result<(), Fault> {
        let at: Vec<At> =
            columns_at.iter().map(|at| At { factor: at.factor, shift: at.shift, theta: at.theta }).collect();
        let OnCard { card, shape, .. } = self;
        card.put(&at, &mut self.at_columns)?;
        let (rows, columns, none) = (shape.rows as u64, shape.columns as i32, 0_u64);
        let mut launch = card.stream.launch_builder(card.kernel("column_ln_lik"));
        launch.arg(&rows).arg(&columns).arg(&self.product);
        push_cells!(launch, self.cells);
        launch.arg(&self.known).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&self.at_columns).arg(&mut self.sums);
        // SAFETY: as above.
        unsafe { launch.launch(pieces(shape.rows, shape.columns))? };
        // What depends on r alone, meanwhile.
        let of_r = |(tally, at): (&Option<Tally>, &ColumnAt)| tally.as_ref().map_or(0.0, |t| t.ln_rising(at.theta[0]));
        let beside: Vec<f64> = self.tallies.par_iter().zip(columns_at).map(of_r).collect();
        self.gather_pieces(self.shape.columns, out)?;
        out.iter_mut().zip(beside).for_each(|(out, beside)| *out += beside);
        Ok(())
    }

    pub(crate) fn taken(&mut self, columns: &[u32]) -> Result<(), Fault> {
        let (count, rank) = (columns.len(), self.right.rows());
        let right = Mat::from_fn(rank, count, |r, k| self.right[(r, columns[k] as usize)]);
        let OnCard { card, shape, some, .. } = self;
        some.count = count;
        card.put(columns, &mut some.numbers)?;
        card.put(right.as_slice(), &mut self.small)?;
        card.multiply(
            Extent { rows: shape.rows, columns: count, inner: rank },
            plain(&self.left, rank),
            plain(&self.small, count),
            false,
            &mut some.at,
        )?;
        let (rows, count_) = (shape.rows as u64, count as i32);
        let mut launch = card.stream.launch_builder(card.kernel("from_reference"));
        launch.arg(&rows).arg(&count_).arg(&some.numbers).arg(&self.column).arg(&self.known).arg(&self.root);
        launch.arg(&mut some.at);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.rows * count))? };
        Ok(())
    }

    /// HᵀΩH of the columns in `grams`, Ω the information of the cells at their present f, and the response Hᵀ(Ω(f − known) + ∂f) in `small`.
    fn curved(&mut self) -> Result<(), Fault> {
        let OnCard { card, shape, some, .. } = self;
        let (Shape { rows, columns, width, .. }, pitch, triangle) = (*shape, shape.pitch(), shape.triangle());
        let (count, none) = (some.count, 0_u64);
        let (rows_, count_, columns_) = (rows as u64, count as i32, columns as i32);
        let mut launch = card.stream.launch_builder(card.kernel("curvature"));
        launch.arg(&rows_).arg(&count_).arg(&columns_).arg(&some.numbers);
        push_cells!(launch, self.cells);
        launch.arg(&self.known).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&some.at).arg(&mut some.weight).arg(&mut some.response);
        // SAFETY: as above.
        unsafe { launch.launch(each(rows * count))? };
        card.multiply(
            Extent { rows: count, columns: pitch, inner: rows },
            transposed(&some.response, count),
            plain(&self.h, pitch),
            false,
            &mut self.small,
        )?;
        // All Gram matrices at once, as one product of the weights with the products of features: G_j = Σ_n ω_nj h_n h_nᵀ.
        for first in (0..rows).step_by(TILE) {
            let tile = TILE.min(rows - first);
            let (first_, tile_, width_) = (first as u64, tile as u64, width as i32);
            let (pitch_, triangle_) = (pitch as i32, triangle as i32);
            let config = blocks(tile, 128);
            let mut launch = card.stream.launch_builder(card.kernel("products"));
            launch.arg(&first_).arg(&tile_).arg(&width_).arg(&pitch_).arg(&triangle_).arg(&self.h).arg(&mut some.tile);
            // SAFETY: as above.
            unsafe { launch.launch(config)? };
            let weights = some.weight.slice(first * count..(first + tile) * count);
            let factors = (transposed(&weights, count), plain(&some.tile, triangle));
            card.multiply(
                Extent { rows: count, columns: triangle, inner: tile },
                factors.0,
                factors.1,
                first > 0,
                &mut some.grams,
            )?;
        }
        Ok(())
    }

    pub(crate) fn fitted(&mut self, priors: &Priors) -> Result<Mat, Fault> {
        self.curved()?;
        let OnCard { card, shape, some, .. } = self;
        let (rows, pitch, count) = (shape.rows, shape.pitch(), some.count);
        card.put(priors.precision.as_slice(), &mut some.precision)?;
        card.put(&priors.centre, &mut some.centre)?;
        let (width_, pitch_, triangle) = (shape.width as i32, pitch as i32, shape.triangle() as i32);
        let config = blocks(count, 1024);
        let mut launch = card.stream.launch_builder(card.kernel("fit"));
        launch
            .arg(&width_)
            .arg(&pitch_)
            .arg(&triangle)
            .arg(&some.grams)
            .arg(&self.small)
            .arg(&some.precision)
            .arg(&some.centre);
        launch.arg(&mut some.factors).arg(&mut some.means);
        // SAFETY: as above.
        unsafe { launch.launch(config)? };
        let factors = (plain(&self.h, pitch), transposed(&some.means, pitch));
        card.multiply(Extent { rows, columns: count, inner: pitch }, factors.0, factors.1, false, &mut some.at)?;
        let (rows_, count_) = (rows as u64, count as i32);
        let mut launch = card.stream.launch_builder(card.kernel("add_known"));
        launch.arg(&rows_).arg(&count_).arg(&some.numbers).arg(&self.column).arg(&self.known).arg(&mut some.at);
        // SAFETY: as above.
        unsafe { launch.launch(each(rows * count))? };
        self.without_pads(&self.some.means)
    }

    pub(crate) fn aimed(&mut self, normals: &Mat, from_mean: &Mat) -> Result<(Mat, Vec<[f64; 3]>), Fault> {
        let OnCard { card, shape, some, .. } = self;
        let (rows, pitch, count) = (shape.rows, shape.pitch(), some.count);
        card.put(normals.as_slice(), &mut some.normals)?;
        card.put(from_mean.as_slice(), &mut some.from_mean)?;
        let (width_, pitch_) = (shape.width as i32, pitch as i32);
        let config = blocks(count, 128);
        let mut launch = card.stream.launch_builder(card.kernel("aim"));
        launch.arg(&width_).arg(&pitch_).arg(&some.factors).arg(&some.normals).arg(&some.from_mean);
        launch.arg(&mut some.directions).arg(&mut some.squares);
        // SAFETY: as above.
        unsafe { launch.launch(config)? };
        let factors = (plain(&self.h, pitch), transposed(&some.directions, pitch));
        card.multiply(Extent { rows, columns: count, inner: pitch }, factors.0, factors.1, false, &mut some.aim)?;
        let mut squares = vec![0.0; 3 * count];
        card.get(&some.squares, &mut squares)?;
        Ok((self.without_pads(&self.some.directions)?, squares.as_chunks().0.to_vec()))
    }

    /// One row per column whose weights are being redrawn, without the zeros after it.
    fn without_pads(&self, rows: &Values) -> Result<Mat, Fault> {
        let (count, pitch) = (self.some.count, self.shape.pitch());
        let mut held = vec![0.0; count * pitch];
        self.card.get(rows, &mut held)?;
        Ok(Mat::from_fn(count, self.shape.width, |k, m| held[k * pitch + m]))
    }

    pub(crate) fn turned_columns(&mut self, turns: &Turns, out: &mut [f64]) -> Result<(), Fault> {
        let flat: Vec<f64> = turns.iter().flat_map(|&(cos, sin)| [cos, sin]).collect();
        let OnCard { card, shape, some, .. } = self;
        card.put(&flat, &mut some.turns)?;
        let (rows, count, columns, none) = (shape.rows as u64, some.count as i32, shape.columns as i32, 0_u64);
        let mut launch = card.stream.launch_builder(card.kernel("turned_ln_lik"));
        launch.arg(&rows).arg(&count).arg(&columns).arg(&some.numbers).arg(&self.product);
        push_cells!(launch, self.cells);
        launch.arg(&self.known).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&some.at).arg(&some.aim).arg(&some.turns).arg(&mut self.sums);
        // SAFETY: as above.
        unsafe { launch.launch(pieces(shape.rows, some.count))? };
        let count = some.count;
        self.gather_pieces(count, out)
    }
}
