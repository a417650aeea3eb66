//! Absurdly large numbers: one sentence and exit code 2 at once, nothing written, and never a panic, an abort or a hang.

use crate::common::{folder, good, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Numbers that users may mistype.
const HUGE: [&str; 5] =
    ["18446744073709551615", "18446744073709551614", "9223372036854775807", "1000000000000000000", "1000000000000"];

/// Commands, and the flags of each that take a number.
const COMMANDS: [(&[&str], &[&str]); 14] = [
    (
        &["fit", "t.csv", "--likelihood", "poisson", "--out", "new"],
        &["--draws", "--warmup", "--thin", "--chains", "--threads", "--features", "--latent-dim", "--checkpoint"],
    ),
    (&["fit", "t.csv", "--likelihood", "poisson", "--time", "a", "--out", "new"], &["--inducing"]),
    (&["fit", "t.csv", "--likelihood", "binomial", "--out", "new"], &["--trials"]),
    (
        &["fit", "t.csv", "--method", "map", "--likelihood", "poisson", "--out", "new"],
        &["--starts", "--features", "--threads"],
    ),
    (
        &["compare", "t.csv", "--likelihood", "poisson", "--out", "new"],
        &["--folds", "--latent-dims", "--feature-counts", "--draws", "--chains"],
    ),
    (&["doctor", "t.csv"], &["--draws", "--chains", "--features", "--latent-dim"]),
    (&["simulate", "--out", "new"], &["--rows", "--columns", "--trials"]),
    (&["simulate", "--source", "model", "--out", "new"], &["--rows", "--columns", "--features", "--latent-dim"]),
    (&["resume", "o"], &["--draws", "--threads"]),
    (&["impute", "o", "--out", "new.csv"], &["--draws"]),
    (&["transform", "o", "t.csv", "--out", "new.csv"], &["--draws"]),
    (&["predict", "o", "--out", "new.csv"], &["--grid", "--rows"]),
    (&["forecast", "o", "--out", "new.csv"], &["--horizon"]),
    (&["demo", "--out", "new"], &["--draws", "--warmup", "--threads"]),
];

/// The exit code and the messages, under limits on memory and CPU time; a program that exceeds them is killed and has no exit code.
fn run(dir: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    // A machine with 8 GB: larger requests must be refused, not tried. One minute of CPU time, which does not depend on the load of the machine.
    let script = "ulimit -v 8388608; ulimit -t 60; exec \"$@\"";
    let output = Command::new("bash")
        .args(["-c", script, "bash", env!("CARGO_BIN_EXE_rflvm")])
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), text(&output.stderr))
}

#[cfg(target_os = "linux")]
#[test]
fn no_number_makes_it_panic_hang_or_write() {
    let dir = folder("huge");
    fs::write(dir.join("t.csv"), "a,b,c\n1,2,0\n3,4,1\n0,,2\n5,2,1\n2,2,3\n").unwrap();
    let fit = [
        "fit",
        "t.csv",
        "--likelihood",
        "poisson",
        "--features",
        "4",
        "--chains",
        "2",
        "--warmup",
        "5",
        "--draws",
        "4",
        "-q",
    ];
    good(&dir, &[&fit[..], &["--out", "o"]].concat());
    // Flags for which huge values are valid: for instance a time between checkpoints that never elapses.
    let may_pass = |flag: &str| flag == "--checkpoint";
    let mut tried = 0;
    for (command, flags) in COMMANDS {
        for flag in flags {
            for number in HUGE {
                let value = if *flag == "--rows" && command[0] == "predict" {
                    "1-".to_string() + number
                } else {
                    number.into()
                };
                let mut arguments = command.to_vec();
                arguments.extend([*flag, &value]);
                if may_pass(flag) {
                    arguments.extend(["--chains", "2", "--warmup", "2", "--draws", "2", "--features", "4"]);
                }
                let (code, said) = run(&dir, &arguments);
                let is_refused = code == Some(2) && said.lines().last().is_some_and(|l| !l.contains("panicked"));
                assert!(is_refused || may_pass(flag) && code == Some(0), "{arguments:?}: {code:?}: {said}");
                assert!(!dir.join("new").join("config.toml").exists() || may_pass(flag), "{arguments:?} wrote");
                assert!(!dir.join("new.csv").exists(), "{arguments:?} wrote");
                let _ = fs::remove_dir_all(dir.join("new"));
                tried += 1;
            }
        }
    }
    assert!(tried > 150, "{tried}");
}
