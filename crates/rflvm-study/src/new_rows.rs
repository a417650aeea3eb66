//! New rows, read as the fit would have read them: its columns by name, its families with their own trials, offsets relative to
//! those of its rows, and times on its calendar.

use crate::blocks::{self, Given};
use crate::choices::Precision;
use crate::config::Config;
use crate::device::{self, DeviceChoice};
use crate::error::Error;
use crate::fit::Fit;
use crate::note::Note;
use crate::reading;
use crate::table::{self, Decimal, Like, ReadOptions, Separator, Table, TableError, Texts};
use rflvm::Model;
use rflvm::internal::error::{DataError, SpecError};
use rflvm::internal::init::Init;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::Block;
use rflvm::internal::model::family::{Censored, Family};
use rflvm::internal::observations::{Times, size_factors_beside};
use rflvm::internal::posterior::transform::{NewRows, Opener, row_key};
use rflvm::internal::run::Settings;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Names shown in a message.
const NAMES_SHOWN: usize = 8;

/// A table of new rows, and how to read it where that differs from the table of the fit.
#[derive(Debug, Clone, Default)]
pub struct NewTable {
    /// Its file.
    pub path: PathBuf,
    /// The separator of a text table.
    pub separator: Option<Separator>,
    /// The decimal mark of a text table.
    pub decimal: Option<Decimal>,
    /// Words for missing cells of a text table.
    pub na: Option<Vec<String>>,
    /// The array of an archive with several.
    pub array: Option<String>,
    /// Trials of the new rows: a number or a file.
    pub trials: Option<String>,
    /// A table with what is known of the new rows besides their cells.
    pub row_data: Option<PathBuf>,
    /// Where they are placed; as in the fit, if there is such a card here.
    pub device: Option<DeviceChoice>,
}

/// Trials of new rows.
#[derive(Debug, Clone)]
pub enum NewTrials {
    /// As in the fit.
    AsFit,
    /// A number, or a file.
    Named(String),
    /// One number per cell.
    Cells(Mat),
}

/// New rows, checked.
pub struct Checked {
    /// The new rows in the form that the model needs.
    pub rows: NewRows,
    /// Notes about them.
    pub notes: Vec<Note>,
}

/// Reads and checks new rows.
pub fn read(new: &NewTable, fit: &Fit) -> Result<(Table, Checked), Error> {
    let (mut table, ignored) = read_table(new, fit)?;
    // Blocks and trials use the fit's names and categories.
    table.columns.clone_from(&fit.table.columns);
    table.categories.clone_from(&fit.table.categories);
    let trials = new.trials.clone().map_or(NewTrials::AsFit, NewTrials::Named);
    let mut checked = check(&mut table, trials, fit, new.device)?;
    checked.notes.splice(0..0, ignored);
    Ok((table, checked))
}

/// Checks rows whose columns are those of the fit, in its order, and takes their values.
pub fn check(table: &mut Table, trials: NewTrials, fit: &Fit, device: Option<DeviceChoice>) -> Result<Checked, Error> {
    let data = |error: DataError| Error::Data { file: table.path.display().to_string(), error: error.into() };
    let is_known = matches!(trials, NewTrials::AsFit) && is_known_by_cells(fit);
    let is_as_fit = matches!(trials, NewTrials::AsFit);
    let (config, given) = with_trials(trials, fit)?;
    let families = match is_as_fit {
        // The number of levels of a column is that of the fit.
        true => fit.model.blocks().iter().map(|block| own_limits(block, table, fit)).collect(),
        false => blocks::blocks(&config, &given, table)?.into_iter().map(|(_, family)| family).collect(),
    };
    let y = Mat::from_vec(table.rows, table.columns.len(), std::mem::take(&mut table.values));
    let offset = match (config.offset.as_deref(), table.offset.take()) {
        (Some("size-factors"), _) => size_factors_beside(&y, fit.model.y()).map_err(data)?,
        (_, Some(values)) => values,
        _ => vec![0.0; table.rows],
    };
    let covariates = fit.covariates.matrix(table)?;
    let model = fit.model.with_rows(&y, (offset, covariates), families).map_err(data)?;
    let (times, notes) = times(fit, table)?;
    let open = opener(fit, &model, device)?;
    let own = if is_known { own_rows(fit, model.y().iter_rows().map(row_key)) } else { Vec::new() };
    Ok(Checked { rows: NewRows { model, times, own, open }, notes })
}

