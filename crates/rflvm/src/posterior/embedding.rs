//! Positions of the rows of a fit, over all its aligned draws.

use super::align::{Embedding, align_in};
use super::array::array;
use super::axes::AxesInUse;
use super::fitted::Fitted;
use super::frame::Frame;
use crate::error::RunError;
use crate::linalg::{Mat, mul};
use crate::model::features::units_of_the_map;

/// Draws over which the covariance of positions in several modes is taken.
const POOLED: usize = 1000;

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

    /// Posterior mean and covariance of each row, in the frame. The mean is that of the chains in use. Where chains began apart, the covariance is about that
    /// mean and over the draws of all modes, by their weights.
    pub fn embedding(&self, frame: &Frame) -> Result<Embedding, RunError> {
        let mut embedding = align_in(frame, |take| self.visit_positions(take))?;
        if self.is_pooled && self.modes.len() > 1 {
            let visited = self.visited(POOLED)?;
            embedding.covariance.iter_mut().for_each(|covariance| covariance.as_mut_slice().fill(0.0));
            let Embedding { mean, covariance } = &mut embedding;
            self.aligned(frame, &visited, |x| {
                for (n, covariance) in covariance.iter_mut().enumerate() {
                    let away = |d: usize| x[(n, d)] - mean[(n, d)];
                    for d in 0..mean.cols() {
                        for e in 0..mean.cols() {
                            covariance[(d, e)] += away(d) * away(e) / visited.len() as f64;
                        }
                    }
                }
            })?;
        }
        Ok(embedding)
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
