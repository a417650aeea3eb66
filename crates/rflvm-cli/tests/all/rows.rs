//! Rows are counted from 1 wherever the program numbers them: in files, flags, messages and help.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::Path;

/// Twelve rows named r1 to r12, the second with a missing cell, and times in two sequences.
fn table() -> String {
    let row = |n: u32| {
        let hole = if n == 2 { String::new() } else { (n * 3 % 7).to_string() };
        format!("r{n},{},{},{hole},{},{}\n", n / 2, n % 2, n % 4 + 1, n * n % 5)
    };
    format!("name,day,run,a,b,c\n{}", (1..=12).map(row).collect::<String>())
}

fn fit(dir: &Path) {
    fs::write(dir.join("t.csv"), table()).unwrap();
    let flags = ["fit", "t.csv", "--id", "name", "--time", "day", "--sequence", "run", "--likelihood", "poisson", "-q"];
    let run = ["--features", "6", "--chains", "2", "--warmup", "5", "--draws", "5", "--seed", "1", "--out", "o"];
    good(dir, &[&flags[..], &run[..]].concat());
}

/// The first cell of each line below the header, without successive repetitions.
fn first_cells(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut cells: Vec<String> = text.lines().skip(1).map(|l| l.split(',').next().unwrap().to_string()).collect();
    cells.dedup();
    cells
}

#[test]
fn the_first_row_is_row_1() {
    let dir = folder("first");
    fit(&dir);
    let ask = |question: &str| {
        good(&dir, &question.split(' ').collect::<Vec<_>>());
    };
    let bytes = |file: &str| fs::read(dir.join(file)).unwrap();
    assert_eq!(first_cells(&dir.join("o/imputed.csv")), ["2"]);
    // Numbers and names select the same rows, and results use numbers.
    ask("predict o --rows 1,2-3,12 --out numbers.csv");
    ask("predict o --rows r1,r2,r3,r12 --out names.csv");
    assert_eq!(first_cells(&dir.join("numbers.csv")), ["1", "2", "3", "12"]);
    assert!(bytes("numbers.csv") == bytes("names.csv"));
    ask("predict o --path 1,12 --steps 3 --out numbers.csv");
    ask("predict o --path r1,r12 --steps 3 --out names.csv");
    assert_eq!(first_cells(&dir.join("numbers.csv")), ["1", "2", "3"]);
    assert!(bytes("numbers.csv") == bytes("names.csv"));
    ask("kernel o --out k.csv --matrix numbers.npy --rows 2-3");
    ask("kernel o --out k.csv --matrix names.npy --rows r2,r3 --overwrite");
    assert!(bytes("numbers.npy") == bytes("names.npy"));
    ask("transform o t.csv --out placed.csv --draws 2");
    let rows: Vec<String> = (1..=12).map(|n| n.to_string()).collect();
    assert_eq!(first_cells(&dir.join("placed-draws.csv")), rows);
    ask("export o --what x --out x.csv");
    let x = fs::read_to_string(dir.join("x.csv")).unwrap();
    assert!(x.lines().nth(1).unwrap().starts_with("1,1,1,1,") && x.lines().last().unwrap().starts_with("2,5,12,2,"));
    ask("map t.csv --id name --columns a,b,c --likelihood poisson --features 6 --seed 1 -q --out m");
    assert_eq!(first_cells(&dir.join("m/imputed.csv")), ["2"]);
}

#[test]
fn there_is_no_row_0() {
    let dir = folder("zero");
    fit(&dir);
    for question in
        ["predict o --rows 0", "predict o --rows 13", "predict o --path 0,3", "kernel o --matrix k.npy --rows 0"]
    {
        let output = rflvm(&dir, &format!("{question} --out a.csv").split(' ').collect::<Vec<_>>());
        let said = text(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains("counted from 1") && said.contains("1 to 12"),
            "{said}"
        );
    }
    for command in ["impute", "predict", "transform", "kernel", "export"] {
        // Help is wrapped to the width of the terminal.
        let help = text(&good(&dir, &[command, "--help"]).stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("counted from 1") && !help.contains("counted from 0"), "{command}: {help}");
    }
}
