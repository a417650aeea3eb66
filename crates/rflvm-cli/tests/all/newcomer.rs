//! Wrong first attempts, and where the messages lead: to a fit, in at most two more commands.
//!
//! The tests do not know the remedy: they take the flags, or the whole command, from the program's messages.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Short runs, for tests.
const QUICK: &str = "--features 8 --chains 2 --warmup 6 --draws 4 --seed 1";

/// Runs a command line, split as by a shell.
fn shell(dir: &Path, line: &str) -> (bool, String, String) {
    let line = line.replacen("rflvm", &format!("'{}'", env!("CARGO_BIN_EXE_rflvm")), 1);
    let output = Command::new("sh").current_dir(dir).args(["-c", &line]).output().unwrap();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// The first attempt fails with one sentence, which is returned.
fn fails(dir: &Path, line: &str) -> String {
    let (is_done, _, said) = shell(dir, line);
    assert!(!is_done && said.trim_end().lines().count() == 1, "{line}: {said}");
    println!("$ {line}\n{}", said.trim_end());
    said
}

fn fits(dir: &Path, line: &str) {
    let (is_done, _, said) = shell(dir, line);
    assert!(is_done && dir.join("fit/embedding.csv").exists(), "{line}: {said}");
    println!("$ {line}\n{}", said.trim_end().lines().last().unwrap_or_default());
}

/// The flag called `name` with its value, as in the sentence.
fn flag<'a>(said: &'a str, name: &str) -> &'a str {
    let start = said.find(name).unwrap_or_else(|| panic!("{name} is not in: {said}"));
    let end = said[start..].find([';', ',', '(', '\n']).map_or(said.len(), |end| start + end);
    said[start..end].trim_end()
}

#[test]
fn a_european_csv() {
    let dir = folder("european");
    let line = |n: u32| format!("{},5;{},25;-{},75\n", n % 7, n * 3 % 11, n * 5 % 13);
    fs::write(dir.join("t.csv"), (0..20).map(line).fold("x;y;z\n".to_string(), |all, line| all + &line)).unwrap();
    let said = fails(&dir, &format!("rflvm fit t.csv --likelihood gaussian {QUICK} --out fit"));
    let flags = said.split("; try ").nth(1).unwrap().trim();
    fits(&dir, &format!("rflvm fit t.csv --likelihood gaussian {flags} {QUICK} --out fit"));
    assert!(fs::read_to_string(dir.join("fit/config.toml")).unwrap().contains("separator = \";\"\ndecimal = \",\""));
    // The fit is opened again, though its copy of the table is written in another way.
    let (is_done, _, said) = shell(&dir, "rflvm transform fit t.csv --out placed.csv");
    assert!(is_done, "{said}");
}

#[test]
fn categories_as_text() {
    let dir = folder("text");
    let line = |n: usize| format!("{},{},{}\n", n * 7 % 5, ["oak", "elm", "fir"][n * 5 % 3], n as f64 * 0.3 - 2.0);
    fs::write(dir.join("t.csv"), (0..24).map(line).fold("count,tree,height\n".into(), |all: String, l| all + &l))
        .unwrap();
    let said = fails(&dir, &format!("rflvm fit t.csv --likelihood gaussian {QUICK} --out fit"));
    let flag = flag(&said, "--likelihood auto");
    fits(&dir, &format!("rflvm fit t.csv {flag} {QUICK} --out fit"));
    let blocks = fs::read_to_string(dir.join("fit/blocks.csv")).unwrap();
    assert_eq!(blocks, "column,likelihood,block\ncount,poisson,\ntree,multinomial,tree\nheight,gaussian,\n");
}

