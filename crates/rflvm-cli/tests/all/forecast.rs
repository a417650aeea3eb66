//! `rflvm forecast` as a user meets it: rows with times are fitted, and later rows predicted.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::{Path, PathBuf};

fn read(path: PathBuf) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

const RUN: [&str; 12] =
    ["--features", "8", "--chains", "2", "--warmup", "20", "--draws", "30", "--seed", "2", "-q", "--out"];

/// Days of two sequences; counts are placed between real numbers, so that the model's order of columns differs from the table's.
fn dated(dir: &Path, more: &[&str]) {
    let mut table = String::from("day,run,high,count,low,scale\n");
    for n in 0..24_u32 {
        let (day, run) = (1 + n / 2, if n % 2 == 0 { "up" } else { "down" });
        let value = |j: u32| (f64::from(day) * 0.3 + f64::from(j)).sin();
        let (high, low, scale) = (value(0), value(1), 0.1 * f64::from(n % 3));
        table.push_str(&format!("2001-05-{day:02},{run},{high},{},{low},{scale}\n", n * 5 % 4));
    }
    fs::write(dir.join("t.csv"), table).unwrap();
    fs::write(dir.join("b.csv"), "column,likelihood\ncount,poisson\nhigh,gaussian\nlow,gaussian\n").unwrap();
    let flags = ["fit", "t.csv", "--time", "day", "--sequence", "run", "--offset", "scale", "--blocks", "b.csv"];
    good(dir, &[&flags[..], &RUN[..], &["o"], more].concat());
}

/// Half hours as numbers, one sequence.
fn numbered(dir: &Path) {
    let row =
        |n: u32| format!("{},{},{}\n", f64::from(n) * 0.1, (f64::from(n) * 0.5).sin(), (f64::from(n) * 0.5).cos());
    fs::write(dir.join("t.csv"), format!("t,a,b\n{}", (0..15).map(row).collect::<String>())).unwrap();
    let flags = ["fit", "t.csv", "--time", "t", "--likelihood", "gaussian"];
    good(dir, &[&flags[..], &RUN[..], &["o"]].concat());
}

