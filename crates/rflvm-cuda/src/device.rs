//! What a chain asks of a table on a card.

use crate::card::{Fault, THREADS, each, plain, transposed, warps};
use crate::shape::Shape;
use crate::table::{At, OnCard, PIECE, TILE};
use cudarc::driver::{LaunchConfig, PushKernelArg};
use rayon::prelude::*;
use rflvm::device::{ColumnAt, Device, Priors, Turns};
use rflvm::hmc::flow::Slopes;
use rflvm::hmc::reference::Reference;
use rflvm::linalg::Mat;
use rflvm::model::Model;
use rflvm::model::family::{Tally, Theta};

/// Columns across, pieces of rows down.
pub(crate) fn pieces(rows: usize, columns: usize) -> LaunchConfig {
    let threads = columns.next_multiple_of(32).min(THREADS as usize) as u32;
    let across = columns.div_ceil(threads as usize) as u32;
    LaunchConfig { grid_dim: (across, rows.div_ceil(PIECE) as u32, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

impl OnCard {
    fn weighed(&mut self, beta: &Mat) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let Shape { rows, columns, width, .. } = *shape;
        card.put(beta.as_slice(), &mut self.beta)?;
        card.multiply(
            (rows, columns, width),
            plain(&self.h, width),
            plain(&self.beta, columns),
            false,
            &mut self.product,
        )
    }

    fn referred(&mut self, reference: &Reference) -> Result<(), Fault> {
        self.card.put(&reference.root, &mut self.root)?;
        self.left = self.card.stream.clone_htod(reference.left.as_slice())?;
        self.right = reference.right.clone();
        Ok(())
    }

    /// Log-likelihoods of the rows of the table in `out`, from the product.
    fn rows_in_out(&mut self, with_constants: bool) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (rows, none) = (shape.rows as u64, 0_u64);
        let kernel = if with_constants { "row_ln_density" } else { "row_ln_lik" };
        let mut launch = card.stream.launch_builder(card.kernel(kernel));
        launch.arg(&rows).arg(&self.product);
        push_cells!(launch, self.cells);
        launch.arg(&self.offset).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&none).arg(&mut self.out);
        // SAFETY: the arguments are those of the kernel, and as long as it expects.
        unsafe { launch.launch(warps(shape.rows))? };
        Ok(())
    }

    fn all_rows(&mut self, out: &mut [f64]) -> Result<(), Fault> {
        self.rows_in_out(false)?;
        self.card.get(&self.out, out)
    }

    fn summed_rows(&mut self, out: &mut [f64]) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let rows = shape.rows as u64;
        let mut launch = card.stream.launch_builder(card.kernel("row_sums"));
        launch.arg(&rows).arg(&self.product);
        push_cells!(launch, self.cells);
        launch.arg(&mut self.out);
        // SAFETY: the arguments are those of the kernel, and as long as it expects.
        unsafe { launch.launch(warps(shape.rows))? };
        card.get(&self.out, out)
    }

    fn whole(&mut self, with_constants: bool) -> Result<f64, Fault> {
        self.rows_in_out(with_constants)?;
        self.total(self.shape.rows)
    }

    /// Candidates use the memory of ∂H and ζ, which only a trajectory needs.
    fn some_rows(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let Shape { columns, dim, frequencies, covariates, linear, width, .. } = *shape;
        let count = rows.len();
        card.put(rows, &mut self.numbers)?;
        card.put(x, &mut self.gx)?;
        let (rows_, dim, l, c, none) = (count as u64, dim as i32, frequencies as i32, covariates as i32, 0_u64);
        let linear = linear as i32;
        let mut launch = card.stream.launch_builder(card.kernel("features"));
        launch
            .arg(&rows_)
            .arg(&dim)
            .arg(&l)
            .arg(&c)
            .arg(&linear)
            .arg(&self.s)
            .arg(&self.gx)
            .arg(&self.w)
            .arg(&self.covariates);
        launch.arg(&self.numbers).arg(&none).arg(&mut self.dh);
        // SAFETY: as above.
        unsafe { launch.launch(each(count * frequencies))? };
        card.multiply(
            (count, columns, width),
            plain(&self.dh, width),
            plain(&self.beta, columns),
            false,
            &mut self.zeta,
        )?;
        let mut launch = card.stream.launch_builder(card.kernel("row_ln_lik"));
        launch.arg(&rows_).arg(&self.zeta);
        push_cells!(launch, self.cells);
        launch.arg(&self.offset).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&self.numbers).arg(&mut self.out);
        // SAFETY: as above.
        unsafe { launch.launch(warps(count))? };
        card.get(&self.out, out)
    }

    /// Changes of the two features of frequency l, in `a` and `b`.
    fn changed(&mut self, l: usize, w: &[f64]) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (rows, dim, frequencies, width) =
            (shape.rows as u64, shape.dim as i32, shape.frequencies as i32, shape.width as i32);
        let l = l as i32;
        card.put(w, &mut self.small)?;
        let mut launch = card.stream.launch_builder(card.kernel("pair"));
        launch.arg(&rows).arg(&dim).arg(&frequencies).arg(&width).arg(&l).arg(&self.x).arg(&self.small).arg(&self.h);
        launch.arg(&mut self.a).arg(&mut self.b);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.rows))? };
        Ok(())
    }

    fn frequency(&mut self, l: usize, w: &[f64]) -> Result<f64, Fault> {
        self.changed(l, w)?;
        let OnCard { card, shape, .. } = self;
        let (rows, columns, none) = (shape.rows as u64, shape.columns as i32, 0_u64);
        let (sine, cosine) = pair_rows(shape, l);
        let (u, v) = (self.beta.slice(sine), self.beta.slice(cosine));
        let mut launch = card.stream.launch_builder(card.kernel("row_ln_lik_moved"));
        launch.arg(&rows).arg(&columns).arg(&self.product);
        push_cells!(launch, self.cells);
        launch.arg(&self.offset).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&self.a).arg(&u).arg(&self.b).arg(&v).arg(&mut self.out);
        // SAFETY: as above.
        unsafe { launch.launch(warps(shape.rows))? };
        self.total(self.shape.rows)
    }

    fn keep(&mut self, l: usize, w: &[f64]) -> Result<(), Fault> {
        self.changed(l, w)?;
        let OnCard { card, shape, .. } = self;
        let (rows, columns) = (shape.rows as u64, shape.columns as i32);
        let (frequencies, width) = (shape.frequencies as i32, shape.width as i32);
        let (sine, cosine) = pair_rows(shape, l);
        let (u, v) = (self.beta.slice(sine), self.beta.slice(cosine));
        let number = l as i32;
        let mut launch = card.stream.launch_builder(card.kernel("keep_pair"));
        launch.arg(&rows).arg(&columns).arg(&frequencies).arg(&width).arg(&number);
        launch.arg(&self.a).arg(&u).arg(&self.b).arg(&v).arg(&mut self.product).arg(&mut self.h);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.cells()))? };
        let mut place = self.w.slice_mut(l * shape.dim..(l + 1) * shape.dim);
        card.stream.memcpy_htod(w, &mut place)?;
        Ok(())
    }

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

    fn columns_at(&mut self, columns_at: &[ColumnAt], out: &mut [f64]) -> Result<(), Fault> {
        let at: Vec<At> =
            columns_at.iter().map(|at| At { factor: at.factor, shift: at.shift, theta: at.theta }).collect();
        let OnCard { card, shape, .. } = self;
        card.put(&at, &mut self.at_columns)?;
        let (rows, columns, none) = (shape.rows as u64, shape.columns as i32, 0_u64);
        let mut launch = card.stream.launch_builder(card.kernel("column_ln_lik"));
        launch.arg(&rows).arg(&columns).arg(&self.product);
        push_cells!(launch, self.cells);
        launch.arg(&self.offset).arg(&self.column);
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

    fn taken(&mut self, columns: &[u32]) -> Result<(), Fault> {
        let (count, rank) = (columns.len(), self.right.rows());
        let right = Mat::from_fn(rank, count, |r, k| self.right[(r, columns[k] as usize)]);
        let OnCard { card, shape, some, .. } = self;
        some.count = count;
        card.put(columns, &mut some.numbers)?;
        card.put(right.as_slice(), &mut self.small)?;
        card.multiply(
            (shape.rows, count, rank),
            plain(&self.left, rank),
            plain(&self.small, count),
            false,
            &mut some.at,
        )?;
        let (rows, count_) = (shape.rows as u64, count as i32);
        let mut launch = card.stream.launch_builder(card.kernel("from_reference"));
        launch.arg(&rows).arg(&count_).arg(&some.numbers).arg(&self.column).arg(&self.offset).arg(&self.root);
        launch.arg(&mut some.at);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.rows * count))? };
        Ok(())
    }

    /// HᵀΩH of the columns in `grams`, Ω the information of the cells at their present f, and the response Hᵀ(Ω(f − known) + ∂f) in `small`.
    fn curved(&mut self) -> Result<(), Fault> {
        let OnCard { card, shape, some, .. } = self;
        let Shape { rows, columns, width, .. } = *shape;
        let (count, none) = (some.count, 0_u64);
        let (rows_, count_, columns_) = (rows as u64, count as i32, columns as i32);
        let mut launch = card.stream.launch_builder(card.kernel("curvature"));
        launch.arg(&rows_).arg(&count_).arg(&columns_).arg(&some.numbers);
        push_cells!(launch, self.cells);
        launch.arg(&self.offset).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&some.at).arg(&mut some.weight).arg(&mut some.response);
        // SAFETY: as above.
        unsafe { launch.launch(each(rows * count))? };
        card.multiply(
            (count, width, rows),
            transposed(&some.response, count),
            plain(&self.h, width),
            false,
            &mut self.small,
        )?;
        // All Gram matrices at once, as one product of the weights with the products of features: G_j = Σ_n ω_nj h_n h_nᵀ.
        let triangle = width * (width + 1) / 2;
        for first in (0..rows).step_by(TILE) {
            let tile = TILE.min(rows - first);
            let (first_, tile_, width_) = (first as u64, tile as u64, width as i32);
            let config = LaunchConfig { grid_dim: (tile as u32, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
            let mut launch = card.stream.launch_builder(card.kernel("products"));
            launch.arg(&first_).arg(&tile_).arg(&width_).arg(&self.h).arg(&mut some.tile);
            // SAFETY: as above.
            unsafe { launch.launch(config)? };
            let weights = some.weight.slice(first * count..(first + tile) * count);
            let factors = (transposed(&weights, count), plain(&some.tile, triangle));
            card.multiply((count, triangle, tile), factors.0, factors.1, first > 0, &mut some.grams)?;
        }
        Ok(())
    }

    fn fitted(&mut self, priors: &Priors) -> Result<Mat, Fault> {
        self.curved()?;
        let OnCard { card, shape, some, .. } = self;
        let (rows, width, count) = (shape.rows, shape.width, some.count);
        card.put(priors.precision.as_slice(), &mut some.precision)?;
        card.put(&priors.centre, &mut some.centre)?;
        let width_ = width as i32;
        let config = LaunchConfig { grid_dim: (count as u32, 1, 1), block_dim: (1024, 1, 1), shared_mem_bytes: 0 };
        let mut launch = card.stream.launch_builder(card.kernel("fit"));
        launch.arg(&width_).arg(&some.grams).arg(&self.small).arg(&some.precision).arg(&some.centre);
        launch.arg(&mut some.factors).arg(&mut some.means);
        // SAFETY: as above.
        unsafe { launch.launch(config)? };
        let factors = (plain(&self.h, width), transposed(&some.means, width));
        card.multiply((rows, count, width), factors.0, factors.1, false, &mut some.at)?;
        let (rows_, count_) = (rows as u64, count as i32);
        let mut launch = card.stream.launch_builder(card.kernel("add_offset"));
        launch.arg(&rows_).arg(&count_).arg(&self.offset).arg(&mut some.at);
        // SAFETY: as above.
        unsafe { launch.launch(each(rows * count))? };
        let mut means = Mat::zeros(count, width);
        card.get(&some.means, means.as_mut_slice())?;
        Ok(means)
    }

    fn aimed(&mut self, normals: &Mat, from_mean: &Mat) -> Result<(Mat, Vec<[f64; 3]>), Fault> {
        let OnCard { card, shape, some, .. } = self;
        let (rows, width, count) = (shape.rows, shape.width, some.count);
        card.put(normals.as_slice(), &mut some.normals)?;
        card.put(from_mean.as_slice(), &mut some.from_mean)?;
        let width_ = width as i32;
        let config = LaunchConfig { grid_dim: (count as u32, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
        let mut launch = card.stream.launch_builder(card.kernel("aim"));
        launch.arg(&width_).arg(&some.factors).arg(&some.normals).arg(&some.from_mean);
        launch.arg(&mut some.directions).arg(&mut some.squares);
        // SAFETY: as above.
        unsafe { launch.launch(config)? };
        let factors = (plain(&self.h, width), transposed(&some.directions, width));
        card.multiply((rows, count, width), factors.0, factors.1, false, &mut some.aim)?;
        let (mut directions, mut squares) = (Mat::zeros(count, width), vec![0.0; 3 * count]);
        card.get(&some.directions, directions.as_mut_slice())?;
        card.get(&some.squares, &mut squares)?;
        Ok((directions, squares.as_chunks().0.to_vec()))
    }

    fn turned_columns(&mut self, turns: &Turns, out: &mut [f64]) -> Result<(), Fault> {
        let flat: Vec<f64> = turns.iter().flat_map(|&(cos, sin)| [cos, sin]).collect();
        let OnCard { card, shape, some, .. } = self;
        card.put(&flat, &mut some.turns)?;
        let (rows, count, columns, none) = (shape.rows as u64, some.count as i32, shape.columns as i32, 0_u64);
        let mut launch = card.stream.launch_builder(card.kernel("turned_ln_lik"));
        launch.arg(&rows).arg(&count).arg(&columns).arg(&some.numbers).arg(&self.product);
        push_cells!(launch, self.cells);
        launch.arg(&self.offset).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&some.at).arg(&some.aim).arg(&some.turns).arg(&mut self.sums);
        // SAFETY: as above.
        unsafe { launch.launch(pieces(shape.rows, some.count))? };
        let count = some.count;
        self.gather_pieces(count, out)
    }

    fn added(&mut self) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (count, columns) = (shape.cells() as u64, shape.columns as i32);
        let mut launch = card.stream.launch_builder(card.kernel("add_to_sum"));
        launch.arg(&count).arg(&columns).arg(&self.product).arg(&self.offset).arg(&self.column).arg(&mut self.sum);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.cells()))? };
        Ok(())
    }

    /// F in the place of ζ.
    pub(crate) fn whole_f(&mut self) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (count, columns) = (shape.cells() as u64, shape.columns as i32);
        let mut launch = card.stream.launch_builder(card.kernel("whole"));
        launch.arg(&count).arg(&columns).arg(&self.product).arg(&self.offset).arg(&mut self.zeta);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.cells()))? };
        Ok(())
    }

    fn fetched(&mut self, f: &mut Mat) -> Result<(), Fault> {
        self.whole_f()?;
        let OnCard { card, shape, .. } = self;
        *f = Mat::zeros(shape.rows, shape.columns);
        card.get(&self.zeta, f.as_mut_slice())
    }

    fn summed(&mut self) -> Result<Vec<f32>, Fault> {
        let mut sum = vec![0.0; self.shape.cells()];
        self.card.get(&self.sum, &mut sum)?;
        Ok(sum)
    }

    fn sum_set(&mut self, sum: &[f32]) -> Result<(), Fault> {
        self.card.stream.memset_zeros(&mut self.sum)?;
        if sum.is_empty() { Ok(()) } else { self.card.put(sum, &mut self.sum) }
    }
}