/// The family of a block, with the limits of new rows instead of those of the fit.
fn own_limits(block: &Block, table: &Table, fit: &Fit) -> Arc<dyn Family> {
    let columns = &fit.model.order()[block.columns.clone()];
    let limits = table
        .limits_of(columns)
        .or_else(|| block.family.limits().map(|own| own.of_rows(&vec![usize::MAX; table.rows])));
    limits.and_then(|limits| Censored::of(block.family.as_ref(), limits)).unwrap_or_else(|| Arc::clone(&block.family))
}

/// Whether the cells of a row are all that is known of it.
pub fn is_known_by_cells(fit: &Fit) -> bool {
    let config = &fit.config;
    let has_trials = config.trials.is_some() || fit.given.trials.is_some();
    config.time.is_none() && !has_trials && fit.covariates.is_empty() && config.offset_column().is_none()
}

/// For each key of a row, its cells in the order of the model, the row of the fit with the same cells; the first if there are several.
pub fn own_rows(fit: &Fit, keys: impl Iterator<Item = [u64; 2]>) -> Vec<Option<usize>> {
    let mut known: HashMap<[u64; 2], usize> = HashMap::new();
    for (n, row) in fit.model.y().iter_rows().enumerate() {
        known.entry(row_key(row)).or_insert(n);
    }
    keys.map(|key| known.get(&key).copied()).collect()
}

/// What opens the card on which they are placed; none where that is this processor. A card that the fit had need not be here.
fn opener(fit: &Fit, model: &Model, device: Option<DeviceChoice>) -> Result<Option<Opener>, Error> {
    // The model of new rows has no times.
    if fit.model.column_process().is_some() {
        return match device {
            Some(choice @ DeviceChoice::Cuda(_)) => {
                let rule = "rows of columns with column processes are placed on the CPU; let device be cpu".into();
                Err(SpecError::Setting { setting: "device", value: choice.to_string(), rule }.into())
            }
            _ => Ok(None),
        };
    }
    let compute = &fit.config.compute;
    let as_fit = || match compute.device.unwrap_or_default() {
        DeviceChoice::Cpu => DeviceChoice::Cpu,
        DeviceChoice::Auto | DeviceChoice::Cuda(_) => DeviceChoice::Auto,
    };
    let alone = Settings { chains: 1, init: Init::Pca, ..fit.settings.clone() };
    let precision = compute.precision.unwrap_or(Precision::Double);
    let card = device.unwrap_or_else(as_fit).card(precision, model, &alone)?;
    Ok(card.map(|card| Opener(Arc::from(device::opener(card)))))
}

