//! Hamiltonian Monte Carlo (Neal 2011) on any log density with a gradient; independent of the model.

use crate::dist::{normal, normals};
use crate::linalg::{Mat, View, mul};
use crate::simd;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A Hamiltonian trajectory: scales of the coordinates, step size in these units, number of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// Standard deviation of each coordinate of q; zero for a coordinate that is held fixed.
    pub scales: Vec<f64>,
    /// Directions along which the first coordinates of q move together, each as long as the posterior is wide along it. Each has its
    /// own momentum besides those of the coordinates. May be empty.
    pub modes: Modes,
    /// Step size.
    pub step: f64,
    /// Mean number of leapfrog steps.
    pub leapfrogs: usize,
}

/// Coordinates that rotate, and their momenta.
pub type Turning<'a> = (&'a mut [f64], &'a mut [f64]);

/// A log density with its gradient.
pub trait Potential {
    /// ln p(q) up to a constant, and its gradient in `g`.
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64;

    /// Coordinates that the potential holds besides q. They have a standard normal density besides what `evaluate` returns, and rotate
    /// with their momenta by the exact flow of that density, so that the step need not shrink with their number.
    fn turning(&mut self) -> Vec<Turning<'_>> {
        Vec::new()
    }

    /// Adds `step` times their gradient at the last `evaluate` to their momenta, once. There may be as many of them as
    /// cells of the table, so their gradient is never stored.
    fn kick(&mut self, _step: f64) {}
}

/// Directions along which the first coordinates of q move together, each with its own momentum: q' = Ar, r' = Aᵀg.
pub trait Directions {
    /// Number of momenta.
    fn count(&self) -> usize;
    /// q ← q + step·Ar.
    fn push(&self, r: &[f64], step: f64, q: &mut [f64]);
    /// r ← r + step·Aᵀg.
    fn pull(&self, g: &[f64], step: f64, r: &mut [f64]);
}

/// Directions of the first N·D coordinates as VᵀC. Each column c of C, of length R·D, gives one: row n moves by Σ_r v_rn c_r.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Modes {
    /// V, R×N: functions of the rows.
    pub functions: Mat,
    /// C, (R·D)×directions.
    pub coefficients: Mat,
}

impl Modes {
    /// D.
    fn dim(&self) -> usize {
        self.coefficients.rows() / self.functions.rows().max(1)
    }
}

impl Directions for Modes {
    fn count(&self) -> usize {
        self.coefficients.cols()
    }

    fn push(&self, r: &[f64], step: f64, q: &mut [f64]) {
        let (rank, rows, dim) = (self.functions.rows(), self.functions.cols(), self.dim());
        let c: Vec<f64> = self.coefficients.iter_rows().map(|c| step * simd::dot(c, r)).collect();
        mul(&mut q[..rows * dim], self.functions.view().transpose(), View::new(&c, rank, dim, dim), true);
    }

    fn pull(&self, g: &[f64], step: f64, r: &mut [f64]) {
        let (rank, rows, dim) = (self.functions.rows(), self.functions.cols(), self.dim());
        let mut c = vec![0.0; rank * dim];
        mul(&mut c, self.functions.view(), View::new(&g[..rows * dim], rows, dim, dim), false);
        c.iter().zip(self.coefficients.iter_rows()).for_each(|(c, own)| simd::axpy(step * c, own, r));
    }
}

/// Result of a trajectory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrajectoryEnd {
    /// Whether q is accepted; if not, q holds the rejected point, and the caller keeps the old one.
    pub is_accepted: bool,
    /// Acceptance probability.
    pub acceptance: f64,
}

