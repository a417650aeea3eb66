//! Positions of the rows of a fit, over all its aligned draws.

use super::align::{Embedding, align_in};
use super::array::array;
use super::axes::AxesInUse;
use super::fitted::Fitted;
use super::frame::Frame;
use super::scaling::Expected;
use crate::error::RunError;
use crate::linalg::{Mat, mul};
use crate::model::features::units_of_the_map;

/// Draws over which the covariance of positions in several modes is taken.
const POOLED: usize = 1000;
/// Draws over which distances are expected: their Monte Carlo error is then a twentieth of their standard deviation.
const EXPECTED: usize = 400;

impl Fitted<'_> {
    /// The frame of the training rows: from all draws in use.
    pub fn frame(&self) -> Result<Frame, RunError> {
        let (rows, dim) = (self.model.rows(), self.model.latent_dim());
        array(self.store, "x", "x", &[rows, dim])?;
        let frame = Frame::of_visited(|take| self.visit_positions(take))?;
        Ok(match AxesInUse::of(self.store, self.used)? {
            Some(axes) => frame.of_axes_in_use(axes.mode()),
            None => frame,
        })
    }

    /// The position of each row, in the frame: those of the chains in use whose distances have the least expected squared error. Covariances are about them. Where
    /// chains began apart, they are over the draws of all modes, by their weights.
    pub fn embedding(&self, frame: &Frame) -> Result<Embedding, RunError> {
        let Embedding { mean, mut covariance, mut between_modes } = align_in(frame, |take| self.visit_positions(take))?;
        let mut expected = Expected::new(mean.rows());
        self.aligned(frame, &self.visited_in_map(EXPECTED)?, |x| expected.add(x))?;
        let placed = expected.positions(&mean);
        add_squares(&mut covariance, 1.0, &mean, &placed);
        if self.is_pooled && self.modes.len() > 1 {
            let visited = self.visited(POOLED)?;
            let share = 1.0 / visited.len() as f64;
            let mut of_all = vec![Mat::zeros(mean.cols(), mean.cols()); mean.rows()];
            self.aligned(frame, &visited, |x| add_squares(&mut of_all, share, x, &placed))?;
            let trace = |m: &Mat| (0..m.cols()).map(|d| m[(d, d)]).sum::<f64>();
            let between = |(all, own): (&Mat, &Mat)| (1.0 - trace(own) / trace(all)).max(0.0);
            between_modes = of_all.iter().zip(&covariance).map(between).collect();
            covariance = of_all;
        }
        Ok(Embedding { mean: placed, covariance, between_modes })
    }

    /// Passes the positions of the rows in some draws to `take`, in the frame.
    pub fn aligned(&self, frame: &Frame, draws: &[(usize, usize)], mut take: impl FnMut(&Mat)) -> Result<(), RunError> {
        let (rows, dim) = (self.model.rows(), self.model.latent_dim());
        let mut x = array(self.store, "x", "x", &[rows, dim])?;
        // W is optional in a store, and needed only where it defines the units of the axes.
        let frequencies = if self.model.has_relevance() { self.model.frequencies() } else { 0 };
        let mut w = match frequencies {
            0 => None,
            _ => Some(array(self.store, "w", "w", &[frequencies, dim])?),
        };
        for &(chain, draw) in draws {
            let x = Mat::from_vec(rows, dim, x.at(chain, draw)?.to_vec());
            let w = w.as_mut().map(|w| w.at(chain, draw)).transpose()?.unwrap_or_default();
            take(&frame.of(&x, &Mat::from_vec(frequencies, dim, w.to_vec())).carry(&x));
        }
        Ok(())
    }

    /// X of each draw; in units of the map where axes can be pruned.
    pub(super) fn visit_positions(&self, take: &mut dyn FnMut(&Mat)) -> Result<(), RunError> {
        let (rows, dim) = (self.model.rows(), self.model.latent_dim());
        if !self.model.has_relevance() {
            let each = |x: &[f64]| Mat::from_vec(rows, dim, x.to_vec());
            let mut draws = self.used.iter();
            return Ok(draws.try_for_each(|&chain| self.store.each("posterior/x", chain, &mut |x| take(&each(x))))?);
        }
        let draws = self.store.size()?.1;
        let all: Vec<(usize, usize)> =
            self.used.iter().flat_map(|&chain| (0..draws).map(move |draw| (chain, draw))).collect();
        self.visit_some(&all, take)
    }

    /// X of some draws, in units of the map.
    pub(super) fn visit_some(&self, draws: &[(usize, usize)], take: &mut dyn FnMut(&Mat)) -> Result<(), RunError> {
        let (rows, dim) = (self.model.rows(), self.model.latent_dim());
        let mut x = array(self.store, "x", "x", &[rows, dim])?;
        let mut w = array(self.store, "w", "w", &[self.model.frequencies(), dim])?;
        for &(chain, draw) in draws {
            let w = Mat::from_vec(self.model.frequencies(), dim, w.at(chain, draw)?.to_vec());
            let x = Mat::from_vec(rows, dim, x.at(chain, draw)?.to_vec());
            let mut scaled = Mat::zeros(rows, dim);
            mul(scaled.as_mut_slice(), x.view(), units_of_the_map(&w).view(), false);
            take(&scaled);
        }
        Ok(())
    }
}

/// Adds the outer products of the differences of each row, times a share.
fn add_squares(to: &mut [Mat], share: f64, x: &Mat, about: &Mat) {
    for (n, to) in to.iter_mut().enumerate() {
        let away = |d: usize| x[(n, d)] - about[(n, d)];
        for d in 0..x.cols() {
            for e in 0..x.cols() {
                to[(d, e)] += share * away(d) * away(e);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Kept;
    use crate::posterior::stacking::Weighted;
    use crate::posterior::tests::{fixture, mixed};
    use crate::rng::Stream;

    #[test]
    fn variance_between_modes_is_what_the_first_does_not_have() {
        let model = mixed::model();
        let path = fixture::fit(&model, "between-modes", &Kept::DEFAULT);
        let store = fixture::open(&path);
        let modes = Weighted::by_chains(vec![vec![0], vec![1]]);
        let one =
            Fitted { store: &store, model: &model, used: &[0], modes: &[], is_pooled: true, stream: Stream::new(1) };
        let both = Fitted { modes: &modes, ..one };
        let frame = both.frame().unwrap();
        assert!(one.embedding(&frame).unwrap().between_modes.is_empty());
        let Embedding { mean, between_modes, .. } = both.embedding(&frame).unwrap();
        let square = |chains: &[usize], n: usize| {
            let (mut sum, mut count) = (0.0, 0.0);
            let draws: Vec<(usize, usize)> =
                chains.iter().flat_map(|&chain| (0..fixture::DRAWN as usize).map(move |draw| (chain, draw))).collect();
            let add = |x: &Mat| {
                sum += (0..mean.cols()).map(|d| (x[(n, d)] - mean[(n, d)]).powi(2)).sum::<f64>();
                count += 1.0;
            };
            both.aligned(&frame, &draws, add).unwrap();
            sum / count
        };
        assert!(between_modes.iter().any(|share| *share > 0.2), "{between_modes:?}");
        for (n, share) in between_modes.iter().enumerate() {
            let wanted = (1.0 - square(&[0], n) / square(&[0, 1], n)).max(0.0);
            assert!((share - wanted).abs() < 0.02, "row {n}: {share} {wanted}");
        }
        std::fs::remove_dir_all(path).unwrap();
    }
}
