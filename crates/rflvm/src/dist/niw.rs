//! The normal-inverse-Wishart NIW(m, λ, Ψ, ν): Σ ~ IW(Ψ, ν), μ | Σ ~ N(m, Σ/λ).
//! Conjugate to the frequencies of one cluster; its predictive is a Student-t (Murphy 2007, section 9).

use super::cluster::Cluster;
use super::{LN_SQRT_2PI, ln_gamma, normal};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat};
use rand::{Rng, RngExt};
use rand_distr::ChiSquared;
use std::f64::consts::PI;

/// NIW(m, λ, Ψ, ν).
#[derive(Debug, Clone, PartialEq)]
pub struct Niw {
    /// Mean of μ.
    pub m: Vec<f64>,
    /// Pseudo-count of μ.
    pub lambda: f64,
    /// Scale of Σ.
    pub psi: Mat,
    /// Degrees of freedom of Σ.
    pub nu: f64,
}

/// The predictive distribution of a [`Niw`], with everything that does not depend on the frequency precomputed.
#[derive(Debug, Clone)]
pub struct Predictive {
    m: Vec<f64>,
    /// L of Ψ = LLᵀ.
    root: Mat,
    ln_constant: f64,
    exponent: f64,
    scale: f64,
}

impl Predictive {
    /// Log density at w.
    pub fn ln_density(&self, w: &[f64]) -> f64 {
        // |L⁻¹(w − m)|² by forward substitution; D is small.
        let mut r = [0.0; 8];
        let mut long = Vec::new();
        let r = if w.len() <= r.len() {
            &mut r[..w.len()]
        } else {
            long.resize(w.len(), 0.0);
            &mut long[..]
        };
        let mut square = 0.0;
        for i in 0..w.len() {
            let before: f64 = self.root.row(i)[..i].iter().zip(&*r).map(|(l, r)| l * r).sum();
            r[i] = (w[i] - self.m[i] - before) / self.root[(i, i)];
            square += r[i] * r[i];
        }
        self.ln_constant - self.exponent * (square / self.scale).ln_1p()
    }

    /// A draw.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<f64> {
        let (dim, z) = (self.m.len(), super::normals(self.m.len(), rng));
        let chi = ChiSquared::new(2.0 * self.exponent - dim as f64).map_or(f64::NAN, |c| rng.sample(c));
        let widen = (self.scale / chi).sqrt();
        let row = |i: usize| self.root.row(i)[..=i].iter().zip(&z).map(|(l, z)| l * z).sum::<f64>();
        (0..dim).map(|i| self.m[i] + widen * row(i)).collect()
    }
}

