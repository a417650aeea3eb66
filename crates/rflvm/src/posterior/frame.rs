//! The common frame of a fit, that of embedding.csv: where a draw's positions lie in it, and where its positions lie in a draw.
//!
//! A draw knows X up to a rotation or reflection R and a shift. Its own x stands at x̃ = (x − c) R + c̃ in the frame, with c and c̃ the
//! centres of the draw and of the reference, and R by orthogonal Procrustes (Schönemann 1966). R is orthogonal, so that
//! x = (x̃ − c̃) Rᵀ + c, and w·(x − x') = w̃·(x̃ − x̃') with w̃ = wR: frequencies turn as positions do.

use super::align::{Embedding, align_visited};
use super::fitted::Fitted;
use crate::error::StoreError;
use crate::linalg::{Mat, mul};

/// A frame: the reference that draws are brought onto.
#[derive(Debug, Clone)]
pub struct Frame {
    reference: Mat,
}

impl Frame {
    /// The frame of some reference positions, N×D.
    pub fn new(reference: Mat) -> Self {
        Frame { reference }
    }

    /// How the X of a draw lies in the frame.
    pub fn of(&self, x: &Mat) -> Placement {
        Placement::between(x, &self.reference)
    }
}

/// How one draw lies in a frame.
#[derive(Debug, Clone)]
pub struct Placement {
    /// c.
    pub(super) own_centre: Vec<f64>,
    /// R, D×D.
    pub(super) rotation: Mat,
    /// c̃.
    pub(super) centre: Vec<f64>,
}

impl Placement {
    /// The shift and the rotation or reflection that bring `x` closest to `reference`.
    pub(super) fn between(x: &Mat, reference: &Mat) -> Self {
        let dim = x.cols();
        let (own_centre, centre) = (centre(x), centre(reference));
        let centred = Mat::from_fn(x.rows(), dim, |n, d| x[(n, d)] - own_centre[d]);
        let mut overlap = Mat::zeros(dim, dim);
        // Centring one of the two is enough.
        mul(overlap.as_mut_slice(), centred.view().transpose(), reference.view(), false);
        let Ok(svd) = overlap.faer().svd() else {
            return Placement { own_centre: vec![0.0; dim], rotation: Mat::identity(dim, 1.0), centre: vec![0.0; dim] };
        };
        let (u, v) = (svd.U(), svd.V());
        let entry = |i: usize, j: usize| (0..dim).map(|k| u[(i, k)] * v[(j, k)]).sum();
        Placement { own_centre, rotation: Mat::from_fn(dim, dim, entry), centre }
    }

    /// A position of the draw, in the frame.
    pub fn into_frame(&self, x: &[f64]) -> Vec<f64> {
        let from_centre: Vec<f64> = x.iter().zip(&self.own_centre).map(|(x, c)| x - c).collect();
        self.turned(&from_centre).iter().zip(&self.centre).map(|(x, c)| x + c).collect()
    }

    /// A position of the frame, in the draw.
    pub fn into_draw(&self, x: &[f64]) -> Vec<f64> {
        let from_centre: Vec<f64> = x.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
        let back = |row: &[f64]| row.iter().zip(&from_centre).map(|(r, x)| r * x).sum::<f64>();
        self.rotation.iter_rows().map(back).zip(&self.own_centre).map(|(x, c)| x + c).collect()
    }

    /// wR: a frequency, or any direction, of the draw in the frame.
    pub fn turned(&self, w: &[f64]) -> Vec<f64> {
        let dim = w.len();
        (0..dim).map(|e| (0..dim).map(|d| w[d] * self.rotation[(d, e)]).sum()).collect()
    }
}

impl Fitted<'_> {
    /// Posterior mean and covariance of each row over all aligned draws, and the reference that they were brought onto.
    pub fn embedding(&self) -> Result<Embedding, StoreError> {
        let (rows, dim) = (self.model.rows(), self.model.latent_dim());
        if self.store.shape("posterior/x")?[2..] != [rows, dim] {
            return Err(self.store.foreign());
        }
        align_visited(|take| {
            let draws =
                |&chain: &usize| self.store.each("posterior/x", chain, |x| take(&Mat::from_vec(rows, dim, x.to_vec())));
            self.used.iter().try_for_each(draws)
        })
    }
}

/// Mean position.
pub(super) fn centre(x: &Mat) -> Vec<f64> {
    (0..x.cols()).map(|d| (0..x.rows()).map(|n| x[(n, d)]).sum::<f64>() / x.rows() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::posterior::align::turn;
    use crate::rng::Stream;

    #[test]
    fn there_and_back_is_the_same_place_and_frequencies_turn_along() {
        let mut rng = Stream::new(4).rng();
        for dim in 1..=4 {
            let mut cloud = |away: f64| {
                let noise = normals(30 * dim, &mut rng);
                Mat::from_fn(30, dim, |n, d| away + (n * d) as f64 * 0.01 + noise[n * dim + d])
            };
            let (reference, x) = (cloud(0.0), cloud(3.0));
            let placement = Frame::new(reference.clone()).of(&x);
            let aligned = turn(&x, &reference);
            let w = normals(dim, &mut Stream::new(9).rng());
            for n in 0..30 {
                let there = placement.into_frame(x.row(n));
                let back = placement.into_draw(&there);
                for d in 0..dim {
                    assert!((there[d] - aligned[(n, d)]).abs() < 1e-12);
                    assert!((back[d] - x[(n, d)]).abs() < 1e-12);
                }
                let dot = |w: &[f64], a: &[f64], b: &[f64]| (0..dim).map(|d| w[d] * (a[d] - b[d])).sum::<f64>();
                let own = dot(&w, x.row(n), x.row(0));
                assert!((own - dot(&placement.turned(&w), aligned.row(n), aligned.row(0))).abs() < 1e-12);
            }
        }
    }
}
