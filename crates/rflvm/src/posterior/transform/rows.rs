//! New rows side by side: each asks for the likelihood at one candidate, all of them are evaluated together, and those that are not
//! finished ask again. Where they are evaluated is a [`Candidates`]. What a row asks, and its stream, do not depend on the others.

use super::evidence::{self, Proposal, Sampled};
use super::search::{Query, Search, Start};
use super::target::{Local, Prior, or_nothing};
use crate::error::NumericalError;
use crate::model::position::Slope;
use crate::par;
use crate::rng::StreamRng;
use crate::slice::Ellipse;

/// Elliptical slices after the importance sample.
pub const SLICES: usize = 4;
/// Rows for which one thread computes candidates at a time.
const TOGETHER: usize = 64;
/// Candidates in one question where rows have several.
const AT_ONCE: usize = 1 << 16;

/// What evaluates candidates: positions, one after another in `x`, each of a row.
pub trait Candidates {
    /// The part of ln p(y_n | x) that depends on x; a row may have several candidates.
    fn ln_lik(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]);

    /// Its slope in x.
    fn slopes(&mut self, rows: &[u32], x: &[f64]) -> Vec<Slope>;

    /// What went wrong, if anything did.
    fn check(&mut self) -> Result<(), NumericalError>;
}

/// Rows that have observed cells.
pub struct Rows<'a, C> {
    pub candidates: C,
    /// Their numbers in the table.
    pub numbers: Vec<u32>,
    pub priors: Vec<Prior<'a>>,
}

