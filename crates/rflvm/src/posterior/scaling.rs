//! Positions whose distances have the least posterior expected squared error: metric scaling of the expected distances δ_ab = E|x_a − x_b|.
//!
//! E Σ (|e_a − e_b| − |x_a − x_b|)² is least where Σ (|e_a − e_b| − δ_ab)² is. It is lowered by Guttman's transform,
//! e_a ← (1/N) Σ_b [e_b + δ_ab (e_a − e_b)/|e_a − e_b|] (SMACOF; de Leeuw 1977, Borg & Groenen 2005, section 8.5), from the aligned mean. Unlike that mean,
//! which shrinks towards the centre where draws differ, it needs no alignment.

use super::distances::distance;
use crate::linalg::Mat;
use crate::par;
use crate::placement::turn;

/// Rows whose distances from all others count. Further rows are placed by their distances from these.
const LANDMARKS: usize = 1000;
/// Distances held at once.
const HELD: usize = 1 << 24;
/// Transforms at most.
const ROUNDS: usize = 200;
/// Relative decrease of the squared error below which they end.
const SETTLED: f64 = 1e-6;

/// Expected distances of all rows from some of them.
pub(super) struct Expected {
    /// The landmarks, evenly spaced among the rows.
    landmarks: Vec<usize>,
    /// Sums over draws, N × landmarks.
    sums: Mat,
    draws: f64,
}

impl Expected {
    /// Of no draw yet, for so many rows.
    pub fn new(rows: usize) -> Self {
        let count = LANDMARKS.min(HELD / rows.max(1)).max(20).min(rows);
        Expected {
            landmarks: (0..count).map(|i| i * rows / count).collect(),
            sums: Mat::zeros(rows, count),
            draws: 0.0,
        }
    }

    /// Adds a draw of X.
    pub fn add(&mut self, x: &Mat) {
        let (landmarks, count) = (&self.landmarks, self.landmarks.len());
        self.draws += 1.0;
        par::rows([(self.sums.as_mut_slice(), count)], count * x.cols(), |first, [sums]| {
            for (n, sums) in (first..).zip(sums.chunks_exact_mut(count)) {
                sums.iter_mut().zip(landmarks).for_each(|(sum, &l)| *sum += distance(x.row(n), x.row(l)));
            }
            0.0
        });
    }

    /// The positions, begun at `start` and turned back to it.
    pub fn positions(mut self, start: &Mat) -> Mat {
        if self.draws == 0.0 {
            return start.clone();
        }
        self.sums.as_mut_slice().iter_mut().for_each(|sum| *sum /= self.draws);
        let (mut x, mut error) = (start.clone(), f64::INFINITY);
        for _ in 0..ROUNDS {
            let (next, now) = self.transformed(&x, &self.landmarks);
            self.landmarks.iter().zip(&next).for_each(|(&l, e)| x.row_mut(l).copy_from_slice(e));
            if error - now <= SETTLED * now {
                break;
            }
            error = now;
        }
        let others: Vec<usize> = (0..x.rows()).filter(|n| self.landmarks.binary_search(n).is_err()).collect();
        for _ in 0..if others.is_empty() { 0 } else { ROUNDS } {
            let (next, _) = self.transformed(&x, &others);
            others.iter().zip(&next).for_each(|(&n, e)| x.row_mut(n).copy_from_slice(e));
        }
        turn(&x, start)
    }

    /// Guttman's transform of some rows, and the squared error of their distances from the landmarks before it.
    fn transformed(&self, x: &Mat, rows: &[usize]) -> (Vec<Vec<f64>>, f64) {
        let count = self.landmarks.len();
        let moved = par::map(rows.len(), rows.len() * count * x.cols(), |i| {
            let (a, mut to, mut error) = (rows[i], vec![0.0; x.cols()], 0.0);
            for (&b, &expected) in self.landmarks.iter().zip(self.sums.row(a)) {
                let now = distance(x.row(a), x.row(b));
                error += (now - expected).powi(2);
                let stretch = if now > 0.0 { expected / now } else { 0.0 };
                let ends = x.row(a).iter().zip(x.row(b));
                to.iter_mut().zip(ends).for_each(|(to, (a, b))| *to += (b + stretch * (a - b)) / count as f64);
            }
            (to, error)
        });
        let error = moved.iter().map(|(_, error)| error).sum();
        (moved.into_iter().map(|(to, _)| to).collect(), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::posterior::score::affine_r2;
    use crate::rng::Stream;

    fn squared_error(draws: &[Mat], e: &Mat) -> f64 {
        let pairs = |n: usize| (0..n).flat_map(move |a| (0..a).map(move |b| (a, b)));
        let one = |x: &Mat| -> f64 {
            pairs(x.rows()).map(|(a, b)| (distance(e.row(a), e.row(b)) - distance(x.row(a), x.row(b))).powi(2)).sum()
        };
        draws.iter().map(one).sum::<f64>() / draws.len() as f64
    }

    /// Draws in which some rows have two places.
    fn draws(rows: usize) -> (Mat, Vec<Mat>) {
        let mut rng = Stream::new(11).rng();
        let truth = Mat::from_vec(rows, 2, normals(2 * rows, &mut rng));
        let draws = (0..60)
            .map(|i| {
                let noise = normals(2 * rows, &mut rng);
                let place =
                    |n: usize, d: usize| if n.is_multiple_of(4) && i % 3 == 0 { -truth[(n, d)] } else { truth[(n, d)] };
                Mat::from_fn(rows, 2, |n, d| place(n, d) + 0.2 * noise[2 * n + d])
            })
            .collect();
        (truth, draws)
    }

    #[test]
    fn no_move_of_a_row_lowers_the_expected_error_and_the_mean_has_a_larger_one() {
        let (_, draws) = draws(24);
        let mean = Mat::from_fn(24, 2, |n, d| draws.iter().map(|x| x[(n, d)]).sum::<f64>() / draws.len() as f64);
        let mut expected = Expected::new(24);
        draws.iter().for_each(|x| expected.add(x));
        let e = expected.positions(&mean);
        let least = squared_error(&draws, &e);
        assert!(least < 0.9 * squared_error(&draws, &mean), "{least}");
        for i in 0..48 {
            for step in [-0.05, 0.05] {
                let mut moved = e.clone();
                moved.as_mut_slice()[i] += step;
                assert!(squared_error(&draws, &moved) > least);
            }
        }
    }

    #[test]
    fn rows_beyond_the_landmarks_are_placed_by_their_distances_from_these() {
        let (truth, draws) = draws(LANDMARKS + 500);
        let mut expected = Expected::new(truth.rows());
        assert_eq!(expected.landmarks.len(), LANDMARKS);
        let others: Vec<usize> = (0..truth.rows()).filter(|n| !expected.landmarks.contains(n)).collect();
        let start = Mat::from_fn(truth.rows(), 2, |n, d| 0.5 * truth[(n, d)] + 0.1);
        draws[1..3].iter().for_each(|x| expected.add(x));
        let e = expected.positions(&start);
        let some = |x: &Mat| Mat::from_fn(others.len(), 2, |n, d| x[(others[n], d)]);
        assert_eq!(others.len(), 500);
        let r2 = affine_r2(&some(&e), &some(&truth));
        assert!(r2 > 0.95, "{r2}");
        // The scale comes from the distances, not from the start.
        let size = |x: &Mat| x.as_slice().iter().map(|v| v * v).sum::<f64>();
        assert!((size(&some(&e)) / size(&some(&truth)) - 1.0).abs() < 0.1);
    }
}
