//! Yes/no columns and text columns, in every command that handles them.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::{Path, PathBuf};

const QUICK: [&str; 10] = ["--features", "8", "--warmup", "8", "--draws", "6", "--seed", "1", "--chains", "2"];

/// 30 rows with two categories (some cells missing), a yes/no column, a count and a number.
fn table() -> String {
    let mut table = String::from("name,tree,fresh,height,count,soil\n");
    for n in 0..30 {
        let tree = if n % 9 == 4 { "" } else { ["oak", "elm", "fir"][n * 5 % 3] };
        let soil = if n == 7 { "NA" } else { ["clay", "sand"][n * 3 % 2] };
        let fresh = ["TRUE", "FALSE"][n * 7 % 5 % 2];
        table.push_str(&format!("r{n},{tree},{fresh},{:.2},{},{soil}\n", (n * 11 % 17) as f64 * 0.3 - 2.0, n * 7 % 6));
    }
    table
}

fn fitted(name: &str) -> PathBuf {
    let dir = folder(name);
    fs::write(dir.join("t.csv"), table()).unwrap();
    good(&dir, &[&["fit", "t.csv", "--likelihood", "auto", "--id", "name", "--out", "fit"], &QUICK[..]].concat());
    dir
}

fn read(dir: &Path, file: &str) -> String {
    fs::read_to_string(dir.join(file)).unwrap()
}

#[test]
fn checks_of_categories_name_them_and_show_what_can_vary() {
    let dir = fitted("checked");
    let told = String::from_utf8(good(&dir, &["check", "fit"]).stdout).unwrap();
    for words in ["tree (multinomial, 3 levels)", "soil (multinomial, 2 levels)", "share in the likeliest category"] {
        assert!(told.contains(words), "{words} is not in {told}");
    }
    // Each pair of categories once, by name.
    assert!(told.matches("association with").count() == 1, "{told}");
    assert!(told.contains("association with soil ") || told.contains("association with tree "), "{told}");
    // Each answer is a one among zeros.
    assert!(!told.contains("entropy") && told.matches("largest cell").count() == 1, "{told}");
}

