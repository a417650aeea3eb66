//! Checks that a store holds the draws of a given model.

use super::array::Array;
use super::reader::Reader;
use crate::draws::Source;
use crate::draws::quantity::{Kept, quantities};
use crate::error::StoreError;
use crate::model::Model;
use serde_json::json;

impl Reader {
    /// Checks that the arrays of draws have the types and shapes of this model, and that all have the same number of draws.
    pub fn check_arrays(&self, model: &Model, keep: &[Kept], chains: usize) -> Result<(), StoreError> {
        let draws = self.size()?.1;
        for described in quantities(model, keep) {
            let array = Array::drawn(&described, chains);
            let name = format!("{}/{}", array.group, array.name);
            let about = &self.metadata["metadata"][format!("{name}/.zarray")];
            let mut shape = array.shape.clone();
            shape[1] = draws;
            let is_ours = about["dtype"] == array.kind.code()
                && about["shape"] == json!(shape)
                && about["chunks"] == json!(array.chunk)
                && self.dims(&name) == array.dims;
            if !is_ours {
                return Err(self.damaged(&name));
            }
        }
        Ok(())
    }
}
