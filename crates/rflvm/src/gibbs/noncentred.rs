//! The joint gradient move on (X, W, β), in coordinates that hardly depend on each other.
//!
//! Given X and W the data pin F = Hβ down, so β follows every move of X and W along a narrow ridge, and a trajectory in
//! (X, W, β) would take steps as small as the ridge is narrow. So β is written as the answer of a Gaussian [`Reference`] of the
//! likelihood (responses Z, precisions a_n b_j) to noise that knows nothing of X and W:
//!
//! ```text
//! β_j = M_j + s_j A⁻¹u_j,   u_j = √ρ (√a H)ᵀζ_j + √D ξ_j,   M_j = A⁻¹(ρ HᵀaZ_j + D b_0),   A = ρ HᵀaH + D,
//! ```
//!
//! s_j² the prior variance of β_j, ρ = b_j s_j² (columns of like ρ share one A), D the identity but for the intercept. With ζ and ξ
//! standard normal β_j is N(M_j, s_j²A⁻¹), the reference's posterior q(β | X, W). So the density
//! N(ζ, ξ) p(X, W, β | Y) / q(β | X, W) has the right marginal whatever the reference is; and since ζ is noise in the space of
//! rows, not of weights, F keeps its noise when X and W move: coefficients turn, functions stay.

use super::gradient::to_positions;
use super::hamiltonian::{Directions, Potential, Trajectory, hamiltonian};
use super::reference::Reference;
use super::smooth::Smooth;
use super::tuning::Tuning;
use crate::dist::normals;
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, View, gram, mul, par_mul, par_mul_into};
use crate::model::family::Theta;
use crate::model::features::fill_weighted;
use crate::model::latent::Paths;
use crate::model::spectral::Spectral;
use crate::model::{Model, State};
use crate::rng::Stream;
use rand::Rng;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Columns whose ρ differ by no more than this factor share one A.
const LIKE: f64 = 6.0;

/// Columns of like ρ, side by side in the order of ζ.
struct Group {
    columns: Range<usize>,
    rho: f64,
    ln_det: f64,
    /// A⁻¹.
    p: Mat,
    /// [ρHᵀaZ + D b_0, u], then [M, A⁻¹u].
    right: Mat,
    solved: Mat,
}

/// What [`Potential::evaluate`] needs: see the head of this file. q holds X, W, ζ (N×J), ξ ((M+1)×J).
pub struct Noncentred<'a> {
    model: &'a Model,
    theta: &'a [Theta],
    spectral: &'a Spectral,
    paths: Option<&'a Paths<'a>>,
    reference: &'a Reference,
    /// Column of the model at each place of ζ; those without weights of their own last.
    order: Vec<usize>,
    groups: Vec<Group>,
    /// s_j at each place of ζ.
    scale: Vec<f64>,
    /// The right factor of Z at each place of ζ.
    right: Mat,
    /// D of the intercept.
    intercept: f64,
    /// Prior precisions of the weights and the intercept of each column.
    precision: [Vec<f64>; 2],
    x: Mat,
    w: Mat,
    /// √a H.
    h: Mat,
    left: Mat,
    c: Mat,
    u: Mat,
    beta: Mat,
    dh: Mat,
    dbeta: Mat,
    du: Mat,
    dc: Mat,
    ds: Mat,
}

impl<'a> Noncentred<'a> {
    /// Given θ, τ² and the clusters.
    pub fn new(
        model: &'a Model,
        theta: &'a [Theta],
        tau2: &'a [f64],
        spectral: &'a Spectral,
        paths: Option<&'a Paths<'a>>,
        reference: &'a Reference,
    ) -> Self {
        let (n, j, l, d) = (model.rows(), model.columns(), model.frequencies(), model.latent_dim());
        let (m, rank) = (2 * l + 1, reference.right.rows());
        let scales: Vec<f64> = (0..j).map(|c| model.weight_scale(theta, c)).collect();
        let weights: Vec<f64> = scales.iter().zip(tau2).map(|(s, t)| s / t).collect();
        let intercepts: Vec<f64> = scales.iter().map(|s| s / model.spec().intercept_variance).collect();
        let rho: Vec<f64> = reference.column.iter().zip(&weights).map(|(b, p)| b / p).collect();
        let (mut order, fixed): (Vec<usize>, Vec<usize>) = (0..j).partition(|&c| model.is_free(c));
        order.sort_by(|&a, &b| rho[a].total_cmp(&rho[b]));
        let groups = group(&order, &rho, m);
        order.extend(fixed);
        Noncentred {
            scale: order.iter().map(|&c| weights[c].sqrt().recip()).collect(),
            right: Mat::from_fn(rank, j, |r, k| reference.right[(r, order[k])]),
            intercept: tau2.iter().sum::<f64>() / j as f64 / model.spec().intercept_variance,
            precision: [weights, intercepts],
            x: Mat::zeros(n, d),
            w: Mat::zeros(l, d),
            h: Mat::zeros(n, m),
            left: Mat::zeros(m, rank),
            c: Mat::zeros(m, j),
            u: Mat::zeros(m, j),
            beta: Mat::zeros(m, j),
            dh: Mat::zeros(n, m),
            dbeta: Mat::zeros(m, j),
            du: Mat::zeros(m, j),
            dc: Mat::zeros(m, j),
            ds: Mat::zeros(m, m),
            order,
            groups,
            model,
            theta,
            spectral,
            paths,
            reference,
        }
    }

