//! Alignment of the positions of one draw with another by orthogonal Procrustes (Schönemann 1966): x ↦ to + A(x − centre), AᵀA = I.

use crate::linalg::{Mat, mul};
use faer::linalg::solvers::DenseSolveCore;

/// The affine map that carries positions of one draw into the common frame, x ↦ to + A(x − centre).
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// The draw's own centre.
    pub centre: Vec<f64>,
    /// Aᵀ, D×D: rows are multiplied by it from the right.
    pub linear: Mat,
    /// Image of the centre.
    pub to: Vec<f64>,
    /// Number of axes of the frame; the others are not in use.
    pub axes: usize,
}

impl Placement {
    /// The shift and the rotation or reflection that bring `x` closest to `reference`.
    pub(crate) fn onto(reference: &Mat, x: &Mat) -> Self {
        let dim = x.cols();
        let (own_centre, to) = (centre(x), centre(reference));
        let centred = shifted(x, &own_centre, -1.0);
        let mut overlap = Mat::zeros(dim, dim);
        // Centring one of the two suffices.
        mul(overlap.as_mut_slice(), centred.view().transpose(), reference.view(), false);
        let Ok(svd) = overlap.faer().svd() else {
            return Placement {
                centre: vec![0.0; dim],
                linear: Mat::identity(dim, 1.0),
                to: vec![0.0; dim],
                axes: dim,
            };
        };
        let (u, v) = (own(svd.U()), own(svd.V()));
        let mut linear = Mat::zeros(dim, dim);
        mul(linear.as_mut_slice(), u.view(), v.view().transpose(), false);
        Placement { centre: own_centre, linear, to, axes: dim }
    }

    /// Positions of the draw, one per row, in the frame.
    pub fn carry(&self, x: &Mat) -> Mat {
        self.in_use(&affine(x, &self.centre, &self.linear, &self.to))
    }

    /// Positions in the frame, one per row, mapped back to the draw: at its centre along unused axes.
    pub fn back(&self, x: &Mat) -> Mat {
        let all = Mat::from_fn(x.rows(), self.to.len(), |n, d| if d < self.axes { x[(n, d)] } else { self.to[d] });
        affine(&all, &self.to, &self.inverse(), &self.centre)
    }

    /// A step of the frame in the draw.
    pub fn step_back(&self, step: &[f64]) -> Vec<f64> {
        let ends = Mat::from_fn(2, self.axes, |i, d| i as f64 * step[d]);
        let ends = self.back(&ends);
        (0..self.to.len()).map(|d| ends[(1, d)] - ends[(0, d)]).collect()
    }

    /// Frequencies of the draw, one per row, in the frame: w·(x − x') is the same in both.
    pub fn frequencies(&self, w: &Mat) -> Mat {
        self.in_use(&product(w, &self.inverse().transposed()))
    }

    fn inverse(&self) -> Mat {
        own(self.linear.faer().partial_piv_lu().inverse().as_ref())
    }

    /// The columns that are in use.
    fn in_use(&self, x: &Mat) -> Mat {
        Mat::from_fn(x.rows(), self.axes, |n, d| x[(n, d)])
    }
}

/// `x` after the shift and the rotation or reflection that bring it closest to `reference`.
pub fn turn(x: &Mat, reference: &Mat) -> Mat {
    Placement::onto(reference, x).carry(x)
}

/// (x − from) · linear + to, row by row.
fn affine(x: &Mat, from: &[f64], linear: &Mat, to: &[f64]) -> Mat {
    shifted(&product(&shifted(x, from, -1.0), linear), to, 1.0)
}

pub(crate) fn product(a: &Mat, b: &Mat) -> Mat {
    let mut to = Mat::zeros(a.rows(), b.cols());
    mul(to.as_mut_slice(), a.view(), b.view(), false);
    to
}

/// Mean position.
pub(crate) fn centre(x: &Mat) -> Vec<f64> {
    (0..x.cols()).map(|d| (0..x.rows()).map(|n| x[(n, d)]).sum::<f64>() / x.rows() as f64).collect()
}

/// x + sign · by.
fn shifted(x: &Mat, by: &[f64], sign: f64) -> Mat {
    Mat::from_fn(x.rows(), x.cols(), |n, d| x[(n, d)] + sign * by[d])
}

fn own(from: faer::MatRef<'_, f64>) -> Mat {
    Mat::from_fn(from.nrows(), from.ncols(), |i, j| from[(i, j)])
}

/// Moves a cloud so that its centre is the origin and its axes are its principal ones, widest first, each oriented so that its
/// largest value is positive. Also returns the rotation.
pub(crate) fn principal_axes(x: &Mat) -> (Mat, Mat) {
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
