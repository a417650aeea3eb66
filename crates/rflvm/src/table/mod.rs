//! What the sampler asks of a table, wherever it is held: the data, and everything as large as they are.
//!
//! Steps, trajectories, starts and evidence are written once, in these terms. [`Host`] holds a table here, with H and F in the state. [`Remote`] asks a
//! [`crate::device::Device`], which may be that of one of several processes; the state then has neither. H and F follow what is set here, and any state
//! that was changed elsewhere must be passed to [`Table::load`], [`Table::refresh`] or [`Table::reset`] before anything else is asked.

pub(crate) mod host;
pub(crate) mod laplace;
mod remote;
mod rows;

pub use host::Host;
pub use remote::Remote;

use crate::device::{self, Open};
use crate::error::{NumericalError, RunError};
use crate::hmc::flow::Flight;
use crate::hmc::hamiltonian::TrajectoryEnd;
use crate::hmc::laplace_term::LaplaceTerm;
use crate::hmc::optimise::{Limit, Optimum};
use crate::hmc::reference::Reference;
use crate::hmc::workspace::Workspace;
use crate::linalg::Mat;
use crate::model::{HalfT, Model, State};
use crate::rng::{Stream, StreamRng};
use laplace::{is_exact, ln_exact, ln_laplace};
use std::fmt::Debug;

/// Opens the table of the chain of this number: on a device if `open` opens one, otherwise here.
pub fn open(open: Option<&Open<'_>>, model: &Model, chain: usize) -> Result<Box<dyn Table>, RunError> {
    let Some(open) = open else { return Ok(Box::new(Host::default())) };
    device::supports(model)?;
    Ok(Box::new(Remote(device::shared::open(open, model, chain)?)))
}

/// ln p(Y | F) as a function of one number.
pub type Along<'a> = Box<dyn FnMut(f64) -> f64 + 'a>;

/// A table.
pub trait Table: Debug + Send {
    /// Whether H and F are those of the state.
    fn is_here(&self) -> bool;

    /// An error if something went wrong since.
    fn check(&mut self) -> Result<(), NumericalError> {
        Ok(())
    }

    /// Takes a state, wherever its H and F were.
    fn load(&mut self, model: &Model, state: &mut State);

    /// Computes H and F again, from X, W and β.
    fn refresh(&mut self, model: &Model, state: &mut State);

    /// Takes all of a state again; what belongs to the table alone is set to its mean.
    fn reset(&mut self, model: &Model, state: &mut State);

    /// Computes H and F here too, until the next [`Table::load`].
    fn restore(&mut self, model: &Model, state: &mut State) {
        state.restore(model);
    }

    /// Draws what belongs to the table alone, given the state.
    fn redraw(&mut self, _stream: Stream) {}

    /// Ends a sweep.
    fn end(&mut self, _model: &Model, _state: &mut State) -> Result<(), NumericalError> {
        Ok(())
    }

    /// ln p(Y | F, θ) with all constants.
    fn ln_likelihood(&mut self, model: &Model, state: &State) -> f64;

    /// Σ of the log-likelihoods of all rows at F, without constants.
    fn ln_lik(&mut self, model: &Model, state: &State) -> f64;

    // Frequencies.

    /// The same if frequency l were `w`.
    fn ln_lik_frequency(&mut self, model: &Model, state: &State, l: usize, w: &[f64]) -> f64;

    /// Sets frequency l to the `w` for which the last [`Table::ln_lik_frequency`] was asked; H and F follow.
    fn set_frequency(&mut self, state: &mut State, l: usize, w: &[f64]);

    // Rows that do not depend on each other.

    /// The log-likelihood of each row at F.
    fn ln_lik_rows(&mut self, model: &Model, state: &State, out: &mut [f64]);

    /// Those of some rows at other positions, one after the other in `x`.
    fn ln_lik_rows_at(&mut self, model: &Model, state: &State, rows: &[u32], x: &[f64], out: &mut [f64]);

    /// Sets the positions of some rows, one after the other in `x`; H and F follow.
    fn set_rows(&mut self, model: &Model, state: &mut State, rows: &[u32], x: &[f64]);

    /// Moves each row by an elliptical slice with its own stream; returns the number of candidates.
    fn slice_rows(&mut self, model: &Model, state: &mut State, stream: Stream) -> Result<u32, NumericalError>;

    // Rows that move together.

    /// Σ of the log-likelihoods of some rows where they are.
    fn ln_lik_window(&mut self, model: &Model, state: &State, rows: &[usize]) -> f64;

