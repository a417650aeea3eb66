//! No command replaces what it was not asked to replace: a file that it reads, a part of a fit, or a file that nobody named. Which flags are
//! paths comes from the program's own definition, so that a new one is a part of the test.

use crate::common::{files, folder, good, rflvm, text};
use clap::{Arg, Command};
use std::any::TypeId;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Flags and arguments that name what is written, and what is read.
const WRITES: [&str; 4] = ["out", "blocks-out", "draws-out", "matrix"];
const READS: [&str; 10] = ["table", "config", "blocks", "row-data", "trials", "truth", "at", "times", "groups", "dir"];

/// Commands that can run in the folder of [`prepare`], with every flag that names an output.
const ASKED: [&str; 27] = [
    "fit t.csv --likelihood poisson --columns a,b,c --features 4 --config s.toml -q --no-report --out p",
    "fit cells.csv --blocks blocks.csv --row-data when.csv --time when --features 4 --config s.toml -q --no-report --out p",
    "fit cells.csv --likelihood binomial --trials trials.csv --features 4 --config s.toml -q --out p",
    "map t.csv --likelihood poisson --columns a,b,c --features 4 --config s.toml -q --out p",
    "compare t.csv --likelihood poisson --columns a,b,c --features 4 --chains 2 --warmup 5 --draws 5 --latent-dims 1,2 -q --out p",
    "doctor t.csv --columns a,b,c --features 4 --blocks-out b.csv",
    "impute o --truth truth.csv --out i.csv",
    "impute o --draws 2 --out i.csv",
    "forecast o --times times.txt --out f.csv",
    "forecast o --horizon 1 --draws 2 --out f.csv",
    "forecast o --backtest 1 --horizon 1 --sweeps 5 --out f.csv",
    "transform o new.csv --row-data when.csv --draws 2 --out n.csv",
    "transform o new.csv --row-data when.csv --draws 2 --draws-out d.npy --out n.csv",
    "predict o --at at.csv --out a.csv",
    "predict o --rows 1,2 --draws 2 --out a.csv",
    "check o --out c.csv",
    "distances o --out d.csv",
    "neighbors o --out g.csv --neighbors 2",
    "effects o --out e.csv",
    "differences o --groups kinds.csv --out f.csv",
    "groups o --groups kinds.csv --neighbors 2 --out g.csv",
    "kernel o --out k.csv --matrix m.npy",
    "plot o --out l.svg",
    "report o --out r.html",
    "export o --out x.csv",
    "simulate --prior --config s.toml --missing 0.2 --rows 6 --columns 3 --out p",
    "demo --warmup 0 --draws 1 -q --out p",
];

/// Files of a fit that a command writes as the fit does.
const OWN: [(&str, &str); 3] = [("impute", "imputed.csv"), ("plot", "latent.svg"), ("report", "report.html")];

