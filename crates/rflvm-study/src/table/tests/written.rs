//! Text tables with other separators and decimal marks, and lines that never end.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

fn written(separator: &str, decimal: &str, na: &str) -> ReadOptions {
    ReadOptions {
        separator: (separator != "-").then(|| separator.parse().unwrap()),
        decimal: (decimal != "-").then(|| decimal.parse().unwrap()),
        na: na.split(',').filter(|word| *word != "-").map(String::from).collect(),
        ..ReadOptions::default()
    }
}

const EUROPEAN: &str = "id;a;b\nx;1,5;2\ny;-3,25;NA\nz;0,5;k.A.\n";

#[test]
fn a_european_table_is_recognised_and_read() {
    refused(
        "csv",
        EUROPEAN,
        "the cells seem to be separated by semicolons with decimal commas; try --separator ';' --decimal ,",
    );
    let options = ReadOptions { id: Some("id".into()), ..written(";", ",", "k.A.") };
    let table = load("csv", EUROPEAN, &options).unwrap();
    assert_eq!(table.columns, ["a", "b"]);
    assert_eq!((table.values[0], table.values[1], table.values[2]), (1.5, 2.0, -3.25));
    assert!(table.values[3].is_nan() && table.values[5].is_nan());
    // Each of the flags alone leads to the other.
    let half = load("csv", EUROPEAN, &written(";", "-", "-")).unwrap_err();
    assert_eq!(half, "its numbers seem to have decimal commas; try --decimal ,");
    let half = load("csv", EUROPEAN, &written("-", ",", "-")).unwrap_err();
    assert_eq!(half, "the cells seem to be separated by semicolons; try --separator ';'");
    // In quotation marks, commas can be decimal marks in a comma-separated file.
    let quoted = "a,b\n\"1,5\",2\n\"0,25\",3\n";
    refused("csv", quoted, "its numbers seem to have decimal commas; try --decimal ,");
    assert_eq!(load("csv", quoted, &written("-", ",", "-")).unwrap().values, [1.5, 2.0, 0.25, 3.0]);
    refused("csv", "a,b\n\"1,234\",5\n\"22,500\",6\n", "a number with thousands separators");
}

#[test]
fn other_separators_are_named_in_the_message() {
    refused("csv", "a;b\n1;2\n", "the cells seem to be separated by semicolons; try --separator ';'");
    refused("csv", "a\tb\n1\t2\n", "the cells seem to be separated by tabs; try --separator tab");
    refused("csv", "a|b\n1|2\n", "the cells seem to be separated by vertical bars; try --separator '|'");
    refused("tsv", "a,b\n1,2\n", "the cells seem to be separated by commas; try --separator ,");
    refused("tsv", "a\tb\n1,5\t2,5\n", "its numbers seem to have decimal commas; try --decimal ,");
    // Only numbers, without a line of names.
    refused("csv", "1,5;2,5\n3,5;4,5\n", "semicolons with decimal commas");
    assert_eq!(load("txt", "a b\n1 2\n", &written("space", "-", "-")).unwrap().values, [1.0, 2.0]);
    refused("txt", "a b\n1 2\n", "give the separator of a text file with --separator");
    // No hints for good tables, whatever their cells hold.
    assert_eq!(plain("csv", "a,\"b;c;d\"\n1,2\n").unwrap().columns, ["a", "b;c;d"]);
    assert_eq!(plain("csv", "a\n1\n2\n").unwrap().columns, ["a"]);
    let options = ReadOptions { labels: Some("b".into()), ..ReadOptions::default() };
    assert_eq!(load("csv", "a,b\n1,x;1;2\n2,y;3;4\n", &options).unwrap().values, [1.0, 2.0]);
    for (extension, flag) in [("npy", "--separator"), ("mtx", "--decimal"), ("parquet", "--na")] {
        let options = [written(";", "-", "-"), written("-", ",", "-"), written("-", "-", "x")];
        let each = ["--separator", "--decimal", "--na"].iter().position(|own| *own == flag).unwrap();
        let sentence = load(extension, "x", &options[each]).unwrap_err();
        assert_eq!(sentence, format!("{flag} applies only to text tables, and this file is not one; omit it"));
    }
}

/// `start`, followed by megabytes of one byte, compressed.
fn endless(start: &str, byte: u8, megabytes: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(start.as_bytes()).unwrap();
    let piece = vec![byte; 1 << 20];
    (0..megabytes).for_each(|_| encoder.write_all(&piece).unwrap());
    encoder.finish().unwrap()
}

#[test]
fn an_endless_line_is_not_held_in_memory() {
    for (start, row) in [("", 0), ("a,b\n1,2\n", 1), ("a,b\n1,2\n3,\"", 1)] {
        let sentence = plain("csv.gz", endless(start, b'0', 40)).unwrap_err();
        let words = format!("the line after {row} rows is longer than 32 MiB");
        assert!(sentence.starts_with(&words), "{sentence}");
    }
    let header = "%%MatrixMarket matrix coordinate real general\n";
    for start in ["", header, &format!("{header}2 2 1\n1 1 ")] {
        let sentence = plain("mtx.gz", endless(start, b'0', 4)).unwrap_err();
        assert!(sentence.contains("is longer than a million characters"), "{sentence}");
    }
}
