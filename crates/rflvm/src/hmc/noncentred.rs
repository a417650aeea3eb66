//! The joint gradient move on (X, W, β), in nearly independent coordinates.
//!
//! Given X and W the data determine F = Hβ closely, so β follows every move of X and W along a narrow ridge, and a trajectory in
//! (X, W, β) would need steps as small as the ridge is narrow. So β is written as the response of a Gaussian `Reference` of the
//! likelihood (responses Z, precisions a_n b_j) to noise that is independent of X and W:
//!
//! ```text
//! β_j = M_j + s_j A⁻¹u_j,   u_j = √ρ (√a H)ᵀζ_j + √D ξ_j,   M_j = b_0 + A⁻¹ρ Hᵀa(Z_j − centre_j),   A = ρ HᵀaH + D,
//! ```
//!
//! s_j² the prior variance of β_j, ρ = b_j s_j² (columns of similar ρ share one A), D the identity except for the intercept. With ζ and ξ
//! standard normal, β_j is N(M_j, s_j²A⁻¹), the reference's posterior q(β | X, W). So the density
//! N(ζ, ξ) p(X, W, β | Y) / q(β | X, W) has the right marginal for any reference; and since ζ is noise in the space of
//! rows rather than of weights, F keeps its noise when X and W move: coefficients rotate, functions stay.

use super::frequencies::FrequencyPrior;
use super::gradient::{ln_priors, weight_precisions};
use super::groups::{Group, group};
use super::hamiltonian::{Potential, half_square, turn};
use super::reference::Reference;
use super::rows::Rows;
use super::workspace::Workspace;
use crate::dist::fill_normals;
use crate::linalg::{Cholesky, Mat, View, par_mul, par_mul_each};
use crate::model::family::Theta;
use crate::model::latent::Paths;
use crate::model::{Model, State};
use crate::par;
use crate::rng::Stream;
use crate::simd::dot;
use rand::{Rng, RngExt};
use rayon::prelude::*;
use std::ops::Range;

/// What of the coordinates does not change along a trajectory.
pub(super) struct Coordinates {
    pub order: Vec<usize>,
    pub groups: Vec<Group>,
    pub scale: Vec<f64>,
    pub right: Mat,
    pub intercept: f64,
    pub precision: [Vec<f64>; 2],
}

impl Coordinates {
    /// Given θ and τ².
    pub fn new(model: &Model, theta: &[Theta], tau2: &[f64], reference: &Reference) -> Self {
        let precision = weight_precisions(model, theta, tau2);
        let rho: Vec<f64> = reference.column.iter().zip(&precision[0]).map(|(b, p)| b / p).collect();
        let (mut order, fixed): (Vec<usize>, Vec<usize>) = (0..model.columns()).partition(|&c| model.is_free(c));
        order.sort_by(|&a, &b| rho[a].total_cmp(&rho[b]));
        let groups = group(&order, &rho);
        order.extend(fixed);
        Coordinates {
            scale: order.iter().map(|&c| precision[0][c].sqrt().recip()).collect(),
            right: Mat::from_fn(reference.right.rows(), model.columns(), |r, k| reference.right[(r, order[k])]),
            intercept: 1.0 / model.spec().priors.intercept,
            order,
            groups,
            precision,
        }
    }
}

/// What [`Potential::evaluate`] needs: see the top of this file. q holds X and W; ζ (N×J), which `rows` hold, and ξ (one row per column of
/// H) rotate.
pub(crate) struct Noncentred<'a, R> {
    model: &'a Model,
    frequencies: FrequencyPrior<'a>,
    paths: Option<&'a Paths<'a>>,
    /// Column of the model at each position in ζ; those without their own weights come last.
    order: Vec<usize>,
    groups: Vec<Group>,
    /// s_j at each position in ζ.
    scale: Vec<f64>,
    /// The right factor of Z at each position in ζ.
    right: Mat,
    /// D of the intercept.
    intercept: f64,
    /// Prior precisions of the weights and the intercept of each column.
    precision: [Vec<f64>; 2],
    x: Mat,
    w: Mat,
    rows: R,
    room: Workspace,
}

