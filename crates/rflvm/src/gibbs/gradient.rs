//! The joint density of (X, W, β) given the rest, with its gradient: what the start climbs. F is differentiable in all of
//! them: with G = ∂ ln p(Y|F)/∂F, ∂β = HᵀG and ∂H = Gβᵀ, three matrix products a gradient.

use super::hamiltonian::Potential;
use super::map::Occam;
use crate::linalg::{Mat, View, mul, par_mul};
use crate::model::family::Theta;
use crate::model::features::fill;
use crate::model::latent::Paths;
use crate::model::spectral::Spectral;
use crate::model::{Model, State, predictor};
use rayon::prelude::*;

/// Where X, W and β lie in q.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    rows: usize,
    dim: usize,
    frequencies: usize,
    columns: usize,
}

impl Layout {
    /// Of a model; without β where it is integrated out.
    pub fn new(model: &Model, with_beta: bool) -> Self {
        let columns = if with_beta { model.columns() } else { 0 };
        Layout { rows: model.rows(), dim: model.latent_dim(), frequencies: model.frequencies(), columns }
    }

    /// Length of q.
    pub fn len(&self) -> usize {
        self.rows * self.dim + self.frequencies * self.dim + (2 * self.frequencies + 1) * self.columns
    }

    /// Whether q is empty: never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// X, W and β in q.
    pub fn split<'a>(&self, q: &'a [f64]) -> (&'a [f64], &'a [f64], &'a [f64]) {
        let (x, rest) = q.split_at(self.rows * self.dim);
        let (w, beta) = rest.split_at(self.frequencies * self.dim);
        (x, w, beta)
    }

    /// X, W and β in q.
    pub fn split_mut<'a>(&self, q: &'a mut [f64]) -> (&'a mut [f64], &'a mut [f64], &'a mut [f64]) {
        let (x, rest) = q.split_at_mut(self.rows * self.dim);
        let (w, beta) = rest.split_at_mut(self.frequencies * self.dim);
        (x, w, beta)
    }

    /// q of a state.
    pub fn gather(&self, state: &State) -> Vec<f64> {
        let mut q = Vec::with_capacity(self.len());
        q.extend_from_slice(state.features.x().as_slice());
        q.extend_from_slice(state.features.w().as_slice());
        if self.columns > 0 {
            q.extend_from_slice(state.beta.as_slice());
        }
        q
    }
}

/// ln p(Y | X, W, β, θ) + ln p(X) + ln p(W | clusters) + ln p(β), with all buffers kept between calls.
pub struct Joint<'a> {
    model: &'a Model,
    theta: &'a [Theta],
    spectral: &'a Spectral,
    paths: Option<&'a Paths<'a>>,
    occam: Option<&'a Occam>,
    layout: Layout,
    /// Prior precision of β, in its shape.
    precision: Mat,
    x: Mat,
    w: Mat,
    h: Mat,
    f: Mat,
    g: Mat,
    dh: Mat,
    dbeta: Mat,
}

impl<'a> Joint<'a> {
    /// Given θ, τ² and the clusters.
    pub fn new(
        model: &'a Model,
        theta: &'a [Theta],
        tau2: &'a [f64],
        spectral: &'a Spectral,
        paths: Option<&'a Paths<'a>>,
    ) -> Self {
        let layout = Layout::new(model, true);
        let (n, j, l, d) = (layout.rows, layout.columns, layout.frequencies, layout.dim);
        let mut precision = Mat::zeros(2 * l + 1, j);
        for (j, &tau2) in tau2.iter().enumerate() {
            let scale = model.weight_scale(theta, j);
            let column: Vec<f64> = model.weight_precision(tau2).iter().map(|p| p * scale).collect();
            precision.set_col(j, &column);
        }
        Joint {
            model,
            theta,
            spectral,
            paths,
            occam: None,
            layout,
            precision,
            x: Mat::zeros(n, d),
            w: Mat::zeros(l, d),
            h: Mat::zeros(n, 2 * l + 1),
            f: Mat::zeros(n, j),
            g: Mat::zeros(n, j),
            dh: Mat::zeros(n, 2 * l + 1),
            dbeta: Mat::zeros(2 * l + 1, j),
        }
    }

