//! The collapsed Gaussian with its gradient, for the Hamiltonian move on (X, W).

use super::gradient::{Layout, ln_priors};
use super::hamiltonian::Potential;
use super::slope::At;
use super::workspace::Workspace;
use crate::linalg::{Mat, mul, par_mul, par_mul_into};
use crate::model::collapsed::{CollapsedData, Spectrum};
use crate::model::features::fill;
use crate::model::latent::Paths;
use crate::model::spectral::Spectral;

/// ln p(Y | X, W, τ²) + ln p(X) + ln p(W | clusters) with its gradient. With H' = [Φ, s_c·1], H'ᵀH' = QΛQᵀ, D_mj = 1/(λ_m + δ_j),
/// G = Q(D∘C̃) and R = diag(a_n/b_j), ∂H' = Ỹ(GR)ᵀ − H'(Q diag(Σ_j D_mj) Qᵀ + GRGᵀ): residuals are not needed.
pub struct Marginal<'a> {
    target: &'a CollapsedData,
    tau2: &'a [f64],
    spectral: &'a Spectral,
    paths: Option<&'a Paths<'a>>,
    layout: Layout,
    x: Mat,
    w: Mat,
    h: Mat,
    /// C̃ in `dbeta`, G in `beta`, GR in `du`.
    room: Workspace,
}

impl<'a> Marginal<'a> {
    /// Given the amplitudes and clusters.
    pub fn new(target: &'a CollapsedData, tau2: &'a [f64], spectral: &'a Spectral, layout: Layout) -> Self {
        Self::within(target, tau2, spectral, layout, Mat::default(), Workspace::default())
    }

    /// The same, reusing the memory of another H and workspace.
    pub(crate) fn within(
        target: &'a CollapsedData,
        tau2: &'a [f64],
        spectral: &'a Spectral,
        layout: Layout,
        mut h: Mat,
        mut room: Workspace,
    ) -> Self {
        let (n, j, dim) = (target.y.rows(), target.y.cols(), spectral.clusters[0].mu.len());
        let m = 2 * layout.frequencies() + 1;
        let (x, w) = (Mat::zeros(n, dim), Mat::zeros((m - 1) / 2, dim));
        h.fit(n, m);
        for weights in [&mut room.dbeta, &mut room.beta, &mut room.du] {
            weights.fit(m, j);
        }
        Marginal { target, tau2, spectral, paths: None, layout, x, w, h, room }
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
        // A candidate for which HᵀH has no decomposition is rejected; it is not an error.
        let Ok(spectrum) = Spectrum::new(&self.h, target.intercept_variance) else { return f64::NAN };
        let Workspace { dbeta: c, beta: g, du: scaled, slope, .. } = &mut self.room;
        par_mul(c, self.h.view().transpose(), target.y.view(), false);
        spectrum.turn(c, scaled);
        let columns = self.tau2.len();
        let (mut explained, mut dets, mut pulls) =
            (vec![0.0; columns], vec![1.0; columns], Vec::with_capacity(c.rows()));
        let mut ln_det = 0.0;
        // D∘C̃ in the place of G, row by row.
        for (m, &lambda) in spectrum.lambda.iter().enumerate() {
            let mut pull = 0.0;
            let cells = c.row(m).iter().zip(scaled.row_mut(m)).zip(self.tau2).zip(&mut explained).zip(&mut dets);
            for ((((c, to), tau2), explained), det) in cells {
                let grown = 1.0 + lambda * tau2;
                let d = tau2 / grown;
                *to = d * c;
                *explained += d * c * c;
                *det *= grown;
                pull += d;
            }
            pulls.push(pull);
            // Eight factors under one logarithm.
            if m % 8 == 7 || m + 1 == spectrum.lambda.len() {
                ln_det += dets.iter_mut().map(|det| std::mem::replace(det, 1.0).ln()).sum::<f64>();
            }
        }
        mul(g.as_mut_slice(), spectrum.q.view(), scaled.view(), false);
        let rates = target.total.iter().zip(&explained).zip(&target.prior_rate);
        let rate: Vec<f64> = rates.map(|((total, explained), least)| (total - 0.5 * explained).max(*least)).collect();
        if !explained.iter().all(|e| e.is_finite()) {
            return f64::NAN;
        }
        let ln_rates: f64 = rate.iter().zip(&target.prior_rate).map(|(b, least)| (b / least).ln()).sum();
        let ln_marginal = -0.5 * ln_det - target.shape * ln_rates;
        for (to, from) in scaled.as_mut_slice().chunks_exact_mut(columns).zip(g.iter_rows()) {
            to.iter_mut().zip(from.iter().zip(&rate)).for_each(|(s, (g, b))| *s = g * target.shape / b);
        }
        // −(Q diag(Σ_j D) Qᵀ + GRGᵀ), in the units of H.
        let (order, last) = (spectrum.lambda.len(), spectrum.lambda.len() - 1);
        let weighted = Mat::from_fn(order, order, |i, k| -spectrum.q[(i, k)] * pulls[k]);
        let mut p = Mat::zeros(order, order);
        mul(p.as_mut_slice(), scaled.view(), g.view().transpose(), false);
        p.as_mut_slice().iter_mut().for_each(|p| *p = -*p);
        mul(p.as_mut_slice(), weighted.view(), spectrum.q.view().transpose(), true);
        p.row_mut(last).iter_mut().for_each(|p| *p *= spectrum.unit);
        let (gx, gw, _) = self.layout.split_mut(gradient);
        let ln_priors = ln_priors(&self.x, &self.w, self.spectral, self.paths, gx, gw);
        let h = &self.h;
        let at = At { x: &self.x, w: &self.w, h, roots: &[] };
        slope.carry(at, columns, (gx, gw), |rows, dh| {
            par_mul_into(dh, h.view().subrows(rows.start, rows.len()), p.view(), false);
            par_mul_into(dh, target.y.view().subrows(rows.start, rows.len()), scaled.view().transpose(), true);
        });
        ln_marginal + ln_priors
    }
}
