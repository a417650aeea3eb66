//! The results of a finished fit in addition to its draws: embedding.csv, latent.svg, paths.svg, imputed.csv, and the convergence verdict.

use crate::answer::warn_of_chains;
use crate::failure::Failure;
use crate::impute;
use crate::labels::Labels;
use crate::output;
use crate::picture;
use crate::voice::Voice;
use crate::wording::Flags;
use rflvm::posterior::axes::AxesInUse;
use rflvm::posterior::score;
use rflvm_study::Fit;
use rflvm_study::drawn::Drawn;
use rflvm_study::wording::render;
use rflvm_study::{Error, axes, convergence as words, maps, write};
use std::path::Path;

/// Writes the results of a finished fit.
pub fn write(dir: &Path, fit: &Fit, voice: Voice) -> Result<(), Failure> {
    let (model, table) = (&fit.model, &fit.table);
    let (drawn, convergence) = Drawn::open(fit)?;
    warn_of_chains(&convergence, voice);
    let fitted = drawn.fitted(fit, "results");
    let embedding = fitted.embedding(&fitted.frame()?)?;
    write::text(&dir.join("embedding.csv"), &output::embedding_csv(&embedding, &table.into()))?;
    output::write_pictures(dir, fit, &embedding, "posterior")?;
    if model.has_missing() {
        match impute::write_cells(&dir.join("imputed.csv"), &drawn.fitted(fit, "impute")) {
            Err(error @ Failure::Study(Error::Spec(_))) => {
                voice.warn(&format!("the missing cells are not imputed: {error}"));
            }
            other => drop(other?),
        }
    }
    if let Some(Labels::Classes(labels)) = table.labels.as_deref().map(Labels::of) {
        let (mean, sd) = score::nearest_neighbour_accuracy(&embedding.mean, labels, 5, 0);
        voice.say(&format!("1-nearest-neighbour accuracy of the labels, 5-fold: {mean:.3} ± {sd:.3}"));
    }
    if let Some(in_use) = AxesInUse::of(&drawn.store, &drawn.used)? {
        voice.say(&render(&axes::line(&in_use), &Flags));
    }
    let maps = maps::read(dir);
    if maps.len() > 1 {
        write::text(&dir.join("maps.svg"), &picture::maps::svg(&fit.title(), &maps))?;
    }
    if let Some(words) = maps::words(&maps) {
        voice.say(&words);
    }
    voice.say(&words::word(&convergence));
    voice.say(&format!("results in {}; for details, run: rflvm summary {}", dir.display(), dir.display()));
    voice.event("summary", words::as_json(&convergence));
    Ok(())
}