    /// Length of q.
    pub fn len(&self) -> usize {
        self.x.as_slice().len() + self.w.as_slice().len() + self.turning()
    }

    /// Whether q is empty: never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn split<'b>(&self, q: &'b [f64]) -> [&'b [f64]; 4] {
        let (x, rest) = q.split_at(self.x.as_slice().len());
        let (w, rest) = rest.split_at(self.w.as_slice().len());
        let (zeta, xi) = rest.split_at(self.h.rows() * self.order.len());
        [x, w, zeta, xi]
    }

    /// √aH, A⁻¹ and HᵀaZ at X and W; whether A has an inverse.
    fn settle(&mut self, x: &[f64], w: &[f64]) -> bool {
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        fill_weighted(&self.x, &self.w, &self.reference.root, &mut self.h);
        let m = self.h.cols();
        let s = gram(&self.h, None, &vec![0.0; m]);
        par_mul(&mut self.left, self.h.view().transpose(), self.reference.left.view(), false);
        par_mul(&mut self.c, self.left.view(), self.right.view(), false);
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

    /// β at X, W and the noise; X and W must have been settled.
    fn colour(&mut self, zeta: &[f64], xi: &[f64]) {
        let (n, m, j) = (self.h.rows(), self.h.cols(), self.order.len());
        par_mul(&mut self.u, self.h.view().transpose(), View::new(zeta, n, j, j), false);
        let units = self.model.units();
        for group in &mut self.groups {
            let (k, root, columns) = (group.columns.len(), group.rho.sqrt(), group.columns.clone());
            for r in 0..m {
                let last = r + 1 == m;
                let d = if last { self.intercept.sqrt() } else { 1.0 };
                let (mean, noise) = group.right.row_mut(r).split_at_mut(k);
                mean.iter_mut().zip(&self.c.row(r)[columns.clone()]).for_each(|(m, c)| *m = group.rho * c);
                if last {
                    let order = &self.order[columns.clone()];
                    mean.iter_mut().zip(order).for_each(|(m, &c)| *m += self.intercept * units[c].centre);
                }
                let pair = self.u.row(r)[columns.clone()].iter().zip(&xi[r * j..(r + 1) * j][columns.clone()]);
                noise.iter_mut().zip(pair).for_each(|(u, (z, xi))| *u = root * z + d * xi);
            }
            par_mul(&mut group.solved, group.p.view(), group.right.view(), false);
            for r in 0..m {
                let (mean, noise) = group.solved.row(r).split_at(k);
                let to = self.beta.row_mut(r);
                for (i, place) in columns.clone().enumerate() {
                    to[self.order[place]] = mean[i] + self.scale[place] * noise[i];
                }
            }
        }
    }

    /// q of a state. β fixes as many directions of the noise as it has; the others are drawn afresh.
    pub fn gather<R: Rng + ?Sized>(&mut self, state: &State, rng: &mut R) -> Vec<f64> {
        let (n, m, j) = (self.h.rows(), self.h.cols(), self.order.len());
        let (x, w) = (state.features.x().as_slice(), state.features.w().as_slice());
        let mut q = [x, w].concat();
        let straight = q.len();
        q.extend(normals(n * j + m * j, rng));
        if !self.settle(x, w) {
            // The trajectory sees the same, finds no density here and is refused.
            return q;
        }
        let (zeta, xi) = q[straight..].split_at_mut(n * j);
        self.colour(zeta, xi);
        // With T = [√ρ(√aH)ᵀ, √D] and TTᵀ = A: noise + Tᵀδ, δ = (β − β(noise))/s, has T(noise + Tᵀδ) = A(β − M)/s.
        let mut delta = Mat::zeros(m, j);
        for group in &self.groups {
            for r in 0..m {
                for place in group.columns.clone() {
                    let c = self.order[place];
                    delta[(r, place)] = (state.beta[(r, c)] - self.beta[(r, c)]) / self.scale[place];
                }
            }
        }
        for r in 0..m {
            let d = if r + 1 == m { self.intercept.sqrt() } else { 1.0 };
            xi[r * j..(r + 1) * j].iter_mut().zip(delta.row(r)).for_each(|(xi, delta)| *xi += d * delta);
            for group in &self.groups {
                let root = group.rho.sqrt();
                delta.row_mut(r)[group.columns.clone()].iter_mut().for_each(|delta| *delta *= root);
            }
        }
        par_mul_into(zeta, self.h.view(), delta.view(), true);
        q
    }

    /// X, W and β at q.
    pub fn at<'b>(&mut self, q: &'b [f64]) -> (&'b [f64], &'b [f64], Mat) {
        let [x, w, zeta, xi] = self.split(q);
        self.settle(x, w);
        self.colour(zeta, xi);
        (x, w, self.beta.clone())
    }

    /// G/√a, G = ∂ ln p(Y|F)/∂F; returns ln p(Y|F). F is made and used up some rows at a time.
    fn differentiate(&self, g: &mut [f64]) -> f64 {
        const ROWS: usize = 64;
        let (model, columns, m) = (self.model, self.order.len(), self.h.cols());
        let pieces = g.par_chunks_mut(ROWS * columns).zip(self.h.as_slice().par_chunks(ROWS * m)).enumerate();
        let piece = |f: &mut Vec<f64>, (c, (g, h)): (usize, (&mut [f64], &[f64]))| {
            let rows = h.len() / m;
            f.resize(rows * columns, 0.0);
            let h = View::new(h, rows, m, m);
            mul(f, h, self.beta.view(), false);
            let mut sum = 0.0;
            for (i, (g, f)) in g.chunks_exact_mut(columns).zip(f.chunks_exact_mut(columns)).enumerate() {
                let n = c * ROWS + i;
                let (shrink, offset) = (self.reference.root[n].recip(), model.offset()[n]);
                f.iter_mut().for_each(|f| *f = *f * shrink + offset);
                sum += model.gradient_row(self.theta, n, f, g);
                g.iter_mut().for_each(|g| *g *= shrink);
            }
            sum
        };
        pieces.map_init(Vec::new, piece).collect::<Vec<f64>>().into_iter().sum()
    }

    /// ln p(β), its gradient added to ∂β.
    fn pull(&mut self) -> f64 {
        let m = self.h.cols();
        let mut ln_density = 0.0;
        for r in 0..m {
            let last = r + 1 == m;
            let cells = self.dbeta.row_mut(r).iter_mut().zip(self.beta.row(r)).zip(&self.precision[usize::from(last)]);
            for (c, ((d, beta), precision)) in cells.enumerate() {
                let from = beta - if last { self.model.units()[c].centre } else { 0.0 };
                *d -= precision * from;
                ln_density -= 0.5 * precision * from * from;
            }
        }
        ln_density
    }

    /// −ln q(β | X, W) beside the noise's own density, −½ ln|A| + ½uᵀA⁻¹u a column; carries ∂β on to ξ, to (√aH)ᵀζ, to HᵀaZ and
    /// to HᵀaH.
    fn answer(&mut self, gxi: &mut [f64]) -> f64 {
        let (m, j) = (self.h.cols(), self.order.len());
        // Places without weights of their own answer nothing.
        gxi.fill(0.0);
        for to in [&mut self.du, &mut self.dc, &mut self.ds] {
            to.as_mut_slice().fill(0.0);
        }
        let mut ln_density = 0.0;
        for group in &self.groups {
            let root = group.rho.sqrt();
            ln_density -= 0.5 * group.columns.len() as f64 * group.ln_det;
            let (v, da) = group.pull_back(&self.dbeta, &self.beta, &self.order);
            for r in 0..m {
                ln_density += 0.5 * crate::kernels::dot(group.u(r), group.t(r));
                let d = if r + 1 == m { self.intercept.sqrt() } else { 1.0 };
                for (place, (v, t)) in group.columns.clone().zip(v.row(r).iter().zip(group.t(r))) {
                    let du = self.scale[place] * v + t;
                    self.dc[(r, place)] = group.rho * v;
                    self.du[(r, place)] = root * du;
                    gxi[r * j + place] = d * du;
                }
                for c in 0..m {
                    self.ds[(r, c)] += group.rho * (da[(r, c)] + da[(c, r)]);
                }
            }
        }
        ln_density
    }
}