/// The table, with the columns of the fit in its order, and a note about others. Names and labels of new rows are optional.
pub(crate) fn read_table(new: &NewTable, fit: &Fit) -> Result<(Table, Option<Note>), Error> {
    let config = &fit.config;
    // The table of the fit may be written differently, or not be text.
    let as_fit = table::is_text(&new.path);
    let mut options = ReadOptions {
        array: new.array.clone().or(config.array.clone()),
        row_data: new.row_data.clone(),
        separator: new.separator.or(config.separator.filter(|_| as_fit)),
        decimal: new.decimal.or(config.decimal.filter(|_| as_fit)),
        na: new.na.clone().or(config.na.clone().map(|names| names.0).filter(|_| as_fit)).unwrap_or_default(),
        columns: None,
        without: Vec::new(),
        texts: Texts::Refuse,
        categories: Vec::new(),
        like: Some(Like {
            columns: fit.table.columns.clone(),
            categories: fit.table.categories.clone(),
            named: fit.table.named,
            chosen: config.columns.is_some() || config.without.is_some(),
        }),
        ..reading::options(config)?
    };
    loop {
        let error = match table::read(&new.path, &options) {
            Ok(table) => {
                let is_told = !table.ignored.is_empty();
                let told = || format!("ignoring columns that the fit does not have: {}", some(&table.ignored));
                let note = is_told.then(|| Note::say(told()));
                return Ok((table, note));
            }
            Err(error) => error,
        };
        let (TableError::UnknownColumn { option, .. } | TableError::NumbersOnly { option, .. }) = &error else {
            return Err(error.into());
        };
        let is_dropped = match *option {
            "id" => options.id.take().is_some(),
            "labels" => options.labels.take().is_some(),
            _ => false,
        };
        if !is_dropped {
            return Err(error.into());
        }
    }
}

/// The settings and what was passed in memory, with the trials of the new rows: a number is kept, a table must be given again.
fn with_trials(trials: NewTrials, fit: &Fit) -> Result<(Config, Given), SpecError> {
    let wrong = |value: String, rule: &str| Err(SpecError::Setting { setting: "trials", value, rule: rule.into() });
    let (mut config, mut given) = (fit.config.clone(), fit.given.clone());
    let has_table = given.trials.is_some() || config.trials.as_ref().is_some_and(|kept| kept.parse::<u32>().is_err());
    let has_any = has_table || config.trials.is_some();
    match trials {
        NewTrials::AsFit if has_table => wrong(
            "not given".into(),
            "this fit has a table of trials, so the new rows need one too; give it with ⟨trials⟩",
        ),
        NewTrials::AsFit => Ok((config, given)),
        _ if !has_any => wrong("given".into(), "this fit has no table of trials; leave them out"),
        NewTrials::Named(name) => {
            (config.trials, given.trials) = (Some(name), None);
            Ok((config, given))
        }
        NewTrials::Cells(cells) => {
            given.trials = Some(cells);
            Ok((config, given))
        }
    }
}

/// The times of the new rows, if the fit has times. An unknown sequence gets the next number.
fn times(fit: &Fit, table: &Table) -> Result<(Option<Times>, Vec<Note>), Error> {
    let (Some(timeline), Some(texts)) = (&fit.timeline, &table.time) else { return Ok((None, Vec::new())) };
    let wrong = |n: usize, column: Option<&String>, problem: String| {
        let place = format!("row {}, column `{}`", n + 1, column.map_or("", |c| c));
        Error::Data { file: table.path.display().to_string(), error: DataError::Time { place, problem }.into() }
    };
    let parse = |(n, text): (usize, &String)| {
        timeline.calendar.parse(text).map_err(|problem| wrong(n, fit.config.time.as_ref(), problem))
    };
    let at = texts.iter().enumerate().map(parse).collect::<Result<Vec<f64>, Error>>()?;
    let mut names: Vec<&str> = timeline.names.iter().map(String::as_str).collect();
    let mut sequence = vec![0; at.len()];
    for (n, cell) in table.sequence.iter().flatten().enumerate() {
        let name = cell.trim();
        if name.is_empty() {
            let problem = "the sequence is missing; fill it in, or remove the row".to_string();
            return Err(wrong(n, fit.config.sequence.as_ref(), problem));
        }
        sequence[n] = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
    }
    let unknown: Vec<String> = names[timeline.names.len()..].iter().map(ToString::to_string).collect();
    let told = "the fit does not know these sequences, so their times carry no information about their positions";
    let note = (!unknown.is_empty()).then(|| Note::warn(format!("{told}: {}", some(&unknown))));
    Ok((Some(Times { at, sequence }), note.into_iter().collect()))
}

/// The first few names.
fn some(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(NAMES_SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
