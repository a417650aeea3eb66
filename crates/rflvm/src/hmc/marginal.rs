//! The collapsed Gaussian with its gradient, for the Hamiltonian move on (X, W).

use super::frequencies::FrequencyPrior;
use super::gradient::{Layout, Split, ln_priors};
use super::hamiltonian::Potential;
use super::shrinkage::{Shrinkage, Shrinker};
use super::slope::At;
use super::workspace::{CollapsedWorkspace, Workspace};
use crate::chunks::Chunk;
use crate::linalg::{Mat, View, mul, par_mul, par_mul_into};
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
    /// τ² of all columns, if it is the same for all.
    common: Option<f64>,
    workspace: Workspace,
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
        mut workspace: Workspace,
    ) -> Self {
        let (n, dim) = (target.y.rows(), layout.dim());
        let m = layout.width();
        let (x, w) = (Mat::zeros(n, dim), Mat::zeros(layout.frequencies(), dim));
        h.fit(n, m);
        workspace.collapsed.resize_with(target.chunks.own().len(), CollapsedWorkspace::default);
        Marginal {
            common: target.common(tau2),
            target,
            tau2,
            frequencies,
            plain,
            paths: None,
            layout,
            x,
            w,
            h,
            workspace,
        }
    }

    /// Returns the memory of H and the workspace.
    pub(crate) fn finish(self) -> (Mat, Workspace) {
        (self.h, self.workspace)
    }

    /// With rows that follow paths over time.
    pub fn along(mut self, paths: Option<&'a Paths<'a>>) -> Self {
        self.paths = paths;
        self
    }
}

impl Potential for Marginal<'_> {
    fn evaluate(&mut self, q: &[f64], gradient: &mut [f64]) -> f64 {
        let Split { x, w, .. } = self.layout.split(q);
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        fill(&self.x, &self.w, self.plain, &mut self.h);
        let (target, tau2) = (self.target, self.tau2);
        let unit = target.intercept_variance.sqrt();
        // A candidate for which HᵀH has no factor is rejected; it is not an error.
        let Some(shrinker) = Shrinker::new(scaled_gram(&self.h, unit), self.common) else { return f64::NAN };
        let Split { x: gx, w: gw, .. } = self.layout.split_mut(gradient);
        let ln_priors = ln_priors(&self.x, &self.w, &self.frequencies, self.paths, gx, gw);
        let (h, m, chunks) = (&self.h, self.h.cols(), &target.chunks);
        let at = At { x: &self.x, w: &self.w, plain: self.plain, h, roots: &[], known: Known::default() };
        let is_one = chunks.count() == 1;
        let Workspace { collapsed, slope, .. } = &mut self.workspace;
        let mut pieces: Vec<_> = chunks.own().into_iter().zip(collapsed).collect();
        // What multiplies H in ∂H, ln p(Y), and ∂X and ∂W by way of GR.
        let len = m * m + 1 + if is_one { 0 } else { gx.len() + gw.len() };
        let mut sum = chunks.add(&mut pieces, len, |(chunk, workspace), to| {
            let CollapsedWorkspace { c, scaled, shrinkage, slope } = &mut **workspace;
            let (k, y) = (chunk.columns.len(), target.y.view().subcols(chunk.columns.start, chunk.columns.len()));
            let (p, rest) = to.split_at_mut(m * m);
            c.fit(m, k);
            scaled.fit(m, k);
            par_mul(c, h.view().transpose(), y, false);
            c.row_mut(m - 1).iter_mut().for_each(|c| *c *= unit);
            shrinkage.fill(&shrinker, &tau2[chunk.columns.clone()], c);
            rest[0] = target.weigh(chunk, c, shrinkage, scaled);
            if !rest[0].is_finite() {
                return;
            }
            // −(Σ_j A_j⁻¹ + GRGᵀ), in the units of H'.
            mul(p, scaled.view(), shrinkage.g.view().transpose(), false);
            p.iter_mut().zip(shrinkage.inverses.as_slice()).for_each(|(p, sum)| *p = -(*p + sum));
            if !is_one {
                let (to_x, to_w) = rest[1..].split_at_mut(gx.len());
                slope.carry(at, k, (to_x, to_w), |rows, dh| {
                    par_mul_into(dh, y.subrows(rows.start, rows.len()), scaled.view().transpose(), false);
                });
            }
        });
        let (p, rest) = sum.split_at_mut(m * m);
        let ln_marginal = rest[0];
        if !ln_marginal.is_finite() {
            return f64::NAN;
        }
        if !is_one {
            gx.iter_mut().chain(gw.iter_mut()).zip(&rest[1..]).for_each(|(g, of_columns)| *g += of_columns);
        }
        // In the units of H.
        p[(m - 1) * m..].iter_mut().for_each(|p| *p *= unit);
        let p = View::new(p, m, m, m);
        slope.carry(at, chunks.columns(), (gx, gw), |rows, dh| {
            par_mul_into(dh, h.view().subrows(rows.start, rows.len()), p, false);
            if is_one {
                let scaled = &pieces[0].1.scaled;
                par_mul_into(dh, target.y.view().subrows(rows.start, rows.len()), scaled.view().transpose(), true);
            }
        });
        ln_marginal + ln_priors
    }
}

impl CollapsedData {
    /// ln p(Y) of a chunk of columns up to a constant, from C and what shrinks it, and GR in `scaled`; NaN where C is not finite.
    fn weigh(&self, chunk: &Chunk, c: &Mat, shrinkage: &Shrinkage, scaled: &mut Mat) -> f64 {
        let (own, k) = (chunk.columns.clone(), chunk.columns.len());
        let mut explained = vec![0.0_f64; k];
        for (c, g) in c.iter_rows().zip(shrinkage.g.iter_rows()) {
            explained.iter_mut().zip(c.iter().zip(g)).for_each(|(e, (c, g))| *e += c * g);
        }
        if !explained.iter().all(|e| e.is_finite()) {
            return f64::NAN;
        }
        let prior_rate = &self.prior_rate[own.clone()];
        let rates = self.total[own].iter().zip(&explained).zip(prior_rate);
        let rate: Vec<f64> = rates.map(|((total, explained), least)| (total - 0.5 * explained).max(*least)).collect();
        let ln_rates: f64 = rate.iter().zip(prior_rate).map(|(b, least)| (b / least).ln()).sum();
        let precision: Vec<f64> = rate.iter().map(|b| self.shape / b).collect();
        for (to, from) in scaled.as_mut_slice().chunks_exact_mut(k).zip(shrinkage.g.iter_rows()) {
            to.iter_mut().zip(from.iter().zip(&precision)).for_each(|(s, (g, r))| *s = g * r);
        }
        -0.5 * shrinkage.ln_det - self.shape * ln_rates
    }
}