/// Where the weights of the sine and of the cosine of frequency l are in β.
fn pair_rows(shape: &Shape, l: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let row = |r: usize| r * shape.columns..(r + 1) * shape.columns;
    (row(l), row(shape.frequencies + l))
}

impl Device for OnCard {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn fault(&mut self) -> Option<String> {
        self.fault.clone()
    }

    fn set_table(&mut self, model: &Model) {
        let done = self.replace(model);
        self.note(done);
    }

    fn totals(&self) -> &[f64] {
        &self.totals
    }

    fn ln_sums(&mut self, out: &mut [f64]) {
        let done = self.summed_rows(out);
        self.note(done);
    }

    fn set_offset(&mut self, offset: &[f64]) {
        let done = self.card.put(offset, &mut self.offset);
        self.note(done);
    }

    fn set_map(&mut self, x: &Mat, w: &Mat, s: f64) {
        self.s = s;
        let done = self.place(x, w, false);
        self.note(done);
    }

    fn set_parameters(&mut self, theta: &[Theta]) {
        let done = self.describe_columns(theta);
        self.note(done);
    }

    fn set_weights(&mut self, beta: &Mat) {
        let done = self.weighed(beta);
        self.note(done);
    }

    fn set_reference(&mut self, reference: &Reference) {
        let done = self.referred(reference);
        self.note(done);
    }