impl Niw {
    /// The posterior given the frequencies `members`:
    /// Ψ gains the scatter about their mean w̄ and λn/(λ+n) (w̄ − m)(w̄ − m)ᵀ.
    pub fn posterior<'a>(&self, members: impl Iterator<Item = &'a [f64]> + Clone) -> Niw {
        let d = self.m.len();
        let n = members.clone().count() as f64;
        if n == 0.0 {
            return self.clone();
        }
        let mut mean = vec![0.0; d];
        for w in members.clone() {
            mean.iter_mut().zip(w).for_each(|(m, w)| *m += w / n);
        }
        let lambda = self.lambda + n;
        let mut psi = self.psi.clone();
        let shrink = self.lambda * n / lambda;
        for i in 0..d {
            for j in 0..d {
                psi[(i, j)] += shrink * (mean[i] - self.m[i]) * (mean[j] - self.m[j])
                    + members.clone().map(|w| (w[i] - mean[i]) * (w[j] - mean[j])).sum::<f64>();
            }
        }
        let m = self.m.iter().zip(&mean).map(|(m0, w)| (self.lambda * m0 + n * w) / lambda).collect();
        Niw { m, lambda, psi, nu: self.nu + n }
    }

    /// The predictive distribution t_{ν−D+1}(m, Ψ(λ+1)/(λ(ν−D+1))).
    pub fn predictive(&self) -> Result<Predictive, NumericalError> {
        let d = self.m.len();
        let (df, dof) = (d as f64, self.nu - d as f64 + 1.0);
        let factor = (self.lambda + 1.0) / (self.lambda * dof);
        let cholesky = Cholesky::new(&self.psi, "assignments")?;
        let ln_constant = ln_gamma(0.5 * (dof + df))
            - ln_gamma(0.5 * dof)
            - 0.5 * (df * (dof * PI * factor).ln() + cholesky.ln_det());
        let root = Mat::from_fn(d, d, |i, j| cholesky.at(i, j));
        Ok(Predictive { m: self.m.clone(), root, ln_constant, exponent: 0.5 * (dof + df), scale: factor * dof })
    }

    /// A draw of (μ, Σ), by the Bartlett decomposition of Σ⁻¹ ~ Wishart(Ψ⁻¹, ν).
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<Cluster, NumericalError> {
        let d = self.m.len();
        // Ψ = LLᵀ and T is Bartlett's lower triangle: Σ = (L T⁻ᵀ)(L T⁻ᵀ)ᵀ.
        let psi = Cholesky::new(&self.psi, "clusters")?;
        let mut t = Mat::zeros(d, d);
        for i in 0..d {
            for j in 0..i {
                t[(i, j)] = normal(rng);
            }
            let chi = ChiSquared::new(self.nu - i as f64).map_or(f64::NAN, |c| rng.sample(c));
            t[(i, i)] = chi.sqrt();
        }
        // Row i of L T⁻ᵀ solves T a = L[i, ·].
        let mut root = Mat::zeros(d, d);
        for i in 0..d {
            for j in 0..d {
                let before: f64 = (0..j).map(|k| t[(j, k)] * root[(i, k)]).sum();
                root[(i, j)] = (psi.at(i, j) - before) / t[(j, j)];
            }
        }
        let sigma = Mat::from_fn(d, d, |i, j| root.row(i).iter().zip(root.row(j)).map(|(a, b)| a * b).sum());
        let z = super::normals(d, rng);
        let mu = (0..d)
            .map(|i| self.m[i] + root.row(i).iter().zip(&z).map(|(a, z)| a * z).sum::<f64>() / self.lambda.sqrt())
            .collect();
        Cluster::new(mu, sigma)
    }

    /// ln p(μ, Σ), a density over μ and the upper triangle of Σ.
    pub fn ln_density(&self, mu: &[f64], sigma: &Mat) -> Result<f64, NumericalError> {
        let d = mu.len();
        let df = d as f64;
        let cholesky = Cholesky::new(sigma, "clusters")?;
        let psi = Cholesky::new(&self.psi, "clusters")?;
        let mut r: Vec<f64> = mu.iter().zip(&self.m).map(|(a, b)| a - b).collect();
        cholesky.solve_lower(&mut r);
        let normal = -0.5 * self.lambda * r.iter().map(|v| v * v).sum::<f64>() + 0.5 * df * self.lambda.ln()
            - 0.5 * cholesky.ln_det()
            - df * LN_SQRT_2PI;
        let inverse = cholesky.inverse();
        let trace: f64 = (0..d).map(|i| crate::simd::dot(inverse.row(i), self.psi.row(i))).sum();
        let wishart = 0.5 * self.nu * psi.ln_det()
            - 0.5 * (self.nu + df + 1.0) * cholesky.ln_det()
            - 0.5 * trace
            - 0.5 * self.nu * df * 2_f64.ln()
            - 0.25 * df * (df - 1.0) * PI.ln()
            - (0..d).map(|i| ln_gamma(0.5 * (self.nu - i as f64))).sum::<f64>();
        Ok(normal + wishart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn example() -> Niw {
        Niw { m: vec![0.3, -0.2], lambda: 2.0, psi: Mat::from_vec(2, 2, vec![1.2, 0.3, 0.3, 0.8]), nu: 7.0 }
    }

    #[test]
    fn draws_have_the_exact_moments() {
        // E[Σ] = Ψ/(ν−D−1); E[(μ−m)(μ−m)ᵀ] = Ψ/(λ(ν−D−1)); E[Σ⁻¹] = νΨ⁻¹.
        let law = example();
        let mut rng = Stream::new(5).rng();
        let draws: Vec<Cluster> = (0..100_000).map(|_| law.draw(&mut rng).unwrap()).collect();
        let check = |name: &str, truth: f64, values: Vec<f64>| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let var = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            assert!((mean - truth).abs() < 4.5 * (var / n).sqrt(), "{name}: {mean} for {truth}");
        };
        let psi_inverse = Cholesky::new(&law.psi, "test").unwrap().inverse();
        for i in 0..2 {
            for j in 0..=i {
                check("Σ", law.psi[(i, j)] / 4.0, draws.iter().map(|c| c.sigma[(i, j)]).collect());
                check(
                    "μ",
                    law.psi[(i, j)] / 8.0,
                    draws.iter().map(|c| (c.mu[i] - law.m[i]) * (c.mu[j] - law.m[j])).collect(),
                );
                let inverse = |c: &Cluster| Cholesky::new(&c.sigma, "test").unwrap().inverse()[(i, j)];
                check("Σ⁻¹", 7.0 * psi_inverse[(i, j)], draws.iter().map(inverse).collect());
            }
        }
    }

    #[test]
    fn bayes_rule_holds_exactly() {
        // predictive(w) = p(w | μ, Σ) p(μ, Σ) / p(μ, Σ | w) at any (μ, Σ).
        let law = example();
        let mut rng = Stream::new(6).rng();
        for _ in 0..20 {
            let at = law.draw(&mut rng).unwrap();
            let w = super::super::normals(2, &mut rng);
            let posterior = law.posterior(std::iter::once(w.as_slice()));
            let evidence = at.ln_density(&w) + law.ln_density(&at.mu, &at.sigma).unwrap()
                - posterior.ln_density(&at.mu, &at.sigma).unwrap();
            assert!((evidence - law.predictive().unwrap().ln_density(&w)).abs() < 1e-10);
        }
    }
}
