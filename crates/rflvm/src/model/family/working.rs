//! The cells of a column as Gaussian observations of f: what a filter of a column process can work with.

/// z_n = f_n + e_n, e_n ~ N(0, v_n).
#[derive(Debug, Clone)]
pub struct Working {
    /// z.
    pub response: Vec<f64>,
    /// v; infinite where nothing is observed.
    pub variance: Vec<f64>,
}

impl Working {
    /// Nothing observed yet.
    pub fn blank(rows: usize) -> Self {
        Working { response: vec![0.0; rows], variance: vec![f64::INFINITY; rows] }
    }

    /// Under Pólya-gamma augmentation: κ/ω with variance 1/ω.
    pub fn augmented(omega: &[f64], kappa: &[f64]) -> Self {
        let mut working = Working::blank(omega.len());
        omega.iter().zip(kappa).enumerate().for_each(|(n, (o, k))| working.set(n, k / o, o.recip()));
        working
    }

    /// Cell n observed; a variance that is not finite counts as nothing observed.
    pub fn set(&mut self, n: usize, response: f64, variance: f64) {
        if variance.is_finite() && response.is_finite() {
            (self.response[n], self.variance[n]) = (response, variance);
        }
    }
}
