//! What is checked and said before a fit or a point estimate begins.

use crate::args::PageArgs;
use crate::console::Console;
use crate::message::Flags;
use rflvm::internal::error::SpecError;
use rflvm_study::Fit;
use rflvm_study::apart::{OutputError, is_same, keep_apart};
use rflvm_study::folder::{RESULTS, config_path, holds_fit};
use rflvm_study::message::render;
use serde_json::json;
use std::path::Path;

/// Announces what is fitted.
pub fn tell(fit: &Fit, console: Console) {
    fit.table.notes.iter().for_each(|note| console.insist(&render(&note.text, &Flags)));
    if !fit.table.named {
        console.say("the file does not name its columns, so they are named 1, 2, …");
    }
    if let Some(timeline) = &fit.timeline {
        console.say(&timeline.line());
        console.notes(&timeline.notes());
    }
    if let Some(dynamics) = fit.model.dynamics() {
        console.say(&dynamics.describe());
        if let Some(kernel) = fit.model.spec().column_process {
            console.say(&format!("each column also has a column process, with the {} kernel", kernel.name()));
        }
    }
    fit.model.warnings().iter().for_each(|warning| console.warn(warning));
    let (rows, columns, seed) = (fit.model.rows(), fit.model.columns(), fit.settings.seed);
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for block in fit.model.blocks() {
        let (name, columns) = (block.family.name(), block.columns.len());
        match counts.iter_mut().find(|count| count.0 == name) {
            Some(count) => count.1 += columns,
            None => counts.push((name, columns)),
        }
    }
    let families: Vec<&str> = counts.iter().map(|count| count.0).collect();
    let told = match &counts[..] {
        [(name, _)] => name.to_string(),
        several => several.iter().map(|(name, columns)| format!("{columns} {name}")).collect::<Vec<_>>().join(", "),
    };
    console.say(&format!("{rows} rows × {columns} columns, {told}; seed {seed}"));
    console.event("start", json!({ "rows": rows, "columns": columns, "families": families, "seed": seed }));
}

/// Refuses pictures of the wrong size before anything is run.
pub fn check_page(page: &PageArgs, fit: &Fit) -> Result<(), SpecError> {
    page.image.map_or(Ok(()), |image| image.check(fit.table.columns.len()))
}

/// Refuses to replace the file with the settings, unless it is that of the fit to be replaced.
pub fn check_settings(file: Option<&Path>, out: &Path) -> Result<(), OutputError> {
    let Some(file) = file.filter(|file| !(holds_fit(out) && is_same(file, &config_path(out)))) else { return Ok(()) };
    keep_apart(&[file.to_path_buf()], RESULTS.map(|name| out.join(name)))
}