#[test]
fn predictions_of_answers_are_scored_per_answer() {
    let dir = fitted("scored");
    // The missing trees, and no soil.
    let fill = |(n, line): (usize, &str)| match n % 9 {
        5 => line.replacen(",,", ",oak,", 1),
        _ => line.into(),
    };
    let truth: Vec<String> = table().lines().enumerate().map(fill).collect();
    fs::write(dir.join("truth.csv"), truth.join("\n")).unwrap();
    let output = good(&dir, &["impute", "fit", "--truth", "truth.csv", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let tree = &told["categories"]["tree"];
    assert_eq!((tree["cells"].as_u64(), told["categories"].as_object().unwrap().len()), (Some(3), 1), "{told}");
    let (accuracy, ln) = (tree["accuracy"].as_f64().unwrap(), tree["log_probability"].as_f64().unwrap());
    assert!((0.0..=1.0).contains(&accuracy) && ln < 0.0, "{told}");
    let told = String::from_utf8(good(&dir, &["impute", "fit", "--truth", "truth.csv"]).stdout).unwrap();
    assert!(told.contains("tree: 3 answers, ") && told.contains("mean log probability of an answer"), "{told}");
}

#[test]
fn auto_equals_a_list_of_families_and_can_be_repeated_and_resumed() {
    let dir = fitted("auto");
    let blocks = read(&dir, "fit/blocks.csv");
    let lines = "tree,multinomial,tree\nfresh,bernoulli,\nheight,gaussian,\ncount,poisson,\nsoil,multinomial,soil\n";
    assert_eq!(blocks, format!("column,likelihood,block\n{lines}"));
    let embedding = read(&dir, "fit/embedding.csv");
    // Its own config.toml; the same families by hand, under other names; columns of levels made by hand.
    good(&dir, &["fit", "--config", "fit/config.toml", "--out", "again", "-q"]);
    fs::write(dir.join("b.csv"), "column,likelihood,block\ntree,Categorical,\nfresh,binary,\nheight,normal,\ncount,Poisson,\nsoil,multinomial,\n").unwrap();
    good(&dir, &[&["fit", "t.csv", "--blocks", "b.csv", "--id", "name", "--out", "listed"], &QUICK[..]].concat());
    let level = |cell: &str, levels: &[&str]| {
        let of = |level: &&str| {
            if cell.is_empty() || cell == "NA" { String::new() } else { u8::from(cell == *level).to_string() }
        };
        levels.iter().map(of).collect::<Vec<_>>().join(",")
    };
    let mut spread = String::from("name,tree=elm,tree=fir,tree=oak,fresh,height,count,soil=clay,soil=sand\n");
    for line in table().lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let (tree, soil) = (level(cells[1], &["elm", "fir", "oak"]), level(cells[5], &["clay", "sand"]));
        spread.push_str(&format!(
            "{},{tree},{},{},{},{soil}\n",
            cells[0],
            u8::from(cells[2] == "TRUE"),
            cells[3],
            cells[4]
        ));
    }
    fs::write(dir.join("s.csv"), spread).unwrap();
    let of_levels = "column,likelihood,block\ntree=elm,multinomial,1\ntree=fir,multinomial,1\ntree=oak,multinomial,1\nfresh,bernoulli,\nheight,gaussian,\ncount,poisson,\nsoil=clay,multinomial,2\nsoil=sand,multinomial,2\n";
    fs::write(dir.join("l.csv"), of_levels).unwrap();
    good(&dir, &[&["fit", "s.csv", "--blocks", "l.csv", "--id", "name", "--out", "spread"], &QUICK[..]].concat());
    for other in ["again", "listed", "spread"] {
        assert_eq!(read(&dir, &format!("{other}/embedding.csv")), embedding, "{other}");
    }
    good(&dir, &["resume", "fit"]);
    assert_eq!(read(&dir, "fit/embedding.csv"), embedding);
    assert!(text(&good(&dir, &["summary", "fit"]).stdout).contains("log_likelihood"));
    // Only numbers need no list.
    fs::write(dir.join("n.csv"), "a,b\n1,0\n0,2\n3,1\n2,2\n").unwrap();
    good(&dir, &[&["fit", "n.csv", "--likelihood", "AUTO", "--out", "n"], &QUICK[..]].concat());
    assert!(read(&dir, "n/config.toml").contains("likelihood = \"poisson\"") && !dir.join("n/blocks.csv").exists());
    good(&dir, &[&["fit", "n.csv", "--likelihood", "NB", "--out", "m"], &QUICK[..]].concat());
    assert!(read(&dir, "m/config.toml").contains("likelihood = \"negative-binomial\""));
}

#[test]
fn results_name_levels_and_completed_tables_have_the_texts() {
    let dir = fitted("answers");
    let cells = read(&dir, "fit/imputed.csv");
    assert!(cells.lines().any(|line| line.starts_with("5,tree=elm,")), "{cells}");
    good(&dir, &["impute", "fit", "--out", "c.csv", "--draws", "2"]);
    let (before, after) = (table(), read(&dir, "c-2.csv"));
    assert_eq!(after.lines().next(), Some("name,tree,fresh,height,count,soil"));
    for (old, new) in before.lines().zip(after.lines()).skip(1) {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.split(',').collect(), new.split(',').collect());
        assert!(["oak", "elm", "fir"].contains(&new[1]) && ["clay", "sand"].contains(&new[5]), "{new:?}");
        assert!(old[1].is_empty() || old[1] == new[1]);
        assert_eq!(new[2], if old[2] == "TRUE" { "1" } else { "0" });
    }
    good(&dir, &["predict", "fit", "--rows", "1,2", "--out", "p.csv", "--draws", "1"]);
    assert_eq!(read(&dir, "p-1.csv").lines().next(), Some("row,tree,fresh,height,count,soil"));
    good(&dir, &["check", "fit"]);
    good(
        &dir,
        &[
            "fit",
            "t.csv",
            "--method",
            "map",
            "--likelihood",
            "auto",
            "--id",
            "name",
            "--features",
            "8",
            "--seed",
            "1",
            "--out",
            "map",
        ],
    );
    assert!(read(&dir, "map/blocks.csv").contains("soil,multinomial,soil"));
    let compare = ["compare", "t.csv", "--id", "name", "--latent-dims", "1,2", "--likelihood", "auto", "--out", "cmp"];
    good(&dir, &[&compare[..], &QUICK[..]].concat());
    let families = ["compare", "t.csv", "--id", "name", "--likelihoods", "auto,gaussian", "--out", "no"];
    let said = text(&rflvm(&dir, &[&families[..], &QUICK[..]].concat()).stderr);
    assert!(said.contains("as gaussian") && said.contains("`tree` holds text"), "{said}");
}

