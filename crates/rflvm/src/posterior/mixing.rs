//! Mixing of the chains of a fit whose draws are not stored: the worst of the log-likelihood and of some distances
//! between rows, and which chains are used.

use super::diagnostics::diagnose;
use super::{Verdict, verdicts};
use crate::draws::Draw;
use crate::draws::Traced;
use crate::model::Model;

/// Traces of invariant quantities of a chain.
#[derive(Debug, Clone)]
pub struct Trace {
    traced: Traced,
    ln_joint: Vec<f64>,
    ln_likelihood: Vec<f64>,
    distances: Vec<Vec<f64>>,
}

impl Trace {
    /// For a chain that has not started.
    pub fn new(model: &Model) -> Self {
        let traced = Traced::of(model);
        let distances = vec![Vec::new(); traced.pairs.len()];
        Trace { traced, ln_joint: Vec::new(), ln_likelihood: Vec::new(), distances }
    }

    /// Number of draws added.
    pub fn draws(&self) -> usize {
        self.ln_joint.len()
    }

    /// Adds a draw.
    pub fn push(&mut self, draw: &Draw<'_>) {
        self.ln_joint.push(draw.ln_joint);
        self.ln_likelihood.push(draw.ln_likelihood);
        let now = self.traced.distances(draw.model, draw.state);
        self.distances.iter_mut().zip(now).for_each(|(all, d)| all.push(d));
    }
}

/// Mixing of the chains of a fit: the worst of the log-likelihood and some distances between rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixing {
    /// Smallest bulk effective sample size; NaN if undefined.
    pub ess: f64,
    /// Largest R̂; NaN for a single chain.
    pub r_hat: f64,
    /// The status of each chain.
    pub verdicts: Vec<Verdict>,
}

impl Mixing {
    /// From all chains.
    pub fn of(chains: &[&Trace]) -> Self {
        let verdicts = verdicts(&chains.iter().map(|c| &c.ln_joint).collect::<Vec<_>>());
        let used: Vec<&Trace> = chains.iter().zip(&verdicts).filter(|(_, v)| v.used).map(|(c, _)| *c).collect();
        let mut all = vec![diagnose(&used.iter().map(|c| &c.ln_likelihood).collect::<Vec<_>>())];
        let pairs = used.first().map_or(0, |c| c.distances.len());
        all.extend((0..pairs).map(|i| diagnose(&used.iter().map(|c| &c.distances[i]).collect::<Vec<_>>())));
        // The minimum and maximum of f64 ignore NaN.
        let ess = all.iter().map(|d| d.ess_bulk).fold(f64::NAN, f64::min);
        let r_hat = all.iter().map(|d| d.r_hat).fold(f64::NAN, f64::max);
        Mixing { ess, r_hat, verdicts }
    }

    /// Chains whose draws are not used.
    pub fn set_aside(&self) -> usize {
        self.verdicts.iter().filter(|v| !v.used).count()
    }
}