impl Group {
    /// V = A⁻¹∂β, and ∂A = −Vβᵀ − ½ttᵀ − ½kA⁻¹ (not yet symmetric), t = A⁻¹u.
    fn pull_back(&self, dbeta: &Mat, beta: &Mat, order: &[usize]) -> (Mat, Mat) {
        let (m, k) = (self.p.rows(), self.columns.len());
        let order = &order[self.columns.clone()];
        let (mut from, mut v) = (Mat::zeros(m, k), Mat::zeros(m, k));
        // [V, ½t] and [β, t]: one product for both.
        let (mut left, mut right) = (Mat::zeros(m, 2 * k), Mat::zeros(m, 2 * k));
        for r in 0..m {
            from.row_mut(r).iter_mut().zip(order).for_each(|(to, &c)| *to = dbeta[(r, c)]);
            let (own, noise) = right.row_mut(r).split_at_mut(k);
            own.iter_mut().zip(order).for_each(|(to, &c)| *to = beta[(r, c)]);
            noise.copy_from_slice(self.t(r));
        }
        mul(v.as_mut_slice(), self.p.view(), from.view(), false);
        for r in 0..m {
            let (own, noise) = left.row_mut(r).split_at_mut(k);
            own.iter_mut().zip(v.row(r)).for_each(|(to, v)| *to = -v);
            noise.iter_mut().zip(self.t(r)).for_each(|(to, t)| *to = -0.5 * t);
        }
        let mut da = self.p.clone();
        da.as_mut_slice().iter_mut().for_each(|p| *p *= -0.5 * k as f64);
        mul(da.as_mut_slice(), left.view(), right.view().transpose(), true);
        (v, da)
    }

