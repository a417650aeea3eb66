//! The family of each column.

use crate::column_families::ColumnFamilies;
use crate::config::Config;
use crate::error::Error;
use crate::families::{Block, blocks_of, seen, takes_text};
use crate::seen::{Kind, Seen};
use crate::table::{self, ReadOptions, Table};
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::Trials;
use rflvm::internal::spec;
use std::path::Path;

/// Families and trials that were passed in memory or chosen automatically, rather than read from files that the settings name.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Families by column.
    pub column_families: Option<ColumnFamilies>,
    /// Trials per cell.
    pub trials: Option<Mat>,
}

/// Finds the columns of a store that are categories, and chooses the families if `auto` was given.
pub fn choose(config: &mut Config, given: &mut Given, table: &mut Table) {
    if table.seen.is_empty() {
        if table.path.is_dir() {
            find_categories(config, table);
        }
        if config.is_auto() {
            let kinds = seen(table);
            group(table, &kinds);
        }
    }
    if let Some(family) = config.likelihood.as_deref().filter(|name| takes_text(name) && !table.categories.is_empty()) {
        // A list keeps which columns are the levels of one category.
        given.column_families = Some(ColumnFamilies::of_all(family, table));
        config.likelihood = None;
    }
    if config.is_auto() {
        let suited = ColumnFamilies::suited(table);
        // One likelihood is enough if all columns share it.
        config.likelihood = suited.uniform().map(String::from);
        given.column_families = config.likelihood.is_none().then_some(suited);
    }
}

/// Finds the categories of a store, which has one column per level.
pub(crate) fn find_categories(config: &Config, table: &mut Table) {
    if config.is_auto() || config.blocks.is_some() {
        // A list that cannot be read is reported where it is used.
        let column_families = config.blocks.as_deref().and_then(|path| ColumnFamilies::read(path).ok());
        table.categories = column_families.unwrap_or_default().categories_of(table);
    }
}

/// Makes categories of columns of a few whole numbers.
pub(crate) fn group(table: &mut Table, kinds: &[Seen]) {
    let groups: Vec<usize> = (0..kinds.len()).filter(|&j| kinds[j].kind == Kind::Few).collect();
    table.categorise(&groups);
}

/// The blocks of a fit: all columns with one family, or as listed. Each category is a separate block.
pub fn blocks(config: &Config, given: &Given, table: &Table) -> Result<Vec<Block>, Error> {
    let data = |error| Error::Data { file: table.path.display().to_string(), error };
    let priors = &config.all_priors().map_err(data)?;
    if let Some(column_families) = &given.column_families {
        return column_families.blocks(table, priors);
    }
    if let Some(path) = &config.blocks {
        return ColumnFamilies::read(path)?.blocks(table, priors);
    }
    let name = config.likelihood.as_deref().unwrap_or_default();
    let trials = match &given.trials {
        Some(cells) => Some(Trials::Each(same_shape(cells.clone(), table, "given").map_err(data)?)),
        None => config.trials.as_deref().map(|text| trials(text, config, table)).transpose().map_err(data)?,
    };
    let name = spec::canonical(name).map_err(data)?;
    if let Some(category) = table.categories.first().filter(|_| !takes_text(name)) {
        let rule = format!(
            "the column `{}` holds text, which only multinomial accepts; give ⟨likelihood=auto⟩, or exclude the column with ⟨labels⟩ or ⟨without⟩",
            category.name
        );
        return Err(data(SpecError::Setting { setting: "likelihood", value: name.into(), rule }));
    }
    let is_of_category = |j: &usize| table.categories.iter().any(|c| c.columns().contains(j));
    let numbers: Vec<usize> = (0..table.columns.len()).filter(|j| !is_of_category(j)).collect();
    let mut blocks = match numbers.is_empty() {
        true => Vec::new(),
        false => blocks_of(name, trials, numbers, table, priors).map_err(data)?,
    };
    for category in &table.categories {
        blocks.push((category.columns().collect(), spec::family_with(name, None, priors).map_err(data)?));
    }
    Ok(blocks)
}

/// A number, or a table with the shape of the data.
fn trials(text: &str, config: &Config, data: &Table) -> Result<Trials, SpecError> {
    let wrong = |rule: String| SpecError::Setting { setting: "trials", value: format!("'{text}'"), rule };
    if let Ok(number) = text.parse::<u32>() {
        return Ok(Trials::Same(number));
    }
    // A text table of trials is assumed to be written like the data.
    let as_data = table::is_text(Path::new(text));
    let options = ReadOptions {
        columns: Some(data.columns.clone()).filter(|_| data.named),
        separator: config.separator.filter(|_| as_data),
        decimal: config.decimal.filter(|_| as_data),
        na: config.na.clone().filter(|_| as_data).unwrap_or_default().0,
        ..ReadOptions::default()
    };
    let table = table::read(Path::new(text), &options)
        .map_err(|error| wrong(format!("it is neither a whole number nor a readable table ({error})")))?;
    let trials = Mat::from_vec(table.rows, table.columns.len(), table.values);
    same_shape(trials, data, &format!("'{text}'")).map(Trials::Each)
}

/// Checks that the trials have the shape of the data. A missing number of trials is harmless where the cell itself is missing;
/// elsewhere the family rejects it.
fn same_shape(trials: Mat, data: &Table, value: &str) -> Result<Mat, SpecError> {
    let (own, wanted) = ((trials.rows(), trials.cols()), (data.rows, data.columns.len()));
    if own == wanted {
        return Ok(trials);
    }
    let rule = format!("it has {}×{} cells, and the data have {}×{}", own.0, own.1, wanted.0, wanted.1);
    Err(SpecError::Setting { setting: "trials", value: value.into(), rule })
}
