//! Tables and folders whose names and cells look like formulas, or contain escape sequences for terminals.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::Path;

const RUN: [&str; 11] =
    ["--likelihood", "poisson", "--features", "6", "--chains", "2", "--warmup", "4", "--draws", "4", "-q"];

/// Ids, labels, sequences and a column that spreadsheets would run, negative times, one missing cell.
fn table() -> String {
    let row = |n: i32| {
        let hole = if n == 3 { String::new() } else { (n * 3 % 7).to_string() };
        format!("=cmd({n}),@label,{},+run{},{hole},{}\n", n - 6, n % 2, n % 4 + 1)
    };
    format!("id,kind,time,run,=a,b\n{}", (1..=12).map(row).collect::<String>())
}

fn fit(dir: &Path) {
    fs::write(dir.join("t.csv"), table()).unwrap();
    let flags =
        ["fit", "t.csv", "--id", "id", "--labels", "kind", "--time", "time", "--sequence", "run", "--seed", "1"];
    good(dir, &[&flags[..], &RUN[..], &["--out", "o"]].concat());
}

/// Every cell of a .csv file.
fn cells(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().map(|line| line.unwrap().iter().map(String::from).collect()).collect()
}

#[test]
fn texts_are_written_as_they_are_read() {
    let dir = folder("back");
    fit(&dir);
    good(&dir, &["impute", "o", "--out", "full.csv", "--draws", "1"]);
    let (table, full) = (cells(&dir.join("t.csv")), cells(&dir.join("full-1.csv")));
    for (own, full) in table.iter().zip(&full) {
        for (own, full) in own.iter().zip(full) {
            assert!(own == full || own.is_empty(), "{own} became {full}");
        }
    }
    let embedding = cells(&dir.join("o/embedding.csv"));
    assert_eq!(embedding[1][..4], ["=cmd(1)", "@label", "-5", "+run1"]);
    // The completed table can be used with the fit.
    good(&dir, &["transform", "o", "full-1.csv", "--out", "placed.csv"]);
    for (placed, known) in cells(&dir.join("placed.csv"))[1..].iter().zip(&embedding[1..]) {
        assert_eq!(placed[..4], known[..4]);
    }
    good(&dir, &["predict", "o", "--rows", "=cmd(3)", "--out", "p.csv"]);
}

#[test]
fn a_terminal_receives_no_escape_sequences() {
    let dir = folder("terminal");
    let name = "bad\u{1b}[31m\nname";
    let escaped = "bad\\u{1b}[31m\\nname";
    let fold = dir.join(name);
    fs::create_dir_all(&fold).unwrap();
    fs::write(fold.join("t.csv"), format!("\"{name}\",b\n1,x\n2,3\n3,4\n")).unwrap();
    fs::write(fold.join("named.csv"), format!("\"{name}\",b\n1,2\nx,3\n3,4\n")).unwrap();
    fs::write(fold.join("good.csv"), "a,b\n1,2\n2,3\n3,4\n").unwrap();
    let table = format!("{name}/t.csv");
    let fit = |file: &str, out: &str| {
        [&["fit", file], &RUN[..8], &["--out", out]].concat().into_iter().map(String::from).collect::<Vec<_>>()
    };
    let good_table = format!("{name}/good.csv");
    let deep = format!("{name}/o");
    for (arguments, is_shown) in [
        (fit(&table, "o"), true),
        (fit(&format!("{name}/none.csv"), "o"), true),
        (fit(&good_table, &deep), true),
        (fit(&good_table, &deep), true),
        (vec!["summary".into(), deep.clone()], false),
        (vec!["summary".into(), name.into()], true),
        (vec!["predict".into(), deep.clone(), "--rows".into(), name.into(), "--out".into(), "p.csv".into()], true),
        (
            vec!["predict".into(), deep.clone(), "--rows".into(), "1".into(), "--out".into(), format!("{name}/p.csv")],
            true,
        ),
        (vec!["doctor".into(), good_table.clone()], true),
        // Messages of the command-line parser.
        (vec!["fit".into(), format!("--{name}")], true),
        (vec![name.into()], true),
    ] {
        let output = rflvm(&dir, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let said = text(&output.stdout) + &text(&output.stderr);
        let is_harmless = |c: char| !c.is_control() || c == '\n';
        assert!(said.chars().all(is_harmless) && !said.contains("[31m\n"), "{arguments:?}: {said:?}");
        assert!(!is_shown || said.contains(escaped), "{arguments:?}: {said:?}");
    }
    // The name of a column, in a shortened message.
    let output = rflvm(&dir, &fit(&format!("{name}/named.csv"), "o").iter().map(String::as_str).collect::<Vec<_>>());
    let said = text(&output.stderr);
    assert!(said.contains(&format!("column `{escaped}`")), "{said:?}");
}