#[test]
fn dates_sequences_and_columns_are_the_users_own() {
    let dir = folder("dates");
    dated(&dir, &["--time-kernel", "matern32"]);
    let output = good(&dir, &["forecast", "o", "--horizon", "2", "--out", "f.csv"]);
    assert!(text(&output.stdout).contains("4 new rows: f.csv"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("mean of the rows' offsets, 0.1000"), "{}", text(&output.stderr));
    let lines = read(dir.join("f.csv"));
    assert_eq!(lines[0].join(","), "time,sequence,column,mean,sd,q05,q50,q95");
    let places: Vec<String> = lines[1..].iter().map(|line| line[..3].join(" ")).collect();
    let expected: Vec<String> = ["up", "down"]
        .iter()
        .flat_map(|run| ["13", "14"].map(|day| (run, day)))
        .flat_map(|(run, day)| ["high", "count", "low"].map(|name| format!("2001-05-{day} {run} {name}")))
        .collect();
    assert_eq!(places, expected);
    for line in &lines[1..] {
        let numbers: Vec<f64> = line[3..].iter().map(|v| v.parse().unwrap()).collect();
        let [mean, sd, low, middle, high] = numbers[..] else { panic!("{line:?}") };
        assert!(sd > 0.0 && low <= middle && middle <= high, "{line:?}");
        match line[2].as_str() {
            "count" => assert!(mean > 0.0 && low.fract() == 0.0 && low >= 0.0, "{line:?}"),
            _ => assert!(low < mean && mean < high, "{line:?}"),
        }
    }
    // Explicit times, in any order, from a file, and for one sequence: the same numbers, every time.
    let bytes = fs::read_to_string(dir.join("f.csv")).unwrap();
    let same = |flags: &[&str]| {
        good(&dir, &[&["forecast", "o", "--out", "g.csv"], flags].concat());
        assert_eq!(bytes, fs::read_to_string(dir.join("g.csv")).unwrap(), "{flags:?}");
    };
    same(&["--horizon", "2"]);
    same(&["--times", "2001-05-14, 2001-05-13,2001-05-14"]);
    fs::write(dir.join("when.txt"), "2001-05-13\n\n2001-05-14\n").unwrap();
    same(&["--times", "when.txt"]);
    good(&dir, &["forecast", "o", "--out", "one.csv", "--horizon", "2", "--sequence", "down"]);
    let own: Vec<Vec<String>> = lines.iter().filter(|line| line[1] != "up").cloned().collect();
    assert_eq!(own, read(dir.join("one.csv")));
}

#[test]
fn times_as_numbers_between_and_beyond_rows_and_summaries_in_their_unit() {
    let dir = folder("numbers");
    numbered(&dir);
    good(&dir, &["forecast", "o", "--horizon", "3", "--out", "f.csv"]);
    let lines = read(dir.join("f.csv"));
    assert_eq!(lines[0].join(","), "time,column,mean,sd,q05,q50,q95");
    assert_eq!(
        lines[1..].iter().map(|l| l[0].as_str()).collect::<Vec<_>>(),
        ["1.5", "1.5", "1.6", "1.6", "1.7", "1.7"]
    );
    good(&dir, &["forecast", "o", "--times", "1.5,1.6,1.7", "--out", "g.csv"]);
    assert_eq!(fs::read(dir.join("f.csv")).unwrap(), fs::read(dir.join("g.csv")).unwrap());
    good(&dir, &["forecast", "o", "--times", "0,0.65,9", "--out", "between.csv"]);
    let sd = |line: &Vec<String>| line[3].parse::<f64>().unwrap();
    let between = read(dir.join("between.csv"));
    assert!(sd(&between[3]) < sd(&between[5]), "times between rows are less uncertain: {between:?}");
    let summary = text(&good(&dir, &["summary", "o"]).stdout);
    assert!(summary.contains("\ntime_scale  ") && summary.contains("length-scales of the axes, longest first: "));
    assert!(summary.contains(" units of t; noise shares: "), "{summary}");
    let json: serde_json::Value = serde_json::from_slice(&good(&dir, &["summary", "o", "--json"]).stdout).unwrap();
    let axes = json["length_scales"]["axes"].as_array().unwrap();
    assert_eq!((json["length_scales"]["unit"].as_str(), axes.len()), (Some("units of t"), 2));
    assert!(axes[0]["mean"].as_f64() >= axes[1]["mean"].as_f64());
}

#[test]
fn simulated_futures_are_tables_that_differ() {
    let dir = folder("futures");
    dated(&dir, &[]);
    let ask = ["forecast", "o", "--horizon", "2", "--out", "f.csv", "--draws", "3"];
    let output = good(&dir, &ask);
    assert!(text(&output.stdout).contains("3 futures of 4 new rows: f-1.csv f-2.csv f-3.csv"));
    assert!(!dir.join("f.csv").exists() && !dir.join("f-4.csv").exists());
    let (one, two) = (read(dir.join("f-1.csv")), read(dir.join("f-2.csv")));
    assert_eq!(one[0].join(","), "time,sequence,high,count,low");
    assert_eq!(one.len(), 5);
    assert_eq!(&one[1][..2], ["2001-05-13", "up"]);
    assert!(one[1..].iter().flat_map(|row| &row[2..]).all(|v| v.parse::<f64>().unwrap().is_finite()));
    assert!(one[1..].iter().all(|row| row[3].parse::<f64>().unwrap().fract() == 0.0), "counts are counts: {one:?}");
    assert_ne!(one, two);
    good(&dir, &[&ask[..], &["--overwrite"]].concat());
    assert_eq!(one, read(dir.join("f-1.csv")));
}

#[test]
fn impossible_forecasts_are_refused_in_one_sentence() {
    let dir = folder("refused");
    dated(&dir, &[]);
    fs::write(dir.join("s.csv"), "a,b\n1,2\n3,4\n5,1\n2,2\n").unwrap();
    good(&dir, &[&["fit", "s.csv", "--likelihood", "gaussian"], &RUN[..], &["static"]].concat());
    let lone = folder("lone");
    numbered(&lone);
    fs::create_dir_all(dir.join("begun")).unwrap();
    fs::copy(dir.join("o/config.toml"), dir.join("begun/config.toml")).unwrap();
    fs::write(dir.join("when.txt"), "2001-05-13\nsoon\n").unwrap();
    fs::write(dir.join("none.txt"), "\n").unwrap();
    let cases: &[(&Path, &str, &[&str], &[&str])] = &[
        (&dir, "nowhere", &["--horizon", "1"], &["nowhere", "holds no fit"]),
        (&dir, "begun", &["--horizon", "1"], &["begun", "no draws yet"]),
        (&dir, "static", &["--horizon", "1"], &["static", "no times", "--time"]),
        (&dir, "o", &["--horizon", "0"], &["horizon is 0", "at least one"]),
        (&dir, "o", &["--horizon", "99999999"], &["horizon is 99999999", "5000"]),
        (&dir, "o", &["--times", "2001-05-13,soon"], &["times is 2001-05-13,soon", "`soon`"]),
        (&dir, "o", &["--times", "7"], &["times is 7", "2001-05-01"]),
        (&dir, "o", &["--times", "absent.txt"], &["times is absent.txt", "existing file"]),
        (&dir, "o", &["--times", "when.txt"], &["when.txt", "line 2", "`soon`"]),
        (&dir, "o", &["--times", "none.txt"], &["times is 0", "at least one"]),
        (&dir, "o", &["--times", "2001-04-30"], &["times is 2001-04-30", "`up`", "give times after 2001-05-01"]),
        (&dir, "o", &["--times", "2001-05-13,2001-04-30"], &["times is 2001-04-30", "backwards"]),
        (&dir, "o", &["--horizon", "1", "--sequence", "sideways"], &["sequence 'sideways'", "up, down"]),
        (&dir, "o", &["--horizon", "1", "--draws", "0"], &["draws is 0"]),
        (&dir, "o", &["--horizon", "1", "--draws", "999"], &["draws is 999", "60"]),
        (&lone, "o", &["--horizon", "1", "--sequence", "x"], &["sequence is x", "omit --sequence"]),
        (&lone, "o", &["--times", "-1,2"], &["times is -1", "give times after 0"]),
        (&lone, "o", &["--times", "nan"], &["times is nan", "missing"]),
    ];
    for (dir, fit, flags, words) in cases {
        let output = rflvm(dir, &[&["forecast", fit, "--out", "f.csv"], *flags].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {said}");
        assert_eq!(said.lines().filter(|line| !line.starts_with("warning: ")).count(), 1, "{said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{flags:?}: '{word}' is not in: {said}"));
        assert!(!dir.join("f.csv").exists());
    }
    let output = rflvm(&dir, &["forecast", "o", "--horizon", "1", "--out", "f.txt"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("out is f.txt"));
    // Neither of --times and --horizon, or both, is an error of the command line.
    for flags in [&[][..], &["--horizon", "1", "--times", "2001-05-13"]] {
        let output = rflvm(&dir, &[&["forecast", "o", "--out", "f.csv"], flags].concat());
        assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--horizon"));
    }
}
