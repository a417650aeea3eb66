//! The densities used by the joint, where a conditional could have the same mistake: gamma,
//! normal-inverse-Wishart, Chinese restaurant.

use crate::fixtures::{assert_same, mixture};
use rflvm::internal::dist::niw::Niw;
use rflvm::internal::dist::{ln_gamma_density, ln_normal};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::spectral::{Kernel, Spectral};
use rflvm::internal::rng::Stream;

#[test]
fn gamma_has_mass_one_and_the_stated_mean() {
    for (shape, rate) in [(0.4, 2.0), (1.3, 0.7), (9.0, 3.0)] {
        // ∫ over ln x, where the trapezoidal rule is exact to rounding.
        let step = 0.01;
        let terms = (-12_000..2_000).map(|i| (f64::from(i) * step).exp());
        let moment = |power: i32| -> f64 {
            terms.clone().map(|x| step * x.powi(power + 1) * ln_gamma_density(x, shape, rate).exp()).sum()
        };
        assert_same(moment(0), 1.0, "mass");
        assert_same(moment(1), shape / rate, "mean");
    }
}

/// The inverse Wishart in one dimension: 1/σ² ~ Ga(ν/2, Ψ/2), as a density of σ².
fn ln_inverse_gamma(sigma2: f64, psi: f64, nu: f64) -> f64 {
    ln_gamma_density(1.0 / sigma2, 0.5 * nu, 0.5 * psi) - 2.0 * sigma2.ln()
}

#[test]
fn normal_inverse_wishart_of_one_dimension_is_normal_inverse_gamma() {
    let law = Niw { m: vec![0.3], lambda: 1.7, psi: Mat::from_vec(1, 1, vec![0.8]), nu: 3.4 };
    for (mu, sigma2) in [(0.1, 0.5), (-1.4, 2.2)] {
        let by_hand = ln_normal(mu, 0.3, sigma2 / 1.7) + ln_inverse_gamma(sigma2, 0.8, 3.4);
        let ln = law.ln_density(&[mu], &Mat::from_vec(1, 1, vec![sigma2])).unwrap();
        assert_same(ln, by_hand, "NIW of one dimension");
    }
}

#[test]
fn normal_inverse_wishart_of_two_dimensions_is_a_chain_of_univariate_laws() {
    // Σ ~ IW(Ψ, ν): Σ11 ~ IW(Ψ11, ν−1), s = Σ22 − Σ12²/Σ11 ~ IW(Ψ22·1, ν), b = Σ12/Σ11 | s ~ N(Ψ12/Ψ11, s/Ψ11), and
    // dΣ12 dΣ22 = Σ11 db ds. Then μ1, and μ2 given μ1 by regression on it.
    let (p11, p12, p22) = (1.2, 0.35, 0.8);
    let law = Niw { m: vec![0.3, -0.2], lambda: 1.7, psi: Mat::from_vec(2, 2, vec![p11, p12, p12, p22]), nu: 5.5 };
    let mut rng = Stream::new(14).rng();
    for _ in 0..10 {
        let cluster = law.draw(&mut rng).unwrap();
        let (s11, s12, s22) = (cluster.sigma[(0, 0)], cluster.sigma[(0, 1)], cluster.sigma[(1, 1)]);
        let (b, s) = (s12 / s11, s22 - s12 * s12 / s11);
        let of_sigma = ln_inverse_gamma(s11, p11, 4.5)
            + ln_inverse_gamma(s, p22 - p12 * p12 / p11, 5.5)
            + ln_normal(b, p12 / p11, s / p11)
            - s11.ln();
        let (d1, d2) = (cluster.mu[0] - 0.3, cluster.mu[1] + 0.2);
        let of_mu = ln_normal(d1, 0.0, s11 / 1.7) + ln_normal(d2, b * d1, s / 1.7);
        let ln = law.ln_density(&cluster.mu, &cluster.sigma).unwrap();
        assert_same(ln, of_sigma + of_mu, "NIW of two dimensions");
    }
}

/// All partitions of `left` more frequencies, after those in `z`, each labelled in order of first appearance.
fn partitions(z: &[usize], left: usize) -> Vec<Vec<usize>> {
    if left == 0 {
        return vec![z.to_vec()];
    }
    let labels = z.iter().max().map_or(0, |k| k + 1);
    (0..=labels).flat_map(|k| partitions(&[z, &[k]].concat(), left - 1)).collect()
}

#[test]
fn partitions_have_mass_one() {
    let (mixture, alpha) = (mixture(), 1.6);
    let base = mixture.base(&[0.8; 2]);
    let cluster = base.draw(&mut Stream::new(15).rng()).unwrap();
    let of_cluster = base.ln_density(&cluster.mu, &cluster.sigma).unwrap();
    let of_alpha = ln_gamma_density(alpha, mixture.alpha_shape, mixture.alpha_rate);
    let all = partitions(&[], 5);
    assert_eq!(all.len(), 52, "Bell's number of 5");
    let probability = |z: Vec<usize>| {
        let count = z.iter().max().unwrap() + 1;
        let (psi, psi_rate) = mixture.start_scales(2);
        let spectral = Spectral { z, clusters: vec![cluster.clone(); count], alpha, psi, psi_rate };
        let ln = spectral.ln_prior(&Kernel::Learned(mixture.clone())).unwrap();
        (ln - of_alpha - count as f64 * of_cluster).exp()
    };
    assert_same(all.into_iter().map(probability).sum(), 1.0, "Chinese restaurant");
}
