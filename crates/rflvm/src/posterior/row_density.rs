//! The density of a row whose position is not known: p(y_n | W, β, θ) = ∫ p(y_n | x, W, β, θ) N(x; 0, I) dx.
//!
//! By importance sampling: with points x_i from Student-t distributions about two modes and from the prior, the mean of
//! p(y_n | x_i) N(x_i; 0, I) / q(x_i) over all of them, q the mixture of the three. One mode is sought from the row's own
//! position, the other from the best of some draws of the prior. Both by Fisher scoring, A = I + Jᵀ diag(information) J
//! with J = df/dx; the prior's share bounds the weights.

use super::psis::ln_sum_exp;
use crate::dist::{LN_SQRT_2PI, gamma, ln_gamma, normals};
use crate::error::NumericalError;
use crate::kernels;
use crate::linalg::{Cholesky, Mat};
use crate::model::features::{Turned, fill_row};
use crate::model::{Model, State};
use crate::rng::StreamRng;
use std::f64::consts::PI;

/// Points about each mode, and of the prior.
const NEAR: [usize; 2] = [24, 16];
const PRIOR: usize = 10;
const POINTS: usize = NEAR[0] + NEAR[1] + PRIOR;
/// Draws of the prior among which the second mode is sought.
const PILOTS: usize = 20;
/// Degrees of freedom: tails heavier than those of any posterior of x.
const DOF: f64 = 4.0;
/// Steps of Fisher scoring at most.
const STEPS: usize = 8;

/// Rows of one state.
pub struct RowDensity<'a> {
    model: &'a Model,
    state: &'a State,
    turned: Turned,
}

/// A position, its features, f and ln p(y_n | x) − |x|²/2.
struct Place {
    x: Vec<f64>,
    h: Vec<f64>,
    f: Vec<f64>,
    ln_target: f64,
}

impl Place {
    fn ln_likelihood(&self) -> f64 {
        self.ln_target + 0.5 * square(&self.x)
    }
}

/// A multivariate Student-t distribution.
struct Bell {
    centre: Vec<f64>,
    /// Of the inverse of its squared scale.
    cholesky: Cholesky,
}

impl Bell {
    fn draw(&self, rng: &mut StreamRng) -> Vec<f64> {
        let mut x = normals(self.centre.len(), rng);
        self.cholesky.solve_upper(&mut x);
        let stretch = (0.5 * DOF / gamma(0.5 * DOF, 1.0, rng)).sqrt();
        x.iter().zip(&self.centre).map(|(x, c)| c + stretch * x).collect()
    }

    fn ln_density(&self, x: &[f64]) -> f64 {
        let dim = x.len() as f64;
        let half = 0.5 * (DOF + dim);
        let mut scaled: Vec<f64> = x.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
        self.cholesky.mul_upper(&mut scaled);
        ln_gamma(half) - ln_gamma(0.5 * DOF) - 0.5 * dim * (DOF * PI).ln() + 0.5 * self.cholesky.ln_det()
            - half * (square(&scaled) / DOF).ln_1p()
    }
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

impl<'a> RowDensity<'a> {
    /// At a state's W, β and θ.
    pub fn new(model: &'a Model, state: &'a State) -> Self {
        RowDensity { model, state, turned: Turned::new(state.features.w()) }
    }

    /// ln p(y_n | W, β, θ), from random points.
    pub fn ln(&self, n: usize, rng: &mut StreamRng) -> Result<f64, NumericalError> {
        let x = self.state.features.x().row(n);
        let pilots = (0..PILOTS).map(|_| self.place(n, normals(x.len(), rng)));
        let pilot = pilots.max_by(|a, b| a.ln_likelihood().total_cmp(&b.ln_likelihood()));
        let own = self.place(n, x.to_vec());
        let bells = [self.bell(n, own)?, self.bell(n, pilot.unwrap_or_else(|| self.place(n, x.to_vec())))?];
        let ln_prior = |x: &[f64]| -0.5 * square(x) - x.len() as f64 * LN_SQRT_2PI;
        let price = |x: Vec<f64>| {
            let share = |points: usize| (points as f64 / POINTS as f64).ln();
            let of_bell = |i: usize| share(NEAR[i]) + bells[i].ln_density(&x);
            let ln_mixture = ln_sum_exp(&[of_bell(0), of_bell(1), share(PRIOR) + ln_prior(&x)]);
            let place = self.place(n, x);
            place.ln_target - place.x.len() as f64 * LN_SQRT_2PI - ln_mixture
        };
        let mut values: Vec<f64> = Vec::with_capacity(POINTS);
        for (bell, points) in bells.iter().zip(NEAR) {
            values.extend((0..points).map(|_| price(bell.draw(rng))));
        }
        values.extend((0..PRIOR).map(|_| price(normals(x.len(), rng))));
        Ok(ln_sum_exp(&values) - (POINTS as f64).ln())
    }