impl<'a, R: Rows> Noncentred<'a, R> {
    /// Given θ, τ² and the prior of W, with rows that know θ and the reference too, in borrowed memory.
    pub fn new(
        model: &'a Model,
        (theta, tau2): (&'a [Theta], &'a [f64]),
        frequencies: FrequencyPrior<'a>,
        paths: Option<&'a Paths<'a>>,
        reference: &'a Reference,
        rows: R,
        mut room: Workspace,
    ) -> Self {
        let (n, j, l, d) = (model.rows(), model.columns(), model.frequencies(), model.latent_dim());
        let (m, rank) = (model.width(), reference.right.rows());
        let Coordinates { order, groups, scale, right, intercept, precision } =
            Coordinates::new(model, theta, tau2, reference);
        let Workspace { xi, xi_momenta, beta, dbeta, du, response, u, .. } = &mut room;
        [xi, xi_momenta, beta, dbeta, du, response, u].into_iter().for_each(|weights| weights.fit(m, j));
        room.left.fit(m, rank);
        room.ds.fit(m, m);
        // Fixed weights are never written.
        room.beta.as_mut_slice().fill(0.0);
        Noncentred {
            scale,
            right,
            intercept,
            precision,
            x: Mat::zeros(n, d),
            w: Mat::zeros(l, d),
            rows,
            room,
            order,
            groups,
            model,
            frequencies,
            paths,
        }
    }

    /// √aH, A⁻¹ and Hᵀa(Z − centre) at X and W; returns whether A is invertible.
    fn settle(&mut self, x: &[f64], w: &[f64]) -> bool {
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        let m = self.model.width();
        let s = self.rows.settle(&self.x, &self.w, &mut self.room.left);
        let mut diagonal = vec![1.0; m];
        diagonal[m - 1] = self.intercept;
        let factors: Vec<Option<(Mat, f64)>> = self
            .groups
            .par_iter()
            .map(|group| {
                let cholesky = Cholesky::new(s.scaled_plus(group.rho, &diagonal), "gradient").ok()?;
                Some((cholesky.inverse(), cholesky.ln_det()))
            })
            .collect();
        for (group, factor) in self.groups.iter_mut().zip(factors) {
            let Some((p, ln_det)) = factor else { return false };
            (group.p, group.ln_det) = (p, ln_det);
        }
        true
    }

