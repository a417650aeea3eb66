//! From a builder to a table: decides what the columns of text hold, once all rows are read.

use std::collections::HashSet;
use std::path::Path;

use super::builder::TableBuilder;
use super::category::Category;
use super::holds::{Holds, truth};
use super::levels::Levels;
use super::limit::Limit;
use super::words::shorten;
use super::{Aside, Look, ReadOptions, Table, TableError, Texts, numbered, when};
use crate::message::with_value;

/// How a column is used.
enum Part {
    Number,
    /// The value of each code.
    Truth(Vec<f64>),
    /// Levels in order, and the position of each code among them.
    Category(Vec<String>, Vec<usize>),
    Out,
}

impl TableBuilder {
    /// The table, or an error for the first column that cannot be fitted.
    pub fn finish(mut self, options: &ReadOptions) -> Result<Table, TableError> {
        let parts = self.parts(options, &mut Vec::new())?;
        self.build(parts)
    }

    /// The columns that can be fitted, and a report on the others.
    pub fn look(mut self, options: &ReadOptions) -> Result<Look, TableError> {
        let mut aside = Vec::new();
        let parts = self.parts(&ReadOptions { texts: Texts::Look, ..options.clone() }, &mut aside)?;
        Ok(Look { table: self.build(parts)?, aside })
    }

    fn parts(&mut self, options: &ReadOptions, aside: &mut Vec<Aside>) -> Result<Vec<Part>, TableError> {
        if self.rows == 0 {
            return Err(TableError::NoRows { file: self.allowance.path.clone() });
        }
        let mut parts = Vec::with_capacity(self.width());
        for slot in 0..self.width() {
            let part = match self.levels[slot].take() {
                None => Part::Number,
                Some(levels) => self.part(slot, *levels, options, aside)?,
            };
            parts.push(part);
        }
        Ok(parts)
    }

    fn part(
        &mut self,
        slot: usize,
        mut levels: Levels,
        options: &ReadOptions,
        aside: &mut Vec<Aside>,
    ) -> Result<Part, TableError> {
        if levels.asked && !levels.is_met() {
            self.code_numbers(slot, &mut levels)?;
        }
        if !levels.is_met() && !levels.known && levels.said.is_none_or(|said| said == Holds::Category) {
            return Ok(Part::Number);
        }
        let name = &self.names[self.numeric[slot]];
        let is_truth = |text: &&str| truth(text).is_some();
        let holds = match Holds::of(&levels, self.rows) {
            // In new rows, all cells of a yes/no column may be no.
            Holds::Constant if options.like.is_some() && levels.in_order().iter().all(is_truth) => Holds::Truth,
            other => other,
        };
        match holds {
            Holds::Truth => {
                let value = |text: &str| f64::from(truth(text) == Some(true));
                Ok(Part::Truth(levels.in_order().into_iter().map(value).collect()))
            }
            Holds::Category if levels.asked || options.texts != Texts::Refuse => {
                let texts = levels.in_order();
                // The levels of a fit keep its order.
                let mut order: Vec<usize> = (0..texts.len()).collect();
                order.sort_by_key(|&code| if levels.known { (code, "") } else { (0, texts[code]) });
                let mut places = vec![0; texts.len()];
                order.iter().enumerate().for_each(|(place, &code)| places[code] = place);
                Ok(Part::Category(order.iter().map(|&code| texts[code].to_string()).collect(), places))
            }
            holds if options.texts == Texts::Look => {
                let (place, example) = levels.first.clone().unwrap_or_default();
                aside.push(Aside { name: name.clone(), holds, place, example, different: levels.different });
                Ok(Part::Out)
            }
            holds => {
                let mut remedy = holds.remedy(name, &levels, self.rows);
                if let count @ 1.. = self.refused_after(slot, options) {
                    let columns =
                        if count == 1 { "1 more column holds".into() } else { format!("{count} more columns hold") };
                    let doctor = with_value("doctor", &self.allowance.path.display().to_string());
                    remedy.push_str(&format!("; {columns} no numbers either; {doctor} reports on all of them"));
                }
                let (place, text) = levels.first.unwrap_or_default();
                Err(TableError::Text { file: self.allowance.path.clone(), place, text, remedy })
            }
        }
    }

    /// How many later columns cannot be fitted either.
    fn refused_after(&self, slot: usize, options: &ReadOptions) -> usize {
        let is_refused = |levels: &Levels| match Holds::of(levels, self.rows) {
            Holds::Truth => false,
            Holds::Category => !levels.asked && options.texts == Texts::Refuse,
            _ => true,
        };
        self.levels[slot + 1..].iter().flatten().filter(|levels| is_refused(levels)).count()
    }

    /// Categories that are numbers, in a file without texts, formatted as written.
    fn code_numbers(&mut self, slot: usize, levels: &mut Levels) -> Result<(), TableError> {
        let width = self.width();
        for row in 0..self.rows {
            let value = self.values[row * width + slot];
            if value.is_nan() {
                continue;
            }
            let text = value.to_string();
            self.values[row * width + slot] = levels
                .code(&text, true)
                .ok_or_else(|| self.unknown_level(self.place(row, self.numeric[slot]), &text, levels))?;
        }
        Ok(())
    }

