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

use super::gradient::{ln_priors, weight_precisions};
use super::groups::{Group, group, pieces};
use super::hamiltonian::{Potential, Turning};
use super::reference::Reference;
use super::slope::{At, resized};
use super::workspace::Workspace;
use crate::dist::normal;
use crate::linalg::{Cholesky, Mat, View, gram, par_mul, par_mul_into};
use crate::model::family::Theta;
use crate::model::features::fill_weighted;
use crate::model::latent::Paths;
use crate::model::spectral::Spectral;
use crate::model::{Lent, Model, State};
use crate::simd::dot;
use rand::Rng;
use rayon::prelude::*;

/// What [`Potential::evaluate`] needs: see the top of this file. q holds X and W; ζ (N×J) and ξ ((M+1)×J) rotate. ζ uses the
/// memory of F, and √a H that of H: neither is needed during a trajectory.
pub(super) struct Noncentred<'a> {
    model: &'a Model,
    theta: &'a [Theta],
    spectral: &'a Spectral,
    paths: Option<&'a Paths<'a>>,
    reference: &'a Reference,
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
    /// √a H.
    h: Mat,
    zeta: Mat,
    room: Workspace,
}

impl<'a> Noncentred<'a> {
    /// Given θ, τ² and the clusters, in borrowed memory.
    pub fn new(
        model: &'a Model,
        (theta, tau2): (&'a [Theta], &'a [f64]),
        spectral: &'a Spectral,
        paths: Option<&'a Paths<'a>>,
        reference: &'a Reference,
        lent: Lent,
        mut room: Workspace,
    ) -> Self {
        let (n, j, l, d) = (model.rows(), model.columns(), model.frequencies(), model.latent_dim());
        let (m, rank) = (2 * l + 1, reference.right.rows());
        let precision = weight_precisions(model, theta, tau2);
        let rho: Vec<f64> = reference.column.iter().zip(&precision[0]).map(|(b, p)| b / p).collect();
        let (mut order, fixed): (Vec<usize>, Vec<usize>) = (0..j).partition(|&c| model.is_free(c));
        order.sort_by(|&a, &b| rho[a].total_cmp(&rho[b]));
        let groups = group(&order, &rho);
        order.extend(fixed);
        room.table.fit(n, j);
        for weights in [&mut room.xi, &mut room.xi_momenta, &mut room.beta, &mut room.dbeta, &mut room.du] {
            weights.fit(m, j);
        }
        room.left.fit(m, rank);
        room.ds.fit(m, m);
        // Fixed weights are never written.
        room.beta.as_mut_slice().fill(0.0);
        Noncentred {
            scale: order.iter().map(|&c| precision[0][c].sqrt().recip()).collect(),
            right: Mat::from_fn(rank, j, |r, k| reference.right[(r, order[k])]),
            intercept: 1.0 / model.spec().priors.intercept,
            precision,
            x: Mat::zeros(n, d),
            w: Mat::zeros(l, d),
            h: lent.h,
            zeta: lent.f,
            room,
            order,
            groups,
            model,
            theta,
            spectral,
            paths,
            reference,
        }
    }

    /// √aH, A⁻¹ and Hᵀa(Z − centre) at X and W; returns whether A is invertible.
    fn settle(&mut self, x: &[f64], w: &[f64]) -> bool {
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        fill_weighted(&self.x, &self.w, &self.reference.root, &mut self.h);
        let m = self.h.cols();
        let s = gram(&self.h, None, &vec![0.0; m]);
        par_mul(&mut self.room.left, self.h.view().transpose(), self.reference.left.view(), false);
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
        let (m, units) = (self.h.cols(), self.model.units());
        for i in 0..self.groups.len() {
            let (rho, root) = (self.groups[i].rho, self.groups[i].rho.sqrt());
            let mut half_square = 0.0;
            for columns in pieces(&self.groups[i].columns) {
                let k = columns.len();
                let [mean, u, solved_mean, t] = self.room.pieces.each_mut().map(|piece| resized(piece, m * k));
                par_mul_into(mean, self.room.left.view(), self.right.view().subcols(columns.start, k), false);
                mean.iter_mut().for_each(|c| *c *= rho);
                let order = &self.order[columns.clone()];
                par_mul_into(u, self.h.view().transpose(), self.zeta.view().subcols(columns.start, k), false);
                for (r, u) in u.chunks_exact_mut(k).enumerate() {
                    let d = if r + 1 == m { self.intercept.sqrt() } else { 1.0 };
                    let xi = &self.room.xi.row(r)[columns.clone()];
                    u.iter_mut().zip(xi).for_each(|(u, xi)| *u = root * *u + d * xi);
                }
                let view = |piece| View::new(piece, m, k, k);
                par_mul_into(solved_mean, self.groups[i].p.view(), view(mean), false);
                par_mul_into(t, self.groups[i].p.view(), view(u), false);
                half_square += 0.5 * dot(u, t);
                for (r, (mean, t)) in solved_mean.chunks_exact(k).zip(t.chunks_exact(k)).enumerate() {
                    self.room.du.row_mut(r)[columns.clone()].copy_from_slice(t);
                    let (to, scale) = (self.room.beta.row_mut(r), &self.scale[columns.clone()]);
                    for (i, (mean, t)) in mean.iter().zip(t).enumerate() {
                        let centre = if r + 1 == m { units[order[i]].centre } else { 0.0 };
                        to[order[i]] = centre + mean + scale[i] * t;
                    }
                }
            }
            self.groups[i].half_square = half_square;
        }
    }

