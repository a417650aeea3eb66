//! A model whose table no process has as a whole: each reads and checks its own columns, and all learn what depends on the others.

use super::family::{Family, Unit};
use super::{Model, ModelSpec, arranged, warnings};
use crate::error::SpecError;
use crate::linalg::Mat;
use crate::observations::{Observations, Offset, is_constant, row_mean, size_factors_of};
use crate::ranks::Ranks;
use std::convert::Infallible;
use std::sync::Arc;

impl Model {
    /// The model of a table with these columns and this number of rows, before any cell of it is known: [`Model::settle`].
    pub fn outlined(
        (rows, names): (usize, Vec<String>),
        covariates: Option<(Mat, Vec<String>)>,
        blocks: Vec<(Vec<usize>, Arc<dyn Family>)>,
        spec: ModelSpec,
    ) -> Result<Self, SpecError> {
        let mut data = Observations::hollow(rows, names);
        if let Some((covariates, names)) = covariates {
            data = data.with_covariates(covariates, names)?;
        }
        let (order, blocks) = arranged(data.columns(), blocks, &spec)?;
        let units = vec![Unit::new(0.0, 1.0); order.len()];
        Model::assembled(data, (order, blocks), spec, (units, false))
    }

    /// Whether it has the cells of its table.
    pub fn has_table(&self) -> bool {
        self.y.as_slice().len() == self.y.rows() * self.y.cols()
    }

    /// The columns of this process in a table whose columns processes share; `None` if there are fewer chunks than processes. They are
    /// positions in the table, in the order of the model.
    pub fn own_of_table(&self, ranks: Arc<dyn Ranks>) -> Option<Vec<usize>> {
        let chunks = self.chunks.clone().dealt(ranks)?;
        Some(self.order[chunks.own_columns()].to_vec())
    }

    /// The part of this process of a model without cells, whose cells are `y`. They are valid; their units are not known yet.
    pub fn part_with(&self, ranks: Arc<dyn Ranks>, y: Mat) -> Result<Option<Model>, SpecError> {
        let Some(chunks) = self.chunks.clone().dealt(ranks) else { return Ok(None) };
        let names = self.names[chunks.own_columns()].to_vec();
        let y = Observations::named(y, names)?.y;
        let part = self.part_of(chunks, y);
        for block in part.blocks.iter().filter(|block| !block.columns.is_empty()) {
            block.check_values(&part.y, &part.names)?;
        }
        Ok(Some(part))
    }

    /// Completes a model without cells and the part of it that this process has: offsets, units, which cells are missing, and warnings. All
    /// processes call it; given offsets need be known only to the first. `see` is shown all cells there, some rows at a time.
    pub fn settle(&mut self, part: &mut Model, offset: Offset, mut see: impl FnMut(&[f64])) -> Result<(), SpecError> {
        let chunks = part.chunks.clone();
        let (rows, is_first) = (part.rows(), chunks.is_first());
        // The first process sees every row.
        let mut means: Vec<Option<f64>> = Vec::new();
        let seen = part.collect_table(|table| {
            see(table);
            means.extend(table.chunks_exact(chunks.columns()).map(row_mean));
            Ok::<(), Infallible>(())
        });
        seen.unwrap_or_else(|never| match never {});
        let offsets = match offset {
            _ if !is_first => Vec::new(),
            Offset::None => vec![0.0; rows],
            Offset::SizeFactors => size_factors_of(&means, &means)?,
            given @ Offset::Given(_) => Observations::hollow(rows, self.names.clone()).with_offset(given)?.offset,
        };
        let lengths: Vec<usize> = (0..chunks.ranks().size()).map(|r| if r == 0 { rows } else { 0 }).collect();
        let offsets = chunks.ranks().gather(&offsets, &lengths);
        self.blocks.iter().try_for_each(|block| block.check_offset(&offsets))?;
        let units: Vec<Unit> = part.blocks.iter().flat_map(|block| block.units(&part.y, &offsets)).collect();
        let of_all = |number: &dyn Fn(usize) -> f64| {
            let own: Vec<f64> = (0..units.len()).map(number).collect();
            chunks.gather(&own)
        };
        let [centres, scales] = [of_all(&|j| units[j].centre), of_all(&|j| units[j].scale)];
        let roundings = of_all(&|j| units[j].rounding);
        let flags = of_all(&|j| f64::from(u8::from(is_constant(&part.y, j))));
        let holes = of_all(&|j| f64::from(u8::from(part.y.col(j).iter().any(|v| v.is_nan()))));
        let mut all: Vec<Unit> =
            (0..centres.len()).map(|j| Unit { centre: centres[j], scale: scales[j], rounding: roundings[j] }).collect();
        self.blocks.iter().for_each(|block| block.relate(&mut all));
        let units = all[chunks.own_columns()].to_vec();
        let missing: Vec<usize> = (0..means.len()).filter(|&n| means[n].is_none()).collect();
        let constant = (0..self.names.len()).filter(|&j| flags[j] > 0.0).map(|j| self.names[j].as_str());
        self.warnings = warnings(&missing, &constant.collect::<Vec<&str>>());
        let complete: Vec<bool> =
            self.blocks.iter().map(|block| holes[block.columns.clone()].iter().all(|&hole| hole == 0.0)).collect();
        for (model, units) in [(&mut *self, all), (part, units)] {
            model.missing = complete.contains(&false);
            model.parts.iter_mut().zip(&complete).for_each(|(part, &flag)| part.is_complete = flag);
            (model.units, model.offset) = (units, offsets.clone());
        }
        Ok(())
    }

    /// Shows the first process all rows of the table, some at a time and in the order of the model, where processes share its columns.
    pub fn collect_table<E>(&self, see: impl FnMut(&[f64]) -> Result<(), E>) -> Result<(), E> {
        let width = self.columns();
        self.chunks.collect_rows(
            self.rows(),
            |rows| self.y.as_slice()[rows.start * width..rows.end * width].to_vec(),
            see,
        )
    }
}
