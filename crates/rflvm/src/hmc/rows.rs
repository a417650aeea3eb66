//! The half of a noncentred trajectory that is as long as the table: √aH, the noise ζ and its momenta, N×J, and the likelihood. It may be held
//! by another processor ([`crate::device`]); everything else is no larger than the weights.

use super::hamiltonian::{half_square, turn};
use super::reference::Reference;
use super::slope::{At, SlopeScratch};
use crate::dist::fill_normals;
use crate::linalg::{Mat, Symmetric, par_gram, par_mul, par_mul_into};
use crate::model::family::Theta;
use crate::model::features::fill_weighted;
use crate::model::plain::Plain;
use crate::model::{Known, Lent, Model};
use crate::rng::Stream;

/// Gradients with respect to X and W.
pub type Slopes<'a> = (&'a mut [f64], &'a mut [f64]);

/// What a trajectory asks of the rows. Columns of ζ, and of what is multiplied with it, are in the order of the trajectory; those of β in
/// the order of the model.
pub trait Rows {
    /// Sets X and W, and with them √aH. Returns HᵀaH, and (√aH)ᵀ times the left factor of the reference in `left`.
    fn settle(&mut self, x: &Mat, w: &Mat, left: &mut Mat) -> Symmetric;

    /// (√aH)ᵀζ.
    fn response(&mut self, u: &mut Mat);

    /// Adds √aH δ to ζ.
    fn shift(&mut self, delta: &Mat);

    /// Adds √aH ∂u to the momenta.
    fn kick(&mut self, du: &Mat);

    /// ln p(Y | F) up to a constant; its gradient with respect to β in `dbeta`, and those with respect to X and W added to `to`.
    fn likelihood(&mut self, beta: &Mat, dbeta: &mut Mat, to: Slopes<'_>) -> f64;

    /// Propagates ∂(√aH) = ζ∂uᵀ + √aH ∂S + L ∂leftᵀ, with L the left factor of the reference, to X and W.
    fn carry(&mut self, du: &Mat, ds: &Mat, left: &Mat, to: Slopes<'_>);

    /// Draws ζ.
    fn draw_noise(&mut self, stream: Stream);

    /// Draws its momenta.
    fn draw_momenta(&mut self, stream: Stream);

    /// Rotates ζ with its momenta.
    fn turn(&mut self, sin: f64, cos: f64);

    /// ½|ζ|² + ½|momenta|².
    fn energy(&mut self) -> f64;
}

/// Rows in the memory of this processor: √aH uses that of H, and ζ that of F, neither of which is needed during a trajectory.
pub(super) struct HostRows<'a> {
    model: &'a Model,
    theta: &'a [Theta],
    known: Known<'a>,
    plain: &'a Plain,
    reference: &'a Reference,
    x: Mat,
    w: Mat,
    /// √a H.
    h: Mat,
    pub zeta: Mat,
    pub momenta: Mat,
    slope: SlopeScratch,
}

impl<'a> HostRows<'a> {
    /// Given θ and what F is besides Hβ, in borrowed memory.
    pub fn new(
        model: &'a Model,
        (theta, known): (&'a [Theta], Known<'a>),
        plain: &'a Plain,
        reference: &'a Reference,
        lent: Lent,
        (mut momenta, slope): (Mat, SlopeScratch),
    ) -> Self {
        momenta.fit(model.rows(), model.columns());
        let x = Mat::zeros(model.rows(), model.latent_dim());
        let w = Mat::zeros(model.frequencies(), model.latent_dim());
        HostRows { model, theta, known, plain, reference, x, w, h: lent.h, zeta: lent.f, momenta, slope }
    }

    /// Returns the borrowed memory.
    pub fn finish(self) -> (Lent, (Mat, SlopeScratch)) {
        (Lent { h: self.h, f: self.zeta }, (self.momenta, self.slope))
    }

    fn at(&self) -> At<'_> {
        let (x, w, plain, h) = (&self.x, &self.w, self.plain, &self.h);
        At { x, w, plain, h, roots: &self.reference.root, known: self.known }
    }
}

impl Rows for HostRows<'_> {
    fn settle(&mut self, x: &Mat, w: &Mat, left: &mut Mat) -> Symmetric {
        self.x.clone_from(x);
        self.w.clone_from(w);
        fill_weighted(x, w, self.plain, &self.reference.root, &mut self.h);
        par_mul(left, self.h.view().transpose(), self.reference.left.view(), false);
        par_gram(&self.h, None, &vec![0.0; self.h.cols()])
    }

    fn response(&mut self, u: &mut Mat) {
        par_mul(u, self.h.view().transpose(), self.zeta.view(), false);
    }

    fn shift(&mut self, delta: &Mat) {
        par_mul(&mut self.zeta, self.h.view(), delta.view(), true);
    }

    fn kick(&mut self, du: &Mat) {
        par_mul(&mut self.momenta, self.h.view(), du.view(), true);
    }

    fn likelihood(&mut self, beta: &Mat, dbeta: &mut Mat, to: Slopes<'_>) -> f64 {
        let mut slope = std::mem::take(&mut self.slope);
        let ln_lik = slope.likelihood(self.model, self.theta, self.at(), beta.view(), dbeta.as_mut_slice(), to);
        self.slope = slope;
        ln_lik
    }

    fn carry(&mut self, du: &Mat, ds: &Mat, left: &Mat, to: Slopes<'_>) {
        let mut slope = std::mem::take(&mut self.slope);
        slope.carry(self.at(), self.model.columns(), to, |rows, dh| {
            let tables = [&self.zeta, &self.h, &self.reference.left];
            let [zeta, h, z] = tables.map(|table| table.view().subrows(rows.start, rows.len()));
            par_mul_into(dh, zeta, du.view().transpose(), false);
            par_mul_into(dh, h, ds.view(), true);
            par_mul_into(dh, z, left.view().transpose(), true);
        });
        self.slope = slope;
    }

    fn draw_noise(&mut self, stream: Stream) {
        fill_normals(self.zeta.as_mut_slice(), stream);
    }

    fn draw_momenta(&mut self, stream: Stream) {
        fill_normals(self.momenta.as_mut_slice(), stream);
    }

    fn turn(&mut self, sin: f64, cos: f64) {
        turn(sin, cos, self.zeta.as_mut_slice(), self.momenta.as_mut_slice());
    }

    fn energy(&mut self) -> f64 {
        half_square(self.zeta.as_slice()) + half_square(self.momenta.as_slice())
    }
}
