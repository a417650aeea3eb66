//! Tuning of the gradient move during warm-up: step size by dual averaging (Hoffman & Gelman 2014), scales by the running
//! spread of each coordinate in growing windows. Afterwards nothing is tuned, so that the draws are from one fixed kernel.

use super::gradient::Layout;
use super::hamiltonian::Trajectory;
use crate::model::Model;

/// A first guess from the prior precision and the information that N×J cells of unit information carry.
pub fn guess(model: &Model) -> Trajectory {
    let collapsed = model.is_collapsed();
    let layout = Layout::new(model, !collapsed);
    let (n, j, l) = (model.rows() as f64, model.columns() as f64, model.frequencies() as f64);
    let mut scales = vec![0.0; layout.len()];
    let (x, w, beta) = layout.split_mut(&mut scales);
    x.fill((1.0 + j).sqrt().recip());
    w.fill((1.0 + n * j / l).sqrt().recip());
    beta.fill((1.0 + 0.5 * n / l).sqrt().recip());
    Trajectory { scales, step: 0.1, leapfrogs: 12 }
}

/// Acceptance the step size is tuned to.
const TARGET: f64 = 0.8;

/// Tunes a [`Trajectory`] while the warm-up lasts.
#[derive(Debug, Clone)]
pub struct Adaptation {
    layout: Layout,
    average: DualAverage,
    spread: Spread,
    window_end: u64,
    seen: u64,
    end: u64,
}

impl Adaptation {
    /// For a warm-up of `sweeps` with all moves on.
    pub fn new(model: &Model, trajectory: &Trajectory, sweeps: u64) -> Self {
        Adaptation {
            layout: Layout::new(model, !model.is_collapsed()),
            average: DualAverage::new(trajectory.step),
            spread: Spread::new(trajectory.scales.len()),
            window_end: (sweeps / 10).clamp(20, 100),
            seen: 0,
            end: sweeps,
        }
    }

    /// Takes in a sweep: the acceptance of its gradient move, and where the state is now.
    pub fn learn(&mut self, acceptance: f64, q: &[f64], trajectory: &mut Trajectory) {
        self.seen += 1;
        trajectory.step = self.average.learn(acceptance);
        self.spread.add(q);
        // The last tenth only settles the step size.
        let settling = self.end - self.end / 10;
        if self.seen == self.window_end && self.seen <= settling {
            self.spread.scales(self.layout, &mut trajectory.scales);
            self.spread = Spread::new(q.len());
            self.average = DualAverage::new(trajectory.step);
            let next = self.seen * 2;
            self.window_end = if next * 3 / 2 > settling { settling.max(self.seen + 1) } else { next };
        }
    }

    /// Freezes the step size at its average.
    pub fn finish(&self, trajectory: &mut Trajectory) {
        trajectory.step = self.average.settled();
    }
}

/// Nesterov's dual averaging of ln ε towards the target acceptance.
#[derive(Debug, Clone)]
struct DualAverage {
    centre: f64,
    error: f64,
    average: f64,
    count: f64,
}

impl DualAverage {
    fn new(step: f64) -> Self {
        DualAverage { centre: (2.0 * step).ln(), error: 0.0, average: step.ln(), count: 0.0 }
    }

    fn learn(&mut self, acceptance: f64) -> f64 {
        const GAMMA: f64 = 0.05;
        const T0: f64 = 10.0;
        const KAPPA: f64 = 0.75;
        self.count += 1.0;
        let weight = 1.0 / (self.count + T0);
        self.error += weight * (TARGET - acceptance - self.error);
        let ln_step = self.centre - self.count.sqrt() / GAMMA * self.error;
        let blend = self.count.powf(-KAPPA);
        self.average = blend * ln_step + (1.0 - blend) * self.average;
        ln_step.exp()
    }

    fn settled(&self) -> f64 {
        self.average.exp()
    }
}

/// Running mean and variance of each coordinate (Welford).
#[derive(Debug, Clone)]
struct Spread {
    count: f64,
    mean: Vec<f64>,
    square: Vec<f64>,
}

impl Spread {
    fn new(len: usize) -> Self {
        Spread { count: 0.0, mean: vec![0.0; len], square: vec![0.0; len] }
    }

    fn add(&mut self, q: &[f64]) {
        self.count += 1.0;
        for ((mean, square), q) in self.mean.iter_mut().zip(&mut self.square).zip(q) {
            let delta = q - *mean;
            *mean += delta / self.count;
            *square += delta * (q - *mean);
        }
    }

    /// Standard deviations, each variance drawn towards the mean of its group (X, W or β): a window of a hundred
    /// correlated sweeps knows a group's scale far better than any one coordinate's.
    fn scales(&self, layout: Layout, scales: &mut [f64]) {
        const PRIOR_WEIGHT: f64 = 20.0;
        let (x, w, beta) = layout.split(&self.square);
        let (sx, sw, sbeta) = layout.split_mut(scales);
        for (squares, scales) in [(x, sx), (w, sw), (beta, sbeta)] {
            let group = squares.iter().sum::<f64>() / (self.count - 1.0) / squares.len().max(1) as f64;
            for (scale, square) in scales.iter_mut().zip(squares) {
                let variance = (square + PRIOR_WEIGHT * group) / (self.count - 1.0 + PRIOR_WEIGHT);
                *scale = variance.sqrt().max(1e-10);
            }
        }
    }
}
