//! The weights of a chunk of columns in the joint gradient move: see [`super::noncentred`] for the equations.

use super::groups::Group;
use super::reference::Reference;
use super::slope::At;
use super::workspace::PieceWorkspace;
use crate::chunks::Chunk;
use crate::linalg::{Mat, View, par_mul, par_mul_each, par_mul_into};
use crate::model::Model;
use crate::model::family::Theta;
use crate::par;
use crate::simd::dot;
use std::ops::Range;

/// What all chunks share.
pub(super) struct Given<'a> {
    pub model: &'a Model,
    pub theta: &'a [Theta],
    /// X, W and √a H.
    pub at: At<'a>,
    pub groups: &'a [Group],
    /// HᵀaZ's left factor.
    pub left: &'a Mat,
    /// D of the intercept.
    pub intercept: f64,
    /// Prior precisions of the weights and the intercept of each column of the process.
    pub precision: &'a [Vec<f64>; 2],
}

impl Given<'_> {
    /// √D of row r of the weights.
    fn root(&self, r: usize) -> f64 {
        if r + 1 == self.at.h.cols() { self.intercept.sqrt() } else { 1.0 }
    }

    /// b_0 of row r and a column of the process.
    fn centre(&self, r: usize, c: usize) -> f64 {
        if r + 1 == self.at.h.cols() { self.model.units()[c].centre } else { 0.0 }
    }
}

/// Positions in ζ that share one A.
struct Alike {
    group: usize,
    places: Range<usize>,
    /// ½ Σ_j u_jᵀA⁻¹u_j.
    half_square: f64,
}

/// A chunk of columns.
pub(super) struct Piece {
    pub chunk: Chunk,
    pub workspace: PieceWorkspace,
    /// Column of the chunk at each position in ζ; those without their own weights come last.
    order: Vec<usize>,
    alike: Vec<Alike>,
    /// s_j at each position in ζ.
    scale: Vec<f64>,
    /// The right factor of Z at each position in ζ.
    right: Mat,
}

impl Piece {
    /// From ρ and the group of each column of the process.
    pub fn new(
        chunk: Chunk,
        rho: &[f64],
        of_column: &[Option<usize>],
        reference: &Reference,
        (precision, model_width): (&[f64], usize),
        mut workspace: PieceWorkspace,
    ) -> Self {
        let (first, k, m) = (chunk.columns.start, chunk.columns.len(), model_width);
        let is_free = |c: &usize| of_column[first + c].is_some();
        let (mut order, fixed): (Vec<usize>, Vec<usize>) = (0..k).partition(is_free);
        order.sort_by(|&a, &b| rho[first + a].total_cmp(&rho[first + b]));
        let mut alike: Vec<Alike> = Vec::new();
        for (place, &c) in order.iter().enumerate() {
            let Some(group) = of_column[first + c] else { continue };
            match alike.last_mut().filter(|last| last.group == group) {
                Some(last) => last.places.end = place + 1,
                None => alike.push(Alike { group, places: place..place + 1, half_square: 0.0 }),
            }
        }
        order.extend(fixed);
        let PieceWorkspace { xi, xi_momenta, beta, dbeta, du, response, u, .. } = &mut workspace;
        [xi, xi_momenta, beta, dbeta, du, response, u].into_iter().for_each(|weights| weights.fit(m, k));
        // Fixed weights are never written.
        workspace.beta.as_mut_slice().fill(0.0);
        Piece {
            scale: order.iter().map(|&c| precision[first + c].sqrt().recip()).collect(),
            right: Mat::from_fn(reference.right.rows(), k, |r, place| reference.right[(r, first + order[place])]),
            order,
            alike,
            workspace,
            chunk,
        }
    }

    /// Number of columns with their own weights.
    fn free(&self) -> usize {
        self.alike.last().map_or(0, |alike| alike.places.end)
    }

