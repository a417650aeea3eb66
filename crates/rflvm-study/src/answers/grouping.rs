//! Groups of the rows, as a user gives them: a column, a file, or one text per row.

use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::closest::closest;
use rflvm::internal::error::SpecError;
use std::collections::HashMap;
use std::path::Path;

/// Most groups: a column with more does not group the rows.
const MOST: usize = 200;
/// Names of groups shown in a message.
const SHOWN: usize = 8;

/// The groups of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    /// Their names, sorted.
    pub names: Vec<String>,
    /// The group of each row; `None` where it is unknown.
    pub of: Vec<Option<usize>>,
}

impl Grouping {
    /// From one text per row; rows with an empty text, or a usual word for a missing one, have no group.
    pub fn of(texts: &[String]) -> Result<Self, SpecError> {
        let known = |text: &String| {
            let text = text.trim();
            let is_missing = ["", "na", "n/a", "nan", "null", "none"].contains(&text.to_lowercase().as_str());
            (!is_missing).then(|| text.to_string())
        };
        let texts: Vec<Option<String>> = texts.iter().map(known).collect();
        let mut names: Vec<String> = texts.iter().flatten().cloned().collect();
        names.sort_unstable();
        names.dedup();
        if !(2..=MOST).contains(&names.len()) {
            let rule = format!("rows are compared in 2 to {MOST} groups; give a column that groups them");
            return Err(SpecError::Setting { setting: "groups", value: format!("{} groups", names.len()), rule });
        }
        let place = |text: &Option<String>| text.as_ref().and_then(|text| names.binary_search(text).ok());
        Ok(Grouping { of: texts.iter().map(place).collect(), names })
    }

    /// Of a fit: a column that describes its rows (labels, sequence or a covariate), a category or another column of its table, or else a
    /// file of two columns, the id of a row and its group.
    pub fn named(fit: &Fit, text: &str) -> Result<Self, Error> {
        if let Some(texts) = column(fit, text) {
            return Ok(Grouping::of(&texts)?);
        }
        if !Path::new(text).is_file() {
            let known = known(fit);
            let near = closest(text, &known);
            let rule = match near {
                Some(near) => format!("there is neither a column nor a file of that name; did you mean {near}?"),
                None => "there is neither a column nor a file of that name; give the column of ⟨labels⟩, a covariate, another column of the \
                         table, or a .csv with the columns id and group"
                    .into(),
            };
            return Err(SpecError::Setting { setting: "groups", value: text.chars().take(80).collect(), rule }.into());
        }
        Ok(Grouping::of(&read(fit, text)?)?)
    }

    /// The rows of a group.
    pub fn rows(&self, group: usize) -> Vec<usize> {
        (0..self.of.len()).filter(|&n| self.of[n] == Some(group)).collect()
    }

    /// The place of a group by its name.
    pub fn position(&self, name: &str) -> Result<usize, SpecError> {
        let found = self.names.iter().position(|own| own == name.trim());
        found.ok_or_else(|| {
            let more = if self.names.len() > SHOWN { ", …" } else { "" };
            let some = self.names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
            let value = name.chars().take(40).collect();
            SpecError::Setting { setting: "group", value, rule: format!("the groups are {some}{more}") }
        })
    }

    /// Two groups, separated by a comma; names may contain commas.
    pub fn pair(&self, text: &str) -> Result<[usize; 2], SpecError> {
        let place = |name: &str| self.position(name).ok();
        let splits = text.match_indices(',').map(|(at, _)| (&text[..at], &text[at + 1..]));
        if let Some(pair) = splits.clone().find_map(|(a, b)| Some([place(a)?, place(b)?])) {
            if pair[0] == pair[1] {
                let rule = "a group is compared with another one; give two".into();
                return Err(SpecError::Setting { setting: "between", value: text.into(), rule });
            }
            return Ok(pair);
        }
        for part in splits.take(1).flat_map(|(a, b)| [a, b]) {
            self.position(part)?;
        }
        let rule = "two groups are separated by a comma, such as A,B".into();
        Err(SpecError::Setting { setting: "between", value: text.chars().take(40).collect(), rule })
    }
}

