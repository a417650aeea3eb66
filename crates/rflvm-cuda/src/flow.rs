//! A trajectory with the weights on the card too: along it only X, W and their gradients travel.

use crate::card::{Extent, Factor, Fault, Values, each, parts, plain, transposed};
use crate::shape::Shape;
use crate::table::OnCard;
use crate::weights::Flowing;
use cudarc::driver::PushKernelArg;
use rflvm::internal::hmc::flow::{Flow, Frame};
use rflvm::internal::linalg::Mat;
use rflvm::internal::rng::Stream;

/// Columns `from..` of a table with this number of columns.
fn columns_of<P>(values: &P, columns: usize) -> Factor<'_, P> {
    plain(values, columns)
}

impl OnCard {
    /// Takes the weights out of the table, so that both can be borrowed.
    fn with_flow<T>(&mut self, f: impl FnOnce(&mut Self, &mut Flowing) -> Result<T, Fault>) -> Result<T, Fault> {
        let mut flowing = self.flowing.take().ok_or_else(|| Fault("a trajectory has not begun".into()))?;
        let done = f(self, &mut flowing);
        self.flowing = Some(flowing);
        done
    }

    /// √aH, HᵀaL and A⁻¹ at X and W.
    fn flow_settle(&mut self, flow: &mut Flowing, x: &Mat, w: &Mat) -> Result<(), Fault> {
        self.place(x, w, true)?;
        let OnCard { card, shape, .. } = self;
        let (rows, pitch, rank) = (shape.rows, shape.pitch(), flow.frame.right.rows());
        card.multiply(
            Extent { rows: pitch, columns: pitch, inner: rows },
            transposed(&self.h, pitch),
            plain(&self.h, pitch),
            false,
            &mut self.square,
        )?;
        card.multiply(
            Extent { rows: pitch, columns: rank, inner: rows },
            transposed(&self.h, pitch),
            plain(&self.left, rank),
            false,
            &mut flow.left,
        )?;
        flow.invert(card, *shape, &self.square)
    }

