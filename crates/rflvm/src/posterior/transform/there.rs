//! New rows side by side on a device: each asks for the likelihood at one candidate, the device answers all of them together, and those that are not
//! finished query again. What each asks, and its streams, are those of a row that is placed here ([`super::place`]).

use super::density::impossible;
use super::evidence::{self, Proposal, Sampled};
use super::new_rows::{Key, NewRows};
use super::search::{Anchors, Query, Search};
use super::target::{Local, Prior, or_nothing};
use super::{Placed, SLICES, prior};
use crate::device::{Device, check, totals};
use crate::dist::{ln_gamma, normals};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::Model;
use crate::model::position::Slope;
use crate::par;
use crate::posterior::parameters::Parameters;
use crate::rng::{Stream, StreamRng};
use crate::slice::Ellipse;
use std::ops::Range;

/// Rows for which one thread computes candidates at a time.
const TOGETHER: usize = 64;
/// Candidates in one question where rows have several.
const AT_ONCE: usize = 1 << 16;

/// The rows that have observed cells, on a device.
struct Rows<'a> {
    device: &'a mut dyn Device,
    /// Their numbers in the table.
    numbers: Vec<u32>,
    priors: Vec<Prior<'a>>,
}

/// Some of the new rows given one draw of the parameters; columns have no column processes.
pub(super) fn placed(
    device: &mut dyn Device,
    model: &Model,
    (new, keys): (&NewRows, &[Key]),
    some: Range<usize>,
    parameters: &Parameters,
    stream: Stream,
) -> Result<Vec<Placed>, NumericalError> {
    let anchors = Anchors::new(parameters, model.covariates().cols(), stream.named("anchors"));
    let (mean, sd) = prior(model, new, parameters)?;
    let prior = |n: usize| Prior { mean: mean.row(n), sd: sd.row(n) };
    let mut rngs: Vec<StreamRng> = keys[some.clone()].iter().map(|&key| stream.along(key).rng()).collect();
    device.set_parameters(&parameters.theta);
    device.set_map(&mean, &parameters.w, parameters.s);
    device.set_weights(&parameters.beta);
    let seen: Vec<usize> = (0..some.len()).filter(|i| new.model.observed(some.start + i) > 0).collect();
    let numbers = seen.iter().map(|i| (some.start + i) as u32).collect();
    let priors = seen.iter().map(|i| prior(some.start + i)).collect();
    let mut rows = Rows { device, numbers, priors };
    let proposals = rows.proposals(&anchors)?;
    let mut own: Vec<&mut StreamRng> = pick(&mut rngs, &seen);
    let sampled = rows.sampled(&proposals, &mut own)?;
    let sampled = rows.sliced(sampled, &mut own)?;
    drop(own);
    let mut x = mean.clone();
    seen.iter().zip(&sampled).for_each(|(i, found)| {
        let n = some.start + i;
        x.row_mut(n).copy_from_slice(&prior(n).position(&found.u));
    });
    device.set_map(&x, &parameters.w, parameters.s);
    device.set_weights(&parameters.beta);
    let constants = constants(device, x.rows());
    check(device)?;
    let mut sampled = seen.iter().zip(sampled).peekable();
    let each = rngs.iter_mut().enumerate().map(|(i, rng)| {
        let n = some.start + i;
        match sampled.next_if(|(seen, _)| **seen == i) {
            Some((_, Sampled { ln_evidence, .. })) => {
                Placed { x: x.row(n).to_vec(), own: Vec::new(), ln_evidence: ln_evidence + constants[n] }
            }
            None => {
                let x = prior(n).position(&normals(mean.cols(), rng));
                Placed { x, own: Vec::new(), ln_evidence: 0.0 }
            }
        }
    });
    Ok(each.collect())
}

/// The part of ln p(y_n | f, θ) of each row that does not depend on f. It is the difference of two log densities, so f should suit the rows.
fn constants(device: &mut dyn Device, rows: usize) -> Vec<f64> {
    totals::settle(device);
    let (mut density, mut ln_lik) = (vec![0.0; rows], vec![0.0; rows]);
    device.ln_density_rows(&mut density);
    device.ln_lik_rows(&mut ln_lik);
    // Categories are held as counts, whose density is without that of their total.
    let of_totals = |n: usize| -> f64 { device.categories().iter().map(|set| of_total(set.totals[n])).sum() };
    (0..rows).map(|n| density[n] - ln_lik[n] + of_totals(n)).collect()
}

/// ln N!; a missing row has none.
fn of_total(total: f64) -> f64 {
    if total.is_nan() { 0.0 } else { ln_gamma(total + 1.0) }
}