impl<C: Candidates> Rows<'_, C> {
    fn count(&self) -> usize {
        self.numbers.len()
    }

    /// D.
    fn dim(&self) -> usize {
        self.priors.first().map_or(1, Prior::dim)
    }

    /// Rows and positions of candidates for some of the rows: the kth is at the u that `fill` writes.
    fn candidates(&self, some: &[usize], fill: impl Fn(usize, &mut [f64]) + Sync) -> (Vec<u32>, Vec<f64>) {
        let (numbers, priors, dim) = (&self.numbers, &self.priors, self.dim());
        let mut x = vec![0.0; some.len() * dim];
        par::for_each(x.chunks_mut(dim).zip(some).enumerate(), TOGETHER, |(k, (x, &i))| {
            fill(k, x);
            x.iter_mut().zip(priors[i].mean).zip(priors[i].sd).for_each(|((x, m), s)| *x = m + s * *x);
        });
        (some.iter().map(|&i| numbers[i]).collect(), x)
    }

    /// Their log-likelihoods.
    pub fn ln_lik(&mut self, some: &[usize], fill: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
        let (numbers, x) = self.candidates(some, fill);
        let mut values = vec![0.0; some.len()];
        self.candidates.ln_lik(&numbers, &x, &mut values);
        values.iter_mut().for_each(|value| *value = or_nothing(*value));
        values
    }

    /// Log-likelihoods of `count` candidates of each row, one list per candidate: `fill` writes the kth of row i.
    pub fn ln_lik_of_several(&mut self, count: usize, fill: impl Fn(usize, usize, &mut [f64]) + Sync) -> Vec<Vec<f64>> {
        let rows = self.count();
        let together = (AT_ONCE / rows.max(1)).clamp(1, count);
        let mut values = Vec::with_capacity(count);
        for first in (0..count).step_by(together) {
            let some: Vec<usize> = (first..count.min(first + together)).flat_map(|_| 0..rows).collect();
            let found = self.ln_lik(&some, |at, u| fill(first + at / rows, at % rows, u));
            values.extend(found.chunks(rows.max(1)).map(<[f64]>::to_vec));
        }
        values
    }

    /// The Gaussian approximations there.
    fn local(&mut self, some: &[usize], points: &[Vec<f64>]) -> Vec<Option<Local>> {
        let (numbers, x) = self.candidates(some, |k, u| u.copy_from_slice(&points[k]));
        let (slopes, priors) = (self.candidates.slopes(&numbers, &x), &self.priors);
        let each = slopes.into_iter().zip(some).zip(points);
        par::collect(each, TOGETHER, |((slope, &i), u)| priors[i].local(u, &slope))
    }

    /// The proposal of each row, about the modes that its search has found.
    pub fn proposals(&mut self, starts: Vec<Vec<Start>>) -> Result<Vec<Proposal>, NumericalError> {
        let mut searches = par::collect(starts, TOGETHER, Search::new);
        let mut open: Vec<usize> = (0..self.count()).collect();
        let wants = |searches: &[Search], open: &[usize], query: Query| {
            let some: Vec<usize> = open.iter().copied().filter(|&i| searches[i].query() == Some(query)).collect();
            let points = some.iter().map(|&i| searches[i].point()).collect::<Vec<_>>();
            (some, points)
        };
        while !open.is_empty() {
            // Where their log-likelihoods were asked for just before, so that nothing need be evaluated twice.
            let (some, points) = wants(&searches, &open, Query::Local);
            if !some.is_empty() {
                let asked = pick(&mut searches, &some).into_iter().zip(self.local(&some, &points));
                par::for_each(asked, TOGETHER, |(search, local)| search.take_local(local));
            }
            let (some, points) = wants(&searches, &open, Query::LnLik);
            if !some.is_empty() {
                let values = self.ln_lik(&some, |k, u| u.copy_from_slice(&points[k]));
                let asked = pick(&mut searches, &some).into_iter().zip(values);
                asked.for_each(|(search, value)| search.take_ln_lik(value));
            }
            open.retain(|&i| searches[i].query().is_some());
        }
        self.candidates.check()?;
        let dim = self.dim();
        Ok(par::collect(searches, TOGETHER, |search| Proposal::new(dim, search.found())))
    }

    /// The importance sample of each row.
    pub fn sampled(
        &mut self,
        proposals: &[Proposal],
        rngs: &mut [&mut StreamRng],
    ) -> Result<Vec<Sampled>, NumericalError> {
        let draw = |(proposal, rng): (&Proposal, &mut &mut StreamRng)| proposal.draws(&mut **rng);
        let drawn = par::collect(proposals.iter().zip(&mut *rngs), TOGETHER, draw);
        let dim = self.dim();
        let values = self.ln_lik_of_several(evidence::DRAWS, |k, i, u| u.copy_from_slice(&drawn[i][k * dim..][..dim]));
        self.candidates.check()?;
        let numbers = &self.numbers;
        let each = proposals.iter().zip(drawn).zip(rngs).enumerate();
        let each = par::collect(each, TOGETHER, |(i, ((proposal, drawn), rng))| {
            let own: Vec<f64> = values.iter().map(|values| values[i]).collect();
            proposal.choose(&drawn, &own, &mut **rng).ok_or_else(|| impossible(numbers[i] as usize))
        });
        each.into_iter().collect()
    }

    /// After the slices.
    pub fn sliced(
        &mut self,
        proposals: &[Proposal],
        mut sampled: Vec<Sampled>,
        rngs: &mut [&mut StreamRng],
    ) -> Result<Vec<Sampled>, NumericalError> {
        for _ in 0..SLICES {
            let begin = |((found, proposal), rng): ((&Sampled, &Proposal), &mut &mut StreamRng)| {
                let turn = proposal.turn(&found.u, &mut **rng);
                (turn, Ellipse::new(&mut **rng, found.ln_weight))
            };
            let mut slices = par::collect(sampled.iter().zip(proposals).zip(&mut *rngs), TOGETHER, begin);
            let mut open: Vec<usize> = (0..self.count()).collect();
            while !open.is_empty() {
                let there: Vec<Vec<f64>> =
                    open.iter().map(|&i| slices[i].0.candidate(slices[i].1.candidate(), &sampled[i].u)).collect();
                let values = self.ln_lik(&open, |k, u| u.copy_from_slice(&there[k]));
                let mut left = Vec::new();
                for ((i, value), there) in open.into_iter().zip(values).zip(there) {
                    let ln_weight = proposals[i].ln_weight(&there, value);
                    match slices[i].1.judge(&mut *rngs[i], ln_weight) {
                        None => left.push(i),
                        Some(landing) => {
                            sampled[i].ln_weight = landing.ln_lik;
                            if landing.sin != 0.0 {
                                sampled[i].u = there;
                            }
                        }
                    }
                }
                open = left;
            }
        }
        self.candidates.check()?;
        Ok(sampled)
    }
}

/// No draw of the proposal has positive likelihood.
fn impossible(row: usize) -> NumericalError {
    NumericalError::NotFinite { step: "new rows", value: f64::NEG_INFINITY, place: format!("row {}", row + 1) }
}

/// Some of them, by ascending numbers.
pub fn pick<'a, T>(all: &'a mut [T], some: &[usize]) -> Vec<&'a mut T> {
    let mut some = some.iter().peekable();
    all.iter_mut().enumerate().filter_map(|(i, one)| some.next_if(|&&number| number == i).map(|_| one)).collect()
}
