//! A fit whose columns several processes share. Where the settings alone say what each column is, no process has the whole table: the first
//! reads what there is besides cells, each reads and checks its own columns, and they exchange what depends on all of them.

use crate::blocks::Given;
use crate::column_families::ColumnFamilies;
use crate::config::Config;
use crate::error::Error;
use crate::families::takes_text;
use crate::fit::{Fit, kept};
use crate::model;
use crate::reading;
use crate::table::{self, ReadOptions, Table, Texts};
use rflvm::internal::chunks::WIDTH;
use rflvm::internal::error::SpecError;
use rflvm::internal::identity::Digest;
use rflvm::internal::linalg::Mat;
use rflvm::internal::ranks::Ranks;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Fit {
    /// A fit like that of [`Fit::new`], shared with other processes.
    pub fn shared(config: Config, dir: &Path, ranks: Arc<dyn Ranks>) -> Result<Self, Error> {
        if can_be_divided(&config) {
            // An older fit in the folder, which this one replaces, is none of its business.
            return divided(config, dir, None, ranks);
        }
        let mut fit = Fit::new(config, dir)?;
        fit.share(ranks)?;
        Ok(fit)
    }

    /// The fit in a folder, like that of [`Fit::open`], shared with other processes.
    pub fn open_shared(dir: &Path, change: impl FnOnce(&mut Config), ranks: Arc<dyn Ranks>) -> Result<Self, Error> {
        let config = Fit::config_of(dir, change)?;
        if can_be_divided(&config) {
            return divided(config, dir, kept(dir), ranks);
        }
        let mut fit = Fit::open(dir, |own| *own = config)?;
        fit.share(ranks)?;
        Ok(fit)
    }

    /// Shares the columns with other processes, which have read the same table. All but the first keep their own columns only.
    fn share(&mut self, ranks: Arc<dyn Ranks>) -> Result<(), Error> {
        let (size, is_first) = (ranks.size(), ranks.rank() == 0);
        let part = self.model.part(ranks).ok_or_else(|| too_many(self, size))?;
        self.identity = Some(self.identity());
        if !is_first {
            self.model.forget_table();
        }
        self.part = Some(part);
        Ok(())
    }
}

/// Whether some columns of the table can be read without the others: the settings alone say what each column is.
fn can_be_divided(config: &Config) -> bool {
    let no_trials = config.trials.as_deref().is_none_or(|trials| trials.parse::<u32>().is_ok());
    let is_known = match &config.blocks {
        // A list that cannot be read is reported where it is used.
        Some(path) => ColumnFamilies::read(path).is_ok_and(|list| !list.takes_text() || holds_numbers(config)),
        None => config.likelihood.as_deref().is_some_and(|name| !config.is_auto() && !takes_text(name)),
    };
    is_known && no_trials && config.time.is_none()
}

/// Whether the format of the table has no texts, which may be categories with any number of levels.
fn holds_numbers(config: &Config) -> bool {
    let Some(path) = &config.table else { return false };
    let name = path.to_string_lossy().to_lowercase();
    path.is_dir() || [".npy", ".npz", ".mtx", ".mtx.gz"].iter().any(|end| name.ends_with(end))
}

/// Such a fit; its cells come from the store of the fit if that holds them already.
fn divided(config: Config, dir: &Path, store: Option<PathBuf>, ranks: Arc<dyn Ranks>) -> Result<Fit, Error> {
    let (saved, config) = (config.clone(), config.beside(dir));
    let (size, is_first) = (ranks.size(), ranks.rank() == 0);
    let mut table = if is_first { outline(&config, store.as_deref())? } else { Table::default() };
    let offset = model::offset(&config, &mut table);
    let text = serde_json::to_vec(&table).map_err(|error| unlike(&error.to_string()))?;
    let text = tell(ranks.as_ref(), &text);
    if !is_first {
        table = serde_json::from_slice(&text).map_err(|error| unlike(&error.to_string()))?;
    }
    let mut fit = Fit::set_up(saved, config, Given::default(), dir, |_| Ok(table), true)?;
    let own = fit.model.own_of_table(Arc::clone(&ranks)).ok_or_else(|| too_many(&fit, size))?;
    let own = columns(&fit, store, &own).and_then(|y| {
        let part = fit.model.part_with(Arc::clone(&ranks), y).map_err(|error| model::refused(&fit.table, error))?;
        part.ok_or_else(|| too_many(&fit, size))
    });
    let mut part = lowest(ranks.as_ref(), own)?;
    let mut digest = Digest::new(&fit.model);
    let settled = fit.model.settle(&mut part, offset, |rows| digest.add(rows));
    settled.map_err(|error| model::refused(&fit.table, error))?;
    // The first process has seen all cells.
    let data = tell(ranks.as_ref(), digest.finish(&fit.model).as_bytes());
    let data = String::from_utf8(data).map_err(|error| unlike(&error.to_string()))?;
    fit.identity = Some(fit.settings.identity_of(data, &fit.model));
    fit.part = Some(part);
    Ok(fit)
}

/// The table without its cells.
fn outline(config: &Config, store: Option<&Path>) -> Result<Table, Error> {
    let path = reading::table_path(config)?;
    let own = store.map_or_else(|| config.clone(), |store| config.of_store(store.to_path_buf()));
    let options = ReadOptions { is_outline: true, ..numbers(reading::options(&own)?) };
    Ok(Table { path: path.to_path_buf(), ..table::read(reading::table_path(&own)?, &options)? })
}

