//! What the variance of each column over the rows comes from, on the scale of its link.
//!
//! f_nj = o_n + m_j(x_n) + γ_j·u_n + g_nj: the map, the covariates, and the column's own process; a family of real numbers adds noise. Offsets are
//! known, and left out. The effect of an axis is what the map is along it, averaged over where the rows are along the other axes (Friedman
//! 2001): m_jd(x_d) = (1/N) Σ_k m_j(x_d, x_k,−d). With Fourier features the average has a closed form, since sin(a + b) is sin a cos b + cos a sin b
//! with a the part of w·x along the axis. What the effects of single axes leave of the map is their interaction.
//!
//! Everything but the process is linear in the weights: the variance of Hβ_j over the rows is β_jᵀ cov(H) β_j, for features H of any of these.

use super::fitted::{Fitted, HELD};
use super::frame::Frame;
use super::link::to_link_scale;
use super::parameters::Parameters;
use super::summary::Summary;
use crate::error::RunError;
use crate::linalg::{Mat, par_mul};
use crate::model::Model;
use crate::model::features::Features;
use crate::model::plain::Plain;
use std::ops::Range;

/// Where variance comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The map: where the rows are.
    Map,
    /// An axis of the frame on its own.
    Axis(usize),
    /// What the map has besides the effects of single axes.
    Interaction,
    /// All covariates.
    Covariates,
    /// One of several covariates.
    Covariate(usize),
    /// The columns' own processes over time.
    Process,
    /// Noise, of a family that has one.
    Noise,
}

/// The variance of a column that has one source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// The source.
    pub source: Source,
    /// The column, in the model's order.
    pub column: usize,
    /// Its variance over the rows.
    pub variance: Summary,
    /// The same as a share of the variance of the column's predictor without offsets, plus noise.
    pub share: Summary,
}

impl Fitted<'_> {
    /// The variance of each column from each of its sources, source by source, from at most `most` draws. `covariates` are the columns of
    /// each covariate. Axes are those of the frame, and their effects are of the mode to which it belongs.
    pub fn effects(&self, frame: &Frame, covariates: &[Range<usize>], most: usize) -> Result<Vec<Effect>, RunError> {
        let (model, sources) = (self.model, sources(self.model, frame, covariates.len()));
        // More draws than fit in memory are thinned.
        let most = most.min(HELD / ((sources.len() + 1) * model.columns())).max(1);
        let mut draws: Vec<Vec<f64>> = Vec::new();
        let compute = |parameters: &Parameters, (chain, _): (usize, usize)| {
            let parts = Parts::of(model, parameters, self.used.contains(&chain).then_some(frame));
            let of = |source: &Source| parts.variances(*source, covariates);
            sources.iter().map(of).chain([parts.total()]).collect::<Vec<_>>().concat()
        };
        self.each_draw(&self.visited(most)?, compute, |numbers| draws.push(numbers))?;
        let (columns, total) = (model.columns(), sources.len() * model.columns());
        let mut effects = Vec::with_capacity(total);
        for (i, &source) in sources.iter().enumerate() {
            for column in (0..columns).filter(|&j| source != Source::Noise || precision(model, j).is_some()) {
                let of = |share: bool| {
                    let one =
                        |draw: &Vec<f64>| draw[i * columns + column] / if share { draw[total + column] } else { 1.0 };
                    Summary::of(draws.iter().map(one).collect())
                };
                effects.push(Effect { source, column, variance: of(false), share: of(true) });
            }
        }
        Ok(effects)
    }
}

/// The sources that a model has.
fn sources(model: &Model, frame: &Frame, covariates: usize) -> Vec<Source> {
    let mut sources = vec![Source::Map];
    sources.extend((0..frame.axes()).map(Source::Axis));
    if frame.axes() > 1 {
        sources.push(Source::Interaction);
    }
    if covariates > 0 {
        sources.push(Source::Covariates);
    }
    if covariates > 1 {
        sources.extend((0..covariates).map(Source::Covariate));
    }
    if model.column_process().is_some() {
        sources.push(Source::Process);
    }
    if (0..model.columns()).any(|j| precision(model, j).is_some()) {
        sources.push(Source::Noise);
    }
    sources
}

/// Where the precision of a column's noise is, if it has noise: block, parameter and place in the block.
fn precision(model: &Model, j: usize) -> Option<(usize, usize, usize)> {
    let block = model.blocks().iter().position(|block| block.columns.contains(&j))?;
    let own = &model.blocks()[block];
    own.family.precision().map(|parameter| (block, parameter, j - own.columns.start))
}

/// A draw, ready for questions about variance.
struct Parts<'a> {
    model: &'a Model,
    parameters: &'a Parameters,
    /// H of the rows.
    h: Mat,
    /// β on the scale of the link.
    beta: Mat,
    /// G on the scale of the link; empty without processes.
    own: Mat,
    /// The features of the effect of each axis, with zeros where H is not of the map; `None` in a mode that has none of the frame.
    along: Option<Vec<Mat>>,
}

impl<'a> Parts<'a> {
    fn of(model: &'a Model, parameters: &'a Parameters, frame: Option<&Frame>) -> Self {
        let plain = Plain::new(model.covariates().clone(), parameters.s);
        let features = Features::with(parameters.x.clone(), parameters.w.clone(), plain);
        let (mut beta, mut own) = (parameters.beta.clone(), parameters.column_process.g.clone());
        to_link_scale(model, &mut beta);
        to_link_scale(model, &mut own);
        let h = features.h().clone();
        let along = frame.map(|frame| (0..frame.axes()).map(|d| along(model, parameters, &h, (frame, d))).collect());
        Parts { model, parameters, h, beta, own, along }
    }

