//! Column processes g_j and their scales s_j and ℓ_j, and the weights β_j with them: they compete for the same cells.
//!
//! Where a column's cells are Gaussian observations of f, perhaps given Pólya-gamma variables, the Kalman filter integrates g_j out in O(N):
//! s_j, ℓ_j and the noise are slices on the filter's likelihood of y − o − Hβ_j; then β_j is drawn with g_j integrated out, from H and y
//! whitened by the filter, and g_j given β_j. So s_j can vanish and come back.
//!
//! Elsewhere g_j moves by an elliptical slice, about a Gaussian approximation where the family has one, and s_j and ℓ_j by slices, in turn
//! with the noise from which g_j is made held fixed and with g_j itself held fixed.

use crate::dist::canonical::Canonical;
use crate::error::NumericalError;
use crate::linalg::gram;
use crate::model::column_process::ColumnProcessPrior;
use crate::model::family::{BlockView, Column, Family, Working};
use crate::model::{ColumnScales, Model, State};
use crate::par;
use crate::rng::{Stream, StreamRng};
use crate::simd;
use crate::slice;
use crate::table::Table;

/// Widths of the slices of ln s², ln ℓ and ln of the precision of the noise.
const WIDTHS: [f64; 3] = [2.0, 1.5, 0.5];
/// Elliptical slices of a path per sweep.
const TURNS: usize = 4;

/// A column's path and scales, and its weights and parameters.
struct Drawn {
    g: Vec<f64>,
    own: ColumnScales,
    beta: Vec<f64>,
    theta: Vec<f64>,
}

/// Redraws all column processes, and β of a fraction of the columns with them, then F. Always here, with H and F computed for it: a filter goes
/// along one column after the other, and tables in time are short.
pub fn update(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    share: f64,
    stream: Stream,
) -> Result<(), NumericalError> {
    let Some(law) = model.column_process() else { return Ok(()) };
    table.restore(model, state);
    draw(model, &law, state, share, stream)?;
    table.load(model, state);
    // The paths were drawn without what belongs to the table alone, which is drawn before anything is asked of it.
    table.redraw(stream.named("totals"));
    table.check()
}

fn draw(
    model: &Model,
    law: &ColumnProcessPrior<'_>,
    state: &mut State,
    share: f64,
    stream: Stream,
) -> Result<(), NumericalError> {
    for (b, block) in model.blocks().iter().enumerate() {
        let (first, width) = (block.columns.start, block.columns.len());
        let free: Vec<usize> = (0..width).filter(|&j| block.family.is_free(j, width)).collect();
        // Where the cells of a row depend on each other, one column after the other.
        let together = if block.family.is_whole() { 1 } else { free.len().max(1) };
        for some in free.chunks(together) {
            let scales: Vec<ColumnScales> = some.iter().map(|j| state.column_process.scales[first + j]).collect();
            let view = model.block_view(b, state, share);
            let work = some.len() * (view.gram_work() + 2_000 * model.rows());
            let drawn = par::map(some.len(), work, |i| {
                let stream = view.stream(stream.at(b as u64), some[i]);
                let column = view.column(some[i], stream);
                one(law, block.family.as_ref(), &view, column, scales[i], &mut stream.rng())
            });
            for (j, drawn) in some.iter().zip(drawn) {
                let Drawn { g, own, beta, theta } = drawn?;
                state.column_process.g.set_col(first + j, &g);
                state.column_process.scales[first + j] = own;
                state.beta.set_col(first + j, &beta);
                state.theta[b].values.set_col(*j, &theta);
            }
            if block.family.is_whole() {
                state.refresh(model);
            }
        }
        block.family.update_hyper(&mut model.block_view(b, state, share), stream.at(b as u64));
    }
    state.refresh(model);
    Ok(())
}

fn one(
    law: &ColumnProcessPrior<'_>,
    family: &dyn Family,
    block: &BlockView<'_>,
    column: Column<'_>,
    own: ColumnScales,
    rng: &mut StreamRng,
) -> Result<Drawn, NumericalError> {
    let global = block.columns.start + column.j;
    let g: Vec<f64> = (0..column.y.len()).map(|n| block.known.own(n, global)).collect();
    let scale = family.weight_precision(block.theta, column.j);
    let mut path = ColumnPath { law, family, column, g, own, scale };
    match family.working(block, &path.column, rng) {
        Some(working) => path.integrated(working, rng)?,
        None => path.sliced(rng),
    }
    let ColumnPath { column: Column { beta, theta, .. }, g, own, .. } = path;
    Ok(Drawn { g, own, beta, theta })
}

/// One column with its path.
struct ColumnPath<'a> {
    law: &'a ColumnProcessPrior<'a>,
    family: &'a dyn Family,
    column: Column<'a>,
    g: Vec<f64>,
    own: ColumnScales,
    /// λ_j: the factor of the prior precision of the weights.
    scale: f64,
}

