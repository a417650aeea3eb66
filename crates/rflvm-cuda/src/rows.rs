//! Rows of a table on a card: H, the slope of the likelihood and where it leads, the noise of a trajectory.

use crate::card::{Extent, Fault, blocks, each, parts, plain, transposed, warps};
use crate::shape::Shape;
use crate::table::OnCard;
use cudarc::driver::PushKernelArg;
use rflvm::internal::hmc::flow::Slopes;
use rflvm::internal::linalg::Mat;
use rflvm::internal::rng::Stream;

impl OnCard {
    /// X and W, and H or √aH.
    pub(crate) fn place(&mut self, x: &Mat, w: &Mat, is_weighted: bool) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let Shape { rows, dim, frequencies, covariates, linear, .. } = *shape;
        card.put(x.as_slice(), &mut self.x)?;
        card.put(w.as_slice(), &mut self.w)?;
        let (rows_, dim, l, c) = (rows as u64, dim as i32, frequencies as i32, covariates as i32);
        let (linear, pitch, none) = (linear as i32, shape.pitch() as i32, 0_u64);
        let mut launch = card.stream.launch_builder(card.kernel("features"));
        launch.arg(&rows_).arg(&dim).arg(&l).arg(&c).arg(&linear).arg(&pitch).arg(&self.s).arg(&self.x).arg(&self.w);
        launch.arg(&self.covariates).arg(&none);
        if is_weighted {
            launch.arg(&self.root);
        } else {
            launch.arg(&none);
        }
        launch.arg(&mut self.h);
        // SAFETY: the arguments are those of the kernel, and as long as it expects.
        unsafe { launch.launch(each(rows * frequencies))? };
        Ok(())
    }

    /// Sum of the first `count` numbers of `out`.
    pub(crate) fn total(&mut self, count: usize) -> Result<f64, Fault> {
        let OnCard { card, out, small, .. } = self;
        let count = count as u64;
        let config = blocks(1, 1024);
        let mut launch = card.stream.launch_builder(card.kernel("sum_all"));
        launch.arg(&count).arg(&*out).arg(&mut *small);
        // SAFETY: as above.
        unsafe { launch.launch(config)? };
        let mut total = [0.0];
        card.get(small, &mut total)?;
        Ok(total[0])
    }

    /// ln p(Y | F) at the weights on the card, with the slope in place of the product, ∂β and ∂H.
    pub(crate) fn slope_at_beta(&mut self, is_weighted: bool) -> Result<f64, Fault> {
        let OnCard { card, shape, .. } = self;
        let (Shape { rows, columns, .. }, pitch) = (*shape, shape.pitch());
        card.multiply(
            Extent { rows, columns, inner: pitch },
            plain(&self.h, pitch),
            plain(&self.beta, columns),
            false,
            &mut self.product,
        )?;
        let (rows_, columns_, none) = (rows as u64, columns as i32, 0_u64);
        let mut launch = card.stream.launch_builder(card.kernel("row_slope"));
        launch.arg(&rows_).arg(&columns_).arg(&mut self.product);
        push_cells!(launch, self.cells);
        launch.arg(&self.known).arg(&self.column);
        push_option!(launch, self.trials, none);
        if is_weighted {
            launch.arg(&self.root);
        } else {
            launch.arg(&none);
        }
        launch.arg(&mut self.out);
        // SAFETY: as above.
        unsafe { launch.launch(warps(rows))? };
        card.multiply(
            Extent { rows: pitch, columns, inner: rows },
            transposed(&self.h, pitch),
            plain(&self.product, columns),
            false,
            &mut self.weights,
        )?;
        card.multiply(
            Extent { rows, columns: pitch, inner: columns },
            plain(&self.product, columns),
            transposed(&self.beta, columns),
            false,
            &mut self.dh,
        )?;
        self.total(rows)
    }

    /// ln p(Y | F) at some weights; gradients of β, X and W.
    pub(crate) fn likelihood_slope(
        &mut self,
        is_weighted: bool,
        beta: &Mat,
        dbeta: &mut Mat,
        to: Slopes<'_>,
    ) -> Result<f64, Fault> {
        self.card.put(beta.as_slice(), &mut self.beta)?;
        let ln_lik = self.slope_at_beta(is_weighted)?;
        self.card.get(&self.weights, dbeta.as_mut_slice())?;
        self.propagate(is_weighted, to)?;
        Ok(ln_lik)
    }

    /// From ∂H to X and W.
    pub(crate) fn propagate(&mut self, is_weighted: bool, (gx, gw): Slopes<'_>) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let Shape { rows, dim, frequencies, covariates, linear, .. } = *shape;
        let (rows_, l, pitch) = (rows as u64, frequencies as i32, shape.pitch() as i32);
        let mut launch = card.stream.launch_builder(card.kernel("to_arguments"));
        launch.arg(&rows_).arg(&l).arg(&pitch).arg(&self.h).arg(&self.dh).arg(&mut self.t);
        // SAFETY: as above.
        unsafe { launch.launch(each(rows * frequencies))? };
        card.multiply(
            Extent { rows, columns: dim, inner: frequencies },
            plain(&self.t, frequencies),
            plain(&self.w, dim),
            false,
            &mut self.gx,
        )?;
        if linear > 0 {
            let (dim_, first, none) = (dim as i32, (2 * frequencies + covariates) as i32, 0_u64);
            let mut launch = card.stream.launch_builder(card.kernel("add_linear"));
            launch.arg(&rows_).arg(&dim_).arg(&pitch).arg(&first).arg(&self.s);
            if is_weighted {
                launch.arg(&self.root);
            } else {
                launch.arg(&none);
            }
            launch.arg(&self.dh).arg(&mut self.gx);
            // SAFETY: as above.
            unsafe { launch.launch(each(rows * dim))? };
        }
        card.multiply(
            Extent { rows: frequencies, columns: dim, inner: rows },
            transposed(&self.t, frequencies),
            plain(&self.x, dim),
            false,
            &mut self.gw,
        )?;
        let (mut own_x, mut own_w) = (vec![0.0; gx.len()], vec![0.0; gw.len()]);
        card.get(&self.gx, &mut own_x)?;
        card.get(&self.gw, &mut own_w)?;
        gx.iter_mut().zip(own_x).for_each(|(to, own)| *to += own);
        gw.iter_mut().zip(own_w).for_each(|(to, own)| *to += own);
        Ok(())
    }

    pub(crate) fn drawn(&mut self, stream: Stream, of_momenta: bool) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let count = shape.cells();
        let ([key, counter], count_) = (stream.key(), count as u64);
        let to = if of_momenta { &mut self.momenta } else { &mut self.zeta };
        let mut launch = card.stream.launch_builder(card.kernel("normals"));
        launch.arg(&count_).arg(&key).arg(&counter).arg(to);
        // SAFETY: as above.
        unsafe { launch.launch(each(count.div_ceil(2)))? };
        Ok(())
    }

    pub(crate) fn turned(&mut self, sin: f64, cos: f64) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (count, count_) = (shape.cells(), shape.cells() as u64);
        let mut launch = card.stream.launch_builder(card.kernel("turn"));
        launch.arg(&count_).arg(&sin).arg(&cos).arg(&mut self.zeta).arg(&mut self.momenta);
        // SAFETY: as above.
        unsafe { launch.launch(each(count))? };
        Ok(())
    }

    pub(crate) fn half_squares(&mut self) -> Result<f64, Fault> {
        let OnCard { card, shape, .. } = self;
        let count = shape.cells() as u64;
        let config = parts(shape.cells());
        let mut launch = card.stream.launch_builder(card.kernel("half_squares"));
        launch.arg(&count).arg(&self.zeta).arg(&self.momenta).arg(&mut self.out);
        // SAFETY: as above.
        unsafe { launch.launch(config)? };
        self.total(config.grid_dim.0 as usize)
    }
}
