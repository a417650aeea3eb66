//! With which groups a row is found: the share of its nearest rows that belong to each, over all modes; it needs no alignment.

use super::distances::{away, nearest};
use super::fitted::Fitted;
use crate::error::RunError;
use crate::linalg::Mat;
use crate::par;

impl Fitted<'_> {
    /// The probability that one of the `k` nearest rows of a row, chosen at random, belongs to each of `count` groups: N×`count`, from at most
    /// `most` draws. Rows without a group are nobody's neighbours, but have probabilities.
    pub fn together(&self, groups: &[Option<usize>], count: usize, k: usize, most: usize) -> Result<Mat, RunError> {
        let n = self.model.rows();
        let (mut shares, mut draws) = (Mat::zeros(n, count), 0.0);
        self.each_positions(most, |x| {
            draws += 1.0;
            let found = par::map(n, n * x.cols(), |row| {
                let known = (0..n).filter(|&other| other != row && groups[other].is_some()).collect();
                nearest(&away(x, row), known, k)
            });
            for (row, found) in found.into_iter().enumerate() {
                let share = 1.0 / found.len().max(1) as f64;
                found.into_iter().filter_map(|other| groups[other]).for_each(|group| shares[(row, group)] += share);
            }
        })?;
        shares.as_mut_slice().iter_mut().for_each(|share| *share /= draws);
        Ok(shares)
    }
}

#[cfg(test)]
mod tests;