/// The scales of a column with its path integrated out: ln p(r | s, ℓ, λ) and their priors, for r = z − o − Hβ in units of the column.
pub struct Scales<'a> {
    /// The prior of the paths.
    pub law: &'a ColumnProcessPrior<'a>,
    /// r.
    pub r: Vec<f64>,
    /// Variances of the cells' noise for λ = `precision`.
    pub variance: Vec<f64>,
    /// λ in units of the column, if the noise is learned.
    pub precision: f64,
    /// Shape and rate of λ given β: its prior, and that of the weights.
    pub noise: Option<[f64; 2]>,
}

impl Scales<'_> {
    /// The log density of ln s², ln ℓ and ln λ, up to a constant.
    pub fn ln(&self, at: [f64; 3]) -> f64 {
        self.ln_along(&self.law.path(at[1].exp()), at)
    }

    /// The same along a path of that length-scale.
    fn ln_along(&self, path: &crate::model::latent::ColumnPath<'_>, [u, v, t]: [f64; 3]) -> f64 {
        let prior = self.law.ln_share(u) + self.law.ln_length_scale(v);
        let (prior, seen) = match self.noise {
            None => (prior, path.through((0.5 * u).exp(), &self.variance)),
            Some([shape, rate]) => {
                let factor = self.precision * (-t).exp();
                let variance: Vec<f64> = self.variance.iter().map(|v| factor * v).collect();
                (prior + shape * t - rate * t.exp(), path.through((0.5 * u).exp(), &variance))
            }
        };
        prior + seen.ln_density(&self.r)
    }

    /// A slice of each in turn.
    fn slice(&self, own: &mut ColumnScales, rng: &mut StreamRng) -> f64 {
        let mut at = [own.share.ln(), own.length_scale.ln(), self.precision.ln()];
        let path = self.law.path(own.length_scale);
        let ln = |u: f64, t: f64| self.ln_along(&path, [u, at[1], t]);
        let (mut u, mut t) = (at[0], at[2]);
        let mut current = ln(u, t);
        (u, current) = slice::univariate(rng, u, current, WIDTHS[0], |u| ln(u, t));
        if self.noise.is_some() {
            (t, current) = slice::univariate(rng, t, current, WIDTHS[2], |t| ln(u, t));
        }
        let v = match self.law.kernel().has_length_scale() {
            true => slice::univariate(rng, at[1], current, WIDTHS[1], |v| self.ln([u, v, t])).0,
            false => self.law.draw(rng).length_scale.ln(),
        };
        at = [u, v, t];
        *own = ColumnScales { share: at[0].exp(), length_scale: at[1].exp() };
        at[2].exp()
    }
}

