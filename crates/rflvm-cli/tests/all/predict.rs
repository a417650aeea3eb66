//! `rflvm predict`, `rflvm check` and `rflvm kernel` as a user meets them.

use crate::common::{folder, good, rflvm, text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn read(path: PathBuf) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or_else(|_| panic!("'{cell}' is not a number"))
}

const RUN: [&str; 10] = ["--features", "10", "--chains", "2", "--warmup", "30", "--draws", "40", "--seed", "5"];

/// Counts are placed between real numbers, so that the model's order of columns differs from the table's; rows have names and offsets, one cell is missing.
fn mixed(dir: &Path, more: &[&str]) {
    let mut table = String::from("name,high,count,low,wide,scale\n");
    for n in 0..30_u32 {
        let value = |j: u32| (f64::from(n) * 0.2 + f64::from(j)).sin();
        let low = if n == 4 { String::new() } else { value(1).to_string() };
        table.push_str(&format!("r{n},{},{},{low},{},{}\n", value(0), n * 3 % 7, value(2), 0.1 * f64::from(n % 3)));
    }
    fs::write(dir.join("t.csv"), table).unwrap();
    let blocks = "column,likelihood\ncount,poisson\nhigh,gaussian\nlow,gaussian\nwide,gaussian\n";
    fs::write(dir.join("b.csv"), blocks).unwrap();
    let flags = ["fit", "t.csv", "--id", "name", "--offset", "scale", "--blocks", "b.csv", "-q", "--out", "o"];
    good(dir, &[&flags[..], &RUN[..], more].concat());
}

/// All columns of one family, with whole numbers.
fn counts(dir: &Path, family: &str, out: &str) {
    let row = |n: u32| format!("{},{},{}\n", n * 3 % 7, n % 4 + 1, n * n % 5);
    fs::write(dir.join("counts.csv"), format!("a,b,c\n{}", (0..24).map(row).collect::<String>())).unwrap();
    let flags = ["fit", "counts.csv", "--likelihood", family, "-q", "--out", out];
    let trials = if family == "binomial" { &["--trials", "9"][..] } else { &[] };
    good(dir, &[&flags[..], &RUN[..], trials].concat());
}

#[test]
fn rows_are_predicted_by_number_and_by_name() {
    let dir = folder("rows");
    mixed(&dir, &[]);
    let said = good(&dir, &["predict", "o", "--rows", "3,7-8,r4", "--out", "p.csv"]);
    assert!(text(&said.stdout).contains("4 rows: p.csv"), "{}", text(&said.stdout));
    let lines = read(dir.join("p.csv"));
    assert_eq!(lines[0].join(","), "row,column,mean,sd,q05,q50,q95");
    let places: Vec<String> = lines[1..].iter().map(|line| line[..2].join(" ")).collect();
    let expected: Vec<String> =
        [3, 7, 8, 5].iter().flat_map(|n| ["high", "count", "low", "wide"].map(|c| format!("{n} {c}"))).collect();
    assert_eq!(places, expected);
    for line in &lines[1..] {
        let numbers: Vec<f64> = line[2..].iter().map(|v| number(v)).collect();
        let [mean, sd, low, middle, high] = numbers[..] else { panic!("{line:?}") };
        assert!(sd > 0.0 && low <= middle && middle <= high && mean.is_finite(), "{line:?}");
        // Quantiles of few draws lie between whole numbers.
        assert!(line[1] != "count" || (mean > 0.0 && low >= 0.0), "{line:?}");
    }
    // A missing cell agrees with `impute`: the mean of E[y | f] has no Monte Carlo error.
    good(&dir, &["impute", "o", "--out", "i.csv"]);
    let missing = &read(dir.join("i.csv"))[1];
    let cell = lines.iter().find(|line| line[..2] == missing[..2]).unwrap();
    assert!((number(&cell[2]) - number(&missing[2])).abs() < 1e-9, "{cell:?} {missing:?}");
    // A row has the same prediction alone and among all.
    good(&dir, &["predict", "o", "--rows", "all", "--out", "all.csv"]);
    let all = read(dir.join("all.csv"));
    assert_eq!(all.len(), 1 + 30 * 4);
    assert_eq!(all[1 + 2 * 4..][..4], lines[1..5]);
}

