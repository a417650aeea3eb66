//! What can be wrong with a table, each as one sentence with the place and the remedy.

use std::path::PathBuf;

const NAMES_SHOWN: usize = 8;

/// Why a table cannot be read; `row` counts data rows and `line` counts lines of the file, from 1.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("{}: there is no such file; check the path", file.display())]
    Missing { file: PathBuf },
    #[error("{}: this is a folder, not a table; name a .csv, .tsv or .npy file", file.display())]
    Folder { file: PathBuf },
    #[error("{}: the file cannot be read ({reason}); check its permissions", file.display())]
    Unreadable { file: PathBuf, reason: String },
    #[error(
        "{}: {extension} is not supported; convert the table to .csv (commas), .tsv or .tab (tabs) or .npy (NumPy array)",
        file.display()
    )]
    Extension { file: PathBuf, extension: String },
    #[error("{}: the file is empty; it needs a line of column names and then one line per sample", file.display())]
    Empty { file: PathBuf },
    #[error("{}: there are column names but no data row; add one line per sample", file.display())]
    NoRows { file: PathBuf },
    #[error(
        "{}: no numeric column is left besides those given to --id and --labels; add numeric columns or name some with --columns",
        file.display()
    )]
    NoColumns { file: PathBuf },
    #[error(
        "{}: line {line}: the column name `{column}` is used for columns {first} and {second}; rename one of them",
        file.display()
    )]
    DuplicateColumn { file: PathBuf, line: usize, column: String, first: usize, second: usize },
    #[error(
        "{}: line {line}: column {position} has no name; name it, or remove the separator too many at that place on every line",
        file.display()
    )]
    UnnamedColumn { file: PathBuf, line: usize, position: usize },
    #[error(
        "{}: row {row} (line {line}): {expected} cells expected but {found} found; {remedy}",
        file.display()
    )]
    Ragged { file: PathBuf, row: usize, line: usize, expected: usize, found: usize, remedy: &'static str },
    #[error(
        "{}: row {row} (line {line}), column `{column}`: `{text}` is not a number; correct it, leave the cell empty if it is missing, or, if the column holds text, name it with --id or --labels or leave it out with --columns",
        file.display()
    )]
    Text { file: PathBuf, row: usize, line: usize, column: String, text: String },
    #[error(
        "{}: row {row} (line {line}), column `{column}`: `{text}` is one cell because cells are separated by {expected} in this kind of file, but it holds {found}; separate the cells by {expected} or change the extension (.csv for commas, .tsv for tabs)",
        file.display()
    )]
    Separator {
        file: PathBuf,
        row: usize,
        line: usize,
        column: String,
        text: String,
        expected: &'static str,
        found: &'static str,
    },
    #[error(
        "{}: row {row} (line {line}), column `{column}`: `{text}` is infinite or too large; give a finite number or leave the cell empty to mark it missing",
        file.display()
    )]
    Infinite { file: PathBuf, row: usize, line: usize, column: String, text: String },
    #[error(
        "{}: {place}: the text `{text}` is not UTF-8; save the file with UTF-8 encoding",
        file.display()
    )]
    NotUtf8 { file: PathBuf, place: String, text: String },
    #[error(
        "{}: {option} asks for the column `{name}`, which does not exist{hint}; the columns are {available}",
        file.display()
    )]
    UnknownColumn { file: PathBuf, option: &'static str, name: String, hint: String, available: String },
    #[error("{}: --columns names `{name}` twice; name each column once", file.display())]
    RepeatedSelection { file: PathBuf, name: String },

    #[error(
        "{}: {option} cannot be used because .npy files have no column names; leave it out or use a .csv file",
        file.display()
    )]
    NpyOption { file: PathBuf, option: &'static str },
    #[error(
        "{}: this is not a .npy file, since it does not begin with the NumPy signature; save the array with numpy.save or correct the extension",
        file.display()
    )]
    NpyMagic { file: PathBuf },
    #[error(
        "{}: .npy format version {major}.{minor} is not supported; save the array again with numpy.save",
        file.display()
    )]
    NpyVersion { file: PathBuf, major: u8, minor: u8 },
    #[error(
        "{}: the .npy header cannot be understood ({reason}); save the array again with numpy.save",
        file.display()
    )]
    NpyHeader { file: PathBuf, reason: &'static str },
    #[error(
        "{}: the file is cut short, with {found} bytes where {needed} are needed for {what}; copy or save it again",
        file.display()
    )]
    NpyTruncated { file: PathBuf, found: usize, needed: String, what: String },
    #[error(
        "{}: the array holds {kind} (dtype {dtype}), which cannot be used; save real numbers instead, for instance array.astype(float)",
        file.display()
    )]
    NpyType { file: PathBuf, kind: &'static str, dtype: String },
    #[error(
        "{}: the array has shape {shape}, but a table has two axes, rows by columns; {remedy}",
        file.display()
    )]
    NpyAxes { file: PathBuf, shape: String, remedy: &'static str },
    #[error(
        "{}: the array has shape {shape} and so holds no value; save one with at least one row and one column",
        file.display()
    )]
    NpyEmpty { file: PathBuf, shape: String },
    #[error(
        "{}: row {row}, column {column}: `{value}` is infinite; give a finite number or nan to mark it missing",
        file.display()
    )]
    NpyInfinite { file: PathBuf, row: usize, column: usize, value: f64 },
}

/// A text fit for a one-line message: no control characters and at most `limit` characters.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == limit {
            out.push('…');
            break;
        }
        out.push(if character.is_control() { ' ' } else { character });
    }
    out
}

/// The first few names, and how many more there are.
pub(super) fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(|n| format!("`{}`", shorten(n, 24))).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The name that was probably meant by `wanted`.
pub(super) fn closest<'a>(wanted: &str, names: &'a [String]) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(65).collect();
    // Short names are within a few edits of anything.
    let tolerance = (wanted.len() / 3).clamp(1, 3);
    names
        .iter()
        .filter(|n| n.len() <= 256)
        .map(|n| (edits(&wanted, n), n.as_str()))
        .filter(|(distance, n)| *distance <= tolerance && *distance < wanted.len().max(n.chars().count()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn edits(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut current = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = previous[j] + usize::from(x != y);
            current.push(replaced.min(previous[j + 1] + 1).min(current[j] + 1));
        }
        previous = current;
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn suggests_only_near_names() {
        let columns = names("species weight Height");
        assert_eq!(closest("specis", &columns), Some("species"));
        assert_eq!(closest("height", &columns), Some("Height"));
        assert_eq!(closest("country", &columns), None);
        assert_eq!(closest("x", &names("y z")), None);
        assert_eq!(closest("", &names("y")), None);
    }

    #[test]
    fn lists_and_shortens() {
        assert_eq!(list(&names("a b")), "`a`, `b`");
        assert!(list(&names("a b c d e f g h i j")).ends_with("`h` and 2 more"));
        assert_eq!(shorten("ab\ncd", 4), "ab c…");
        assert_eq!(shorten("abcd", 4), "abcd");
    }
}
