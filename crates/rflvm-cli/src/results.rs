//! The results of a finished fit in addition to its draws: embedding.csv, latent.svg, paths.svg, imputed.csv, report.html, and the convergence verdict.

use crate::answer::warn_of_chains;
use crate::args::PageArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::impute;
use crate::labels::Labels;
use crate::message::Flags;
use crate::output;
use crate::picture;
use crate::report;
use rflvm::internal::posterior::axes::AxesInUse;
use rflvm::internal::posterior::fitted::Fitted;
use rflvm::internal::posterior::score;
use rflvm_study::Fit;
use rflvm_study::drawn::Drawn;
use rflvm_study::message::render;
use rflvm_study::{Error, axes, convergence as words, exact, modes, write};
use std::path::Path;

/// Writes the results of a finished fit.
pub fn write(dir: &Path, fit: &Fit, page: &PageArgs, console: Console) -> Result<(), Failure> {
    let (model, table) = (&fit.model, &fit.table);
    let (drawn, convergence) = Drawn::open(fit)?;
    drawn.keep_weights(fit)?;
    warn_of_chains(&convergence, console);
    let fitted = drawn.fitted(fit, "results");
    let frame = fitted.frame()?;
    let embedding = fitted.embedding(&frame)?;
    let medians = fitted.medians(&frame)?;
    write::text(&dir.join("embedding.csv"), &output::embedding_csv(&embedding, Some(&medians), &table.into()))?;
    output::write_pictures(dir, fit, &embedding, "posterior", None)?;
    for (mode, other) in (2..).zip(&drawn.others) {
        // Positions of another mode, in its own frame.
        let fitted = Fitted { used: &other.used(), modes: &[], ..fitted };
        let frame = fitted.frame()?;
        let (embedding, medians) = (fitted.embedding(&frame)?, fitted.medians(&frame)?);
        let file = dir.join(output::of_mode("embedding", Some(mode), "csv"));
        write::text(&file, &output::embedding_csv(&embedding, Some(&medians), &table.into()))?;
        output::write_pictures(dir, fit, &embedding, "posterior", Some(mode))?;
        warn_of_chains(other, console);
    }
    // Without its table nothing can be predicted.
    if model.has_missing() && model.has_table() {
        match impute::write_cells(&dir.join("imputed.csv"), fit, &drawn) {
            Err(error @ Failure::Study(Error::Spec(_))) => {
                console.warn(&format!("the missing cells are not imputed: {error}"));
            }
            other => drop(other?),
        }
    }
    if let Some(Labels::Classes(labels)) = table.labels.as_deref().map(Labels::of) {
        let (mean, sd) = score::nearest_neighbour_accuracy(&embedding.mean, labels, 5, 0);
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
        report::write(fit, (&drawn, &convergence), (&frame, &embedding), page.image)?;
    }
    let began = words::Began::of(dir);
    words::verdicts(&drawn, &convergence, began).iter().for_each(|line| console.say(line));
    if let Some(advice) = words::advice(&convergence, fit) {
        words::parts(&convergence).iter().for_each(|line| console.say(&format!("  {line}")));
        console.say(&format!("  → {}", render(&advice, &Flags)));
    }
    console.say(&format!("results in {}; for details, run: rflvm summary {}", dir.display(), dir.display()));
    console.event("summary", words::as_json(&convergence, began));
    Ok(())
}
