//! A fit whose columns several processes share. The first reads the whole table, checks it, and tells the others what depends on all of its
//! cells; each of the others reads and holds only its own columns.

use crate::blocks::Given;
use crate::config::Config;
use crate::error::Error;
use crate::families::takes_text;
use crate::fit::{Fit, kept};
use crate::reading;
use crate::table::{self, ReadOptions, Table};
use rflvm::chunks::WIDTH;
use rflvm::error::SpecError;
use rflvm::identity::Identity;
use rflvm::linalg::Mat;
use rflvm::ranks::Ranks;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the first process tells the others, besides numbers.
#[derive(Serialize, Deserialize)]
struct Outline {
    table: Table,
    identity: Identity,
}

impl Fit {
    /// A fit like that of [`Fit::new`], shared with other processes.
    pub fn shared(config: Config, dir: &Path, ranks: Arc<dyn Ranks>) -> Result<Self, Error> {
        let whole = |config: Config| Fit::new(config, dir);
        if can_be_divided(&config) {
            // An older fit in the folder, which this one replaces, is none of its business.
            return divided(config, dir, None, ranks, whole);
        }
        let mut fit = whole(config)?;
        fit.share(ranks)?;
        Ok(fit)
    }

    /// The fit in a folder, like that of [`Fit::open`], shared with other processes.
    pub fn open_shared(dir: &Path, change: impl FnOnce(&mut Config), ranks: Arc<dyn Ranks>) -> Result<Self, Error> {
        let config = Fit::config_of(dir, change)?;
        let whole = |config: Config| Fit::open(dir, |own| *own = config);
        if can_be_divided(&config) {
            return divided(config, dir, kept(dir), ranks, whole);
        }
        let mut fit = whole(config)?;
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
    let one_family = config.likelihood.as_deref().is_some_and(|name| !config.is_auto() && !takes_text(name));
    let no_trials = config.trials.as_deref().is_none_or(|trials| trials.parse::<u32>().is_ok());
    one_family && no_trials && config.blocks.is_none() && config.time.is_none() && config.row_data.is_none()
}

fn divided(
    config: Config,
    dir: &Path,
    store: Option<PathBuf>,
    ranks: Arc<dyn Ranks>,
    whole: impl FnOnce(Config) -> Result<Fit, Error>,
) -> Result<Fit, Error> {
    let size = ranks.size();
    if ranks.rank() == 0 {
        let mut fit = whole(config)?;
        fit.share(Arc::clone(&ranks))?;
        let outline = Outline { table: fit.table.clone(), identity: fit.identity() };
        let text = serde_json::to_vec(&outline).map_err(|error| unlike(&error.to_string()))?;
        tell(ranks.as_ref(), &words(&text));
        tell(ranks.as_ref(), &fit.model.told());
        return Ok(fit);
    }
    let text = bytes(&hear(ranks.as_ref()));
    let told = hear(ranks.as_ref());
    // The padding of the last word is no part of the text.
    let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let Outline { table, identity } =
        serde_json::from_slice(&text[..end]).map_err(|error| unlike(&error.to_string()))?;
    let (saved, config) = (config.clone(), config.beside(dir));
    let mut fit = Fit::set_up(saved, config, Given::default(), dir, |_| Ok(table), Some(&told))?;
    fit.identity = Some(identity);
    let own = fit.model.own_of_table(Arc::clone(&ranks)).ok_or_else(|| too_many(&fit, size))?;
    let y = columns(&fit, store, &own)?;
    fit.part = fit.model.part_with(ranks, y);
    Ok(fit)
}

/// Some columns of the table, from the store of the fit if it holds them already.
fn columns(fit: &Fit, store: Option<PathBuf>, own: &[usize]) -> Result<Mat, Error> {
    let names = own.iter().map(|&column| fit.table.columns[column].clone()).collect();
    let config = match store {
        Some(store) => Config { table: Some(store), ..fit.config.clone() },
        None => fit.config.clone(),
    };
    let options = ReadOptions { columns: Some(names), without: Vec::new(), ..reading::options(&config)?.only_cells() };
    let table = table::read(reading::table_path(&config)?, &options)?;
    if (table.rows, table.columns.len()) != (fit.table.rows, own.len()) {
        return Err(unlike("they have found different numbers of rows or columns"));
    }
    Ok(Mat::from_vec(table.rows, own.len(), table.values))
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

/// Sends numbers from the first process to all.
fn tell(ranks: &dyn Ranks, numbers: &[f64]) {
    let count = ranks.gather(&[numbers.len() as f64], &lengths(ranks, 1))[0];
    debug_assert_eq!(count as usize, numbers.len());
    ranks.gather(numbers, &lengths(ranks, numbers.len()));
}

/// Receives them.
fn hear(ranks: &dyn Ranks) -> Vec<f64> {
    let count = ranks.gather(&[], &lengths(ranks, 1))[0] as usize;
    ranks.gather(&[], &lengths(ranks, count))
}

/// That many numbers from the first process, and none from the others.
fn lengths(ranks: &dyn Ranks, count: usize) -> Vec<usize> {
    (0..ranks.size()).map(|rank| if rank == 0 { count } else { 0 }).collect()
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

    #[test]
    fn text_survives_as_numbers() {
        for text in ["", "a", "eight by", "a longer text with an é"] {
            let back = bytes(&words(text.as_bytes()));
            assert_eq!(String::from_utf8(back).unwrap().trim_end_matches('\0'), text);
        }
    }
}