    /// β at X, W and the noise, and A⁻¹u where ∂u will be; X and W must have been set before.
    fn colour(&mut self) {
        let (m, columns, units) = (self.model.width(), self.order.len(), self.model.units());
        let Noncentred { groups, order, scale, intercept, .. } = self;
        let Workspace { left, response, u, xi, dbeta: mean, du: t, beta, .. } = &mut self.room;
        par_mul(response, left.view(), self.right.view(), false);
        self.rows.response(u);
        let tables = [response.as_mut_slice(), u.as_mut_slice()].map(|values| (values, columns));
        par::rows(tables, 2 * columns, |first, [response, u]| {
            let rows = response.chunks_exact_mut(columns).zip(u.chunks_exact_mut(columns));
            for (r, (response, u)) in (first..).zip(rows) {
                let d = if r + 1 == m { intercept.sqrt() } else { 1.0 };
                for Group { columns, rho, .. } in groups.iter() {
                    response[columns.clone()].iter_mut().for_each(|c| *c *= rho);
                    let own = u[columns.clone()].iter_mut().zip(&xi.row(r)[columns.clone()]);
                    own.for_each(|(u, xi)| *u = rho.sqrt() * *u + d * xi);
                }
            }
            0.0
        });
        let parts: Vec<(Range<usize>, View<'_>)> = groups.iter().map(|g| (g.columns.clone(), g.p.view())).collect();
        par_mul_each(mean, &parts, response.view());
        par_mul_each(t, &parts, u.view());
        for Group { columns, half_square, .. } in groups.iter_mut() {
            let of_row = |r: usize| 0.5 * dot(&u.row(r)[columns.clone()], &t.row(r)[columns.clone()]);
            *half_square = par::sum(m, columns.len(), |rows| rows.map(of_row).sum());
        }
        let free = free(groups);
        par::rows([(beta.as_mut_slice(), columns)], 4 * columns, |first, [beta]| {
            for (r, beta) in (first..).zip(beta.chunks_exact_mut(columns)) {
                let centre = |c: usize| if r + 1 == m { units[c].centre } else { 0.0 };
                let places = order[..free].iter().zip(mean.row(r)).zip(t.row(r)).zip(&scale[..]);
                places.for_each(|(((&c, mean), t), scale)| beta[c] = centre(c) + mean + scale * t);
            }
            0.0
        });
    }

    /// q of a state, and the noise. β determines as many directions of the noise as it has; the others are redrawn.
    pub fn gather<G: Rng + ?Sized>(&mut self, state: &State, rng: &mut G) -> Vec<f64> {
        let (x, w) = (state.features.x().as_slice(), state.features.w().as_slice());
        self.rows.draw_noise(Stream::new(rng.random()));
        fill_normals(self.room.xi.as_mut_slice(), Stream::new(rng.random()));
        let q = [x, w].concat();
        if !self.settle(x, w) {
            // The trajectory will find the same, and is rejected.
            return q;
        }
        self.colour();
        // With T = [√ρ(√aH)ᵀ, √D] and TTᵀ = A: noise + Tᵀδ, δ = (β − β(noise))/s, has T(noise + Tᵀδ) = A(β − M)/s.
        let (m, columns) = (self.model.width(), self.order.len());
        let Noncentred { groups, order, scale, intercept, .. } = self;
        let Workspace { dbeta: delta, xi, beta, .. } = &mut self.room;
        let tables = [delta.as_mut_slice(), xi.as_mut_slice()].map(|values| (values, columns));
        par::rows(tables, 4 * columns, |first, [delta, xi]| {
            let rows = delta.chunks_exact_mut(columns).zip(xi.chunks_exact_mut(columns));
            for (r, (delta, xi)) in (first..).zip(rows) {
                let d = if r + 1 == m { intercept.sqrt() } else { 1.0 };
                delta.fill(0.0);
                for Group { columns, rho, .. } in groups.iter() {
                    for place in columns.clone() {
                        let c = order[place];
                        let away = (state.beta[(r, c)] - beta[(r, c)]) / scale[place];
                        xi[place] += d * away;
                        delta[place] = rho.sqrt() * away;
                    }
                }
            }
            0.0
        });
        self.rows.shift(delta);
        q
    }

    /// β at the last evaluation, and the borrowed memory.
    pub fn finish(self) -> (Workspace, R) {
        (self.room, self.rows)
    }

    /// ln p(β); adds its gradient to ∂β.
    fn pull(&mut self) -> f64 {
        let (m, columns, units) = (self.model.width(), self.order.len(), self.model.units());
        let Workspace { dbeta, beta, .. } = &mut self.room;
        par::rows([(dbeta.as_mut_slice(), columns)], 2 * columns, |first, [dbeta]| {
            let mut ln_density = 0.0;
            for (r, dbeta) in (first..).zip(dbeta.chunks_exact_mut(columns)) {
                let last = r + 1 == m;
                let cells = dbeta.iter_mut().zip(beta.row(r)).zip(&self.precision[usize::from(last)]);
                for (c, ((d, beta), precision)) in cells.enumerate() {
                    let from = beta - if last { units[c].centre } else { 0.0 };
                    *d -= precision * from;
                    ln_density -= 0.5 * precision * from * from;
                }
            }
            ln_density
        })
    }

    /// −ln q(β | X, W) besides the noise's own density, −½ ln|A| + ½uᵀA⁻¹u per column; propagates ∂β to (√aH)ᵀζ, to Hᵀa(Z − centre) and to HᵀaH:
    /// with V = A⁻¹∂β and t = A⁻¹u, ∂u = sV + t and ∂A = −V(β − b_0)ᵀ − ½ttᵀ − ½kA⁻¹ (to be symmetrised).
    fn answer(&mut self) -> f64 {
        let (m, columns, units) = (self.model.width(), self.order.len(), self.model.units());
        let Noncentred { groups, order, scale, .. } = self;
        let Workspace { response: from, u: own, dbeta, beta, du, ds, left, .. } = &mut self.room;
        let free = free(groups);
        let tables = [from.as_mut_slice(), own.as_mut_slice()].map(|values| (values, columns));
        par::rows(tables, 4 * columns, |first, [from, own]| {
            let rows = from.chunks_exact_mut(columns).zip(own.chunks_exact_mut(columns));
            for (r, (from, own)) in (first..).zip(rows) {
                let centre = |c: usize| if r + 1 == m { units[c].centre } else { 0.0 };
                for ((from, own), &c) in from.iter_mut().zip(own).zip(&order[..free]) {
                    *from = dbeta[(r, c)];
                    *own = beta[(r, c)] - centre(c);
                }
            }
            0.0
        });
        let parts: Vec<(Range<usize>, View<'_>)> = groups.iter().map(|g| (g.columns.clone(), g.p.view())).collect();
        // V takes the place of ∂β, and ½t that of its copy.
        let v = dbeta;
        par_mul_each(v, &parts, from.view());
        par::rows([(from.as_mut_slice(), columns)], columns, |first, [half]| {
            let rows = (first..).zip(half.chunks_exact_mut(columns));
            rows.for_each(|(r, half)| half.iter_mut().zip(du.row(r)).for_each(|(half, t)| *half = 0.5 * t));
            0.0
        });
        groups.par_iter_mut().for_each(|Group { columns, p, da, .. }| {
            let k = columns.len();
            da.clone_from(p);
            da.as_mut_slice().iter_mut().for_each(|p| *p *= 0.5 * k as f64);
            let [v, own, half, t] = [&*v, own, from, du].map(|table| table.view().subcols(columns.start, k));
            par_mul(da, v, own.transpose(), true);
            par_mul(da, half, t.transpose(), true);
        });
        ds.as_mut_slice().fill(0.0);
        for Group { rho, da, .. } in groups.iter() {
            for r in 0..m {
                for c in 0..m {
                    ds[(r, c)] -= rho * (da[(r, c)] + da[(c, r)]);
                }
            }
        }
        let tables = [du.as_mut_slice(), v.as_mut_slice()].map(|values| (values, columns));
        par::rows(tables, 2 * columns, |_, [du, v]| {
            for (du, v) in du.chunks_exact_mut(columns).zip(v.chunks_exact_mut(columns)) {
                for Group { columns, rho, .. } in groups.iter() {
                    let cells =
                        du[columns.clone()].iter_mut().zip(&mut v[columns.clone()]).zip(&scale[columns.clone()]);
                    for ((du, v), scale) in cells {
                        *du = rho.sqrt() * (scale * *v + *du);
                        *v *= rho;
                    }
                }
                // Positions without their own weights have no response.
                du[free..].fill(0.0);
            }
            0.0
        });
        par_mul(left, v.view().subcols(0, free), self.right.view().subcols(0, free).transpose(), false);
        groups.iter().map(|group| group.half_square - 0.5 * group.columns.len() as f64 * group.ln_det).sum()
    }
}

/// Number of columns with their own weights.
fn free(groups: &[Group]) -> usize {
    groups.last().map_or(0, |group| group.columns.end)
}

impl<R: Rows> Potential for Noncentred<'_, R> {
    fn draw_momenta(&mut self, mut next: impl FnMut() -> Stream) {
        self.rows.draw_momenta(next());
        fill_normals(self.room.xi_momenta.as_mut_slice(), next());
    }

    fn turn(&mut self, sin: f64, cos: f64) {
        self.rows.turn(sin, cos);
        turn(sin, cos, self.room.xi.as_mut_slice(), self.room.xi_momenta.as_mut_slice());
    }

    fn turning_energy(&mut self) -> f64 {
        self.rows.energy() + (half_square(self.room.xi.as_slice()) + half_square(self.room.xi_momenta.as_slice()))
    }

    fn evaluate(&mut self, q: &[f64], gradient: &mut [f64]) -> f64 {
        let (x, w) = q.split_at(self.x.as_slice().len());
        // A candidate for which A has no Cholesky factor is rejected; it is not an error.
        if !self.settle(x, w) {
            return f64::NAN;
        }
        self.colour();
        let (gx, gw) = gradient.split_at_mut(x.len());
        let mut ln_density = ln_priors(&self.x, &self.w, &self.frequencies, self.paths, gx, gw);
        let Workspace { beta, dbeta, .. } = &mut self.room;
        ln_density += self.rows.likelihood(beta, dbeta, (gx, gw));
        ln_density += self.pull();
        ln_density += self.answer();
        let Workspace { du, ds, left, .. } = &self.room;
        self.rows.carry(du, ds, left, (gx, gw));
        ln_density
    }

    /// ∂ζ = (√aH)∂u and ∂ξ = √D ∂u/√ρ, where ∂u times √ρ is what is stored.
    fn kick(&mut self, step: f64) {
        let (m, columns) = (self.model.width(), self.order.len());
        let Noncentred { groups, intercept, .. } = self;
        let Workspace { du, xi_momenta, .. } = &mut self.room;
        let tables = [du.as_mut_slice(), xi_momenta.as_mut_slice()].map(|values| (values, columns));
        par::rows(tables, 2 * columns, |first, [du, momenta]| {
            let rows = du.chunks_exact_mut(columns).zip(momenta.chunks_exact_mut(columns));
            for (r, (du, momenta)) in (first..).zip(rows) {
                du.iter_mut().for_each(|du| *du *= step);
                let d = if r + 1 == m { intercept.sqrt() } else { 1.0 };
                for Group { columns, rho, .. } in groups.iter() {
                    let factor = d / rho.sqrt();
                    let own = momenta[columns.clone()].iter_mut().zip(&du[columns.clone()]);
                    own.for_each(|(p, du)| *p += factor * du);
                }
            }
            0.0
        });
        self.rows.kick(du);
    }
}

#[cfg(test)]
mod tests;