    /// Row r of u.
    fn u(&self, r: usize) -> &[f64] {
        &self.right.row(r)[self.columns.len()..]
    }

    /// Row r of A⁻¹u.
    fn t(&self, r: usize) -> &[f64] {
        &self.solved.row(r)[self.columns.len()..]
    }
}

impl Potential for Noncentred<'_> {
    fn turning(&self) -> usize {
        self.h.rows() * self.order.len() + self.beta.as_slice().len()
    }

    fn evaluate(&mut self, q: &[f64], gradient: &mut [f64]) -> f64 {
        let [x, w, zeta, xi] = self.split(q);
        // A candidate whose A has no factor is a rejection, not an error.
        if !self.settle(x, w) {
            return f64::NAN;
        }
        self.colour(zeta, xi);
        let (n, j) = (self.h.rows(), self.order.len());
        let (gx, rest) = gradient.split_at_mut(x.len());
        let (gw, rest) = rest.split_at_mut(w.len());
        let (gzeta, gxi) = rest.split_at_mut(zeta.len());
        // G lies where the gradient of ζ will: a table's worth of memory less.
        let mut ln_density = self.differentiate(gzeta);
        let g = View::new(gzeta, n, j, j);
        par_mul(&mut self.dbeta, self.h.view().transpose(), g, false);
        par_mul(&mut self.dh, g, self.beta.view().transpose(), false);
        ln_density += self.pull();
        ln_density += self.answer(gxi);
        par_mul(&mut self.dh, View::new(zeta, n, j, j), self.du.view().transpose(), true);
        par_mul(&mut self.dh, self.h.view(), self.ds.view(), true);
        par_mul(&mut self.left, self.dc.view(), self.right.view().transpose(), false);
        par_mul(&mut self.dh, self.reference.left.view(), self.left.view().transpose(), true);
        par_mul_into(gzeta, self.h.view(), self.du.view(), false);
        ln_density + to_positions(&self.x, &self.w, &self.h, &self.dh, self.spectral, self.paths, gx, gw)
    }
}