/// Names of the columns by which the rows of a fit can be grouped.
fn known(fit: &Fit) -> Vec<String> {
    let config = &fit.config;
    let mut known: Vec<String> = [&config.labels, &config.sequence].into_iter().flatten().cloned().collect();
    known.extend(fit.covariates.columns().into_iter().map(String::from));
    known.extend(fit.table.categories.iter().map(|category| category.name.clone()));
    known.extend(fit.table.columns.iter().cloned());
    known
}

/// The texts of such a column.
fn column(fit: &Fit, name: &str) -> Option<Vec<String>> {
    let (config, table) = (&fit.config, &fit.table);
    let is = |own: &Option<String>| own.as_deref() == Some(name);
    if is(&config.labels) || name == "labels" && table.labels.is_some() {
        return table.labels.clone();
    }
    if let Some(place) = fit.covariates.columns().iter().position(|own| *own == name) {
        return table.covariates.get(place).cloned();
    }
    if is(&config.sequence) {
        return table.sequence.clone();
    }
    let (y, places) = (fit.model.y(), fit.places());
    let cell = |n: usize, j: usize| y[(n, places[j])];
    if let Some(category) = table.categories.iter().find(|category| category.name == name) {
        let level = |n: usize| category.columns().position(|j| cell(n, j) > 0.5);
        let text = |n: usize| level(n).map_or(String::new(), |level| category.levels[level].clone());
        return Some((0..table.rows).map(text).collect());
    }
    let j = table.columns.iter().position(|own| own == name)?;
    Some((0..table.rows).map(|n| cell(n, j).to_string()).collect())
}

/// The groups in a file, one text per row of the fit.
fn read(fit: &Fit, file: &str) -> Result<Vec<String>, Error> {
    let wrong = |problem: String| Error::Config { file: file.into(), problem };
    let mut reader =
        csv::Reader::from_path(file).map_err(|error| wrong(format!("the file cannot be read ({error})")))?;
    let columns = reader.headers().map_err(|error| wrong(format!("the file cannot be read ({error})")))?.len();
    if columns != 2 {
        return Err(wrong(format!("it has {columns} columns, but needs two: the id of a row, and its group")));
    }
    let places: HashMap<&str, usize> = fit.table.ids.iter().map(String::as_str).zip(0..).collect();
    if places.len() < fit.table.ids.len() {
        let problem = "several rows of the fit have the same id, so that it does not say which row is meant; give the groups by a column";
        return Err(wrong(problem.into()));
    }
    let mut texts = vec![String::new(); fit.table.rows];
    let mut seen = vec![false; fit.table.rows];
    for (line, record) in (2..).zip(reader.records()) {
        let record = record.map_err(|error| wrong(format!("line {line} cannot be read ({error})")))?;
        let id = record[0].trim();
        let Some(&n) = places.get(id) else {
            return Err(wrong(format!("line {line}: the fit has no row `{id}`; give the ids of embedding.csv")));
        };
        if std::mem::replace(&mut seen[n], true) {
            return Err(wrong(format!("line {line}: row `{id}` was given before; give each row once")));
        }
        texts[n] = record[1].to_string();
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rows_without_a_text_have_no_group() {
        let groups = Grouping::of(&texts(&["b", "a, x", " b", "", "NA", "c"])).unwrap();
        assert_eq!(groups.names, ["a, x", "b", "c"]);
        assert_eq!(groups.of, [Some(1), Some(0), Some(1), None, None, Some(2)]);
        assert_eq!(groups.rows(1), [0, 2]);
        assert_eq!(groups.pair("a, x,b").unwrap(), [0, 1]);
        assert_eq!(groups.pair("c, b").unwrap(), [2, 1]);
        for (text, words) in
            [("b", "separated by a comma"), ("b,d", "group is d, but the groups are a, x, b, c"), ("b,b", "give two")]
        {
            let error = groups.pair(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        let error = Grouping::of(&texts(&["a", "a", "NA"])).unwrap_err().to_string();
        assert!(error.contains("1 groups") && error.contains("2 to 200"), "{error}");
    }
}
