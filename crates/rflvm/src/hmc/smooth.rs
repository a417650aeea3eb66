//! How X moves along a trajectory where rows have times: as paths drawn from (C⁻¹ + Λ)⁻¹, with C the prior covariance and Λ the
//! information of the data about each row, so that a step is as smooth as the prior and as long as the data allow. Λ only affects
//! how fast the move mixes.

use super::directions::Directions;
use crate::chunks::Chunk;
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat};
use crate::model::latent::{Axis, Path, Paths};
use crate::model::{Model, State};
use crate::par;
use crate::simd;

/// Λ at a state: Σ_j of the family's information about f_nj times (∂f_nj/∂x_nd)². A row without data keeps a small value, so that Λ⁻¹ exists.
pub fn information(model: &Model, state: &State) -> Mat {
    const LEAST: f64 = 0.1;
    let (w, h, plain) = (state.features.w(), state.features.h(), state.features.plain());
    let (l, dim) = (w.rows(), w.cols());
    let mut sum = model.chunks().add(&mut model.chunks().own(), h.rows() * dim, |Chunk { columns, .. }, to| {
        let (k, beta) = (columns.len(), state.beta.some_cols(columns.clone()));
        par::rows([(to, dim)], 2 * l * k, |first, [to]| {
            let (mut known, mut slope, mut turned) = (vec![0.0; k], vec![0.0; k], vec![0.0; h.cols()]);
            for (n, to) in (first..).zip(to.chunks_exact_mut(dim)) {
                model.information_cells(&state.theta, n, columns, &state.f.row(n)[columns.clone()], &mut known);
                for (d, to) in to.iter_mut().enumerate() {
                    // ∂ sin(w·x)/∂x_d = w_d cos(w·x), ∂ cos(w·x)/∂x_d = −w_d sin(w·x).
                    let from = h.row(n);
                    for i in 0..l {
                        (turned[i], turned[l + i]) = (w[(i, d)] * from[l + i], -w[(i, d)] * from[i]);
                    }
                    if plain.is_linear() {
                        let linear = 2 * l + plain.count();
                        turned[linear..linear + dim].fill(0.0);
                        turned[linear + d] = plain.s();
                    }
                    slope.fill(0.0);
                    simd::vecmat(&turned, beta.as_slice(), &mut slope);
                    *to = known.iter().zip(&slope).map(|(i, s)| i * s * s).sum::<f64>();
                }
            }
            0.0
        });
    });
    sum.iter_mut().for_each(|told| *told += LEAST);
    Mat::from_vec(h.rows(), dim, sum)
}

/// A root A of (C⁻¹ + Λ)⁻¹ for one axis of one sequence.
enum Root<'a> {
    /// R⁻¹, RRᵀ = C⁻¹ + Λ, for A = R⁻ᵀ: a trajectory uses it so often that the inverse pays off.
    Matrix(Mat),
    /// Matheron's rule: a path x and a noisy observation of it y = x + S^½e make x − C(C + S)⁻¹y, S = Λ⁻¹, a draw of the path given that
    /// the observation was zero.
    Conditioned { prior: &'a Path, noisy: Box<Path>, roots: Vec<f64> },
}

struct Part<'a> {
    d: usize,
    rows: &'a [usize],
    root: Root<'a>,
}

/// The roots of all axes and sequences.
pub struct Smooth<'a> {
    dim: usize,
    parts: Vec<Part<'a>>,
}

