//! The common frame of aligned draws. The data determine X up to rotation, reflection and shift (the prior nearly fixes the shift
//! if rows are independent, and hardly if they follow paths), so each draw is aligned to a common reference by orthogonal
//! Procrustes (Schönemann 1966), and the reference is iterated to the mean of the aligned draws.
//!
//! A draw is carried into the frame by x ↦ to + A(x − centre), with AᵀA = I: its centre is mapped to that of the reference. The same
//! map applies to any other position of the draw, and A⁻ᵀw replaces a frequency w.
//!
//! Where axes can be pruned, X along an unused axis is noise that must not rotate the others. Draws are then first
//! converted to units of the map ([`Features::in_units_of_the_map`]), in which that axis has length zero, and the frame
//! has as many axes as are in use.

use crate::linalg::Mat;
#[cfg(doc)]
use crate::model::features::Features;
use crate::model::features::units_of_the_map;
use crate::placement::{Placement, centre, principal_axes, product, turn};

/// The frame: a reference to which draws are aligned, centred at the origin with principal axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// N×D.
    reference: Mat,
    /// Number of draws.
    draws: f64,
    /// Number of axes in use; the reference has all axes.
    axes: usize,
    /// Whether draws are converted to units of the map.
    in_units: bool,
}

/// Rounds of aligning and averaging; the mean settles after two or three.
const ROUNDS: usize = 5;

impl Frame {
    /// From draws that are visited one by one, several times: memory does not grow with their number.
    pub fn of_visited<E>(visit: impl Fn(&mut dyn FnMut(&Mat)) -> Result<(), E>) -> Result<Self, E> {
        let (mut reference, mut count) = (Mat::default(), 0.0);
        visit(&mut |draw| {
            count += 1.0;
            // The last reference is kept.
            reference.clone_from(draw);
        })?;
        let (rows, dim) = (reference.rows(), reference.cols());
        for _ in 0..ROUNDS {
            let mut mean = Mat::zeros(rows, dim);
            visit(&mut |draw| {
                let turned = turn(draw, &reference);
                mean.as_mut_slice().iter_mut().zip(turned.as_slice()).for_each(|(m, t)| *m += t / count);
            })?;
            reference = mean;
        }
        Ok(Frame { reference: principal_axes(&reference).0, draws: count, axes: dim, in_units: false })
    }

    /// The same frame, made of draws in units of the map, of which only the first axes are in use.
    pub(super) fn of_axes_in_use(self, axes: usize) -> Self {
        Frame { axes: axes.min(self.reference.cols()), in_units: true, ..self }
    }

    /// The reference, N×D.
    pub fn reference(&self) -> &Mat {
        &self.reference
    }

    /// Number of draws it was made from.
    pub(super) fn draws(&self) -> f64 {
        self.draws
    }