    /// β at X, W and the noise.
    fn flow_colour(&mut self, flow: &mut Flowing) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (Shape { rows, columns, width, .. }, pitch) = (*shape, shape.pitch());
        let rank = flow.frame.right.rows();
        card.multiply(
            Extent { rows: width, columns, inner: rank },
            plain(&flow.left, rank),
            plain(&flow.right, columns),
            false,
            &mut flow.response,
        )?;
        card.multiply(
            Extent { rows: pitch, columns, inner: rows },
            transposed(&self.h, pitch),
            plain(&self.zeta, columns),
            false,
            &mut flow.u,
        )?;
        let (m, j, root) = (width as i32, columns as i32, flow.root_intercept());
        let mut launch = card.stream.launch_builder(card.kernel("prepare"));
        launch.arg(&m).arg(&j).arg(&root).arg(&flow.rho).arg(&flow.xi).arg(&mut flow.response).arg(&mut flow.u);
        // SAFETY: the arguments are those of the kernel, and as long as it expects.
        unsafe { launch.launch(each(width * columns))? };
        for (g, (range, _)) in flow.frame.groups.iter().enumerate() {
            let inverse = flow.inverses.slice(g * width * width..);
            let size = Extent { rows: width, columns: range.len(), inner: width };
            for (from, to) in [(&flow.response, &mut flow.mean), (&flow.u, &mut flow.t)] {
                let (from, mut to) = (from.slice(range.start..), to.slice_mut(range.start..));
                card.multiply_scaled(
                    size,
                    1.0,
                    plain(&inverse, width),
                    columns_of(&from, columns),
                    false,
                    (&mut to, columns),
                )?;
            }
        }
        let mut launch = card.stream.launch_builder(card.kernel("colour"));
        launch.arg(&m).arg(&j).arg(&flow.order).arg(&self.column).arg(&flow.scale).arg(&flow.mean).arg(&flow.t);
        launch.arg(&mut self.beta);
        // SAFETY: as above.
        unsafe { launch.launch(each(width * columns))? };
        Ok(())
    }

    fn flow_evaluate(
        &mut self,
        flow: &mut Flowing,
        x: &Mat,
        w: &Mat,
        to: (&mut [f64], &mut [f64]),
    ) -> Result<f64, Fault> {
        self.flow_settle(flow, x, w)?;
        self.flow_colour(flow)?;
        let (Shape { rows, columns, width, .. }, pitch) = (self.shape, self.shape.pitch());
        let (m, j, pitch_, weights) = (width as i32, columns as i32, pitch as i32, width * columns);
        let (count, sums) = (weights as u64, parts(weights));
        let blocks = sums.grid_dim.0 as usize;
        let mut launch = self.card.stream.launch_builder(self.card.kernel("half_products"));
        launch.arg(&count).arg(&flow.u).arg(&flow.t).arg(&mut self.out);
        // SAFETY: as above.
        unsafe { launch.launch(sums)? };
        let half_square = self.total(blocks)?;
        // F, the slope of its likelihood, ∂β, and the first part of ∂H.
        let ln_lik = self.slope_at_beta(true)?;
        let mut launch = self.card.stream.launch_builder(self.card.kernel("pull"));
        launch.arg(&m).arg(&j).arg(&flow.frame.intercept).arg(&flow.precision).arg(&self.column).arg(&self.beta);
        launch.arg(&mut self.weights).arg(&mut self.out);
        // SAFETY: as above.
        unsafe { launch.launch(sums)? };
        let ln_prior = self.total(blocks)?;
        let OnCard { card, .. } = self;
        // V = A⁻¹∂β in the place of the mean; β less its prior mean in that of u; ∂β in that of the response.
        let mut launch = card.stream.launch_builder(card.kernel("arrange"));
        launch.arg(&m).arg(&j).arg(&flow.order).arg(&self.column).arg(&self.beta).arg(&self.weights);
        launch.arg(&mut flow.u).arg(&mut flow.response);
        // SAFETY: as above.
        unsafe { launch.launch(each(weights))? };
        card.stream.memset_zeros(&mut flow.ds)?;
        for (g, (range, rho)) in flow.frame.groups.iter().enumerate() {
            let inverse = flow.inverses.slice(g * width * width..);
            let size = Extent { rows: width, columns: range.len(), inner: width };
            let from = flow.response.slice(range.start..);
            let mut v = flow.mean.slice_mut(range.start..);
            card.multiply_scaled(
                size,
                1.0,
                plain(&inverse, width),
                columns_of(&from, columns),
                false,
                (&mut v, columns),
            )?;
            let size = Extent { rows: width, columns: width, inner: range.len() };
            let (v, own, t) =
                (flow.mean.slice(range.start..), flow.u.slice(range.start..), flow.t.slice(range.start..));
            card.multiply_scaled(
                size,
                1.0,
                plain(&v, columns),
                transposed(&own, columns),
                false,
                (&mut flow.da, width),
            )?;
            card.multiply_scaled(size, 0.5, plain(&t, columns), transposed(&t, columns), true, (&mut flow.da, width))?;
            let half = 0.5 * range.len() as f64;
            let mut launch = card.stream.launch_builder(card.kernel("symmetrise"));
            launch.arg(&m).arg(&pitch_).arg(rho).arg(&half).arg(&inverse).arg(&flow.da).arg(&mut flow.ds);
            // SAFETY: as above.
            unsafe { launch.launch(each(width * width))? };
        }
        let mut launch = card.stream.launch_builder(card.kernel("respond"));
        launch.arg(&m).arg(&j).arg(&flow.rho).arg(&flow.scale).arg(&mut flow.t).arg(&mut flow.mean);
        // SAFETY: as above.
        unsafe { launch.launch(each(weights))? };
        let rank = flow.frame.right.rows();
        card.multiply(
            Extent { rows: width, columns: rank, inner: columns },
            plain(&flow.mean, columns),
            transposed(&flow.right, columns),
            false,
            &mut flow.left,
        )?;
        card.multiply(
            Extent { rows, columns: pitch, inner: columns },
            plain(&self.zeta, columns),
            transposed(&flow.t, columns),
            true,
            &mut self.dh,
        )?;
        card.multiply(
            Extent { rows, columns: pitch, inner: pitch },
            plain(&self.h, pitch),
            plain(&flow.ds, pitch),
            true,
            &mut self.dh,
        )?;
        card.multiply(
            Extent { rows, columns: pitch, inner: rank },
            plain(&self.left, rank),
            transposed(&flow.left, rank),
            true,
            &mut self.dh,
        )?;
        self.propagate(true, to)?;
        let ln_det = flow.ln_det(&self.card)?;
        Ok(ln_lik + ln_prior + half_square - 0.5 * ln_det)
    }

    fn flow_gather(&mut self, flow: &mut Flowing, x: &Mat, w: &Mat, beta: &Mat, stream: Stream) -> Result<(), Fault> {
        let (Shape { rows, columns, width, .. }, pitch) = (self.shape, self.shape.pitch());
        self.normals(stream, width * columns, &mut flow.xi)?;
        // If A is not positive definite, the trajectory finds the same, and is rejected.
        self.flow_settle(flow, x, w)?;
        self.flow_colour(flow)?;
        let OnCard { card, .. } = self;
        card.put(beta.as_slice(), &mut self.weights)?;
        let (m, j, root) = (width as i32, columns as i32, flow.root_intercept());
        let mut launch = card.stream.launch_builder(card.kernel("away"));
        launch
            .arg(&m)
            .arg(&j)
            .arg(&root)
            .arg(&flow.order)
            .arg(&flow.rho)
            .arg(&flow.scale)
            .arg(&self.weights)
            .arg(&self.beta);
        launch.arg(&mut flow.xi).arg(&mut flow.response);
        // SAFETY: as above.
        unsafe { launch.launch(each(width * columns))? };
        card.multiply(
            Extent { rows, columns, inner: pitch },
            plain(&self.h, pitch),
            plain(&flow.response, columns),
            true,
            &mut self.zeta,
        )
    }

    fn flow_kick(&mut self, flow: &mut Flowing, step: f64) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (Shape { rows, columns, width, .. }, pitch) = (*shape, shape.pitch());
        let (m, j, root) = (width as i32, columns as i32, flow.root_intercept());
        let mut launch = card.stream.launch_builder(card.kernel("kick"));
        launch.arg(&m).arg(&j).arg(&step).arg(&root).arg(&flow.rho).arg(&mut flow.t).arg(&mut flow.xi_momenta);
        // SAFETY: as above.
        unsafe { launch.launch(each(width * columns))? };
        card.multiply(
            Extent { rows, columns, inner: pitch },
            plain(&self.h, pitch),
            plain(&flow.t, columns),
            true,
            &mut self.momenta,
        )
    }

    /// Normals into some memory of the card.
    fn normals(&self, stream: Stream, count: usize, to: &mut Values) -> Result<(), Fault> {
        let ([key, counter], count_) = (stream.key(), count as u64);
        let mut launch = self.card.stream.launch_builder(self.card.kernel("normals"));
        launch.arg(&count_).arg(&key).arg(&counter).arg(to);
        // SAFETY: as above.
        unsafe { launch.launch(each(count.div_ceil(2)))? };
        Ok(())
    }

    fn flow_turn(&mut self, flow: &mut Flowing, sin: f64, cos: f64) -> Result<(), Fault> {
        let count = self.shape.width * self.shape.columns;
        let count_ = count as u64;
        let mut launch = self.card.stream.launch_builder(self.card.kernel("turn"));
        launch.arg(&count_).arg(&sin).arg(&cos).arg(&mut flow.xi).arg(&mut flow.xi_momenta);
        // SAFETY: as above.
        unsafe { launch.launch(each(count))? };
        Ok(())
    }

    fn flow_energy(&mut self, flow: &mut Flowing) -> Result<f64, Fault> {
        let weights = self.shape.width * self.shape.columns;
        let (count, sums) = (weights as u64, parts(weights));
        let mut launch = self.card.stream.launch_builder(self.card.kernel("half_squares"));
        launch.arg(&count).arg(&flow.xi).arg(&flow.xi_momenta).arg(&mut self.out);
        // SAFETY: as above.
        unsafe { launch.launch(sums)? };
        self.total(sums.grid_dim.0 as usize)
    }
}