#[test]
fn new_rows_have_the_levels_of_the_fit() {
    let dir = fitted("new");
    // In another order, in another dialect, all of one kind.
    fs::write(dir.join("n.csv"), "soil;tree;count;height;fresh\nclay;fir;?;1,5;false\n;oak;2;-0,5;false\n").unwrap();
    let written = ["--separator", ";", "--decimal", ",", "--na", "?"];
    good(&dir, &[&["transform", "fit", "n.csv", "--out", "x.csv"], &written[..]].concat());
    assert_eq!(read(&dir, "x.csv").lines().count(), 3);
    let said = text(&rflvm(&dir, &["transform", "fit", "n.csv", "--out", "y.csv"]).stderr);
    assert!(said.contains("try --separator ';' --decimal ,"), "{said}");
    fs::write(dir.join("n.csv"), "soil,tree,count,height,fresh\nclay,yew,1,1.5,TRUE\n").unwrap();
    let output = rflvm(&dir, &["transform", "fit", "n.csv", "--out", "y.csv"]);
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(2) && !dir.join("y.csv").exists());
    let words = "row 1 (line 2), column `tree`: the fit does not know `yew`; it knows `elm`, `fir`, `oak`";
    assert!(said.contains(words) && said.trim_end().lines().count() == 1, "{said}");
}

#[test]
fn the_store_of_a_fit_is_a_table_with_its_categories() {
    let dir = fitted("store");
    good(&dir, &[&["fit", "fit/draws.zarr", "--likelihood", "auto", "--out", "again"], &QUICK[..]].concat());
    assert_eq!(read(&dir, "again/embedding.csv"), read(&dir, "fit/embedding.csv"));
    good(&dir, &["transform", "again", "t.csv", "--out", "x.csv"]);
    let seen = good(&dir, &["doctor", "fit/draws.zarr", "--json"]);
    let seen: serde_json::Value = serde_json::from_slice(&seen.stdout).unwrap();
    assert_eq!((seen["columns"].as_u64(), seen["column_kinds"][0]["levels"].as_u64()), (Some(5), Some(3)));
}