#[test]
fn drawn_tables_differ_and_are_reproducible() {
    let dir = folder("drawn");
    mixed(&dir, &[]);
    let ask = ["predict", "o", "--path", "r0,10", "--steps", "3", "--out", "p.csv", "--draws", "2"];
    let said = good(&dir, &ask);
    assert!(text(&said.stdout).contains("2 drawn tables of 3 points: p-1.csv p-2.csv"), "{}", text(&said.stdout));
    assert!(!dir.join("p.csv").exists());
    let (one, two) = (read(dir.join("p-1.csv")), read(dir.join("p-2.csv")));
    assert_eq!(one[0].join(","), "point,x1,x2,high,count,low,wide");
    assert_eq!(one.len(), 4);
    assert!(one[1..].iter().all(|line| number(&line[4]).fract() == 0.0), "counts are counts: {one:?}");
    assert_ne!(one, two);
    good(&dir, &[&ask[..], &["--overwrite"]].concat());
    assert_eq!(one, read(dir.join("p-1.csv")));
    good(&dir, &["predict", "o", "--rows", "2", "--out", "r.csv", "--draws", "1"]);
    assert_eq!(read(dir.join("r-1.csv"))[0].join(","), "row,high,count,low,wide");
}

#[test]
fn points_use_the_frame_of_embedding_csv() {
    let dir = folder("places");
    mixed(&dir, &[]);
    let embedding = read(dir.join("o/embedding.csv"));
    let said = good(&dir, &["predict", "o", "--path", "1,10", "--steps", "5", "--out", "path.csv"]);
    assert!(text(&said.stderr).contains("mean of the rows' offsets, 0.1000"), "{}", text(&said.stderr));
    let path = read(dir.join("path.csv"));
    assert_eq!(path[0].join(","), "point,x1,x2,column,mean,sd,q05,q50,q95");
    assert_eq!(path.len(), 1 + 5 * 4);
    for d in 0..2 {
        let (a, b) = (number(&embedding[1][2 + d]), number(&embedding[10][2 + d]));
        for (point, share) in [(0, 0.0), (1, 0.25), (4, 1.0)] {
            let found = number(&path[1 + 4 * point][1 + d]);
            assert!((found - (a + share * (b - a))).abs() < 1e-9, "{found}");
        }
    }
    // The same points from a file: the same predictions.
    let points: String = (0..5).map(|i| format!("{},{}\n", path[1 + 4 * i][1], path[1 + 4 * i][2])).collect();
    fs::write(dir.join("at.csv"), format!("x1,x2\n{points}")).unwrap();
    good(&dir, &["predict", "o", "--at", "at.csv", "--out", "again.csv"]);
    assert_eq!(fs::read(dir.join("path.csv")).unwrap(), fs::read(dir.join("again.csv")).unwrap());
    // Near the mean position of a row, the prediction is close to that of the row.
    good(&dir, &["predict", "o", "--rows", "1", "--out", "row.csv"]);
    let (row, place) = (&read(dir.join("row.csv"))[1], &path[1]);
    assert!((number(&row[2]) - number(&place[4])).abs() < 3.0 * number(&row[3]), "{row:?} {place:?}");
    good(&dir, &["predict", "o", "--grid", "4", "--out", "grid.csv"]);
    let grid = read(dir.join("grid.csv"));
    assert_eq!(grid.len(), 1 + 16 * 4);
    let x1 = |point: usize| number(&grid[1 + 4 * point][1]);
    let ends = embedding[1..]
        .iter()
        .map(|line| number(&line[2]))
        .fold((0.0, 0.0), |(a, b): (f64, f64), v| (a.min(v), b.max(v)));
    assert!((x1(0) - ends.0).abs() < 1e-9 && (x1(3) - ends.1).abs() < 1e-9 && x1(4) == x1(0));
}

#[test]
fn beyond_two_axes_a_grid_is_over_the_first_two() {
    let dir = folder("three");
    mixed(&dir, &["--latent-dim", "3"]);
    let said = good(&dir, &["predict", "o", "--grid", "3", "--out", "g.csv"]);
    assert!(
        text(&said.stderr).contains("x1 and x2") && text(&said.stderr).contains("1 of 3 axes"),
        "{}",
        text(&said.stderr)
    );
    let lines = read(dir.join("g.csv"));
    assert_eq!(lines[0][..4].join(","), "point,x1,x2,x3");
    assert_eq!(lines.len(), 1 + 9 * 4);
    assert!(lines[1..].iter().all(|line| number(&line[3]) == 0.0));
}

