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

//!
//! Columns are dealt with in chunks ([`Piece`]): what X and W need of them are sums.

use super::flow::{Flow, Slopes};
use super::gradient::weight_precisions;
use super::groups::{Group, group};
use super::hamiltonian::half_square;
use super::piece::{Given, Piece};
use super::reference::Reference;
use super::slope::At;
use super::workspace::Workspace;
use crate::dist::fill_normals;
use crate::linalg::{Cholesky, Mat, View, par_gram, par_mul, par_mul_into};
use crate::model::family::Theta;
use crate::model::features::fill_weighted;
use crate::model::plain::Plain;
use crate::model::{Known, Lent, Model};
use crate::par;
use crate::rng::Stream;
use crate::simd;

/// What [`Flow::evaluate`] needs: see the top of this file. ζ (N×J) and ξ (one row per column of H) rotate. ζ uses the
/// memory of F, chunk after chunk, and √a H that of H: neither is needed during a trajectory.
pub(crate) struct Noncentred<'a> {
    model: &'a Model,
    theta: &'a [Theta],
    known: Known<'a>,
    plain: &'a Plain,
    reference: &'a Reference,
    groups: Vec<Group>,
    /// D of the intercept.
    intercept: f64,
    /// Prior precisions of the weights and the intercept of each column.
    precision: [Vec<f64>; 2],
    x: Mat,
    w: Mat,
    /// √a H.
    h: Mat,
    zeta: Mat,
    pieces: Vec<Piece>,
    workspace: Workspace,
}

/// What a trajectory holds fixed, besides the clusters of frequencies.
pub struct Fixed<'a> {
    pub theta: &'a [Theta],
    pub tau2: &'a [f64],
    /// What F is besides Hβ.
    pub known: Known<'a>,
    pub plain: &'a Plain,
}

/// A piece, its ζ and the momenta of ζ.
type Own<'a> = (&'a mut Piece, &'a mut [f64], &'a mut [f64]);

impl<'a> Noncentred<'a> {
    /// Given some of the state, in borrowed memory.
    pub fn new(
        model: &'a Model,
        Fixed { theta, tau2, known, plain }: Fixed<'a>,
        reference: &'a Reference,
        lent: Lent,
        mut workspace: Workspace,
    ) -> Self {
        let (n, l, d) = (model.rows(), model.frequencies(), model.latent_dim());
        let precision = weight_precisions(model, theta, tau2);
        let of_column = |(c, (b, p)): (usize, (&f64, &f64))| if model.is_free(c) { b / p } else { f64::NAN };
        let rho: Vec<f64> = reference.column.iter().zip(&precision[0]).enumerate().map(of_column).collect();
        let chunks = model.chunks();
        let (groups, of_column) = group(&chunks.gather(&rho));
        let of_column = &of_column[chunks.own_columns()];
        workspace.table.fit(n, model.columns());
        workspace.left.fit(model.width(), reference.right.rows());
        let mut spare = std::mem::take(&mut workspace.pieces).into_iter();
        let piece = |chunk| {
            Piece::new(
                chunk,
                &rho,
                of_column,
                reference,
                (&precision[0], model.width()),
                spare.next().unwrap_or_default(),
            )
        };
        Noncentred {
            pieces: chunks.own().into_iter().map(piece).collect(),
            intercept: 1.0 / model.spec().priors.intercept,
            precision,
            x: Mat::zeros(n, d),
            w: Mat::zeros(l, d),
            h: lent.h,
            zeta: lent.f,
            workspace,
            groups,
            model,
            theta,
            known,
            plain,
            reference,
        }
    }

