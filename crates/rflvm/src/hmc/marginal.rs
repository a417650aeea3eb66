//! The collapsed Gaussian with its gradient, for the Hamiltonian move on (X, W).

use super::gradient::{Layout, ln_priors};
use super::hamiltonian::Potential;
use super::slope::At;
use super::workspace::Workspace;
use crate::linalg::{Mat, Tridiagonal, mul, par_mul, par_mul_into};
use crate::model::collapsed::{CollapsedData, scaled_gram};
use crate::model::features::fill;
use crate::model::latent::Paths;
use crate::model::spectral::Spectral;
use crate::simd::{Shifted, tridiagonal_inverses, tridiagonal_solves};

/// ln p(Y | X, W, τ²) + ln p(X) + ln p(W | clusters) with its gradient. With H' = [Φ, s_c·1], H'ᵀH' = QTQᵀ,
/// z_j = (T + δ_j)⁻¹QᵀH'ᵀỹ_j, Z = [z_1, …] and R = diag(a_n/b_j), ∂H' = Ỹ(QZR)ᵀ − H'Q(Σ_j (T + δ_j)⁻¹ + ZRZᵀ)Qᵀ: residuals are not
/// needed. T is tridiagonal: eigenvectors would serve as well, but take several times as long.
pub struct Marginal<'a> {
    target: &'a CollapsedData,
    tau2: &'a [f64],
    spectral: &'a Spectral,
    paths: Option<&'a Paths<'a>>,
    layout: Layout,
    x: Mat,
    w: Mat,
    h: Mat,
    /// H'ᵀỸ in `dbeta`, C̃ and then QZR in `beta`, Z in `xi`, ZR in `du`, sums over columns in `da`.
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
        for weights in [&mut room.dbeta, &mut room.beta, &mut room.du, &mut room.xi, &mut room.xi_momenta] {
            weights.fit(m, j);
        }
        for square in [&mut room.da, &mut room.ds] {
            square.fit(m, m);
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
        let unit = target.intercept_variance.sqrt();
        // A candidate for which HᵀH has no decomposition is rejected; it is not an error.
        let Some(Tridiagonal { diagonal, off, q }) = Tridiagonal::new(&scaled_gram(&self.h, unit)) else {
            return f64::NAN;
        };
        let Workspace { dbeta: c, beta: g, du: scaled, xi: z, xi_momenta: ratio, da: sum, ds: p, slope, .. } =
            &mut self.room;
        let (order, columns) = (diagonal.len(), self.tau2.len());
        par_mul(c, self.h.view().transpose(), target.y.view(), false);
        c.row_mut(order - 1).iter_mut().for_each(|c| *c *= unit);
        // C̃ in the place of G, then Z.
        mul(g.as_mut_slice(), q.view().transpose(), c.view(), false);
        z.as_mut_slice().copy_from_slice(g.as_slice());
        let mut ln_det = vec![0.0; columns];
        let shifted = Shifted { diagonal: &diagonal, off: &off, tau2: self.tau2 };
        let gain = scaled;
        tridiagonal_solves(shifted, z.as_mut_slice(), ratio.as_mut_slice(), gain.as_mut_slice(), &mut ln_det);
        tridiagonal_inverses(ratio, gain, sum);
        let mut explained = vec![0.0; columns];
        for (c, z) in g.iter_rows().zip(z.iter_rows()) {
            explained.iter_mut().zip(c.iter().zip(z)).for_each(|(e, (c, z))| *e += c * z);
        }
        if !explained.iter().chain(&ln_det).all(|e| e.is_finite()) {
            return f64::NAN;
        }
        let rates = target.total.iter().zip(&explained).zip(&target.prior_rate);
        let rate: Vec<f64> = rates.map(|((total, explained), least)| (total - 0.5 * explained).max(*least)).collect();
        let ln_rates: f64 = rate.iter().zip(&target.prior_rate).map(|(b, least)| (b / least).ln()).sum();
        let ln_marginal = -0.5 * ln_det.iter().sum::<f64>() - target.shape * ln_rates;
        // Σ_j (T + δ_j)⁻¹ + ZRZᵀ, turned by Q.
        let scaled = gain;
        let scales: Vec<f64> = rate.iter().map(|b| target.shape / b).collect();
        for (to, from) in scaled.as_mut_slice().chunks_exact_mut(columns).zip(z.iter_rows()) {
            to.iter_mut().zip(from.iter().zip(&scales)).for_each(|(s, (z, r))| *s = z * r);
        }
        mul(sum.as_mut_slice(), scaled.view(), z.view().transpose(), true);
        mul(p.as_mut_slice(), q.view(), sum.view(), false);
        mul(sum.as_mut_slice(), p.view(), q.view().transpose(), false);
        // With the sign of the gradient, in the units of H.
        sum.as_mut_slice().iter_mut().for_each(|p| *p = -*p);
        sum.row_mut(order - 1).iter_mut().for_each(|p| *p *= unit);
        mul(g.as_mut_slice(), q.view(), scaled.view(), false);
        let (scaled, p) = (g, sum);
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
