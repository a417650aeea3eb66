//! Missing cells of the fitted table: predictions of each, or completed tables.

use super::cells::{Cells, Of};
use super::{Column, stream};
use crate::axes::too_few;
use crate::covariates::columns;
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::note::Note;

/// The missing cells, of which there must be some. Completed tables begin with ids, labels, times, sequences, offsets and covariates.
pub fn imputed<'a>(fit: &'a Fit, drawn: &'a Drawn) -> Result<Cells<'a>, Error> {
    check(fit)?;
    let (config, table) = (&fit.config, &fit.table);
    let offset: Vec<String> = fit.model.offset().iter().map(f64::to_string).collect();
    let covariates = columns(config);
    let aside = [
        (config.id.as_deref(), Some(&table.ids)),
        (config.labels.as_deref(), table.labels.as_ref()),
        (config.time.as_deref(), table.time.as_ref()),
        (config.sequence.as_deref(), table.sequence.as_ref()),
        (config.offset_column(), Some(&offset)),
    ];
    let lead = aside
        .into_iter()
        .filter_map(|(name, cells)| name.zip(cells))
        .chain(covariates.iter().map(String::as_str).zip(&table.covariates))
        .map(|(name, cells)| Column::texts(name, cells.clone()));
    Ok(Cells { fit, drawn, lead: lead.collect(), of: Of::Missing })
}

/// Checks that there are missing cells.
pub fn check(fit: &Fit) -> Result<(), Error> {
    if fit.model.has_missing() {
        return Ok(());
    }
    Err(Error::Complete { file: fit.table.path.display().to_string() })
}

/// Why a larger latent dimension would predict them better, if it would.
pub fn larger_dim(fit: &Fit, drawn: &Drawn) -> Result<Option<Note>, Error> {
    Ok(too_few(fit, drawn.fitted(fit, stream::LEFTOVER).leftover()?))
}