#[test]
fn dates_without_time() {
    let dir = folder("dates");
    let line = |n: usize| format!("2021-03-{:02},{},{}\n", n + 1, n * 7 % 5, n * 3 % 8);
    fs::write(dir.join("t.csv"), (0..20).map(line).fold("day,a,b\n".into(), |all: String, l| all + &l)).unwrap();
    let said = fails(&dir, &format!("rflvm fit t.csv --likelihood poisson {QUICK} --out fit"));
    let flag = flag(&said, "--time day");
    fits(&dir, &format!("rflvm fit t.csv --likelihood poisson {flag} {QUICK} --out fit"));
    assert!(fs::read_to_string(dir.join("fit/embedding.csv")).unwrap().contains("2021-03-01"));
}

/// Names, dates, yes/no, categories, counts, numbers with a word for missing ones, and an empty column.
fn mixed() -> String {
    let mut table = String::from("patient,seen on,sex,smoker,visits,pressure,empty\n");
    for n in 0..30 {
        let (sex, smoker) = (["f", "m"][n % 2], ["yes", "no", "yes"][n * 5 % 3]);
        let pressure = if n == 4 { "?".into() } else { format!("{:.1}", 100.0 + (n * 13 % 29) as f64 * 1.1) };
        table.push_str(&format!("p{n},2020-01-{:02},{sex},{smoker},{},{pressure},\n", n + 1, n * 7 % 6));
    }
    table
}

#[test]
fn a_mixed_table() {
    let dir = folder("mixed");
    fs::write(dir.join("my table.csv"), mixed()).unwrap();
    // Without a family, or with one for all columns, the message names `rflvm doctor`, whose last line is the command.
    let said = fails(&dir, "rflvm fit 'my table.csv' --out fit");
    assert!(said.contains("rflvm doctor"), "{said}");
    let said = fails(&dir, "rflvm fit 'my table.csv' --likelihood gaussian --out fit");
    let doctor = said.split('`').find(|part| part.starts_with("rflvm doctor")).unwrap();
    for (more, blocks) in [("", false), (" --blocks-out families.csv", true)] {
        let line = format!("{doctor} --latent-dim 1 {QUICK}{more}");
        let (is_done, told, said) = shell(&dir, &line);
        assert!(is_done, "{said}");
        println!("$ {line}\n{}", told.trim_end());
        let next = told.lines().last().unwrap().strip_prefix("next: ").unwrap();
        for flag in
            ["--id patient", "--time 'seen on'", "--na '?'", "--without empty", "--latent-dim 1", "my table.csv' "]
        {
            assert!(next.contains(flag), "{flag}: {next}");
        }
        assert_eq!((next.contains("--blocks families.csv"), next.contains("--likelihood auto")), (blocks, !blocks));
        fits(&dir, next);
        let blocks = fs::read_to_string(dir.join(if blocks { "families.csv" } else { "fit/blocks.csv" })).unwrap();
        let families = "sex,multinomial,sex\nsmoker,bernoulli,\nvisits,poisson,\npressure,gaussian,\n";
        assert_eq!(blocks, format!("column,likelihood,block\n{families}"));
        fs::remove_dir_all(dir.join("fit")).unwrap();
    }
}

#[test]
fn a_table_of_one_column() {
    let dir = folder("one");
    let cells: String = (0..20).map(|n| format!("{}\n", n * 7 % 5)).collect();
    fs::write(dir.join("t.csv"), format!("a\n{cells}")).unwrap();
    let said = fails(&dir, &format!("rflvm fit t.csv --likelihood poisson {QUICK} --out fit"));
    let flag = flag(&said, "--latent-dim 1");
    fits(&dir, &format!("rflvm fit t.csv --likelihood poisson {flag} {QUICK} --out fit"));
    let told = text(&good(&dir, &["doctor", "t.csv"]).stdout);
    assert!(told.contains("next: rflvm fit t.csv --likelihood poisson --latent-dim 1 --out fit-2"), "{told}");
    // One line per remark, with line breaks that are line breaks.
    assert!(told.lines().any(|line| line.starts_with("columns  hold")) && !told.contains("\\n"), "{told}");
}