    /// The same at other positions.
    fn ln_lik_window_at(&mut self, model: &Model, state: &State, rows: &[usize], x: &Mat) -> f64;

    /// Sets some rows to the positions for which the last [`Table::ln_lik_window_at`] was asked. Only [`Table::ln_lik_window`] and
    /// [`Table::ln_lik_window_at`] may be asked before [`Table::settle_windows`].
    fn set_window(&mut self, state: &mut State, rows: &[usize], x: &Mat);

    /// H and F follow.
    fn settle_windows(&mut self, _model: &Model, _state: &mut State) {}

    // Trajectories.

    /// A trajectory in (X, W, β), in place; H and F follow.
    fn fly(&mut self, model: &Model, state: &mut State, flight: Flight<'_>, rng: &mut StreamRng) -> TrajectoryEnd;

    /// Memory for moves of X, W and s with β and σ² integrated out, where these can be: β, θ and τ² must be drawn next.
    fn collapsed(&mut self, _model: &Model) -> Option<&mut Workspace> {
        None
    }

    /// A reference about F, for the next trajectories.
    fn refer(&mut self, model: &Model, state: &State) -> Reference;

    /// A reference about the mean of what was added to `sums`, `count` times; forgets it.
    fn refer_to_sums(&mut self, model: &Model, state: &State, sums: &mut Vec<f32>, count: f64) -> Reference;

    /// Sets the reference of the next trajectories.
    fn set_reference(&mut self, _reference: &Reference) {}

    /// Adds F, less column processes, in units of the columns, to sums in single precision, which are here or with the table.
    fn add_to_sums(&mut self, model: &Model, state: &State, sums: &mut Vec<f32>);

    /// Takes the sums, if they are to be with the table.
    fn take_sums(&mut self, _sums: &mut Vec<f32>) {}

    /// A copy of them is here, if they are with the table.
    fn copy_sums(&mut self, _sums: &mut Vec<f32>) {}

    // Columns.

    /// Draws θ of all blocks and β of a fraction of their columns; F follows.
    fn draw_weights(
        &mut self,
        model: &Model,
        state: &mut State,
        share: f64,
        stream: Stream,
    ) -> Result<(), NumericalError>;

    /// Draws θ of all blocks; β may change with it, and F follows.
    fn draw_parameters(&mut self, model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError>;

    /// θ at its mode given X, W and β; intercepts may follow, and F.
    fn maximise_parameters(&mut self, model: &Model, state: &mut State) -> Result<(), NumericalError>;

    /// Draws the amplitudes of the columns of block b, each with its own, and their weights with them. F must follow.
    fn slice_amplitudes(
        &mut self,
        model: &Model,
        state: &mut State,
        b: usize,
        prior: HalfT,
        stream: Stream,
    ) -> Result<(), NumericalError>;

    /// Σ of the log-likelihoods of the columns of block b, of all processes, with their weights less their prior means multiplied.
    fn ln_lik_grown(&mut self, model: &Model, state: &State, b: usize, factor: f64) -> f64;

    /// Σ of the log-likelihoods at another ln s², s the scale of the linear part, with its slopes held.
    fn along_s<'a>(&'a mut self, model: &'a Model, state: &'a State) -> Along<'a>;

    // The weights integrated out.

    /// Climbs the joint density of (X, W, β) in q, with the penalty of the weights' freedom and the volume of X if it `is_integrated`.
    fn climb(
        &mut self,
        model: &Model,
        state: &mut State,
        q: &mut Vec<f64>,
        is_integrated: bool,
        limit: Limit<'_>,
    ) -> Result<Optimum, NumericalError>;

    /// The penalty of the weights' freedom, at the information of the cells there.
    fn laplace_term(&mut self, model: &Model, state: &State) -> Result<LaplaceTerm, NumericalError>;

    /// Whether β and σ² are integrated out exactly, not by Laplace's method.
    fn is_exact(&self, model: &Model) -> bool {
        self.is_here() && is_exact(model)
    }

    /// ln p(Y, θ, τ², s | X, W) with β integrated out.
    fn ln_data(&mut self, model: &Model, state: &State) -> Result<f64, NumericalError> {
        if self.is_exact(model) {
            return ln_exact(model, state);
        }
        let ln_likelihood = self.ln_likelihood(model, state);
        let freedom = self.laplace_term(model, state)?.ln_freedom(state.features.held().h())?;
        Ok(ln_laplace(model, state, ln_likelihood, freedom))
    }
}