    /// q of a state, and the noise. β determines as many directions of the noise as it has; the others are redrawn.
    pub fn gather<R: Rng + ?Sized>(&mut self, state: &State, rng: &mut R) -> Vec<f64> {
        let (x, w) = (state.features.x().as_slice(), state.features.w().as_slice());
        let noise = self.zeta.as_mut_slice().iter_mut().chain(self.room.xi.as_mut_slice());
        noise.for_each(|noise| *noise = normal(rng));
        let q = [x, w].concat();
        if !self.settle(x, w) {
            // The trajectory will find the same, and is rejected.
            return q;
        }
        self.colour();
        // With T = [√ρ(√aH)ᵀ, √D] and TTᵀ = A: noise + Tᵀδ, δ = (β − β(noise))/s, has T(noise + Tᵀδ) = A(β − M)/s.
        let delta = &mut self.room.dbeta;
        delta.as_mut_slice().fill(0.0);
        for r in 0..self.h.cols() {
            let d = if r + 1 == self.h.cols() { self.intercept.sqrt() } else { 1.0 };
            for group in &self.groups {
                for place in group.columns.clone() {
                    let c = self.order[place];
                    let away = (state.beta[(r, c)] - self.room.beta[(r, c)]) / self.scale[place];
                    self.room.xi[(r, place)] += d * away;
                    delta[(r, place)] = group.rho.sqrt() * away;
                }
            }
        }
        par_mul(&mut self.zeta, self.h.view(), delta.view(), true);
        q
    }

    /// β at the last evaluation, and the borrowed memory.
    pub fn finish(self) -> (Workspace, Lent) {
        (self.room, Lent { h: self.h, f: self.zeta })
    }

    /// ln p(β); adds its gradient to ∂β.
    fn pull(&mut self) -> f64 {
        let m = self.h.cols();
        let mut ln_density = 0.0;
        for r in 0..m {
            let last = r + 1 == m;
            let beta = self.room.beta.row(r);
            let cells = self.room.dbeta.row_mut(r).iter_mut().zip(beta).zip(&self.precision[usize::from(last)]);
            for (c, ((d, beta), precision)) in cells.enumerate() {
                let from = beta - if last { self.model.units()[c].centre } else { 0.0 };
                *d -= precision * from;
                ln_density -= 0.5 * precision * from * from;
            }
        }
        ln_density
    }