    fn place(&self, n: usize, x: Vec<f64>) -> Place {
        let (state, model) = (self.state, self.model);
        let (mut argument, mut h) = (vec![0.0; model.frequencies()], vec![0.0; state.beta.rows()]);
        fill_row(&x, &self.turned, &mut argument, &mut h);
        let mut f = vec![model.offset()[n]; model.columns()];
        kernels::vecmat(&h, state.beta.as_slice(), &mut f);
        let ln_target = model.log_density_row(&state.theta, n, &f) - 0.5 * square(&x);
        // A point where the density overflows is as good as one where it is zero.
        let ln_target = if ln_target.is_nan() { f64::NEG_INFINITY } else { ln_target };
        Place { x, h, f, ln_target }
    }

    /// The Student-t about the mode that Fisher scoring finds from a place.
    fn bell(&self, n: usize, mut at: Place) -> Result<Bell, NumericalError> {
        let (mut gradient, mut cholesky) = self.curvature(n, &at)?;
        for _ in 0..STEPS {
            cholesky.solve(&mut gradient);
            let mut step = 1.0;
            let better = (0..6).find_map(|_| {
                let x = at.x.iter().zip(&gradient).map(|(x, g)| x + step * g).collect();
                step *= 0.5;
                Some(self.place(n, x)).filter(|next| next.ln_target > at.ln_target)
            });
            let Some(next) = better else { break };
            let gain = next.ln_target - at.ln_target;
            at = next;
            (gradient, cholesky) = self.curvature(n, &at)?;
            if gain < 1e-3 {
                break;
            }
        }
        Ok(Bell { centre: at.x, cholesky })
    }

    /// The gradient of the target, and the factor of A.
    fn curvature(&self, n: usize, at: &Place) -> Result<(Vec<f64>, Cholesky), NumericalError> {
        let (model, state) = (self.model, self.state);
        let (columns, dim, frequencies) = (model.columns(), at.x.len(), model.frequencies());
        let (mut slope, mut information) = (vec![0.0; columns], vec![0.0; columns]);
        model.gradient_row(&state.theta, n, &at.f, &mut slope);
        for (block, theta) in model.blocks().iter().zip(&state.theta) {
            let c = block.columns.clone();
            block.family.information(model.row(block, n, theta), &at.f[c.clone()], &mut information[c]);
        }
        // A missing cell tells nothing, whatever its family makes of it.
        for j in (0..columns).filter(|&j| model.y()[(n, j)].is_nan()) {
            (slope[j], information[j]) = (0.0, 0.0);
        }
        let mut jacobian = Mat::zeros(dim, columns);
        let w = state.features.w();
        let mut turned = vec![0.0; state.beta.rows()];
        for d in 0..dim {
            for l in 0..frequencies {
                turned[l] = at.h[frequencies + l] * w[(l, d)];
                turned[frequencies + l] = -at.h[l] * w[(l, d)];
            }
            kernels::vecmat(&turned, state.beta.as_slice(), jacobian.row_mut(d));
        }
        let gradient = (0..dim).map(|d| kernels::dot(jacobian.row(d), &slope) - at.x[d]).collect();
        let a = Mat::from_fn(dim, dim, |a, b| {
            let (u, v) = (jacobian.row(a), jacobian.row(b));
            let product: f64 = u.iter().zip(v).zip(&information).map(|((u, v), i)| u * v * i).sum();
            product + if a == b { 1.0 } else { 0.0 }
        });
        Ok((gradient, Cholesky::new(&a, "row density")?))
    }
}

#[cfg(test)]
mod tests;