fn prepare(dir: &Path) {
    let row = |n: usize, hole: bool| {
        let b = if hole && n == 3 { String::new() } else { (n * 5 % 7).to_string() };
        format!("{},{b},{}\n", n % 4, 3 + n % 3)
    };
    let rows = |hole: bool| (0..12).map(move |n| (n, row(n, hole)));
    let timed = |hole: bool| rows(hole).map(|(n, row)| format!("{n},{row}")).collect::<String>();
    let write = |name: &str, text: String| fs::write(dir.join(name), text).unwrap();
    write("t.csv", format!("when,a,b,c\n{}", timed(true)));
    write("truth.csv", format!("when,a,b,c\n{}", timed(false)));
    write("cells.csv", format!("a,b,c\n{}", rows(true).map(|(_, row)| row).collect::<String>()));
    write("new.csv", format!("a,b,c\n{}", rows(true).map(|(_, row)| row).collect::<String>()));
    write("when.csv", format!("when\n{}", (0..12).map(|n| format!("{n}\n")).collect::<String>()));
    write("trials.csv", format!("a,b,c\n{}", "9,9,9\n".repeat(12)));
    write("blocks.csv", "column,likelihood\na,poisson\nb,negative-binomial\nc,poisson\n".into());
    write("times.txt", "12\n13\n".into());
    write("at.csv", "x1,x2\n0,0\n1,1\n".into());
    write("kinds.csv", format!("id,group\n{}", (1..=12).map(|n| format!("{n},{}\n", n % 2)).collect::<String>()));
    write("s.toml", "[model]\nfeatures = 4\n[sampling]\nwarmup = 5\ndraws = 5\nseed = 1\n".into());
    let fit = "fit t.csv --likelihood poisson --columns a,b,c --time when --features 4 --seed 1 --chains 2 --warmup 6 --draws 6 -q --out o";
    good(dir, &words(fit));
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// A fresh copy of the folder.
fn copy(from: &Path) -> PathBuf {
    let to = from.with_file_name("copy");
    let _ = fs::remove_dir_all(&to);
    for (name, bytes) in files(from) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    to
}

/// The name of an argument, if it is a path.
fn path(arg: &Arg) -> Option<String> {
    let has_type = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let mut names = arg.get_value_names().into_iter().flatten();
    let is_path = has_type || names.any(|name| ["FILE", "TABLE", "DIR"].iter().any(|word| name.contains(word)));
    is_path.then(|| arg.get_long().map_or_else(|| arg.get_id().to_string(), String::from))
}

/// The values of these arguments in a command, with their places.
fn values<'a>(command: &[&'a str], program: &Command, roles: &[&str]) -> Vec<(usize, &'a str)> {
    let about = program.find_subcommand(command[0]).unwrap();
    let mut positional = about.get_positionals();
    let mut found = Vec::new();
    let mut at = 1;
    while at < command.len() {
        let name = match command[at].strip_prefix("--") {
            Some(name) => {
                let arg = about.get_arguments().find(|arg| arg.get_long() == Some(name)).unwrap();
                at += usize::from(arg.get_action().takes_values());
                Some(name.to_string())
            }
            None if command[at].starts_with('-') => None,
            None => positional.next().map(|arg| arg.get_id().to_string()),
        };
        if name.is_some_and(|name| roles.contains(&name.as_str())) {
            found.push((at, command[at]));
        }
        at += 1;
    }
    found
}

/// Runs a command that must fail as a wrong command does.
fn refused(dir: &Path, command: &[&str]) {
    let output = rflvm(dir, command);
    assert_eq!(output.status.code(), Some(2), "{command:?}: {}", text(&output.stderr));
}

#[test]
fn every_path_of_the_program_is_known_to_be_read_or_written() {
    let program = rflvm_cli::command();
    let mut missing = Vec::new();
    let mut read = BTreeSet::new();
    for line in ASKED {
        let command = words(line);
        read.extend(values(&command, &program, &READS).iter().map(|(at, _)| command[at - 1].to_string()));
    }
    for command in program.get_subcommands() {
        for name in command.get_arguments().filter_map(path) {
            assert!(
                WRITES.contains(&name.as_str()) || READS.contains(&name.as_str()),
                "{} {name}: say in this test whether it is read or written",
                command.get_name()
            );
            let flag = format!("--{name}");
            let is_asked = |line: &&str| words(line)[0] == command.get_name() && words(line).contains(&&*flag);
            if WRITES.contains(&name.as_str()) && !ASKED.iter().any(is_asked) {
                missing.push(format!("{} {flag}", command.get_name()));
            }
        }
    }
    assert!(missing.is_empty(), "outputs that no command of this test writes: {missing:?}");
    for name in READS.into_iter().filter(|name| !["table", "dir"].contains(name)) {
        assert!(read.contains(&format!("--{name}")), "no command of this test reads --{name}");
    }
}

