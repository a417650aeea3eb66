//! New rows in this process: candidates of some rows are evaluated together, so that the weights are read once for all of them.

use super::evidence::Sampled;
use super::rows::{Candidates, Rows};
use super::search::Anchors;
use super::target::Prior;
use crate::error::NumericalError;
use crate::model::position::{Positions, Several, Slope};
use crate::rng::StreamRng;

/// The positions of one draw, with the candidates that were evaluated last.
pub struct Here<'a> {
    positions: &'a Positions<'a>,
    several: Several,
    rows: Vec<u32>,
    x: Vec<f64>,
}

impl<'a> Here<'a> {
    pub fn new(positions: &'a Positions<'a>) -> Self {
        Here { positions, several: Several::default(), rows: Vec::new(), x: Vec::new() }
    }

    fn place(&mut self, rows: &[u32], x: &[f64]) {
        self.positions.place_several(rows, x, &mut self.several);
        (self.rows, self.x) = (rows.to_vec(), x.to_vec());
    }

    /// Where these candidates are among those that were evaluated last, if all of them are, in this order.
    fn slots(&self, rows: &[u32], x: &[f64]) -> Option<Vec<usize>> {
        let dim = x.len() / rows.len();
        let mut last = self.rows.iter().zip(self.x.chunks_exact(dim)).enumerate();
        let asked = rows.iter().zip(x.chunks_exact(dim));
        asked.map(|one| last.find(|(_, other)| *other == one).map(|(slot, _)| slot)).collect()
    }
}

impl Candidates for Here<'_> {
    fn ln_lik(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        if rows.is_empty() {
            return;
        }
        let (dim, together) = (x.len() / rows.len(), self.positions.together());
        let each = rows.chunks(together).zip(x.chunks(together * dim)).zip(out.chunks_mut(together));
        for ((rows, x), out) in each {
            self.place(rows, x);
            self.positions.ln_lik_of_several(rows, &self.several, out);
        }
    }

    fn slopes(&mut self, rows: &[u32], x: &[f64]) -> Vec<Slope> {
        if let Some(slots) = self.slots(rows, x) {
            return self.positions.slopes(rows, &slots, &mut self.several);
        }
        let (dim, together) = (x.len() / rows.len(), self.positions.together());
        let mut slopes = Vec::with_capacity(rows.len());
        for (rows, x) in rows.chunks(together).zip(x.chunks(together * dim)) {
            self.place(rows, x);
            let slots: Vec<usize> = (0..rows.len()).collect();
            slopes.extend(self.positions.slopes(rows, &slots, &mut self.several));
        }
        slopes
    }

    fn check(&mut self) -> Result<(), NumericalError> {
        Ok(())
    }
}

impl Rows<'_, Here<'_>> {
    /// A draw of the position of each row, and its density.
    pub fn placed(&mut self, anchors: &Anchors, rngs: &mut [&mut StreamRng]) -> Result<Vec<Sampled>, NumericalError> {
        let positions = self.candidates.positions;
        let mut scratch = positions.scratch();
        let own: Vec<(u32, Prior<'_>)> = self.numbers.iter().copied().zip(self.priors.iter().copied()).collect();
        let starts = own.into_iter().map(|(n, prior)| {
            let elsewhere = |x: &[f64]| {
                let mut values = vec![0.0; x.len() / prior.dim()];
                self.candidates.ln_lik(&vec![n; values.len()], x, &mut values);
                values
            };
            anchors.starts(positions, (n as usize, prior), &mut scratch, elsewhere)
        });
        let starts = starts.collect();
        let proposals = self.proposals(starts)?;
        let mut sampled = self.sampled(&proposals, rngs)?;
        self.add_constants(&mut sampled);
        self.sliced(&proposals, sampled, rngs)
    }

    /// Adds the part of the log-likelihood that does not depend on f, which may be evaluated at any f.
    pub fn add_constants(&mut self, sampled: &mut [Sampled]) {
        let together = self.candidates.positions.together();
        let each = self.numbers.chunks(together).zip(self.priors.chunks(together)).zip(sampled.chunks_mut(together));
        for ((rows, priors), sampled) in each {
            let x: Vec<f64> = sampled.iter().zip(priors).flat_map(|(one, prior)| prior.position(&one.u)).collect();
            self.candidates.place(rows, &x);
            let constants = self.candidates.positions.constants(rows, &self.candidates.several);
            sampled.iter_mut().zip(constants).for_each(|(one, constant)| one.ln_evidence += constant);
        }
    }
}
