//! Student-t: y = f + σ_j · t_ν, for real columns with outliers. Its parameter is ln σ_j.

use super::{About, Cells, Density, Generic, Observed, Parameter, Statistic, Unit};
use crate::dist::ln_gamma;
use crate::rng::StreamRng;
use rand::RngExt;
use std::f64::consts::PI;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "student-t",
    aliases: &["t", "student", "studentt"],
    cells: Cells::Real,
    statistics: Statistic::REAL,
    suggestions: &[
        (Statistic::LargestResidual, Observed::Less, "try gaussian"),
        (Statistic::Kurtosis, Observed::Less, "try gaussian"),
    ],
    new: |_| Ok(Arc::new(Generic(StudentT::default()))),
};

/// y = f + e^θ · t_ν.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentT {
    dof: f64,
    ln_normaliser: f64,
}

impl StudentT {
    /// With ν > 0 degrees of freedom.
    pub fn new(dof: f64) -> Self {
        assert!(dof > 0.0, "a Student-t needs positive degrees of freedom, not {dof}");
        let ln_normaliser = ln_gamma(0.5 * (dof + 1.0)) - ln_gamma(0.5 * dof) - 0.5 * (dof * PI).ln();
        StudentT { dof, ln_normaliser }
    }
}

impl Default for StudentT {
    fn default() -> Self {
        StudentT::new(4.0)
    }
}

impl Density for StudentT {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn parameters(&self, unit: &Unit) -> Vec<Parameter> {
        // A noise scale of about half the column's spread, within a factor of e².
        vec![Parameter { name: "ln_sigma", mean: (0.5 * unit.scale).ln(), sd: 1.0 }]
    }

    fn problem(&self, _y: f64) -> Option<String> {
        None
    }

    fn ln_density(&self, y: f64, f: f64, theta: &[f64]) -> f64 {
        let r = (y - f) * (-theta[0]).exp();
        self.ln_normaliser - theta[0] - 0.5 * (self.dof + 1.0) * (r * r / self.dof).ln_1p()
    }

    fn derivative(&self, y: f64, f: f64, theta: &[f64]) -> f64 {
        let sigma = theta[0].exp();
        let r = (y - f) / sigma;
        (self.dof + 1.0) * r / (self.dof + r * r) / sigma
    }

    fn mean(&self, f: f64, _theta: &[f64]) -> f64 {
        f
    }

    fn simulate(&self, f: f64, theta: &[f64], rng: &mut StreamRng) -> f64 {
        let t = rand_distr::StudentT::new(self.dof).map_or(f64::NAN, |law| rng.sample(law));
        f + theta[0].exp() * t
    }

    fn link(&self, y: f64) -> f64 {
        y
    }

    fn scale(&self, values: &[f64]) -> f64 {
        // The interquartile range, since a single outlier can dominate a standard deviation.
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quartile = |q: f64| sorted[((sorted.len() - 1) as f64 * q).round() as usize];
        let spread = (quartile(0.75) - quartile(0.25)) / 1.349;
        if spread > 0.0 { spread } else { 1.0 }
    }
}
