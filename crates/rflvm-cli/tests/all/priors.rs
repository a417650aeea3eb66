//! Priors in config.toml, as a user sets them.

use crate::common;
use crate::common::{folder, good, refused};
use std::fs;
use std::path::Path;

const FIT: &[&str] = &[
    "fit",
    "t.csv",
    "--likelihood",
    "gaussian",
    "--features",
    "4",
    "--warmup",
    "5",
    "--draws",
    "5",
    "--chains",
    "1",
    "--seed",
    "1",
];

/// A fit with settings from a file, if there are any.
fn fit(dir: &Path, settings: &str, out: &str) -> String {
    fs::write(dir.join("p.toml"), settings).unwrap();
    good(dir, &[FIT, &["--config", "p.toml", "--out", out]].concat());
    fs::read_to_string(dir.join(out).join("embedding.csv")).unwrap()
}

fn table() -> String {
    let row = |n: usize| format!("{},{},{}\n", (n * 7) % 5, (n * n) % 11, 0.5 * n as f64);
    format!("a,b,c\n{}", (0..12).map(row).collect::<String>())
}

#[test]
fn priors_of_a_file_change_the_fit_and_are_written_next_to_it() {
    let dir = folder("set");
    fs::write(dir.join("t.csv"), table()).unwrap();
    let plain = fit(&dir, "", "plain");
    let written = fs::read_to_string(dir.join("plain/config.toml")).unwrap();
    for part in ["[priors]", "intercept = 5.0", "[priors.noise]", "rate = 0.0001", "[priors.student-t.dof.learned]"] {
        assert!(written.contains(part), "{part} is not in {written}");
    }
    // The defaults, as they were written, give the same fit; others give another.
    assert_eq!(plain, fit(&dir, &written, "again"));
    let noise = "[priors]\nnoise = { shape = 30, rate = 40 }\n";
    let noisy = fit(&dir, noise, "noisy");
    assert_ne!(plain, noisy);
    let written = fs::read_to_string(dir.join("noisy/config.toml")).unwrap();
    assert!(written.contains("shape = 30.0\nrate = 40.0"), "{written}");
    assert_eq!(noisy, fit(&dir, &written, "noisy-again"));
    // A column's own family has them, too.
    fs::write(dir.join("b.csv"), "column,likelihood\na,gaussian\nb,gaussian\nc,student-t\n").unwrap();
    let blocks = |settings: &str, out: &str| {
        fs::write(dir.join("p.toml"), settings).unwrap();
        let flags = ["--blocks", "b.csv", "--config", "p.toml", "--out", out];
        good(&dir, &[&["fit", "t.csv"], &FIT[4..], &flags].concat());
        fs::read_to_string(dir.join(out).join("embedding.csv")).unwrap()
    };
    assert_ne!(blocks("", "blocks"), blocks("[priors.student-t.dof]\nknown = 3\n", "blocks-3"));
}

#[test]
fn an_error_names_the_prior() {
    let dir = folder("bad");
    fs::write(dir.join("t.csv"), table()).unwrap();
    for (settings, words) in [
        ("[priors]\nnosie = { shape = 1, rate = 1 }\n", ["p.toml", "line 2", "nosie"].as_slice()),
        ("[priors]\nnoise = { shap = 1 }\n", &["p.toml", "line 2", "shap"]),
        ("[priors]\nnoise = { shape = -1, rate = 1 }\n", &["priors.noise.shape is -1", "positive number"]),
        (
            "[priors]\nnoise = { pooled = { spread = { scale = 0 } } }\n",
            &["priors.noise.pooled.spread.scale is 0", "positive number"],
        ),
        ("[priors.niw]\nnu = 0.5\n", &["priors.niw.nu is 0.5", "above 1"]),
        ("[priors.noise-share]\nmedian = 1\nsd = 1\n", &["priors.noise-share.median is 1", "below 1"]),
        ("[priors.amplitude]\nfixed = 0\n", &["amplitude is 0", "positive"]),
        (
            "[model]\namplitude = \"shared\"\n[priors.amplitude]\nfixed = 2\n",
            &["amplitude is shared", "leave one of them out"],
        ),
    ] {
        fs::write(dir.join("p.toml"), settings).unwrap();
        refused(&dir, &[FIT, &["--config", "p.toml", "--out", "f"]].concat(), 2, words);
        assert!(!dir.join("f").exists(), "{settings}");
    }
}

#[test]
fn tables_of_the_prior_follow_a_file_and_come_with_a_picture() {
    let dir = folder("draw");
    let simulate = |more: &[&str], out: &str| {
        let shape = ["simulate", "--rows", "12", "--columns", "4", "--seed", "1", "--features", "6", "--out", out];
        good(&dir, &[&shape, more].concat());
        let read = |name: &str| fs::read_to_string(dir.join(out).join(name)).unwrap();
        (read("table.csv"), read("prior.svg"))
    };
    let (plain, picture) = simulate(&["--prior", "--likelihood", "gaussian"], "plain");
    assert!(picture.contains("gaussian columns drawn from the prior") && picture.contains("in units of its column"));
    assert!(picture.len() < 60_000, "{}", picture.len());
    assert_eq!(simulate(&["--source", "model", "--likelihood", "gaussian"], "same").0, plain);
    // The priors and the family of a file, which a flag overrides; the file that a fit writes is enough.
    fs::write(dir.join("p.toml"), "likelihood = \"gaussian\"\n[priors]\nnoise = { shape = 30, rate = 3e5 }\n").unwrap();
    let (noisy, _) = simulate(&["--prior", "--config", "p.toml"], "noisy");
    assert_ne!(plain, noisy);
    let largest = |table: &str| {
        let cells = table.lines().skip(1).flat_map(|line| line.split(',')).map(|cell| cell.parse::<f64>().unwrap());
        cells.fold(0.0, |most: f64, cell| most.max(cell.abs()))
    };
    assert!(largest(&noisy) > 50.0, "{noisy}");
    let (counts, picture) = simulate(&["--prior", "--config", "p.toml", "--likelihood", "poisson"], "counts");
    assert!(!counts.contains('.') && picture.contains(">count<"), "{counts}");
    fs::write(dir.join("t.csv"), table()).unwrap();
    good(&dir, &[FIT, &["--out", "f"]].concat());
    let (fitted, _) = simulate(&["--prior", "--config", "f/config.toml"], "fitted");
    assert_eq!(fitted, plain);
    for family in ["bernoulli", "binomial", "multinomial", "student-t", "zero-inflated-poisson", "negative-binomial"] {
        let (_, picture) = simulate(&["--prior", "--likelihood", family], family);
        assert!(!picture.contains("NaN") && !picture.contains("inf\"") && picture.ends_with("</svg>\n"), "{family}");
    }
}

