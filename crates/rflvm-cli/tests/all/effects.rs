//! `rflvm effects`, `rflvm differences` and `rflvm groups` as a user meets them.

use crate::common::{folder, good, refused, text};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

const RUN: [&str; 11] = ["--features", "12", "--chains", "2", "--warmup", "60", "--draws", "60", "--seed", "4", "-q"];

/// Three kinds of 20 rows, in two batches: `up` and `down` differ between the kinds, `flat` and `noise` do not, and all have more in batch B. The last
/// row has the wrong kind.
fn table() -> String {
    let mut state = 7_u64;
    let mut noise = || {
        let mut sum = 0.0;
        for _ in 0..12 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            sum += (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        }
        sum
    };
    let mut table = String::from("name,kind,batch,up,down,other,flat,noise\n");
    for n in 0..60 {
        let kind = n / 20;
        let shift = if n % 2 == 0 { 0.0 } else { 1.5 };
        let means = [3.0 * kind as f64, -2.0 * kind as f64, if kind == 1 { 4.0 } else { 0.0 }, 0.0, 0.0];
        let cells: Vec<String> = means.iter().map(|mean| (mean + shift + 0.4 * noise()).to_string()).collect();
        let label = if n == 59 { "one" } else { ["one", "two", "three"][kind] };
        table.push_str(&format!("r{n},{label},{},{}\n", ["A", "B"][n % 2], cells.join(",")));
    }
    table
}

fn fitted(dir: &Path) {
    fs::write(dir.join("t.csv"), table()).unwrap();
    let what = "fit t.csv --id name --labels kind --covariates batch --likelihood gaussian --out o";
    good(dir, &what.split(' ').chain(RUN).collect::<Vec<_>>());
}

/// The lines of a file, each by the names of its columns.
fn read(dir: &Path, name: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(dir.join(name)).unwrap();
    let header = reader.headers().unwrap().clone();
    let line = |line: csv::StringRecord| header.iter().map(String::from).zip(line.iter().map(String::from)).collect();
    reader.records().map(|record| line(record.unwrap())).collect()
}

fn number(line: &HashMap<String, String>, name: &str) -> f64 {
    line[name].parse().unwrap_or_else(|_| panic!("{name} of {line:?}"))
}

#[test]
fn columns_are_told_by_where_their_variance_comes_from() {
    let dir = folder("effects");
    fitted(&dir);
    let said = text(&good(&dir, &["effects", "o", "--out", "e.csv"]).stdout);
    assert!(said.contains("mean share") && said.contains("variances of 5 columns: e.csv"), "{said}");
    assert!(said.lines().any(|line| line.starts_with("noise ")), "{said}");
    let lines = read(&dir, "e.csv");
    let sources: Vec<&str> = lines.iter().step_by(5).map(|line| &*line["source"]).collect();
    assert_eq!(sources, ["map", "x1", "x2", "interaction", "covariates", "noise"]);
    let share = |source: &str, column: &str| {
        let line = lines.iter().find(|line| line["source"] == source && line["column"] == column).unwrap();
        assert!(
            number(line, "share_q05") <= number(line, "share") && number(line, "share") <= number(line, "share_q95")
        );
        number(line, "share")
    };
    assert!(share("map", "up") > 0.7 && share("map", "flat") < 0.3, "{} {}", share("map", "up"), share("map", "flat"));
    assert!(share("covariates", "flat") > 0.4 && share("covariates", "up") < 0.25);
    for column in ["up", "down", "other", "flat", "noise"] {
        let all = ["map", "covariates", "noise"].map(|source| share(source, column)).iter().sum::<f64>();
        assert!((all - 1.0).abs() < 0.2, "{column}: {all}");
    }

    // From a row of the first kind to one of the last, `up` rises and `down` falls; in the other direction it is the reverse.
    good(&dir, &["effects", "o", "--from", "r3", "--to", "r50", "--out", "c.csv"]);
    good(&dir, &["effects", "o", "--path", "r50; r3", "--out", "back.csv"]);
    let (there, back) = (read(&dir, "c.csv"), read(&dir, "back.csv"));
    assert_eq!(there[0]["column"], "up");
    for (there, back) in there.iter().zip(&back) {
        assert_eq!(there["column"], back["column"]);
        assert!((number(there, "difference") + number(back, "difference")).abs() < 1e-9);
        assert!((number(there, "mean_from") - number(back, "mean_to")).abs() < 1e-9);
        assert!(number(there, "range") >= number(there, "difference").abs() - 1e-9);
        // Real numbers have the identity as their link.
        assert!((number(there, "data_difference") - number(there, "difference")).abs() < 1e-9);
    }
    let change = |column: &str| number(there.iter().find(|line| line["column"] == column).unwrap(), "difference");
    assert!(change("up") > 4.0 && change("down") < -2.0 && change("flat").abs() < 1.0);

    good(&dir, &["effects", "o", "--along", "x1", "--out", "g.csv"]);
    good(&dir, &["effects", "o", "--towards", "r50", "--at", "r3", "--out", "t2.csv"]);
    let (along, towards) = (read(&dir, "g.csv"), read(&dir, "t2.csv"));
    assert_eq!((along.len(), towards.len()), (5, 5));
    let size = |line: &HashMap<String, String>| number(line, "standardized").abs();
    assert!(along.is_sorted_by(|a, b| size(a) >= size(b)));
    let value: Value =
        serde_json::from_slice(&good(&dir, &["effects", "o", "--along", "1", "--at", "0.1,-0.2", "--json"]).stdout)
            .unwrap();
    assert_eq!(value["columns"][1]["name"], "gradient");
    for (arguments, words) in [
        (&["--along", "x3"][..], "the axes of this fit are x1 to x2"),
        (&["--along", "up"], "an axis is named as in embedding.csv"),
        (&["--at", "r1"], "--along or --towards"),
        (&["--towards", "r3", "--at", "r3"], "another position"),
        (&["--from", "0.1,0.2,0.3", "--to", "r1"], "2 coordinates"),
        (&["--from", "r1-r3", "--to", "r1"], "no row has that name"),
        (&["--from", "1-3", "--to", "r1"], "a place is one row, and these are 3"),
        (&["--path", "r1"], "at least two positions"),
    ] {
        refused(&dir, &[&["effects", "o", "--out", "x.csv"], arguments].concat(), 2, &[words]);
    }
}

