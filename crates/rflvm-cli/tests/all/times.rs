//! Tables whose rows have times, as a user meets them.

use crate::common::{folder, rflvm, text};
use std::fs;
use std::path::Path;

const RUN: [&str; 13] = [
    "--likelihood",
    "gaussian",
    "--features",
    "8",
    "--chains",
    "2",
    "--warmup",
    "10",
    "--draws",
    "8",
    "--seed",
    "2",
    "--out",
];

/// Fits t.csv into o, and returns the program's messages.
fn fit(dir: &Path, more: &[&str]) -> String {
    let output = rflvm(dir, &[&["fit", "t.csv"], &RUN[..], &["o"], more].concat());
    assert!(output.status.success(), "{more:?}: {}", text(&output.stderr));
    text(&output.stderr)
}

/// Two sequences of days, one of them in reverse order, and a single row.
fn table() -> String {
    let mut table = String::from("day,run,a,b,c\n");
    for n in 0..12_u32 {
        let (day, run) = if n % 2 == 0 { (1 + n, "up") } else { (28 - n, "down") };
        let value = |j: u32| (f64::from(n) * 0.4 + f64::from(j)).sin();
        table.push_str(&format!("2001-05-{day:02},{run},{},{},{}\n", value(0), value(1), value(2)));
    }
    table + "2001-06-01,alone,0.1,,0.3\n"
}

