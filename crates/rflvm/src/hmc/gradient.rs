//! The joint density of (X, W, β) given the rest, with its gradient: the objective of the initialisation. F is differentiable
//! in all of them: with G = ∂ ln p(Y|F)/∂F, ∂β = HᵀG and ∂H = Gβᵀ, so a gradient takes three matrix products.

use super::frequencies::FrequencyPrior;
use super::hamiltonian::Potential;
use super::laplace_term::LaplaceTerm;
use super::slope::{At, SlopeScratch};
use crate::chunks::Chunk;
use crate::linalg::{Mat, View};
use crate::model::family::Theta;
use crate::model::features::fill;
use crate::model::latent::Paths;
use crate::model::plain::Plain;
use crate::model::{Known, Model, State};
use crate::par;
use std::ops::Range;

/// Layout of X, W and β in q.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    rows: usize,
    dim: usize,
    frequencies: usize,
    columns: usize,
    width: usize,
}

/// X, W and β in q; β is empty where it is integrated out.
#[derive(Debug)]
pub struct Split<T> {
    /// X.
    pub x: T,
    /// W.
    pub w: T,
    /// β.
    pub beta: T,
}

impl Layout {
    /// For a model; without β where it is integrated out.
    pub fn new(model: &Model, with_beta: bool) -> Self {
        let columns = if with_beta { model.columns() } else { 0 };
        Layout {
            rows: model.rows(),
            dim: model.latent_dim(),
            frequencies: model.frequencies(),
            columns,
            width: model.width(),
        }
    }

    /// D.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// L.
    pub fn frequencies(&self) -> usize {
        self.frequencies
    }

    /// Number of columns of H.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Length of q.
    pub fn len(&self) -> usize {
        self.rows * self.dim + self.frequencies * self.dim + self.width * self.columns
    }

    /// Whether q is empty: never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parts of q.
    pub fn split<'a>(&self, q: &'a [f64]) -> Split<&'a [f64]> {
        let (x, rest) = q.split_at(self.rows * self.dim);
        let (w, beta) = rest.split_at(self.frequencies * self.dim);
        Split { x, w, beta }
    }

    /// The parts of q.
    pub fn split_mut<'a>(&self, q: &'a mut [f64]) -> Split<&'a mut [f64]> {
        let (x, rest) = q.split_at_mut(self.rows * self.dim);
        let (w, beta) = rest.split_at_mut(self.frequencies * self.dim);
        Split { x, w, beta }
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

/// ln p(Y | X, W, β, θ) + ln p(X) + ln p(W | clusters) + ln p(β). Buffers are kept between calls.
pub struct Joint<'a> {
    model: &'a Model,
    theta: &'a [Theta],
    frequencies: FrequencyPrior<'a>,
    paths: Option<&'a Paths<'a>>,
    laplace_term: Option<&'a LaplaceTerm>,
    layout: Layout,
    plain: &'a Plain,
    /// Prior precisions of the weights and the intercept of each column.
    precision: [Vec<f64>; 2],
    x: Mat,
    w: Mat,
    h: Mat,
    /// One per chunk of columns.
    slopes: Vec<SlopeScratch>,
}

impl<'a> Joint<'a> {
    /// Given θ, τ², the prior of W and the plain columns.
    pub fn new(
        model: &'a Model,
        theta: &'a [Theta],
        tau2: &'a [f64],
        (frequencies, plain): (FrequencyPrior<'a>, &'a Plain),
        paths: Option<&'a Paths<'a>>,
    ) -> Self {
        Self::within(model, theta, tau2, (frequencies, plain), paths, Mat::default())
    }

    /// The same, reusing the memory of another H.
    pub(crate) fn within(
        model: &'a Model,
        theta: &'a [Theta],
        tau2: &'a [f64],
        (frequencies, plain): (FrequencyPrior<'a>, &'a Plain),
        paths: Option<&'a Paths<'a>>,
        mut h: Mat,
    ) -> Self {
        let layout = Layout::new(model, true);
        let (n, l, d) = (layout.rows, layout.frequencies, layout.dim);
        h.fit(n, layout.width);
        Joint {
            model,
            theta,
            frequencies,
            paths,
            laplace_term: None,
            layout,
            plain,
            precision: weight_precisions(model, theta, tau2),
            x: Mat::zeros(n, d),
            w: Mat::zeros(l, d),
            h,
            slopes: model.chunks().own().iter().map(|_| SlopeScratch::default()).collect(),
        }
    }

    /// Returns the memory of H.
    pub(crate) fn finish(self) -> Mat {
        self.h
    }

    /// Adds the complexity penalty of the weights, which approximates integrating β out.
    pub fn with_laplace_term(mut self, laplace_term: &'a LaplaceTerm) -> Self {
        self.laplace_term = Some(laplace_term);
        self
    }
}

/// Prior precisions of the weights and of the intercept of each column, including the scales of their families.
pub(crate) fn weight_precisions(model: &Model, theta: &[Theta], tau2: &[f64]) -> [Vec<f64>; 2] {
    let scales = (0..model.columns()).map(|j| model.weight_scale(theta, j));
    let weights: Vec<f64> = scales.zip(tau2).map(|(s, t)| s / t).collect();
    let intercepts = weights.iter().map(|p| p / model.spec().priors.intercept).collect();
    [weights, intercepts]
}