/// A row has its own trials; a point has one, if they differ between rows.
#[test]
fn rows_have_their_own_trials() {
    for (family, at_place) in [("multinomial", 1.0), ("binomial", 9.0)] {
        let dir = folder(family);
        counts(&dir, family, "o");
        let total = |file: &str, from: usize| {
            let lines = read(dir.join(file));
            lines[1..4].iter().map(|line| number(&line[from])).sum::<f64>()
        };
        good(&dir, &["predict", "o", "--rows", "1", "--out", "r.csv"]);
        good(&dir, &["predict", "o", "--path", "1,2", "--out", "p.csv"]);
        let (row, place) = (total("r.csv", 2), total("p.csv", 4));
        if family == "multinomial" {
            // The first row has 0 + 1 + 0.
            assert!((row - 1.0).abs() < 1e-9 && (place - at_place).abs() < 1e-9, "{row} {place}");
        } else {
            assert!(row < 27.0 && place > 1.0 && place < 3.0 * at_place, "{row} {place}");
        }
    }
}

/// Short fits that have not converged.
#[test]
fn checks_compare_the_table_with_replicated_tables() {
    let dir = folder("check");
    // Counts that are zero half of the time and otherwise large, unlike Poisson counts.
    let row = |n: u32| {
        (0..4).map(|j| if (n * 7 + j * 3) % 11 < 6 { "0".into() } else { (20 + n % 5).to_string() }).collect::<Vec<_>>()
    };
    let table: String = (0..40).map(|n| row(n).join(",") + "\n").collect();
    fs::write(dir.join("z.csv"), format!("a,b,c,d\n{table}")).unwrap();
    for family in ["poisson", "zero-inflated-poisson"] {
        let flags =
            ["fit", "z.csv", "--likelihood", family, "--kernel", "rbf", "--length-scale", "3", "-q", "--out", family];
        good(&dir, &[&flags[..], &RUN[..]].concat());
    }
    let said = text(&good(&dir, &["check", "poisson"]).stdout);
    assert!(
        said.contains("poisson, 4 columns") && said.contains("share of zeros") && said.contains("80 replicated tables"),
        "{said}"
    );
    assert!(said.contains("no advice is given") && !said.contains("→"), "{said}");
    assert!(said.contains("table and picture: poisson/check.csv poisson/check.svg"), "{said}");
    let lines = read(dir.join("poisson/check.csv"));
    assert_eq!(lines[0].join(","), "block,family,columns,statistic,observed,mean,q05,q95,p,words,suggests");
    // Counts like these may also conflict with a prior.
    let statistics = lines[1..].iter().filter(|line| !line[3].starts_with("prior of "));
    assert_eq!((statistics.count(), lines[1][..4].join(",")), (4, "1,poisson,4,share of zeros".into()));
    assert!(lines[1][9].starts_with("larger than in") && lines[1][10].is_empty(), "{lines:?}");
    let picture = fs::read_to_string(dir.join("poisson/check.svg")).unwrap();
    assert!(picture.contains(">share of zeros<") && picture.contains("larger than in"), "{picture}");
    assert!(picture.contains("80 replicated tables") && picture.contains("not known to have converged"), "{picture}");
    let of = |fit: &str| -> Value { serde_json::from_slice(&good(&dir, &["check", fit, "--json"]).stdout).unwrap() };
    let (poisson, inflated) = (of("poisson"), of("zero-inflated-poisson"));
    let zeros = |checks: &Value| checks["checks"][0].clone();
    assert_eq!(zeros(&poisson)["statistic"], "share of zeros");
    assert!(zeros(&poisson)["p"].as_f64().unwrap() < 0.05 && zeros(&poisson)["suggests"].is_null());
    assert!(poisson["converged"] == false && poisson["no_advice"].as_str().unwrap().contains("converged"), "{poisson}");
    assert!(zeros(&inflated)["p"].as_f64().unwrap() > 0.05 && zeros(&inflated)["suggests"].is_null(), "{inflated}");
    let observed = zeros(&poisson)["observed"].as_f64().unwrap();
    assert!(zeros(&poisson)["q95"].as_f64().unwrap() < observed && observed < 1.0);
    // A new fit in the folder invalidates the check.
    let flags = ["fit", "z.csv", "--likelihood", "poisson", "-q", "--overwrite", "--out", "poisson"];
    good(&dir, &[&flags[..], &RUN[..]].concat());
    assert!(!dir.join("poisson/check.csv").exists() && !dir.join("poisson/check.svg").exists());
    // Every family has its own statistics.
    mixed(&dir, &[]);
    counts(&dir, "multinomial", "m");
    counts(&dir, "binomial", "b");
    for (fit, count) in [("o", 7), ("m", 5), ("b", 2)] {
        assert_eq!(of(fit)["checks"].as_array().unwrap().len(), count, "{fit}");
    }
}