    /// With the charge for the weights' freedom, which makes it the density with β integrated out, roughly.
    pub fn with_occam(mut self, occam: &'a Occam) -> Self {
        self.occam = Some(occam);
        self
    }

    /// G = ∂ ln p(Y|F)/∂F; returns ln p(Y|F).
    fn differentiate(&mut self) -> f64 {
        let (model, theta, f) = (self.model, self.theta, &self.f);
        let columns = model.columns();
        let rows = crate::par::chunk_rows(model.rows(), 4 * columns);
        let pieces = self.g.as_mut_slice().par_chunks_mut(rows * columns).enumerate();
        let sums: Vec<f64> = pieces
            .map(|(c, piece)| {
                let mut sum = 0.0;
                for (i, g) in piece.chunks_exact_mut(columns).enumerate() {
                    let n = c * rows + i;
                    sum += model.gradient_row(theta, n, f.row(n), g);
                }
                sum
            })
            .collect();
        sums.into_iter().sum()
    }
}

impl Potential for Joint<'_> {
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
        let layout = self.layout;
        let (x, w, beta) = layout.split(q);
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        let beta_view = View::new(beta, 2 * layout.frequencies + 1, layout.columns, layout.columns);
        fill(&self.x, &self.w, &mut self.h);
        predictor(&self.h, beta_view, self.model.offset(), &mut self.f);
        let mut ln_density = self.differentiate();
        par_mul(&mut self.dbeta, self.h.view().transpose(), self.g.view(), false);
        par_mul(&mut self.dh, self.g.view(), beta_view.transpose(), false);
        if let Some(occam) = self.occam {
            ln_density -= occam.charge(&self.h, &mut self.dh);
        }
        let (gx, gw, gbeta) = layout.split_mut(g);
        ln_density += to_positions(&self.x, &self.w, &self.h, &self.dh, self.spectral, self.paths, gx, gw);
        let last = 2 * layout.frequencies * layout.columns;
        let units = self.model.units();
        for (i, (g, d)) in gbeta.iter_mut().zip(self.dbeta.as_slice()).enumerate() {
            let centre = if i >= last { units[i - last].centre } else { 0.0 };
            let pull = self.precision.as_slice()[i] * (beta[i] - centre);
            ln_density -= 0.5 * pull * (beta[i] - centre);
            *g = d - pull;
        }
        ln_density
    }
}

/// Carries a gradient with respect to H to X and W, adds their priors' gradients, and returns their log densities.
/// ∂ sin(w·x)/∂(w·x) = cos(w·x): with t_nl = H_cos ∂H_sin − H_sin ∂H_cos, ∂x_n = Σ_l t_nl w_l and ∂w_l = Σ_n t_nl x_n.
#[allow(clippy::too_many_arguments)]
pub(crate) fn to_positions(
    x: &Mat,
    w: &Mat,
    h: &Mat,
    dh: &Mat,
    spectral: &Spectral,
    paths: Option<&Paths<'_>>,
    gx: &mut [f64],
    gw: &mut [f64],
) -> f64 {
    let (n, l, d) = (x.rows(), w.rows(), x.cols());
    let mut t = Mat::zeros(n, l);
    for ((t, h), dh) in t.as_mut_slice().chunks_exact_mut(l).zip(h.iter_rows()).zip(dh.iter_rows()) {
        for (i, t) in t.iter_mut().enumerate() {
            *t = h[l + i] * dh[i] - h[i] * dh[l + i];
        }
    }
    let mut ln_density = 0.0;
    match paths {
        None => {
            for (g, &x) in gx.iter_mut().zip(x.as_slice()) {
                *g = -x;
                ln_density -= 0.5 * x * x;
            }
        }
        Some(paths) => {
            gx.fill(0.0);
            ln_density += paths.gradient(x, gx);
        }
    }
    for (i, (g, w)) in gw.chunks_exact_mut(d).zip(w.iter_rows()).enumerate() {
        let cluster = spectral.cluster(i);
        g.copy_from_slice(&cluster.gradient(w));
        ln_density += cluster.ln_density(w);
    }
    mul(gx, t.view(), w.view(), true);
    mul(gw, t.view().transpose(), x.view(), true);
    ln_density
}
