//! Spatial medians of the rows' positions. The spatial median is the point whose mean distance to the draws is least. Where the draws of a row are in two places, their
//! mean lies between these, where the row never is; the median is in the likelier one. Found by the iteration of Weiszfeld (1937), as Vardi and Zhang (2000) have it:
//! it does not stop at a draw that it happens to meet.

use super::fitted::Fitted;
use super::frame::Frame;
use crate::error::RunError;
use crate::linalg::Mat;
use crate::par;
use crate::placement::turn;

/// Draws that are held at a time, in bytes; those of further rows are read again.
const HELD: usize = 1 << 27;
/// Iterations at most.
const ROUNDS: usize = 200;
/// A step shorter than this fraction of the mean distance to the draws is the last.
const CLOSE: f64 = 1e-7;

impl Fitted<'_> {
    /// The spatial median of each row's positions, in the frame: N×D.
    pub fn medians(&self, frame: &Frame) -> Result<Mat, RunError> {
        let reference = frame.reference();
        let (rows, dim, draws) = (reference.rows(), frame.axes(), frame.draws() as usize);
        let together = (HELD / (8 * dim * draws).max(1)).clamp(1, rows.max(1));
        let mut medians = Mat::zeros(rows, dim);
        for first in (0..rows).step_by(together) {
            let some = first..rows.min(first + together);
            let mut held = vec![0.0; some.len() * draws * dim];
            let mut draw = 0;
            self.visit_positions(&mut |x| {
                let turned = turn(x, reference);
                for (i, n) in some.clone().enumerate() {
                    held[(i * draws + draw) * dim..][..dim].copy_from_slice(&turned.row(n)[..dim]);
                }
                draw += 1;
            })?;
            let found =
                par::map(some.len(), ROUNDS * held.len(), |i| median(&held[i * draws * dim..][..draws * dim], dim));
            some.zip(found).for_each(|(n, median)| medians.row_mut(n).copy_from_slice(&median));
        }
        Ok(medians)
    }
}

/// The spatial median of points, one after the other.
fn median(points: &[f64], dim: usize) -> Vec<f64> {
    let count = (points.len() / dim) as f64;
    let mut at = vec![0.0; dim];
    points.chunks_exact(dim).for_each(|x| at.iter_mut().zip(x).for_each(|(at, x)| *at += x / count));
    for _ in 0..ROUNDS {
        // Σ of the unit vectors to the points, Σ 1/distance, and how many points are right here.
        let (mut pull, mut stiffness, mut here, mut far) = (vec![0.0; dim], 0.0, 0.0, 0.0);
        for x in points.chunks_exact(dim) {
            let distance = x.iter().zip(&at).map(|(x, at)| (x - at).powi(2)).sum::<f64>().sqrt();
            far += distance / count;
            if distance > 0.0 {
                stiffness += 1.0 / distance;
                pull.iter_mut().zip(x).zip(&at).for_each(|((pull, x), at)| *pull += (x - at) / distance);
            } else {
                here += 1.0;
            }
        }
        let force = pull.iter().map(|p| p * p).sum::<f64>().sqrt();
        if force <= here || stiffness == 0.0 {
            break;
        }
        let step = (1.0 - here / force) / stiffness;
        at.iter_mut().zip(&pull).for_each(|(at, pull)| *at += step * pull);
        if step * force < CLOSE * far {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::median;
    use crate::dist::normals;
    use crate::rng::Stream;

    fn mean_distance(points: &[f64], at: &[f64]) -> f64 {
        let distance = |x: &[f64]| x.iter().zip(at).map(|(x, at)| (x - at).powi(2)).sum::<f64>().sqrt();
        points.chunks_exact(at.len()).map(distance).sum::<f64>() / (points.len() / at.len()) as f64
    }

    /// Three draws of four are in one place, the others far away: the mean is in neither.
    #[test]
    fn the_median_is_in_the_likelier_place_and_no_other_point_is_nearer_to_the_draws() {
        let mut rng = Stream::new(3).rng();
        let mut points = normals(800, &mut rng);
        points.iter_mut().take(200).for_each(|x| *x += 40.0);
        let found = median(&points, 2);
        assert!(found.iter().all(|x| x.abs() < 1.0), "{found:?}");
        let least = mean_distance(&points, &found);
        for (dx, dy) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
            assert!(mean_distance(&points, &[found[0] + dx, found[1] + dy]) > least);
        }
    }

    #[test]
    fn medians_of_few_points_are_right() {
        // On a line the usual median; at a point with most of the weight; of one point, that point.
        assert!((median(&[1.0, 2.0, 10.0], 1)[0] - 2.0).abs() < 1e-6);
        let corner = median(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0, -1.0, 2.0], 2);
        assert!(corner.iter().all(|x| x.abs() < 1e-6), "{corner:?}");
        assert_eq!(median(&[5.0, -7.0], 2), [5.0, -7.0]);
        // The centre of a square, although it is a mean too.
        assert!(median(&[0.0, 0.0, 2.0, 0.0, 2.0, 2.0, 0.0, 2.0], 2).iter().all(|x| (x - 1.0).abs() < 1e-9));
    }
}