impl<'a> Smooth<'a> {
    /// `information` is Λ, N×D; positive.
    pub fn new(paths: &'a Paths<'_>, axes: &[Axis], information: &Mat) -> Result<Self, NumericalError> {
        let mut parts = Vec::new();
        for (d, axis) in axes.iter().enumerate() {
            let dense = paths.of_axis(d).iter().all(|path| matches!(path, Path::Dense(_)));
            let variance: Vec<f64> = (0..information.rows()).map(|n| information[(n, d)].recip()).collect();
            let noisy = if dense { Vec::new() } else { Paths::axis(paths.dynamics(), axis, Some(&variance))? };
            let mut noisy = noisy.into_iter();
            for (rows, prior) in paths.rows().zip(paths.of_axis(d)) {
                let root = match (prior, noisy.next()) {
                    (Path::Dense(path), _) => {
                        let mut precision = path.inverse().clone();
                        rows.iter().enumerate().for_each(|(i, &n)| precision[(i, i)] += information[(n, d)]);
                        Root::Matrix(Cholesky::new(&precision, "gradient")?.inverse_lower())
                    }
                    (prior, Some(noisy)) => {
                        let roots = rows.iter().map(|&n| variance[n].sqrt()).collect();
                        Root::Conditioned { prior, noisy: Box::new(noisy), roots }
                    }
                    (_, None) => continue,
                };
                parts.push(Part { d, rows, root });
            }
        }
        Ok(Smooth { dim: axes.len(), parts })
    }
}

impl Root<'_> {
    fn count(&self) -> usize {
        match self {
            Root::Matrix(inverse) => inverse.rows(),
            Root::Conditioned { prior, roots, .. } => prior.noise() + roots.len(),
        }
    }

    /// Ar.
    fn push(&self, r: &[f64]) -> Vec<f64> {
        match self {
            Root::Matrix(inverse) => {
                let mut x = vec![0.0; r.len()];
                let rows = r.iter().zip(inverse.iter_rows()).enumerate();
                rows.for_each(|(i, (r, row))| simd::axpy(*r, &row[..=i], &mut x[..=i]));
                x
            }
            Root::Conditioned { prior, noisy, roots } => {
                let (u, e) = r.split_at(prior.noise());
                let mut x = prior.colour(u);
                let y: Vec<f64> = x.iter().zip(roots.iter().zip(e)).map(|(x, (s, e))| x + s * e).collect();
                let told = prior.covariance(&noisy.precision(&y));
                x.iter_mut().zip(told).for_each(|(x, told)| *x -= told);
                x
            }
        }
    }

    /// Aᵀg.
    fn pull(&self, g: &[f64]) -> Vec<f64> {
        match self {
            Root::Matrix(inverse) => {
                inverse.iter_rows().enumerate().map(|(i, row)| simd::dot(&row[..=i], &g[..=i])).collect()
            }
            Root::Conditioned { prior, noisy, roots } => {
                let told = noisy.precision(&prior.covariance(g));
                let left: Vec<f64> = g.iter().zip(&told).map(|(g, told)| g - told).collect();
                let mut r = prior.colour_back(&left);
                r.extend(told.iter().zip(roots).map(|(told, s)| -s * told));
                r
            }
        }
    }
}

impl Directions for Smooth<'_> {
    fn count(&self) -> usize {
        self.parts.iter().map(|part| part.root.count()).sum()
    }

    fn push(&self, r: &[f64], step: f64, q: &mut [f64]) {
        let mut rest = r;
        let pieces: Vec<&[f64]> = (self.parts.iter())
            .map(|part| {
                let (own, others) = rest.split_at(part.root.count());
                rest = others;
                own
            })
            .collect();
        let moves = par::collect(self.parts.iter().zip(pieces), 1, |(part, own)| part.root.push(own));
        for (part, x) in self.parts.iter().zip(moves) {
            part.rows.iter().zip(x).for_each(|(&n, x)| q[n * self.dim + part.d] += step * x);
        }
    }

    fn pull(&self, g: &[f64], step: f64, r: &mut [f64]) {
        let of_part = |part: &Part<'_>| {
            let own: Vec<f64> = part.rows.iter().map(|&n| g[n * self.dim + part.d]).collect();
            part.root.pull(&own)
        };
        let pulls = par::collect(&self.parts, 1, of_part);
        r.iter_mut().zip(pulls.iter().flatten()).for_each(|(r, pull)| *r += step * pull);
    }
}