impl ColumnPath<'_> {
    /// o + Hβ.
    fn fitted(&self) -> Vec<f64> {
        let rows = self.column.h.iter_rows().zip(&self.column.offset).zip(&self.g);
        rows.map(|((h, o), g)| o - g + simd::dot(h, &self.column.beta)).collect()
    }

    fn amplitude(&self) -> f64 {
        self.own.amplitude(&self.column.unit)
    }

    /// Scales, weights and path where the cells are Gaussian observations.
    fn integrated(&mut self, mut working: Working, rng: &mut StreamRng) -> Result<(), NumericalError> {
        let unit = self.column.unit.scale;
        let noise = self.family.noise_prior(self.column.hyper, &self.column.unit).map(|prior| {
            let weights = 0.5 * self.column.beta.len() as f64;
            let rate = prior.rate + 0.5 * self.column.weighted_square();
            [prior.shape + weights, rate / unit.powi(2)]
        });
        let fitted = self.fitted();
        let scales = Scales {
            law: self.law,
            r: working.response.iter().zip(&fitted).map(|(z, f)| (z - f) / unit).collect(),
            variance: working.variance.iter().map(|v| v / unit.powi(2)).collect(),
            precision: if noise.is_some() { self.column.theta[0] * unit.powi(2) } else { 1.0 },
            noise,
        };
        let precision = scales.slice(&mut self.own, rng);
        if noise.is_some() {
            let factor = scales.precision / precision;
            working.variance.iter_mut().for_each(|v| *v *= factor);
            self.column.theta[0] = precision / unit.powi(2);
            self.scale = self.column.theta[0];
        }
        let path = self.law.path(self.own.length_scale);
        let seen = path.through(self.amplitude(), &working.variance);
        if self.column.is_due || noise.is_some() {
            let known = self.column.offset.iter().zip(&self.g).map(|(o, g)| o - g);
            let r: Vec<f64> = working.response.iter().zip(known).map(|(z, o)| z - o).collect();
            let law =
                weights_without_path(&self.column, self.scale, &seen.whiten_rows(self.column.h), &seen.whiten(&r))?;
            self.column.beta = law.draw(rng);
        }
        let r: Vec<f64> = working.response.iter().zip(self.fitted()).map(|(z, f)| z - f).collect();
        self.g = seen.draw(&r, rng);
        Ok(())
    }

    /// ln p(y_j | o + Hβ + g) for another path.
    fn ln_lik(&self, fitted: &[f64], g: &[f64]) -> f64 {
        let f: Vec<f64> = fitted.iter().zip(g).map(|(f, g)| f + g).collect();
        self.family.ln_lik_column(&self.column, &f).unwrap_or(f64::NEG_INFINITY)
    }

    /// Path and scales where the cells are not Gaussian observations.
    fn sliced(&mut self, rng: &mut StreamRng) {
        let fitted = self.fitted();
        self.turn(&fitted, rng);
        let mut own = self.own;
        // With the noise held from which the path is made.
        let u = own.share.ln();
        let grown = |v: f64| -> Vec<f64> { self.g.iter().map(|g| g * (0.5 * (v - u)).exp()).collect() };
        let ln = |v: f64| self.ln_lik(&fitted, &grown(v)) + self.law.ln_share(v);
        let v = slice::univariate(rng, u, ln(u), WIDTHS[0], ln).0;
        (own.share, self.g) = (v.exp(), grown(v));
        let amplitude = own.amplitude(&self.column.unit);
        let noise = self.law.path(own.length_scale).whiten(amplitude, &self.g);
        let made = |v: f64| self.law.path(v.exp()).colour(amplitude, &noise);
        let ln = |v: f64| self.ln_lik(&fitted, &made(v)) + self.law.ln_length_scale(v);
        let v = own.length_scale.ln();
        let v = slice::univariate(rng, v, ln(v), WIDTHS[1], ln).0;
        (own.length_scale, self.g) = (v.exp(), made(v));
        // With the path held.
        let ln = |v: f64| self.law.path(v.exp()).ln_density(amplitude, &self.g) + self.law.ln_length_scale(v);
        let v = own.length_scale.ln();
        own.length_scale = slice::univariate(rng, v, ln(v), WIDTHS[1], ln).0.exp();
        let path = self.law.path(own.length_scale);
        let square: f64 = path.whiten(self.column.unit.scale, &self.g).iter().map(|u| u * u).sum();
        let ln = |u: f64| self.law.ln_share(u) - 0.5 * (self.g.len() as f64 * u + (-u).exp() * square);
        let u = own.share.ln();
        own.share = slice::univariate(rng, u, ln(u), WIDTHS[0], ln).0.exp();
        self.own = own;
    }

    /// Elliptical slices of the path: about its prior, or about its Gaussian approximation q(g) ∝ p(g) N(z | f, V), with
    /// likelihood / N(z | f, V) as the slice's target.
    fn turn(&mut self, fitted: &[f64], rng: &mut StreamRng) {
        let (path, amplitude) = (self.law.path(self.own.length_scale), self.amplitude());
        let near = self.family.approximate(&self.column);
        let about = near.as_ref().map(|near| {
            let r: Vec<f64> = near.response.iter().zip(fitted).map(|(z, f)| z - f).collect();
            let seen = path.through(amplitude, &near.variance);
            (seen.expected(&r), r, &near.variance)
        });
        let centre = about.as_ref().map_or_else(|| vec![0.0; self.g.len()], |(mean, ..)| mean.clone());
        let price = |g: &[f64]| {
            let ln_near = about.as_ref().map_or(0.0, |(_, r, variance)| {
                let cells = r.iter().zip(g).zip(*variance).filter(|(_, v)| v.is_finite());
                cells.map(|((r, g), v)| -0.5 * (r - g).powi(2) / v).sum::<f64>()
            });
            self.ln_lik(fitted, g) - ln_near
        };
        let mut g = self.g.clone();
        for _ in 0..TURNS {
            let auxiliary: Vec<f64> = match &about {
                None => path.draw(amplitude, rng),
                Some((mean, r, variance)) => {
                    let drawn = path.through(amplitude, variance).draw(r, rng);
                    drawn.iter().zip(mean).map(|(g, m)| g - m).collect()
                }
            };
            let turned = |cos: f64, sin: f64| -> Vec<f64> {
                let cells = g.iter().zip(&centre).zip(&auxiliary);
                cells.map(|((g, c), a)| c + cos * (g - c) + sin * a).collect()
            };
            let landing = slice::elliptical(rng, price(&g), |cos, sin| price(&turned(cos, sin)));
            g = turned(landing.cos, landing.sin);
        }
        self.g = g;
    }
}

/// The conditional of β_j with the path integrated out, from H and z − o whitened by the filter: β_j has prior precision λ S0⁻¹.
pub fn weights_without_path(
    column: &Column<'_>,
    scale: f64,
    h: &crate::linalg::Mat,
    response: &[f64],
) -> Result<Canonical, NumericalError> {
    let prior: Vec<f64> = column.precision.iter().map(|p| scale * p).collect();
    let mut shift: Vec<f64> = column.prior_shift().iter().map(|s| scale * s).collect();
    simd::vecmat(response, h.as_slice(), &mut shift);
    Canonical::new(gram(h, None, &prior), shift, 1.0, "weights")
}
