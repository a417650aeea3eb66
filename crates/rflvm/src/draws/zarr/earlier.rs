//! Names of arrays in stores of version 0.2. They are read under today's names, and a fit that is resumed renames them.

use crate::error::StoreError;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// Names of today, each with the one before.
const NAMES: [(&str, &str); 3] = [
    ("column_process", "residual"),                           // version 0.2
    ("column_process_scale", "residual_scale"),               // version 0.2
    ("column_process_length_scale", "residual_length_scale"), // version 0.2
];

/// Their group.
const GROUP: &str = "posterior";

/// Today's name of a quantity, if it had another one before.
pub fn today(before: &str) -> Option<&'static str> {
    NAMES.iter().find(|(_, name)| *name == before).map(|(today, _)| *today)
}

/// The folder of an array of this group and name.
pub(super) fn folder(store: &Path, name: &str) -> PathBuf {
    let now = store.join(name);
    let before = name.strip_prefix(GROUP).and_then(|name| before(name.strip_prefix('/')?));
    match before.map(|before| store.join(GROUP).join(before)) {
        Some(before) if !now.exists() => before,
        _ => now,
    }
}

/// The metadata of a store, with today's names.
pub(super) fn renamed(metadata: Map<String, Value>) -> Map<String, Value> {
    let key = |key: String| {
        let parts: Vec<&str> = key.split('/').collect();
        match parts[..] {
            [GROUP, array, file] => today(array).map(|array| format!("{GROUP}/{array}/{file}")).unwrap_or(key),
            _ => key,
        }
    };
    metadata.into_iter().map(|(name, value)| (key(name), value)).collect()
}

/// Gives the arrays of a store today's names.
pub(super) fn rename(store: &Path) -> Result<(), StoreError> {
    for (now, before) in NAMES.map(|(now, before)| (store.join(GROUP).join(now), store.join(GROUP).join(before))) {
        if before.exists() && !now.exists() {
            fs::rename(&before, &now).map_err(|error| StoreError::unwritten(&before, &error))?;
        }
    }
    Ok(())
}

fn before(today: &str) -> Option<&'static str> {
    NAMES.iter().find(|(name, _)| *name == today).map(|(_, before)| *before)
}
