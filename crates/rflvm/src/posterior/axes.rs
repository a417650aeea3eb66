//! The number of axes in use, if it is learned: its posterior distribution.

use crate::draws::Source;
use crate::error::StoreError;

/// Posterior of the number of axes in use ([`crate::model::axes`]).
#[derive(Debug, Clone, PartialEq)]
pub struct AxesInUse {
    /// Probability of 0, 1, …, D axes.
    pub probabilities: Vec<f64>,
    /// Posterior mean of the information about each axis, largest first. The prior has information 1.
    pub information: Vec<f64>,
}

impl AxesInUse {
    /// From the draws of some chains of a store; `None` if the number of axes is fixed.
    pub fn of(store: &dyn Source, used: &[usize]) -> Result<Option<Self>, StoreError> {
        let (count, information) = ("posterior/axes_in_use", "posterior/axis_information");
        if !store.is_drawn(count) || store.size()?.1 == 0 {
            return Ok(None);
        }
        let dim = store.numbers(information)?.max(1);
        let (mut probabilities, mut means, mut draws) = (vec![0.0; dim + 1], vec![0.0; dim], 0.0);
        for &chain in used {
            for axes in store.all(count, chain)? {
                draws += 1.0;
                if let Some(p) = probabilities.get_mut(axes as usize) {
                    *p += 1.0;
                }
            }
            for row in store.all(information, chain)?.chunks_exact(dim) {
                means.iter_mut().zip(row).for_each(|(m, t)| *m += t);
            }
        }
        probabilities.iter_mut().chain(&mut means).for_each(|v| *v /= draws);
        Ok(Some(AxesInUse { probabilities, information: means }))
    }

    /// The most probable number; at least one, since a plot needs an axis.
    pub fn mode(&self) -> usize {
        let most = self.probabilities.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        most.map_or(1, |(axes, _)| axes.max(1))
    }
}
