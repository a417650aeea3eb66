//! What is the same for every command, from the program's own definition of its commands: `-q`, `--json`, `--out -`, and how help is laid out.

use crate::common::{folder, good, refused, rflvm, text};
use rflvm_study::Config;
use std::fs;
use std::path::Path;

/// Their answer is text by its nature.
const TEXTS: [&str; 3] = ["completions", "man", "help"];

/// A command line for each command, into the file or folder OUT. There must be one for every command.
fn sample(name: &str) -> &'static str {
    match name {
        "demo" => "demo --warmup 0 --draws 1 --overwrite --out OUT",
        "doctor" => "doctor t.csv",
        "simulate" => "simulate --rows 5 --columns 3 --seed 1 --overwrite --out OUT",
        "fit" => {
            "fit t.csv --likelihood gaussian --features 4 --chains 2 --warmup 4 --draws 4 --seed 1 --overwrite --out OUT"
        }
        "resume" => "resume o --draws 12",
        "summary" => "summary o",
        "check" => "check o --overwrite --out OUT.csv",
        "compare" => {
            "compare t.csv --likelihood gaussian --latent-dims 1,2 --features 4 --chains 2 --warmup 4 --draws 4 --seed 1 --overwrite --out OUT"
        }
        "impute" => "impute o --out OUT.csv",
        "forecast" => "forecast o --horizon 2 --out OUT.csv",
        "transform" => "transform o new.csv --out OUT.csv",
        "predict" => "predict o --rows all --out OUT.csv",
        "distances" => "distances o --out OUT.csv",
        "neighbors" => "neighbors o --neighbors 2 --out OUT.csv",
        "effects" => "effects o --out OUT.csv",
        "differences" => "differences o --groups g.csv --out OUT.csv",
        "groups" => "groups o --groups g.csv --neighbors 2 --out OUT.csv",
        "kernel" => "kernel o --overwrite --out OUT.csv",
        "report" => "report o --out OUT.html",
        "plot" => "plot o --out OUT.svg",
        "export" => "export o --out OUT.csv",
        other => panic!("a command line for {other} is missing here"),
    }
}

/// A small table over time with missing cells, its fit, and new rows.
fn prepare(dir: &Path) {
    let line = |n: u32| {
        let hole = if n == 3 { String::new() } else { (f64::from(n) * 0.3).sin().to_string() };
        format!("{n},{hole},{},{}\n", f64::from(n * 7 % 5), f64::from(n) * 0.1)
    };
    let header = "t,a,b,c\n".to_string();
    fs::write(dir.join("t.csv"), header.clone() + &(0..12).map(line).collect::<String>()).unwrap();
    fs::write(dir.join("new.csv"), header + &(12..14).map(line).collect::<String>()).unwrap();
    let group = |n: u32| format!("{n},{}\n", if n.is_multiple_of(2) { "even" } else { "odd" });
    fs::write(dir.join("g.csv"), "id,group\n".to_string() + &(1..13).map(group).collect::<String>()).unwrap();
    let fit =
        "fit t.csv --likelihood gaussian --time t --features 4 --chains 2 --warmup 20 --draws 10 --seed 1 -q --out o";
    good(dir, &fit.split(' ').collect::<Vec<_>>());
}

fn words<'a>(line: &'a str, out: &'a str, more: &[&'a str]) -> Vec<String> {
    line.split(' ').map(|word| word.replace("OUT", out)).chain(more.iter().map(ToString::to_string)).collect()
}