/// What a command creates: files, and what is directly below a folder that it names.
fn created(dir: &Path, command: &[&str], outputs: &[(usize, &str)]) -> BTreeSet<PathBuf> {
    let before = files(dir);
    good(dir, command);
    let new = files(dir).into_keys().filter(|name| !before.contains_key(name));
    let top = |name: PathBuf| {
        let base = outputs.iter().map(|(_, value)| Path::new(*value)).find(|base| name.starts_with(base));
        let depth = base.map_or(1, |base| base.components().count() + usize::from(*base != name));
        name.components().take(depth).collect::<PathBuf>()
    };
    new.map(top).collect()
}

#[test]
#[cfg(unix)]
fn no_output_replaces_an_input_a_part_of_a_fit_or_a_file_that_nobody_named() {
    let dir = folder("property").join("original");
    fs::create_dir_all(&dir).unwrap();
    prepare(&dir);
    let program = rflvm_cli::command();
    for line in ASKED {
        let command = words(line);
        let (outputs, inputs) = (values(&command, &program, &WRITES), values(&command, &program, &READS));
        let mut flags = program.find_subcommand(command[0]).unwrap().get_arguments();
        let has_overwrite = flags.any(|arg| arg.get_long() == Some("overwrite"));
        let new = created(&copy(&dir), &command, &outputs);
        assert!(!new.is_empty(), "{line}");
        for name in &new {
            let is_hidden = name.file_name().unwrap().to_str().unwrap().starts_with('.');
            let is_named = outputs.iter().any(|(_, value)| Path::new(value) == name);
            // A file of the user lies there.
            if !is_named {
                let dir = copy(&dir);
                let mine = dir.join(name);
                fs::create_dir_all(mine.parent().unwrap()).unwrap();
                fs::write(&mine, "mine").unwrap();
                if !is_hidden {
                    refused(&dir, &command);
                }
                assert_eq!(fs::read_to_string(&mine).unwrap(), "mine", "{line}: {}", name.display());
            }
            if is_hidden {
                continue;
            }
            // An input lies there, or what lies there leads to one.
            for &(at, input) in inputs.iter().filter(|(_, input)| dir.join(input).is_file()) {
                let moved = name.to_str().unwrap();
                let mut there = command.clone();
                there[at] = moved;
                for (command, is_link) in [(there, false), (command.clone(), true)] {
                    let dir = copy(&dir);
                    fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
                    if is_link {
                        std::os::unix::fs::symlink(dir.join(input), dir.join(name)).unwrap();
                    } else {
                        fs::copy(dir.join(input), dir.join(name)).unwrap();
                    }
                    let before = fs::read(dir.join(input)).unwrap();
                    refused(&dir, &command);
                    if has_overwrite {
                        let output = rflvm(&dir, &[&command[..], &["--overwrite"]].concat());
                        assert!(!output.status.success(), "{command:?} --overwrite");
                    }
                    assert_eq!(fs::read(dir.join(if is_link { input } else { moved })).unwrap(), before, "{command:?}");
                }
            }
        }
        // The folder of a fit, or a file of it.
        let parts: Vec<String> =
            files(&dir.join("o")).into_keys().map(|name| format!("o/{}", name.display())).collect();
        for &(at, output) in &outputs {
            let extension = Path::new(output).extension().map(|e| e.to_str().unwrap());
            let inside = extension.map_or("o/draws.zarr/p".to_string(), |e| format!("o/draws.zarr/p.{e}"));
            let mut places: Vec<&str> = vec![&inside];
            match extension {
                None => places.push("o"),
                Some(extension) => places.extend(parts.iter().map(|p| &**p).filter(|p| p.ends_with(extension))),
            }
            // Where the name is only the beginning of others.
            places.retain(|place| *place == inside || extension.is_none() || new.contains(Path::new(output)));
            places.retain(|place| !OWN.iter().any(|(name, own)| *name == command[0] && *place == format!("o/{own}")));
            for place in places {
                let mut there = command.clone();
                there[at] = place;
                let dir = copy(&dir);
                let before = files(&dir.join("o"));
                refused(&dir, &there);
                assert!(files(&dir.join("o")) == before, "{there:?}");
            }
        }
    }
}
