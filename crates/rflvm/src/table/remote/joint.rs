//! The joint density of a model as a function of X, W and β, with the table on a device: what initial states and MAP estimates climb.

use crate::device::{Device, totals};
use crate::hmc::frequencies::FrequencyPrior;
use crate::hmc::gradient::{Layout, Split, ln_priors, ln_weights, weight_precisions};
use crate::hmc::hamiltonian::Potential;
use crate::hmc::laplace_term::LaplaceTerm;
use crate::hmc::slope::{At, SlopeScratch};
use crate::linalg::Mat;
use crate::model::features::fill;
use crate::model::latent::Paths;
use crate::model::{Known, Model, State};
use std::ops::Range;

/// ln p(Y | X, W, β, θ) + ln p(X) + ln p(W | clusters) + ln p(β), less the penalty of the weights' freedom if there is one.
pub(super) struct Joint<'a> {
    device: &'a mut dyn Device,
    paths: Option<&'a Paths<'a>>,
    model: &'a Model,
    state: &'a State,
    layout: Layout,
    precision: [Vec<f64>; 2],
    x: Mat,
    w: Mat,
    beta: Mat,
    dbeta: Mat,
    freedom: Option<Freedom<'a>>,
}

/// The penalty, and H for it: it is small compared with the table.
struct Freedom<'a> {
    laplace_term: &'a LaplaceTerm,
    h: Mat,
    scratch: SlopeScratch,
}

impl<'a> Joint<'a> {
    pub fn new(device: &'a mut dyn Device, model: &'a Model, state: &'a State, paths: Option<&'a Paths<'a>>) -> Self {
        Joint {
            device,
            paths,
            model,
            state,
            layout: Layout::new(model, true),
            precision: weight_precisions(model, &state.theta, &state.tau2),
            x: state.features.x().clone(),
            w: state.features.w().clone(),
            beta: state.beta.clone(),
            dbeta: state.beta.clone(),
            freedom: None,
        }
    }

    /// Adds the penalty, which approximates integrating β out, and lets rows of categories have their best rates everywhere.
    pub fn with_laplace_term(mut self, laplace_term: &'a LaplaceTerm) -> Self {
        let h = Mat::zeros(self.model.rows(), self.model.width());
        self.freedom = Some(Freedom { laplace_term, h, scratch: SlopeScratch::default() });
        self
    }
}

impl Potential for Joint<'_> {
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
        let Split { x, w, beta } = self.layout.split(q);
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        self.beta.as_mut_slice().copy_from_slice(beta);
        let Split { x: gx, w: gw, beta: gbeta } = self.layout.split_mut(g);
        let prior = FrequencyPrior::given(&self.state.spectral);
        let mut ln_density = ln_priors(&self.x, &self.w, &prior, self.paths, gx, gw);
        let plain = self.state.features.plain();
        if let Some(Freedom { laplace_term, h, scratch }) = &mut self.freedom {
            fill(&self.x, &self.w, plain, h);
            let at = At { x: &self.x, w: &self.w, plain, h, roots: &[], known: Known::of(self.model) };
            ln_density += laplace_term.add(at, self.model.all_columns(), scratch, (gx, gw));
            if !self.device.categories().is_empty() {
                self.device.set_map(&self.x, &self.w, plain.s());
                self.device.set_weights(&self.beta);
                totals::settle(self.device);
            }
        }
        ln_density += self.device.slope(&self.x, &self.w, plain.s(), &self.beta, &mut self.dbeta, (gx, gw));
        gbeta.copy_from_slice(self.dbeta.as_slice());
        let of_weights = ln_weights(self.model, &self.precision, beta, gbeta);
        ln_density + self.model.chunks().total(of_weights)
    }

    fn sum(&self, len: usize, part: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        let chunks = self.model.chunks();
        if chunks.is_alone() {
            return part(0..len);
        }
        // X and W are those of all processes, and weights are each its own.
        let head = len - self.beta.as_slice().len();
        part(0..head) + chunks.total(part(head..len))
    }
}
