//! What shrinks the weights of every column of a collapsed table: A_j = H'ᵀH' + I/τ_j².

use crate::linalg::{Cholesky, Mat, Tridiagonal, mul};
use crate::simd::{Shifted, tridiagonal_inverses, tridiagonal_solves};

/// What serves the A_j of all columns.
pub enum Shrinker {
    /// One amplitude for all columns: A⁻¹, and ln |τ²A|.
    Common(Mat, f64),
    /// One amplitude per column: H'ᵀH' = QTQᵀ with T tridiagonal serves any of them. Eigenvectors would as well, but take several times as
    /// long.
    Own(Tridiagonal),
}

impl Shrinker {
    /// From a = H'ᵀH', and τ² if it is that of all columns. `None` if there is no factor.
    pub fn new(mut a: Mat, common: Option<f64>) -> Option<Self> {
        let Some(tau2) = common else { return Tridiagonal::new(&a).map(Shrinker::Own) };
        let order = a.rows();
        (0..order).for_each(|i| a[(i, i)] += 1.0 / tau2);
        let factor = Cholesky::new(&a, "weights").ok()?;
        Some(Shrinker::Common(factor.inverse(), factor.ln_det() + order as f64 * tau2.ln()))
    }
}

/// What is asked of the A_j of some columns, and memory for it.
#[derive(Debug, Default)]
pub struct Shrinkage {
    /// G: its columns are A_j⁻¹c_j.
    pub g: Mat,
    /// Σ_j A_j⁻¹.
    pub inverses: Mat,
    /// Σ_j ln |τ_j² A_j|.
    pub ln_det: f64,
    /// QᵀC, which becomes its solution Z; ratios and gains of the elimination.
    turned: Mat,
    ratio: Mat,
    gain: Mat,
    /// A square next to the inverses.
    square: Mat,
}

impl Shrinkage {
    /// From the τ_j² and C of the columns.
    pub fn fill(&mut self, shrinker: &Shrinker, tau2: &[f64], c: &Mat) {
        let (order, columns) = (c.rows(), tau2.len());
        self.g.fit(order, columns);
        self.inverses.fit(order, order);
        match shrinker {
            Shrinker::Common(inverse, ln_det) => {
                let columns = columns as f64;
                self.ln_det = columns * ln_det;
                mul(self.g.as_mut_slice(), inverse.view(), c.view(), false);
                let all = self.inverses.as_mut_slice().iter_mut().zip(inverse.as_slice());
                all.for_each(|(to, v)| *to = columns * v);
            }
            Shrinker::Own(tridiagonal) => self.own(tridiagonal, tau2, c),
        }
    }

    fn own(&mut self, Tridiagonal { diagonal, off, q }: &Tridiagonal, tau2: &[f64], c: &Mat) {
        let (order, columns) = (c.rows(), tau2.len());
        for weights in [&mut self.turned, &mut self.ratio, &mut self.gain] {
            weights.fit(order, columns);
        }
        self.square.fit(order, order);
        let (turned, inverses, square) = (&mut self.turned, &mut self.inverses, &mut self.square);
        mul(turned.as_mut_slice(), q.view().transpose(), c.view(), false);
        let shifted = Shifted { diagonal, off, tau2 };
        let mut ln_det = vec![0.0; columns];
        let (ratio, gain) = (self.ratio.as_mut_slice(), self.gain.as_mut_slice());
        tridiagonal_solves(shifted, turned.as_mut_slice(), ratio, gain, &mut ln_det);
        self.ln_det = ln_det.iter().sum();
        tridiagonal_inverses(order, self.ratio.as_slice(), self.gain.as_mut_slice(), inverses.as_mut_slice());
        mul(self.g.as_mut_slice(), q.view(), turned.view(), false);
        mul(square.as_mut_slice(), q.view(), inverses.view(), false);
        mul(inverses.as_mut_slice(), square.view(), q.view().transpose(), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_amplitude_and_nearly_equal_ones_agree() {
        let h = Mat::from_fn(30, 9, |i, j| ((i * 5 + j * 3 + i * j) as f64).sin());
        let mut a = Mat::zeros(9, 9);
        mul(a.as_mut_slice(), h.view().transpose(), h.view(), false);
        let c = Mat::from_fn(9, 11, |i, j| (i as f64 - 0.7 * j as f64).cos());
        let (mut common, mut own) = (Shrinkage::default(), Shrinkage::default());
        common.fill(&Shrinker::new(a.clone(), Some(2.5)).unwrap(), &[2.5; 11], &c);
        let alike = std::array::from_fn::<_, 11, _>(|j| 2.5 * (1.0 + 1e-14 * j as f64));
        own.fill(&Shrinker::new(a, None).unwrap(), &alike, &c);
        assert!((common.ln_det - own.ln_det).abs() < 1e-10);
        for (a, b) in [(&common.g, &own.g), (&common.inverses, &own.inverses)] {
            for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
                assert!((a - b).abs() < 1e-11, "{a} {b}");
            }
        }
    }
}
