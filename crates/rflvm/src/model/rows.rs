//! Other rows of the same columns: the model of new rows, or of some of the rows.

use super::family::Family;
use super::{Block, Model, ModelSpec};
use crate::error::{DataError, SpecError};
use crate::linalg::Mat;
use crate::observations::{Observations, Offset, Times, check_covariates};
use std::sync::Arc;

impl Model {
    /// Covariates in units of the prior of their effects, as [`Model::covariates`] has them.
    pub fn in_prior_units(&self, covariates: Mat) -> Mat {
        self.spec.priors.covariates_in_its_units(covariates)
    }

    /// The families of some of the rows, one per block: each with the trials of these rows.
    pub fn families_of(&self, rows: &[usize]) -> Vec<Arc<dyn Family>> {
        let of = |block: &Block| block.family.of_rows(rows).unwrap_or_else(|| Arc::clone(&block.family));
        self.blocks.iter().map(of).collect()
    }

    /// Some of the rows, with columns in the order of the table.
    pub fn table_of(&self, rows: &[usize]) -> Mat {
        let mut y = Mat::zeros(rows.len(), self.columns());
        for (i, &n) in rows.iter().enumerate() {
            self.order.iter().zip(self.y.row(n)).for_each(|(&column, &value)| y[(i, column)] = value);
        }
        y
    }

    /// Covariates of some of the rows, as they were given.
    pub fn covariates_of(&self, rows: &[usize]) -> Mat {
        let unit = self.spec.priors.covariates;
        Mat::from_fn(rows.len(), self.covariates.cols(), |i, c| self.covariates[(rows[i], c)] / unit)
    }

    /// A model of some of the rows alone, as if the others had never been observed: centres and scales of columns are those of these
    /// rows. Offsets and covariates are kept.
    pub fn only(&self, rows: &[usize], spec: ModelSpec) -> Result<Self, SpecError> {
        let mut names = vec![String::new(); self.columns()];
        self.order.iter().zip(&self.names).for_each(|(&column, name)| names[column].clone_from(name));
        let offset = rows.iter().map(|&n| self.offset[n]).collect();
        let mut data = Observations::named(self.table_of(rows), names)?.with_offset(Offset::Given(offset))?;
        data = data.with_covariates(self.covariates_of(rows), self.covariate_names.clone())?;
        if let Some(times) = self.dynamics.as_ref().map(super::latent::Dynamics::times) {
            let (at, sequence) = rows.iter().map(|&n| (times.at[n], times.sequence[n])).unzip();
            data = data.with_times(Times { at, sequence })?;
        }
        let columns = self.blocks.iter().map(|block| self.order[block.columns.clone()].to_vec());
        Model::with_blocks(data, columns.zip(self.families_of(rows)).collect(), spec)
    }

    /// The same model with other rows: the columns, families and priors of this one, without times. `y` is in the order
    /// of the table's columns; `known` are offsets and covariates; `families`, one per block, are those of the model unless they hold data per row, such as trials.
    pub fn with_rows(
        &self,
        y: &Mat,
        (offset, covariates): (Vec<f64>, Mat),
        families: Vec<Arc<dyn Family>>,
    ) -> Result<Self, DataError> {
        let shape = |what, found: String, expected: String| Err(DataError::Shape { what, found, expected });
        if y.cols() != self.columns() {
            return shape("the table of new rows", format!("{} columns", y.cols()), format!("{}", self.columns()));
        }
        if y.rows() == 0 {
            return shape("the table of new rows", "0 rows".into(), "at least 1".into());
        }
        if offset.len() != y.rows() || families.len() != self.blocks.len() {
            let found = format!("{} rows, {} blocks", offset.len(), families.len());
            let expected = format!("{} rows, {} blocks", y.rows(), self.blocks.len());
            return shape("the list of offsets or families", found, expected);
        }
        if covariates.rows() != y.rows() || covariates.cols() != self.covariates.cols() {
            let found = format!("{} rows, {} columns", covariates.rows(), covariates.cols());
            let expected = format!("{} rows, {} columns", y.rows(), self.covariates.cols());
            return shape("the table of covariates", found, expected);
        }
        check_covariates(&covariates)?;
        let y = Mat::from_fn(y.rows(), y.cols(), |n, j| y[(n, self.order[j])]);
        let pairs = self.blocks.iter().zip(families);
        let blocks: Vec<Block> = pairs.map(|(b, family)| Block { columns: b.columns.clone(), family }).collect();
        for (n, row) in y.iter_rows().enumerate() {
            if let Some(j) = row.iter().position(|v| v.is_infinite()) {
                let problem = "is not a finite number; clear the cell to mark it missing".into();
                return Err(DataError::Support { row: n + 1, column: self.names[j].clone(), value: row[j], problem });
            }
            if !offset[n].is_finite() {
                let problem = format!("the offset {} is not a finite number", offset[n]);
                return Err(DataError::Offset { row: n + 1, problem });
            }
        }
        for block in &blocks {
            block.check_values(&y, &self.names)?;
        }
        let missing = y.as_slice().iter().any(|v| v.is_nan());
        let (chunks, parts) = super::block::whole(&y, &blocks);
        Ok(Model {
            chunks,
            parts,
            y,
            offset,
            covariates: self.spec.priors.covariates_in_its_units(covariates),
            blocks,
            missing,
            dynamics: None,
            warnings: Vec::new(),
            covariate_names: self.covariate_names.clone(),
            names: self.names.clone(),
            order: self.order.clone(),
            units: self.units.clone(),
            spec: self.spec.clone(),
        })
    }
}
