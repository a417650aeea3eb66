//! Importance sampling of a new position: a proposal that covers the modes of the posterior, and the weights of its draws.
//!
//! q(u) = ε N(0, I) + Σ_k π_k t_ν(u_k, A_k⁻¹): the prior, so that weights are bounded (Hesterberg 1995), and a
//! Student-t about each mode. With weights v_i = p(y | u_i) N(u_i; 0, I)/q(u_i), their mean is an unbiased estimate of
//! p(y | W, β, θ), and a draw chosen by its weight is approximately a posterior draw.

use super::search::Mode;
use super::target::{Target, square};
use crate::dist::{ln_gamma, ln_sum_exp, normal, normals};
use crate::linalg::Cholesky;
use crate::model::position::Scratch;
use rand::{Rng, RngExt};
use std::f64::consts::{PI, TAU};

/// Draws of the proposal.
pub(super) const DRAWS: usize = 32;
/// ε: the weight of the prior.
const DEFENSIVE: f64 = 0.1;
/// The fraction distributed evenly over all modes, whatever their estimated mass.
const EVEN: f64 = 0.1;
/// ν, degrees of freedom.
const FREEDOM: f64 = 4.0;

/// Result of a row's importance sample.
pub struct Sampled {
    /// The estimate of ln p(y | W, β, θ), without the part that does not depend on f.
    pub ln_evidence: f64,
    /// A draw chosen by its weight, and its log-likelihood.
    pub u: Vec<f64>,
    pub ln_lik: f64,
}

/// The mixture q.
pub struct Proposal {
    dim: usize,
    hills: Vec<Hill>,
    /// ln of the prior's weight.
    prior: f64,
}

/// A Student-t.
struct Hill {
    /// ln π_k.
    share: f64,
    /// u_k.
    top: Vec<f64>,
    /// That of A_k.
    factor: Cholesky,
    /// Its log density at the top.
    height: f64,
}

impl Proposal {
    pub fn new(dim: usize, modes: Vec<Mode>) -> Self {
        let count = modes.len() as f64;
        let total = ln_sum_exp(&modes.iter().map(|m| m.ln_mass).collect::<Vec<_>>());
        let share = |mode: &Mode| (1.0 - EVEN) * (mode.ln_mass - total).exp() + EVEN / count;
        let prior = if modes.is_empty() { 0.0 } else { DEFENSIVE.ln() };
        let (half, d) = (0.5 * (FREEDOM + dim as f64), dim as f64);
        let constant = ln_gamma(half) - ln_gamma(0.5 * FREEDOM) - 0.5 * d * (FREEDOM * PI).ln();
        let hill = |mode: Mode| Hill {
            share: ((1.0 - DEFENSIVE) * share(&mode)).ln(),
            height: constant + 0.5 * mode.factor.ln_det(),
            top: mode.u,
            factor: mode.factor,
        };
        Proposal { dim, hills: modes.into_iter().map(hill).collect(), prior }
    }

    /// ln q(u).
    fn ln_density(&self, u: &[f64]) -> f64 {
        let mut terms = vec![self.prior + ln_standard(u)];
        terms.extend(self.hills.iter().map(|hill| hill.share + hill.ln_student(u)));
        ln_sum_exp(&terms)
    }

    /// A draw from the component that covers this point of [0, 1].
    fn draw<R: Rng + ?Sized>(&self, mut place: f64, rng: &mut R) -> Vec<f64> {
        let mut u = normals(self.dim, rng);
        for Hill { share, top, factor, .. } in &self.hills {
            place -= share.exp();
            if place < 0.0 {
                factor.solve_upper(&mut u);
                let chi: f64 = (0..FREEDOM as usize).map(|_| normal(rng).powi(2)).sum();
                let stretch = (FREEDOM / chi).sqrt();
                u.iter_mut().zip(top).for_each(|(u, top)| *u = top + stretch * *u);
                return u;
            }
        }
        u
    }

    /// Draws and weights; `None` if no draw has positive likelihood.
    pub fn sample<R: Rng + ?Sized>(&self, target: &Target<'_>, scratch: &mut Scratch, rng: &mut R) -> Option<Sampled> {
        let drawn = self.draws(rng);
        let ln_lik = target.ln_lik_of_several(&drawn, scratch);
        self.choose(drawn, &ln_lik, rng)
    }

    /// Draws.
    pub fn draws<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<Vec<f64>> {
        // Systematic sampling: each component gets its share of draws, to within one.
        let start = rng.random::<f64>();
        (0..DRAWS).map(|i| self.draw((i as f64 + start) / DRAWS as f64, rng)).collect()
    }

    /// One of the draws, by their weights; `None` if none has positive likelihood.
    pub fn choose<R: Rng + ?Sized>(&self, mut drawn: Vec<Vec<f64>>, ln_lik: &[f64], rng: &mut R) -> Option<Sampled> {
        let weight = |(u, ln_lik): (&Vec<f64>, &f64)| ln_lik + ln_standard(u) - self.ln_density(u);
        let weights: Vec<f64> = drawn.iter().zip(ln_lik).map(weight).collect();
        let total = ln_sum_exp(&weights);
        if !total.is_finite() {
            return None;
        }
        let mut left = rng.random::<f64>();
        let chosen = weights.iter().position(|weight| {
            left -= (weight - total).exp();
            left < 0.0
        });
        // Rounding may leave a remainder: choose the heaviest.
        let heaviest = || (0..DRAWS).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
        let chosen = chosen.unwrap_or_else(heaviest);
        Some(Sampled { ln_evidence: total - (DRAWS as f64).ln(), u: drawn.swap_remove(chosen), ln_lik: ln_lik[chosen] })
    }
}

/// ln N(u; 0, I).
fn ln_standard(u: &[f64]) -> f64 {
    -0.5 * (square(u) + u.len() as f64 * TAU.ln())
}

impl Hill {
    /// ln t_ν(u; top, A⁻¹), A = LLᵀ factored.
    fn ln_student(&self, u: &[f64]) -> f64 {
        let mut apart: Vec<f64> = u.iter().zip(&self.top).map(|(u, top)| u - top).collect();
        self.factor.mul_upper(&mut apart);
        self.height - 0.5 * (FREEDOM + u.len() as f64) * (square(&apart) / FREEDOM).ln_1p()
    }
}