/// What a process has found, or its error; if several have failed, only the first of them returns, and ends the others.
fn lowest<T>(ranks: &dyn Ranks, own: Result<T, Error>) -> Result<T, Error> {
    let every = vec![1; ranks.size()];
    let failed = ranks.gather(&[f64::from(u8::from(own.is_err()))], &every);
    if failed[..ranks.rank()].iter().any(|&flag| flag > 0.0) || own.is_ok() && failed.contains(&1.0) {
        // Until it is ended.
        ranks.gather(&[0.0], &every);
    }
    own
}

/// Some columns of the table, from the store of the fit if it holds them already.
fn columns(fit: &Fit, store: Option<PathBuf>, own: &[usize]) -> Result<Mat, Error> {
    let names = own.iter().map(|&column| fit.table.columns[column].clone()).collect();
    let config = match store {
        Some(store) => fit.config.of_store(store),
        None => fit.config.clone(),
    };
    let options = numbers(reading::options(&config)?).only_cells();
    let options = ReadOptions { columns: Some(names), without: Vec::new(), ..options };
    let table = table::read(reading::table_path(&config)?, &options)?;
    if (table.rows, table.columns.len()) != (fit.table.rows, own.len()) {
        return Err(unlike("they have found different numbers of rows or columns"));
    }
    // In the order of the model.
    let places: HashMap<&str, usize> = table.columns.iter().zip(0..).map(|(name, j)| (name.as_str(), j)).collect();
    let place = |&column: &usize| places.get(fit.table.columns[column].as_str()).copied();
    let order: Option<Vec<usize>> = own.iter().map(place).collect();
    let order = order.ok_or_else(|| unlike("they have found different columns"))?;
    if order.is_sorted() {
        return Ok(Mat::from_vec(table.rows, own.len(), table.values));
    }
    Ok(Mat::from_fn(table.rows, own.len(), |n, j| table.values[n * own.len() + order[j]]))
}

/// All columns are numbers, as their families say.
fn numbers(options: ReadOptions) -> ReadOptions {
    ReadOptions { texts: Texts::Refuse, categories: Vec::new(), ..options }
}

fn unlike(problem: &str) -> Error {
    let rule = format!("the processes do not read the same table ({problem}); let all of them read the same file");
    SpecError::Setting { setting: "table", value: "shared".into(), rule }.into()
}

fn too_many(fit: &Fit, size: usize) -> Error {
    let count = fit.model.chunks().count();
    let rule = format!(
        "this table has {count} chunks of columns (at most {WIDTH} columns each, and a multinomial block is never cut), and each process \
         needs one; use at most {count} processes"
    );
    SpecError::Setting { setting: "number of processes", value: size.to_string(), rule }.into()
}

/// The text of the first process, on all.
fn tell(ranks: &dyn Ranks, text: &[u8]) -> Vec<u8> {
    let is_first = ranks.rank() == 0;
    let lengths = |count: usize| (0..ranks.size()).map(|r| if r == 0 { count } else { 0 }).collect::<Vec<usize>>();
    let own = if is_first { vec![text.len() as f64] } else { Vec::new() };
    let length = ranks.gather(&own, &lengths(1))[0] as usize;
    let own = if is_first { words(text) } else { Vec::new() };
    let mut told = bytes(&ranks.gather(&own, &lengths(length.div_ceil(8))));
    // Without the padding of the last word.
    told.truncate(length);
    told
}

/// Text as numbers, whose bits are kept on the way.
fn words(text: &[u8]) -> Vec<f64> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        f64::from_le_bytes(word)
    };
    text.chunks(8).map(word).collect()
}

fn bytes(words: &[f64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rflvm::internal::ranks::Alone;

    #[test]
    fn columns_of_known_families_are_read_apart() {
        let dir = std::env::temp_dir().join(format!("rflvm-divided-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let list = |name: &str, family: &str| {
            let path = dir.join(name);
            std::fs::write(&path, format!("column,likelihood\na,poisson\nb,{family}\n")).unwrap();
            Some(path)
        };
        let config = |table: &str, blocks: Option<PathBuf>, likelihood: Option<&str>| Config {
            table: Some(dir.join(table)),
            blocks,
            likelihood: likelihood.map(String::from),
            ..Config::default()
        };
        let (mixed, groups) = (list("mixed.csv", "gaussian"), list("groups.csv", "multinomial"));
        assert!(can_be_divided(&config("t.csv", mixed.clone(), None)));
        assert!(!can_be_divided(&config("t.csv", groups.clone(), None)));
        assert!(
            can_be_divided(&config("t.mtx", groups, None)) && can_be_divided(&config("t.csv", None, Some("poisson")))
        );
        assert!(!can_be_divided(&config("t.csv", None, Some("auto"))));
        assert!(!can_be_divided(&Config { time: Some("t".into()), ..config("t.csv", mixed, None) }));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn text_survives_as_numbers() {
        for text in ["", "a", "eight by", "a longer text with an é"] {
            assert_eq!(tell(&Alone, text.as_bytes()), text.as_bytes());
        }
    }
}
