//! The program and a place to run it in, for the tests that meet it as users do.
#![allow(dead_code, reason = "no test needs all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A fresh folder of the test's own.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

pub fn rflvm(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rflvm")).current_dir(dir).args(arguments).output().unwrap()
}

/// Runs a command that must succeed.
pub fn good(dir: &Path, arguments: &[&str]) -> Output {
    let output = rflvm(dir, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    output
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