#[test]
fn differences_are_listed_free_of_the_batch() {
    let dir = folder("differences");
    fitted(&dir);
    let said = text(&good(&dir, &["differences", "o", "--groups", "kind", "--out", "d.csv"]).stdout);
    assert!(said.contains("one against rest: ") && said.contains("false discovery rate of 0.05: "), "{said}");
    let lines = read(&dir, "d.csv");
    assert_eq!(lines.len(), 3 * 5);
    for list in lines.chunks(5) {
        let mut tails: Vec<(f64, f64)> =
            list.iter().map(|line| (number(line, "p_value"), number(line, "fdr"))).collect();
        tails.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut rate: f64 = 1.0;
        for ((p_value, fdr), rank) in tails.into_iter().zip([5.0, 4.0, 3.0, 2.0, 1.0]) {
            rate = rate.min(p_value * 5.0 / rank);
            assert!((fdr - rate).abs() < 1e-9, "{list:?}");
        }
        for line in list {
            let apart = number(line, "mean") - number(line, "mean_against");
            assert!((apart - number(line, "data_difference")).abs() < 1e-9, "{line:?}");
        }
    }
    // Between two groups, by a file, in both directions.
    let kinds: Vec<(String, String)> =
        read(&dir, "t.csv").iter().map(|l| (l["name"].clone(), l["kind"].clone())).collect();
    let file = |kinds: &[(String, String)]| {
        let lines = kinds.iter().map(|(name, kind)| format!("{name},{kind}\n")).collect::<String>();
        fs::write(dir.join("kinds.csv"), format!("id,group\n{lines}")).unwrap();
    };
    file(&kinds.iter().rev().cloned().collect::<Vec<_>>());
    good(&dir, &["differences", "o", "--groups", "kind", "--between", "three,one", "--out", "a.csv"]);
    good(&dir, &["differences", "o", "--groups", "kinds.csv", "--between", "one,three", "--out", "b.csv"]);
    let (a, b) = (read(&dir, "a.csv"), read(&dir, "b.csv"));
    for line in &a {
        let other = b.iter().find(|other| other["column"] == line["column"]).unwrap();
        assert!((number(line, "difference") + number(other, "difference")).abs() < 1e-9);
        assert!((number(line, "p_value") - number(other, "p_value")).abs() < 1e-9);
    }
    let of = |column: &str| a.iter().find(|line| line["column"] == column).unwrap();
    // One of twenty rows has the wrong kind, and the batches differ by 1.5.
    assert!((number(of("up"), "difference") - 5.7).abs() < 0.8, "{:?}", of("up"));
    assert!((number(of("down"), "difference") + 3.8).abs() < 0.8, "{:?}", of("down"));
    assert!(number(of("flat"), "difference").abs() < 0.4 && number(of("flat"), "p_value") > 0.1, "{:?}", of("flat"));
    // Only the list at a level; sizes beyond all differences leave none.
    good(&dir, &["differences", "o", "--groups", "kind", "--between", "three,one", "--fdr", "0.05", "--out", "l.csv"]);
    let listed: Vec<String> = read(&dir, "l.csv").iter().map(|line| line["column"].clone()).collect();
    assert!(listed.contains(&"up".into()) && listed.contains(&"down".into()) && !listed.contains(&"flat".into()));
    let ask = ["differences", "o", "--groups", "kind", "--size", "50", "--fdr", "0.05", "--json", "--out", "n.csv"];
    let told: Value = serde_json::from_slice(&good(&dir, &ask).stdout).unwrap();
    assert_eq!(told["lists"][0]["columns"], serde_json::json!([]));
    assert_eq!(read(&dir, "n.csv").len(), 0);
    // Of a covariate: no difference is free of it.
    let words = ["B against A, but covariates of the fit tell these groups apart", "fit without that covariate"];
    refused(&dir, &["differences", "o", "--groups", "batch", "--between", "B,A", "--out", "x.csv"], 2, &words);
    for (arguments, words) in [
        (&["--groups", "kinds"][..], "did you mean kind?"),
        (&["--groups", "absent"], "neither a column nor a file"),
        (&["--groups", "kind", "--between", "one"], "separated by a comma"),
        (&["--groups", "kind", "--between", "one,four"], "the groups are one, three, two"),
        (&["--groups", "kind", "--size", "-1"], "a number from 0"),
        (&["--groups", "kind", "--fdr", "1.5"], "between 0 and 1"),
        (&["--groups", "name"], "neither a column nor a file"),
    ] {
        refused(&dir, &[&["differences", "o", "--out", "x.csv"], arguments].concat(), 2, &[words]);
    }
    let mut wrong = kinds.clone();
    wrong[2].0 = "r999".into();
    file(&wrong);
    refused(&dir, &["differences", "o", "--groups", "kinds.csv", "--out", "x.csv"], 2, &["line 4", "no row `r999`"]);
    wrong[2].0 = "r0".into();
    file(&wrong);
    refused(&dir, &["differences", "o", "--groups", "kinds.csv", "--out", "x.csv"], 2, &["line 4", "given before"]);
}