#[test]
fn settings_that_do_not_belong_to_the_prior_are_refused() {
    let dir = folder("draw-bad");
    fs::write(dir.join("p.toml"), "[priors]\nintercept = 2\n").unwrap();
    fs::write(dir.join("b.toml"), "blocks = \"b.csv\"\n").unwrap();
    fs::write(dir.join("n.toml"), "likelihood = \"gaussian\"\n[priors]\nnoise = { shape = 0, rate = 1 }\n").unwrap();
    for (flags, words) in [
        (["--config", "p.toml"].as_slice(), ["config", "add --prior"].as_slice()),
        (&["--prior", "--config", "b.toml"], &["blocks", "--likelihood"]),
        (&["--prior", "--config", "n.toml"], &["priors.noise.shape is 0", "positive"]),
        (&["--prior", "--config", "none.toml"], &["none.toml", "cannot be read"]),
        (&["--prior", "--time"], &["rows from the prior have no times"]),
    ] {
        refused(&dir, &[&["simulate", "--out", "s"], flags].concat(), 2, words);
        assert!(!dir.join("s").exists(), "{flags:?}");
    }
    let both = common::rflvm(&dir, &["simulate", "--out", "s", "--prior", "--source", "s-curve"]);
    assert!(both.status.code() == Some(2) && common::text(&both.stderr).contains("'--prior' cannot be used with"));
}

#[test]
fn check_reports_a_prior_that_conflicts_with_its_posterior() {
    let dir = folder("conflict");
    // Two smooth curves, nearly without noise.
    let row = |n: usize| {
        let t = 0.1 * n as f64;
        let cells = [t.sin(), t.cos(), (0.7 * t).sin(), (0.7 * t).cos(), t.sin() - t.cos()];
        format!("{}\n", cells.map(|cell| format!("{cell:.6}")).join(","))
    };
    fs::write(dir.join("t.csv"), format!("a,b,c,d,e\n{}", (0..90).map(row).collect::<String>())).unwrap();
    let check = |amplitude: &str| {
        let fit = [
            "fit",
            "t.csv",
            "--likelihood",
            "gaussian",
            "--features",
            "10",
            "--chains",
            "2",
            "--warmup",
            "60",
            "--draws",
            "40",
        ];
        good(&dir, &[&fit[..], &["--seed", "1", "-q", "--amplitude", amplitude, "--out", amplitude]].concat());
        let said = common::text(&good(&dir, &["check", amplitude]).stdout);
        let json = common::text(&good(&dir, &["check", amplitude, "--json"]).stdout);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        (said, json, fs::read_to_string(dir.join(amplitude).join("check.csv")).unwrap())
    };
    let (said, json, csv) = check("1");
    assert!(said.contains("the prior of strength of weights conflicts with its posterior: "), "{said}");
    assert!(said.contains("of 5 columns; worst: column '"), "{said}");
    let first = &json["conflicts"][0];
    assert_eq!((first["quantity"].as_str(), first["of"].as_u64()), (Some("strength of weights"), Some(5)), "{json}");
    assert!(first["median"].as_f64() > first["prior_high"].as_f64(), "{json}");
    assert_eq!(csv.lines().filter(|line| line.contains(",prior of strength of weights,")).count(), 1, "{csv}");
    let (said, json, csv) = check("learned");
    assert!(!said.contains("prior of strength of weights") && !csv.contains("prior of strength"), "{said}");
    assert!(json["conflicts"].is_array(), "{json}");
}

#[test]
fn a_flag_that_would_do_nothing_is_refused() {
    let dir = folder("idle");
    fs::write(dir.join("t.csv"), table()).unwrap();
    let fit = ["fit", "t.csv", "--likelihood", "gaussian", "--out", "f"];
    refused(&dir, &[&fit[..], &["--length-scale", "3"]].concat(), 2, &["length-scale is 3", "--kernel rbf"]);
    refused(&dir, &[&fit[..], &["--trials", "9"]].concat(), 2, &["trials is 9", "gaussian has no trials"]);
    let simulate = ["simulate", "--out", "s"];
    refused(&dir, &[&simulate[..], &["--trials", "9"]].concat(), 2, &["trials is 9", "poisson has no trials"]);
    refused(&dir, &[&simulate[..], &["--features", "8"]].concat(), 2, &["--features", "S-curve", "--prior"]);
    assert!(!dir.join("f").exists() && !dir.join("s").exists());
}