    /// The error for a text that is not among the levels of a fit.
    pub fn unknown_level(&self, place: String, text: &str, levels: &Levels) -> TableError {
        let known = super::words::list(&levels.in_order());
        TableError::UnknownLevel { file: self.allowance.path.clone(), place, text: shorten(text, 32), known }
    }

    fn build(mut self, parts: Vec<Part>) -> Result<Table, TableError> {
        self.values.shrink_to_fit();
        let (mut columns, mut categories, mut truths) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = Vec::with_capacity(parts.len());
        let typed: HashSet<usize> = self.truths.iter().copied().collect();
        for (slot, (&position, part)) in self.numeric.iter().zip(&parts).enumerate() {
            places.push(columns.len());
            match part {
                Part::Number if !typed.contains(&slot) => columns.push(self.names[position].clone()),
                Part::Number | Part::Truth(_) => {
                    truths.push(columns.len());
                    columns.push(self.names[position].clone());
                }
                Part::Category(levels, _) => {
                    let (name, first) = (self.names[position].clone(), columns.len());
                    columns.extend(levels.iter().map(|level| Category::column(&name, level)));
                    categories.push(Category { name, levels: levels.clone(), first, is_text: true });
                }
                Part::Out => {}
            }
        }
        // A column of text has its limits among its texts.
        let is_number = |limit: &Limit| matches!(parts[limit.column], Part::Number);
        let limits = self.limits.iter().filter(|limit| is_number(limit));
        let limits = limits.map(|limit| Limit { column: places[limit.column], ..*limit }).collect();
        columns.extend(self.outlined.iter().map(|&position| self.names[position].clone()));
        if !categories.is_empty() {
            check_names(&self.allowance.path, &columns)?;
        }
        self.values = if self.outlined.is_empty() { self.spread(&parts, columns.len())? } else { Vec::new() };
        let aside = self.texts.iter().flatten().map(|text| text.position).chain(self.offset.iter().map(|o| o.0));
        let aside: HashSet<usize> = aside.chain(self.outlined.iter().copied()).collect();
        let is_ignored = |p: &usize| self.slots[*p].is_none() && !aside.contains(p) && !self.names[*p].is_empty();
        let ignored = (0..self.names.len()).filter(is_ignored).map(|p| self.names[p].clone()).collect();
        let more_times = self.texts.split_off(self.texts.len() - self.time_names.len().saturating_sub(1));
        let mut texts = self.texts.into_iter().map(|text| text.map(|t| t.cells));
        let [ids, labels, mut time, sequence] = std::array::from_fn(|_| texts.next().flatten());
        let covariates = texts.flatten().collect();
        if let (false, Some(first)) = (more_times.is_empty(), &time) {
            let more = more_times.iter().flatten().map(|text| text.cells.as_slice());
            let cells: Vec<&[String]> = std::iter::once(first.as_slice()).chain(more).collect();
            time = Some(when::joined(&self.allowance.path, &self.time_names, &cells)?);
        }
        Ok(Table {
            columns,
            categories,
            truths,
            ids: ids.unwrap_or_else(|| numbered(self.rows)),
            labels,
            time,
            sequence,
            covariates,
            offset: self.offset.map(|(_, cells)| cells),
            path: self.allowance.path,
            rows: self.rows,
            values: self.values,
            limits,
            seen: Vec::new(),
            named: self.named,
            ignored,
            notes: self.notes,
        })
    }

    /// The values with one column per level, and without columns that are left out; unchanged if there are neither.
    fn spread(&mut self, parts: &[Part], width: usize) -> Result<Vec<f64>, TableError> {
        let own = self.width();
        let mut values = std::mem::take(&mut self.values);
        let translate = |row: &mut [f64]| {
            for (cell, part) in row.iter_mut().zip(parts) {
                if let Part::Truth(of_code) = part
                    && !cell.is_nan()
                {
                    *cell = of_code[*cell as usize];
                }
            }
        };
        if parts.iter().any(|part| matches!(part, Part::Truth(_))) {
            values.chunks_exact_mut(own).for_each(translate);
        }
        if !parts.iter().any(|part| matches!(part, Part::Category(..) | Part::Out)) {
            return Ok(values);
        }
        self.allowance.cells(self.rows as u64, width as u64)?;
        let mut spread = Vec::with_capacity(self.rows * width);
        for row in values.chunks_exact(own) {
            for (&cell, part) in row.iter().zip(parts) {
                match part {
                    Part::Number | Part::Truth(_) => spread.push(cell),
                    Part::Category(levels, places) => {
                        let place = (!cell.is_nan()).then(|| places[cell as usize]);
                        let of_level = |level| place.map_or(f64::NAN, |place| f64::from(place == level));
                        spread.extend((0..levels.len()).map(of_level));
                    }
                    Part::Out => {}
                }
            }
        }
        Ok(spread)
    }
}

/// Checks that the names of the levels' columns are unique.
pub(crate) fn check_names(file: &Path, columns: &[String]) -> Result<(), TableError> {
    let mut seen = HashSet::new();
    match columns.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(TableError::TwiceNamed { file: file.to_path_buf(), name: shorten(name, 40) }),
        None => Ok(()),
    }
}
