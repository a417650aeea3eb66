//! `rflvm compare` as a user meets it: several ways to fit a table are scored, resumed, and refused where they are invalid.

use crate::common::{folder, good, rflvm, start, text};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// Counts that depend on one latent position, with two missing cells.
fn counts() -> String {
    let mut text = String::from("a,b,c,d,e\n");
    for n in 0..24_u32 {
        let t = f64::from(n) * 0.25;
        let cell = |j: u32| {
            let wave = (t + f64::from(j)).sin() + 1.2;
            ((4.0 * wave).round() as u32 + (n * (j + 3)) % 3).to_string()
        };
        let mut cells: Vec<String> = (0..5).map(cell).collect();
        if n == 5 || n == 11 {
            cells[2].clear();
        }
        text.push_str(&format!("{}\n", cells.join(",")));
    }
    text
}

const SHORT: [&str; 11] = ["--features", "8", "--chains", "2", "--warmup", "15", "--draws", "15", "--seed", "3", "-q"];

fn with<'a>(first: &[&'a str]) -> Vec<&'a str> {
    [&["compare", "t.csv", "--out", "o"], first, &SHORT[..]].concat()
}

fn lines(dir: &Path, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(dir.join(file)).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

/// The file without its column of seconds, which differs between runs.
fn timeless(dir: &Path) -> Vec<Vec<String>> {
    let mut all = lines(dir, "o/compare.csv");
    let seconds = all[0].iter().position(|name| name == "seconds").unwrap();
    all.iter_mut().for_each(|line| drop(line.remove(seconds)));
    all
}

fn fits(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir.join("o/fits")).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn candidates_are_ranked_on_the_same_cells_for_any_number_of_threads() {
    let dir = folder("ranked");
    fs::write(dir.join("t.csv"), counts()).unwrap();
    let lists = ["--latent-dims", "1,2", "--likelihoods", "poisson,negative-binomial"];
    let loud: Vec<&str> = with(&lists).into_iter().filter(|word| *word != "-q").collect();
    let output = good(&dir, &[&loud[..], &["--threads", "1"]].concat());
    let said = text(&output.stdout);
    let all = lines(&dir, "o/compare.csv");
    assert_eq!(
        all[0].join(","),
        "latent_dim,likelihood,kernel,features,elpd,se,difference,difference_se,ess,r_hat,chains_set_aside,seconds,recommended"
    );
    assert_eq!(all.len(), 5);
    assert_eq!((all[1][6].as_str(), all[1][7].as_str()), ("0", "0"), "the best comes first");
    let number = |line: usize, column: usize| all[line][column].parse::<f64>().unwrap();
    (2..5).for_each(|i| assert!(number(i, 6) <= number(i - 1, 6) && number(i, 7) > 0.0));
    assert_eq!(all[1..].iter().filter(|line| line[12] == "true").count(), 1);
    assert!(said.contains("recommended: D = ") && said.contains("to the best"), "{said}");
    assert!(fs::read_to_string(dir.join("o/compare.svg")).unwrap().contains("</svg>"));
    assert_eq!(fits(&dir).len(), 4);
    // A tenth of 118 cells, in every fit.
    for file in fits(&dir) {
        let piece: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(dir.join("o/fits").join(file)).unwrap()).unwrap();
        let points: u64 = piece["points"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).sum();
        assert_eq!(points, 12);
    }
    let (csv, svg) = (timeless(&dir), fs::read(dir.join("o/compare.svg")).unwrap());
    good(&dir, &[&with(&lists)[..], &["--threads", "2", "--overwrite"]].concat());
    assert_eq!(csv, timeless(&dir));
    assert_eq!(svg, fs::read(dir.join("o/compare.svg")).unwrap());
}

