//! How each column changes along a path through the latent space.

use super::fitted::{Fitted, HELD};
use super::frame::Frame;
use super::gradient::of_columns;
use super::link::{expected, to_link_scale};
use super::parameters::Parameters;
use super::summary::Summary;
use crate::error::RunError;
use crate::linalg::Mat;

/// The change of a column along a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// From its first to its last point, on the scale of the link.
    pub link: Summary,
    /// The largest minus the smallest value at its points, on the scale of the link.
    pub range: Summary,
    /// From its first to its last point, of `E[y]` for a row with a given offset.
    pub cells: Summary,
    /// Posterior mean of `E[y]` at the first and at the last point.
    pub ends: [f64; 2],
}

impl Fitted<'_> {
    /// Of each column, along points of the frame (K×D, in order), for rows with an offset and average covariates. From at most `most` draws of the mode to
    /// which the frame belongs.
    pub fn change(&self, frame: &Frame, points: &Mat, offset: f64, most: usize) -> Result<Vec<Change>, RunError> {
        let (columns, last) = (self.model.columns(), points.rows() - 1);
        let most = most.min(HELD / (4 * columns)).max(1);
        let (mut link, mut range, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        let mut ends = vec![[0.0; 2]; columns];
        let visited = self.visited_in_map(most)?;
        let compute = |parameters: &Parameters, _| {
            let x = frame.of(&parameters.x, &parameters.w).back(points);
            let known = Mat::zeros(points.rows(), self.model.covariates().cols());
            let mut f = parameters.f(x, &vec![offset; points.rows()], known);
            let ends = Mat::from_fn(2, columns, |i, j| f[(i * last, j)]);
            let ends = expected(self.model, &parameters.theta, &ends);
            to_link_scale(self.model, &mut f);
            (f, ends)
        };
        self.each_draw(&visited, compute, |(f, expected)| {
            let of = |g: &dyn Fn(usize) -> f64| (0..columns).map(g).collect::<Vec<f64>>();
            link.push(of(&|j| f[(last, j)] - f[(0, j)]));
            range.push(of(&|j| {
                let (low, high) = f.col(j).into_iter().fold((f64::MAX, f64::MIN), |(a, b), f| (a.min(f), b.max(f)));
                high - low
            }));
            cells.push(of(&|j| expected[(1, j)] - expected[(0, j)]));
            for (j, ends) in ends.iter_mut().enumerate() {
                (0..2).for_each(|i| ends[i] += expected[(i, j)] / visited.len() as f64);
            }
        })?;
        let [link, range, cells] = [link, range, cells].map(|draws| of_columns(&draws, columns));
        Ok((0..columns).map(|j| Change { link: link[j], range: range[j], cells: cells[j], ends: ends[j] }).collect())
    }
}
