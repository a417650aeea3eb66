//! Families by column, listed in a file: `column,likelihood`, with `trials` for a binomial and `block` for several multinomials.

use crate::cells;
use crate::error::Error;
use crate::families::{Block, OF_TEXT, blocks_of, seen, suited, takes_text};
use crate::table::{Category, Source, Table};
use rflvm::internal::atomic::plain_reason;
use rflvm::internal::model::Priors;
use rflvm::internal::model::family::{Cells, Trials};
use rflvm::internal::spec;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest size of a list, in bytes.
const LONGEST: u64 = 64 << 20;

/// A list of families.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnFamilies {
    /// Its file, for messages.
    file: String,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Line {
    /// Line of the file, from 1.
    number: usize,
    column: String,
    /// What columns of one block share: family, trials, name of the block.
    key: [String; 3],
}

impl ColumnFamilies {
    /// Its file name in the folder of a fit.
    pub const FILE: &str = "blocks.csv";

    /// Reads a file; names of families become canonical.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let bad = |problem: String| Error::Config { file: file.clone(), problem };
        let mut text = Vec::new();
        let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text));
        read.map_err(|error| bad(format!("the file cannot be read ({})", plain_reason(&error))))?;
        if text.len() as u64 > LONGEST {
            return Err(bad(format!("the file is longer than {} MiB, too long for a list of families", LONGEST >> 20)));
        }
        let mut reader = csv::Reader::from_reader(&text[..]);
        let header = reader.headers().map_err(|error| bad(format!("its first line cannot be read ({error})")))?.clone();
        let place = |name: &str| header.iter().position(|h| h.trim().trim_start_matches('\u{feff}') == name);
        let (Some(column), likelihood @ Some(_)) = (place("column"), place("likelihood")) else {
            return Err(bad(
                "its first line must name the columns `column` and `likelihood` (and `trials` for a binomial, `block` for several multinomials)".into(),
            ));
        };
        let (trials, block) = (place("trials"), place("block"));
        let mut lines = Vec::new();
        for (i, record) in reader.records().enumerate() {
            let number = i + 2;
            let record = record.map_err(|error| bad(format!("line {number} cannot be read ({error})")))?;
            let cell = |place: Option<usize>| place.and_then(|p| record.get(p)).unwrap_or_default();
            let mut key = [likelihood, trials, block].map(|place| cell(place).trim().to_string());
            key[0] = spec::canonical(&key[0]).map_err(|error| bad(format!("line {number}: {error}")))?.to_string();
            lines.push(Line { number, column: cell(Some(column)).to_string(), key });
        }
        Ok(ColumnFamilies { file, lines })
    }

    /// Families passed in memory: column, family, trials or levels if they are given, and the name of its block.
    pub fn of(source: &str, lines: Vec<[String; 4]>) -> Result<Self, Error> {
        let mut column_families = ColumnFamilies { file: source.into(), lines: Vec::with_capacity(lines.len()) };
        for [column, family, trials, block] in lines {
            let key = [spec::canonical(&family)?.to_string(), trials, block];
            column_families.lines.push(Line { number: column_families.lines.len() + 1, column, key });
        }
        Ok(column_families)
    }

    /// The families that suit a table.
    pub fn suited(table: &Table) -> Self {
        ColumnFamilies::each(table, &suited(&seen(table)))
    }

    /// One family for all columns.
    pub fn of_all(family: &str, table: &Table) -> Self {
        ColumnFamilies::each(table, &vec![spec::canonical(family).unwrap_or(OF_TEXT); table.columns.len()])
    }

    /// Families column by column; those of text have their own.
    fn each(table: &Table, families: &[&str]) -> Self {
        let line = |column: &str, family: &str, block: &str| {
            let key = [family, "", block].map(String::from);
            Line { number: 0, column: column.into(), key }
        };
        let mut lines = Vec::new();
        for source in table.sources() {
            match source {
                Source::Number(j) => lines.push(line(&table.columns[j], families[j], "")),
                Source::Category(c) if c.is_text => lines.push(line(&c.name, OF_TEXT, &c.name)),
                Source::Category(c) => {
                    lines.extend(table.columns[c.columns()].iter().map(|name| line(name, OF_TEXT, &c.name)));
                }
            }
        }
        ColumnFamilies { file: table.path.display().to_string(), lines }
    }

    /// The family of all columns, if they share one.
    pub fn uniform(&self) -> Option<&str> {
        let first = self.lines.first()?;
        let is_alike = |line: &Line| line.key[0] == first.key[0] && !takes_text(&line.key[0]);
        self.lines.iter().all(is_alike).then_some(first.key[0].as_str())
    }

    /// Whether some column has such cells; the number of its trials or levels may be given.
    pub fn any(&self, is: impl Fn(Cells, bool) -> bool) -> bool {
        self.lines
            .iter()
            .any(|line| spec::about(&line.key[0]).is_ok_and(|about| is(about.cells, !line.key[1].is_empty())))
    }

    /// Columns that are categories even if they hold numbers: each is the only column of its multinomial block.
    pub fn categories(&self) -> Vec<String> {
        let mut blocks: HashMap<&[String; 3], Vec<&Line>> = HashMap::new();
        let whole = self.lines.iter().filter(|line| takes_text(&line.key[0]));
        whole.for_each(|line| blocks.entry(&line.key).or_default().push(line));
        blocks.into_values().filter(|lines| lines.len() == 1).map(|lines| lines[0].column.clone()).collect()
    }

    /// The categories of a table whose columns are those of a model. Those that are listed by their own name, rather than by their levels, are text.
    pub fn categories_of(&self, table: &Table) -> Vec<Category> {
        let whole = self.lines.iter().filter(|line| takes_text(&line.key[0]));
        let mut names: HashSet<&str> = whole.clone().map(|line| line.key[2].as_str()).collect();
        let texts: HashSet<&str> = whole.flat_map(|line| [line.column.as_str(), line.column.trim()]).collect();
        names.extend(&texts);
        let columns: HashSet<&str> = table.columns.iter().map(String::as_str).collect();
        let mut categories = Category::find(table, &names);
        for category in &mut categories {
            let name = category.name.as_str();
            category.is_text = texts.contains(name) && !columns.contains(name);
        }
        categories
    }

    /// The families in words: how many columns have which.
    pub fn words(&self) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        // The columns of one category are a single column of the user's.
        let mut blocks = HashSet::new();
        for line in &self.lines {
            if !line.key[2].is_empty() && !blocks.insert(&line.key) {
                continue;
            }
            match counts.iter_mut().find(|(family, _)| *family == line.key[0]) {
                Some((_, count)) => *count += 1,
                None => counts.push((&line.key[0], 1)),
            }
        }
        let words: Vec<String> = counts.iter().map(|(family, count)| format!("{family} ({count})")).collect();
        words.join(", ")
    }

    /// As a file.
    pub fn to_csv(&self) -> String {
        let has_trials = self.lines.iter().any(|line| !line.key[1].is_empty());
        let keep = |i: &usize| *i != 1 || has_trials;
        let header = ["likelihood", "trials", "block"];
        let line = |column: &str, key: [&str; 3]| {
            let mut cells = vec![column.to_string()];
            cells.extend((0..3).filter(keep).map(|i| key[i].to_string()));
            cells
        };
        cells::csv_text(
            line("column", header),
            self.lines.iter().map(|l| line(&l.column, l.key.each_ref().map(String::as_str))),
        )
    }

    /// Columns of one family (and number of trials, and name of a block) form a block; each category is a separate block.
    pub fn blocks(&self, table: &Table, priors: &Priors) -> Result<Vec<Block>, Error> {
        let bad = |problem: String| Error::Config { file: self.file.clone(), problem };
        let places: HashMap<&str, usize> = table.columns.iter().zip(0..).map(|(c, j)| (c.as_str(), j)).collect();
        let categories: HashMap<&str, usize> =
            table.categories.iter().zip(0..).map(|(c, i)| (c.name.as_str(), i)).collect();
        let mut places_of_keys: HashMap<&[String; 3], usize> = HashMap::new();
        let mut blocks: Vec<(&[String; 3], Vec<usize>)> = Vec::new();
        let mut seen = vec![false; table.columns.len()];
        for Line { number, column, key } in &self.lines {
            // Someone may have written spaces after a comma.
            let is_known = |name: &&str| categories.contains_key(name) || places.contains_key(name);
            let column = [column.as_str(), column.trim()].into_iter().find(is_known).unwrap_or(column);
            let category = categories.get(column).map(|&i| &table.categories[i]).filter(|c| c.is_text);
            let columns: Vec<usize> = match (category, places.get(column)) {
                (Some(category), _) => category.columns().collect(),
                (None, Some(&index)) => vec![index],
                (None, None) => return Err(bad(format!("line {number}: the table has no column `{column}`"))),
            };
            if columns.iter().any(|&index| std::mem::replace(&mut seen[index], true)) {
                return Err(bad(format!("line {number}: the column `{column}` already has a family")));
            }
            if category.is_some() && !takes_text(&key[0]) {
                return Err(bad(format!(
                    "line {number}: the column `{column}` holds text, which {} does not accept; give it {OF_TEXT}, or exclude the column with ⟨labels⟩, ⟨id⟩ or ⟨without⟩ and remove the line",
                    key[0]
                )));
            }
            match places_of_keys.get(key).filter(|_| category.is_none()) {
                Some(&place) => blocks[place].1.extend(columns),
                None => {
                    if category.is_none() {
                        places_of_keys.insert(key, blocks.len());
                    }
                    blocks.push((key, columns));
                }
            }
        }
        if let Some(missing) = seen.iter().position(|s| !s) {
            let category = table.categories.iter().find(|c| c.columns().contains(&missing));
            let name = category.map_or(&table.columns[missing], |c| &c.name);
            return Err(bad(format!(
                "no line gives the family of the column `{name}`; add one, or exclude the column with ⟨without⟩"
            )));
        }
        let family = |([likelihood, trials, _], mut columns): (&[String; 3], Vec<usize>)| {
            if takes_text(likelihood) && columns.len() == 1 {
                return Err(bad(format!(
                    "the column `{}` is the only one of numbers in its multinomial block; if its numbers are categories, give its line a separate name in the column `block`",
                    table.columns[columns[0]]
                )));
            }
            let trials = match trials.as_str() {
                "" => None,
                text => {
                    Some(Trials::Same(text.parse().map_err(|_| bad(format!("`{text}` is not a number of trials")))?))
                }
            };
            columns.sort_unstable();
            blocks_of(likelihood, trials, columns, table, priors).map_err(|error| bad(error.to_string()))
        };
        let blocks = blocks.into_iter().map(family).collect::<Result<Vec<_>, _>>()?;
        Ok(blocks.into_iter().flatten().collect())
    }
}
