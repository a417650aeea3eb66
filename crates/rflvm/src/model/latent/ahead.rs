//! Paths at times that have no row: what the rest of the path and its hyperparameters say of them.

use super::dynamics::{Axis, Dynamics};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::rng::Stream;

impl Dynamics {
    /// A draw of X at new times of one of the sequences, given X at the rows; times in the user's units, in any order.
    /// `sequence` is as in [`crate::observations::Times`]; one that no row belongs to has a path of its own.
    pub fn ahead(
        &self,
        axes: &[Axis],
        x: &Mat,
        sequence: usize,
        times: &[f64],
        stream: Stream,
    ) -> Result<Mat, NumericalError> {
        let known = self.sequences.iter().find(|s| self.times().sequence[s.rows[0]] == sequence);
        let (rows, at) = known.map_or((&[][..], &[][..]), |s| (&s.rows, &s.times));
        // All times in order: those of rows by their place in the sequence, new ones by their place among the new.
        let mut all: Vec<(f64, Result<usize, usize>)> = at.iter().enumerate().map(|(i, &t)| (t, Ok(i))).collect();
        all.extend(times.iter().enumerate().map(|(i, &t)| (self.scaled(t), Err(i))));
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (moments, hidden): (Vec<f64>, Vec<bool>) = all.iter().map(|(t, place)| (*t, place.is_err())).unzip();
        let anchors = if at.is_empty() { &moments } else { at };
        let mut drawn = Mat::zeros(times.len(), axes.len());
        for (d, axis) in axes.iter().enumerate() {
            let path = self.path_with(&moments, anchors, axis, None)?;
            let mut values: Vec<f64> = all.iter().map(|(_, place)| place.map_or(0.0, |i| x[(rows[i], d)])).collect();
            path.fill(&hidden, &mut values, &mut stream.at(d as u64).rng())?;
            for (value, (_, place)) in values.iter().zip(&all) {
                if let Err(i) = place {
                    drawn[(*i, d)] = *value;
                }
            }
        }
        Ok(drawn)
    }
}
