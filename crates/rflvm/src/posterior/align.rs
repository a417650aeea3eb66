//! Posterior mean and covariance of each row over draws aligned to a common [`Frame`].

use super::frame::Frame;
use crate::linalg::{Mat, mul};
use crate::placement::{principal_axes, turn};
use std::convert::Infallible;

/// A position and a covariance for each row.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// The position of each row, N×D, in principal axes: for a fit the estimate of [`super::fitted::Fitted::embedding`], for new rows and given draws the mean.
    pub mean: Mat,
    /// Covariance of each row about it, D×D.
    pub covariance: Vec<Mat>,
    /// Share of each row's variance that the mode of the positions does not have by itself; empty where there is one mode.
    pub between_modes: Vec<f64>,
}

impl Embedding {
    /// From known positions and covariances, rotated to principal axes; also returns the rotation.
    pub fn of_point(x: &Mat, covariance: &[Mat]) -> (Self, Mat) {
        let (mean, rotation) = principal_axes(x);
        let turned = |covariance: &Mat| {
            let dim = rotation.cols();
            let (mut half, mut whole) = (Mat::zeros(dim, dim), Mat::zeros(dim, dim));
            mul(half.as_mut_slice(), covariance.view(), rotation.view(), false);
            mul(whole.as_mut_slice(), rotation.view().transpose(), half.view(), false);
            whole
        };
        let covariance = covariance.iter().map(turned).collect();
        (Embedding { mean, covariance, between_modes: Vec::new() }, rotation)
    }

    /// Standard deviation of row n along axis d.
    pub fn sd(&self, n: usize, d: usize) -> f64 {
        self.covariance[n][(d, d)].sqrt()
    }
}

/// Aligns the draws and computes their moments.
pub fn align(draws: &[&Mat]) -> Embedding {
    let visit = |take: &mut dyn FnMut(&Mat)| -> Result<(), Infallible> {
        draws.iter().for_each(|draw| take(draw));
        Ok(())
    };
    let Ok(embedding) = align_visited(visit);
    embedding
}

/// Aligns draws that are visited one by one, several times: memory does not grow with their number.
pub fn align_visited<E>(visit: impl Fn(&mut dyn FnMut(&Mat)) -> Result<(), E>) -> Result<Embedding, E> {
    align_in(&Frame::of_visited(&visit)?, visit)
}

/// The moments of the draws from which a frame was made, along its axes.
pub(super) fn align_in<E>(
    frame: &Frame,
    visit: impl Fn(&mut dyn FnMut(&Mat)) -> Result<(), E>,
) -> Result<Embedding, E> {
    let reference = frame.reference();
    let (rows, dim, count) = (reference.rows(), frame.axes(), frame.draws());
    let mut mean = Mat::zeros(rows, dim);
    let mut second = vec![Mat::zeros(dim, dim); rows];
    visit(&mut |draw| {
        let turned = turn(draw, reference);
        for n in 0..rows {
            let row = turned.row(n);
            for d in 0..dim {
                mean[(n, d)] += row[d] / count;
                // Moments about the reference, which is close to the mean: no cancellation.
                let from = row[d] - reference[(n, d)];
                for e in 0..dim {
                    second[n][(d, e)] += from * (row[e] - reference[(n, e)]) / count;
                }
            }
        }
    })?;
    for (n, second) in second.iter_mut().enumerate() {
        let shift: Vec<f64> = (0..dim).map(|d| mean[(n, d)] - reference[(n, d)]).collect();
        for d in 0..dim {
            for e in 0..dim {
                second[(d, e)] -= shift[d] * shift[e];
            }
            second[(d, d)] = second[(d, d)].max(0.0);
        }
    }
    Ok(Embedding { mean, covariance: second, between_modes: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::rng::Stream;

    #[test]
    fn turned_copies_come_back_and_noise_is_measured() {
        let mut rng = Stream::new(3).rng();
        let truth = Mat::from_vec(40, 2, normals(80, &mut rng));
        let sd = 0.05;
        let draws: Vec<Mat> = (0..400)
            .map(|i| {
                let (sin, cos) = (f64::from(i) * 0.7).sin_cos();
                let flip = if i % 2 == 0 { 1.0 } else { -1.0 };
                let noise = normals(80, &mut rng);
                Mat::from_fn(40, 2, |n, d| {
                    let x = [truth[(n, 0)] + sd * noise[2 * n], truth[(n, 1)] + sd * noise[2 * n + 1]];
                    let away = f64::from(i % 7);
                    away + if d == 0 { cos * x[0] - sin * x[1] } else { flip * (sin * x[0] + cos * x[1]) }
                })
            })
            .collect();
        let embedding = align(&draws.iter().collect::<Vec<_>>());
        let back = turn(&embedding.mean, &truth);
        for (a, b) in back.as_slice().iter().zip(truth.as_slice()) {
            assert!((a - b).abs() < 5.0 * sd / 20.0, "{a} {b}");
        }
        // Known covariances rotate with their positions: distances in units of them are unchanged.
        let covariance = Mat::from_vec(2, 2, vec![2.0, 0.5, 0.5, 1.0]);
        let (point, rotation) = Embedding::of_point(&truth, &vec![covariance.clone(); 40]);
        let turned = &point.covariance[7];
        let determinant = |m: &Mat| m[(0, 0)] * m[(1, 1)] - m[(0, 1)] * m[(1, 0)];
        assert!((determinant(turned) - determinant(&covariance)).abs() < 1e-12);
        assert!((turned[(0, 0)] + turned[(1, 1)] - 3.0).abs() < 1e-12);
        let by_hand =
            (0..2).map(|i| (0..2).map(|k| rotation[(i, 0)] * covariance[(i, k)] * rotation[(k, 0)]).sum::<f64>());
        assert!((by_hand.sum::<f64>() - turned[(0, 0)]).abs() < 1e-12);
        let mean_sd = (0..40).map(|n| embedding.sd(n, 0)).sum::<f64>() / 40.0;
        assert!((mean_sd - sd).abs() < 0.1 * sd, "{mean_sd}");
    }
}