#[test]
fn quiet_json_and_out_mean_the_same_on_every_command() {
    let dir = folder("same");
    prepare(&dir);
    let program = rflvm_cli::command();
    let mut shown: Vec<_> = program.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    // The one that takes longest comes last.
    shown.sort_by_key(|command| command.get_name() == "demo");
    let mut helps: Vec<[String; 2]> = Vec::new();
    for command in shown.into_iter().filter(|command| !TEXTS.contains(&command.get_name())) {
        let (name, line) = (command.get_name(), sample(command.get_name()));
        let run = |out: &str, more: &[&str]| {
            let words = words(line, out, more);
            good(&dir, &words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let find = |flag: &str| command.get_arguments().find(|arg| arg.get_long() == Some(flag));
        let help = |flag: &str| find(flag).and_then(clap::Arg::get_long_help).map(ToString::to_string);
        helps.push([help("json").unwrap_or_else(|| panic!("{name} has --json")), help("quiet").unwrap()]);
        // -q prints nothing.
        let quiet = run(&format!("{name}-q"), &["-q"]);
        assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{name}: {quiet:?}");
        // --json prints objects, the last of which names the files; with -q it prints the last one alone.
        for (more, most) in [(&["--json"][..], usize::MAX), (&["--json", "-q"], 1)] {
            let output = run(&format!("{name}-json"), more);
            let objects: Vec<serde_json::Value> = text(&output.stdout)
                .lines()
                .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {line}: {error}")))
                .collect();
            let last = objects.last().unwrap_or_else(|| panic!("{name} has an answer"));
            assert!(objects.len() <= most && last.is_object(), "{name}: {}", text(&output.stdout));
            let files = last["files"].as_array().cloned().unwrap_or_default();
            let has_files = find("out").is_some() || name == "resume";
            assert_eq!(!files.is_empty(), has_files, "{name}: {last}");
            assert!(files.iter().all(|file| dir.join(file.as_str().unwrap()).exists()), "{name}: {last}");
            assert!(more.len() == 1 || output.stderr.is_empty(), "{name}: {}", text(&output.stderr));
        }
        // --out - prints the file that a name would have, or is refused if there are several.
        let Some(out) = find("out") else { continue };
        let piped = || words(line, "-", &[]).iter().map(|word| word.replace("-.", "-#")).collect::<Vec<_>>();
        let piped: Vec<String> = piped().iter().map(|word| word.split('#').next().unwrap_or_default().into()).collect();
        let piped: Vec<&str> = piped.iter().map(String::as_str).collect();
        if out.get_value_names().unwrap()[0].starts_with("DIR") {
            refused(&dir, &piped, 2, &["out is -", "name a folder"]);
            assert!(!dir.join("-").exists(), "{name}");
            continue;
        }
        run(&format!("{name}-named"), &[]);
        let extension = line.split("OUT.").nth(1).unwrap();
        let file = fs::read(dir.join(format!("{name}-named.{extension}"))).unwrap();
        for more in [&[][..], &["-q"]] {
            let output = good(&dir, &[&piped[..], more].concat());
            assert!(output.stdout == file, "{name}: {}", text(&output.stdout[..output.stdout.len().min(300)]));
            assert!(more.is_empty() || output.stderr.is_empty(), "{name}: {}", text(&output.stderr));
        }
        refused(&dir, &[&piped[..], &["--json"]].concat(), 2, &["out is -", "--json"]);
    }
    assert!(helps.len() > 15 && helps.iter().all(|help| *help == helps[0]), "{helps:?}");
}

#[test]
fn several_files_do_not_fit_into_standard_output() {
    let dir = folder("several");
    prepare(&dir);
    for line in ["impute o --draws 2", "predict o --rows all --draws 2", "forecast o --horizon 2 --draws 2"] {
        let command = [&line.split(' ').collect::<Vec<_>>()[..], &["--out", "-"]].concat();
        refused(&dir, &command, 2, &["out is -", "--draws writes several files"]);
    }
    refused(&dir, &["transform", "o", "new.csv", "--draws", "2", "--out", "-"], 2, &["--draws-out"]);
    good(&dir, &["transform", "o", "new.csv", "--draws", "2", "--draws-out", "d.csv", "--out", "-"]);
    assert!(dir.join("d.csv").exists() && !dir.join("-").exists());
}

#[test]
fn the_short_help_of_fit_fits_one_screen_and_the_long_one_has_everything() {
    let dir = folder("help");
    let short = text(&good(&dir, &["fit", "-h"]).stdout);
    let flags = |help: &str| help.lines().filter(|line| line.trim_start().starts_with('-')).count();
    assert!(short.lines().count() <= 45 && short.lines().all(|line| line.chars().count() <= 100), "{short}");
    assert!(flags(&short) <= 20, "{}: {short}", flags(&short));
    let long = text(&good(&dir, &["fit", "--help"]).stdout);
    let fit = rflvm_cli::command().find_subcommand("fit").unwrap().clone();
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for setting in Config::table() {
        let flag = format!("--{}", setting.name);
        let is_common = setting.short.is_some();
        let starts = |line: &str| line.trim_start().split([' ', '=', '[']).next() == Some(&flag);
        let is_shown = |help: &str| setting.name == "table" || help.lines().any(starts);
        assert!(is_shown(&long) && is_shown(&short) == is_common, "{flag}");
        // Every default is shown with its value.
        if let Some(default) = setting.shown_default() {
            let wanted = format!("[default: {default}]");
            assert!(in_one_line(&long).contains(&wanted), "{flag} {wanted}");
            let arg = fit.get_arguments().find(|arg| arg.get_long() == Some(&setting.name)).unwrap();
            assert!(arg.get_help().unwrap().to_string().ends_with(&wanted), "{flag}");
        }
    }
    for title in ["The table:", "The model:", "Paths over time:", "Sampling:", "Computing:"] {
        assert!(long.contains(&format!("\n{title}\n")), "{title}");
    }
}

/// A file of settings in the sections of version 0.2.
const EARLIER: &str = "table = \"t.csv\"\nlikelihood = \"gaussian\"\ntime = \"t\"\n[model]\nfeatures = 4\n[path]\ntime-kernel = \"matern32\"\n\
                       [run]\nwarmup = 4\ndraws = 4\nchains = 2\nseed = 1\nthreads = 1\nstart = \"pca\"\ncheckpoint = 20.0\n";

#[test]
fn settings_of_version_0_2_are_read_with_a_warning_that_names_their_sections() {
    let dir = folder("earlier");
    prepare(&dir);
    fs::write(dir.join("old.toml"), EARLIER).unwrap();
    let output = good(&dir, &["fit", "--config", "old.toml", "--out", "a"]);
    let said = text(&output.stderr);
    let words =
        "warning: old.toml: [run] is now [sampling] and [compute], and [path] is now [paths]; the earlier names";
    assert!(said.contains(words), "{said}");
    let new = fs::read_to_string(dir.join("a/config.toml")).unwrap();
    let place = |text: &str| new.find(text).unwrap_or_else(|| panic!("{text} is not in {new}"));
    let order = [
        "[paths]\n",
        "time-kernel = \"matern32\"",
        "[sampling]\n",
        "init = \"pca\"",
        "[compute]\n",
        "checkpoint = 20.0",
    ];
    assert!(order.map(place).is_sorted() && !new.contains("[run]") && !new.contains("[path]"), "{new}");
    // What it writes is read without a warning, and is the same fit.
    let again = good(&dir, &["fit", "--config", "a/config.toml", "--out", "b"]);
    assert!(!text(&again.stderr).contains("is now"), "{}", text(&again.stderr));
    let embedding = |out: &str| fs::read(dir.join(out).join("embedding.csv")).unwrap();
    assert!(embedding("a") == embedding("b"));
    // A folder of that version is opened as it is.
    let folder = new.replace("[paths]", "[path]").replace("[sampling]", "[run]").replace("[compute]\n", "");
    let (run, compute) = folder.split_once("[run]").unwrap();
    let (first, priors) = compute.split_once("[priors]").unwrap_or((compute, ""));
    fs::write(dir.join("b/config.toml"), format!("{run}[run]{first}[priors]{priors}")).unwrap();
    let summary = good(&dir, &["summary", "b"]);
    assert!(summary.stderr.is_empty() && !summary.stdout.is_empty());
    // Unknown settings are still named with their line.
    fs::write(dir.join("bad.toml"), EARLIER.replace("draws = 4", "drows = 4")).unwrap();
    let said = refused(&dir, &["fit", "--config", "bad.toml", "--out", "c"], 2, &["bad.toml", "drows"]);
    assert!(said.contains("line 10"), "{said}");
}

#[test]
fn the_earlier_command_for_a_point_estimate_works_with_a_warning() {
    let dir = folder("map");
    prepare(&dir);
    let flags =
        ["t.csv", "--likelihood", "gaussian", "--without", "t", "--features", "4", "--seed", "1", "--starts", "1"];
    let old = good(&dir, &[&["map", "--out", "old"], &flags[..]].concat());
    let words = "warning: `rflvm map` is now `rflvm fit --method map`";
    assert!(text(&old.stderr).contains(words), "{}", text(&old.stderr));
    let new = good(&dir, &[&["fit", "--method", "map", "--out", "new"], &flags[..]].concat());
    assert!(!text(&new.stderr).contains("is now"), "{}", text(&new.stderr));
    for file in ["embedding.csv", "latent.svg", "frequencies.csv", "imputed.csv"] {
        let read = |out: &str| fs::read(dir.join(out).join(file)).unwrap();
        assert!(read("old") == read("new"), "{file}");
    }
    // Its settings repeat it, the number of initialisations included.
    let saved = fs::read_to_string(dir.join("new/config.toml")).unwrap();
    assert!(saved.contains("method = \"map\"") && saved.contains("starts = 1"), "{saved}");
    good(&dir, &["fit", "--config", "new/config.toml", "-q", "--out", "again"]);
    assert!(fs::read(dir.join("again/map.json")).is_ok());
    let overview = text(&good(&dir, &["--help"]).stdout);
    assert!(!overview.contains("\n  map "), "{overview}");
    let fit = ["fit", "t.csv", "--likelihood", "gaussian", "--out", "x"];
    for (more, words) in [
        (&["--starts", "2"][..], &["starts is 2", "--method map"][..]),
        (&["--method", "map", "--draws", "9"], &["draws is given", "no chains", "--method mcmc"]),
        (&["--method", "map", "--image", "1x3"], &["image is given", "no report"]),
        (&["--method", "map", "--starts", "0"], &["starts is 0", "between 1"]),
    ] {
        refused(&dir, &[&fit[..], more].concat(), 2, words);
    }
    let typo = rflvm(&dir, &[&fit[..], &["--method", "mpa"]].concat());
    assert!(typo.status.code() == Some(2) && text(&typo.stderr).contains("mcmc"), "{}", text(&typo.stderr));
}

#[test]
fn one_number_of_a_prior_can_be_given_alone() {
    let dir = folder("priors");
    prepare(&dir);
    let settings = EARLIER.replace("[path]", "[paths]").replace("[run]", "[sampling]").replace("threads = 1\n", "");
    let settings = settings.replace("checkpoint = 20.0\n", "");
    fs::write(
        dir.join("p.toml"),
        format!("{settings}[priors]\ndispersion = {{ shape = 10 }}\nalpha = {{ rate = 2 }}\n"),
    )
    .unwrap();
    good(&dir, &["fit", "--config", "p.toml", "-q", "--out", "a"]);
    let saved: toml::Table = fs::read_to_string(dir.join("a/config.toml")).unwrap().parse().unwrap();
    let number = |prior: &str, name: &str| saved["priors"][prior][name].as_float().unwrap();
    let dispersion = ["shape", "rate-shape", "rate-rate"].map(|name| number("dispersion", name));
    assert_eq!(dispersion, [10.0, 1.0, 1.0]);
    assert_eq!([number("alpha", "shape"), number("alpha", "rate")], [3.0, 2.0]);
}
