//! Cells such as `<0.5`: limits of detection in text tables.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::{Path, PathBuf};

const QUICK: [&str; 12] =
    ["--features", "8", "--warmup", "30", "--draws", "30", "--seed", "1", "--chains", "2", "--latent-dim", "1"];

fn read(dir: &Path, file: &str) -> String {
    fs::read_to_string(dir.join(file)).unwrap()
}

/// 40 rows of two amounts along one axis; small ones of the first are below 0.5, large ones of the second above 30.
fn table(dir: &Path) -> PathBuf {
    let mut table = String::from("lead,zinc,age\n");
    for n in 0..40_u32 {
        let place = f64::from(n * 17 % 40) / 20.0 - 1.0;
        let (lead, zinc) = ((1.2 * place + 0.1 * f64::from(n % 3)).exp(), 10.0 * (2.0 * place).exp());
        let lead = if lead < 0.5 { "<0.5".into() } else { format!("{lead:.3}") };
        let zinc = if zinc > 30.0 { "> 30".into() } else { format!("{zinc:.2}") };
        let lead = if n == 7 { String::new() } else { lead };
        table.push_str(&format!("{lead},{zinc},{:.1}\n", 40.0 + 5.0 * place));
    }
    fs::write(dir.join("t.csv"), table).unwrap();
    dir.join("t.csv")
}

#[test]
fn limits_are_read_kept_and_answered() {
    let dir = folder("censored");
    table(&dir);
    let said = text(&good(&dir, &["doctor", "t.csv", "--blocks-out", "b.csv"]).stdout);
    assert!(said.contains("log-normal (2)") && said.contains("gaussian (1)"), "{said}");
    good(&dir, &[&["fit", "t.csv", "--likelihood", "auto", "--out", "fit"], &QUICK[..]].concat());
    let limits = read(&dir, "fit/limits.csv");
    assert!(limits.contains(",lead,<0.5\n") && limits.contains(",zinc,>30\n"), "{limits}");
    // The folder alone gives the same answers: its store holds only the limits themselves.
    good(&dir, &["predict", "fit", "--rows", "all", "--out", "before.csv"]);
    fs::remove_file(dir.join("t.csv")).unwrap();
    good(&dir, &["predict", "fit", "--rows", "all", "--out", "after.csv"]);
    assert_eq!(read(&dir, "before.csv"), read(&dir, "after.csv"));
    // Amounts have quantiles and no mean; the missing one is not limited.
    let imputed = read(&dir, "fit/imputed.csv");
    let cells: Vec<&str> = imputed.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((cells[0], cells[1], cells[2], cells[3]), ("8", "lead", "", ""));
    assert!(cells[4..7].iter().all(|q| q.parse::<f64>().unwrap() > 0.0), "{imputed}");
    let predicted = read(&dir, "before.csv");
    let quantile = |line: &str, i: usize| line.split(',').nth(i).unwrap().parse::<f64>().unwrap();
    let zinc = predicted.lines().filter(|line| line.split(',').nth(1) == Some("zinc"));
    assert!(zinc.clone().count() == 40 && zinc.clone().all(|line| quantile(line, 6) <= 30.0), "{predicted}");
    good(&dir, &["check", "fit"]);
    fs::write(dir.join("new.csv"), "lead,zinc,age\n<0.5,12,41\n0.9,>30,44\n").unwrap();
    good(&dir, &["transform", "fit", "new.csv", "--out", "placed.csv"]);
}

#[test]
fn families_without_limits_refuse_them_and_a_damaged_list_is_named() {
    let dir = folder("limits");
    table(&dir);
    let output = rflvm(&dir, &["fit", "t.csv", "--likelihood", "student-t", "--out", "t"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`lead` has cells such as <0.5") && said.contains("only gaussian and log-normal"), "{said}");
    good(&dir, &[&["fit", "t.csv", "--likelihood", "gaussian", "--out", "fit"], &QUICK[..]].concat());
    let with = |flags: &[&str]| rflvm(&dir, &[&["fit", "t.csv", "--out", "cuda"], flags].concat());
    let refused = with(&["--likelihood", "gaussian", "--device", "cuda"]);
    assert!(!refused.status.success());
    fs::write(dir.join("fit/limits.csv"), "row,column,cell\n400,lead,<0.5\n").unwrap();
    let damaged = rflvm(&dir, &["summary", "fit"]);
    assert!(
        text(&damaged.stderr).contains("limits.csv: it does not list cells of the table"),
        "{}",
        text(&damaged.stderr)
    );
    // Classes of age are names, not limits.
    fs::write(dir.join("c.csv"), "age,x\n".to_string() + &"<20,1.5\n20-40,2.5\n>40,0.5\n<20,0.25\n20-40,1\n".repeat(6))
        .unwrap();
    let said = text(&good(&dir, &["doctor", "c.csv"]).stdout);
    assert!(said.contains("multinomial (1)"), "{said}");
}