/// A chunk of columns: their ∂β, and memory.
struct Piece<'a> {
    chunk: Chunk,
    dbeta: Vec<f64>,
    slope: &'a mut SlopeScratch,
}

impl Potential for Joint<'_> {
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
        let (layout, model) = (self.layout, self.model);
        let Split { x, w, beta } = layout.split(q);
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        fill(&self.x, &self.w, self.plain, &mut self.h);
        let Split { x: gx, w: gw, beta: gbeta } = layout.split_mut(g);
        let ln_priors = ln_priors(&self.x, &self.w, &self.frequencies, self.paths, gx, gw);
        let at = At { x: &self.x, w: &self.w, plain: self.plain, h: &self.h, roots: &[], known: Known::of(model) };
        let (columns, width, chunks) = (layout.columns, layout.width, model.chunks());
        let own = chunks.own().into_iter().zip(&mut self.slopes);
        let piece = |(chunk, slope): (Chunk, _)| Piece { dbeta: vec![0.0; width * chunk.columns.len()], chunk, slope };
        let mut pieces: Vec<Piece<'_>> = own.map(piece).collect();
        let (theta, precision, beta) = (self.theta, &self.precision, View::new(beta, width, columns, columns));
        // ∂X, ∂W, the density but for that of β, and that.
        let sum = chunks.add(&mut pieces, gx.len() + gw.len() + 2, |Piece { chunk, dbeta, slope }, to| {
            let (to_x, rest) = to.split_at_mut(gx.len());
            let (to_w, ln_density) = rest.split_at_mut(gw.len());
            if chunk.index == 0 {
                to_x.copy_from_slice(gx);
                to_w.copy_from_slice(gw);
                ln_density[0] = ln_priors;
            }
            let (first, k) = (chunk.columns.start, chunk.columns.len());
            let own = beta.subcols(first, k);
            ln_density[0] += slope.likelihood(model, theta, at, (&chunk.columns, own), dbeta, (to_x, to_w));
            ln_density[1] = par::rows([(&mut dbeta[..], k)], 2 * k, |start, [dbeta]| {
                let mut ln_prior = 0.0;
                for (r, g) in (start..).zip(dbeta.chunks_exact_mut(k)) {
                    let precisions = &precision[usize::from(r + 1 == width)][first..];
                    let beta = &q[q.len() - width * columns + r * columns + first..];
                    for (c, ((g, beta), precision)) in g.iter_mut().zip(beta).zip(precisions).enumerate() {
                        let from = beta - if r + 1 == width { model.units()[first + c].centre } else { 0.0 };
                        *g -= precision * from;
                        ln_prior -= 0.5 * precision * from * from;
                    }
                }
                ln_prior
            });
        });
        for Piece { chunk, dbeta, .. } in pieces {
            for (to, from) in gbeta.chunks_exact_mut(columns).zip(dbeta.chunks_exact(chunk.columns.len())) {
                to[chunk.columns.clone()].copy_from_slice(from);
            }
        }
        let (of_x, rest) = sum.split_at(gx.len());
        let (of_w, ln_density) = rest.split_at(gw.len());
        gx.copy_from_slice(of_x);
        gw.copy_from_slice(of_w);
        let mut total = ln_density[0];
        if let Some(laplace_term) = self.laplace_term {
            // Where it is not a number the optimiser backtracks.
            total += laplace_term.add(at, model.all_columns(), &mut self.slopes[0], (gx, gw));
        }
        total + ln_density[1]
    }

    fn sum(&self, len: usize, part: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        let (chunks, Layout { columns, width, .. }) = (self.model.chunks(), self.layout);
        if chunks.count() == 1 {
            return part(0..len);
        }
        let head = len - width * columns;
        let of_chunk = |chunk: &Chunk| {
            let row = |r: usize| head + r * columns + chunk.columns.start..head + r * columns + chunk.columns.end;
            (0..width).map(|r| part(row(r))).sum()
        };
        part(0..head) + chunks.sum(of_chunk)
    }
}

/// ln p(β) up to a constant, and its gradient added to `gbeta`.
pub(crate) fn ln_weights(model: &Model, precision: &[Vec<f64>; 2], beta: &[f64], gbeta: &mut [f64]) -> f64 {
    let (columns, last) = (model.columns(), model.width() - 1);
    par::rows([(gbeta, columns)], 2 * columns, |first, [gbeta]| {
        let mut ln_prior = 0.0;
        for (r, g) in (first..).zip(gbeta.chunks_exact_mut(columns)) {
            let precisions = &precision[usize::from(r == last)];
            let beta = &beta[r * columns..];
            for (c, ((g, beta), precision)) in g.iter_mut().zip(beta).zip(precisions).enumerate() {
                let from = beta - if r == last { model.units()[c].centre } else { 0.0 };
                *g -= precision * from;
                ln_prior -= 0.5 * precision * from * from;
            }
        }
        ln_prior
    })
}

/// ln p(X) + ln p(W), and their gradients in `gx` and `gw`.
pub(crate) fn ln_priors(
    x: &Mat,
    w: &Mat,
    frequencies: &FrequencyPrior<'_>,
    paths: Option<&Paths<'_>>,
    gx: &mut [f64],
    gw: &mut [f64],
) -> f64 {
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
    ln_density + frequencies.gradient(w, gw)
}