    /// Number of axes.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// The map that carries a draw of X, with its W, into the frame.
    pub fn of(&self, x: &Mat, w: &Mat) -> Placement {
        if !self.in_units {
            return Placement::onto(&self.reference, x);
        }
        let units = units_of_the_map(w);
        let turn = Placement::onto(&self.reference, &product(x, &units));
        Placement { centre: centre(x), linear: product(&units, &turn.linear), to: turn.to, axes: self.axes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::rng::Stream;
    use std::convert::Infallible;

    /// A cloud, and the same cloud rotated, reflected and shifted: the map found from all rows recovers any position.
    #[test]
    fn positions_of_a_draw_are_carried_with_its_rows_and_back() {
        let mut rng = Stream::new(5).rng();
        let cloud = Mat::from_vec(30, 2, normals(60, &mut rng));
        let (sin, cos) = 0.8_f64.sin_cos();
        let moved = |x: &Mat| {
            let turned =
                |n: usize, d: usize| [cos * x[(n, 0)] - sin * x[(n, 1)], -sin * x[(n, 0)] - cos * x[(n, 1)]][d];
            Mat::from_fn(x.rows(), 2, |n, d| 3.0 + turned(n, d))
        };
        let visit = |take: &mut dyn FnMut(&Mat)| -> Result<(), Infallible> {
            take(&moved(&cloud));
            take(&cloud);
            Ok(())
        };
        let Ok(frame) = Frame::of_visited(visit);
        let others = Mat::from_vec(4, 2, normals(8, &mut rng));
        let w = Mat::from_vec(5, 2, normals(10, &mut rng));
        let (one, two) = (frame.of(&cloud, &w).carry(&others), frame.of(&moved(&cloud), &w).carry(&moved(&others)));
        let back = frame.of(&cloud, &w).back(&one);
        for i in 0..8 {
            assert!((one.as_slice()[i] - two.as_slice()[i]).abs() < 1e-12);
            assert!((back.as_slice()[i] - others.as_slice()[i]).abs() < 1e-12);
        }
        // Its rows coincide with the reference, since the two draws agree.
        let rows = frame.of(&cloud, &w).carry(&cloud);
        let apart = rows.as_slice().iter().zip(frame.reference().as_slice());
        apart.for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
    }

    /// Linear maps other than rotations are undone too; frequencies follow.
    #[test]
    fn any_affine_map_has_a_way_back() {
        let linear = Mat::from_vec(2, 2, vec![2.0, 0.5, -1.0, 3.0]);
        let placement = Placement { centre: vec![1.0, -2.0], linear, to: vec![0.25, 4.0], axes: 2 };
        let x = Mat::from_vec(2, 2, vec![0.3, 0.7, -5.0, 2.0]);
        let back = placement.back(&placement.carry(&x));
        back.as_slice().iter().zip(x.as_slice()).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        let w = Mat::from_vec(1, 2, vec![1.3, -0.4]);
        let there = (placement.carry(&x), placement.frequencies(&w));
        let phase = |w: &Mat, x: &Mat| (0..2).map(|d| w[(0, d)] * (x[(0, d)] - x[(1, d)])).sum::<f64>();
        assert!((phase(&there.1, &there.0) - phase(&w, &x)).abs() < 1e-12);
    }

    /// Three axes of which one has no effect: it neither appears nor rotates the others, and draws of other scales agree.
    #[test]
    fn axes_out_of_use_do_not_show() {
        let mut rng = Stream::new(6).rng();
        let cloud = Mat::from_vec(40, 2, normals(80, &mut rng));
        let frequencies = Mat::from_vec(50, 2, normals(100, &mut rng));
        let mut draw = |scale: f64| {
            let noise = normals(40, &mut rng);
            let x = Mat::from_fn(40, 3, |n, d| if d == 1 { noise[n] } else { scale * cloud[(n, d / 2)] });
            let w =
                Mat::from_fn(50, 3, |l, d| if d == 1 { 1e-6 * noise[l % 40] } else { frequencies[(l, d / 2)] / scale });
            (x, w)
        };
        let draws = [draw(1.0), draw(0.5), draw(2.0)];
        let visit = |take: &mut dyn FnMut(&Mat)| -> Result<(), Infallible> {
            draws.iter().for_each(|(x, w)| take(&product(x, &units_of_the_map(w))));
            Ok(())
        };
        let Ok(frame) = Frame::of_visited(visit);
        let frame = frame.of_axes_in_use(2);
        let placed: Vec<Mat> = draws.iter().map(|(x, w)| frame.of(x, w).carry(x)).collect();
        for (x, (own, w)) in placed.iter().zip(&draws) {
            assert_eq!((x.rows(), x.cols()), (40, 2));
            x.as_slice().iter().zip(placed[0].as_slice()).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{a} {b}"));
            let placement = frame.of(own, w);
            let (back, turned) = (placement.back(x), placement.frequencies(w));
            let phase = |w: &Mat, x: &Mat, n: usize| (0..w.cols()).map(|d| w[(7, d)] * x[(n, d)]).sum::<f64>();
            for n in 1..40 {
                let truth = phase(w, own, n) - phase(w, own, 0);
                assert!((phase(w, &back, n) - phase(w, &back, 0) - truth).abs() < 1e-4);
                assert!((phase(&turned, x, n) - phase(&turned, x, 0) - truth).abs() < 1e-4);
            }
        }
    }
}