#[test]
fn a_row_with_the_wrong_label_is_found_elsewhere() {
    let dir = folder("groups");
    fitted(&dir);
    let said = text(&good(&dir, &["groups", "o", "--groups", "kind", "--neighbors", "6", "--out", "g.csv"]).stdout);
    assert!(said.contains("confidence") && said.contains("groups of 60 rows: g.csv"), "{said}");
    assert!(said.lines().any(|line| line.starts_with("three ")), "{said}");
    let lines = read(&dir, "g.csv");
    assert_eq!(lines.len(), 60);
    for line in &lines {
        let all = ["P(one)", "P(two)", "P(three)"].map(|name| number(line, name)).iter().sum::<f64>();
        assert!((all - 1.0).abs() < 1e-9, "{line:?}");
        assert_eq!(line["probability"], line[&format!("P({})", line["group"])]);
    }
    let inside = lines[..59].iter().filter(|line| line["standing"] == "inside").count();
    assert!(inside > 50, "{inside}");
    assert_eq!((&*lines[59]["standing"], &*lines[59]["other"]), ("elsewhere", "three"));
    // A file may leave rows out.
    fs::write(dir.join("k.csv"), "id,group\nr0,a\nr1,a\nr2,b\nr3,b\n").unwrap();
    let some = good(&dir, &["groups", "o", "--groups", "k.csv", "--neighbors", "2", "--out", "k2.csv"]);
    assert!(text(&some.stderr).contains("the group a has 2 rows"), "{}", text(&some.stderr));
    let lines = read(&dir, "k2.csv");
    assert!(
        lines[40]["group"].is_empty() && (number(&lines[40], "P(a)") + number(&lines[40], "P(b)") - 1.0).abs() < 1e-9
    );
    refused(
        &dir,
        &["groups", "o", "--groups", "kind", "--neighbors", "60", "--out", "x.csv"],
        2,
        &["1 to 59 neighbors"],
    );
}
