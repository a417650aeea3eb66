//! A column process g_j = a·x: in each sequence x is a path of unit variance with a state-space kernel, independent of the positions.
//! Everything is O(N).
//!
//! A millionth of its variance is white noise, so that rows at the same time, or far closer than a length-scale, can be computed with.

use super::ahead::Joined;
use super::axis::Axis;
use super::dynamics::Dynamics;
use super::kernel::TimeKernel;
use super::markov::Markov;
use super::noisy::Noisy;
use super::problem::Problem;
use crate::dist::normals;
use crate::linalg::Mat;
use crate::rng::Stream;
use rand::Rng;

/// Share of white noise in the variance of a column process.
const NOISE: f64 = 1e-6;

/// Paths of unit variance with one length-scale, one per sequence.
#[derive(Debug)]
pub struct ColumnPath<'a> {
    dynamics: &'a Dynamics,
    paths: Vec<Markov>,
}

fn unit_path(kernel: TimeKernel, period: f64, times: &[f64], length_scale: f64) -> Markov {
    let axis = Axis { length_scale, noise: NOISE };
    Markov::new(&Problem { kernel, period, times, trend: None, axis, extra: None })
}

impl Dynamics {
    /// A column process of the given length-scale, in units of the span.
    pub fn column_path(&self, kernel: TimeKernel, length_scale: f64) -> ColumnPath<'_> {
        let period = self.period();
        let paths = self.sequences.iter().map(|s| unit_path(kernel, period, &s.times, length_scale)).collect();
        ColumnPath { dynamics: self, paths }
    }

    /// A draw of a column process at new times of one sequence, given the path `g` at the rows; as [`Dynamics::ahead`].
    pub fn column_path_ahead(
        &self,
        kernel: TimeKernel,
        (amplitude, length_scale): (f64, f64),
        g: &[f64],
        sequence: usize,
        times: &[f64],
        stream: Stream,
    ) -> Vec<f64> {
        let joined = Joined::new(self, sequence, times);
        let mut values = joined.values_of(|n| g[n] / amplitude);
        unit_path(kernel, self.period(), joined.moments(), length_scale).fill(
            joined.hidden(),
            &mut values,
            &mut stream.rng(),
        );
        let mut drawn = vec![0.0; times.len()];
        joined.new_ones().for_each(|(n, i)| drawn[i] = amplitude * values[n]);
        drawn
    }
}

impl ColumnPath<'_> {
    /// The rows, sequence after sequence, each in the order of its times.
    fn rows(&self) -> impl Iterator<Item = usize> {
        self.dynamics.sequences.iter().flat_map(|s| s.rows.iter().copied())
    }

    /// Values of each sequence, in the order of its times.
    fn along<'b>(&'b self, values: &'b [f64], factor: f64) -> impl Iterator<Item = Vec<f64>> {
        self.dynamics.sequences.iter().map(move |s| s.rows.iter().map(|&n| factor * values[n]).collect())
    }

    /// ln p(g).
    pub fn ln_density(&self, amplitude: f64, g: &[f64]) -> f64 {
        let (u, count) = (self.whiten(amplitude, g), g.len() as f64);
        let ln_det: f64 = self.paths.iter().map(Markov::ln_det).sum();
        -0.5 * (u.iter().map(|u| u * u).sum::<f64>() + ln_det + count * std::f64::consts::TAU.ln())
            - count * amplitude.ln()
    }

    /// u with g = colour(u), sequence after sequence.
    pub fn whiten(&self, amplitude: f64, g: &[f64]) -> Vec<f64> {
        self.paths.iter().zip(self.along(g, amplitude.recip())).flat_map(|(path, g)| path.whiten(&g)).collect()
    }

    /// g made from standard normals u, one per row.
    pub fn colour(&self, amplitude: f64, u: &[f64]) -> Vec<f64> {
        let mut rest = u;
        let paths = self.paths.iter().flat_map(|path| {
            let (own, others) = rest.split_at(path.rows());
            rest = others;
            path.colour(own)
        });
        let mut g = vec![0.0; u.len()];
        self.rows().zip(paths).for_each(|(n, x)| g[n] = amplitude * x);
        g
    }

    /// A draw of g.
    pub fn draw<R: Rng + ?Sized>(&self, amplitude: f64, rng: &mut R) -> Vec<f64> {
        let count = self.rows().count();
        self.colour(amplitude, &normals(count, rng))
    }

    /// A draw of g_n given the path at all other rows.
    pub fn without<R: Rng + ?Sized>(&self, amplitude: f64, g: &[f64], n: usize, rng: &mut R) -> f64 {
        let parts = self.dynamics.sequences.iter().zip(&self.paths).zip(self.along(g, amplitude.recip()));
        for ((sequence, path), mut values) in parts {
            if let Some(place) = sequence.rows.iter().position(|&row| row == n) {
                let hidden: Vec<bool> = (0..values.len()).map(|i| i == place).collect();
                path.fill(&hidden, &mut values, rng);
                return amplitude * values[place];
            }
        }
        0.0
    }

    /// The path seen through noise of the given variance at each row, infinite where it is not seen.
    pub fn through(&self, amplitude: f64, variance: &[f64]) -> Seen<'_> {
        let along = self.along(variance, amplitude.powi(-2));
        Seen { own: self, amplitude, parts: self.paths.iter().zip(along).map(|(p, v)| Noisy::new(p, v)).collect() }
    }
}

