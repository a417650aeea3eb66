//! A fit whose columns several processes share, so that none has the whole table: the first reads what there is besides cells, each sees what a share
//! of the columns holds where families or levels depend on it, reads and checks its own columns, and they exchange what depends on all of them.

use crate::blocks::Given;
use crate::config::Config;
use crate::error::Error;
use crate::fit::{Fit, kept};
use crate::folder::limits_path;
use crate::model;
use crate::reading;
use crate::survey;
use crate::table::{self, ReadOptions, Table, Texts};
use crate::told::{lowest, tell, unlike};
use rflvm::internal::chunks::WIDTH;
use rflvm::internal::error::SpecError;
use rflvm::internal::identity::Digest;
use rflvm::internal::linalg::Mat;
use rflvm::internal::ranks::Ranks;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Fit {
    /// A fit like that of [`Fit::new`], shared with other processes.
    pub fn shared(config: Config, dir: &Path, ranks: Arc<dyn Ranks>) -> Result<Self, Error> {
        // An older fit in the folder, which this one replaces, is none of its business.
        if let Some(fit) = divided(&config, dir, None, &ranks)? {
            return Ok(fit);
        }
        let mut fit = Fit::new(config, dir)?;
        fit.share(ranks)?;
        Ok(fit)
    }

    /// The fit in a folder, like that of [`Fit::open`], shared with other processes.
    pub fn open_shared(dir: &Path, change: impl FnOnce(&mut Config), ranks: Arc<dyn Ranks>) -> Result<Self, Error> {
        let config = Fit::config_of(dir, change)?;
        let divided = match limits_path(dir).exists() {
            true => None,
            false => divided(&config, dir, kept(dir), &ranks)?,
        };
        if let Some(fit) = divided {
            return Ok(fit);
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

/// Whether some columns of the table can be read without the others.
fn can_be_divided(config: &Config) -> bool {
    let no_trials = config.trials.as_deref().is_none_or(|trials| trials.parse::<u32>().is_ok());
    (config.likelihood.is_some() || config.blocks.is_some()) && no_trials && config.time.is_none()
}

/// Such a fit; its cells come from the store of the fit if that holds them already. `None` where a column depends on other columns, or cells are
/// limits.
fn divided(config: &Config, dir: &Path, store: Option<PathBuf>, ranks: &Arc<dyn Ranks>) -> Result<Option<Fit>, Error> {
    if !can_be_divided(config) {
        return Ok(None);
    }
    let (saved, config) = (config.clone(), config.clone().beside(dir));
    let source = Source { config: store.map_or_else(|| config.clone(), |store| config.of_store(store)) };
    let (size, is_first) = (ranks.size(), ranks.rank() == 0);
    let mut table = if is_first { source.outline(reading::table_path(&config)?)? } else { Table::default() };
    let offset = model::offset(&config, &mut table);
    let text = serde_json::to_vec(&table).map_err(|error| unlike(&error.to_string()))?;
    let text = tell(ranks.as_ref(), &text);
    if !is_first {
        table = serde_json::from_slice(&text).map_err(|error| unlike(&error.to_string()))?;
    }
    let names: HashSet<String> = table.columns.iter().cloned().collect();
    let path = reading::table_path(&source.config)?;
    if survey::is_needed(&config, path) {
        let read = |names| source.columns(names);
        survey::complete(&mut table, &config, path.is_dir(), ranks.as_ref(), read)?;
        if !table.limits.is_empty() {
            return Ok(None);
        }
    }
    let mut fit = Fit::set_up(saved, config, Given::default(), dir, |_| Ok(table), true)?;
    let own = fit.model.own_of_table(Arc::clone(ranks)).ok_or_else(|| too_many(&fit, size))?;
    let own = source.cells(&fit, &names, &own).and_then(|y| {
        let part = fit
            .model
            .part_with(Arc::clone(ranks), y)
            .and_then(|part| part.map_or(Ok(None), |part| model::check_part(&part).map(|()| Some(part))));
        part.map_err(|error| model::refused(&fit.table, error))?.ok_or_else(|| too_many(&fit, size))
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
    Ok(Some(fit))
}

/// Where the cells of a table are read.
struct Source {
    config: Config,
}

impl Source {
    /// The table without its cells; `path` is that of the user's table.
    fn outline(&self, path: &Path) -> Result<Table, Error> {
        let options = ReadOptions { is_outline: true, texts: Texts::Refuse, ..reading::options(&self.config)? };
        Ok(Table { path: path.to_path_buf(), ..table::read(reading::table_path(&self.config)?, &options)? })
    }

    /// Some columns of the file.
    fn columns(&self, names: Vec<String>) -> Result<Table, Error> {
        let options = reading::options(&self.config)?.only_cells();
        let options = ReadOptions { columns: Some(names), without: Vec::new(), ..options };
        Ok(table::read(reading::table_path(&self.config)?, &options)?)
    }

    /// Some columns of a fit, whose file has columns of these names.
    fn cells(&self, fit: &Fit, names: &HashSet<String>, own: &[usize]) -> Result<Mat, Error> {
        let categories = || fit.table.categories.iter();
        let name = |&column: &usize| match fit.table.columns[column].as_str() {
            name if names.contains(name) => name,
            level => categories().find(|c| c.columns().contains(&column)).map_or(level, |category| &category.name),
        };
        let mut wanted: Vec<String> = own.iter().map(|column| name(column).to_string()).collect();
        // The levels of a category are neighbours.
        wanted.dedup();
        let mut table = self.columns(wanted)?;
        let is_group = |&j: &usize| categories().any(|c| c.is_text && c.name == table.columns[j]);
        let groups: Vec<usize> = (0..table.columns.len()).filter(is_group).collect();
        table.categorise(&groups);
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
}

fn too_many(fit: &Fit, size: usize) -> Error {
    let count = fit.model.chunks().count();
    let rule = format!(
        "this table has {count} chunks of columns (at most {WIDTH} columns each, and a multinomial block is never cut), and each process \
         needs one; use at most {count} processes"
    );
    SpecError::Setting { setting: "number of processes", value: size.to_string(), rule }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rflvm::internal::ranks::Threads;

    #[test]
    fn tables_without_times_and_trials_of_cells_are_divided() {
        let config =
            |likelihood: Option<&str>| Config { likelihood: likelihood.map(String::from), ..Config::default() };
        assert!(can_be_divided(&config(Some("auto"))) && can_be_divided(&config(Some("multinomial"))));
        assert!(can_be_divided(&Config { blocks: Some("blocks.csv".into()), ..config(None) }));
        assert!(!can_be_divided(&config(None)));
        assert!(!can_be_divided(&Config { time: Some("t".into()), ..config(Some("poisson")) }));
        let binomial = |trials: &str| Config { trials: Some(trials.into()), ..config(Some("binomial")) };
        assert!(can_be_divided(&binomial("12")) && !can_be_divided(&binomial("trials.csv")));
    }

    #[test]
    fn no_process_has_the_whole_table_and_all_know_what_it_holds() {
        let dir = std::env::temp_dir().join(format!("rflvm-shared-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let cell = |n: usize, j: usize| match j % 4 {
            0 => format!("{:.2}", (n * n + j) as f64 / 7.0),
            1 => ["b", "a", "c"][(n + j / 4) % 3].into(),
            2 => (2007 + (n * j) % 3).to_string(),
            _ => (1 + (n * n + j) % 5).to_string(),
        };
        let row = |n: usize| (0..280).map(|j| cell(n, j)).collect::<Vec<_>>().join(",") + "\n";
        let names = (0..280).map(|j| format!("c{j}")).collect::<Vec<_>>().join(",") + "\n";
        std::fs::write(dir.join("table.csv"), names + &(0..40).map(row).collect::<String>()).unwrap();
        let config =
            Config { table: Some(dir.join("table.csv")), likelihood: Some("auto".into()), ..Config::default() }
                .filled();
        let alone = Fit::new(config.clone(), &dir.join("fit")).unwrap();
        let families = |fit: &Fit| fit.given.column_families.as_ref().unwrap().to_csv();
        for family in ["gaussian", "multinomial", "ordinal"] {
            assert!(families(&alone).contains(family), "{}", families(&alone));
        }
        let ranks = Threads::connected(3);
        std::thread::scope(|scope| {
            let shared = |own: &Arc<dyn Ranks>| Fit::shared(config.clone(), &dir.join("fit"), Arc::clone(own)).unwrap();
            let each: Vec<_> = ranks.iter().map(|own| scope.spawn(move || shared(own))).collect();
            for thread in each {
                let fit = thread.join().unwrap();
                assert!(!fit.model.has_table());
                assert_eq!(fit.identity().digest(), alone.identity().digest());
                assert_eq!(families(&fit), families(&alone));
                assert_eq!(fit.table.categories, alone.table.categories);
            }
        });
        std::fs::remove_dir_all(dir).unwrap();
    }
}
