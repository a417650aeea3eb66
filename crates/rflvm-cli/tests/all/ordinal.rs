//! Answers on a scale: chosen by `auto`, imputed with probabilities, and refused where they are no levels.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::Path;

const QUICK: [&str; 10] = ["--features", "8", "--warmup", "30", "--draws", "30", "--seed", "1", "--chains", "2"];

fn read(dir: &Path, file: &str) -> String {
    fs::read_to_string(dir.join(file)).unwrap()
}

/// 60 rows with three answers from 1 to 5 and one from 1 to 7, some of them missing.
fn table(top: u32) -> String {
    let mut table = String::from("a,b,c,d\n");
    for n in 0..60_u32 {
        let place = n * 37 % 60;
        let answer = |k: u32, levels: u32| match (n + 3 * k) % 11 {
            0 => String::new(),
            _ => (1 + ((place + 7 * k * (n % 3)) * levels / 60).min(levels - 1)).to_string(),
        };
        table.push_str(&format!("{},{},{},{}\n", answer(0, 5), answer(1, 5), answer(2, 5), answer(3, top)));
    }
    table
}

#[test]
fn answers_on_a_scale_are_ordinal_and_a_missing_one_has_the_probabilities_of_its_levels() {
    let dir = folder("ordinal");
    fs::write(dir.join("t.csv"), table(7)).unwrap();
    let said = text(&good(&dir, &["doctor", "t.csv"]).stdout);
    assert!(said.contains("families: ordinal (4)") && said.contains("--likelihood ordinal"), "{said}");
    good(&dir, &[&["fit", "t.csv", "--likelihood", "auto", "--out", "fit"], &QUICK[..]].concat());
    assert!(read(&dir, "fit/config.toml").contains("likelihood = \"ordinal\""));
    let imputed = read(&dir, "fit/imputed.csv");
    let mut lines = imputed.lines().skip(1).peekable();
    let mut cells = 0;
    while let Some(line) = lines.next() {
        let of = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
        let cell = of(line);
        let levels = if cell[1] == "d" { 7 } else { 5 };
        let shares: Vec<f64> = (1..=levels)
            .map(|k| {
                let level = of(lines.next().unwrap());
                assert_eq!((&level[0], level[1].as_str()), (&cell[0], format!("{}={k}", cell[1]).as_str()));
                level[2].parse().unwrap()
            })
            .collect();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        let mean: f64 = cell[2].parse().unwrap();
        let of_shares: f64 = (1..).zip(&shares).map(|(k, share)| f64::from(k) * share).sum();
        // One is the mean of expectations, the other of draws.
        assert!((mean - of_shares).abs() < 1.0 && (1.0..=f64::from(levels)).contains(&mean), "{mean}, {shares:?}");
        cells += 1;
    }
    assert!(cells > 15, "{cells}");
    good(&dir, &["impute", "fit", "--out", "full.csv", "--draws", "1"]);
    let full = read(&dir, "full-1.csv");
    assert!(
        full.lines()
            .skip(1)
            .flat_map(|line| line.split(','))
            .all(|cell| ["1", "2", "3", "4", "5", "6", "7"].contains(&cell))
    );
    // New rows have the levels of the fit, whatever their own.
    fs::write(dir.join("new.csv"), "a,b,c,d\n1,2,1,3\n2,1,,2\n").unwrap();
    good(&dir, &["transform", "fit", "new.csv", "--out", "placed.csv"]);
    fs::write(dir.join("above.csv"), "a,b,c,d\n1,2,6,3\n").unwrap();
    let refused = rflvm(&dir, &["transform", "fit", "above.csv", "--out", "high.csv"]);
    let said = text(&refused.stderr);
    assert!(said.contains("column 'c'") && said.contains("above 5, the highest level"), "{said}");
}

#[test]
fn levels_may_be_given_and_cells_that_are_none_are_refused() {
    let dir = folder("levels");
    fs::write(dir.join("t.csv"), table(7)).unwrap();
    fs::write(dir.join("b.csv"), "column,likelihood,trials\na,ordinal,6\nb,ordinal,\nc,ordinal,6\nd,ordinal,\n")
        .unwrap();
    good(&dir, &[&["fit", "t.csv", "--blocks", "b.csv", "--out", "fit"], &QUICK[..]].concat());
    assert!(read(&dir, "fit/imputed.csv").contains(",a=6,") && !read(&dir, "fit/imputed.csv").contains(",b=6,"));
    for (cell, words) in [("0", "counted from 1"), ("2.5", "not a whole number"), ("31", "takes at most 20")] {
        fs::write(dir.join("bad.csv"), format!("a,b\n1,2\n{cell},1\n3,2\n")).unwrap();
        let output = rflvm(&dir, &["fit", "bad.csv", "--likelihood", "ordinal", "--latent-dim", "1", "--out", "bad"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