/// r = g + noise.
#[derive(Debug)]
pub struct Seen<'a> {
    own: &'a ColumnPath<'a>,
    amplitude: f64,
    parts: Vec<Noisy<'a>>,
}

impl Seen<'_> {
    /// ln p(r) with g integrated out; rows that are not seen do not count.
    pub fn ln_density(&self, r: &[f64]) -> f64 {
        let along = self.own.along(r, self.amplitude.recip());
        let each = self.parts.iter().zip(along).map(|(part, r)| part.ln_density(&r));
        each.sum::<f64>() - self.count() * self.amplitude.ln()
    }

    /// Number of rows that are seen.
    fn count(&self) -> f64 {
        self.parts.iter().map(|part| part.seen() as f64).sum()
    }

    /// L⁻¹r for the covariance LLᵀ of r, sequence after sequence; zero where not seen.
    pub fn whiten(&self, r: &[f64]) -> Vec<f64> {
        let along = self.own.along(r, self.amplitude.recip());
        self.parts.iter().zip(along).flat_map(|(part, r)| part.whiten(&r)).collect()
    }

    /// L⁻¹H, in the same order.
    pub fn whiten_rows(&self, h: &Mat) -> Mat {
        let mut white = Mat::zeros(h.rows(), h.cols());
        let mut rest = white.as_mut_slice();
        for (part, sequence) in self.parts.iter().zip(&self.own.dynamics.sequences) {
            let (out, others) = rest.split_at_mut(sequence.rows.len() * h.cols());
            part.whiten_rows(self.amplitude.recip(), |i| h.row(sequence.rows[i]), out);
            rest = others;
        }
        white
    }

    /// E[g | r].
    pub fn expected(&self, r: &[f64]) -> Vec<f64> {
        self.each(r, |part, r| part.expected(r))
    }

    /// Var[g | r] at the rows that are not seen; elsewhere without the millionth of white noise.
    pub fn variances(&self) -> Vec<f64> {
        let mut variances = vec![0.0; self.own.rows().count()];
        let parts = self.parts.iter().flat_map(Noisy::variances);
        self.own.rows().zip(parts).for_each(|(n, v)| variances[n] = self.amplitude.powi(2) * v);
        variances
    }

    /// A draw of g given r.
    pub fn draw<R: Rng + ?Sized>(&self, r: &[f64], rng: &mut R) -> Vec<f64> {
        self.each(r, |part, r| part.draw(r, rng))
    }

    fn each(&self, r: &[f64], mut of: impl FnMut(&Noisy<'_>, &[f64]) -> Vec<f64>) -> Vec<f64> {
        let along = self.own.along(r, self.amplitude.recip());
        let paths = self.parts.iter().zip(along).flat_map(|(part, r)| of(part, &r));
        let mut g = vec![0.0; r.len()];
        self.own.rows().zip(paths).for_each(|(n, x)| g[n] = self.amplitude * x);
        g
    }
}

#[cfg(test)]
mod tests;