    /// The variance of each column from a source; NaN for axes in a mode that has none of the frame.
    fn variances(&self, source: Source, covariates: &[Range<usize>]) -> Vec<f64> {
        let first = self.model.spec().features;
        let some = |range: &Range<usize>| (first + range.start..first + range.end).collect::<Vec<_>>();
        match (source, &self.along) {
            (Source::Map, _) => self.of_columns(&self.h, &self.of_mode()),
            (Source::Covariates, _) => self.of_columns(&self.h, &some(&(0..self.model.covariates().cols()))),
            (Source::Covariate(c), _) => self.of_columns(&self.h, &some(&covariates[c])),
            (Source::Axis(d), Some(along)) => self.of_columns(&along[d], &self.of_mode()),
            (Source::Interaction, Some(along)) => {
                let mut rest = self.h.clone();
                for along in along {
                    rest.as_mut_slice().iter_mut().zip(along.as_slice()).for_each(|(rest, along)| *rest -= along);
                }
                self.of_columns(&rest, &self.of_mode())
            }
            (Source::Axis(_) | Source::Interaction, None) => vec![f64::NAN; self.model.columns()],
            (Source::Process, _) => variances(&self.own),
            (Source::Noise, _) => (0..self.model.columns()).map(|j| self.noise(j)).collect(),
        }
    }

    /// The variance of a column's noise; zero if it has none.
    fn noise(&self, j: usize) -> f64 {
        precision(self.model, j).map_or(0.0, |(block, p, j)| self.parameters.theta[block].values[(p, j)].recip())
    }

    /// The variance of f without offsets, and of the noise.
    fn total(&self) -> Vec<f64> {
        let all: Vec<usize> = (0..self.h.cols()).collect();
        let mut total = match self.own.rows() {
            0 => self.of_columns(&self.h, &all),
            _ => {
                let mut f = self.own.clone();
                par_mul(&mut f, self.h.view(), self.beta.view(), true);
                variances(&f)
            }
        };
        total.iter_mut().enumerate().for_each(|(j, total)| *total += self.noise(j));
        total
    }

    /// The columns of H that are the map.
    fn of_mode(&self) -> Vec<usize> {
        (0..self.model.spec().features).chain(self.model.linear()).collect()
    }

    /// β_jᵀ cov(H) β_j with only some of the features, for each column j.
    fn of_columns(&self, h: &Mat, some: &[usize]) -> Vec<f64> {
        let mut centred = Mat::from_fn(h.rows(), some.len(), |n, i| h[(n, some[i])]);
        let means: Vec<f64> = (0..some.len()).map(|i| centred.col(i).iter().sum::<f64>() / h.rows() as f64).collect();
        for n in 0..h.rows() {
            centred.row_mut(n).iter_mut().zip(&means).for_each(|(h, mean)| *h -= mean);
        }
        let mut covariance = Mat::zeros(some.len(), some.len());
        par_mul(&mut covariance, centred.view().transpose(), centred.view(), false);
        let beta = Mat::from_fn(some.len(), self.beta.cols(), |i, j| self.beta[(some[i], j)]);
        let mut half = Mat::zeros(some.len(), beta.cols());
        par_mul(&mut half, covariance.view(), beta.view(), false);
        let square = |j: usize| (0..some.len()).map(|i| beta[(i, j)] * half[(i, j)]).sum::<f64>();
        (0..beta.cols()).map(|j| (square(j) / h.rows() as f64).max(0.0)).collect()
    }
}

/// The features of the effect of an axis of the frame, with zeros where H is not of the map.
fn along(model: &Model, parameters: &Parameters, h: &Mat, (frame, d): (&Frame, usize)) -> Mat {
    let Parameters { x, w, s, .. } = parameters;
    let placement = frame.of(x, w);
    let places = placement.carry(x).col(d);
    let unit: Vec<f64> = (0..frame.axes()).map(|e| if e == d { 1.0 } else { 0.0 }).collect();
    let step = placement.step_back(&unit);
    let frequencies: Vec<f64> = w.iter_rows().map(|w| w.iter().zip(&step).map(|(w, step)| w * step).sum()).collect();
    let count = frequencies.len();
    // a of w·x = a + b.
    let turned: Vec<(f64, f64)> =
        places.iter().flat_map(|x| frequencies.iter().map(move |w| (w * x).sin_cos())).collect();
    // The means of sin b and cos b over the rows.
    let mut means = vec![(0.0, 0.0); count];
    for n in 0..x.rows() {
        for (l, (mean, &(sin, cos))) in means.iter_mut().zip(&turned[n * count..]).enumerate() {
            let (own_sin, own_cos) = (h[(n, l)], h[(n, count + l)]);
            mean.0 += (own_sin * cos - own_cos * sin) / x.rows() as f64;
            mean.1 += (own_cos * cos + own_sin * sin) / x.rows() as f64;
        }
    }
    let mut along = Mat::zeros(x.rows(), h.cols());
    for (n, place) in places.iter().enumerate() {
        let row = along.row_mut(n);
        for (l, (mean, &(sin, cos))) in means.iter().zip(&turned[n * count..]).enumerate() {
            (row[l], row[count + l]) = (sin * mean.1 + cos * mean.0, cos * mean.1 - sin * mean.0);
        }
        row[model.linear()].iter_mut().zip(&step).for_each(|(to, step)| *to = s * step * place);
    }
    along
}

/// The variance of each column over the rows.
fn variances(f: &Mat) -> Vec<f64> {
    (0..f.cols()).map(|j| super::spread::mean_and_sd(&f.col(j)).1.powi(2)).collect()
}

#[cfg(test)]
mod tests;