#[test]
fn times_are_passed_on_to_the_results() {
    let dir = folder("through");
    fs::write(dir.join("t.csv"), table()).unwrap();
    let said = fit(&dir, &["--time", "day", "--sequence", "run", "--time-kernel", "matern32", "--time-trend"]);
    assert!(said.contains("times from 2001-05-01 to 2001-06-01 in 3 sequences, typically 2 days apart"), "{said}");
    let order = "times are not in order: rows are ordered by time within 3 sequences; results keep the table's order";
    assert!(said.contains(order), "{said}");
    assert!(said.contains("warning: 1 sequence has a single row (such as `alone`)"), "{said}");
    assert!(said.contains("matern32 kernel, represented as a state-space model"), "{said}");
    let embedding = fs::read_to_string(dir.join("o/embedding.csv")).unwrap();
    let lines: Vec<&str> = embedding.lines().collect();
    let header = lines[0].trim_end_matches(",between_modes");
    assert_eq!(header, "id,label,time,sequence,x1,x2,sd1,sd2,median1,median2");
    assert!(lines[1].starts_with("1,,2001-05-01,up,") && lines[13].starts_with("13,,2001-06-01,alone,"));
    let paths = fs::read_to_string(dir.join("o/paths.svg")).unwrap();
    assert!(paths.starts_with("<svg") && paths.contains(">up<") && paths.contains("2001-05-"), "{paths}");
    let config = fs::read_to_string(dir.join("o/config.toml")).unwrap();
    for line in ["time = \"day\"", "time-kernel = \"matern32\"", "time-trend = true", "inducing = 64"] {
        assert!(config.contains(line), "{line}: {config}");
    }
    // The settings repeat the fit; completed tables keep the times; the store describes them for xarray.
    let again = rflvm(&dir, &["fit", "--config", "o/config.toml", "--out", "p", "-q"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(embedding, fs::read_to_string(dir.join("p/embedding.csv")).unwrap());
    assert!(rflvm(&dir, &["impute", "o", "--out", "full.csv", "--draws", "1"]).status.success());
    let full = fs::read_to_string(dir.join("full-1.csv")).unwrap();
    assert!(full.starts_with("day,run,a,b,c\n2001-05-01,up,"), "{full}");
    let about = fs::read_to_string(dir.join("o/draws.zarr/posterior/time/.zattrs")).unwrap();
    assert!(about.contains("days since 2001-05-01 00:00:00"), "{about}");
    let group = fs::read_to_string(dir.join("o/draws.zarr/posterior/.zattrs")).unwrap();
    assert!(group.contains("time sequence"), "{group}");
    let summary = rflvm(&dir, &["summary", "o"]);
    let told = text(&summary.stdout);
    assert!(summary.status.success() && !told.contains("time["), "{}", text(&summary.stderr));
    assert!(told.contains(" days; noise shares"), "{told}");
}

#[test]
fn ordered_numbers_are_numbers_and_compact_dates_are_dates() {
    let dir = folder("numbers");
    let rows = |time: &dyn Fn(u32) -> String| {
        let row = |n: u32| format!("{},{},{}\n", time(n), n * 7 % 5, f64::from(n) * 0.3);
        format!("t,a,b\n{}", (0..8).map(row).collect::<String>())
    };
    fs::write(dir.join("t.csv"), rows(&|n| format!("{}", f64::from(n) * 0.5))).unwrap();
    let said = fit(&dir, &["--time", "t"]);
    assert!(said.contains("times from 0 to 3.5 in 1 sequence, typically 0.5 apart"), "{said}");
    assert!(said.contains("matern52 kernel, represented as a state-space model"), "{said}");
    assert!(!said.contains("not in order") && !said.contains("single row") && !said.contains("read as"), "{said}");
    let embedding = fs::read_to_string(dir.join("o/embedding.csv")).unwrap();
    assert!(embedding.lines().nth(2).unwrap().starts_with("2,,0.5,,"), "{embedding}");
    fs::write(dir.join("t.csv"), rows(&|n| format!("200105{:02}", n + 10))).unwrap();
    let said = fit(&dir, &["--time", "t", "--overwrite"]);
    assert!(said.contains("times from 20010510 to 20010517 in 1 sequence, typically 1 days apart"), "{said}");
    assert!(rflvm(&dir, &["forecast", "o", "--times", "20010601", "--out", "f.csv"]).status.success());
    assert!(fs::read_to_string(dir.join("f.csv")).unwrap().contains("\n20010601,a,"));
    let output = rflvm(&dir, &["doctor", "t.csv", "--time", "t", "--likelihood", "gaussian"]);
    assert!(text(&output.stdout).contains("times from 20010510"), "{}", text(&output.stderr));
    // Beyond the end of a month.
    fs::write(dir.join("t.csv"), rows(&|n| format!("{}", 20_240_423 + n))).unwrap();
    fit(&dir, &["--time", "t", "--overwrite"]);
    assert!(rflvm(&dir, &["forecast", "o", "--horizon", "2", "--out", "f.csv"]).status.success());
    let text = fs::read_to_string(dir.join("f.csv")).unwrap();
    assert!(text.contains("\n20240501,a,") && text.contains("\n20240502,a,") && !text.contains("20240431"), "{text}");
}

/// Forecasts of a table with these times, two steps beyond its end.
fn next(dir: &Path, times: &[String]) -> Vec<String> {
    let row = |(n, time): (usize, &String)| format!("{time},{},{}\n", n * 7 % 5, n as f64 * 0.3);
    fs::write(dir.join("t.csv"), format!("t,a,b\n{}", times.iter().enumerate().map(row).collect::<String>())).unwrap();
    fit(dir, &["--time", "t", "--overwrite"]);
    assert!(rflvm(dir, &["forecast", "o", "--horizon", "2", "--out", "f.csv"]).status.success());
    let text = fs::read_to_string(dir.join("f.csv")).unwrap();
    text.lines().skip(1).step_by(2).map(|line| line.split(',').next().unwrap().to_string()).collect()
}

#[test]
fn quarters_and_months_step_by_the_calendar() {
    let dir = folder("quarters");
    let quarter = |n: usize| (2004 + n / 4, n % 4);
    let first = |n: usize| (quarter(n).0, 3 * quarter(n).1 + 1);
    let days: Vec<String> = (0..10).map(|n| format!("{}-{:02}-01", first(n).0, first(n).1)).collect();
    assert_eq!(next(&dir, &days), ["2006-07-01", "2006-10-01"]);
    let quarters: Vec<String> = (0..10).map(|n| format!("{}Q{}", quarter(n).0, quarter(n).1 + 1)).collect();
    assert_eq!(next(&dir, &quarters), ["2006Q3", "2006Q4"]);
    let months: Vec<String> = (0..13).map(|n| format!("{}-{:02}", 2005 + n / 12, n % 12 + 1)).collect();
    assert_eq!(next(&dir, &months), ["2006-02", "2006-03"]);
}

#[test]
fn repeated_times_and_microseconds_are_said_and_kept() {
    let dir = folder("repeated");
    let rows = "1959,1,2\n1959,2,1\n1960,3,3\n1960,2,2\n1961,1,4\n";
    fs::write(dir.join("t.csv"), format!("t,a,b\n{rows}")).unwrap();
    let said = fit(&dir, &["--time", "t"]);
    assert!(
        said.contains("2 rows have the same time as another row") && said.contains("rows 1 and 2, both at 1959"),
        "{said}"
    );
    let micro = |n: usize| format!("2024-01-01T00:00:00.{:06},{},{}\n", 250 * n, n % 3, n * n % 5);
    fs::write(dir.join("t.csv"), format!("t,a,b\n{}", (0..9).map(micro).collect::<String>())).unwrap();
    fit(&dir, &["--time", "t", "--overwrite"]);
    assert!(rflvm(&dir, &["forecast", "o", "--horizon", "1", "--out", "f.csv"]).status.success());
    let text = fs::read_to_string(dir.join("f.csv")).unwrap();
    assert!(text.contains("2024-01-01T00:00:00.002250,a,"), "{text}");
}

#[test]
fn a_long_daily_series_is_recognised_as_dates() {
    let dir = folder("daily");
    let day =
        |n: usize| format!("{}-{:02}-{:02},{},{}\n", 2000 + n / 336, n / 28 % 12 + 1, n % 28 + 1, n * 7 % 5, n * 3 % 8);
    fs::write(dir.join("t.csv"), format!("day,a,b\n{}", (0..1500).map(day).collect::<String>())).unwrap();
    let output = rflvm(&dir, &["fit", "t.csv", "--likelihood", "poisson", "--out", "o"]);
    assert!(
        text(&output.stderr).contains("its column holds dates: use them with --time day"),
        "{}",
        text(&output.stderr)
    );
}

/// What is wrong, the table, the flags, and words that the message must have.
type Bad = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const TIME: &[&str] = &["--time", "t"];
const BOTH: &[&str] = &["--time", "t", "--sequence", "s"];

const BAD: &[Bad] = &[
    ("missing", "t,a,b\n1,2,3\n,4,5\n3,1,1\n", TIME, &["t.csv", "row 2", "`t`", "time is missing"]),
    ("unreadable", "t,a,b\n1,2,3\nsoon,4,5\n3,1,1\n", TIME, &["row 2", "`soon`", "2001-05-30"]),
    ("ambiguous", "t,a,b\n05/06/2001,2,3\n06/06/2001,4,5\n", TIME, &["row 1", "05/06/2001", "year first"]),
    ("mixed", "t,a,b\n1,2,3\n2001-05-30,4,5\n3,1,1\n", TIME, &["row 2", "is a date", "numbers"]),
    ("zones", "t,a,b\n2001-05-30 12:00Z,2,3\n2001-05-30 13:00,4,5\n", TIME, &["row 2", "zone"]),
    ("equal", "t,a,b\n1,2,3\n1,4,5\n1,1,1\n", TIME, &["`t`", "all times are equal", "--time"]),
    ("single", "t,s,a,b\n1,u,2,3\n2,v,4,5\n3,w,1,1\n", BOTH, &["single row", "--sequence"]),
    ("nothing", "t,s,a,b\n1,u,2,3\n1,u,4,5\n3,w,1,1\n", BOTH, &["no sequence has two different times", "--sequence"]),
    ("no sequence", "t,s,a,b\n1,u,2,3\n2,,4,5\n3,u,1,1\n", BOTH, &["row 2", "`s`", "sequence is missing"]),
    ("sequence alone", "s,a,b\nu,2,3\nu,4,5\n", &["--sequence", "s"], &["sequence is s", "--time"]),
    ("kernel alone", "a,b\n2,3\n4,5\n", &["--time-kernel", "cauchy"], &["time-kernel is cauchy", "--time"]),
    ("trend alone", "a,b\n2,3\n4,5\n", &["--time-trend"], &["time-trend is true", "--time"]),
    ("form alone", "a,b\n2,3\n4,5\n", &["--time-form", "dense"], &["time-form is dense", "--time"]),
    ("inducing alone", "a,b\n2,3\n4,5\n", &["--inducing", "9"], &["inducing is 9", "--time"]),
    ("inducing", "t,a,b\n1,2,3\n2,4,5\n", &["--time", "t", "--inducing", "0"], &["inducing is 0", "between 2"]),
    ("one point", "t,a,b\n1,2,3\n2,4,5\n", &["--time", "t", "--inducing", "1"], &["inducing is 1", "between 2"]),
    (
        "form",
        "t,a,b\n1,2,3\n2,4,5\n",
        &["--time", "t", "--time-form", "state-space", "--time-kernel", "rbf"],
        &["time-form is state-space", "not rbf", "choose dense or inducing"],
    ),
    ("period alone", "a,b\n2,3\n4,5\n", &["--period", "7"], &["period is 7", "--time"]),
    (
        "no period",
        "t,a,b\n1,2,3\n2,4,5\n",
        &["--time", "t", "--time-kernel", "seasonal"],
        &["period is not given", "needs it"],
    ),
    (
        "no season",
        "t,a,b\n1,2,3\n2,4,5\n",
        &["--time", "t", "--period", "7"],
        &["period is 7", "matern52 has no season"],
    ),
    (
        "period",
        "t,a,b\n1,2,3\n2,4,5\n",
        &["--time", "t", "--time-kernel", "random-walk+seasonal", "--period=-7"],
        &["period is -7", "positive"],
    ),
    ("column", "t,a,b\n1,2,3\n2,4,5\n", &["--time", "u"], &["--time", "`u`"]),
];

#[test]
fn a_kernel_over_time_that_does_not_exist_is_refused_with_those_that_do() {
    let dir = folder("kernel");
    fs::write(dir.join("t.csv"), "t,a,b\n1,2,3\n2,4,5\n").unwrap();
    let flags = ["fit", "t.csv", "--likelihood", "gaussian", "--time", "t", "--time-kernel", "rbg", "--out", "o"];
    let output = rflvm(&dir, &flags);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("rbg") && said.contains("matern32") && said.contains("'rbf'"), "{said}");
    assert!(!dir.join("o").exists());
}

#[test]
fn bad_times_get_one_clear_sentence_and_exit_code_2() {
    for (i, (name, table, flags, words)) in BAD.iter().enumerate() {
        let dir = folder(&format!("bad{i}"));
        fs::write(dir.join("t.csv"), table).unwrap();
        let output = rflvm(&dir, &[&["fit", "t.csv", "--likelihood", "gaussian", "--out", "o"], *flags].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{name}: one sentence, not {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{name}: '{word}' is not in: {said}"));
        assert!(!dir.join("o").exists(), "{name}: something was written");
    }
}

#[test]
fn paths_may_wander_and_repeat() {
    let dir = folder("wander");
    let rows = (0..24).map(|n| format!("{n},{},{}\n", n % 5, (n * n) % 7)).collect::<String>();
    fs::write(dir.join("t.csv"), format!("t,a,b\n{rows}")).unwrap();
    let run = [
        "--likelihood",
        "gaussian",
        "--time",
        "t",
        "--features",
        "4",
        "--chains",
        "2",
        "--warmup",
        "3",
        "--draws",
        "4",
        "--seed",
        "1",
    ];
    for kernel in ["random-walk", "integrated-random-walk", "seasonal", "random-walk+seasonal", "matern32+seasonal"] {
        let period: &[&str] = if kernel.contains("seasonal") { &["--period", "5"] } else { &[] };
        let flags =
            [&["fit", "t.csv", "--time-kernel", kernel, "--out", "o", "--overwrite"], &run[..], period].concat();
        let output = rflvm(&dir, &flags);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{kernel}: {said}");
        assert!(said.contains(&format!("{kernel} kernel, represented as a state-space model")), "{said}");
        let summary = rflvm(&dir, &["summary", "o"]);
        let has_scale = text(&summary.stdout).contains("length-scales of the axes");
        assert_eq!(has_scale, kernel.contains("seasonal"), "{}", text(&summary.stdout));
        let output = rflvm(&dir, &["forecast", "o", "--horizon", "2", "--out", "f.csv"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(fs::read_to_string(dir.join("f.csv")).unwrap().lines().count(), 5);
    }
    let config = fs::read_to_string(dir.join("o/config.toml")).unwrap();
    assert!(config.contains("period = 5.0") && config.contains("time-kernel = \"matern32+seasonal\""), "{config}");
}

/// The year alone repeats in every quarter.
#[test]
fn a_year_and_a_quarter_are_one_time() {
    let dir = folder("together");
    let line = |n: u32| {
        let (x, y) = ((0.4 * f64::from(n)).sin(), (0.3 * f64::from(n)).cos());
        format!("{}.0,{}.0,{x},{}\n", 1959 + n / 4, 1 + n % 4, if n == 5 { String::new() } else { y.to_string() })
    };
    fs::write(dir.join("t.csv"), format!("year,quarter,a,b\n{}", (0..12).map(line).collect::<String>())).unwrap();
    let said = fit(&dir, &["--time", "year"]);
    assert!(said.contains("have the same time") && said.contains("--time year,quarter"), "{said}");
    let said = fit(&dir, &["--time", "year,quarter", "--overwrite"]);
    assert!(said.contains("times from 1959Q1 to 1961Q4 in 1 sequence, typically 3 months apart"), "{said}");
    assert!(!said.contains("same time"), "{said}");
    let embedding = fs::read_to_string(dir.join("o/embedding.csv")).unwrap();
    assert!(embedding.lines().nth(3).unwrap().starts_with("3,,1959Q3,,"), "{embedding}");
    assert!(rflvm(&dir, &["forecast", "o", "--horizon", "2", "--out", "f.csv"]).status.success());
    let ahead = fs::read_to_string(dir.join("f.csv")).unwrap();
    assert!(ahead.lines().nth(1).unwrap().starts_with("1962Q1,"), "{ahead}");
    // New rows are read as the fit's were; a completed table has the time in one column, with which it can be fitted and placed.
    for more in
        [&["transform", "o", "t.csv", "--out", "p.csv"][..], &["impute", "o", "--draws", "1", "--out", "full.csv"]]
    {
        let output = rflvm(&dir, more);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let full = fs::read_to_string(dir.join("full-1.csv")).unwrap();
    assert!(full.starts_with("\"year,quarter\",a,b\n1959Q1,"), "{full}");
    let output = rflvm(&dir, &["transform", "o", "full-1.csv", "--out", "p.csv", "--overwrite"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The place of a wrong time is named.
    fs::write(dir.join("w.csv"), "year,part,a\n1959,1,2\n1959,2,3\n").unwrap();
    let output = rflvm(&dir, &["fit", "w.csv", "--likelihood", "gaussian", "--time", "year,part", "--out", "w"]);
    let sentence = "w.csv: column `part`: its numbers may be quarters or months; name the column quarter or month";
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains(sentence), "{}", text(&output.stderr));
}

/// The engine's unit is the span of the times; the store, its exports and the summary have the user's.
#[test]
fn length_scales_are_in_the_units_of_the_times() {
    let dir = folder("units");
    let table = |unit: u32| {
        let line = |n: u32| format!("{},{},{}\n", unit * n, (0.4 * f64::from(n)).sin(), (0.3 * f64::from(n)).cos());
        format!("t,a,b\n{}", (0..20).map(line).collect::<String>())
    };
    let scales = |unit: u32| -> Vec<f64> {
        fs::write(dir.join("t.csv"), table(unit)).unwrap();
        fit(&dir, &["--time", "t", "--column-process", "matern32", "--overwrite"]);
        let mut found = Vec::new();
        for what in ["length_scale", "column_process_length_scale"] {
            let output = rflvm(&dir, &["export", "o", "--what", what, "--out", "s.csv"]);
            assert!(output.status.success(), "{}", text(&output.stderr));
            let lines = fs::read_to_string(dir.join("s.csv")).unwrap();
            found.extend(lines.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap()));
        }
        let summary = text(&rflvm(&dir, &["summary", "o", "--json"]).stdout);
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        found.extend(summary["length_scales"]["axes"].as_array().unwrap().iter().map(|a| a["mean"].as_f64().unwrap()));
        found
    };
    // Eight times as long in a unit an eighth as long, to the last bit; a median of a tenth of the span a priori.
    let (one, eight) = (scales(1), scales(8));
    assert_eq!(one.len(), 2 * 8 * 4 + 2);
    one.iter().zip(&eight).for_each(|(one, eight)| assert_eq!(8.0 * one, *eight));
    let mean = one.iter().sum::<f64>() / one.len() as f64;
    assert!((0.2..100.0).contains(&mean), "{mean} for times from 0 to 19");
}
