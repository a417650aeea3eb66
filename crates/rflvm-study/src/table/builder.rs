//! A table being read: the role of each column of the file, and the values read so far.

use std::collections::{HashMap, HashSet};

use rflvm::internal::closest::closest;

use super::allowance::Allowance;
use super::category::Category;
use super::levels::Levels;
use super::limit::Limit;
use super::words::{list, shorten};
use super::{ReadOptions, TableError, numbered, when};
use crate::note::Note;

/// A column kept as text, and where in the file it is.
pub(super) struct Text {
    pub position: usize,
    pub cells: Vec<String>,
}

pub(super) struct TableBuilder {
    pub allowance: Allowance,
    /// Names of all columns of the file.
    pub names: Vec<String>,
    /// Positions in the file of the numeric columns, in the requested order.
    pub numeric: Vec<usize>,
    /// For each column of the file, its position among the numeric ones.
    pub slots: Vec<Option<usize>>,
    /// Ids, labels, times and sequences, then covariates, then further columns of times.
    pub texts: Vec<Option<Text>>,
    /// The names of the columns of times, if there are several.
    pub time_names: Vec<String>,
    pub offset: Option<(usize, Vec<f64>)>,
    pub rows: usize,
    /// Row by row; codes in the columns that have levels.
    pub values: Vec<f64>,
    /// Cells that hold limits, by row and slot.
    pub limits: Vec<Limit>,
    /// The texts of numeric columns that hold text.
    pub levels: Vec<Option<Box<Levels>>>,
    /// Memory that these texts take.
    pub text_bytes: u128,
    /// Numeric columns of boolean type.
    pub truths: Vec<usize>,
    pub named: bool,
    /// The numeric columns of an outline, whose cells are not read.
    pub outlined: Vec<usize>,
    /// How the file was read, where that may be wrong.
    pub notes: Vec<Note>,
}

impl TableBuilder {
    /// Looks up the columns that `options` name; `index` is an unnamed column, which holds the ids if no
    /// other column does.
    pub fn new(
        allowance: Allowance,
        names: Vec<String>,
        named: bool,
        index: Option<usize>,
        options: &ReadOptions,
    ) -> Result<Self, TableError> {
        let search = Search::new(&allowance, &names, named);
        let find = |name: &Option<String>, option| name.as_deref().map(|n| search.find(n, option)).transpose();
        let id = find(&options.id, "id")?;
        let labels = find(&options.labels, "labels")?;
        let offset = find(&options.offset, "offset")?;
        let time_names =
            options.time.as_deref().map(|time| when::columns(time, |name| search.position(name).is_some()));
        let time_names = time_names.unwrap_or_default();
        let times = time_names.iter().map(|name| search.find(name, "time")).collect::<Result<Vec<usize>, _>>()?;
        let (time, more_times) = (times.first().copied(), times.get(1..).unwrap_or_default());
        let sequence = find(&options.sequence, "sequence")?;
        let find = |name: &String| search.find(name, "covariates");
        let covariates = options.covariates.iter().map(find).collect::<Result<Vec<usize>, _>>()?;
        let mut aside: HashSet<usize> = [id, labels, offset, time, sequence, index].into_iter().flatten().collect();
        aside.extend(covariates.iter().chain(more_times));
        let mut left_out = HashSet::new();
        for name in &options.without {
            left_out.insert(search.find(name, "without")?);
        }
        aside.extend(&left_out);
        let rest = || (0..names.len()).filter(|p| !aside.contains(p)).collect::<Vec<usize>>();
        // The columns of a fit, and the levels of those that are categories.
        let mut known: Vec<Option<&Category>> = Vec::new();
        let mut numeric = match (&options.columns, &options.like) {
            (_, Some(like)) => {
                let by_name = like.named && named || !like.named && like.chosen;
                let parts = like.parts(|name| by_name && search.positions.contains_key(name));
                known = parts.iter().map(|(_, category)| *category).collect();
                let wanted: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
                if by_name { search.all(&wanted)? } else { search.as_many(rest(), wanted.len())? }
            }
            (Some(wanted), None) => search.select(wanted)?,
            (None, None) => rest(),
        };
        let roles = [(id, "id"), (labels, "labels"), (offset, "offset"), (time, "time"), (sequence, "sequence")];
        let roles = roles.into_iter().filter_map(|(position, option)| Some((position?, option)));
        let mut roles = roles
            .chain(covariates.iter().map(|&position| (position, "covariates")))
            .chain(more_times.iter().map(|&position| (position, "time")));
        if options.columns.is_some()
            && let Some((position, option)) = roles.find(|(position, _)| numeric.contains(position))
        {
            let name = shorten(&names[position], 40);
            return Err(TableError::TwoRoles { file: allowance.path, name, option });
        }
        numeric.retain(|position| !left_out.contains(position));
        let outlined = if options.is_outline { std::mem::take(&mut numeric) } else { Vec::new() };
        let mut slots = vec![None; names.len()];
        numeric.iter().enumerate().for_each(|(slot, &position)| slots[position] = Some(slot));
        let of_fit = |category: Option<&Category>| category.map(|c| Box::new(Levels::known(&c.levels)));
        let mut levels: Vec<Option<Box<Levels>>> = known.into_iter().map(of_fit).collect();
        levels.resize(numeric.len(), None);
        // A list of families may name columns that this table does not have; its reader reports that.
        for slot in options.categories.iter().filter_map(|name| slots[search.position(name)?]) {
            levels[slot] = Some(Box::new(Levels::asked()));
        }
        let more = covariates.iter().chain(more_times).copied().map(Some);
        let texts = [id.or(index), labels, time, sequence].into_iter().chain(more);
        Ok(TableBuilder {
            allowance,
            names,
            numeric,
            slots,
            texts: texts.map(|position| position.map(|position| Text { position, cells: Vec::new() })).collect(),
            time_names: if time_names.len() > 1 { time_names } else { Vec::new() },
            offset: offset.map(|position| (position, Vec::new())),
            rows: 0,
            values: Vec::new(),
            limits: Vec::new(),
            levels,
            text_bytes: 0,
            truths: Vec::new(),
            named,
            outlined,
            notes: Vec::new(),
        })
    }

