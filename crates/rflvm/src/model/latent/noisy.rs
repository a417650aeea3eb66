//! A path seen through noise at some of its rows: r = x + e, e_n ~ N(0, v_n). The filter integrates x out in O(N), and Matheron's rule
//! draws it: a path x' and noise e' from their priors make x' + C(C + V)⁻¹(r − x' − e') a draw of x given r.

use super::markov::{Gain, Markov};
use crate::dist::{LN_SQRT_2PI, normal, normals};
use rand::Rng;

/// The filter of a path that is seen through noise.
#[derive(Debug)]
pub(super) struct Noisy<'a> {
    path: &'a Markov,
    /// v_n; infinite where the row is hidden.
    variance: Vec<f64>,
    gains: Vec<Gain>,
}

impl<'a> Noisy<'a> {
    /// The variance of the noise at each row, infinite for a hidden row.
    pub fn new(path: &'a Markov, variance: Vec<f64>) -> Self {
        let gains = path.filter_through(&|n| variance[n].is_finite().then(|| path.noise(n) + variance[n]));
        Noisy { path, variance, gains }
    }

    /// Number of rows that are seen.
    pub fn seen(&self) -> usize {
        self.gains.iter().filter(|gain| gain.root > 0.0).count()
    }

    /// ln p(r) of the rows that are seen, with the path integrated out.
    pub fn ln_density(&self, r: &[f64]) -> f64 {
        let seen = self.gains.iter().filter(|gain| gain.root > 0.0);
        let constant: f64 = seen.map(|gain| gain.root.ln() + LN_SQRT_2PI).sum();
        -0.5 * self.whiten(r).iter().map(|u| u * u).sum::<f64>() - constant
    }

    /// Innovations of r in units of their standard deviations: independent standard normals. Zero where hidden.
    pub fn whiten(&self, r: &[f64]) -> Vec<f64> {
        self.path.innovations(&self.gains, r)
    }

    /// [`Noisy::whiten`] of the columns of a table, whose row n is `row(n)` times `factor`.
    pub fn whiten_rows<'b>(&self, factor: f64, row: impl Fn(usize) -> &'b [f64], out: &mut [f64]) {
        self.path.innovations_of(&self.gains, factor, row, out);
    }

    /// E[x | r], hidden rows included.
    pub fn expected(&self, r: &[f64]) -> Vec<f64> {
        let solved = self.path.innovations_back(&self.gains, &self.whiten(r));
        self.path.colour(&self.path.colour_back(&solved))
    }

    /// Var[x | r] at the hidden rows; elsewhere that of the part of x that other rows tell.
    pub fn variances(&self) -> Vec<f64> {
        self.path.smoothed(&|n| self.variance[n].is_finite().then(|| self.path.noise(n) + self.variance[n]))
    }

    /// A draw of x given r.
    pub fn draw<R: Rng + ?Sized>(&self, r: &[f64], rng: &mut R) -> Vec<f64> {
        let mut path = self.path.colour(&normals(r.len(), rng));
        let mut rest = vec![0.0; r.len()];
        for n in (0..r.len()).filter(|&n| self.variance[n].is_finite()) {
            rest[n] = r[n] - path[n] - self.variance[n].sqrt() * normal(rng);
        }
        path.iter_mut().zip(self.expected(&rest)).for_each(|(x, told)| *x += told);
        path
    }
}
