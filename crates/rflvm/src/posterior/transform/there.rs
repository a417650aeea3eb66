//! New rows on a device, which evaluates candidates of all of them together.

use super::evidence::Sampled;
use super::new_rows::{Key, NewRows};
use super::rows::{Candidates, Rows, pick};
use super::search::{Anchors, Start};
use super::target::Prior;
use super::{Placed, prior};
use crate::device::{Device, check, totals};
use crate::dist::{ln_gamma, normals};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::Model;
use crate::model::position::Slope;
use crate::posterior::parameters::Parameters;
use crate::rng::{Stream, StreamRng};
use std::ops::Range;

/// A device with the map, the weights and the parameters of a draw.
struct OnDevice<'a>(&'a mut dyn Device);

impl Candidates for OnDevice<'_> {
    fn ln_lik(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        self.0.ln_lik_new_rows_at(rows, x, out);
    }

    fn slopes(&mut self, rows: &[u32], x: &[f64]) -> Vec<Slope> {
        let dim = x.len() / rows.len();
        let each = dim * (dim + 3) / 2;
        let mut values = vec![0.0; rows.len() * each];
        self.0.slope_new_rows_at(rows, x, &mut values);
        let slope = |values: &[f64]| {
            let (gradient, pairs) = values.split_at(dim);
            let pair = |d: usize, e: usize| pairs[d.max(e) * (d.max(e) + 1) / 2 + d.min(e)];
            Slope { gradient: gradient.to_vec(), information: Mat::from_fn(dim, dim, pair) }
        };
        values.chunks_exact(each).map(slope).collect()
    }

    fn check(&mut self) -> Result<(), NumericalError> {
        check(self.0)
    }
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
    let mut rows = Rows { candidates: OnDevice(&mut *device), numbers, priors };
    let starts = starts(&mut rows, &anchors);
    let proposals = rows.proposals(starts)?;
    let mut own: Vec<&mut StreamRng> = pick(&mut rngs, &seen);
    let sampled = rows.sampled(&proposals, &mut own)?;
    let sampled = rows.sliced(&proposals, sampled, &mut own)?;
    drop((own, rows));
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

/// Where the search of each row begins.
fn starts(rows: &mut Rows<'_, OnDevice<'_>>, anchors: &Anchors) -> Vec<Vec<Start>> {
    let priors = rows.priors.clone();
    let values = rows.ln_lik_of_several(anchors.count(), |k, i, u| u.copy_from_slice(&anchors.point(k, priors[i])));
    let of_row = |(i, &prior): (usize, &Prior<'_>)| {
        let own: Vec<f64> = values.iter().map(|values| values[i]).collect();
        let start = |k: usize| Start { u: anchors.point(k, prior), ln_lik: own[k], local: None };
        anchors.tops(prior, &own).into_iter().map(start).collect()
    };
    priors.iter().enumerate().map(of_row).collect()
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