#[test]
fn tables_that_cannot_be_fitted_say_why() {
    let dir = folder("none");
    for (table, words) in [
        ("a,b\n1,2\n", "at least 2 rows"),
        ("a,b\nx,y\nz,w\nu,v\n", "no column can be fitted"),
        ("a\n30/05/2001\n31/05/2001\n", "no column can be fitted"),
    ] {
        fs::write(dir.join("t.csv"), table).unwrap();
        let output = rflvm(&dir, &["doctor", "t.csv"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words) && said.trim_end().lines().count() == 1, "{said}");
        assert!(text(&output.stdout).contains("rows × "), "the contents are reported anyway");
    }
    fs::write(dir.join("t.csv"), "a,b\n1,2\n").unwrap();
    let said = fails(&dir, "rflvm fit t.csv --likelihood auto --out fit");
    assert!(said.contains("at least 2 rows") && said.contains("transpose"), "{said}");
    fs::write(dir.join("t.csv"), "a,b\nx,y\nz,w\nu,v\n").unwrap();
    let said = fails(&dir, "rflvm fit t.csv --likelihood auto --out fit");
    assert!(said.contains("--id a"), "{said}");
}

#[test]
fn a_first_line_of_numbers_is_names_or_refused() {
    let dir = folder("heading");
    let row =
        |n: usize| format!("{:.2},{:.2},{:.2}\n", (n as f64).sin(), (n as f64 * 0.7).cos(), n as f64 * 0.13 - 1.0);
    let rows: String = (0..20).map(row).collect();
    for first in ["0,1,2", "1990,1991,1992"] {
        fs::write(dir.join("t.csv"), format!("{first}\n{rows}")).unwrap();
        let line = format!("rflvm fit t.csv --likelihood gaussian {QUICK} --out fit --overwrite -q");
        let (is_done, _, said) = shell(&dir, &line);
        assert!(is_done && said.contains("is read as the names of the columns"), "{said}");
        assert!(fs::read_to_string(dir.join("fit/embedding.csv")).unwrap().lines().count() == 21);
        let (_, told, _) = shell(&dir, &format!("rflvm doctor t.csv {QUICK}"));
        assert!(told.starts_with("the first line (") && told.contains("20 rows × 3 columns"), "{told}");
        // The same file as new rows.
        let (is_done, _, said) = shell(&dir, "rflvm transform fit t.csv --out p.csv");
        assert!(is_done && fs::read_to_string(dir.join("p.csv")).unwrap().lines().count() == 21, "{said}");
    }
    let counts: String = (0..20).map(|n| format!("{},{},{}\n", n % 7, n % 5, n % 9)).collect();
    fs::write(dir.join("t.csv"), format!("0,1,2\n{counts}")).unwrap();
    let said = fails(&dir, &format!("rflvm fit t.csv --likelihood poisson {QUICK} --out other"));
    assert!(said.contains("may name the columns or be a row") && said.contains("such as c0"), "{said}");
    assert!(!dir.join("other").exists());
    fs::write(dir.join("t.csv"), format!("3,1,2\n{counts}")).unwrap();
    let (is_done, _, said) = shell(&dir, &format!("rflvm fit t.csv --likelihood poisson {QUICK} --out other"));
    assert!(is_done && said.contains("does not name its columns") && said.contains("21 rows × 3 columns"), "{said}");
}

