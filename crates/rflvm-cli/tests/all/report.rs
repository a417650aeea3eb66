//! `rflvm report` and `rflvm plot`: files that the program writes. What the page does is tested in a browser, with the Python package.

use crate::common::{files, folder, good, refused, text};
use std::fs;
use std::io::Write;
use std::path::Path;

const RUN: [&str; 11] = ["--features", "6", "--chains", "2", "--warmup", "4", "--draws", "6", "--seed", "1", "-q"];

/// Twenty rows of two sequences, with a hole.
fn table(dir: &Path) {
    let row = |n: u32| {
        format!(
            "{},{},{},{},{}\n",
            n / 2,
            ["a", "b"][(n % 2) as usize],
            n * 3 % 7,
            if n == 5 { String::new() } else { (n % 4).to_string() },
            n * n % 5
        )
    };
    fs::write(dir.join("t.csv"), format!("t,run,<i>one</i>,two,three\n{}", (0..20).map(row).collect::<String>()))
        .unwrap();
}

fn fit(dir: &Path, out: &str, flags: &[&str]) {
    table(dir);
    let fit = ["fit", "t.csv", "--columns", "<i>one</i>,two,three", "--likelihood", "poisson", "--out", out];
    good(dir, &[&fit[..], &RUN[..], flags].concat());
}

#[test]
fn a_fit_ends_with_its_report_and_can_leave_it_out() {
    let dir = folder("ends");
    fit(&dir, "o", &[]);
    let page = fs::read_to_string(dir.join("o/report.html")).unwrap();
    assert!(
        page.starts_with("<!doctype html>") && page.contains("<title>t</title>") && page.contains("default-src 'none'")
    );
    assert!(!page.contains("<i>one"), "names are escaped");
    // The folder of the table is nobody's business.
    assert!(!page.contains(dir.to_str().unwrap()));
    fit(&dir, "p", &["--no-report"]);
    assert!(!dir.join("p/report.html").exists());
    // The report changes nothing else.
    let (with, without) = (files(&dir.join("o")), files(&dir.join("p")));
    let other: Vec<_> = with.keys().filter(|name| !without.contains_key(*name)).collect();
    assert_eq!(other, [Path::new("report.html")]);
    // A new fit in the same folder removes an older report.
    good(
        &dir,
        &[
            &[
                "fit",
                "t.csv",
                "--columns",
                "two,three",
                "--likelihood",
                "poisson",
                "--out",
                "o",
                "--overwrite",
                "--no-report",
            ],
            &RUN[..],
        ]
        .concat(),
    );
    assert!(!dir.join("o/report.html").exists());
    good(&dir, &["resume", "p", "-q"]);
    assert!(dir.join("p/report.html").exists());
}

#[test]
fn a_report_can_be_made_later_under_any_name() {
    let dir = folder("later");
    fit(&dir, "o", &["--no-report", "--time", "t", "--sequence", "run"]);
    let said = text(&good(&dir, &["report", "o"]).stdout);
    assert!(said.starts_with("20 rows × 3 columns, 0.") && said.trim_end().ends_with("report.html"), "{said}");
    good(&dir, &["report", "o", "--out", "mine.html", "--image", "1x3"]);
    let [own, mine] = ["o/report.html", "mine.html"].map(|file| fs::read_to_string(dir.join(file)).unwrap());
    assert!(own.contains("\"image\":null") && mine.contains("\"image\":[1,3]"));
    assert!(own.contains("\"forecast\":[{"));
    for (flags, words) in [
        (&["--out", "a.pdf"][..], &["out is a.pdf", ".html"][..]),
        (&["--image", "2x2"], &["image is 2x2", "3 columns"]),
        (&["--out", "no/such/r.html"], &["no/such"]),
    ] {
        let code = if words[0] == "no/such" { 1 } else { 2 };
        refused(&dir, &[&["report", "o"], flags].concat(), code, words);
    }
    refused(&dir, &["report", "nothing"], 2, &["nothing"]);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 3, "nothing else was written");
}

#[test]
fn rows_that_are_pictures_are_checked_before_the_fit() {
    let dir = folder("pictures");
    table(&dir);
    let fit_it = ["fit", "t.csv", "--without", "t,run", "--likelihood", "poisson", "--out", "o"];
    refused(&dir, &[&fit_it[..], &["--image", "2x2"]].concat(), 2, &["image is 2x2", "3 columns"]);
    assert!(!dir.join("o").exists());
    fit(&dir, "o", &["--image", "1x3"]);
    assert!(fs::read_to_string(dir.join("o/report.html")).unwrap().contains("\"image\":[1,3]"));
}

