//! Rows of a fitted table as a user gives them: numbers from 1, ranges, names, or all.

use crate::console::Console;
use rflvm::internal::error::SpecError;
use rflvm_study::table::Table;

/// Names of rows shown in a message.
const NAMES_SHOWN: usize = 5;

/// The rows of a list such as `3,5-9,cell_17`, or `all`. A whole number is a row, counted from 1; any other word
/// is the name of a row. The rows that are returned are positions in the table, counted from 0.
pub fn rows(text: &str, table: &Table) -> Result<Vec<usize>, SpecError> {
    if text.trim() == "all" {
        return Ok((0..table.rows).collect());
    }
    which(text, table).iter().for_each(|line| Console::default().say(line));
    let mut rows = Vec::new();
    for word in text.split(',').map(str::trim) {
        match range(word) {
            Some((first, last)) if first < last => rows.extend(one(first, table)?..=one(last, table)?),
            Some((first, last)) if first > last => {
                return Err(wrong(word, "a range goes from a row to a later one, such as 5-9".into()));
            }
            Some((only, _)) => rows.push(one(only, table)?),
            None => rows.push(named(word, table)?),
        }
    }
    Ok(rows)
}

/// Which row a number means, where rows are named by other numbers.
fn which(text: &str, table: &Table) -> Option<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let place = |word: &str| word.parse::<usize>().ok()?.checked_sub(1).filter(|&n| n < table.rows && is_number(word));
    let mut words = text.split(',').map(str::trim);
    let (word, n) = words.find_map(|word| Some((word, place(word).filter(|&n| table.ids[n] != word)?)))?;
    let other = table.ids.iter().position(|id| id == word);
    if other.is_none() && !is_number(&table.ids[n]) {
        return None;
    }
    let other = other.map_or(String::new(), |m| format!("; the row named `{word}` is row {}", m + 1));
    Some(format!("whole numbers count rows: row {word} is the one named `{}`{other}", table.ids[n]))
}

/// Both ends of `5-9`; `5` is a range of one.
fn range(word: &str) -> Option<(usize, usize)> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    Some((number(first)?, number(last)?))
}

/// The position of row n.
fn one(n: usize, table: &Table) -> Result<usize, SpecError> {
    if (1..=table.rows).contains(&n) {
        return Ok(n - 1);
    }
    Err(wrong(
        &n.to_string(),
        format!("rows are counted from 1, and this fit has {} rows; give a number from 1 to {0}", table.rows),
    ))
}

fn named(word: &str, table: &Table) -> Result<usize, SpecError> {
    let mut found = (0..table.rows).filter(|&n| table.ids[n] == word);
    match (found.next(), found.next()) {
        (Some(n), None) => Ok(n),
        (Some(a), Some(b)) => {
            let rule = format!("rows {} and {} have that name; give the number of the row you mean", a + 1, b + 1);
            Err(wrong(word, rule))
        }
        _ => {
            let some = table.ids.iter().take(NAMES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
            let rule =
                format!("no row has that name; give a number from 1 to {}, or a name such as {some}", table.rows);
            Err(wrong(word, rule))
        }
    }
}

fn wrong(word: &str, rule: String) -> SpecError {
    SpecError::Setting { setting: "row", value: word.chars().take(40).collect(), rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ranges_and_names_are_distinguished() {
        let ids: Vec<String> = ["a", "b-1", "3", "twice", "twice"].map(String::from).to_vec();
        let table = Table { ids, rows: 5, named: true, ..Table::default() };
        assert_eq!(rows("all", &table).unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(rows("5, 1-3,b-1,3", &table).unwrap(), [4, 0, 1, 2, 1, 2]);
        assert_eq!(which("1,b-1,4-5", &table), None);
        let said = which("3", &Table { ids: ["5", "3", "9"].map(String::from).to_vec(), rows: 3, ..Table::default() })
            .unwrap();
        assert!(said.contains("row 3 is the one named `9`; the row named `3` is row 2"), "{said}");
        for (text, words) in [
            ("6", "from 1 to 5"),
            ("0", "counted from 1"),
            ("0-2", "counted from 1"),
            ("2-9", "from 1 to 5"),
            ("3-1", "later one"),
            ("", "no row has that name"),
            ("x", "such as a, b-1, 3"),
            ("twice", "rows 4 and 5"),
            ("-1", "no row has that name"),
            ("99999999999999999999999", "no row has that name"),
        ] {
            let error = rows(text, &table).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
