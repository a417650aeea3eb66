//! What a chain asks of a table on a card.

use crate::card::{Extent, Fault, each, plain, warps};
use crate::shape::Shape;
use crate::table::OnCard;
use cudarc::driver::PushKernelArg;
use rflvm::internal::device::categories::Categories;
use rflvm::internal::device::{ColumnAt, Device, Priors, Turns};
use rflvm::internal::hmc::flow::Slopes;
use rflvm::internal::hmc::reference::Reference;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::Model;
use rflvm::internal::model::family::Theta;

impl OnCard {
    fn weighed(&mut self, beta: &Mat) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (Shape { rows, columns, .. }, pitch) = (*shape, shape.pitch());
        card.put(beta.as_slice(), &mut self.beta)?;
        card.multiply(
            Extent { rows, columns, inner: pitch },
            plain(&self.h, pitch),
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
        launch.arg(&self.known).arg(&self.column);
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

    fn summed_rows(&mut self, set: usize, out: &mut [f64]) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (rows, none, columns) = (shape.rows as u64, 0_u64, self.categories[set].columns.clone());
        let (first, last) = (columns.start as i32, columns.end as i32);
        let mut launch = card.stream.launch_builder(card.kernel("row_sums"));
        launch.arg(&rows).arg(&first).arg(&last).arg(&self.product);
        push_option!(launch, self.paths, none);
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

    /// Changes of the two features of frequency l, in `a` and `b`.
    fn changed(&mut self, l: usize, w: &[f64]) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (rows, dim, frequencies, pitch) =
            (shape.rows as u64, shape.dim as i32, shape.frequencies as i32, shape.pitch() as i32);
        let l = l as i32;
        card.put(w, &mut self.small)?;
        let mut launch = card.stream.launch_builder(card.kernel("pair"));
        launch.arg(&rows).arg(&dim).arg(&frequencies).arg(&pitch).arg(&l).arg(&self.x).arg(&self.small).arg(&self.h);
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
        launch.arg(&self.known).arg(&self.column);
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
        let (frequencies, pitch) = (shape.frequencies as i32, shape.pitch() as i32);
        let (sine, cosine) = pair_rows(shape, l);
        let (u, v) = (self.beta.slice(sine), self.beta.slice(cosine));
        let number = l as i32;
        let mut launch = card.stream.launch_builder(card.kernel("keep_pair"));
        launch.arg(&rows).arg(&columns).arg(&frequencies).arg(&pitch).arg(&number);
        launch.arg(&self.a).arg(&u).arg(&self.b).arg(&v).arg(&mut self.product).arg(&mut self.h);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.cells()))? };
        let mut place = self.w.slice_mut(l * shape.dim..(l + 1) * shape.dim);
        card.stream.memcpy_htod(w, &mut place)?;
        Ok(())
    }

    fn added(&mut self) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (count, columns) = (shape.cells() as u64, shape.columns as i32);
        let mut launch = card.stream.launch_builder(card.kernel("add_to_sum"));
        launch.arg(&count).arg(&columns).arg(&self.product).arg(&self.known).arg(&self.column).arg(&mut self.sum);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.cells()))? };
        Ok(())
    }

    /// F in the place of ζ.
    pub(crate) fn whole_f(&mut self) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let count = shape.cells() as u64;
        let mut launch = card.stream.launch_builder(card.kernel("whole"));
        launch.arg(&count).arg(&self.product).arg(&self.known).arg(&self.column).arg(&mut self.zeta);
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

    fn set_paths(&mut self, g: &Mat) {
        let done = self.column_processes(g);
        self.note(done);
    }

    fn categories(&self) -> &[Categories] {
        &self.categories
    }

    fn ln_sums(&mut self, set: usize, out: &mut [f64]) {
        let done = self.summed_rows(set, out);
        self.note(done);
    }

    fn set_rates(&mut self, set: usize, ln_rates: &[f64]) {
        let columns = self.categories[set].columns.clone();
        let done = self.know(columns, ln_rates);
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

    fn ln_lik_new_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        let done = self.new_rows(rows, x, out);
        self.note(done);
    }

    fn slope_new_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        let done = self.slopes_of_rows(rows, x, out);
        self.note(done);
    }

    fn ln_density_rows(&mut self, out: &mut [f64]) {
        let done = self.rows_in_out(true).and_then(|()| self.card.get(&self.out, out));
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
        self.reference(added)
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