    /// For a file of kind `kind` with `width` unnamed columns, all of numbers.
    pub fn numbered(
        allowance: Allowance,
        width: u64,
        kind: &'static str,
        options: &ReadOptions,
    ) -> Result<Self, TableError> {
        no_columns_aside(&allowance, kind, options)?;
        // A name takes the allowance of about eight cells.
        allowance.cells(1, width.saturating_mul(8))?;
        TableBuilder::new(allowance, numbered(width as usize), false, None, options)
    }

    /// Whether a column has cells, and all of them are limits.
    pub fn has_only_limits(&self, slot: usize) -> bool {
        let limits = self.limits.iter().filter(|limit| limit.column == slot).count();
        let cells = || self.values.iter().skip(slot).step_by(self.width());
        limits > 0 && cells().filter(|v| !v.is_nan()).count() == limits
    }

    pub fn width(&self) -> usize {
        self.numeric.len()
    }

    /// Sets ids that do not come from a column.
    pub fn name_rows(&mut self, ids: Vec<String>) {
        self.texts[0] = Some(Text { position: usize::MAX, cells: ids });
    }

    /// Allocates all cells at once, as zeros.
    pub fn fill_with_zeros(&mut self, rows: u64) -> Result<(), TableError> {
        self.allowance.cells(rows, self.width() as u64)?;
        self.rows = rows as usize;
        self.values = vec![0.0; self.rows * self.width()];
        Ok(())
    }

    /// Makes room for `more` rows, and for `expected` in all if possible: a table that grows in small steps would be
    /// copied often, and one that doubles would take twice its size.
    pub fn reserve(&mut self, more: usize, expected: usize) -> Result<(), TableError> {
        let (rows, width) = (self.rows.saturating_add(more), self.width());
        if rows.saturating_mul(width) <= self.values.capacity() {
            return Ok(());
        }
        self.allowance.cells(rows as u64, width as u64)?;
        let generous = expected.max(rows.saturating_add(rows / 8)).saturating_add(16);
        let total = if self.allowance.cells(generous as u64, width as u64).is_ok() { generous } else { rows };
        let cells = (total * width).saturating_sub(self.values.len());
        self.values.try_reserve_exact(cells).map_err(|_| TableError::TooLarge {
            file: self.allowance.path.clone(),
            needed: "more".to_string(),
            what: format!("{rows} rows × {width} columns"),
            why: "the system does not grant it".to_string(),
        })
    }

