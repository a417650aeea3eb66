//! Some of the columns: enough to time a fit whose cost is in proportion to them.

use super::{Block, Model, block};
use crate::linalg::Mat;
use std::sync::Arc;

impl Model {
    /// About `most` of the columns, from each block in proportion, evenly spaced where its family lets them be; `None` if there are no more than these.
    /// Columns that are one answer together stay together.
    pub fn fewer_columns(&self, most: usize) -> Option<Model> {
        if self.columns() <= most {
            return None;
        }
        let (mut chosen, mut blocks) = (Vec::new(), Vec::with_capacity(self.blocks.len()));
        for Block { columns, family } in &self.blocks {
            let all = columns.len();
            let count = if family.is_whole() { all } else { (all * most).div_ceil(self.columns()) };
            // Trials of cells are known for a range of columns.
            let cut = family.of_columns(0..count);
            let place = |i: usize| if cut.is_some() { i } else { (2 * i + 1) * all / (2 * count) };
            let start = chosen.len();
            chosen.extend((0..count).map(|i| columns.start + place(i)));
            blocks.push(Block { columns: start..chosen.len(), family: cut.unwrap_or_else(|| Arc::clone(family)) });
        }
        let y = Mat::from_fn(self.rows(), chosen.len(), |n, j| self.y[(n, chosen[j])]);
        let (chunks, parts) = block::whole(&y, &blocks);
        Some(Model {
            units: chosen.iter().map(|&j| self.units[j]).collect(),
            names: chosen.iter().map(|&j| self.names[j].clone()).collect(),
            order: (0..chosen.len()).collect(),
            y,
            blocks,
            chunks,
            parts,
            offset: self.offset.clone(),
            covariates: self.covariates.clone(),
            covariate_names: self.covariate_names.clone(),
            spec: self.spec.clone(),
            missing: self.missing,
            dynamics: self.dynamics.clone(),
            warnings: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelSpec;
    use crate::model::family::{Binomial, Family, Gaussian, Multinomial, Trials};
    use crate::observations::Observations;

    #[test]
    fn some_columns_of_each_block_are_kept_with_their_trials() {
        let trials = Mat::from_fn(6, 20, |_, j| (j + 9) as f64);
        let families: [(Vec<usize>, Arc<dyn Family>); 3] = [
            ((0..40).collect(), Arc::new(Gaussian::default())),
            ((40..60).collect(), Arc::new(Binomial::new(Trials::Each(trials)))),
            ((60..65).collect(), Arc::new(Multinomial)),
        ];
        let y = Mat::from_fn(6, 65, |n, j| if j < 40 { (n * j) as f64 } else { ((n + j) % 4) as f64 });
        let spec = ModelSpec { features: 4, ..ModelSpec::default() };
        let model = Model::with_blocks(Observations::new(y).unwrap(), families.into(), spec).unwrap();
        assert!(model.fewer_columns(65).is_none());
        let fewer = model.fewer_columns(13).unwrap();
        let widths: Vec<usize> = fewer.blocks().iter().map(|block| block.columns.len()).collect();
        assert_eq!(widths, [8, 4, 5]);
        // Every fifth of the first block, the first of the second.
        assert_eq!(
            (&fewer.names()[1], &fewer.names()[8], &fewer.names()[12]),
            (&"8".into(), &"41".into(), &"61".into())
        );
        assert_eq!((fewer.y()[(3, 1)], fewer.y()[(2, 9)]), (21.0, model.y()[(2, 41)]));
        assert!(fewer.blocks()[1].family.check_shape(6, 4).is_ok());
    }
}
