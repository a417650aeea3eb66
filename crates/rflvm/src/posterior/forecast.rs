//! What a fit expects of times that have no row: X there follows the rest of its path, and cells follow X.

use super::diagnostics::quantile;
use super::mean_and_sd;
use super::parameters::{Parameters, Stored, evenly};
use crate::draws::zarr::Reader;
use crate::error::{NumericalError, RunError};
use crate::linalg::Mat;
use crate::model::Model;
use crate::model::family::Row;
use crate::rng::Stream;

/// Draws that are visited unless asked otherwise.
pub const DRAWS: usize = 1000;

/// A new row to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// When, in the units of the data's times.
    pub time: f64,
    /// Its sequence, as in [`crate::observations::Times`].
    pub sequence: usize,
    /// Its offset.
    pub offset: f64,
}

/// What is expected of one cell of a new row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Mean of E[y | f] over the draws.
    pub mean: f64,
    /// Standard deviation of the predictive distribution.
    pub sd: f64,
    /// Its quantiles at 5%, 50% and 95%.
    pub quantiles: [f64; 3],
}

/// A fit with times, and which of its draws to use.
#[derive(Debug, Clone, Copy)]
pub struct Forecast<'a> {
    /// The draws.
    pub store: &'a Reader,
    /// The model that they are of.
    pub model: &'a Model,
    /// The chains to use.
    pub used: &'a [usize],
    /// Where its randomness comes from.
    pub stream: Stream,
}

impl Forecast<'_> {
    /// What is expected of each new row (outer) and column of the model (inner), from at most `most` draws.
    pub fn cells(&self, moments: &[Moment], most: usize) -> Result<Vec<Vec<Expected>>, RunError> {
        let columns = self.model.columns();
        let mut means = Mat::zeros(moments.len(), columns);
        let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); moments.len() * columns];
        let mut count = 0.0;
        self.visit(moments, most, |expected, y| {
            count += 1.0;
            means.as_mut_slice().iter_mut().zip(expected.as_slice()).for_each(|(m, e)| *m += e);
            drawn.iter_mut().zip(y.as_slice()).for_each(|(drawn, y)| drawn.push(*y));
        })?;
        let mut cells = means.as_slice().iter().zip(drawn).map(|(mean, mut drawn)| {
            drawn.sort_unstable_by(f64::total_cmp);
            let (_, sd) = mean_and_sd(&drawn);
            Expected { mean: mean / count, sd, quantiles: [0.05, 0.5, 0.95].map(|p| quantile(&drawn, p)) }
        });
        Ok(moments.iter().map(|_| cells.by_ref().take(columns).collect()).collect())
    }

    /// Hands E[y | f] and a draw of y, new rows × columns of the model, to `take`, draw after draw.
    pub fn visit(&self, moments: &[Moment], most: usize, mut take: impl FnMut(&Mat, &Mat)) -> Result<(), RunError> {
        let mut stored = Stored::open(self.store, self.model)?;
        for (chain, draw) in evenly(self.used, self.store.size()?.1, most) {
            let parameters = stored.at(chain, draw)?;
            let stream = self.stream.at(chain as u64).at(draw as u64);
            let fail = |source| RunError::Numerical { chain: chain + 1, sweep: draw as u64 + 1, source };
            let x = positions(self.model, &parameters, moments, stream).map_err(fail)?;
            let offset: Vec<f64> = moments.iter().map(|m| m.offset).collect();
            let f = parameters.f(x, &offset);
            let unseen = vec![f64::NAN; f.cols()];
            let (mut expected, mut y) = (Mat::zeros(f.rows(), f.cols()), Mat::zeros(f.rows(), f.cols()));
            for i in 0..f.rows() {
                let rng = &mut stream.named("cells").at(i as u64).rng();
                for (block, theta) in self.model.blocks().iter().zip(&parameters.theta) {
                    let columns = block.columns.clone();
                    // A row beyond the table's: the trials of a binomial or multinomial are not known, and are one.
                    let row = Row { n: self.model.rows(), y: &unseen[columns.clone()], theta };
                    let f = &f.row(i)[columns.clone()];
                    block.family.mean(row, f, &mut expected.row_mut(i)[columns.clone()]);
                    block.family.simulate(row, f, &mut y.row_mut(i)[columns], rng);
                }
            }
            take(&expected, &y);
        }
        Ok(())
    }
}

/// A draw of X at the moments, each sequence by its own path.
fn positions(
    model: &Model,
    parameters: &Parameters,
    moments: &[Moment],
    stream: Stream,
) -> Result<Mat, NumericalError> {
    let mut x = Mat::zeros(moments.len(), model.latent_dim());
    let Some(dynamics) = model.dynamics() else { return Ok(x) };
    let mut sequences: Vec<usize> = moments.iter().map(|m| m.sequence).collect();
    sequences.sort_unstable();
    sequences.dedup();
    for sequence in sequences {
        let own: Vec<usize> = (0..moments.len()).filter(|&i| moments[i].sequence == sequence).collect();
        let times: Vec<f64> = own.iter().map(|&i| moments[i].time).collect();
        let stream = stream.named("paths").at(sequence as u64);
        let drawn = dynamics.ahead(&parameters.axes, &parameters.x, sequence, &times, stream)?;
        own.iter().enumerate().for_each(|(k, &i)| x.row_mut(i).copy_from_slice(drawn.row(k)));
    }
    Ok(x)
}