    /// −ln q(β | X, W) besides the noise's own density, −½ ln|A| + ½uᵀA⁻¹u per column; propagates ∂β to (√aH)ᵀζ, to Hᵀa(Z − centre) and to HᵀaH:
    /// with V = A⁻¹∂β and t = A⁻¹u, ∂u = sV + t and ∂A = −V(β − b_0)ᵀ − ½ttᵀ − ½kA⁻¹ (to be symmetrised).
    fn answer(&mut self) -> f64 {
        let (m, room) = (self.h.cols(), &mut self.room);
        room.left.as_mut_slice().fill(0.0);
        room.ds.as_mut_slice().fill(0.0);
        let mut ln_density = 0.0;
        for Group { columns, rho, p, ln_det, half_square } in &self.groups {
            ln_density += half_square - 0.5 * columns.len() as f64 * ln_det;
            room.da.clone_from(p);
            room.da.as_mut_slice().iter_mut().for_each(|p| *p *= 0.5 * columns.len() as f64);
            for columns in pieces(columns) {
                let k = columns.len();
                let (order, scale) = (&self.order[columns.clone()], &self.scale[columns.clone()]);
                let [from, v, own, _] = room.pieces.each_mut().map(|piece| resized(piece, m * k));
                for (r, (from, own)) in from.chunks_exact_mut(k).zip(own.chunks_exact_mut(k)).enumerate() {
                    from.iter_mut().zip(order).for_each(|(to, &c)| *to = room.dbeta[(r, c)]);
                    let centre = |c: usize| if r + 1 == m { self.model.units()[c].centre } else { 0.0 };
                    own.iter_mut().zip(order).for_each(|(to, &c)| *to = room.beta[(r, c)] - centre(c));
                }
                par_mul_into(v, p.view(), View::new(from, m, k, k), false);
                par_mul_into(room.da.as_mut_slice(), View::new(v, m, k, k), View::new(own, m, k, k).transpose(), true);
                for (r, half) in from.chunks_exact_mut(k).enumerate() {
                    half.iter_mut().zip(&room.du.row(r)[columns.clone()]).for_each(|(half, t)| *half = 0.5 * t);
                }
                let t = room.du.view().subcols(columns.start, k).transpose();
                par_mul_into(room.da.as_mut_slice(), View::new(from, m, k, k), t, true);
                for (r, v) in v.chunks_exact_mut(k).enumerate() {
                    let du = &mut room.du.row_mut(r)[columns.clone()];
                    for ((du, v), scale) in du.iter_mut().zip(v).zip(scale) {
                        *du = rho.sqrt() * (scale * *v + *du);
                        *v *= rho;
                    }
                }
                let right = self.right.view().subcols(columns.start, k).transpose();
                par_mul_into(room.left.as_mut_slice(), View::new(v, m, k, k), right, true);
            }
            for r in 0..m {
                for c in 0..m {
                    room.ds[(r, c)] -= rho * (room.da[(r, c)] + room.da[(c, r)]);
                }
            }
        }
        // Positions without their own weights have no response.
        let free = self.groups.last().map_or(0, |group| group.columns.end);
        (0..m).for_each(|r| room.du.row_mut(r)[free..].fill(0.0));
        ln_density
    }
}

impl Potential for Noncentred<'_> {
    fn turning(&mut self) -> Vec<Turning<'_>> {
        let Workspace { table, xi, xi_momenta, .. } = &mut self.room;
        let [zeta, zeta_momenta, xi, xi_momenta] = [&mut self.zeta, table, xi, xi_momenta].map(Mat::as_mut_slice);
        vec![(zeta, zeta_momenta), (xi, xi_momenta)]
    }

    fn evaluate(&mut self, q: &[f64], gradient: &mut [f64]) -> f64 {
        let (x, w) = q.split_at(self.x.as_slice().len());
        // A candidate for which A has no Cholesky factor is rejected; it is not an error.
        if !self.settle(x, w) {
            return f64::NAN;
        }
        self.colour();
        let (gx, gw) = gradient.split_at_mut(x.len());
        let mut ln_density = ln_priors(&self.x, &self.w, self.spectral, self.paths, gx, gw);
        let at = At { x: &self.x, w: &self.w, h: &self.h, roots: &self.reference.root };
        let Workspace { slope, beta, dbeta, .. } = &mut self.room;
        ln_density += slope.likelihood(self.model, self.theta, at, beta.view(), dbeta.as_mut_slice(), (gx, gw));
        ln_density += self.pull();
        ln_density += self.answer();
        let Workspace { slope, du, ds, left, .. } = &mut self.room;
        let at = At { x: &self.x, w: &self.w, h: &self.h, roots: &self.reference.root };
        slope.carry(at, self.order.len(), (gx, gw), |rows, dh| {
            let tables = [&self.zeta, &self.h, &self.reference.left];
            let [zeta, h, z] = tables.map(|table| table.view().subrows(rows.start, rows.len()));
            par_mul_into(dh, zeta, du.view().transpose(), false);
            par_mul_into(dh, h, ds.view(), true);
            par_mul_into(dh, z, left.view().transpose(), true);
        });
        ln_density
    }

    /// ∂ζ = (√aH)∂u and ∂ξ = √D ∂u/√ρ, where ∂u times √ρ is what is stored.
    fn kick(&mut self, step: f64) {
        let room = &mut self.room;
        room.du.as_mut_slice().iter_mut().for_each(|du| *du *= step);
        par_mul(&mut room.table, self.h.view(), room.du.view(), true);
        for r in 0..self.h.cols() {
            let d = if r + 1 == self.h.cols() { self.intercept.sqrt() } else { 1.0 };
            for group in &self.groups {
                let factor = d / group.rho.sqrt();
                let momenta = &mut room.xi_momenta.row_mut(r)[group.columns.clone()];
                momenta.iter_mut().zip(&room.du.row(r)[group.columns.clone()]).for_each(|(p, du)| *p += factor * du);
            }
        }
    }
}

#[cfg(test)]
mod tests;