/// A fixed kernel and one informative column: the chains converge within a second.
#[test]
fn a_fit_that_has_converged_is_given_advice() {
    let dir = folder("advice");
    let row = |n: u32| {
        format!("{},{}\n", if n.is_multiple_of(2) { 0 } else { 20 + n % 5 }, if n.is_multiple_of(3) { 0 } else { 25 })
    };
    fs::write(dir.join("z.csv"), format!("a,b\n{}", (0..24).map(row).collect::<String>())).unwrap();
    let flags =
        ["fit", "z.csv", "--likelihood", "poisson", "--latent-dim", "1", "--kernel", "rbf", "--length-scale", "50"];
    let run =
        ["--features", "2", "--chains", "2", "--warmup", "500", "--draws", "4000", "--seed", "1", "-q", "--out", "o"];
    good(&dir, &[&flags[..], &run[..]].concat());
    let said = text(&good(&dir, &["check", "o", "--out", "c.csv"]).stdout);
    assert!(said.contains("→ more zeros than the model predicts: try zero-inflated-poisson"), "{said}");
    assert!(!said.contains("no advice") && dir.join("c.svg").exists() && !dir.join("o/check.csv").exists(), "{said}");
    assert!(read(dir.join("c.csv"))[1][10].starts_with("more zeros than the model predicts"));
}

