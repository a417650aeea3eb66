//! New rows as the fit would have read them: its columns by name, its families with their own trials, offsets beside those of its
//! rows, and times on its calendar.

use crate::args::TransformArgs;
use crate::blocks;
use crate::config::Config;
use crate::failure::Failure;
use crate::fit::Fit;
use crate::table::{self, Like, ReadOptions, Table, TableError, Texts};
use crate::voice::Voice;
use rflvm::error::{DataError, SpecError};
use rflvm::linalg::Mat;
use rflvm::observations::{Times, size_factors_beside};
use rflvm::posterior::transform::NewRows;

/// Names that are told.
const NAMES_SHOWN: usize = 8;

/// Reads and checks the new rows; tells what is not used.
pub fn read(args: &TransformArgs, fit: &Fit, voice: Voice) -> Result<(Table, NewRows), Failure> {
    let mut table = read_table(args, fit)?;
    if !table.ignored.is_empty() {
        voice.say(&format!("columns that the fit does not have are ignored: {}", some(&table.ignored)));
    }
    // Blocks and trials go by the fit's names, and by its categories.
    table.columns.clone_from(&fit.table.columns);
    table.categories.clone_from(&fit.table.categories);
    let new = new_rows(&mut table, args.trials.as_deref(), fit, voice)?;
    Ok((table, new))
}

/// Checks rows whose columns are those of the fit, in its order, and takes their values.
pub fn new_rows(table: &mut Table, given: Option<&str>, fit: &Fit, voice: Voice) -> Result<NewRows, Failure> {
    let data = |error: DataError| Failure::Data { file: table.path.display().to_string(), error: error.into() };
    let config = Config { trials: trials(given, fit)?, ..fit.config.clone() };
    let families = blocks::blocks(&config, table)?.into_iter().map(|(_, family)| family).collect();
    let y = Mat::from_vec(table.rows, table.columns.len(), std::mem::take(&mut table.values));
    let offset = match (config.offset.as_deref(), table.offset.take()) {
        (Some("size-factors"), _) => size_factors_beside(&y, fit.model.y()).map_err(data)?,
        (_, Some(values)) => values,
        _ => vec![0.0; table.rows],
    };
    let model = fit.model.with_rows(&y, offset, families).map_err(data)?;
    let times = times(fit, table, voice)?;
    Ok(NewRows { model, times })
}

/// The table, with the columns of the fit in its order. Names and labels of new rows need not be there.
fn read_table(args: &TransformArgs, fit: &Fit) -> Result<Table, Failure> {
    let config = &fit.config;
    // The table of the fit may have been written in another way, or be none of text.
    let as_fit = table::is_text(&args.table);
    let mut options = ReadOptions {
        array: args.array.clone().or(config.array.clone()),
        separator: args.separator.or(config.separator.filter(|_| as_fit)),
        decimal: args.decimal.or(config.decimal.filter(|_| as_fit)),
        na: args.na.clone().or(config.na.clone().filter(|_| as_fit)).unwrap_or_default(),
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
        ..config.read_options()?
    };
    loop {
        let error = match table::read(&args.table, &options) {
            Ok(table) => return Ok(table),
            Err(error) => error,
        };
        let (TableError::UnknownColumn { option, .. } | TableError::NumbersOnly { option, .. }) = &error else {
            return Err(error.into());
        };
        let is_dropped = match *option {
            "--id" => options.id.take().is_some(),
            "--labels" => options.labels.take().is_some(),
            _ => false,
        };
        if !is_dropped {
            return Err(error.into());
        }
    }
}

/// The trials of the new rows: a number is kept, a table must be given anew.
fn trials(given: Option<&str>, fit: &Fit) -> Result<Option<String>, SpecError> {
    let wrong = |value: String, rule: &str| Err(SpecError::Setting { setting: "trials", value, rule: rule.into() });
    match (&fit.config.trials, given) {
        (Some(kept), None) if kept.parse::<u32>().is_err() => wrong(
            "not given".into(),
            "this fit has a table of trials, and the new rows need theirs; name it with --trials",
        ),
        (None, Some(given)) => wrong(given.into(), "this fit has no trials beside its table; leave them out"),
        (kept, given) => Ok(given.map(String::from).or(kept.clone())),
    }
}

/// The times of the new rows, where the fit has some. A sequence that it does not know has the next number.
fn times(fit: &Fit, table: &Table, voice: Voice) -> Result<Option<Times>, Failure> {
    let (Some(timeline), Some(texts)) = (&fit.timeline, &table.time) else { return Ok(None) };
    let wrong = |n: usize, column: Option<&String>, problem: String| {
        let place = format!("row {}, column `{}`", n + 1, column.map_or("", |c| c));
        Failure::Data { file: table.path.display().to_string(), error: DataError::Time { place, problem }.into() }
    };
    let parse = |(n, text): (usize, &String)| {
        timeline.calendar.parse(text).map_err(|problem| wrong(n, fit.config.time.as_ref(), problem))
    };
    let at = texts.iter().enumerate().map(parse).collect::<Result<Vec<f64>, Failure>>()?;
    let mut names: Vec<&str> = timeline.names.iter().map(String::as_str).collect();
    let mut sequence = vec![0; at.len()];
    for (n, cell) in table.sequence.iter().flatten().enumerate() {
        let name = cell.trim();
        if name.is_empty() {
            let problem = "the sequence is missing; fill it in, or leave the row out".to_string();
            return Err(wrong(n, fit.config.sequence.as_ref(), problem));
        }
        sequence[n] = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
    }
    let unknown: Vec<String> = names[timeline.names.len()..].iter().map(ToString::to_string).collect();
    if !unknown.is_empty() {
        let told = "the fit does not know these sequences, so that their times tell nothing of their positions";
        voice.warn(&format!("{told}: {}", some(&unknown)));
    }
    Ok(Some(Times { at, sequence }))
}

/// The first few of some names.
fn some(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(NAMES_SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
