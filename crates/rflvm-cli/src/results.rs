//! The results of a finished fit in addition to its draws: embedding.csv, latent.svg, paths.svg, imputed.csv, report.html, and the convergence verdict.

use crate::answer::warn_of_chains;
use crate::args::PageArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::labels::Labels;
use crate::message::Flags;
use crate::output;
use crate::picture;
use crate::report;
use rflvm::internal::posterior::axes::AxesInUse;
use rflvm::internal::posterior::score;
use rflvm_study::Fit;
use rflvm_study::answers::convergence as words;
use rflvm_study::answers::imputed::imputed;
use rflvm_study::answers::positions::{Positions, columns, medians, positions};
use rflvm_study::drawn::Drawn;
use rflvm_study::folder::RESULTS;
use rflvm_study::message::render;
use rflvm_study::{Error, axes, exact, modes, write};
use serde_json::json;
use std::path::Path;

/// Writes the results of a finished fit.
pub fn write(dir: &Path, fit: &Fit, page: &PageArgs, console: Console) -> Result<(), Failure> {
    let (model, table) = (&fit.model, &fit.table);
    let (drawn, convergence) = Drawn::open(fit)?;
    drawn.keep_weights(fit)?;
    warn_of_chains(&convergence, console);
    let mut first = None;
    for mode in 1..=drawn.others.len() + 1 {
        let Positions { frame, embedding } = positions(fit, &drawn, mode)?;
        let medians = medians(fit, &drawn, mode, &frame)?;
        // Those of other modes have their number in the names of their files.
        let number = Some(mode).filter(|mode| *mode > 1);
        let file = dir.join(output::of_mode("embedding", number, "csv"));
        write::text(&file, &columns(&embedding, Some(&medians), table).csv())?;
        output::write_pictures(dir, fit, &embedding, "posterior", number)?;
        mode.checked_sub(2).iter().for_each(|&other| warn_of_chains(&drawn.others[other], console));
        first.get_or_insert(Positions { frame, embedding });
    }
    let Some(first) = first else { return Ok(()) };
    // Without its table nothing can be predicted.
    if model.has_missing() && model.has_table() {
        match imputed(fit, &drawn)?.answer() {
            Err(error @ Error::Spec(_)) => {
                console.warn(&format!("the missing cells are not imputed: {}", error.sentence(&Flags)));
            }
            other => write::text(&dir.join("imputed.csv"), &other?.csv())?,
        }
    }
    if let Some(Labels::Classes(labels)) = table.labels.as_deref().map(Labels::of) {
        let (mean, sd) = score::nearest_neighbour_accuracy(&first.embedding.mean, labels, 5, 0);
        console.say(&format!("1-nearest-neighbour accuracy of the labels, 5-fold: {mean:.3} ± {sd:.3}"));
    }
    if let Some(in_use) = AxesInUse::of(&drawn.store, &drawn.used)? {
        console.say(&render(&axes::line(&in_use), &Flags));
    }
    console.notes(exact::note(fit, &drawn)?.as_slice());
    let modes = modes::read(dir);
    if modes.len() > 1 {
        write::text(&dir.join("modes.svg"), &picture::modes::svg(&fit.title(), &modes))?;
    }
    modes::shortage(&modes, fit.settings.modes).iter().for_each(|note| console.say(note));
    if let Some(words) = modes::words(&modes) {
        console.say(&render(&words, &Flags));
    }
    drawn.stacking.iter().for_each(|stacking| console.say(&stacking.words()));
    if !page.no_report && model.has_table() {
        report::write(fit, (&drawn, &convergence), &first, page.image)?;
    }
    let began = words::Began::of(dir);
    words::verdicts(&drawn, &convergence, began).iter().for_each(|line| console.say(line));
    if let Some(advice) = words::advice(&convergence, fit) {
        words::parts(&convergence).iter().for_each(|line| console.say(&format!("  {line}")));
        console.say(&format!("  → {}", render(&advice, &Flags)));
    }
    console.say(&format!("results in {}; for details, run: rflvm summary {}", dir.display(), dir.display()));
    let mut summary = words::as_json(&convergence, began);
    summary["files"] = json!(files(dir));
    console.answer("summary", summary);
    Ok(())
}

/// The files of a fit or of a point estimate in a folder.
pub fn files(dir: &Path) -> Vec<String> {
    let files = RESULTS.iter().map(|name| dir.join(name)).filter(|file| file.exists());
    files.map(|file| file.display().to_string()).collect()
}
