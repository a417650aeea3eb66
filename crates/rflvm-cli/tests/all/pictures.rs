//! The contents of the pictures that the program writes.

use crate::common;
use crate::common::{folder, good};
use std::fs;
use std::path::Path;

const RUN: [&str; 10] = ["--features", "6", "--chains", "2", "--warmup", "4", "--draws", "4", "--seed", "1"];

/// Thirty rows of two sequences with a class, a number, and counts.
fn table() -> String {
    let row = |n: u32| {
        let (run, day) = (["left", "right & <last>"][(n % 2) as usize], n / 2 + 1);
        let age = if n == 4 { "NA".into() } else { format!("{}", f64::from(n) * 0.5 - 3.0) };
        format!(
            "2024-01-{day:02},{run},{},{age},{},{},{}\n",
            ["u", "v"][(n % 3 / 2) as usize],
            n * 3 % 7,
            n % 4,
            n * n % 5
        )
    };
    format!("day,run,kind,age,a,b,c\n{}", (0..30).map(row).collect::<String>())
}

fn picture(dir: &Path, out: &str, flags: &[&str]) -> String {
    fs::write(dir.join("t.csv"), table()).unwrap();
    let fit = ["fit", "t.csv", "--columns", "a,b,c", "--likelihood", "poisson", "-q", "--out", out];
    good(dir, &[&fit[..], &RUN[..], flags].concat());
    fs::read_to_string(dir.join(out).join("latent.svg")).unwrap()
}

#[test]
fn labels_are_classes_or_a_scale() {
    let dir = folder("labels");
    let classes = picture(&dir, "kind", &["--labels", "kind"]);
    assert!(classes.contains(">u<") && classes.contains(">v<") && !classes.contains("linearGradient"));
    let scale = picture(&dir, "age", &["--labels", "age"]);
    assert!(scale.contains("linearGradient") && scale.contains(">age<") && scale.contains("grey: 1 row"), "{scale}");
    assert!(!picture(&dir, "plain", &[]).contains("linearGradient"));
    // Labels that are not classes are not scored.
    fs::remove_dir_all(dir.join("age")).unwrap();
    let fit = ["fit", "t.csv", "--columns", "a,b,c", "--labels", "age", "--likelihood", "poisson", "--out", "age"];
    let said = common::text(&good(&dir, &[&fit[..], &RUN[..]].concat()).stderr);
    assert!(!said.contains("accuracy"), "{said}");
}

#[test]
fn times_join_the_rows_and_colour_them() {
    let dir = folder("times");
    let text = picture(&dir, "o", &["--time", "day", "--sequence", "run"]);
    assert!(text.contains("lines join rows") && text.contains(">right &amp; &lt;last&gt;<"), "{text}");
    assert!(text.contains(">2024-01-01<") && text.contains(">2024-01-15<") && text.contains(">time<"), "{text}");
    // Labels set the colours, if there are any.
    let text = picture(&dir, "p", &["--time", "day", "--sequence", "run", "--labels", "kind"]);
    assert!(text.contains("lines join rows") && !text.contains("linearGradient"));
}

#[test]
fn three_axes_are_shown_as_pairs() {
    let dir = folder("three");
    let text = picture(&dir, "o", &["--latent-dim", "3"]);
    assert_eq!(text.matches("<rect x").count(), 3);
    assert_eq!(picture(&dir, "p", &[]).matches("<rect x").count(), 1);
}

#[test]
fn a_title_can_be_chosen_and_stays() {
    let dir = folder("title");
    let (title, written) = ("Mice & <men>", "<title>Mice &amp; &lt;men&gt;</title>");
    assert!(picture(&dir, "o", &["--time", "day", "--sequence", "run", "--title", title]).contains(written));
    assert!(fs::read_to_string(dir.join("o/paths.svg")).unwrap().contains(written));
    // The settings keep it, and a resumed fit uses it.
    fs::remove_file(dir.join("o/latent.svg")).unwrap();
    good(&dir, &["resume", "o", "-q"]);
    assert!(fs::read_to_string(dir.join("o/latent.svg")).unwrap().contains(written));
    assert!(picture(&dir, "p", &[]).contains("<title>t</title>"));
    good(
        &dir,
        &[
            "fit",
            "t.csv",
            "--method",
            "map",
            "--columns",
            "a,b,c",
            "--likelihood",
            "poisson",
            "-q",
            "--title",
            title,
            "--out",
            "m",
        ],
    );
    assert!(fs::read_to_string(dir.join("m/latent.svg")).unwrap().contains(written));
    let demo = ["demo", "--warmup", "0", "--draws", "1", "-q", "--title", title, "--out", "d"];
    good(&dir, &demo);
    assert!(fs::read_to_string(dir.join("d/latent.svg")).unwrap().contains(written));
}
