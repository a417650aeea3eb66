//! Ordered levels 1, …, K by cumulative logits (McCullagh 1980): P(y ≤ k) = logistic(c_k − f), c_1 < … < c_{K−1}.
//!
//! The logarithms of the K − 2 gaps c_{k+1} − c_k are normal, so the cut points are ordered; their mean is 0, since the intercept moves them all.
//! A scale read from its other end has the same prior. With a < f < b for the cut points about level k,
//! P(y = k) = logistic(b − f) − logistic(a − f) = logistic(b − f) logistic(f − a) (1 − e^{a−b}).

use super::{About, Cells, Density, Generic, Observed, Parameter, Statistic, Unit};
use crate::dist::{logistic, softplus};
use crate::error::SpecError;
use crate::model::priors::{Normal, Priors};
use crate::rng::StreamRng;
use rand::RngExt;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "ordinal",
    aliases: &["ordered", "cumulative-logit", "likert"],
    cells: Cells::Levels,
    statistics: Statistic::LEVELS,
    suggestions: &[
        (Statistic::RowMeans, Observed::More, "try more latent axes or more random features"),
        (Statistic::VarianceToMean, Observed::More, "try multinomial: the levels may have no common order"),
        (Statistic::VarianceToMean, Observed::Less, "try multinomial: the levels may have no common order"),
    ],
    new: |levels, priors| {
        let levels = levels.map_or(Ok(USUAL), |levels| levels.same().ok_or_else(not_a_number))?;
        Ok(Arc::new(Generic(Ordinal::new(levels, priors.cut_points)?)))
    },
};

/// The levels of a scale of which nothing else is known.
const USUAL: u32 = 5;

/// The largest number of levels.
pub const MOST_LEVELS: u32 = 20;

/// Names of the logarithms of the gaps.
const GAPS: [&str; MOST_LEVELS as usize - 2] = [
    "ln_gap_1",
    "ln_gap_2",
    "ln_gap_3",
    "ln_gap_4",
    "ln_gap_5",
    "ln_gap_6",
    "ln_gap_7",
    "ln_gap_8",
    "ln_gap_9",
    "ln_gap_10",
    "ln_gap_11",
    "ln_gap_12",
    "ln_gap_13",
    "ln_gap_14",
    "ln_gap_15",
    "ln_gap_16",
    "ln_gap_17",
    "ln_gap_18",
];

fn not_a_number() -> SpecError {
    let rule = "ordinal takes one number of levels for all cells of a column; give a number".into();
    SpecError::Setting { setting: "trials", value: "a table".into(), rule }
}

/// Ordered levels with learned cut points. θ holds the logarithms of the gaps between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ordinal {
    levels: u32,
    prior: Normal,
}

impl Default for Ordinal {
    fn default() -> Self {
        Ordinal { levels: USUAL, prior: Priors::default().cut_points }
    }
}

impl Ordinal {
    /// Levels 1 to `levels`, with the prior of the logarithm of a gap.
    pub fn new(levels: u32, prior: Normal) -> Result<Self, SpecError> {
        if (2..=MOST_LEVELS).contains(&levels) {
            return Ok(Ordinal { levels, prior });
        }
        let rule = format!("ordinal takes 2 to {MOST_LEVELS} levels; choose gaussian for a longer scale");
        Err(SpecError::Setting { setting: "trials", value: levels.to_string(), rule })
    }

    /// The cut points below and above a level, and the gap between them; infinite at the ends.
    fn bounds(&self, y: f64, theta: &[f64]) -> [f64; 3] {
        let cuts = self.levels as usize - 1;
        let level = y as usize;
        let (mut total, mut weighted, mut to_below, mut to_above) = (0.0, 0.0, 0.0, 0.0);
        for (k, ln) in theta.iter().enumerate() {
            let gap = ln.exp();
            total += gap;
            weighted += (cuts - 1 - k) as f64 * gap;
            if k + 2 == level {
                to_above = total;
            }
            if k + 3 == level {
                to_below = total;
            }
        }
        // Σ_k c_k = 0: the first cut point is minus the mean of the sums of gaps below each.
        let first = -weighted / cuts as f64;
        let below = if level == 1 { f64::NEG_INFINITY } else { first + to_below };
        let above = if level > cuts { f64::INFINITY } else { first + to_above };
        // Of cut points that nearly coincide the difference has no digits left.
        let gap = if level == 1 || level > cuts { f64::INFINITY } else { theta[level - 2].exp() };
        [below, above, gap]
    }

    /// c_1, …, c_{K−1}.
    pub fn cut_points(&self, theta: &[f64]) -> Vec<f64> {
        (1..self.levels).map(|k| self.bounds(f64::from(k), theta)[1]).collect()
    }
}

impl Density for Ordinal {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn levels(&self) -> usize {
        self.levels as usize
    }

