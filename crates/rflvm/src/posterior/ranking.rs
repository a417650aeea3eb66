//! Comparison of several models: which predicts best, and which is the simplest that is not clearly worse.
//!
//! A model's score is elpd = Σ_n s_n, s_n the log predictive densities of row n's c_n points. Points of a row share its position, so
//! rows are the units of the standard error: se² = N/(N−1) Σ_n (s_n − c_n s̄)², s̄ = Σ s_n / Σ c_n. Two models are compared by
//! the same formula on their differences row by row.

/// Log predictive densities, summed over the points of each row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowScores {
    /// s_n.
    pub ln_density: Vec<f64>,
    /// c_n; rows without points do not count.
    pub points: Vec<usize>,
}

/// A sum with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The sum.
    pub value: f64,
    /// Its standard error; NaN where fewer than two rows have points.
    pub error: f64,
}

impl RowScores {
    /// elpd.
    pub fn total(&self) -> Estimate {
        estimate(&self.ln_density, &self.points)
    }

    /// elpd of this model minus that of another, scored on the same points.
    pub fn less(&self, other: &RowScores) -> Estimate {
        let difference = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { a - b };
        let differences: Vec<f64> = self.ln_density.iter().zip(&other.ln_density).map(difference).collect();
        estimate(&differences, &self.points)
    }

    /// Adds the points of another split of the same table.
    pub fn add(&mut self, other: &RowScores) {
        self.ln_density.iter_mut().zip(&other.ln_density).for_each(|(a, b)| *a += b);
        self.points.iter_mut().zip(&other.points).for_each(|(a, b)| *a += b);
    }
}

fn estimate(values: &[f64], points: &[usize]) -> Estimate {
    let rows = || values.iter().zip(points).filter(|(_, c)| **c > 0).map(|(&v, &c)| (v, c as f64));
    let (count, value) = rows().fold((0.0, 0.0), |(count, sum), (v, _)| (count + 1.0, sum + v));
    let mean = value / rows().map(|(_, c)| c).sum::<f64>();
    let square: f64 = rows().map(|(v, c)| (v - c * mean).powi(2)).sum();
    let error = if count > 1.0 { (count / (count - 1.0) * square).sqrt() } else { f64::NAN };
    Estimate { value, error }
}

/// Ranking of models.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The model with the largest score.
    pub best: usize,
    /// Each model's score minus the best one's.
    pub differences: Vec<Estimate>,
    /// The simplest model whose difference from the best is within one standard error.
    pub recommended: usize,
}

/// Ranks models; a smaller `complexity` is simpler. `None` if there are no models.
pub fn rank<C: Ord>(models: &[RowScores], complexity: &[C]) -> Option<Ranking> {
    let totals: Vec<f64> = models.iter().map(|m| m.total().value).collect();
    let best = (0..models.len()).max_by(|&a, &b| totals[a].total_cmp(&totals[b]).then(b.cmp(&a)))?;
    let differences: Vec<Estimate> = models.iter().map(|m| m.less(&models[best])).collect();
    let near = (0..models.len()).filter(|&i| i == best || -differences[i].value <= differences[i].error);
    let recommended = near.min_by(|&a, &b| complexity[a].cmp(&complexity[b]).then(totals[b].total_cmp(&totals[a])))?;
    Some(Ranking { best, differences, recommended })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ln_density: &[f64]) -> RowScores {
        RowScores { ln_density: ln_density.to_vec(), points: vec![2; ln_density.len()] }
    }

    #[test]
    fn the_error_of_rows_of_equal_size_is_that_of_a_sum() {
        let total = rows(&[-1.0, -2.0, -4.0, -5.0]).total();
        // Sample variance 10/3 of four rows.
        assert_eq!(total.value, -12.0);
        assert!((total.error - (4.0 * 10.0 / 3.0_f64).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn rows_with_more_points_are_no_noise() {
        // Every point has the same value: the sum is known exactly.
        let even = RowScores { ln_density: vec![-2.0, 0.0, -6.0, -4.0], points: vec![1, 0, 3, 2] };
        assert!((even.total().value + 12.0).abs() < 1e-12 && even.total().error.abs() < 1e-12);
    }

    #[test]
    fn the_simplest_within_one_error_is_recommended() {
        let best = rows(&[-1.0, -1.0, -1.0, -1.0]);
        let near = rows(&[-1.5, -0.6, -1.4, -0.6]);
        let far = rows(&[-2.0, -2.1, -1.9, -2.0]);
        let ranking = rank(&[best.clone(), near.clone(), far.clone()], &[3, 2, 1]).unwrap();
        assert_eq!((ranking.best, ranking.recommended), (0, 1));
        assert_eq!(ranking.differences[0], Estimate { value: 0.0, error: 0.0 });
        assert_eq!(rank(&[near, far, best], &[3, 2, 1]).unwrap().recommended, 2);
        assert_eq!(rank::<u8>(&[], &[]), None);
    }

    #[test]
    fn a_model_to_which_a_point_is_impossible_is_last() {
        let good = rows(&[-1.0, -1.0]);
        let impossible = rows(&[-1.0, f64::NEG_INFINITY]);
        let ranking = rank(&[impossible, good], &[1, 2]).unwrap();
        assert_eq!((ranking.best, ranking.recommended), (1, 1));
    }
}