/// One trajectory from `q`, in place. A coordinate of scale zero moves only together with others, along the trajectory's
/// modes and `directions`.
pub fn hamiltonian<R: Rng + ?Sized>(
    potential: &mut impl Potential,
    q: &mut [f64],
    trajectory: &Trajectory,
    directions: Option<&dyn Directions>,
    rng: &mut R,
) -> TrajectoryEnd {
    let mut g = vec![0.0; q.len()];
    // q has momenta p and r: q' = Sp + Ar, p' = Sg, r' = Aᵀg, as if q were Sa + Ab with a and b of unit mass.
    let together: Vec<&dyn Directions> = [&trajectory.modes as &dyn Directions].into_iter().chain(directions).collect();
    let mut p = normals(q.len(), rng);
    for (_, momenta) in potential.turning() {
        momenta.iter_mut().for_each(|p| *p = normal(rng));
    }
    let mut r = normals(together.iter().map(|d| d.count()).sum(), rng);
    let before = potential.evaluate(q, &mut g) - energy(potential, &p, &r);
    let steps = trajectory.steps(rng);
    let step = trajectory.step * rng.random_range(0.8..1.2);
    let mut ln_density = f64::NAN;
    trajectory.kick(potential, &together, &mut p, &mut r, &g, 0.5 * step);
    for i in 1..=steps {
        trajectory.drift(potential, &together, q, &p, &r, step);
        ln_density = potential.evaluate(q, &mut g);
        if !ln_density.is_finite() {
            return TrajectoryEnd { is_accepted: false, acceptance: 0.0 };
        }
        trajectory.kick(potential, &together, &mut p, &mut r, &g, if i == steps { 0.5 * step } else { step });
    }
    let ratio = (ln_density - energy(potential, &p, &r) - before).exp();
    // A diverging trajectory can end with a NaN momentum, and `NaN.min(1.0)` is 1.
    let acceptance = if ratio.is_nan() { 0.0 } else { ratio.min(1.0) };
    TrajectoryEnd { is_accepted: rng.random::<f64>() < acceptance, acceptance }
}

impl Trajectory {
    /// Number of steps. Lengths are exponential (Bou-Rabee & Sanz-Serna 2017): no trajectory keeps returning to its start, and
    /// for the same mean they have twice the mean square, which determines mixing along directions longer than a trajectory.
    fn steps<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        const LONGEST: f64 = 5.0;
        let mean = self.leapfrogs as f64;
        let length = (-mean * (1.0 - rng.random::<f64>()).ln()).min(LONGEST * mean);
        length.ceil().max(1.0) as usize
    }

    fn kick(
        &self,
        potential: &mut impl Potential,
        together: &[&dyn Directions],
        p: &mut [f64],
        r: &mut [f64],
        g: &[f64],
        step: f64,
    ) {
        p.iter_mut().zip(g).zip(&self.scales).for_each(|((p, g), s)| *p += step * s * g);
        potential.kick(step);
        let mut rest = r;
        for directions in together {
            let (own, others) = rest.split_at_mut(directions.count());
            directions.pull(g, step, own);
            rest = others;
        }
    }

    /// Straight, or along the exact flow of ½(q² + p²).
    fn drift(
        &self,
        potential: &mut impl Potential,
        together: &[&dyn Directions],
        q: &mut [f64],
        p: &[f64],
        r: &[f64],
        step: f64,
    ) {
        q.iter_mut().zip(p).zip(&self.scales).for_each(|((q, p), s)| *q += step * s * *p);
        let mut rest = r;
        for directions in together {
            let (own, others) = rest.split_at(directions.count());
            directions.push(own, step, q);
            rest = others;
        }
        let (sin, cos) = step.sin_cos();
        for (turning, momenta) in potential.turning() {
            simd::turn(sin, cos, turning, momenta);
        }
    }
}

