//! A state of all columns from the parts of several processes, and back.

use super::family::Theta;
use super::{ColumnProcess, ColumnScales, Model, State};
use crate::linalg::Mat;

impl Model {
    /// A table of all columns on the first process, from the columns of each; nothing on the others.
    pub fn collect(&self, own: &Mat) -> Option<Mat> {
        let all = self.chunks.collect(own.rows(), own.as_slice())?;
        Some(Mat::from_vec(own.rows(), self.all_columns(), all))
    }

    /// The columns of this process of a table of all columns.
    pub fn own_of(&self, all: &Mat) -> Mat {
        all.some_cols(self.chunks.own_columns())
    }

    /// The state of all columns on the first process, from those of each; nothing on the others. F is left out unless it is asked for.
    pub fn collect_state(&self, state: &State, with_f: bool) -> Option<State> {
        let beta = self.collect(&state.beta);
        let tau2 = self.collect(&Mat::from_vec(1, state.tau2.len(), state.tau2.clone()));
        let theta = self.collect_parameters(&state.theta);
        let column_process = self.collect_column_process(&state.column_process);
        let f = if with_f { self.collect(&state.f) } else { self.chunks.is_first().then(Mat::default) };
        Some(State {
            features: state.features.clone(),
            spectral: state.spectral.clone(),
            beta: beta?,
            tau2: tau2?.into_vec(),
            theta: theta?,
            axes: state.axes.clone(),
            column_process: column_process?,
            f: f?,
        })
    }

    /// θ of whole blocks.
    fn collect_parameters(&self, theta: &[Theta]) -> Option<Vec<Theta>> {
        // One row per parameter of a family, as wide as the table.
        let rows = theta.iter().map(|theta| theta.values.rows()).max().unwrap_or(0);
        let mut wide = Mat::zeros(rows, self.columns());
        for (block, theta) in self.blocks.iter().zip(theta) {
            for (p, values) in theta.values.as_slice().chunks_exact(block.columns.len().max(1)).enumerate() {
                wide.row_mut(p)[block.columns.clone()].copy_from_slice(values);
            }
        }
        let all = self.collect(&wide)?;
        let of_block = |(part, theta): (&super::block::Part, &Theta)| {
            let values = Mat::from_fn(theta.values.rows(), part.all, |p, j| all[(p, part.start + j)]);
            Theta { values, hyper: theta.hyper.clone() }
        };
        Some(self.parts.iter().zip(theta).map(of_block).collect())
    }

    /// Column processes.
    fn collect_column_process(&self, column_process: &ColumnProcess) -> Option<ColumnProcess> {
        if column_process.scales.is_empty() {
            return self.chunks.is_first().then(ColumnProcess::default);
        }
        let numbers = column_process
            .scales
            .iter()
            .map(|own| own.share)
            .chain(column_process.scales.iter().map(|o| o.length_scale));
        let scales = self.collect(&Mat::from_vec(2, column_process.scales.len(), numbers.collect()));
        let (g, scales) = (self.collect(&column_process.g)?, scales?);
        let scales =
            (0..scales.cols()).map(|j| ColumnScales { share: scales[(0, j)], length_scale: scales[(1, j)] }).collect();
        Some(ColumnProcess { g, scales })
    }

    /// The columns of this process of a state of all columns.
    pub fn own_state(&self, all: State) -> State {
        if self.chunks.is_alone() {
            return all;
        }
        let own = self.chunks.own_columns();
        let of_block = |(b, theta): (usize, Theta)| {
            let (part, width) = (&self.parts[b], self.blocks[b].columns.len());
            Theta { values: theta.values.some_cols(part.first..part.first + width), hyper: theta.hyper }
        };
        let column_process = match all.column_process.scales.is_empty() {
            true => ColumnProcess::default(),
            false => ColumnProcess {
                g: self.own_of(&all.column_process.g),
                scales: all.column_process.scales[own.clone()].to_vec(),
            },
        };
        State {
            beta: self.own_of(&all.beta),
            tau2: all.tau2[own].to_vec(),
            theta: all.theta.into_iter().enumerate().map(of_block).collect(),
            column_process,
            f: self.own_of(&all.f),
            features: all.features,
            spectral: all.spectral,
            axes: all.axes,
        }
    }
}
