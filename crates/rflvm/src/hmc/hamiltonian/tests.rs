//! Moments of known densities, and a density that breaks.

use super::*;
use crate::dist::fill_normals;
use crate::linalg::Mat;
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

    fn draw_momenta<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        fill_normals(&mut self.momentum, Stream::new(rng.random()));
    }

    fn turn(&mut self, sin: f64, cos: f64) {
        simd::turn(sin, cos, &mut self.at, &mut self.momentum);
    }

    fn turning_energy(&mut self) -> f64 {
        half_square(&self.at) + half_square(&self.momentum)
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
