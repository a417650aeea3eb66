//! ψ, the roughness of the map along each axis, if learned: with A = Σ_k Σ_k⁻¹ over K clusters,
//! ψ_d ~ Ga(½ + Kν0/2, r_d + ½A_dd), r_d ~ Ga(1, s² + ψ_d).
//!
//! A ψ that differs between axes breaks the rotational symmetry of the latent space, which the data do not: the axes are
//! therefore rotated into each other, x_n → Rᵀx_n, w_l → Rᵀw_l, b_j → Rᵀb_j, μ_k → Rᵀμ_k, Σ_k → RᵀΣ_kR, one plane at a time. F and the
//! prior of X are unchanged, and so is everything else except exp(−½ Σ_d ψ_d (RᵀAR)_dd).

use crate::dist::cluster::Cluster;
use crate::dist::gamma;
use crate::error::NumericalError;
use crate::linalg::{Mat, mul};
use crate::model::State;
use crate::model::spectral::{Mixture, Scales, Spectral};
use crate::slice;
use rand::Rng;

/// A = Σ_k Σ_k⁻¹.
fn total_precision(spectral: &Spectral) -> Mat {
    let dim = spectral.psi.len();
    let mut total = Mat::zeros(dim, dim);
    for cluster in &spectral.clusters {
        total.as_mut_slice().iter_mut().zip(cluster.precision().as_slice()).for_each(|(a, p)| *a += p);
    }
    total
}

/// Shape and rate of ψ_d given the clusters, r_d and ν0.
pub fn conditional(mixture: &Mixture, spectral: &Spectral, d: usize) -> (f64, f64) {
    let nu = mixture.base(&spectral.psi).nu;
    let shape = 0.5 + 0.5 * nu * spectral.count() as f64;
    let precision: f64 = spectral.clusters.iter().map(|cluster| cluster.precision()[(d, d)]).sum();
    (shape, spectral.psi_rate[d] + 0.5 * precision)
}

/// Redraws ψ and r.
pub fn update<R: Rng + ?Sized>(mixture: &Mixture, spectral: &mut Spectral, rng: &mut R) {
    let Scales::Learned(scale) = mixture.scales else { return };
    for d in 0..spectral.psi.len() {
        let (shape, rate) = conditional(mixture, spectral, d);
        spectral.psi[d] = gamma(shape, rate, rng);
        spectral.psi_rate[d] = gamma(1.0, scale * scale + spectral.psi[d], rng);
    }
}

/// Rotates the axes in each plane by an angle drawn by a slice on the circle.
pub fn turn<R: Rng + ?Sized>(state: &mut State, rng: &mut R) -> Result<(), NumericalError> {
    let psi = &state.spectral.psi;
    let dim = psi.len();
    let mut a = total_precision(&state.spectral);
    let mut rotation = Mat::identity(dim, 1.0);
    for d in 0..dim {
        for e in d + 1..dim {
            let ln_density = |cos: f64, sin: f64| {
                let (dd, ee, de) = (a[(d, d)], a[(e, e)], 2.0 * cos * sin * a[(d, e)]);
                let of_d = cos * cos * dd + de + sin * sin * ee;
                -0.5 * (psi[d] * of_d + psi[e] * (dd + ee - of_d))
            };
            let landing = slice::elliptical(rng, ln_density(1.0, 0.0), ln_density);
            let plane = Mat::from_fn(dim, dim, |i, j| match (i, j) {
                _ if (i == d && j == d) || (i == e && j == e) => landing.cos,
                _ if i == e && j == d => landing.sin,
                _ if i == d && j == e => -landing.sin,
                _ => f64::from(u8::from(i == j)),
            });
            a = product(&product_transposed(&plane, &a), &plane);
            rotation = product(&rotation, &plane);
        }
    }
    rotate(state, &rotation)
}

/// Applies x → Rᵀx and its counterparts.
pub fn rotate(state: &mut State, rotation: &Mat) -> Result<(), NumericalError> {
    let (x, w) = (product(state.features.x(), rotation), product(state.features.w(), rotation));
    state.features.set(x.as_slice(), w.as_slice());
    let plain = state.features.plain();
    if plain.is_linear() {
        let (dim, columns) = (rotation.rows(), state.beta.cols());
        let first = 2 * state.features.frequencies() + plain.count();
        let cells = first * columns..(first + dim) * columns;
        let b = Mat::from_vec(dim, columns, state.beta.as_slice()[cells.clone()].to_vec());
        state.beta.as_mut_slice()[cells].copy_from_slice(product_transposed(rotation, &b).as_slice());
    }
    for cluster in &mut state.spectral.clusters {
        let mu = product(&Mat::from_vec(1, cluster.mu.len(), cluster.mu.clone()), rotation);
        let mut sigma = product(&product_transposed(rotation, &cluster.sigma), rotation);
        // Symmetrise after rounding.
        for i in 0..sigma.rows() {
            (0..i).for_each(|j| sigma[(i, j)] = sigma[(j, i)]);
        }
        *cluster = Cluster::new(mu.as_slice().to_vec(), sigma)?;
    }
    Ok(())
}

fn product(a: &Mat, b: &Mat) -> Mat {
    let mut to = Mat::zeros(a.rows(), b.cols());
    mul(to.as_mut_slice(), a.view(), b.view(), false);
    to
}

/// aᵀb.
fn product_transposed(a: &Mat, b: &Mat) -> Mat {
    let mut to = Mat::zeros(a.cols(), b.cols());
    mul(to.as_mut_slice(), a.view().transpose(), b.view(), false);
    to
}
