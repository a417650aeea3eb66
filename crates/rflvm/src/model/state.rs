//! The unknowns.

use super::family::{BlockView, Theta};
use super::features::Features;
use super::latent::{Axis, Paths};
use super::spectral::Spectral;
use super::{ColumnProcess, Known, Model};
use crate::error::NumericalError;
use crate::linalg::{self, Mat};
use crate::par;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The unknowns, and F = o + Hβ + G computed from them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    /// X, W, s and their features.
    pub features: Features,
    /// Clusters of frequencies.
    pub spectral: Spectral,
    /// β, one row per column of H, intercepts in the last row.
    pub beta: Mat,
    /// τ_j², one per column.
    pub tau2: Vec<f64>,
    /// θ of each block.
    pub theta: Vec<Theta>,
    /// Hyperparameters of the paths, one per axis; empty if rows have no times.
    pub axes: Vec<Axis>,
    /// Column processes G; empty where they have none.
    pub column_process: ColumnProcess,
    /// F = o + Hβ + G, N×J.
    pub f: Mat,
}

/// The memory of H and F; its values are unspecified.
pub(crate) struct Lent {
    pub h: Mat,
    pub f: Mat,
}

impl State {
    /// Assembles a state and its F; paths have the medians of their hyperparameters.
    pub fn new(
        model: &Model,
        features: Features,
        spectral: Spectral,
        beta: Mat,
        tau2: Vec<f64>,
        theta: Vec<Theta>,
    ) -> Self {
        let mut state = State::hollow(model, features, spectral, beta, tau2, theta);
        state.refresh(model);
        state
    }

    /// The same without F.
    pub(crate) fn hollow(
        model: &Model,
        features: Features,
        spectral: Spectral,
        beta: Mat,
        tau2: Vec<f64>,
        theta: Vec<Theta>,
    ) -> Self {
        let axes = model.dynamics().map_or_else(Vec::new, |d| vec![d.prior().at([0.0; 2]); model.latent_dim()]);
        let column_process = ColumnProcess::start(model);
        State { features, spectral, beta, tau2, theta, axes, column_process, f: Mat::default() }
    }

    /// Computes H and F where they were held elsewhere.
    pub fn restore(&mut self, model: &Model) {
        if self.features.h().cols() == 0 {
            self.features.restore();
            self.refresh(model);
        }
    }

    /// With H and F, wherever they are held.
    pub(crate) fn held(&self, model: &Model) -> Cow<'_, State> {
        if self.f.rows() > 0 {
            return Cow::Borrowed(self);
        }
        let mut own = self.clone();
        own.restore(model);
        Cow::Owned(own)
    }

    /// f of a cell, wherever F is held.
    pub fn cell(&self, model: &Model, (n, j): (usize, usize)) -> f64 {
        if self.f.rows() > 0 {
            return self.f[(n, j)];
        }
        let h = self.features.row(n);
        model.known(self).at(n, j) + h.iter().enumerate().map(|(m, h)| h * self.beta[(m, j)]).sum::<f64>()
    }

    /// Lends out the memory of H and F to a move that needs neither; return it with [`State::take_back`].
    pub(crate) fn lend(&mut self) -> Lent {
        Lent { h: self.features.lend(), f: std::mem::take(&mut self.f) }
    }

    /// Takes the memory back, with X and W if they have moved, and recomputes H and F.
    pub(crate) fn take_back(&mut self, model: &Model, lent: Lent, moved: Option<(&[f64], &[f64])>) {
        self.features.take_back(lent.h, moved);
        self.f = lent.f;
        self.refresh(model);
    }

    /// Recomputes F = o + Hβ + G.
    pub fn refresh(&mut self, model: &Model) {
        if self.features.h().cols() == 0 {
            return;
        }
        self.f.fit(model.rows(), model.columns());
        let known = Known::new(model.offset(), &self.column_process.g);
        predictor(self.features.h(), self.beta.view(), known, &mut self.f);
    }
}

impl Model {
    /// What F is besides Hβ, at a state.
    pub fn known<'a>(&'a self, state: &'a State) -> Known<'a> {
        Known::new(&self.offset, &state.column_process.g)
    }

    /// The prior of the paths at a state's hyperparameters, if rows have times.
    pub fn paths(&self, state: &State) -> Result<Option<Paths<'_>>, NumericalError> {
        self.dynamics.as_ref().map(|dynamics| Paths::new(dynamics, &state.axes)).transpose()
    }

    /// A view of block b for the update of its family, which need redraw the weights of only this fraction of columns.
    pub fn block_view<'a>(&'a self, b: usize, state: &'a mut State, share: f64) -> BlockView<'a> {
        let columns = self.blocks[b].columns.clone();
        BlockView {
            h: state.features.h(),
            y: &self.y,
            known: Known::new(&self.offset, &state.column_process.g),
            units: &self.units[columns.clone()],
            tau2: &mut state.tau2[columns.clone()],
            amplitude: self.amplitude(&self.blocks()[b]),
            intercept_variance: self.spec.priors.intercept,
            theta: &mut state.theta[b],
            beta: &mut state.beta,
            f: &mut state.f,
            share,
            cells: None,
            columns,
            first: self.parts[b].first,
            all: self.parts[b].all,
            is_complete: self.parts[b].is_complete,
            chunks: &self.chunks,
        }
    }
}

/// F = HB and what is known besides it.
pub(crate) fn predictor(h: &Mat, beta: linalg::View<'_>, known: Known<'_>, f: &mut Mat) {
    let columns = f.cols();
    par::rows([(f.as_mut_slice(), columns)], columns, |first, [f]| {
        (first..).zip(f.chunks_exact_mut(columns)).for_each(|(n, f)| known.fill(n, f));
        0.0
    });
    linalg::par_mul(f, h.view(), beta, true);
}
