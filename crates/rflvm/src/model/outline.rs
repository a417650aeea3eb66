//! A model whose table another process has read: each process then needs only its own columns of it.

use super::family::{Family, Unit};
use super::{Model, ModelSpec, arranged};
use crate::error::SpecError;
use crate::linalg::Mat;
use crate::observations::Observations;
use crate::ranks::Ranks;
use std::sync::Arc;

impl Model {
    /// Everything that depends on all cells, for processes that do not read them all: [`Model::outlined`].
    pub fn told(&self) -> Vec<f64> {
        let flags = std::iter::once(self.missing).chain(self.parts.iter().map(|part| part.is_complete));
        let units = self.units.iter().flat_map(|unit| [unit.centre, unit.scale]);
        flags.map(|flag| f64::from(u8::from(flag))).chain(units).chain(self.offset.iter().copied()).collect()
    }

    /// The model of a table with these columns and this number of rows, without its cells. `told` comes from the process that has read and
    /// checked them; offsets come with it.
    pub fn outlined(
        (rows, names): (usize, Vec<String>),
        covariates: Option<(Mat, Vec<String>)>,
        blocks: Vec<(Vec<usize>, Arc<dyn Family>)>,
        spec: ModelSpec,
        told: &[f64],
    ) -> Result<Self, SpecError> {
        let mut data = Observations::hollow(rows, names);
        if let Some((covariates, names)) = covariates {
            data = data.with_covariates(covariates, names)?;
        }
        let (order, blocks) = arranged(data.columns(), blocks, &spec)?;
        let (flags, numbers) = told.split_at((1 + blocks.len()).min(told.len()));
        let (units, offset) = numbers.split_at((2 * order.len()).min(numbers.len()));
        if offset.len() != rows {
            let rule = "the processes have read different tables; let all read the same file".into();
            return Err(SpecError::Setting { setting: "table", value: format!("{rows} rows"), rule });
        }
        data.offset = offset.to_vec();
        let units = units.chunks_exact(2).map(|unit| Unit { centre: unit[0], scale: unit[1] }).collect();
        let mut model = Model::assembled(data, (order, blocks), spec, (units, flags[0] > 0.0))?;
        model.parts.iter_mut().zip(&flags[1..]).for_each(|(part, &flag)| part.is_complete = flag > 0.0);
        Ok(model)
    }

    /// The columns of this process in a table whose columns processes share; `None` if there are fewer chunks than processes. They are
    /// positions in the table, in the order of the model.
    pub fn own_of_table(&self, ranks: Arc<dyn Ranks>) -> Option<Vec<usize>> {
        let chunks = self.chunks.clone().dealt(ranks)?;
        Some(self.order[chunks.own_columns()].to_vec())
    }
}
