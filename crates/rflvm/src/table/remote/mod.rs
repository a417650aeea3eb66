//! A table on a device: X, W, β, θ and column processes of the state are copied there, and H and F are only there.

mod amplitudes;
mod joint;
mod parameters;
mod rounds;
mod weights;

use super::{Along, Table, rows};
use crate::device::{self, Device, totals};
use crate::error::NumericalError;
use crate::hmc::flow::{Flight, Frame, Landed, fly};
use crate::hmc::hamiltonian::TrajectoryEnd;
use crate::hmc::laplace_term::{LaplaceTerm, shares};
use crate::hmc::optimise::{Limit, Optimum, maximise};
use crate::hmc::reference::Reference;
use crate::hmc::volume::Volume;
use crate::linalg::Mat;
use crate::model::{HalfT, Model, State};
use crate::rng::{Stream, StreamRng};
use joint::Joint;

/// A table on a device.
#[derive(Debug)]
pub struct Remote(pub Box<dyn Device>);

impl Remote {
    fn device(&mut self) -> &mut dyn Device {
        self.0.as_mut()
    }
}

impl Table for Remote {
    fn is_here(&self) -> bool {
        false
    }

    fn check(&mut self) -> Result<(), NumericalError> {
        device::check(self.device())
    }

    fn load(&mut self, _model: &Model, state: &mut State) {
        device::load(self.device(), state);
    }

    fn refresh(&mut self, _model: &Model, state: &mut State) {
        device::refresh(self.device(), state);
    }

    fn reset(&mut self, _model: &Model, state: &mut State) {
        device::load(self.device(), state);
    }

    fn redraw(&mut self, stream: Stream) {
        totals::update(self.device(), stream);
    }

    /// From the state itself, as a run that is resumed begins: what changed bit by bit is rounded otherwise.
    fn end(&mut self, model: &Model, state: &mut State) -> Result<(), NumericalError> {
        self.refresh(model, state);
        self.check()
    }

    fn ln_likelihood(&mut self, model: &Model, _state: &State) -> f64 {
        totals::ln_likelihood(self.device(), model)
    }

    fn ln_lik(&mut self, _model: &Model, _state: &State) -> f64 {
        self.device().ln_lik()
    }

    fn ln_lik_frequency(&mut self, _model: &Model, _state: &State, l: usize, w: &[f64]) -> f64 {
        self.device().ln_lik_frequency(l, w)
    }

    fn set_frequency(&mut self, state: &mut State, l: usize, w: &[f64]) {
        self.device().set_frequency(l, w);
        state.features.set_frequency(l, w);
    }

    fn ln_lik_rows(&mut self, _model: &Model, _state: &State, out: &mut [f64]) {
        self.device().ln_lik_rows(out);
    }

    fn ln_lik_rows_at(&mut self, _model: &Model, _state: &State, rows: &[u32], x: &[f64], out: &mut [f64]) {
        self.device().ln_lik_rows_at(rows, x, out);
    }

    fn set_rows(&mut self, model: &Model, state: &mut State, rows: &[u32], x: &[f64]) {
        let positions = rows.iter().zip(x.chunks_exact(model.latent_dim()));
        positions.for_each(|(&n, x)| state.features.set_position(n as usize, x));
        self.refresh(model, state);
    }

    fn slice_rows(&mut self, model: &Model, state: &mut State, stream: Stream) -> Result<u32, NumericalError> {
        rows::all(self, model, state, stream)
    }

    fn ln_lik_window(&mut self, model: &Model, state: &State, rows: &[usize]) -> f64 {
        let from = state.features.x();
        self.ln_lik_window_at(model, state, rows, &Mat::from_fn(rows.len(), from.cols(), |i, d| from[(rows[i], d)]))
    }

    fn ln_lik_window_at(&mut self, _model: &Model, _state: &State, rows: &[usize], x: &Mat) -> f64 {
        let numbers: Vec<u32> = rows.iter().map(|&n| n as u32).collect();
        let mut values = vec![0.0; rows.len()];
        self.device().ln_lik_rows_at(&numbers, x.as_slice(), &mut values);
        values.iter().sum()
    }

    fn set_window(&mut self, state: &mut State, rows: &[usize], x: &Mat) {
        rows.iter().zip(x.iter_rows()).for_each(|(&n, x)| state.features.set_position(n, x));
    }

