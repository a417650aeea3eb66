//! The common frame of aligned draws. The data know X up to rotation, reflection and shift (the prior all but fixes the shift
//! where rows are independent, and hardly where they follow paths), so each draw is brought onto a common reference by orthogonal
//! Procrustes (Schönemann 1966), and the reference iterated to the mean of the aligned draws.
//!
//! A draw is carried into the frame by x ↦ to + A(x − centre), with AᵀA = I: its own centre lands on the reference's. What goes for
//! its rows goes for any other position of the same draw.

use crate::linalg::{Mat, mul};
use faer::linalg::solvers::DenseSolveCore;

/// Where aligned draws lie: close to the reference, whose centre is the origin and whose axes are its principal ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// N×D.
    reference: Mat,
    /// Of how many draws.
    draws: f64,
}

/// The affine map that carries positions of one draw into the frame, x ↦ to + A(x − centre).
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// The draw's own centre.
    pub centre: Vec<f64>,
    /// Aᵀ, D×D: what multiplies a row from the right.
    pub linear: Mat,
    /// Where the centre goes.
    pub to: Vec<f64>,
}

/// Rounds of turning and averaging; the mean settles after two or three.
const ROUNDS: usize = 5;

impl Frame {
    /// Of draws that are handed over one by one, several times: memory does not grow with their number.
    pub fn of_visited<E>(visit: impl Fn(&mut dyn FnMut(&Mat)) -> Result<(), E>) -> Result<Self, E> {
        let (mut reference, mut count) = (Mat::default(), 0.0);
        visit(&mut |draw| {
            count += 1.0;
            // The last one stays.
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
        Ok(Frame { reference: principal_axes(&reference).0, draws: count })
    }

    /// What draws are brought onto, N×D.
    pub fn reference(&self) -> &Mat {
        &self.reference
    }

    /// How many draws it was made of.
    pub(super) fn draws(&self) -> f64 {
        self.draws
    }

    /// How a draw of X is carried into the frame.
    pub fn of(&self, x: &Mat) -> Placement {
        Placement::onto(&self.reference, x)
    }
}

impl Placement {
    /// The shift and the rotation or reflection that bring `x` closest to `reference`.
    fn onto(reference: &Mat, x: &Mat) -> Self {
        let dim = x.cols();
        let (own_centre, to) = (centre(x), centre(reference));
        let centred = shifted(x, &own_centre, -1.0);
        let mut overlap = Mat::zeros(dim, dim);
        // Centring one of the two is enough.
        mul(overlap.as_mut_slice(), centred.view().transpose(), reference.view(), false);
        let Ok(svd) = overlap.faer().svd() else {
            return Placement { centre: vec![0.0; dim], linear: Mat::identity(dim, 1.0), to: vec![0.0; dim] };
        };
        let (u, v) = (own(svd.U()), own(svd.V()));
        let mut linear = Mat::zeros(dim, dim);
        mul(linear.as_mut_slice(), u.view(), v.view().transpose(), false);
        Placement { centre: own_centre, linear, to }
    }

    /// Positions of the draw, one a row, in the frame.
    pub fn carry(&self, x: &Mat) -> Mat {
        affine(x, &self.centre, &self.linear, &self.to)
    }

    /// Positions in the frame, one a row, as those of the draw.
    pub fn back(&self, x: &Mat) -> Mat {
        let inverse = own(self.linear.faer().partial_piv_lu().inverse().as_ref());
        affine(x, &self.to, &inverse, &self.centre)
    }
}

/// `x` after the shift and the rotation or reflection that bring it closest to `reference`.
pub fn turn(x: &Mat, reference: &Mat) -> Mat {
    Placement::onto(reference, x).carry(x)
}

/// (x − from) · linear + to, row by row.
fn affine(x: &Mat, from: &[f64], linear: &Mat, to: &[f64]) -> Mat {
    let mut turned = Mat::zeros(x.rows(), x.cols());
    mul(turned.as_mut_slice(), shifted(x, from, -1.0).view(), linear.view(), false);
    shifted(&turned, to, 1.0)
}

/// Mean position.
fn centre(x: &Mat) -> Vec<f64> {
    (0..x.cols()).map(|d| (0..x.rows()).map(|n| x[(n, d)]).sum::<f64>() / x.rows() as f64).collect()
}

/// x + sign · by.
fn shifted(x: &Mat, by: &[f64], sign: f64) -> Mat {
    Mat::from_fn(x.rows(), x.cols(), |n, d| x[(n, d)] + sign * by[d])
}

fn own(from: faer::MatRef<'_, f64>) -> Mat {
    Mat::from_fn(from.nrows(), from.ncols(), |i, j| from[(i, j)])
}

/// Moves a cloud so that its centre is the origin and its axes are its principal ones, widest first, each pointing where its
/// largest value is positive. Also returns the rotation.
pub(super) fn principal_axes(x: &Mat) -> (Mat, Mat) {
    let x = &shifted(x, &centre(x), -1.0);
    let dim = x.cols();
    let mut scatter = Mat::zeros(dim, dim);
    mul(scatter.as_mut_slice(), x.view().transpose(), x.view(), false);
    let Ok(svd) = scatter.faer().svd() else { return (x.clone(), Mat::identity(dim, 1.0)) };
    let mut rotation = own(svd.U());
    let mut turned = Mat::zeros(x.rows(), dim);
    mul(turned.as_mut_slice(), x.view(), rotation.view(), false);
    for d in 0..dim {
        let largest = (0..x.rows()).map(|n| turned[(n, d)]).fold(0.0_f64, |a, v| if v.abs() > a.abs() { v } else { a });
        if largest < 0.0 {
            (0..x.rows()).for_each(|n| turned[(n, d)] *= -1.0);
            (0..dim).for_each(|i| rotation[(i, d)] *= -1.0);
        }
    }
    (turned, rotation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::rng::Stream;
    use std::convert::Infallible;

    /// A cloud, and the same turned, mirrored and shifted: the map found from all rows brings any position back.
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
        let (one, two) = (frame.of(&cloud).carry(&others), frame.of(&moved(&cloud)).carry(&moved(&others)));
        let back = frame.of(&cloud).back(&one);
        for i in 0..8 {
            assert!((one.as_slice()[i] - two.as_slice()[i]).abs() < 1e-12);
            assert!((back.as_slice()[i] - others.as_slice()[i]).abs() < 1e-12);
        }
        // Its rows come to lie on the reference, since the two draws agree.
        let rows = frame.of(&cloud).carry(&cloud);
        let apart = rows.as_slice().iter().zip(frame.reference().as_slice());
        apart.for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
    }

    /// Not only rotations can be undone.
    #[test]
    fn any_affine_map_has_a_way_back() {
        let linear = Mat::from_vec(2, 2, vec![2.0, 0.5, -1.0, 3.0]);
        let placement = Placement { centre: vec![1.0, -2.0], linear, to: vec![0.25, 4.0] };
        let x = Mat::from_vec(2, 2, vec![0.3, 0.7, -5.0, 2.0]);
        let back = placement.back(&placement.carry(&x));
        back.as_slice().iter().zip(x.as_slice()).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
    }
}
