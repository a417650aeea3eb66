//! Priors in config.toml, as a user sets them.

mod common;

use common::{folder, good, refused};
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
        ("[priors]\nnoise = { shape = 1 }\n", &["p.toml", "line 2", "rate"]),
        ("[priors]\nnoise = { shape = -1, rate = 1 }\n", &["priors.noise.shape is -1", "positive number"]),
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