    fn ln_lik(&mut self) -> f64 {
        let done = self.whole(false);
        self.note(done).unwrap_or(f64::NAN)
    }

    fn ln_lik_rows(&mut self, out: &mut [f64]) {
        let done = self.all_rows(out);
        self.note(done);
    }

    fn ln_lik_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        let done = self.some_rows(rows, x, out);
        self.note(done);
    }

    fn ln_lik_frequency(&mut self, l: usize, w: &[f64]) -> f64 {
        let done = self.frequency(l, w);
        self.note(done).unwrap_or(f64::NAN)
    }

    fn set_frequency(&mut self, l: usize, w: &[f64]) {
        let done = self.keep(l, w);
        self.note(done);
    }

    fn ln_lik_columns(&mut self, at: &[ColumnAt], out: &mut [f64]) {
        let done = self.columns_at(at, out);
        self.note(done);
    }

    fn ln_likelihood(&mut self) -> f64 {
        let done = self.whole(true);
        self.note(done).unwrap_or(f64::NAN)
    }

    fn information_rows(&mut self, shares: &[f64], out: &mut [f64]) {
        let done = self.informed(shares, out);
        self.note(done);
    }

    fn take_columns(&mut self, columns: &[u32]) {
        let done = self.taken(columns);
        self.note(done);
    }

    fn fit_columns(&mut self, priors: &Priors) -> Mat {
        let done = self.fitted(priors);
        self.note(done).unwrap_or_else(|| priors.precision.clone())
    }

    fn aim_columns(&mut self, normals: &Mat, from_mean: &Mat) -> (Mat, Vec<[f64; 3]>) {
        let done = self.aimed(normals, from_mean);
        self.note(done).unwrap_or_else(|| (normals.clone(), vec![[f64::NAN; 3]; normals.rows()]))
    }

    fn ln_lik_turned(&mut self, turns: &Turns, out: &mut [f64]) {
        let done = self.turned_columns(turns, out);
        self.note(done);
    }

    fn slope(&mut self, x: &Mat, w: &Mat, s: f64, beta: &Mat, dbeta: &mut Mat, to: Slopes<'_>) -> f64 {
        self.s = s;
        let done = self.place(x, w, false).and_then(|()| self.likelihood_slope(false, beta, dbeta, to));
        self.note(done).unwrap_or(f64::NAN)
    }

    fn add_to_sum(&mut self) {
        let done = self.added();
        self.note(done);
    }

    fn refer(&mut self, added: Option<f64>) -> Reference {
        let done = self.reference(added);
        let (rows, columns) = (self.shape.rows, self.shape.columns);
        self.note(done).unwrap_or_else(|| Reference {
            root: vec![1.0; rows],
            column: vec![1.0; columns],
            left: Mat::zeros(rows, 1),
            right: Mat::zeros(1, columns),
        })
    }

    fn sum(&mut self) -> Vec<f32> {
        let done = self.summed();
        self.note(done).unwrap_or_default()
    }

    fn set_sum(&mut self, sum: Vec<f32>) {
        let done = self.sum_set(&sum);
        self.note(done);
    }

    fn f(&mut self, f: &mut Mat) {
        let done = self.fetched(f);
        self.note(done);
    }
}
