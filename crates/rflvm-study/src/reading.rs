//! From settings to the table that they name.

use crate::column_families::ColumnFamilies;
use crate::config::Config;
use crate::covariates;
use crate::error::Error;
use crate::families::takes_text;
use crate::table::{self, ReadOptions, Table, Texts};
use rflvm::internal::error::SpecError;
use std::path::Path;

/// Reads the table that the settings name.
pub fn read(config: &Config) -> Result<Table, Error> {
    Ok(table::read(table_path(config)?, &options(config)?)?)
}

/// The path of the table that the settings name.
pub fn table_path(config: &Config) -> Result<&Path, SpecError> {
    let missing = || SpecError::Setting {
        setting: "table",
        value: "not given".into(),
        rule: "there is nothing to read; give the path of a table".into(),
    };
    config.table.as_deref().ok_or_else(missing)
}

/// How the table is read.
pub fn options(config: &Config) -> Result<ReadOptions, Error> {
    // An unknown family is reported before a table that it could not fit.
    if let Some(name) = config.likelihood.as_deref().filter(|_| !config.is_auto()) {
        rflvm::internal::spec::canonical(name)?;
    }
    if let Some(trials) = config.trials.as_ref().filter(|_| config.is_auto()) {
        let rule = "auto never chooses binomial; give ⟨likelihood=binomial⟩, or ⟨blocks⟩ for several families";
        return Err(SpecError::Setting { setting: "trials", value: trials.clone(), rule: rule.into() }.into());
    }
    let takes_text =
        config.is_auto() || config.blocks.is_some() || config.likelihood.as_deref().is_some_and(takes_text);
    Ok(ReadOptions {
        id: config.id.clone(),
        labels: config.labels.clone(),
        offset: config.offset_column().map(String::from),
        time: config.time.clone(),
        sequence: config.sequence.clone(),
        covariates: covariates::columns(config),
        columns: config.columns.clone().map(|names| names.0),
        without: config.without.clone().unwrap_or_default().0,
        texts: if takes_text { Texts::Take } else { Texts::Refuse },
        categories: match &config.blocks {
            Some(path) => ColumnFamilies::read(path)?.categories(),
            None => Vec::new(),
        },
        separator: config.separator,
        decimal: config.decimal,
        na: config.na.clone().unwrap_or_default().0,
        array: config.array.clone(),
        row_data: config.row_data.clone(),
        like: None,
        is_outline: false,
    })
}