    /// √aH, A⁻¹ and Hᵀa(Z − centre) at X and W; returns whether A is invertible.
    fn settle(&mut self, x: &Mat, w: &Mat) -> bool {
        self.x.clone_from(x);
        self.w.clone_from(w);
        fill_weighted(&self.x, &self.w, self.plain, &self.reference.root, &mut self.h);
        let m = self.h.cols();
        let s = par_gram(&self.h, None, &vec![0.0; m]);
        par_mul(&mut self.workspace.left, self.h.view().transpose(), self.reference.left.view(), false);
        let mut diagonal = vec![1.0; m];
        diagonal[m - 1] = self.intercept;
        let factors = par::collect(&self.groups, 1, |group| {
            let cholesky = Cholesky::new(s.scaled_plus(group.rho, &diagonal), "gradient").ok()?;
            Some((cholesky.inverse(), cholesky.ln_det()))
        });
        for (group, factor) in self.groups.iter_mut().zip(factors) {
            let Some((p, ln_det)) = factor else { return false };
            (group.p, group.ln_det) = (p, ln_det);
        }
        true
    }

    /// What all pieces share, and each with its ζ and the momenta of ζ.
    fn apart(&mut self) -> (Given<'_>, Vec<Own<'_>>) {
        let (rows, chunks) = (self.x.rows(), self.model.chunks());
        let at = At {
            x: &self.x,
            w: &self.w,
            plain: self.plain,
            h: &self.h,
            roots: &self.reference.root,
            known: self.known,
        };
        let given = Given {
            model: self.model,
            theta: self.theta,
            at,
            groups: &self.groups,
            left: &self.workspace.left,
            intercept: self.intercept,
            precision: &self.precision,
        };
        let zeta = chunks.cut(self.zeta.as_mut_slice(), rows);
        let momenta = chunks.cut(self.workspace.table.as_mut_slice(), rows);
        let pieces = self.pieces.iter_mut().zip(zeta).zip(momenta);
        (given, pieces.map(|((piece, zeta), momenta)| (piece, zeta, momenta)).collect())
    }

    /// What turns, with its momenta.
    fn turning(&mut self) -> Vec<(&mut [f64], &mut [f64])> {
        let mut all = vec![(self.zeta.as_mut_slice(), self.workspace.table.as_mut_slice())];
        let pieces = self.pieces.iter_mut();
        all.extend(
            pieces.map(|Piece { workspace, .. }| (workspace.xi.as_mut_slice(), workspace.xi_momenta.as_mut_slice())),
        );
        all
    }

    /// The borrowed memory.
    pub fn finish(mut self) -> (Workspace, Lent) {
        self.workspace.pieces = self.pieces.into_iter().map(|piece| piece.workspace).collect();
        (self.workspace, Lent { h: self.h, f: self.zeta })
    }
}