#[test]
fn errors_about_text_name_the_family_that_accepts_it() {
    let dir = folder("refused");
    fs::write(dir.join("t.csv"), table()).unwrap();
    for (flags, words) in [
        (
            &["--likelihood", "gaussian"][..],
            "its column holds 3 different texts: fit it as a category with --likelihood auto (`rflvm doctor --blocks-out` lists families to edit), colour the picture by it with --labels tree",
        ),
        (&["--blocks", "b.csv"], "b.csv: line 2: the column `tree` holds text, which gaussian does not accept"),
        (&["--likelihood", "auto", "--blocks", "b.csv"], "cannot be used with"),
        (&["--likelihood", "guassian"], "did you mean gaussian?"),
        (&["--likelihood", "auto", "--without", "trea"], "did you mean `tree`?"),
    ] {
        fs::write(
            dir.join("b.csv"),
            "column,likelihood\ntree,gaussian\nfresh,bernoulli\nheight,gaussian\ncount,poisson\nsoil,multinomial\n",
        )
        .unwrap();
        let output = rflvm(&dir, &[&["fit", "t.csv", "--id", "name", "--out", "o"], flags].concat());
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(words), "{flags:?}: {said}");
        assert!(!dir.join("o").exists());
    }
    // All text columns are categories of a multinomial; a numeric column is one if it is alone in its block.
    fs::write(dir.join("w.csv"), "a,b\nx,1\ny,2\nx,1\ny,3\nx,2\ny,3\n").unwrap();
    fs::write(dir.join("b.csv"), "column,likelihood,block\na,multinomial,\nb,multinomial,grades\n").unwrap();
    good(&dir, &[&["fit", "w.csv", "--blocks", "b.csv", "--out", "w"], &QUICK[..]].concat());
    fs::write(dir.join("b.csv"), "column,likelihood\na,multinomial\nb,multinomial\n").unwrap();
    let said = text(&rflvm(&dir, &["fit", "w.csv", "--blocks", "b.csv", "--out", "v"]).stderr);
    assert!(said.contains("`b` is the only one of numbers in its multinomial block"), "{said}");
    // A fit of text with one family is opened again.
    fs::write(dir.join("u.csv"), "a,b\nx,p\ny,q\nx,q\ny,q\nx,p\ny,p\n").unwrap();
    good(&dir, &[&["fit", "u.csv", "--likelihood", "multinomial", "--out", "u"], &QUICK[..]].concat());
    good(&dir, &["summary", "u"]);
}

#[test]
fn a_fit_of_chosen_columns_with_text_is_opened_again() {
    let dir = folder("chosen");
    let row = |n: usize| format!("{},{:.1},{n}\n", ["x", "y", "z"][n * 5 % 3], (n * 13 % 29) as f64 * 0.7 - 3.0);
    fs::write(dir.join("t.csv"), (0..30).map(row).fold("a,b,c\n".to_string(), |all, line| all + &line)).unwrap();
    for (out, flags) in [("o", ["--columns", "b,a"]), ("p", ["--without", "c,b"])] {
        good(&dir, &[&["fit", "t.csv", "--likelihood", "auto", "--out", out], &flags[..], &QUICK].concat());
        good(&dir, &["resume", out, "--draws", "9", "-q"]);
        good(&dir, &["transform", out, "t.csv", "--out", &format!("{out}.csv")]);
    }
}

#[test]
fn a_few_whole_numbers_are_a_category_and_na_can_be_one() {
    let dir = folder("few");
    let row = |n: usize| {
        format!("{},{:.1},{}\n", 2007 + n * 7 % 3, (n * 13 % 29) as f64 * 0.7 - 3.0, ["NA", "ZA", "BW"][n * 5 % 3])
    };
    fs::write(dir.join("t.csv"), (0..36).map(row).fold("year,mass,land\n".to_string(), |all, line| all + &line))
        .unwrap();
    let fit = [
        "fit",
        "t.csv",
        "--likelihood",
        "auto",
        "--na",
        "",
        "--features",
        "6",
        "--warmup",
        "4",
        "--draws",
        "4",
        "--seed",
        "1",
    ];
    good(&dir, &[&fit[..], &["-q", "--out", "o"]].concat());
    let blocks = fs::read_to_string(dir.join("o/blocks.csv")).unwrap();
    assert_eq!(blocks, "column,likelihood,block\nyear,multinomial,year\nmass,gaussian,\nland,multinomial,land\n");
    // The fit is opened again, and takes the same table as new rows.
    good(&dir, &["transform", "o", "t.csv", "--out", "p.csv"]);
    good(&dir, &["fit", "--config", "o/config.toml", "-q", "--out", "again"]);
    let told = text(&good(&dir, &["doctor", "t.csv", "--na", "", "--features", "6"]).stdout);
    assert!(told.contains("year (3 levels)") && told.contains("land (3 levels)"), "{told}");
    // Otherwise NA is missing.
    let told = text(&good(&dir, &["doctor", "t.csv", "--features", "6"]).stdout);
    assert!(told.contains("land (2 levels)") && told.contains("cells are missing"), "{told}");
}
