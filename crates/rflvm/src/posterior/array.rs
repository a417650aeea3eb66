//! An array of stored draws, which must exist and have the shape that the model gives it.

use crate::draws::{Cursor, Source};
use crate::error::{RunError, SpecError};

/// An array of the store; `kept` is the user's name for it.
pub(super) fn array<'a>(
    store: &'a dyn Source,
    name: &str,
    kept: &str,
    shape: &[usize],
) -> Result<Box<dyn Cursor + 'a>, RunError> {
    let name = format!("posterior/{name}");
    if !store.is_drawn(&name) {
        let rule = "predictions need w, beta and theta of every draw; fit again and keep them";
        let value = format!("without {kept} in this fit");
        return Err(SpecError::Setting { setting: "keep", value, rule: rule.into() }.into());
    }
    let cursor = store.cursor(&name)?;
    if cursor.shape() != shape {
        return Err(store.foreign().into());
    }
    Ok(cursor)
}