    fn parameters(&self, _unit: &Unit) -> Vec<Parameter> {
        let gap = |&name: &&'static str| Parameter { name, mean: self.prior.mean, sd: self.prior.sd };
        GAPS[..self.levels as usize - 2].iter().map(gap).collect()
    }

    fn problem(&self, y: f64) -> Option<String> {
        let top = self.levels;
        if y.fract() != 0.0 {
            Some("is not a whole number, but ordinal models levels 1, 2, …; number them, or choose gaussian".into())
        } else if y < 1.0 {
            Some("is below 1, but the levels of ordinal are counted from 1; add a constant to the column".into())
        } else if y > f64::from(top) {
            Some(format!("is above {top}, the highest level of the column; correct the cell or the number of levels"))
        } else {
            None
        }
    }

    fn any_cell(&self) -> f64 {
        1.0
    }

    fn ln_density(&self, y: f64, f: f64, theta: &[f64]) -> f64 {
        let [below, above, gap] = self.bounds(y, theta);
        // Each term vanishes where its cut point is infinite.
        -softplus(f - above) - softplus(below - f) + (-(-gap).exp_m1()).ln()
    }

    fn derivative(&self, y: f64, f: f64, theta: &[f64]) -> f64 {
        let [below, above, _] = self.bounds(y, theta);
        logistic(above - f) + logistic(below - f) - 1.0
    }

    fn mean(&self, f: f64, theta: &[f64]) -> f64 {
        1.0 + self.cut_points(theta).iter().map(|cut| logistic(f - cut)).sum::<f64>()
    }

    fn simulate(&self, f: f64, theta: &[f64], rng: &mut StreamRng) -> f64 {
        let u: f64 = rng.random();
        let above = self.cut_points(theta).iter().filter(|&cut| logistic(cut - f) < u).count();
        1.0 + above as f64
    }

    fn link(&self, y: f64) -> f64 {
        ((y - 0.5) / (f64::from(self.levels) - y + 0.5)).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::rng::Stream;

    #[test]
    fn cut_points_are_ordered_about_zero_and_a_turned_scale_has_the_same_density() {
        for levels in [2, 3, 5, 7, 20] {
            let family = Ordinal::new(levels, Normal { mean: 0.0, sd: 1.0 }).unwrap();
            let theta = normals(levels as usize - 2, &mut Stream::new(u64::from(levels)).rng());
            let cuts = family.cut_points(&theta);
            assert!(cuts.windows(2).all(|pair| pair[0] < pair[1]), "{cuts:?}");
            assert!(cuts.iter().sum::<f64>().abs() < 1e-12, "{cuts:?}");
            let turned: Vec<f64> = theta.iter().rev().copied().collect();
            for y in 1..=levels {
                let (there, back) = (f64::from(y), f64::from(levels + 1 - y));
                let gap = family.ln_density(there, 0.7, &theta) - family.ln_density(back, -0.7, &turned);
                assert!(gap.abs() < 1e-12, "{levels} levels, level {y}: {gap}");
            }
        }
    }

    #[test]
    fn far_from_its_cut_points_a_level_keeps_a_density() {
        let family = Ordinal::default();
        for (y, f) in [(1.0, 900.0), (3.0, -900.0), (5.0, -900.0), (3.0, 900.0)] {
            let ln = family.ln_density(y, f, &[-3.0, 0.0, 1.0]);
            assert!(ln.is_finite() && (-920.0..-880.0).contains(&ln), "{y}, {f}: {ln}");
        }
        // Cut points that nearly coincide leave their level little.
        assert!((family.ln_density(2.0, 0.0, &[-40.0, 0.0, 0.0]) + 40.0).abs() < 3.0);
    }

    #[test]
    fn two_levels_are_yes_and_no() {
        let family = Ordinal::new(2, Normal { mean: 0.0, sd: 1.0 }).unwrap();
        assert!(family.parameters(&Unit::new(0.0, 1.0)).is_empty());
        assert!((family.ln_density(2.0, 0.3, &[]) - logistic(0.3).ln()).abs() < 1e-15);
        assert!((family.mean(0.3, &[]) - 1.0 - logistic(0.3)).abs() < 1e-15);
    }

    #[test]
    fn cells_that_are_no_level_are_refused() {
        let family = Ordinal::default();
        assert!(family.problem(0.0).unwrap().contains("counted from 1"));
        assert!(family.problem(6.0).unwrap().contains("above 5"));
        assert!(family.problem(2.5).unwrap().contains("whole number"));
        assert_eq!(family.problem(5.0), None);
        let error = Ordinal::new(21, Normal { mean: 0.0, sd: 1.0 }).unwrap_err().to_string();
        assert!(error.contains("2 to 20 levels"), "{error}");
    }
}
