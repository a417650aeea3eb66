//! A run that is killed, interrupted or damaged: nothing is lost, and resumed draws are bit-identical.

use crate::common::{command, files, folder, rflvm};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A small negative-binomial table with missing cells, and the flags of a fit of it that takes a second or two.
fn prepare(dir: &Path) -> Vec<&'static str> {
    let flags = ["--likelihood", "negative-binomial", "--rows", "60", "--columns", "8", "--seed", "4", "--out", "sim"];
    assert!(rflvm(dir, &[&["simulate", "--overwrite"], &flags[..]].concat()).status.success());
    let table = fs::read_to_string(dir.join("sim/table.csv")).unwrap();
    let mut lines: Vec<String> = table.lines().map(String::from).collect();
    for line in lines.iter_mut().skip(1).step_by(7) {
        *line = format!("NA{}", &line[line.find(',').unwrap()..]);
    }
    fs::write(dir.join("t.csv"), lines.join("\n")).unwrap();
    let mut flags = vec!["fit", "t.csv", "--likelihood", "negative-binomial", "--features", "10", "--seed", "9"];
    flags.extend(["--chains", "2", "--warmup", "150", "--draws", "450", "--thin", "2", "--checkpoint", "0.03"]);
    flags
}

/// A table with times, and a shorter run: two sequences with alternating rows.
fn prepare_timed(dir: &Path) -> Vec<&'static str> {
    let mut flags = prepare(dir);
    let table = fs::read_to_string(dir.join("t.csv")).unwrap();
    let timed = |(n, line): (usize, &str)| match n {
        0 => format!("day,run,{line}"),
        _ => format!("2001-{:02}-{:02},{},{line}", 1 + n / 28, 1 + n % 28, ["even", "odd"][n % 2]),
    };
    fs::write(dir.join("t.csv"), table.lines().enumerate().map(timed).collect::<Vec<_>>().join("\n")).unwrap();
    flags.truncate(8);
    flags.extend([
        "--time",
        "day",
        "--sequence",
        "run",
        "--chains",
        "2",
        "--warmup",
        "60",
        "--draws",
        "120",
        "--checkpoint",
        "0.03",
    ]);
    flags
}

/// Draws, results and all other files.
fn assert_same(dir: &Path, one: &str, other: &str) {
    let (one, other) = (dir.join(one), dir.join(other));
    let (a, b) = (files(&one.join("draws.zarr")), files(&other.join("draws.zarr")));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{} differs", name.display());
    }
    for name in ["embedding.csv", "imputed.csv"] {
        assert_eq!(fs::read(one.join(name)).unwrap(), fs::read(other.join(name)).unwrap(), "{name}");
    }
}

#[test]
fn a_run_killed_twenty_times_equals_an_uninterrupted_one() {
    let dir = folder("killed");
    let fit = prepare(&dir);
    assert!(rflvm(&dir, &[&fit[..], &["--out", "whole", "-q"]].concat()).status.success());
    let mut kills = 0;
    let mut first = true;
    // Delays from a fixed sequence; the machine's speed makes them random enough.
    let mut moment = 12345_u64;
    while kills < 20 {
        let arguments =
            if first { [&fit[..], &["--out", "killed", "-q"]].concat() } else { vec!["resume", "killed", "-q"] };
        let mut child = command(&dir, &arguments).spawn().unwrap();
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sleep(Duration::from_millis(5 + (moment >> 33) % 120));
        let over = child.try_wait().unwrap();
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        match over {
            // It finished before it could be killed: start again.
            Some(status) => {
                assert!(status.success(), "{}", said(&output));
                assert_same(&dir, "whole", "killed");
                fs::remove_dir_all(dir.join("killed")).unwrap();
                first = true;
            }
            None => {
                kills += 1;
                first = !dir.join("killed/config.toml").exists();
            }
        }
    }
    if !first {
        let output = rflvm(&dir, &["resume", "killed", "-q"]);
        assert!(output.status.success(), "{}", said(&output));
        assert_same(&dir, "whole", "killed");
    }
}