    /// The place of a cell, for a message.
    pub fn place(&self, row: usize, position: usize) -> String {
        format!("row {}, column `{}`", row + 1, shorten(&self.names[position], 32))
    }
}

/// Rejects options that ask to fit a column that does not hold numbers.
pub(super) fn no_columns_aside(
    allowance: &Allowance,
    kind: &'static str,
    options: &ReadOptions,
) -> Result<(), TableError> {
    let given = [
        (&options.id, "id"),
        (&options.labels, "labels"),
        (&options.offset, "offset"),
        (&options.time, "time"),
        (&options.sequence, "sequence"),
    ];
    let given = given.into_iter().map(|(name, option)| (name.is_some(), option));
    match given.chain([(!options.covariates.is_empty(), "covariates")]).find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(TableError::NumbersOnly { file: allowance.path.clone(), option, kind }),
        None => Ok(()),
    }
}

/// Finds columns by name; a hash map keeps this quick for 20,000 names.
struct Search<'a> {
    allowance: &'a Allowance,
    visible: Vec<&'a str>,
    positions: HashMap<&'a str, usize>,
    named: bool,
}

impl<'a> Search<'a> {
    fn new(allowance: &'a Allowance, names: &'a [String], named: bool) -> Self {
        let visible = || names.iter().enumerate().map(|(p, n)| (n.as_str(), p)).filter(|(n, _)| !n.is_empty());
        Search { allowance, visible: visible().map(|(n, _)| n).collect(), positions: visible().collect(), named }
    }

    /// Names of a text table have no spaces around them, and others may.
    fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).or_else(|| self.positions.get(name.trim())).copied()
    }

    fn find(&self, name: &str, option: &'static str) -> Result<usize, TableError> {
        self.position(name).ok_or_else(|| TableError::UnknownColumn {
            file: self.allowance.path.clone(),
            option,
            name: shorten(name, 40),
            hint: match closest(name.trim(), &self.visible) {
                _ if self
                    .visible
                    .iter()
                    .any(|own| own.split(',').count() > 1 && own.split(',').any(|part| part.trim() == name.trim())) =>
                {
                    " (a name that contains a comma is given in double quotes)".to_string()
                }
                Some(near) => format!(" (did you mean `{}`?)", shorten(near, 40)),
                None if self.named => String::new(),
                None => " (the file has no line of names, so columns are numbered)".to_string(),
            },
            available: list(&self.visible),
        })
    }

    /// The columns of a table that was read earlier, by name.
    fn all(&self, wanted: &[&str]) -> Result<Vec<usize>, TableError> {
        let missing: Vec<&&str> = wanted.iter().filter(|n| !self.positions.contains_key(**n)).collect();
        if missing.is_empty() {
            return Ok(wanted.iter().filter_map(|name| self.positions.get(name).copied()).collect());
        }
        let (names, available) = (list(&missing), list(&self.visible));
        Err(TableError::MissingColumns { file: self.allowance.path.clone(), names, available })
    }

    /// The columns of a table that was read earlier, by number.
    fn as_many(&self, found: Vec<usize>, expected: usize) -> Result<Vec<usize>, TableError> {
        if found.len() == expected {
            return Ok(found);
        }
        Err(TableError::OtherWidth { file: self.allowance.path.clone(), found: found.len(), expected })
    }

    fn select(&self, wanted: &[String]) -> Result<Vec<usize>, TableError> {
        let mut seen = HashSet::new();
        let mut chosen = Vec::with_capacity(wanted.len());
        for name in wanted {
            let position = self.find(name, "columns")?;
            if !seen.insert(position) {
                return Err(TableError::RepeatedSelection {
                    file: self.allowance.path.clone(),
                    name: shorten(name, 40),
                });
            }
            chosen.push(position);
        }
        Ok(chosen)
    }
}