/// One trajectory in (X, W, β); X is held where `positions` is false. Where rows have times X moves by paths that are as smooth
/// as their prior and as free as the data leave them. Returns the acceptance probability.
pub fn update(
    model: &Model,
    state: &mut State,
    paths: Option<&Paths<'_>>,
    positions: bool,
    tuning: &Tuning,
    stream: Stream,
) -> Result<f64, NumericalError> {
    let Some(reference) = &tuning.reference else { return Ok(0.0) };
    let rng = &mut stream.rng();
    let mut target = Noncentred::new(model, &state.theta, &state.tau2, &state.spectral, paths, reference);
    let mut q = target.gather(state, rng);
    let smooth = paths.filter(|_| positions).map(|paths| Smooth::new(paths, &state.axes, &tuning.information));
    let smooth = smooth.transpose()?;
    let trajectory = held(&tuning.trajectory, model, positions, smooth.is_some());
    let directions = smooth.as_ref().map(|smooth| smooth as &dyn Directions);
    let landing = hamiltonian(&mut target, &mut q, &trajectory, directions, rng);
    if landing.is_accepted {
        let (x, w, beta) = target.at(&q);
        state.features.set(x, w);
        state.beta = beta;
        state.refresh(model);
    }
    Ok(landing.acceptance)
}

/// The trajectory, with rows held that may not move, or not by themselves.
pub(super) fn held<'a>(
    trajectory: &'a Trajectory,
    model: &Model,
    positions: bool,
    together: bool,
) -> Cow<'a, Trajectory> {
    if positions && !together {
        return Cow::Borrowed(trajectory);
    }
    let mut held = trajectory.clone();
    held.scales[..model.rows() * model.latent_dim()].fill(0.0);
    if !positions {
        held.modes = Mat::default();
    }
    Cow::Owned(held)
}

/// Groups of like ρ along `order`, in which ρ rises.
fn group(order: &[usize], rho: &[f64], m: usize) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut start = 0;
    while start < order.len() {
        let limit = rho[order[start]] * LIKE;
        let k = order[start..].iter().take_while(|&&c| rho[c] <= limit).count();
        let columns = start..start + k;
        let ln_rho = order[columns.clone()].iter().map(|&c| rho[c].ln()).sum::<f64>() / k as f64;
        start += k;
        groups.push(Group {
            columns,
            rho: ln_rho.exp(),
            ln_det: 0.0,
            p: Mat::zeros(m, m),
            right: Mat::zeros(m, 2 * k),
            solved: Mat::zeros(m, 2 * k),
        });
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelSpec;
    use crate::model::family::{Family, Multinomial, NegativeBinomial, Poisson};
    use crate::observations::{Observations, Offset};

    fn check(family: impl Family + 'static) {
        let y =
            Mat::from_fn(9, 4, |n, j| ((n * 7 + j * j * 3) % 5) as f64 * (1 + 3 * j) as f64 + (j == 0) as u32 as f64);
        let spec = ModelSpec { features: 6, ..ModelSpec::default() };
        let data = Observations::new(y).unwrap().with_offset(Offset::SizeFactors).unwrap();
        let model = Model::new(data, family, spec).unwrap();
        let mut state = crate::simulate::draw_prior(&model, Stream::new(3)).unwrap();
        // Mild weights: where e^f is huge a difference quotient is no derivative.
        state.beta.as_mut_slice().iter_mut().for_each(|b| *b *= 0.4);
        state.refresh(&model);
        let reference = Reference::new(&model, &state.theta, &state.f);
        let tau2 = [1.0, 20.0, 0.2, 1.0];
        let mut target = Noncentred::new(&model, &state.theta, &tau2, &state.spectral, None, &reference);
        assert!(target.groups.len() > 1);
        let q = target.gather(&state, &mut Stream::new(8).rng());
        let beta = target.at(&q).2;
        beta.as_slice().iter().zip(state.beta.as_slice()).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
        let mut g = vec![0.0; q.len()];
        assert!(target.evaluate(&q, &mut g).is_finite());
        let mut unused = g.clone();
        for i in 0..q.len() {
            let mut at = |step: f64| {
                let mut q = q.clone();
                q[i] += step;
                target.evaluate(&q, &mut unused)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - g[i]).abs() < 1e-5 * (1.0 + g[i].abs()), "{i}: {slope} for {}", g[i]);
        }
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_density_and_the_map_can_be_undone() {
        check(Poisson);
        check(NegativeBinomial::default());
        check(Multinomial);
    }
}