#[test]
fn a_further_warm_up_goes_on_from_where_the_chains_are() {
    let dir = folder("warmed-again");
    let prepared = prepare(&dir);
    let fit = [&prepared[..8], &["--chains", "2", "--warmup", "60", "--draws", "40", "--thin", "2", "-q"]].concat();
    for (out, threads) in [("one", "1"), ("two", "2")] {
        assert!(rflvm(&dir, &[&fit[..], &["--out", out, "--threads", threads]].concat()).status.success());
    }
    let (embedding, checkpoint) = (dir.join("two/embedding.csv"), dir.join("two/checkpoint.bin"));
    let (before, begun) = (fs::read(&embedding).unwrap(), fs::read(&checkpoint).unwrap());
    for (out, threads) in [("one", "1"), ("two", "2")] {
        let output = rflvm(&dir, &["resume", out, "--warmup", "210", "--draws", "30", "--threads", threads, "-q"]);
        assert!(output.status.success(), "{}", said(&output));
    }
    assert_same(&dir, "one", "two");
    let config = fs::read_to_string(dir.join("two/config.toml")).unwrap();
    // 60 + 2 · 40 sweeps were done.
    for line in ["warmup-from = 140", "warmup = 350", "draws = 30", "extended after 140 sweeps"] {
        assert!(config.contains(line), "{line} is not in {config}");
    }
    assert_ne!(fs::read(&embedding).unwrap(), before);
    // A run that was killed before the first checkpoint of the further warm-up only has its settings.
    fs::write(&checkpoint, begun).unwrap();
    assert!(rflvm(&dir, &["resume", "two", "-q"]).status.success());
    assert_same(&dir, "one", "two");
    assert!(rflvm(&dir, &["resume", "two", "--draws", "35", "-q"]).status.success());
    let told = String::from_utf8(rflvm(&dir, &["summary", "two", "--json"]).stdout).unwrap();
    assert!(told.contains("\"draws\":35") || told.contains("\"draws\": 35"), "{told}");
    // The first warm-up has to end before it can be extended.
    let long =
        [&prepared[..8], &["--chains", "2", "--warmup", "1000000", "--checkpoint", "0.03", "-q", "--out", "long"]];
    let mut child = command(&dir, &long.concat()).spawn().unwrap();
    while !dir.join("long/checkpoint.bin").exists() {
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = rflvm(&dir, &["resume", "long", "--warmup", "10"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("still warming up") && said(&output).contains("rflvm resume"), "{}", said(&output));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_saves_and_can_be_resumed_as_its_message_says() {
    let dir = folder("interrupted");
    let fit = prepare(&dir);
    assert!(rflvm(&dir, &[&fit[..], &["--out", "whole", "-q", "--threads", "2"]].concat()).status.success());
    let child = command(&dir, &[&fit[..], &["--out", "part", "--threads", "1"]].concat()).spawn().unwrap();
    while !dir.join("part/checkpoint.bin").exists() {
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_millis(50));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(said(&output).contains("rflvm resume part"), "{}", said(&output));
    // A new fit must not overwrite it.
    let again = rflvm(&dir, &[&fit[..], &["--out", "part"]].concat());
    assert_eq!(again.status.code(), Some(2));
    assert!(said(&again).contains("--overwrite"), "{}", said(&again));
    let output = rflvm(&dir, &["resume", "part", "-q"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_same(&dir, "whole", "part");
    // Resuming a finished run changes nothing.
    assert!(rflvm(&dir, &["resume", "part", "-q"]).status.success());
    assert_same(&dir, "whole", "part");
    // Its settings repeat it.
    let config = rflvm(&dir, &["fit", "--config", "whole/config.toml", "--out", "again", "-q"]);
    assert!(config.status.success(), "{}", said(&config));
    assert_same(&dir, "whole", "again");
}

#[cfg(unix)]
#[test]
fn paths_over_time_continue_where_they_stopped() {
    let dir = folder("timed");
    let mut fit = prepare_timed(&dir);
    for (kernel, column_process) in [("rbf", "none"), ("matern32", "matern12"), ("random-walk", "none")] {
        fit.extend(["--time-kernel", kernel, "--column-process", column_process]);
        assert!(rflvm(&dir, &[&fit[..], &["--out", "whole", "-q", "--overwrite"]].concat()).status.success());
        let _ = fs::remove_dir_all(dir.join("part"));
        let child = command(&dir, &[&fit[..], &["--out", "part", "-q", "--threads", "1"]].concat()).spawn().unwrap();
        while !dir.join("part/draws.zarr/posterior/length_scale/0.0.0").exists() {
            sleep(Duration::from_millis(1));
        }
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
        let output = rflvm(&dir, &["resume", "part", "-q"]);
        assert!(output.status.success(), "{}", said(&output));
        assert_same(&dir, "whole", "part");
        fit.truncate(fit.len() - 4);
    }
    // Other times are another table, with which a fit does not continue; the fit itself keeps its own table.
    let table = fs::read_to_string(dir.join("t.csv")).unwrap();
    let forecast = |out: &str| rflvm(&dir, &["forecast", "part", "--horizon", "1", "--out", out]).status.success();
    assert!(forecast("before.csv"));
    fs::write(dir.join("t.csv"), table.replacen("2001-03-", "2001-04-", 1)).unwrap();
    let output = rflvm(&dir, &["resume", "part"]);
    assert!(!output.status.success() && said(&output).contains("the table has changed"), "{}", said(&output));
    assert!(forecast("after.csv"));
    assert_eq!(fs::read(dir.join("before.csv")).unwrap(), fs::read(dir.join("after.csv")).unwrap());
}

#[cfg(unix)]
#[test]
fn a_damaged_run_is_refused_with_its_place() {
    let dir = folder("damaged");
    let fit = prepare(&dir);
    let child = command(&dir, &[&fit[..], &["--out", "part", "-q"]].concat()).spawn().unwrap();
    let chunk = dir.join("part/draws.zarr/posterior/alpha/0.0");
    while !chunk.exists() {
        sleep(Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let refused = |words: &[&str], code: i32| {
        let output = rflvm(&dir, &["resume", "part"]);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        for word in words {
            assert!(said(&output).contains(word), "{word} is not in: {}", said(&output));
        }
    };
    let checkpoint = dir.join("part/checkpoint.bin");
    let change = |path: &Path, change: &dyn Fn(&mut Vec<u8>), words: &[&str], code: i32| {
        let before = fs::read(path).unwrap();
        let mut after = before.clone();
        change(&mut after);
        fs::write(path, &after).unwrap();
        refused(words, code);
        fs::write(path, before).unwrap();
    };
    change(&checkpoint, &|b| b.truncate(b.len() / 2), &["checkpoint.bin", "cut short"], 1);
    change(&checkpoint, &|b| b.truncate(5), &["checkpoint.bin", "not a checkpoint"], 1);
    change(&checkpoint, &|b| *b.last_mut().unwrap() ^= 1, &["checkpoint.bin", "checksum"], 1);
    change(&checkpoint, &|b| b[17] = 99, &["checkpoint.bin", "format 99"], 1);
    change(&chunk, &|b| b[0] ^= 1, &["alpha", "checksum"], 1);
    change(&chunk, &|b| b.truncate(9), &["alpha", "9 bytes"], 1);
    change(
        &dir.join("t.csv"),
        &|b| *b = String::from_utf8_lossy(b).replacen("\n1,", "\n2,", 9).replacen("0\n", "1\n", 1).into(),
        &["the table has changed"],
        2,
    );
    // Everything is restored, and the run continues.
    let output = rflvm(&dir, &["resume", "part", "-q"]);
    assert!(output.status.success(), "{}", said(&output));
    let none = rflvm(&dir, &["resume", "nothing"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(said(&none).contains("no fit"), "{}", said(&none));
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_run_with_a_sentence_and_loses_nothing() {
    let dir = folder("full");
    let fit = prepare(&dir);
    assert!(rflvm(&dir, &[&fit[..], &["--out", "whole", "-q"]].concat()).status.success());
    // A limit on the size of files simulates a full disk: writing fails in the middle of the run.
    let program = env!("CARGO_BIN_EXE_rflvm");
    let script = format!("trap '' XFSZ; ulimit -f 48; exec {program} {} --out part -q", fit.join(" "));
    let output = Command::new("bash").current_dir(&dir).args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("cannot be written"), "{}", said(&output));
    let output = rflvm(&dir, &["resume", "part", "-q"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_same(&dir, "whole", "part");
}

#[test]
fn xarray_and_arviz_open_finished_stores_and_those_of_killed_runs() {
    let Ok(python) = std::env::var("RFLVM_TEST_PYTHON") else {
        use std::io::Write;
        // Bypasses the harness, which hides the output of passing tests.
        let _ = writeln!(std::io::stderr(), "SKIPPED: stores are not opened in Python: RFLVM_TEST_PYTHON names none");
        return;
    };
    let dir = folder("python");
    let fit = prepare(&dir);
    assert!(rflvm(&dir, &[&fit[..], &["--out", "done", "-q"]].concat()).status.success());
    let mut child = command(&dir, &[&fit[..], &["--out", "killed", "-q"]].concat()).spawn().unwrap();
    let metadata = dir.join("killed/draws.zarr/.zmetadata");
    // Killed once it has reported some draws.
    while !fs::read_to_string(&metadata).is_ok_and(|text| !text.contains("\"shape\":[2,0]")) {
        assert!(child.try_wait().unwrap().is_none_or(|status| status.success()));
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let timed = [&prepare_timed(&dir)[..], &["--out", "timed", "-q"]].concat();
    assert!(rflvm(&dir, &timed).status.success());
    let summary = rflvm(&dir, &["summary", "done", "--json"]);
    assert!(summary.status.success(), "{}", said(&summary));
    fs::write(dir.join("summary.json"), &summary.stdout).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/open_store.py");
    let output = Command::new(python).current_dir(&dir).arg(script).output().unwrap();
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), said(&output));
}