/// Kinetic energy of the momenta, and energy of the rotating coordinates.
fn energy(potential: &mut impl Potential, p: &[f64], r: &[f64]) -> f64 {
    let half_square = |v: &[f64]| 0.5 * simd::dot(v, v);
    let turning: f64 = potential.turning().iter().map(|(q, p)| half_square(q) + half_square(p)).sum();
    half_square(p) + half_square(r) + turning
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// The mean equals `truth` to four standard errors by batch means, which account for autocorrelation.
    fn assert_mean(values: Vec<f64>, truth: f64) {
        let batches: Vec<f64> = values.chunks(400).map(|b| b.iter().sum::<f64>() / b.len() as f64).collect();
        let count = batches.len() as f64;
        let mean = batches.iter().sum::<f64>() / count;
        let error = (batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (count - 1.0) / count).sqrt();
        assert!((mean - truth).abs() < 4.0 * error, "{mean} ± {error} for {truth}");
    }

    fn landed(potential: &mut impl Potential, q: Vec<f64>, trajectory: &Trajectory, rng: &mut impl Rng) -> Vec<f64> {
        let mut to = q.clone();
        if hamiltonian(potential, &mut to, trajectory, None, rng).is_accepted { to } else { q }
    }

    /// N(0, 1) × N(0, 9), and a third coordinate held fixed.
    struct Ellipse;

    impl Potential for Ellipse {
        fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
            (g[0], g[1], g[2]) = (-q[0], -q[1] / 9.0, 1e6);
            -0.5 * (q[0] * q[0] + q[1] * q[1] / 9.0)
        }
    }

    #[test]
    fn draws_have_the_variances_of_the_target() {
        let trajectory = Trajectory { scales: vec![1.0, 2.0, 0.0], modes: Modes::default(), step: 0.4, leapfrogs: 5 };
        let mut rng = Stream::new(1).rng();
        let mut q = vec![0.0, 0.0, 7.0];
        let squares: Vec<[f64; 2]> = (0..40_000)
            .map(|_| {
                q = landed(&mut Ellipse, q.clone(), &trajectory, &mut rng);
                [q[0] * q[0], q[1] * q[1]]
            })
            .collect();
        assert_eq!(q[2], 7.0);
        for (d, truth) in [(0, 1.0), (1, 9.0)] {
            assert_mean(squares.iter().map(|s| s[d]).collect(), truth);
        }
    }

    /// N(0, ¼) as N(0, 1) times the remaining factor; a rotating coordinate besides a straight one.
    #[derive(Clone)]
    struct Wheel {
        at: [f64; 1],
        momentum: [f64; 1],
        slope: f64,
    }

    impl Potential for Wheel {
        fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
            let [at] = self.at;
            (g[0], self.slope) = (-q[0] - at, -3.0 * at - q[0]);
            -0.5 * q[0] * q[0] - 1.5 * at * at - q[0] * at
        }

        fn turning(&mut self) -> Vec<Turning<'_>> {
            vec![(&mut self.at, &mut self.momentum)]
        }

        fn kick(&mut self, step: f64) {
            self.momentum[0] += step * self.slope;
        }
    }

    #[test]
    fn turning_coordinates_have_their_normal_density_beside_the_potential() {
        // Precision [[1, 1], [1, 4]]: covariance [[4, −1], [−1, 1]] / 3.
        let trajectory = Trajectory { scales: vec![1.0], modes: Modes::default(), step: 0.5, leapfrogs: 4 };
        let mut rng = Stream::new(5).rng();
        let (mut q, mut wheel) = (vec![0.0], Wheel { at: [0.0], momentum: [0.0], slope: 0.0 });
        let products: Vec<[f64; 3]> = (0..40_000)
            .map(|_| {
                let (mut to, mut turned) = (q.clone(), wheel.clone());
                if hamiltonian(&mut turned, &mut to, &trajectory, None, &mut rng).is_accepted {
                    (q, wheel) = (to, turned);
                }
                let [at] = wheel.at;
                [q[0] * q[0], at * at, q[0] * at]
            })
            .collect();
        for (i, truth) in [4.0 / 3.0, 1.0 / 3.0, -1.0 / 3.0].into_iter().enumerate() {
            assert_mean(products.iter().map(|p| p[i]).collect(), truth);
        }
    }

    #[test]
    fn coordinates_that_also_move_together_keep_their_density() {
        // The directions need not even have the right length: they only determine the speed of a trajectory.
        let functions = Mat::from_vec(2, 2, vec![1.0, 0.2, -0.1, 1.0]);
        let modes = Modes { functions, coefficients: Mat::from_vec(2, 2, vec![0.9, 0.3, -0.4, 2.0]) };
        let trajectory = Trajectory { scales: vec![0.5, 0.7, 0.0], modes, step: 0.4, leapfrogs: 5 };
        let mut rng = Stream::new(6).rng();
        let mut q = vec![0.0, 0.0, 7.0];
        let products: Vec<[f64; 3]> = (0..40_000)
            .map(|_| {
                q = landed(&mut Ellipse, q.clone(), &trajectory, &mut rng);
                [q[0] * q[0], q[1] * q[1], q[0] * q[1]]
            })
            .collect();
        for (i, truth) in [1.0, 9.0, 0.0].into_iter().enumerate() {
            assert_mean(products.iter().map(|p| p[i]).collect(), truth);
        }
    }

    /// A density that is finite everywhere, with a NaN gradient away from the start.
    struct Broken;

    impl Potential for Broken {
        fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
            g[0] = if q[0] == 0.0 { 1.0 } else { f64::NAN };
            0.0
        }
    }

    #[test]
    fn a_trajectory_that_blows_up_is_rejected() {
        let trajectory = Trajectory { scales: vec![1.0], modes: Modes::default(), step: 0.1, leapfrogs: 1 };
        let landing = hamiltonian(&mut Broken, &mut [0.0], &trajectory, None, &mut Stream::new(2).rng());
        assert_eq!(landing, TrajectoryEnd { is_accepted: false, acceptance: 0.0 });
    }
}