#[test]
fn finished_fits_are_not_repeated_and_lists_may_grow() {
    let dir = folder("again");
    fs::write(dir.join("t.csv"), counts()).unwrap();
    let of = |dims| with(&["--likelihood", "poisson", "--latent-dims", dims]);
    good(&dir, &of("1,2"));
    let (csv, file) = (timeless(&dir), dir.join("o/fits/d1-poisson-learned-m8-mask1.json"));
    let (before, made) = (fs::read(&file).unwrap(), fs::metadata(&file).unwrap().modified().unwrap());
    // If one fit is lost, only that one is repeated, with the same result.
    fs::remove_file(dir.join("o/fits/d2-poisson-learned-m8-mask1.json")).unwrap();
    good(&dir, &of("1,2"));
    assert_eq!(csv, timeless(&dir));
    good(&dir, &of("1,2,3"));
    assert_eq!(fits(&dir).len(), 3);
    assert_eq!((fs::read(&file).unwrap(), fs::metadata(&file).unwrap().modified().unwrap()), (before, made));
    // Without a seed, that of the comparison is used.
    let without_seed: Vec<&str> =
        of("1,2,3").into_iter().filter(|word| !["--seed", "3", "-q"].contains(word)).collect();
    let said = text(&good(&dir, &without_seed).stderr);
    assert!(said.contains("3 fits, 3 of them done; seed 3"), "{said}");
}

/// Other settings, a damaged file, and impossible comparisons.
#[test]
fn impossible_comparisons_are_refused_in_one_sentence() {
    let dir = folder("refused");
    fs::write(dir.join("t.csv"), counts()).unwrap();
    fs::write(dir.join("real.csv"), "a,b\n1.5,2\n3,4\n5,1\n2,2\n").unwrap();
    good(&dir, &with(&["--likelihood", "poisson"]));
    let poisson = ["--likelihood", "poisson"];
    let refuse = |arguments: &[&str], words: &[&str]| {
        let output = rflvm(&dir, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "'{word}' is not in: {said}"));
        said
    };
    for (flags, words) in [
        (&["--thin", "2"][..], &["o: the folder holds a comparison with thin 1, but now it is 2", "--overwrite"][..]),
        (&["--held-out", "0.2"], &["held-out 0.1, but now it is 0.2"]),
        (&["--amplitude", "2"], &["other settings of the model for D = 2, poisson"]),
        (&["--columns", "a,b,c"], &["another table"]),
        (&["--latent-dims", "1,2,1"], &["latent-dims is 1,2,1, but it names 1 twice"]),
        (&["--latent-dims", "2,9"], &["latent-dim is 9", "between 1 and 5"]),
        (&["--feature-counts", "9"], &["features is 9", "even"]),
        (&["--folds", "0"], &["folds is 0"]),
        (&["--folds", "3", "--held-out", "0.1"], &["held-out is 0.1", "folds"]),
        (&["--folds", "101"], &["folds is 101", "2 to 100"]),
        (&["--held-out", "1.5"], &["held-out is 1.5"]),
        (&["--keep", "w"], &["keep is given", "stores no draws"]),
    ] {
        let features = if flags[0] == "--feature-counts" { &SHORT[2..] } else { &SHORT[..] };
        let command = ["compare", "t.csv", "--out", "o"];
        let said = refuse(&[&command[..], &poisson, features, flags].concat(), words);
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
    for (arguments, words) in [
        (&["compare", "t.csv", "--out", "p"][..], &["likelihood is not given"][..]),
        (&["compare", "t.csv", "--out", "p", "--likelihoods", "poisson,multinomial"], &["row 6", "multinomial"]),
        (
            &["compare", "real.csv", "--out", "p", "--likelihoods", "gaussian,poisson"],
            &["as poisson: ", "real.csv", "row 1"],
        ),
        (
            &["compare", "t.csv", "--out", "p", "--likelihoods", "poisson,weibull"],
            &["as weibull: ", "unknown likelihood 'weibull'"],
        ),
        (
            &["compare", "t.csv", "--out", "p", "--likelihoods", "nb,negative_binomial"],
            &["likelihoods is negative-binomial,negative-binomial, but it names negative-binomial twice"],
        ),
        (
            &["compare", "t.csv", "--out", "p", "--likelihood", "poisson", "--latent-dims", "1,two"],
            &["--latent-dims", "two"],
        ),
        (
            &["compare", "t.csv", "--out", "p", "--likelihood", "poisson", "--likelihoods", "gaussian"],
            &["--likelihoods"],
        ),
        (&["compare", "t.csv", "--out", "p", "--likelihood", "poisson", "--loo", "--time", "a"], &["loo is given"]),
    ] {
        refuse(arguments, words);
        assert!(!dir.join("p").exists(), "{arguments:?} left something behind");
    }
    fs::write(dir.join("whole.csv"), "a,b,c\n1,2,3\n3,4,1\n5,1,1\n2,2,4\n").unwrap();
    let mixed = ["compare", "whole.csv", "--out", "p", "--likelihoods", "multinomial,poisson"];
    refuse(&mixed, &["likelihoods is multinomial,poisson", "cannot be compared"]);
    fs::write(dir.join("o/fits/d2-poisson-learned-m8-mask1.json"), "{").unwrap();
    refuse(&with(&poisson), &["mask1.json", "damaged", "--overwrite"]);
}

