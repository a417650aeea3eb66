//! The collapsed Gaussian with its gradient, for the Hamiltonian move on (X, W).

use super::frequencies::FrequencyPrior;
use super::gradient::{Layout, ln_priors};
use super::hamiltonian::Potential;
use super::slope::At;
use super::workspace::Workspace;
use crate::linalg::{Mat, mul, par_mul, par_mul_into};
use crate::model::Known;
use crate::model::collapsed::{CollapsedData, scaled_gram};
use crate::model::features::fill;
use crate::model::latent::Paths;
use crate::model::plain::Plain;

/// ln p(Y | X, W, τ²) + ln p(X) + ln p(W) with its gradient. With H' = [Φ, …, s_c·1], A_j = H'ᵀH' + δ_j I,
/// G of columns A_j⁻¹H'ᵀỹ_j and R = diag(a_n/b_j), ∂H' = Ỹ(GR)ᵀ − H'(Σ_j A_j⁻¹ + GRGᵀ): residuals are not needed.
pub struct Marginal<'a> {
    target: &'a CollapsedData,
    tau2: &'a [f64],
    frequencies: FrequencyPrior<'a>,
    plain: &'a Plain,
    paths: Option<&'a Paths<'a>>,
    layout: Layout,
    x: Mat,
    w: Mat,
    h: Mat,
    /// H'ᵀỸ in `dbeta`, GR in `du`, what multiplies H' in `pull`.
    room: Workspace,
}

impl<'a> Marginal<'a> {
    /// Given the amplitudes, the prior of W and the plain columns.
    pub fn new(
        target: &'a CollapsedData,
        tau2: &'a [f64],
        given: (FrequencyPrior<'a>, &'a Plain),
        layout: Layout,
    ) -> Self {
        Self::within(target, tau2, given, layout, Mat::default(), Workspace::default())
    }

    /// The same, reusing the memory of another H and workspace.
    pub(crate) fn within(
        target: &'a CollapsedData,
        tau2: &'a [f64],
        (frequencies, plain): (FrequencyPrior<'a>, &'a Plain),
        layout: Layout,
        mut h: Mat,
        mut room: Workspace,
    ) -> Self {
        let (n, j, dim) = (target.y.rows(), target.y.cols(), layout.dim());
        let m = layout.width();
        let (x, w) = (Mat::zeros(n, dim), Mat::zeros(layout.frequencies(), dim));
        h.fit(n, m);
        room.dbeta.fit(m, j);
        room.du.fit(m, j);
        room.pull.fit(m, m);
        Marginal { target, tau2, frequencies, plain, paths: None, layout, x, w, h, room }
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
        fill(&self.x, &self.w, self.plain, &mut self.h);
        let target = self.target;
        let unit = target.intercept_variance.sqrt();
        let Workspace { dbeta: c, du: scaled, pull: p, shrinkage, slope, .. } = &mut self.room;
        par_mul(c, self.h.view().transpose(), target.y.view(), false);
        let (columns, last) = (self.tau2.len(), c.rows() - 1);
        c.row_mut(last).iter_mut().for_each(|c| *c *= unit);
        // A candidate for which HᵀH has no factor is rejected; it is not an error.
        let Some(()) = shrinkage.fill(scaled_gram(&self.h, unit), self.tau2, c) else { return f64::NAN };
        let mut explained = vec![0.0; columns];
        for (c, g) in c.iter_rows().zip(shrinkage.g.iter_rows()) {
            explained.iter_mut().zip(c.iter().zip(g)).for_each(|(e, (c, g))| *e += c * g);
        }
        if !explained.iter().all(|e| e.is_finite()) {
            return f64::NAN;
        }
        let rates = target.total.iter().zip(&explained).zip(&target.prior_rate);
        let rate: Vec<f64> = rates.map(|((total, explained), least)| (total - 0.5 * explained).max(*least)).collect();
        let ln_rates: f64 = rate.iter().zip(&target.prior_rate).map(|(b, least)| (b / least).ln()).sum();
        let ln_marginal = -0.5 * shrinkage.ln_det - target.shape * ln_rates;
        let precision: Vec<f64> = rate.iter().map(|b| target.shape / b).collect();
        for (to, from) in scaled.as_mut_slice().chunks_exact_mut(columns).zip(shrinkage.g.iter_rows()) {
            to.iter_mut().zip(from.iter().zip(&precision)).for_each(|(s, (g, r))| *s = g * r);
        }
        // −(Σ_j A_j⁻¹ + GRGᵀ), in the units of H.
        mul(p.as_mut_slice(), scaled.view(), shrinkage.g.view().transpose(), false);
        p.as_mut_slice().iter_mut().zip(shrinkage.inverses.as_slice()).for_each(|(p, sum)| *p = -(*p + sum));
        p.row_mut(last).iter_mut().for_each(|p| *p *= unit);
        let (gx, gw, _) = self.layout.split_mut(gradient);
        let ln_priors = ln_priors(&self.x, &self.w, &self.frequencies, self.paths, gx, gw);
        let h = &self.h;
        let at = At { x: &self.x, w: &self.w, plain: self.plain, h, roots: &[], known: Known::default() };
        slope.carry(at, columns, (gx, gw), |rows, dh| {
            par_mul_into(dh, h.view().subrows(rows.start, rows.len()), p.view(), false);
            par_mul_into(dh, target.y.view().subrows(rows.start, rows.len()), scaled.view().transpose(), true);
        });
        ln_marginal + ln_priors
    }
}
