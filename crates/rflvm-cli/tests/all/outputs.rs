//! Output that cannot be written: no panic, an error message if it can still be read, and a fit that continues without its log.
#![cfg(target_os = "linux")]

use crate::common::{folder, good, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn shell(dir: &Path, script: &str) -> Output {
    let script = format!("rflvm() {{ {} \"$@\"; }}; {script}", env!("CARGO_BIN_EXE_rflvm"));
    Command::new("bash").args(["-o", "pipefail", "-c", &script]).current_dir(dir).output().unwrap()
}

const FIT: &str = "fit t.csv --likelihood poisson --features 4 --warmup 20 --draws 20 --seed 1";

#[test]
fn a_fit_continues_without_its_log() {
    let dir = folder("log");
    fs::write(dir.join("t.csv"), "a,b,c\n1,2,0\n3,4,1\n0,,2\n5,2,1\n2,2,3\n").unwrap();
    good(&dir, &[&FIT.split(' ').collect::<Vec<_>>()[..], &["-q", "--out", "whole"]].concat());
    for (name, way) in [
        ("errors", "2>/dev/full"),
        ("verbose", "-v 2>/dev/full"),
        ("closed", "2>&-"),
        ("json", "--json >/dev/full"),
        ("piped", "--json | head -1"),
    ] {
        let output = shell(&dir, &format!("rflvm {FIT} --out {name} {way}"));
        assert!(output.status.success(), "{way}: {:?} {}", output.status, text(&output.stderr));
        let embedding = |out: &str| fs::read_to_string(dir.join(out).join("embedding.csv")).unwrap();
        assert_eq!(embedding(name), embedding("whole"), "{way}");
    }
}

#[test]
fn a_result_that_cannot_be_printed_is_a_failure_but_a_closed_pipe_is_not() {
    let dir = folder("answer");
    fs::write(dir.join("t.csv"), "a,b,c\n1,2,0\n3,4,1\n0,,2\n5,2,1\n2,2,3\n").unwrap();
    good(&dir, &[&FIT.split(' ').collect::<Vec<_>>()[..], &["-q", "--out", "o"]].concat());
    let answers = [
        "summary o",
        "summary o --json",
        "check o",
        "check o --json",
        "doctor t.csv",
        "doctor t.csv --json",
        "export o --out x.csv",
        "impute o --out i.csv",
        "predict o --rows all --out p.csv",
        "kernel o --out k.csv",
        "simulate --rows 5 --columns 3 --out s",
        "completions bash",
        "man",
    ];
    for answer in answers {
        let full = shell(&dir, &format!("rflvm {answer} >/dev/full"));
        assert_eq!(full.status.code(), Some(1), "{answer}: {}", text(&full.stderr));
        assert!(text(&full.stderr).contains("standard output cannot be written"), "{answer}: {}", text(&full.stderr));
        let closed = shell(&dir, &format!("rflvm {answer} | head -c 1 >/dev/null"));
        assert!(!text(&closed.stderr).contains("panicked"), "{answer}: {}", text(&closed.stderr));
        assert!(matches!(closed.status.code(), Some(0 | 141)), "{answer}: {:?}", closed.status);
        // No message can be shown, but the exit code reports the failure.
        let both = shell(&dir, &format!("rflvm {answer} >/dev/full 2>/dev/full"));
        assert_eq!(both.status.code(), Some(1), "{answer}");
    }
    for help in ["--help", "fit --help", "--version", "fit --no-such-flag"] {
        let output = shell(&dir, &format!("rflvm {help} >/dev/full 2>/dev/full"));
        assert!(matches!(output.status.code(), Some(0..=2)), "{help}: {:?}", output.status);
    }
}