#[test]
fn folds_trials_and_rows_left_out_are_scored() {
    let dir = folder("scored");
    fs::write(dir.join("t.csv"), counts().replace(",,", ",1,")).unwrap();
    let flags = ["--likelihoods", "poisson,gaussian", "--latent-dim", "1", "--folds", "3", "--loo"];
    let output =
        good(&dir, &[&with(&flags)[..], &["--json"]].concat().into_iter().filter(|w| *w != "-q").collect::<Vec<_>>());
    let events: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().any(|e| e["event"] == "warning" && e["message"].as_str().unwrap().contains("approximation")));
    let last = events.last().unwrap();
    assert_eq!(last["event"], "comparison");
    assert!(last["reason"].as_str().unwrap().starts_with("D = 1, "));
    let best = &last["candidates"][0];
    assert!(best["loo_elpd"].as_f64().unwrap() < 0.0 && best["doubtful_rows"].is_u64());
    assert_eq!(fits(&dir).len(), 8);
    // Every cell is scored once, and every row is left out once, so the two scores are of similar size.
    let ratio = best["loo_elpd"].as_f64().unwrap() / best["elpd"].as_f64().unwrap();
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
    good(&dir, &[&with(&["--likelihood", "multinomial", "--latent-dims", "1,2"])[..], &["--overwrite"]].concat());
    assert_eq!(lines(&dir, "o/compare.csv").len(), 3);
}

/// Columns of several families, some of them multinomial: cells or trials are held out.
#[test]
fn families_by_column_are_scored_together() {
    let dir = folder("blocks");
    fs::write(dir.join("t.csv"), counts()).unwrap();
    let families = "column,likelihood\na,multinomial\nb,multinomial\nc,poisson\nd,multinomial\ne,gaussian\n";
    fs::write(dir.join("f.csv"), families).unwrap();
    good(&dir, &with(&["--blocks", "f.csv", "--kernels", "learned,rbf"]));
    let all = lines(&dir, "o/compare.csv");
    assert_eq!((all.len(), all[1][1].as_str()), (3, "blocks"));
    assert_ne!(all[1][2], all[2][2]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_comparison_keeps_finished_fits() {
    let dir = folder("interrupted");
    fs::write(dir.join("t.csv"), counts()).unwrap();
    let long = ["compare", "t.csv", "--out", "o", "--likelihood", "poisson", "--latent-dims", "1,2", "--seed", "1"];
    let child = start(&dir, &[&long[..], &["--features", "8", "--chains", "2", "--warmup", "1000000"]].concat());
    while !dir.join("o/fits").exists() {
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_millis(50));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("0 of 2 fits are kept in o"), "{}", text(&output.stderr));
    assert!(fits(&dir).is_empty() && !dir.join("o/compare.csv").exists());
}

#[test]
fn groups_that_auto_finds_among_numbers_are_compared_as_categories() {
    let dir = folder("groups-compared");
    let row =
        |n: u32| format!("{:.3},{:.3},{}\n", (f64::from(n) * 0.7).sin(), (f64::from(n) * 0.3).cos(), 2007 + n % 3);
    fs::write(dir.join("t.csv"), String::from("a,b,year\n") + &(0..60).map(row).collect::<String>()).unwrap();
    good(&dir, &with(&["--likelihood", "auto", "--latent-dims", "1,2"]));
    let all = lines(&dir, "o/compare.csv");
    assert!(all.len() == 3 && all[1..].iter().all(|line| line[1] == "auto" && !line[4].is_empty()), "{all:?}");
}
