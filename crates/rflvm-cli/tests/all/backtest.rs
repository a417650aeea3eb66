//! `rflvm forecast --backtest` as a user meets it: known rows are forecast from several origins, and compared with baselines.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::Path;

/// Two sequences of counts and real numbers over days, with a hole in the last row, fitted briefly.
fn fitted(dir: &Path) {
    let mut table = String::from("day,run,level,count\n");
    for day in 1..=20 {
        for run in ["up", "down"] {
            let level = if run == "up" { f64::from(day) } else { -f64::from(day) };
            let count = if day == 20 && run == "up" { String::new() } else { ((day * 3) % 7).to_string() };
            table.push_str(&format!("2001-05-{day:02},{run},{level},{count}\n"));
        }
    }
    fs::write(dir.join("t.csv"), table).unwrap();
    fs::write(dir.join("b.csv"), "column,likelihood\nlevel,gaussian\ncount,poisson\n").unwrap();
    let fit = ["fit", "t.csv", "--blocks", "b.csv", "--time", "day", "--sequence", "run", "--time-kernel", "matern32"];
    let run = ["--features", "6", "--chains", "2", "--warmup", "6", "--draws", "8", "--seed", "2", "-q", "--out", "o"];
    good(dir, &[&fit[..], &run[..]].concat());
}

fn lines(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

#[test]
fn forecasts_are_compared_with_baselines_and_drawn() {
    let dir = folder("backtest");
    fitted(&dir);
    let ask = ["forecast", "o", "--backtest", "2", "--horizon", "3", "--period", "7"];
    let output = good(&dir, &ask);
    let said = text(&output.stdout);
    for word in [
        "method ",
        "CRPS",
        "log density",
        "in 90%",
        "model ",
        "last value",
        "one period earlier",
        "straight line",
        "CRPS at horizon",
    ] {
        assert!(said.contains(word), "'{word}' is not in: {said}");
    }
    assert!(text(&output.stderr).contains("fit 2 of 2: model, 34 rows"), "{}", text(&output.stderr));
    let scores = lines(&dir.join("o/backtest.csv"));
    assert_eq!(scores[0].join(","), "method,column,horizon,cells,crps,mse,mae,log_density,coverage50,coverage90");
    // Four methods over all cells, at three horizons, and of two columns. Of 24 cells, one is missing.
    assert_eq!(scores.len(), 1 + 4 * (1 + 3 + 2));
    assert_eq!((scores[1][..3].join(","), scores[1][3].as_str()), ("model,all,all".into(), "23"));
    let find = |method: &str, column: &str| {
        scores.iter().find(|l| l[0] == method && l[1] == column && l[2] == "all").unwrap().clone()
    };
    let number = |text: &String| text.parse::<f64>().unwrap();
    // Straight lines are foretold perfectly by the line, and counts with a period of seven days by the season.
    let (line, season) = (find("straight line", "level"), find("one period earlier", "count"));
    assert!(number(&line[4]) < 1e-9 && number(&season[4]) < 1e-9, "{line:?} {season:?}");
    assert_eq!((line[7].as_str(), season[9].as_str()), ("", "1"));
    assert!(number(&find("model", "level")[4]) > 0.0 && !find("model", "count")[7].is_empty());
    let cells = lines(&dir.join("o/backtest-cells.csv"));
    assert_eq!(cells.len(), 1 + 23 * 4);
    assert_eq!(
        cells[0].join(","),
        "origin,time,sequence,row,column,horizon,method,observed,mean,q05,q25,q50,q75,q95,crps"
    );
    assert_eq!(cells[1][..8].join(","), "1,2001-05-15,up,29,level,1,model,15");
    let picture = fs::read_to_string(dir.join("o/backtest.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n") && !picture.contains("NaN"));
    assert!(picture.contains(">level<") && picture.contains(">count<") && picture.contains("of sequence "));
    // Two origins, two columns, two bands.
    assert_eq!(picture.matches("fill-opacity=\"0.16\"").count(), 8);
    // The same question has the same answer, as JSON and elsewhere.
    let output = good(&dir, &[&ask[..], &["--json", "--out", "again.csv"]].concat());
    assert_eq!(fs::read(dir.join("again.csv")).unwrap(), fs::read(dir.join("o/backtest.csv")).unwrap());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["scores"][0]["method"], "model");
    assert_eq!(json["scores"][0]["crps"].as_f64(), Some(number(&scores[1][4])));
}

#[test]
fn kernels_over_time_are_compared_by_their_forecasts() {
    let dir = folder("backtest-kernels");
    fitted(&dir);
    let kernels = "rbf,random-walk,integrated-random-walk,random-walk+seasonal";
    let ask =
        ["forecast", "o", "--backtest", "1", "--horizon", "1", "--period", "7", "--sweeps", "4", "--time-kernels"];
    good(&dir, &[&ask[..], &[kernels]].concat());
    let methods: Vec<String> = lines(&dir.join("o/backtest.csv"))[1..8].iter().map(|line| line[0].clone()).collect();
    let expected =
        [&kernels.split(',').collect::<Vec<_>>()[..], &["last value", "one period earlier", "straight line"]];
    assert_eq!(methods, expected.concat());
}

#[test]
fn impossible_back_tests_are_refused_in_one_sentence() {
    let dir = folder("backtest-refused");
    fitted(&dir);
    fs::write(dir.join("s.csv"), "a,b\n1,2\n3,4\n5,1\n2,2\n").unwrap();
    good(
        &dir,
        &[
            "fit",
            "s.csv",
            "--likelihood",
            "gaussian",
            "--features",
            "4",
            "--warmup",
            "2",
            "--draws",
            "2",
            "-q",
            "--out",
            "static",
        ],
    );
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("static", &["--backtest", "1"], &["static", "no times", "--time"]),
        ("nowhere", &["--backtest", "1"], &["nowhere", "holds no fit"]),
        ("o", &["--backtest", "0"], &["backtest is 0", "between 1 and 1000"]),
        ("o", &["--backtest", "12"], &["backtest is 12", "longest sequence has 20 rows", "room for 11 origins"]),
        ("o", &["--backtest", "1", "--horizon", "0"], &["horizon is 0", "at least one"]),
        ("o", &["--backtest", "1", "--horizon", "16"], &["horizon is 16", "20 rows", "at most 15"]),
        ("o", &["--backtest", "1", "--period", "0"], &["period is 0", "positive"]),
        ("o", &["--backtest", "1", "--period", "99"], &["period is 99", "span only 14"]),
        ("o", &["--backtest", "1", "--sweeps", "0"], &["sweeps is 0", "at least one"]),
        ("o", &["--backtest", "1", "--time-kernels", "rbf,wobbly"], &["time kernel 'wobbly'", "random-walk"]),
        ("o", &["--backtest", "1", "--time-kernels", "seasonal"], &["period is not given", "seasonal needs it"]),
        ("o", &["--backtest", "1", "--out", "b.txt"], &["out is b.txt", ".csv"]),
    ];
    for (fit, flags, words) in cases {
        let output = rflvm(&dir, &[&["forecast", fit], *flags].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{flags:?}: '{word}' is not in: {said}"));
        assert!(!dir.join("o/backtest.csv").exists());
    }
    for flags in
        [&["--backtest", "1", "--times", "2001-06-01"][..], &["--horizon", "1", "--period", "3"], &["--horizon", "1"]]
    {
        let output = rflvm(&dir, &[&["forecast", "o"], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
}
