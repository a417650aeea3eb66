//! Good and bad text tables, and helpers shared by all tests of tables.

mod found;
mod frames;
mod fuzz;
mod gzip;
mod mtx;
mod npy;
mod npz;
mod seeds;
mod texts;
mod written;

use std::sync::atomic::{AtomicU64, Ordering};

use super::allowance::Allowance;
use super::*;
use crate::message::{Naming, render};
use std::fs;
use std::path::Path;

/// Settings as the program's flags.
struct Flags;

impl Naming for Flags {
    fn typed(&self, name: &str, value: Option<&str>) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || c == ',';
        match value {
            Some(value) if value.chars().all(is_plain) => format!("--{name} {value}"),
            Some(value) => format!("--{name} '{value}'"),
            None => format!("--{name}"),
        }
    }

    fn noun(&self, name: &str) -> String {
        name.into()
    }
}

/// The message of an error, with flags.
fn message(error: &TableError) -> String {
    render(&error.to_string(), &Flags)
}

/// A file that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(extension: &str, bytes: &[u8]) -> Self {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("rflvm-table-{}-{serial}.{extension}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// `--id a --labels b --columns c,d`, with a dash for an option not given.
fn options(id: &str, labels: &str, columns: &str) -> ReadOptions {
    let given = |text: &str| (text != "-").then(|| text.to_string());
    ReadOptions {
        id: given(id),
        labels: given(labels),
        columns: given(columns).map(|c| c.split(',').map(String::from).collect()),
        ..ReadOptions::default()
    }
}

