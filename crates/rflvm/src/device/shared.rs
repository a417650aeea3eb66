//! A table whose columns several processes share, each with its own part of it on its own device.
//!
//! X and W are those of all: whatever a process decides about them, it decides from sums over all processes, and so decides what the others do.
//! Weights and parameters are those of a process's own columns. Sums are taken in the order of the processes: draws are the same for the same number of them.

use super::categories::Categories;
use super::{ColumnAt, Device, Open, Priors, Turns};
use crate::chunks::Chunks;
use crate::error::RunError;
use crate::hmc::flow::{Flow, Frame, Slopes};
use crate::hmc::reference::Reference;
use crate::linalg::Mat;
use crate::model::Model;
use crate::model::family::Theta;
use crate::rng::Stream;

/// Opens the device of this process for the chain of this number.
pub fn open(open: &Open<'_>, model: &Model, chain: usize) -> Result<Box<dyn Device>, RunError> {
    let own = open(model, chain)?;
    if model.chunks().is_alone() {
        return Ok(own);
    }
    Ok(Box::new(Shared { own, chunks: model.chunks().clone(), fault: None }))
}

/// The device of this process, and those with which it sums.
#[derive(Debug)]
struct Shared {
    own: Box<dyn Device>,
    chunks: Chunks,
    /// What went wrong with the device of another process.
    fault: Option<String>,
}

impl Shared {
    /// Σ over the processes. A fault of any of them becomes known to all with it, so that all end with the same words.
    fn sum(&mut self, mut own: Vec<f64>) -> Vec<f64> {
        own.push(f64::from(u8::from(self.own.fault().is_some())));
        let mut sum = self.chunks.over_ranks(own);
        if sum.pop() != Some(0.0) && self.fault.is_none() {
            self.fault = Some(self.reason());
        }
        sum
    }

    /// The reason of the first process whose device has a fault.
    fn reason(&mut self) -> String {
        let ranks = self.chunks.shared_ranks();
        let own = match self.own.fault() {
            Some(reason) => format!("process {} of {}: {reason}", ranks.rank() + 1, ranks.size()),
            None => String::new(),
        };
        let lengths = ranks.gather(&[own.len() as f64], &vec![1; ranks.size()]);
        let lengths: Vec<usize> = lengths.into_iter().map(|length| length as usize).collect();
        let bytes: Vec<f64> = own.bytes().map(f64::from).collect();
        let all: Vec<u8> = ranks.gather(&bytes, &lengths).into_iter().map(|byte| byte as u8).collect();
        let first = lengths.into_iter().find(|&length| length > 0).unwrap_or(0);
        String::from_utf8_lossy(&all[..first]).into_owned()
    }

    fn total(&mut self, own: f64) -> f64 {
        self.sum(vec![own])[0]
    }

    /// Σ over the processes of what `ask` writes.
    fn each(&mut self, out: &mut [f64], ask: impl FnOnce(&mut dyn Device, &mut [f64])) {
        ask(self.own.as_mut(), out);
        out.copy_from_slice(&self.sum(out.to_vec()));
    }

    /// A density and its gradients in X and W, which are added to `to`.
    fn slopes(&mut self, (gx, gw): Slopes<'_>, ask: impl FnOnce(&mut dyn Device, Slopes<'_>) -> f64) -> f64 {
        let mut all = vec![0.0; gx.len() + gw.len()];
        let (of_x, of_w) = all.split_at_mut(gx.len());
        let value = ask(self.own.as_mut(), (of_x, of_w));
        all.push(value);
        let mut sum = self.sum(all);
        let value = sum.pop().unwrap_or(f64::NAN);
        gx.iter_mut().chain(gw).zip(sum).for_each(|(to, sum)| *to += sum);
        value
    }

    fn streams(&self, streams: [Stream; 2]) -> [Stream; 2] {
        streams.map(|stream| of_process(stream, &self.chunks))
    }
}

/// The stream of the noise of this process: each has its own.
pub(super) fn of_process(stream: Stream, chunks: &Chunks) -> Stream {
    stream.at(chunks.ranks().rank() as u64)
}

impl Flow for Shared {
    fn begin(&mut self, frame: &Frame) {
        self.own.begin(frame);
    }

    fn gather(&mut self, x: &Mat, w: &Mat, beta: &Mat, streams: [Stream; 2]) {
        let streams = self.streams(streams);
        self.own.gather(x, w, beta, streams);
    }

    fn evaluate(&mut self, x: &Mat, w: &Mat, to: Slopes<'_>) -> f64 {
        self.slopes(to, |own, to| own.evaluate(x, w, to))
    }