impl Flow for Noncentred<'_> {
    /// β determines as many directions of the noise as it has; the others are redrawn.
    fn gather(&mut self, x: &Mat, w: &Mat, beta: &Mat, [of_zeta, of_xi]: [Stream; 2]) {
        let chunks = self.model.chunks();
        for (piece, zeta, _) in self.apart().1 {
            fill_normals(zeta, chunks.stream(of_zeta, &piece.chunk));
            fill_normals(piece.workspace.xi.as_mut_slice(), chunks.stream(of_xi, &piece.chunk));
        }
        if !self.settle(x, w) {
            // The trajectory will find the same, and is rejected.
            return;
        }
        let (given, pieces) = self.apart();
        par::for_each(pieces, 1, |(piece, zeta, _)| {
            piece.colour(&given, zeta);
            piece.reach(&given, beta, zeta);
        });
    }

    fn draw_momenta(&mut self, [of_zeta, of_xi]: [Stream; 2]) {
        let chunks = self.model.chunks();
        for (piece, _, momenta) in self.apart().1 {
            fill_normals(momenta, chunks.stream(of_zeta, &piece.chunk));
            fill_normals(piece.workspace.xi_momenta.as_mut_slice(), chunks.stream(of_xi, &piece.chunk));
        }
    }

    fn turn(&mut self, sin: f64, cos: f64) {
        for (turning, momenta) in self.turning() {
            par::rows([(turning, 1), (momenta, 1)], 2, |_, [turning, momenta]| {
                simd::turn(sin, cos, turning, momenta);
                0.0
            });
        }
    }

    fn energy(&mut self) -> f64 {
        let chunks = self.model.chunks();
        chunks.add(&mut self.apart().1, 1, |(piece, zeta, momenta), to| {
            let of_xi = half_square(piece.workspace.xi.as_slice()) + half_square(piece.workspace.xi_momenta.as_slice());
            to[0] = (half_square(zeta) + half_square(momenta)) + of_xi;
        })[0]
    }

    fn beta(&mut self, beta: &mut Mat) {
        for Piece { chunk, workspace, .. } in &self.pieces {
            for (r, from) in workspace.beta.iter_rows().enumerate() {
                beta.row_mut(r)[chunk.columns.clone()].copy_from_slice(from);
            }
        }
    }

    fn evaluate_from(&mut self, ln_priors: f64, x: &Mat, w: &Mat, (gx, gw): Slopes<'_>) -> f64 {
        // A candidate for which A has no Cholesky factor is rejected; it is not an error.
        if !self.settle(x, w) {
            return f64::NAN;
        }
        let (m, rank, chunks) = (self.h.cols(), self.workspace.left.cols(), self.model.chunks());
        // ∂X, ∂W, what multiplies H and the left factor of Z in ∂H, and the density.
        let sizes = [gx.len(), gw.len(), m * m, m * rank, 1];
        let is_one = chunks.count() == 1;
        let (given, mut pieces) = self.apart();
        let mut sum = chunks.add(&mut pieces, sizes.iter().sum(), |(piece, zeta, _), to| {
            let [to_x, to_w, ds, left, ln_density] = parted(to, sizes);
            if piece.chunk.index == 0 {
                to_x.copy_from_slice(gx);
                to_w.copy_from_slice(gw);
                ln_density[0] = ln_priors;
            }
            piece.colour(&given, zeta);
            ln_density[0] += piece.likelihood(&given, (to_x, to_w));
            ln_density[0] += piece.pull(&given);
            ln_density[0] += piece.answer(&given, ds, left);
            if !is_one {
                piece.carry(&given, zeta, (to_x, to_w));
            }
        });
        let [to_x, to_w, ds, left, ln_density] = parted(&mut sum, sizes);
        gx.copy_from_slice(to_x);
        gw.copy_from_slice(to_w);
        let (ds, left) = (View::new(ds, m, m, m), View::new(left, m, rank, rank));
        let Noncentred { workspace, h, zeta, reference, pieces, .. } = self;
        let at = At { x: &self.x, w: &self.w, plain: self.plain, h, roots: &reference.root, known: self.known };
        workspace.slope.carry(at, self.model.all_columns(), (gx, gw), |rows, dh| {
            let [zeta, h, z] = [&*zeta, h, &reference.left].map(|table| table.view().subrows(rows.start, rows.len()));
            if is_one {
                par_mul_into(dh, zeta, pieces[0].workspace.du.view().transpose(), false);
            }
            par_mul_into(dh, h, ds, is_one);
            par_mul_into(dh, z, left.transpose(), true);
        });
        ln_density[0]
    }

    /// ∂ζ = (√aH)∂u and ∂ξ = √D ∂u/√ρ, where ∂u times √ρ is what is stored.
    fn kick(&mut self, step: f64) {
        let (given, pieces) = self.apart();
        par::for_each(pieces, 1, |(piece, _, momenta)| piece.kick(&given, step, momenta));
    }
}

/// Parts of some numbers.
fn parted<const K: usize>(mut all: &mut [f64], sizes: [usize; K]) -> [&mut [f64]; K] {
    sizes.map(|size| all.split_off_mut(..size).unwrap_or_default())
}

#[cfg(test)]
mod tests;