    fn settle_windows(&mut self, model: &Model, state: &mut State) {
        self.refresh(model, state);
    }

    fn fly(&mut self, model: &Model, state: &mut State, flight: Flight<'_>, rng: &mut StreamRng) -> TrajectoryEnd {
        self.device().begin(&Frame::new(model, &state.theta, &state.tau2, flight.reference));
        let (end, landed) = fly(self.device(), model, state, flight, rng);
        if let Some(Landed { q, beta }) = landed {
            state.beta = beta;
            let (x, w) = q.split_at(model.rows() * model.latent_dim());
            state.features.set(x, w);
        }
        self.refresh(model, state);
        end
    }

    fn refer(&mut self, _model: &Model, _state: &State) -> Reference {
        totals::settle(self.device());
        let reference = self.device().refer(None);
        self.device().set_reference(&reference);
        reference
    }

    fn refer_to_sums(&mut self, _model: &Model, _state: &State, _sums: &mut Vec<f32>, count: f64) -> Reference {
        let reference = self.device().refer(Some(count));
        self.device().set_reference(&reference);
        reference
    }

    fn set_reference(&mut self, reference: &Reference) {
        self.device().set_reference(reference);
    }

    fn add_to_sums(&mut self, _model: &Model, _state: &State, sums: &mut Vec<f32>) {
        // A checkpoint may have left a copy.
        *sums = Vec::new();
        self.device().add_to_sum();
    }

    fn take_sums(&mut self, sums: &mut Vec<f32>) {
        self.device().set_sum(std::mem::take(sums));
    }

    fn copy_sums(&mut self, sums: &mut Vec<f32>) {
        *sums = self.device().sum();
    }

    fn draw_weights(
        &mut self,
        model: &Model,
        state: &mut State,
        share: f64,
        stream: Stream,
    ) -> Result<(), NumericalError> {
        weights::update(self.device(), model, state, share, stream)
    }

    fn draw_parameters(&mut self, model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
        parameters::update(self.device(), model, state, 1.0, stream)?;
        self.device().set_weights(&state.beta);
        self.check()
    }

    fn maximise_parameters(&mut self, model: &Model, state: &mut State) -> Result<(), NumericalError> {
        parameters::maximise(self.device(), model, state)?;
        self.reset(model, state);
        self.check()
    }

    fn slice_amplitudes(
        &mut self,
        model: &Model,
        state: &mut State,
        b: usize,
        prior: HalfT,
        stream: Stream,
    ) -> Result<(), NumericalError> {
        amplitudes::each(self.device(), model, state, b, prior, stream);
        self.check()
    }

    fn ln_lik_grown(&mut self, model: &Model, state: &State, b: usize, factor: f64) -> f64 {
        let values = amplitudes::grown(self.device(), model, state, b, |_| factor);
        let first = model.blocks()[b].columns.start;
        model.sum_block(b, |j| if model.is_free(first + j) { values[first + j] } else { 0.0 })
    }

    fn along_s<'a>(&'a mut self, _model: &'a Model, state: &'a State) -> Along<'a> {
        Box::new(move |v| {
            self.device().set_map(state.features.x(), state.features.w(), (0.5 * v).exp());
            self.device().set_weights(&state.beta);
            self.device().ln_lik()
        })
    }

    fn climb(
        &mut self,
        model: &Model,
        state: &mut State,
        q: &mut Vec<f64>,
        is_integrated: bool,
        limit: Limit<'_>,
    ) -> Result<Optimum, NumericalError> {
        let paths = model.paths(state)?;
        if !is_integrated {
            return Ok(maximise(&mut Joint::new(self.device(), model, state, paths.as_ref()), q, limit));
        }
        let laplace_term = self.laplace_term(model, state)?;
        let joint = Joint::new(self.device(), model, state, paths.as_ref()).with_laplace_term(&laplace_term);
        Ok(maximise(&mut Volume::new(joint, model), q, limit))
    }

    fn laplace_term(&mut self, model: &Model, state: &State) -> Result<LaplaceTerm, NumericalError> {
        let mut information = vec![0.0; model.rows()];
        self.device().information_rows(&shares(model, state), &mut information);
        self.check()?;
        Ok(LaplaceTerm::with(model, information))
    }
}