#[test]
fn the_kernel_is_written_and_drawn() {
    let dir = folder("kernel");
    mixed(&dir, &[]);
    good(&dir, &["kernel", "o", "--out", "k.csv", "--matrix", "k.npy", "--rows", "1-5"]);
    let lines = read(dir.join("k.csv"));
    assert_eq!(lines[0].join(","), "along,delta,mean,q05,q95");
    assert_eq!(lines.len(), 1 + 3 * 101);
    for along in ["x1", "x2", "all"] {
        let own: Vec<&Vec<String>> = lines.iter().filter(|line| line[0] == along).collect();
        assert!((number(&own[0][2]) - 1.0).abs() < 1e-12 && number(&own[0][1]) == 0.0, "k(0) = 1");
        assert!(own.iter().all(|line| number(&line[3]) <= number(&line[4]) && number(&line[4]) <= 1.0 + 1e-12));
    }
    let spectrum = read(dir.join("k-spectrum.csv"));
    assert_eq!(spectrum[0].join(","), "along,frequency,mean,q05,q95");
    assert_eq!(spectrum.len(), 1 + 3 * 40);
    let picture = fs::read_to_string(dir.join("k.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.contains("spectral density") && picture.contains("all directions"));
    let bytes = fs::read(dir.join("k.npy")).unwrap();
    let matrix = npyz::NpyFile::new(&bytes[..]).unwrap();
    assert_eq!(matrix.shape(), [2, 5, 5]);
    let values: Vec<f64> = matrix.into_vec().unwrap();
    for n in 0..5 {
        assert!((values[n * 6] - 1.0).abs() < 1e-9 && values[25 + n * 6] < 1e-6, "k(x, x) = 1");
    }
    assert!((values[1] - values[5]).abs() < 1e-12 && values[1] < 1.0);
}

#[test]
fn impossible_predictions_are_refused_in_one_sentence() {
    let dir = folder("refused");
    mixed(&dir, &[]);
    fs::create_dir_all(dir.join("begun")).unwrap();
    fs::copy(dir.join("o/config.toml"), dir.join("begun/config.toml")).unwrap();
    for (name, content) in [
        ("one.csv", "x1\n0.5\n"),
        ("three.csv", "x1,x2,x3\n0,0,0\n"),
        ("other.csv", "a,b\n0,0\n"),
        ("words.csv", "x1,x2\n0,here\n"),
        ("hole.csv", "x1,x2\n0,1\n0,\n"),
        ("none.csv", "x1,x2\n"),
    ] {
        fs::write(dir.join(name), content).unwrap();
    }
    let cases: &[(&[&str], &[&str])] = &[
        (&["predict", "nowhere", "--rows", "1"], &["nowhere", "holds no fit"]),
        (&["predict", "begun", "--rows", "1"], &["begun", "no draws yet"]),
        (&["predict", "o", "--rows", "31"], &["row is 31", "from 1 to 30"]),
        (&["predict", "o", "--rows", "0"], &["row is 0", "counted from 1"]),
        (&["predict", "o", "--path", "0,3"], &["row is 0", "counted from 1"]),
        (&["predict", "o", "--rows", "nobody"], &["row is nobody", "no row has that name", "r0"]),
        (&["predict", "o", "--rows", "9-3"], &["row is 9-3", "later"]),
        (&["predict", "o", "--path", "3"], &["path is 3", "one row to another"]),
        (&["predict", "o", "--path", "3,4,5"], &["path is 3,4,5", "3 rows"]),
        (&["predict", "o", "--path", "3,nobody"], &["row is nobody"]),
        (&["predict", "o", "--path", "3,4", "--steps", "1"], &["steps is 1", "at least 2"]),
        (&["predict", "o", "--grid", "0"], &["grid is 0", "at least 2"]),
        (&["predict", "o", "--grid", "99999999"], &["grid is", "at most 1000000"]),
        (&["predict", "o", "--at", "absent.csv"], &["absent.csv"]),
        (&["predict", "o", "--at", "one.csv"], &["one.csv", "columns are x1", "x1, x2"]),
        (&["predict", "o", "--at", "three.csv"], &["three.csv", "x1, x2, x3", "give only these columns"]),
        (&["predict", "o", "--at", "other.csv"], &["other.csv", "a, b"]),
        (&["predict", "o", "--at", "words.csv"], &["words.csv", "here"]),
        (&["predict", "o", "--at", "hole.csv"], &["hole.csv", "row 2", "x2"]),
        (&["predict", "o", "--at", "none.csv"], &["none.csv"]),
        (&["predict", "o", "--rows", "1", "--draws", "0"], &["draws is 0"]),
        (&["predict", "o", "--rows", "1", "--draws", "999"], &["draws is 999", "80"]),
        (&["kernel", "nowhere"], &["nowhere", "holds no fit"]),
        (&["kernel", "o", "--matrix", "k.csv"], &["matrix is k.csv", ".npy"]),
        (&["kernel", "o", "--matrix", "k.npy", "--rows", "0-3"], &["row is 0", "counted from 1"]),
    ];
    let refused = |arguments: &[&str], words: &[&str]| {
        let output = rflvm(&dir, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert_eq!(said.lines().filter(|line| !line.starts_with("warning: ")).count(), 1, "{said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{arguments:?}: '{word}' is not in: {said}"));
    };
    for (arguments, words) in cases {
        refused(&[*arguments, &["--out", "p.csv"]].concat(), words);
        assert!(!dir.join("p.csv").exists() && !dir.join("k.npy").exists());
    }
    refused(&["predict", "o", "--rows", "1", "--out", "p.txt"], &["out is p.txt", ".csv"]);
    refused(&["kernel", "o", "--out", "p"], &["out is p", ".csv"]);
    refused(&["check", "nowhere"], &["nowhere", "holds no fit"]);
    refused(&["check", "o", "--out", "c.txt"], &["out is c.txt", ".csv"]);
    // None of the flags that say where, or two of them, is an error of the command line.
    for flags in [&[][..], &["--rows", "1", "--grid", "3"]] {
        let output = rflvm(&dir, &[&["predict", "o", "--out", "p.csv"], flags].concat());
        assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--rows"));
    }
}