    fn kick(&mut self, step: f64) {
        self.own.kick(step);
    }

    fn draw_momenta(&mut self, streams: [Stream; 2]) {
        let streams = self.streams(streams);
        self.own.draw_momenta(streams);
    }

    fn turn(&mut self, sin: f64, cos: f64) {
        self.own.turn(sin, cos);
    }

    fn energy(&mut self) -> f64 {
        let own = self.own.energy();
        self.total(own)
    }

    fn beta(&mut self, beta: &mut Mat) {
        self.own.beta(beta);
    }
}

impl Device for Shared {
    fn name(&self) -> String {
        self.own.name()
    }

    fn fault(&mut self) -> Option<String> {
        self.fault.clone().or_else(|| self.own.fault())
    }

    fn set_table(&mut self, model: &Model) {
        self.own.set_table(model);
    }

    fn set_map(&mut self, x: &Mat, w: &Mat, s: f64) {
        self.own.set_map(x, w, s);
    }

    fn set_parameters(&mut self, theta: &[Theta]) {
        self.own.set_parameters(theta);
    }

    fn set_weights(&mut self, beta: &Mat) {
        self.own.set_weights(beta);
    }

    fn set_paths(&mut self, g: &Mat) {
        self.own.set_paths(g);
    }

    // A set of categories is never divided.
    fn categories(&self) -> &[Categories] {
        self.own.categories()
    }

    fn ln_sums(&mut self, set: usize, out: &mut [f64]) {
        self.own.ln_sums(set, out);
    }

    fn set_rates(&mut self, set: usize, ln_rates: &[f64]) {
        self.own.set_rates(set, ln_rates);
    }

    fn set_reference(&mut self, reference: &Reference) {
        self.own.set_reference(reference);
    }

    fn ln_lik(&mut self) -> f64 {
        let own = self.own.ln_lik();
        self.total(own)
    }

    fn ln_lik_rows(&mut self, out: &mut [f64]) {
        self.each(out, |own, out| own.ln_lik_rows(out));
    }

    fn ln_lik_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        self.each(out, |own, out| own.ln_lik_rows_at(rows, x, out));
    }

    fn ln_lik_new_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        self.each(out, |own, out| own.ln_lik_new_rows_at(rows, x, out));
    }

    fn slope_new_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        self.each(out, |own, out| own.slope_new_rows_at(rows, x, out));
    }

    fn ln_density_rows(&mut self, out: &mut [f64]) {
        self.each(out, |own, out| own.ln_density_rows(out));
    }

    fn ln_lik_frequency(&mut self, l: usize, w: &[f64]) -> f64 {
        let own = self.own.ln_lik_frequency(l, w);
        self.total(own)
    }

    fn set_frequency(&mut self, l: usize, w: &[f64]) {
        self.own.set_frequency(l, w);
    }

    fn ln_lik_columns(&mut self, at: &[ColumnAt], out: &mut [f64]) {
        self.own.ln_lik_columns(at, out);
    }

    fn ln_likelihood(&mut self) -> f64 {
        let own = self.own.ln_likelihood();
        self.total(own)
    }

    fn information_rows(&mut self, shares: &[f64], out: &mut [f64]) {
        self.each(out, |own, out| own.information_rows(shares, out));
    }

    fn take_columns(&mut self, columns: &[u32]) {
        self.own.take_columns(columns);
    }

    fn fit_columns(&mut self, priors: &Priors) -> Mat {
        self.own.fit_columns(priors)
    }

    fn aim_columns(&mut self, normals: &Mat, from_mean: &Mat) -> (Mat, Vec<[f64; 3]>) {
        self.own.aim_columns(normals, from_mean)
    }

    fn ln_lik_turned(&mut self, turns: &Turns, out: &mut [f64]) {
        self.own.ln_lik_turned(turns, out);
    }

    fn slope(&mut self, x: &Mat, w: &Mat, s: f64, beta: &Mat, dbeta: &mut Mat, to: Slopes<'_>) -> f64 {
        self.slopes(to, |own, to| own.slope(x, w, s, beta, dbeta, to))
    }

    fn add_to_sum(&mut self) {
        self.own.add_to_sum();
    }

    // It depends on all columns: the device takes the sums over them itself.
    fn refer(&mut self, added: Option<f64>) -> Reference {
        self.own.refer(added)
    }

    fn sum(&mut self) -> Vec<f32> {
        self.own.sum()
    }

    fn set_sum(&mut self, sum: Vec<f32>) {
        self.own.set_sum(sum);
    }

    fn f(&mut self, f: &mut Mat) {
        self.own.f(f);
    }
}