impl Flow for OnCard {
    fn begin(&mut self, frame: &Frame) {
        let reused = self.flowing.take();
        let flowing = Flowing::new(&self.card, self.shape, frame, reused);
        self.flowing = self.note(flowing);
    }

    fn gather(&mut self, x: &Mat, w: &Mat, beta: &Mat, [of_zeta, of_xi]: [Stream; 2]) {
        let done = self.drawn(of_zeta, false);
        self.note(done);
        let done = self.with_flow(|table, flow| table.flow_gather(flow, x, w, beta, of_xi));
        self.note(done);
    }

    fn evaluate(&mut self, x: &Mat, w: &Mat, to: (&mut [f64], &mut [f64])) -> f64 {
        let done = self.with_flow(|table, flow| table.flow_evaluate(flow, x, w, to));
        self.note(done).unwrap_or(f64::NAN)
    }

    fn kick(&mut self, step: f64) {
        let done = self.with_flow(|table, flow| table.flow_kick(flow, step));
        self.note(done);
    }

    fn draw_momenta(&mut self, [of_zeta, of_xi]: [Stream; 2]) {
        let done = self.drawn(of_zeta, true);
        self.note(done);
        let count = self.shape.width * self.shape.columns;
        let done = self.with_flow(|table, flow| table.normals(of_xi, count, &mut flow.xi_momenta));
        self.note(done);
    }

    fn turn(&mut self, sin: f64, cos: f64) {
        let done = self.turned(sin, cos);
        self.note(done);
        let done = self.with_flow(|table, flow| table.flow_turn(flow, sin, cos));
        self.note(done);
    }

    fn energy(&mut self) -> f64 {
        let of_zeta = self.half_squares();
        let of_xi = self.with_flow(OnCard::flow_energy);
        let [of_zeta, of_xi] = [of_zeta, of_xi].map(|energy| self.note(energy).unwrap_or(f64::NAN));
        of_zeta + of_xi
    }

    fn beta(&mut self, beta: &mut Mat) {
        let done = self.card.get(&self.beta, beta.as_mut_slice());
        self.note(done);
    }
}