fn load(extension: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, String> {
    let file = Scratch::new(extension, bytes.as_ref());
    read(&file.0, options).map_err(|e| {
        let sentence = message(&e);
        assert!(!sentence.contains('\n') && sentence.len() < 600, "{sentence}");
        let (path, rest) = sentence.split_once(": ").expect("the file comes first");
        assert_eq!(path, file.0.to_string_lossy());
        rest.to_string()
    })
}

fn plain(extension: &str, bytes: impl AsRef<[u8]>) -> Result<Table, String> {
    load(extension, bytes, &ReadOptions::default())
}

fn refused(extension: &str, bytes: impl AsRef<[u8]>, words: &str) {
    let sentence = plain(extension, bytes).unwrap_err();
    assert!(sentence.contains(words), "`{words}` is not in: {sentence}");
}

#[test]
fn reads_names_ids_labels_and_missing_values() {
    let text = "\u{feff}sample,\" a, b\",kind,c\r\ns1,1.5,x,2\r\n\r\ns2,,\"y \"\"z\"\"\",nAn\r\ns3,N/A,x,-1e3\r\n";
    let table = load("CSV", text, &options("sample", "kind", "-")).unwrap();
    assert_eq!(table.columns, ["a, b", "c"]);
    assert_eq!(table.ids, ["s1", "s2", "s3"]);
    assert_eq!(table.labels.unwrap(), ["x", "y \"z\"", "x"]);
    assert_eq!((table.rows, table.values[0], table.values[1]), (3, 1.5, 2.0));
    assert!(table.values[2].is_nan() && table.values[3].is_nan() && table.values[4].is_nan());
    assert_eq!(table.values[5], -1000.0);
}

#[test]
fn an_outline_has_everything_but_cells_in_every_format() {
    let mut tried = 0;
    for format in seeds::formats().iter().filter(|format| !format.packed) {
        for seed in &format.seeds {
            for options in [options("-", "-", "-"), options("id", "-", "-")] {
                let Ok(table) = load(format.extension, seed, &options) else { continue };
                let outline =
                    load(format.extension, seed, &ReadOptions { is_outline: true, ..options.clone() }).unwrap();
                // Which columns are words for yes and no is seen in their cells.
                let without =
                    |table: Table| Table { values: Vec::new(), truths: Vec::new(), path: PathBuf::new(), ..table };
                assert_eq!(without(outline), without(table.clone()), "{}", format.extension);
                // The last column alone.
                let last = table.columns.len() - 1;
                let some = ReadOptions { columns: Some(vec![table.columns[last].clone()]), ..options.clone() };
                let some = load(format.extension, seed, &some).unwrap();
                let expected = table.values.iter().skip(last).step_by(last + 1);
                assert!(
                    some.values.iter().map(|v| v.to_bits()).eq(expected.map(|v| v.to_bits())),
                    "{}",
                    format.extension
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 15, "{tried}");
}

#[test]
fn selects_columns_in_the_order_given() {
    let text = "name\tx\ty\tz\nu\t1\t2\t3\nv\t4\t5\t6\n";
    let table = load("tsv", text, &options("name", "name", "z,x")).unwrap();
    assert_eq!(table.columns, ["z", "x"]);
    assert_eq!(table.values, [3.0, 1.0, 6.0, 4.0]);
    assert_eq!(table.labels.as_deref(), Some(&table.ids[..]));
    assert_eq!(load("tab", text, &options("-", "-", "y")).unwrap().ids, ["1", "2"]);
}

#[test]
fn a_first_line_of_numbers_is_data() {
    let table = plain("csv", "1,2\n3,4").unwrap();
    assert_eq!((table.rows, table.named), (2, false));
    assert_eq!(table.columns, ["1", "2"]);
    assert!(plain("csv", "1,,na\n3,4,5").unwrap().values[1].is_nan());
    let sentence = load("csv", "1,2\n3,4", &options("name", "-", "-")).unwrap_err();
    assert!(sentence.contains("no line of names"), "{sentence}");
}

#[test]
fn a_first_column_without_name_holds_the_ids() {
    let text = ",0,1\nr1,5,6\nr2,7,8\n";
    let table = plain("csv", text).unwrap();
    assert_eq!(table.ids, ["r1", "r2"]);
    assert_eq!((table.columns.join(" "), table.named), ("0 1".to_string(), true));
    let table = load("csv", text, &options("0", "-", "-")).unwrap();
    assert_eq!((table.ids.join(" "), table.columns.join(" ")), ("5 7".into(), "1".into()));
}

#[test]
fn files_that_are_not_tables() {
    let at = |path: &str| read(Path::new(path), &ReadOptions::default()).unwrap_err();
    assert!(matches!(at("/no/such.csv"), TableError::Missing { .. }));
    assert!(matches!(at("/tmp"), TableError::Folder { .. }));
    assert!(matches!(at("-"), TableError::Pipe { .. }));
    #[cfg(unix)]
    assert!(matches!(at("/dev/null"), TableError::Pipe { .. }));
    assert!(matches!(at("/proc/self/mem"), TableError::Extension { .. }));
    let below = Scratch::new("csv", b"x");
    let path = below.0.join("x.csv");
    assert!(matches!(at(&path.to_string_lossy()), TableError::Unreadable { .. }));
    refused("xlsx", "x", "the extension .xlsx is not supported; convert the table to .csv");
    for extension in ["csv", "tsv", "npy", "npz", "parquet", "arrow", "mtx", "csv.gz"] {
        refused(extension, "", "the file is empty");
    }
    refused("csv", "\n\r\n", "the file is empty");
    refused("npy.gz", "x", "the extension .npy.gz is not supported");
}

#[test]
fn csv_errors_name_the_place_and_the_remedy() {
    refused("csv", "a,b\n", "no data row");
    refused("csv", "a,b,a\n1,2,3", "line 1: the column name `a` is used for columns 1 and 3");
    refused("csv", "a,b,\n1,2,3", "line 1: column 3 has no name");
    refused("csv", "a,b\n1,2\n\n\n3\n", "row 2 (line 5): 2 cells expected but 1 found");
    refused("csv", "a,b\r\n1,2\r\n3,4,5\r\n", "row 2 (line 3): 2 cells expected but 3 found");
    refused("csv", "a,b\rr,1,2\r", "row 1 (line 2): 2 cells expected but 3 found; if each row begins");
    refused(
        "csv",
        "a,b\n1,2\n3,Boston Massachusetts and far beyond it\n",
        "row 2 (line 3), column `b`: `Boston Massachusetts and far bey…` is not a number; correct it",
    );
    refused("csv", "a,b\n\"1\n\",2\n3,x\n", "row 2 (line 4), column `b`: `x`");
    refused("csv", "a\n1\n-Inf\n", "row 2 (line 3), column `a`: `-Inf` is infinite");
    refused("csv", "a\n1e999\n", "`1e999` is infinite or too large");
    refused("csv", b"a,b\n1,\xff\n", "row 1 (line 2), column `b`: the text `\u{fffd}` is not UTF-8");
    refused("csv", b"\xff\xfea\0,\0", "text in UTF-16 or UTF-32; save it with UTF-8 encoding");
    let sentence = load("csv", "a\n1\n", &options("a", "-", "-")).unwrap_err();
    assert!(sentence.contains("no column is left to fit"), "{sentence}");
}

#[test]
fn unknown_columns_are_listed_and_guessed() {
    let text = "species,c1,c2,c3,c4,c5,c6,c7,c8\na,1,2,3,4,5,6,7,8\n";
    let ask = |options| load("csv", text, &options).unwrap_err();
    assert_eq!(
        ask(options("-", "Specis", "-")),
        "--labels names the column `Specis`, which does not exist (did you mean `species`?); \
         the columns are `species`, `c1`, `c2`, `c3`, `c4`, `c5`, `c6`, `c7` and 1 more"
    );
    assert!(ask(options("country", "-", "-")).contains("--id names the column `country`, which does not exist; the"));
    assert!(ask(options("-", "-", "c1,q")).starts_with("--columns names"));
    assert!(ask(options("-", "-", "c1,c2,c1")).contains("names `c1` twice"));
    assert!(ask(options("-", "-", "")).contains("which does not exist"));
}

#[test]
fn offsets_times_and_sequences_are_kept_apart() {
    let text = "t,a,who,o\n2020-01-01,1,x,0.5\n,2,y,-1\n";
    let mut asked = ReadOptions {
        offset: Some("o".into()),
        time: Some("t".into()),
        sequence: Some("who".into()),
        ..options("-", "-", "-")
    };
    let table = load("csv", text, &asked).unwrap();
    assert_eq!((table.columns.join(" "), &table.values[..]), ("a".to_string(), &[1.0, 2.0][..]));
    assert_eq!(table.offset.unwrap(), [0.5, -1.0]);
    assert_eq!(table.time.unwrap(), ["2020-01-01", ""]);
    assert_eq!(table.sequence.unwrap(), ["x", "y"]);
    for bad in ["NA", "", "inf", "x"] {
        let sentence = load("csv", text.replace("-1", bad), &asked).unwrap_err();
        let words = format!("row 2 (line 3), column `o`: the offset `{bad}` is not a finite number");
        assert!(sentence.contains(&words), "{sentence}");
    }
    asked.time = Some("T".into());
    assert!(load("csv", text, &asked).unwrap_err().starts_with("--time names the column `T`, which does not exist"));
}

#[test]
fn an_implausible_size_is_refused() {
    let allowance = Allowance::new(Path::new("x.mtx"), 100);
    assert!(allowance.cells(1_000, 1_000).is_ok());
    assert_eq!(
        message(&allowance.cells(1_000_000, 1_000_000).unwrap_err()),
        "x.mtx: the table needs 8.0 TB of memory for 1000000 rows × 1000000 columns, but a file of 100 bytes cannot hold \
         that much; choose fewer columns with --columns, or split the table"
    );
    assert!(allowance.cells(u64::MAX, u64::MAX).is_err());
    let vast = message(&Allowance::new(Path::new("x.mtx"), 1 << 60).cells(1 << 28, 1 << 28).unwrap_err());
    assert!(vast.contains("is free; choose fewer columns"), "{vast}");
}
