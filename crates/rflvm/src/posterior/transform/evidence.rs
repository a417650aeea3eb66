//! Importance sampling of a new position: a proposal that covers the modes of the posterior, and the weights of its draws.
//!
//! q(u) = ε N(0, I) + Σ_k π_k t_ν(u_k, A_k⁻¹): the prior, so that weights are bounded (Hesterberg 1995), and a
//! Student-t about each mode. With weights v_i = p(y | u_i) N(u_i; 0, I)/q(u_i), their mean is an unbiased estimate of
//! p(y | W, β, θ), and a draw chosen by its weight is approximately a posterior draw.

use super::search::Mode;
use super::target::{square, square_apart};
use crate::dist::{ln_gamma, ln_sum_exp, normal, normals};
use crate::linalg::Cholesky;
use rand::{Rng, RngExt};
use std::f64::consts::{PI, TAU};

/// Draws of the proposal.
pub(super) const DRAWS: usize = 16;
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
    /// A draw chosen by its weight, and ln of that.
    pub u: Vec<f64>,
    pub ln_weight: f64,
}

/// What a slice about the present point keeps: the ellipse through it.
pub struct Turn {
    centre: Vec<f64>,
    auxiliary: Vec<f64>,
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

    /// ln v, if the log-likelihood at u is this.
    pub fn ln_weight(&self, u: &[f64], ln_lik: f64) -> f64 {
        let standard = ln_standard(u);
        let hills = self.hills.iter().map(|hill| hill.share + hill.ln_student(u));
        let ln_density = hills.fold(self.prior + standard, |sum, term| {
            let (low, high) = if sum < term { (sum, term) } else { (term, sum) };
            high + (low - high).exp().ln_1p()
        });
        ln_lik + standard - ln_density
    }

    /// The ellipse of a slice: of a component k of q in proportion to π_k q_k(u)/q(u), which is a Gaussian given the variance of its Student-t. What a slice on
    /// it compares is the posterior over q, the weight v, which hardly varies: almost every candidate is accepted, and is far from u. Any choice given u of
    /// k and of the variance leaves the posterior invariant if both are drawn from their joint distribution with u (Nishihara, Murray & Adams 2014).
    pub fn turn<R: Rng + ?Sized>(&self, u: &[f64], rng: &mut R) -> Turn {
        let terms: Vec<f64> = self.hills.iter().map(|hill| hill.share + hill.ln_student(u)).collect();
        let of_prior = self.prior + ln_standard(u);
        let total = ln_sum_exp(&[&terms[..], &[of_prior]].concat());
        let mut auxiliary = normals(self.dim, rng);
        let mut left = rng.random::<f64>();
        let chosen = self.hills.iter().zip(&terms).find(|(_, term)| {
            left -= (*term - total).exp();
            left < 0.0
        });
        let Some((hill, _)) = chosen else { return Turn { centre: vec![0.0; self.dim], auxiliary } };
        let chi: f64 = (0..FREEDOM as usize + self.dim).map(|_| normal(rng).powi(2)).sum();
        let stretch = ((FREEDOM + square_apart(&hill.factor, u, &hill.top)) / chi).sqrt();
        hill.factor.solve_upper(&mut auxiliary);
        auxiliary.iter_mut().for_each(|value| *value *= stretch);
        Turn { centre: hill.top.clone(), auxiliary }
    }

    /// A draw from the component that covers this point of [0, 1].
    fn draw<R: Rng + ?Sized>(&self, mut place: f64, rng: &mut R, u: &mut [f64]) {
        u.iter_mut().for_each(|u| *u = normal(rng));
        for Hill { share, top, factor, .. } in &self.hills {
            place -= share.exp();
            if place < 0.0 {
                factor.solve_upper(u);
                let chi: f64 = (0..FREEDOM as usize).map(|_| normal(rng).powi(2)).sum();
                let stretch = (FREEDOM / chi).sqrt();
                u.iter_mut().zip(top).for_each(|(u, top)| *u = top + stretch * *u);
                return;
            }
        }
    }

    /// Draws, one after another.
    pub fn draws<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<f64> {
        // Systematic sampling: each component gets its share of draws, to within one.
        let start = rng.random::<f64>();
        let mut drawn = vec![0.0; DRAWS * self.dim];
        let each = drawn.chunks_exact_mut(self.dim).enumerate();
        each.for_each(|(i, u)| self.draw((i as f64 + start) / DRAWS as f64, rng, u));
        drawn
    }

    /// One of the draws, by their weights; `None` if none has positive likelihood.
    pub fn choose<R: Rng + ?Sized>(&self, drawn: &[f64], ln_lik: &[f64], rng: &mut R) -> Option<Sampled> {
        let each = drawn.chunks_exact(self.dim).zip(ln_lik);
        let weights: Vec<f64> = each.map(|(u, ln_lik)| self.ln_weight(u, *ln_lik)).collect();
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
        let (ln_evidence, u) = (total - (DRAWS as f64).ln(), drawn[chosen * self.dim..][..self.dim].to_vec());
        Some(Sampled { ln_evidence, u, ln_weight: weights[chosen] })
    }
}

/// ln N(u; 0, I).
fn ln_standard(u: &[f64]) -> f64 {
    -0.5 * (square(u) + u.len() as f64 * TAU.ln())
}

impl Turn {
    /// The candidate of a slice from u.
    pub fn candidate(&self, (cos, sin): (f64, f64), u: &[f64]) -> Vec<f64> {
        let around = u.iter().zip(&self.centre).zip(&self.auxiliary);
        around.map(|((u, centre), nu)| centre + cos * (u - centre) + sin * nu).collect()
    }
}

impl Hill {
    /// ln t_ν(u; top, A⁻¹), A = LLᵀ factored.
    fn ln_student(&self, u: &[f64]) -> f64 {
        self.height - 0.5 * (FREEDOM + u.len() as f64) * (square_apart(&self.factor, u, &self.top) / FREEDOM).ln_1p()
    }
}
