//! The collapsed Gaussian with its gradient, for the Hamiltonian move on (X, W).

use super::gradient::{Layout, ln_priors};
use super::hamiltonian::Potential;
use super::slope::At;
use super::workspace::Workspace;
use crate::linalg::{Cholesky, Mat, gram, mul, par_mul, par_mul_into};
use crate::model::collapsed::CollapsedData;
use crate::model::features::fill;
use crate::model::latent::Paths;
use crate::model::spectral::Spectral;

/// ln p(Y | X, W) + ln p(X) + ln p(W | clusters) with its gradient. With E = Ỹ − HG and R = diag(a_n/b_j),
/// ∂H = −J·HP + E R Gᵀ = Ỹ(GR)ᵀ − H(J·P + GRGᵀ): E itself is not needed.
pub struct Marginal<'a> {
    target: &'a CollapsedData,
    spectral: &'a Spectral,
    paths: Option<&'a Paths<'a>>,
    layout: Layout,
    x: Mat,
    w: Mat,
    h: Mat,
    /// C = HᵀỸ in `dbeta`, G = PC in `beta`, GR in `du`.
    room: Workspace,
}

impl<'a> Marginal<'a> {
    /// Given the clusters.
    pub fn new(target: &'a CollapsedData, spectral: &'a Spectral, layout: Layout) -> Self {
        Self::within(target, spectral, layout, Mat::default(), Workspace::default())
    }

    /// The same, reusing the memory of another H and workspace.
    pub(crate) fn within(
        target: &'a CollapsedData,
        spectral: &'a Spectral,
        layout: Layout,
        mut h: Mat,
        mut room: Workspace,
    ) -> Self {
        let (n, m, j) = (target.y.rows(), target.precision.len(), target.y.cols());
        let dim = spectral.clusters[0].mu.len();
        let (x, w) = (Mat::zeros(n, dim), Mat::zeros((m - 1) / 2, dim));
        h.fit(n, m);
        for weights in [&mut room.dbeta, &mut room.beta, &mut room.du] {
            weights.fit(m, j);
        }
        Marginal { target, spectral, paths: None, layout, x, w, h, room }
    }

    /// Returns the memory of H and the workspace.
    pub(crate) fn finish(self) -> (Mat, Workspace) {
        (self.h, self.room)
    }

    /// With rows that follow paths over time.
    pub fn along(mut self, paths: Option<&'a Paths<'a>>) -> Self {
        self.paths = paths;
        self
    }
}

impl Potential for Marginal<'_> {
    fn evaluate(&mut self, q: &[f64], gradient: &mut [f64]) -> f64 {
        let (x, w, _) = self.layout.split(q);
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        fill(&self.x, &self.w, &mut self.h);
        let target = self.target;
        let a = gram(&self.h, None, &target.precision);
        // A candidate for which A has no Cholesky factor is rejected; it is not an error.
        let Ok(cholesky) = Cholesky::new(a, "gradient") else { return f64::NAN };
        let mut p = cholesky.inverse();
        let Workspace { dbeta: c, beta: g, du: scaled, slope, .. } = &mut self.room;
        par_mul(c, self.h.view().transpose(), target.y.view(), false);
        mul(g.as_mut_slice(), p.view(), c.view(), false);
        // b_j = b0_j + ½(ỹᵀỹ − cᵀg).
        let mut rate = target.total.clone();
        for (c, g) in c.iter_rows().zip(g.iter_rows()) {
            rate.iter_mut().zip(c.iter().zip(g)).for_each(|(b, (c, g))| *b -= 0.5 * c * g);
        }
        if !rate.iter().all(|&b| b > 0.0) {
            return f64::NAN;
        }
        let columns = rate.len() as f64;
        let ln_rates: f64 = rate.iter().map(|b| b.ln()).sum();
        let ln_marginal = -0.5 * columns * cholesky.ln_det() - target.shape * ln_rates;
        for (to, from) in scaled.as_mut_slice().chunks_exact_mut(rate.len()).zip(g.iter_rows()) {
            to.iter_mut().zip(from.iter().zip(&rate)).for_each(|(s, (g, b))| *s = g * target.shape / b);
        }
        p.as_mut_slice().iter_mut().for_each(|p| *p *= columns);
        mul(p.as_mut_slice(), scaled.view(), g.view().transpose(), true);
        p.as_mut_slice().iter_mut().for_each(|p| *p = -*p);
        let (gx, gw, _) = self.layout.split_mut(gradient);
        let ln_priors = ln_priors(&self.x, &self.w, self.spectral, self.paths, gx, gw);
        let h = &self.h;
        let at = At { x: &self.x, w: &self.w, h, roots: &[] };
        slope.carry(at, rate.len(), (gx, gw), |rows, dh| {
            par_mul_into(dh, h.view().subrows(rows.start, rows.len()), p.view(), false);
            par_mul_into(dh, target.y.view().subrows(rows.start, rows.len()), scaled.view().transpose(), true);
        });
        ln_marginal + ln_priors
    }
}
