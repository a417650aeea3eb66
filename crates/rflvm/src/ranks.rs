//! The processes that advance one chain together, each with some of the columns. A program that runs on many machines implements
//! [`Ranks`]; everything else runs [`Alone`].

use std::fmt::Debug;

/// Processes that call the same functions in the same order.
pub trait Ranks: Debug + Send + Sync {
    /// Number of this process, counted from 0.
    fn rank(&self) -> usize;

    /// Number of processes.
    fn size(&self) -> usize;

    /// The numbers of all processes, one after the other; `lengths` are theirs, and the same on all processes.
    fn gather(&self, own: &[f64], lengths: &[usize]) -> Vec<f64>;

    /// Sends `sent[r]` of the numbers to process r, and returns those received, `received[r]` from process r.
    fn exchange(&self, own: &[f64], sent: &[usize], received: &[usize]) -> Vec<f64>;

    /// Shows the first process the numbers of each, one process at a time: its number, and its numbers. Nothing is shown to the others.
    fn collect(&self, own: &[f64], lengths: &[usize], see: &mut dyn FnMut(usize, &[f64]));
}

/// One process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&self, own: &[f64], _lengths: &[usize]) -> Vec<f64> {
        own.to_vec()
    }

    fn exchange(&self, own: &[f64], _sent: &[usize], _received: &[usize]) -> Vec<f64> {
        own.to_vec()
    }

    fn collect(&self, own: &[f64], _lengths: &[usize], see: &mut dyn FnMut(usize, &[f64])) {
        see(0, own);
    }
}
