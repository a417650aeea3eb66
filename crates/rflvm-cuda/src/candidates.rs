//! Rows of a table at other positions: likelihoods and their slopes. They use the memory of ∂H, its arguments and the noise, which only a trajectory needs.

use crate::card::{Extent, Fault, each, plain, warps};
use crate::shape::Shape;
use crate::table::OnCard;
use cudarc::driver::PushKernelArg;

impl OnCard {
    /// H of some rows at other positions in the place of ∂H, and with `slopes` that of its slope along each axis after it; times β in the place of ζ.
    fn candidates(&mut self, rows: &[u32], x: &[f64], slopes: bool) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (Shape { columns, dim, frequencies, covariates, linear, .. }, pitch) = (*shape, shape.pitch());
        let count = rows.len();
        card.put(rows, &mut self.numbers)?;
        card.put(x, &mut self.gx)?;
        let (rows_, dim_, l, c, none) = (count as u64, dim as i32, frequencies as i32, covariates as i32, 0_u64);
        let (linear, pitch_) = (linear as i32, pitch as i32);
        let mut launch = card.stream.launch_builder(card.kernel("features"));
        launch.arg(&rows_).arg(&dim_).arg(&l).arg(&c).arg(&linear).arg(&pitch_).arg(&self.s).arg(&self.gx).arg(&self.w);
        launch.arg(&self.covariates).arg(&self.numbers).arg(&none).arg(&mut self.dh);
        // SAFETY: the arguments are those of the kernel, and as long as it expects.
        unsafe { launch.launch(each(count * frequencies))? };
        if slopes {
            let mut after = self.dh.slice_mut(count * pitch..);
            let mut launch = card.stream.launch_builder(card.kernel("feature_slopes"));
            launch.arg(&rows_).arg(&dim_).arg(&l).arg(&c).arg(&linear).arg(&pitch_).arg(&self.s).arg(&self.gx);
            launch.arg(&self.w).arg(&mut after);
            // SAFETY: as above.
            unsafe { launch.launch(each(count * frequencies))? };
        }
        let height = if slopes { count * (1 + dim) } else { count };
        card.multiply(
            Extent { rows: height, columns, inner: pitch },
            plain(&self.dh, pitch),
            plain(&self.beta, columns),
            false,
            &mut self.zeta,
        )
    }

    /// Log-likelihoods of new rows, as many at a time as there is memory for.
    pub(crate) fn new_rows(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) -> Result<(), Fault> {
        let (together, dim) = (self.shape.candidates(), self.shape.dim);
        let mut parts = rows.chunks(together).zip(x.chunks(together * dim)).zip(out.chunks_mut(together));
        parts.try_for_each(|((rows, x), out)| match self.categories.is_empty() {
            true => self.some_rows(rows, x, out),
            false => self.some_categories(rows, x, out),
        })
    }

    /// Log-likelihoods of candidates.
    pub(crate) fn some_rows(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) -> Result<(), Fault> {
        self.candidates(rows, x, false)?;
        let OnCard { card, .. } = self;
        let (rows_, none) = (rows.len() as u64, 0_u64);
        let mut launch = card.stream.launch_builder(card.kernel("row_ln_lik"));
        launch.arg(&rows_).arg(&self.zeta);
        push_cells!(launch, self.cells);
        launch.arg(&self.known).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&self.numbers).arg(&mut self.out);
        // SAFETY: as above.
        unsafe { launch.launch(warps(rows.len()))? };
        card.get(&self.out, out)
    }

    /// Log-likelihoods of rows with categories, without rates.
    fn some_categories(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) -> Result<(), Fault> {
        self.candidates(rows, x, false)?;
        self.categories_at(rows.len())?;
        self.card.get(&self.out, out)
    }

    /// Log-likelihoods of the candidates of rows with categories; their offsets as counts and their totals in `a` and `b`.
    fn categories_at(&mut self, count: usize) -> Result<(), Fault> {
        let OnCard { card, .. } = self;
        let (rows, none) = (count as u64, 0_u64);
        let mut launch = card.stream.launch_builder(card.kernel("row_categories"));
        launch.arg(&rows).arg(&self.ends).arg(&self.zeta);
        push_cells!(launch, self.cells);
        launch.arg(&self.known).arg(&self.column);
        push_option!(launch, self.trials, none);
        launch.arg(&self.numbers).arg(&mut self.out).arg(&mut self.a).arg(&mut self.b);
        // SAFETY: as above.
        unsafe { launch.launch(warps(count))? };
        Ok(())
    }

    /// Slopes of candidates in their positions, and the information about these, as many rows at a time as there is memory for.
    pub(crate) fn slopes_of_rows(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) -> Result<(), Fault> {
        let Shape { columns, dim, .. } = self.shape;
        let numbers = dim * (dim + 3) / 2;
        let together = self.shape.candidates() / (1 + dim);
        let parts = rows.chunks(together).zip(x.chunks(together * dim)).zip(out.chunks_mut(together * numbers));
        for ((rows, x), out) in parts {
            self.candidates(rows, x, true)?;
            if !self.categories.is_empty() {
                self.categories_at(rows.len())?;
            }
            let OnCard { card, .. } = self;
            let (rows_, dim_, none) = (rows.len() as u64, dim as i32, 0_u64);
            let mut launch = card.stream.launch_builder(card.kernel("cell_slopes"));
            launch.arg(&rows_).arg(&mut self.zeta);
            push_cells!(launch, self.cells);
            launch.arg(&self.known).arg(&self.column);
            push_option!(launch, self.trials, none);
            launch.arg(&self.numbers).arg(&self.a).arg(&self.b).arg(&mut self.momenta);
            // SAFETY: as above.
            unsafe { launch.launch(each(rows.len() * columns))? };
            let mut launch = card.stream.launch_builder(card.kernel("position_slopes"));
            launch.arg(&rows_).arg(&dim_).arg(&self.zeta).arg(&self.momenta).arg(&mut self.t);
            // SAFETY: as above.
            unsafe { launch.launch(warps(rows.len() * numbers))? };
            card.get(&self.t, out)?;
        }
        Ok(())
    }
}