#[test]
fn reports_are_the_same_each_time() {
    let dir = folder("same");
    fit(&dir, "o", &[]);
    let before = fs::read(dir.join("o/report.html")).unwrap();
    good(&dir, &["report", "o", "--out", "again.html"]);
    assert!(before == fs::read(dir.join("again.html")).unwrap());
}

#[test]
fn every_picture_can_be_drawn() {
    let dir = folder("plot");
    fit(&dir, "o", &["--no-report", "--time", "t", "--sequence", "run"]);
    fit(&dir, "p", &["--no-report"]);
    for (what, words) in [
        ("latent", &[">x2<", ">x1<"][..]),
        ("paths", &[">time<", ">b<"]),
        ("trace", &[">lp<", ">chain 2<", ">draw<"]),
        ("kernel", &["spectral density"]),
        ("check", &["share of zeros"]),
        ("forecast", &["grey: observed", "&lt;i&gt;one&lt;/i&gt;"]),
    ] {
        let file = format!("{what}.svg");
        good(&dir, &["plot", "o", "--what", what, "--out", &file, "--title", "Mice & men"]);
        let picture = fs::read_to_string(dir.join(file)).unwrap();
        for word in words {
            assert!(picture.contains(word), "{what}: {word}");
        }
        assert!(!picture.contains("NaN") && (what == "kernel" || picture.contains("Mice &amp; men")), "{what}");
    }
    assert_eq!(fs::read(dir.join("o/latent.svg")).unwrap(), {
        good(&dir, &["plot", "o", "--out", "same.svg"]);
        fs::read(dir.join("same.svg")).unwrap()
    });
    refused(&dir, &["plot", "p", "--what", "paths", "--out", "a.svg"], 2, &["no times"]);
    refused(&dir, &["plot", "o", "--out", "a.gif"], 2, &["out is a.gif", ".svg, .png or .pdf"]);
    assert!(!dir.join("a.svg").exists());
}

#[test]
fn png_and_pdf_are_made_by_rsvg_convert_or_refused() {
    let dir = folder("formats");
    fit(&dir, "o", &["--no-report"]);
    let has_it = std::process::Command::new("rsvg-convert").arg("--version").output().is_ok();
    if !has_it {
        refused(&dir, &["plot", "o", "--out", "a.png"], 2, &["rsvg-convert", ".svg"]);
        assert!(!dir.join("a.png").exists());
        // The last line of `make test` tells what it could not test.
        if let Some(record) = std::env::var_os("RFLVM_NOT_TESTED") {
            let mut file = fs::OpenOptions::new().create(true).append(true).open(record).unwrap();
            writeln!(file, "pictures as PNG and PDF (no rsvg-convert)").unwrap();
        }
        return;
    }
    for (file, start) in [("a.png", &b"\x89PNG"[..]), ("a.pdf", b"%PDF")] {
        good(&dir, &["plot", "o", "--out", file]);
        let bytes = fs::read(dir.join(file)).unwrap();
        assert!(bytes.starts_with(start) && bytes.len() > 2000, "{file}");
    }
}

/// One missing cell has one interval, in the report as in imputed.csv and in the answer of predict.
#[test]
fn missing_cells_are_those_of_imputed_csv() {
    let dir = folder("missing");
    table(&dir);
    let flags = ["fit", "t.csv", "--without", "t,run", "--likelihood", "poisson", "--features", "6", "--warmup", "20"];
    good(&dir, &[&flags[..], &["--draws", "300", "--seed", "1", "--out", "o", "-q"]].concat());
    let cells = |file: &str| fs::read_to_string(dir.join(file)).unwrap();
    let imputed = cells("o/imputed.csv");
    let numbers = |line: &str, from: usize| {
        line.split(',').skip(from).map(|cell| cell.parse().unwrap_or(f64::NAN)).collect::<Vec<f64>>()
    };
    let [mean, _, low, _, high] = numbers(imputed.lines().nth(1).unwrap(), 2)[..] else { panic!("{imputed}") };
    let page = cells("o/report.html");
    let (_, rest) = page.split_once("\"missing\":{\"cells\":[[").unwrap();
    // Row, column and the value, which is unknown; then numbers with five digits.
    let told = numbers(rest.split_once("]]").unwrap().0, 3);
    let shown = [mean, low, high].map(|value| format!("{value:.4e}").parse::<f64>().unwrap());
    assert_eq!(told, shown);
    good(&dir, &["predict", "o", "--rows", "6", "--out", "p.csv"]);
    assert!(cells("p.csv").lines().any(|line| line == imputed.lines().nth(1).unwrap()), "{}", cells("p.csv"));
}