#[test]
fn files_under_a_wrong_name_are_named_for_what_they_are() {
    let dir = folder("wrong");
    let utf16: Vec<u8> = "\u{feff}a,b\n1,2\n3,4\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, words) in [
        (&b"\x1f\x8b\x08\x00\x00\x00"[..], ["is compressed by gzip", "append .gz"]),
        (&utf16, ["text in UTF-16", "save it with UTF-8 encoding"]),
        (&utf16[2..], ["text in UTF-16", "save it with UTF-8 encoding"]),
        (b"PK\x03\x04abc", ["an Excel workbook", "save the sheet as .csv"]),
        (b"PAR1abcd", ["is Parquet", ".parquet"]),
    ] {
        fs::write(dir.join("t.csv"), bytes).unwrap();
        let said = fails(&dir, "rflvm fit t.csv --likelihood gaussian --out fit");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    fs::write(dir.join("my cells.h5ad"), b"\x89HDF").unwrap();
    let said = fails(&dir, "rflvm fit 'my cells.h5ad' --likelihood poisson --out fit");
    for part in [
        "convert it with `python -c \"import anndata",
        "write_zarr(sys.argv[2])\" '",
        "/my cells.h5ad' '",
        "/my cells.zarr'`",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn numbers_that_cannot_be_held_are_refused() {
    let dir = folder("scale");
    fs::write(dir.join("t.csv"), "user,a\n1234567890123456789,2\n1234567890123456790,3\n1234567890123456791,1\n")
        .unwrap();
    let said = fails(&dir, "rflvm fit t.csv --likelihood gaussian --out fit");
    assert!(said.contains("row 1 (line 2), column `user`") && said.contains("beyond 2^53"), "{said}");
    assert!(said.contains("--id"), "{said}");
    fits(&dir, &format!("rflvm fit t.csv --likelihood gaussian --id user --latent-dim 1 {QUICK} --out fit"));
    assert!(fs::read_to_string(dir.join("fit/embedding.csv")).unwrap().contains("\n1234567890123456791,"));
    fs::write(dir.join("t.csv"), "a,b\n1e-170,2\n3e-170,3\n2e-170,1\n").unwrap();
    let said = fails(&dir, "rflvm fit t.csv --likelihood gaussian --out other");
    assert!(said.contains("column 'a'") && said.contains("too small to compute with; rescale"), "{said}");
}

#[test]
fn names_with_commas_can_be_typed_and_columns_have_one_role() {
    let dir = folder("roles");
    let rows: String = (0..12).map(|n| format!("{n},{},{},{}\n", n % 5, n * 7 % 4, n * 3 % 8)).collect();
    fs::write(dir.join("t.csv"), format!("id,age,\"a,b\",c\n{rows}")).unwrap();
    let fit = |more: &str| {
        format!("rflvm fit t.csv --likelihood poisson --latent-dim 1 {QUICK} --out fit --overwrite {more}")
    };
    fits(&dir, &fit("--id id --columns '\"a,b\",c'"));
    assert!(fs::read_to_string(dir.join("fit/config.toml")).unwrap().contains("columns = [\"a,b\", \"c\"]"));
    fits(&dir, &fit("--id id --without '\"a,b\"'"));
    let said = fails(&dir, &fit("--columns a,b"));
    assert!(said.contains("in double quotes"), "{said}");
    for (more, words) in [("--covariates age --columns age,c", "--covariates"), ("--id c --columns c,age", "--id")] {
        let said = fails(&dir, &fit(more));
        assert!(said.contains("--columns names") && said.contains(words), "{said}");
    }
    let (_, _, said) = shell(&dir, "rflvm predict fit --rows 5 --out p.csv");
    assert!(said.contains("row 5 is the one named `4`; the row named `5` is row 6"), "{said}");
}

/// The cost of a wide table is known from some of its columns.
#[test]
fn the_doctor_times_some_columns_of_a_large_table() {
    let dir = folder("large");
    let line = |n: usize| (0..400).map(|j| ((n * (j + 3)) % 7).to_string()).collect::<Vec<String>>().join(",") + "\n";
    let names = (0..400).map(|j| format!("g{j}")).collect::<Vec<String>>().join(",");
    fs::write(dir.join("t.csv"), names + "\n" + &(0..1000).map(line).collect::<String>()).unwrap();
    let told = text(&good(&dir, &["doctor", "t.csv", "--likelihood", "poisson", "--features", "4"]).stdout);
    assert!(told.contains("(timed on 64 of 400 columns)") && told.contains("memory: about"), "{told}");
}
