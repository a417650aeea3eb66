//! Output that cannot be written: no panic, an error message if it can still be read, and a fit that continues without its log.
#![cfg(target_os = "linux")]

use crate::common::{folder, good, let_signals_through, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn shell(dir: &Path, script: &str) -> Output {
    let script = format!("rflvm() {{ {} \"$@\"; }}; {script}", env!("CARGO_BIN_EXE_rflvm"));
    let mut command = Command::new("bash");
    let_signals_through(&mut command);
    command.args(["-o", "pipefail", "-c", &script]).current_dir(dir).output().unwrap()
}

const FIT: &str = "fit t.csv --likelihood poisson --features 4 --chains 2 --warmup 20 --draws 20 --seed 1";

#[test]
fn a_fit_continues_without_its_log() {
    let dir = folder("log");
    fs::write(dir.join("t.csv"), "a,b,c\n1,2,0\n3,4,1\n0,,2\n5,2,1\n2,2,3\n").unwrap();
    good(&dir, &[&FIT.split(' ').collect::<Vec<_>>()[..], &["-q", "--out", "whole"]].concat());
    for (name, way, code) in [
        ("errors", "2>/dev/full", 0),
        ("verbose", "-v 2>/dev/full", 0),
        ("closed", "2>&-", 0),
        // Who asked for events must learn that they are lost.
        ("json", "--json >/dev/full", 1),
        ("piped", "--json | head -1", 0),
    ] {
        let output = shell(&dir, &format!("rflvm {FIT} --out {name} {way}"));
        assert_eq!(output.status.code(), Some(code), "{way}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr).contains("standard output cannot be written"), code == 1, "{way}");
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
        "kernel o --out k.csv --overwrite",
        "simulate --rows 5 --columns 3 --out s --overwrite",
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

#[test]
fn a_limit_on_the_size_of_files_is_an_error_message() {
    let dir = folder("limit");
    fs::write(dir.join("t.csv"), "a,b,c\n1,2,0\n3,4,1\n0,,2\n5,2,1\n2,2,3\n").unwrap();
    let output = shell(&dir, &format!("ulimit -f 1; rflvm {FIT} -q --out o"));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot be written (File too large)") && said.contains("ulimit -f"), "{said}");
    // Space is not the trouble.
    assert!(!said.contains("free some space"), "{said}");
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let dir = folder("nohup");
    fs::write(dir.join("t.csv"), "a,b,c\n1,2,0\n3,4,1\n0,,2\n5,2,1\n2,2,3\n").unwrap();
    let fit = FIT.replace("--draws 20", "--draws 4000");
    for (name, trap, code) in [("kept", "trap '' HUP", 0), ("not", "true", 130)] {
        let wait = format!("until [ -e {name}/checkpoint.bin ]; do sleep 0.01; done");
        let script = format!("{trap}; rflvm {fit} -q --out {name} & {wait}; kill -HUP $!; wait $!");
        // A function would run in a second shell, which the signal would end instead.
        let script = script.replace("rflvm ", &format!("{} ", env!("CARGO_BIN_EXE_rflvm")));
        let output = shell(&dir, &script);
        assert_eq!(output.status.code(), Some(code), "{name}: {}", text(&output.stderr));
    }
}

#[test]
fn a_pipe_in_the_place_of_a_chunk_is_an_error_and_does_not_hang() {
    let dir = folder("pipe");
    fs::write(dir.join("t.csv"), "a,b,c\n1,2,0\n3,4,1\n0,,2\n5,2,1\n2,2,3\n").unwrap();
    good(&dir, &[&FIT.split(' ').collect::<Vec<_>>()[..], &["-q", "--out", "o"]].concat());
    let chunk = dir.join("o/draws.zarr/posterior/x/0.0.0.0");
    assert!(chunk.exists());
    for file in [&chunk, &dir.join("o/draws.zarr/.zmetadata")] {
        fs::remove_file(file).unwrap();
        assert!(Command::new("mkfifo").arg(file).status().unwrap().success());
        let output = shell(
            &dir,
            "timeout 20 $rflvm export o --out x.csv".replace("$rflvm", env!("CARGO_BIN_EXE_rflvm")).as_str(),
        );
        let said = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{:?}: {said}", output.status);
        assert!(file != &chunk || said.contains("a pipe or a device"), "{said}");
    }
}
