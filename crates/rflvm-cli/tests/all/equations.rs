//! docs/model.md names files and functions of equations, and tests of errata: all of them must exist.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The cells of the rows of the table in a section of docs/model.md, without its header.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let document = fs::read_to_string(root().join("docs/model.md")).unwrap();
    let section = document.split("\n## ").find(|section| section.starts_with(heading));
    let lines = section.unwrap_or_else(|| panic!("no section {heading}")).lines().filter(|l| l.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        // An escaped bar is part of a cell.
        let line = line.replace("\\|", "\u{1}");
        line.trim_matches('|').split('|').map(|c| c.trim().replace('\u{1}', "|")).collect()
    };
    lines.map(cells).filter(|c| !c[0].starts_with("---")).skip(1).collect()
}

#[test]
fn every_equation_is_where_the_table_says() {
    let table = rows("Equations in the code");
    assert!(table.len() > 20);
    for row in table {
        let source = fs::read_to_string(root().join(&row[1])).unwrap_or_else(|_| panic!("{} does not exist", row[1]));
        let name = row[2].trim_matches('`');
        let defined = ["fn ", "struct ", "trait "].iter().any(|kind| {
            source.match_indices(&format!("{kind}{name}")).any(|(at, found)| {
                let next = source[at + found.len()..].chars().next();
                !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        });
        assert!(defined, "{} does not define {name}", row[1]);
    }
}

#[test]
fn every_erratum_has_its_test() {
    let table = rows("Errata");
    assert!(table.len() > 8);
    for row in table {
        let cell = row.last().unwrap();
        let Some((file, test)) = cell.trim_matches('`').split_once("::") else { panic!("no file::test in {cell}") };
        let source = fs::read_to_string(root().join(file)).unwrap_or_else(|_| panic!("{file} does not exist"));
        assert!(source.contains(&format!("fn {test}(")), "{file} has no test {test}");
    }
}