    /// A⁻¹ of the positions in ζ.
    fn inverses<'a>(&self, given: &Given<'a>) -> Vec<(Range<usize>, View<'a>)> {
        self.alike.iter().map(|alike| (alike.places.clone(), given.groups[alike.group].p.view())).collect()
    }

    /// β at X, W and the noise, and A⁻¹u where ∂u will be.
    pub fn colour(&mut self, given: &Given<'_>, zeta: &[f64]) {
        let (m, k, h) = (given.at.h.cols(), self.order.len(), given.at.h);
        let (inverses, free, first) = (self.inverses(given), self.free(), self.chunk.columns.start);
        let Piece { alike, order, scale, right, workspace, .. } = self;
        let PieceWorkspace { response, u, xi, dbeta: mean, du: t, beta, .. } = workspace;
        par_mul(response, given.left.view(), right.view(), false);
        par_mul(u, h.view().transpose(), View::new(zeta, h.rows(), k, k), false);
        let tables = [response.as_mut_slice(), u.as_mut_slice()].map(|values| (values, k));
        par::rows(tables, 2 * k, |first, [response, u]| {
            let rows = response.chunks_exact_mut(k).zip(u.chunks_exact_mut(k));
            for (r, (response, u)) in (first..).zip(rows) {
                for Alike { group, places, .. } in alike.iter() {
                    let (rho, d) = (given.groups[*group].rho, given.root(r));
                    response[places.clone()].iter_mut().for_each(|c| *c *= rho);
                    let own = u[places.clone()].iter_mut().zip(&xi.row(r)[places.clone()]);
                    own.for_each(|(u, xi)| *u = rho.sqrt() * *u + d * xi);
                }
            }
            0.0
        });
        par_mul_each(mean, &inverses, response.view());
        par_mul_each(t, &inverses, u.view());
        for Alike { places, half_square, .. } in alike.iter_mut() {
            let of_row = |r: usize| 0.5 * dot(&u.row(r)[places.clone()], &t.row(r)[places.clone()]);
            *half_square = par::sum(m, places.len(), |rows| rows.map(of_row).sum());
        }
        par::rows([(beta.as_mut_slice(), k)], 4 * k, |start, [beta]| {
            for (r, beta) in (start..).zip(beta.chunks_exact_mut(k)) {
                let places = order[..free].iter().zip(mean.row(r)).zip(t.row(r)).zip(&scale[..]);
                places.for_each(|(((&c, mean), t), scale)| beta[c] = given.centre(r, first + c) + mean + scale * t);
            }
            0.0
        });
    }

    /// Changes the noise so that it gives these weights: with T = [√ρ(√aH)ᵀ, √D] and TTᵀ = A, noise + Tᵀδ, δ = (β − β(noise))/s, has
    /// T(noise + Tᵀδ) = A(β − M)/s.
    pub fn reach(&mut self, given: &Given<'_>, to: &Mat, zeta: &mut [f64]) {
        let (k, h, start) = (self.order.len(), given.at.h, self.chunk.columns.start);
        let Piece { alike, order, scale, workspace, .. } = self;
        let PieceWorkspace { dbeta: delta, xi, beta, .. } = workspace;
        let tables = [delta.as_mut_slice(), xi.as_mut_slice()].map(|values| (values, k));
        par::rows(tables, 4 * k, |first, [delta, xi]| {
            let rows = delta.chunks_exact_mut(k).zip(xi.chunks_exact_mut(k));
            for (r, (delta, xi)) in (first..).zip(rows) {
                delta.fill(0.0);
                for Alike { group, places, .. } in alike.iter() {
                    let (rho, d) = (given.groups[*group].rho, given.root(r));
                    for place in places.clone() {
                        let c = order[place];
                        let away = (to[(r, start + c)] - beta[(r, c)]) / scale[place];
                        xi[place] += d * away;
                        delta[place] = rho.sqrt() * away;
                    }
                }
            }
            0.0
        });
        par_mul_into(zeta, h.view(), delta.view(), true);
    }

    /// ln p(Y | F); ∂β, and ∂X and ∂W added.
    pub fn likelihood(&mut self, given: &Given<'_>, to: (&mut [f64], &mut [f64])) -> f64 {
        let PieceWorkspace { slope, beta, dbeta, .. } = &mut self.workspace;
        let own = (&self.chunk.columns, beta.view());
        slope.likelihood(given.model, given.theta, given.at, own, dbeta.as_mut_slice(), to)
    }

    /// ln p(β); adds its gradient to ∂β.
    pub fn pull(&mut self, given: &Given<'_>) -> f64 {
        let (m, k, start) = (given.at.h.cols(), self.order.len(), self.chunk.columns.start);
        let PieceWorkspace { dbeta, beta, .. } = &mut self.workspace;
        par::rows([(dbeta.as_mut_slice(), k)], 2 * k, |first, [dbeta]| {
            let mut ln_density = 0.0;
            for (r, dbeta) in (first..).zip(dbeta.chunks_exact_mut(k)) {
                let precision = &given.precision[usize::from(r + 1 == m)][start..];
                let cells = dbeta.iter_mut().zip(beta.row(r)).zip(precision);
                for (c, ((d, beta), precision)) in cells.enumerate() {
                    let from = beta - given.centre(r, start + c);
                    *d -= precision * from;
                    ln_density -= 0.5 * precision * from * from;
                }
            }
            ln_density
        })
    }

    /// −ln q(β | X, W) besides the noise's own density, −½ ln|A| + ½uᵀA⁻¹u per column; propagates ∂β to (√aH)ᵀζ, to Hᵀa(Z − centre) in `left` and to
    /// HᵀaH in `ds`: with V = A⁻¹∂β and t = A⁻¹u, ∂u = sV + t and ∂A = −V(β − b_0)ᵀ − ½ttᵀ − ½kA⁻¹ (to be symmetrised).
    pub fn answer(&mut self, given: &Given<'_>, ds: &mut [f64], left: &mut [f64]) -> f64 {
        let (m, k, start) = (given.at.h.cols(), self.order.len(), self.chunk.columns.start);
        let (inverses, free) = (self.inverses(given), self.free());
        let Piece { alike, order, scale, right, workspace, .. } = self;
        let PieceWorkspace { response: from, u: own, dbeta, beta, du, da, .. } = workspace;
        let tables = [from.as_mut_slice(), own.as_mut_slice()].map(|values| (values, k));
        par::rows(tables, 4 * k, |first, [from, own]| {
            let rows = from.chunks_exact_mut(k).zip(own.chunks_exact_mut(k));
            for (r, (from, own)) in (first..).zip(rows) {
                for ((from, own), &c) in from.iter_mut().zip(own).zip(&order[..free]) {
                    *from = dbeta[(r, c)];
                    *own = beta[(r, c)] - given.centre(r, start + c);
                }
            }
            0.0
        });
        // V takes the place of ∂β, and ½t that of its copy.
        let v = dbeta;
        par_mul_each(v, &inverses, from.view());
        par::rows([(from.as_mut_slice(), k)], k, |first, [half]| {
            let rows = (first..).zip(half.chunks_exact_mut(k));
            rows.for_each(|(r, half)| half.iter_mut().zip(du.row(r)).for_each(|(half, t)| *half = 0.5 * t));
            0.0
        });
        for Alike { group, places, .. } in alike.iter() {
            let (Group { rho, p, .. }, count) = (&given.groups[*group], places.len());
            da.clone_from(p);
            da.as_mut_slice().iter_mut().for_each(|p| *p *= 0.5 * count as f64);
            let [v, own, half, t] = [&*v, own, from, du].map(|table| table.view().subcols(places.start, count));
            par_mul(da, v, own.transpose(), true);
            par_mul(da, half, t.transpose(), true);
            for r in 0..m {
                for c in 0..m {
                    ds[r * m + c] -= rho * (da[(r, c)] + da[(c, r)]);
                }
            }
        }
        let tables = [du.as_mut_slice(), v.as_mut_slice()].map(|values| (values, k));
        par::rows(tables, 2 * k, |_, [du, v]| {
            for (du, v) in du.chunks_exact_mut(k).zip(v.chunks_exact_mut(k)) {
                for Alike { group, places, .. } in alike.iter() {
                    let rho = given.groups[*group].rho;
                    let cells = du[places.clone()].iter_mut().zip(&mut v[places.clone()]).zip(&scale[places.clone()]);
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
        par_mul_into(left, v.view().subcols(0, free), right.view().subcols(0, free).transpose(), false);
        let of_alike = |a: &Alike| a.half_square - 0.5 * a.places.len() as f64 * given.groups[a.group].ln_det;
        alike.iter().map(of_alike).sum()
    }

    /// ∂X and ∂W by way of (√aH)ᵀζ, added.
    pub fn carry(&mut self, given: &Given<'_>, zeta: &[f64], to: (&mut [f64], &mut [f64])) {
        let (k, PieceWorkspace { slope, du, .. }) = (self.order.len(), &mut self.workspace);
        let zeta = View::new(zeta, given.at.h.rows(), k, k);
        slope.carry(given.at, k, to, |rows, dh| {
            par_mul_into(dh, zeta.subrows(rows.start, rows.len()), du.view().transpose(), false);
        });
    }

    /// Adds to the momenta of ξ and ζ.
    pub fn kick(&mut self, given: &Given<'_>, step: f64, momenta: &mut [f64]) {
        let (k, alike) = (self.order.len(), &self.alike);
        let PieceWorkspace { du, xi_momenta, .. } = &mut self.workspace;
        let tables = [du.as_mut_slice(), xi_momenta.as_mut_slice()].map(|values| (values, k));
        par::rows(tables, 2 * k, |first, [du, momenta]| {
            let rows = du.chunks_exact_mut(k).zip(momenta.chunks_exact_mut(k));
            for (r, (du, momenta)) in (first..).zip(rows) {
                du.iter_mut().for_each(|du| *du *= step);
                for Alike { group, places, .. } in alike {
                    let factor = given.root(r) / given.groups[*group].rho.sqrt();
                    let own = momenta[places.clone()].iter_mut().zip(&du[places.clone()]);
                    own.for_each(|(p, du)| *p += factor * du);
                }
            }
            0.0
        });
        par_mul_into(momenta, given.at.h.view(), du.view(), true);
    }
}
