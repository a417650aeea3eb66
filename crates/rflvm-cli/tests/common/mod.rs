//! Helpers to run the program as users do.
#![allow(dead_code, reason = "each test uses only some of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Where folders of tests lie: in memory, where `make test` has made a folder for them.
pub fn scratch() -> PathBuf {
    std::env::var_os("RFLVM_SCRATCH").unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into()).into()
}

/// A fresh folder for a test; tests of different files may use the same name.
#[track_caller]
pub fn folder(name: &str) -> PathBuf {
    let file = Path::new(std::panic::Location::caller().file()).file_stem().unwrap();
    let path = scratch().join(env!("CARGO_CRATE_NAME")).join(file).join(name);
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

/// Runs a command that must fail with an exit code and a single sentence that has these words; returns the sentence.
pub fn refused(dir: &Path, arguments: &[&str], code: i32, words: &[&str]) -> String {
    let output = rflvm(dir, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?}: {word} is not in: {said}");
    }
    let sentence = said.lines().last().unwrap_or_default().to_string();
    assert!(sentence.starts_with("rflvm: "), "{arguments:?}: {said}");
    sentence
}

/// A command whose output can be read while it runs.
pub fn command(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rflvm"));
    command.current_dir(dir).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let_signals_through(&mut command);
    command
}

/// Signals reach the command, also where the tests run in the background and ignore them.
pub fn let_signals_through(command: &mut Command) {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigHandler, Signal, signal};
        use std::os::unix::process::CommandExt;
        let reset = || {
            let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
            // SAFETY: no code runs on these signals.
            all.into_iter().try_for_each(|what| unsafe { signal(what, SigHandler::SigDfl) }.map(|_| ()))?;
            Ok(())
        };
        // SAFETY: between fork and exec, only signal(2) is called, which is allowed there.
        unsafe { command.pre_exec(reset) };
    }
}

/// Starts a command without waiting for it.
pub fn start(dir: &Path, arguments: &[&str]) -> Child {
    command(dir, arguments).spawn().unwrap()
}

/// Waits for a condition while a program runs, however busy the machine is; the program must not end before that.
pub fn wait_until(program: &mut Child, what: impl Fn() -> bool) {
    while !what() {
        let over = program.try_wait().unwrap();
        assert!(over.is_none(), "the program ended before that: {}", over.unwrap());
        sleep(Duration::from_millis(1));
    }
}

/// Every file of a folder, by its name in it.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                all.insert(path.strip_prefix(folder).unwrap().to_path_buf(), fs::read(&path).unwrap());
            }
        }
    }
    all
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