impl Rows<'_> {
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
    fn ln_lik(&mut self, some: &[usize], fill: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
        let (numbers, x) = self.candidates(some, fill);
        let mut values = vec![0.0; some.len()];
        self.device.ln_lik_new_rows_at(&numbers, &x, &mut values);
        values.iter_mut().for_each(|value| *value = or_nothing(*value));
        values
    }

    /// Log-likelihoods of `count` candidates of each row, one list per candidate: `fill` writes the kth of row i.
    fn ln_lik_of_several(&mut self, count: usize, fill: impl Fn(usize, usize, &mut [f64]) + Sync) -> Vec<Vec<f64>> {
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
    fn local(&mut self, some: &[usize], fill: impl Fn(usize, &mut [f64]) + Sync) -> Vec<Option<Local>> {
        let (numbers, x) = self.candidates(some, &fill);
        let dim = self.dim();
        let each = dim * (dim + 3) / 2;
        let mut values = vec![0.0; some.len() * each];
        self.device.slope_new_rows_at(&numbers, &x, &mut values);
        let priors = &self.priors;
        let local = |k: usize| {
            let (gradient, pairs) = values[k * each..][..each].split_at(dim);
            let pair = |d: usize, e: usize| pairs[d.max(e) * (d.max(e) + 1) / 2 + d.min(e)];
            let slope = Slope { gradient: gradient.to_vec(), information: Mat::from_fn(dim, dim, pair) };
            let mut u = vec![0.0; dim];
            fill(k, &mut u);
            priors[some[k]].local(&u, &slope)
        };
        par::collect(0..some.len(), TOGETHER, local)
    }

    /// The proposal of each row, about the modes that its search has found.
    fn proposals(&mut self, anchors: &Anchors) -> Result<Vec<Proposal>, NumericalError> {
        let priors = self.priors.clone();
        let values = self.ln_lik_of_several(anchors.count(), |k, i, u| u.copy_from_slice(&anchors.point(k, priors[i])));
        let start = |i: usize| {
            let own: Vec<f64> = values.iter().map(|values| values[i]).collect();
            Search::new(anchors.tops(priors[i], anchors.points(priors[i]), &own))
        };
        let mut searches = par::collect(0..self.count(), TOGETHER, start);
        let mut open: Vec<usize> = (0..self.count()).collect();
        while !open.is_empty() {
            let wants = |query: Query| open.iter().copied().filter(|&i| searches[i].query() == Some(query)).collect();
            let [for_ln_lik, for_local]: [Vec<usize>; 2] = [wants(Query::LnLik), wants(Query::Local)];
            if !for_ln_lik.is_empty() {
                let values = self.ln_lik(&for_ln_lik, |k, u| u.copy_from_slice(&searches[for_ln_lik[k]].point()));
                let asked = pick(&mut searches, &for_ln_lik).into_iter().zip(values);
                asked.for_each(|(search, value)| search.take_ln_lik(value));
            }
            if !for_local.is_empty() {
                let locals = self.local(&for_local, |k, u| u.copy_from_slice(&searches[for_local[k]].point()));
                let asked = pick(&mut searches, &for_local).into_iter().zip(locals);
                par::for_each(asked, TOGETHER, |(search, local)| search.take_local(local));
            }
            open.retain(|&i| searches[i].query().is_some());
        }
        check(self.device)?;
        let dim = self.dim();
        Ok(par::collect(searches, TOGETHER, |search| Proposal::new(dim, search.found())))
    }

    /// The importance sample of each row.
    fn sampled(&mut self, proposals: &[Proposal], rngs: &mut [&mut StreamRng]) -> Result<Vec<Sampled>, NumericalError> {
        let draw = |(proposal, rng): (&Proposal, &mut &mut StreamRng)| proposal.draws(&mut **rng);
        let drawn = par::collect(proposals.iter().zip(&mut *rngs), 1, draw);
        let values = self.ln_lik_of_several(evidence::DRAWS, |k, i, u| u.copy_from_slice(&drawn[i][k]));
        check(self.device)?;
        let numbers = &self.numbers;
        let each = proposals.iter().zip(drawn).zip(rngs).enumerate();
        let each = par::collect(each, 1, |(i, ((proposal, drawn), rng))| {
            let own: Vec<f64> = values.iter().map(|values| values[i]).collect();
            proposal.choose(drawn, &own, &mut **rng).ok_or_else(|| impossible(numbers[i] as usize))
        });
        each.into_iter().collect()
    }

    /// After the slices.
    fn sliced(
        &mut self,
        mut sampled: Vec<Sampled>,
        rngs: &mut [&mut StreamRng],
    ) -> Result<Vec<Sampled>, NumericalError> {
        for _ in 0..SLICES {
            let begin = |(found, rng): (&Sampled, &mut &mut StreamRng)| {
                let auxiliary = normals(found.u.len(), &mut **rng);
                (auxiliary, Ellipse::new(&mut **rng, found.ln_lik))
            };
            let mut slices = par::collect(sampled.iter().zip(&mut *rngs), 1, begin);
            let mut open: Vec<usize> = (0..self.count()).collect();
            while !open.is_empty() {
                let values =
                    self.ln_lik(&open, |k, u| u.copy_from_slice(&candidate(&slices[open[k]], &sampled[open[k]].u)));
                let mut left = Vec::new();
                for (i, value) in open.into_iter().zip(values) {
                    let there = candidate(&slices[i], &sampled[i].u);
                    match slices[i].1.judge(&mut *rngs[i], value) {
                        None => left.push(i),
                        Some(landing) => {
                            sampled[i].ln_lik = landing.ln_lik;
                            if landing.sin != 0.0 {
                                sampled[i].u = there;
                            }
                        }
                    }
                }
                open = left;
            }
        }
        check(self.device)?;
        Ok(sampled)
    }
}

/// The candidate of a slice from u.
fn candidate((auxiliary, ellipse): &(Vec<f64>, Ellipse), u: &[f64]) -> Vec<f64> {
    let (cos, sin) = ellipse.candidate();
    u.iter().zip(auxiliary).map(|(u, nu)| cos * u + sin * nu).collect()
}

/// Some of them, by ascending numbers.
fn pick<'a, T>(all: &'a mut [T], some: &[usize]) -> Vec<&'a mut T> {
    let mut some = some.iter().peekable();
    all.iter_mut().enumerate().filter_map(|(i, one)| some.next_if(|&&number| number == i).map(|_| one)).collect()
}
