//! A learned number of axes, as a user meets it.

use crate::common::{folder, good, rflvm, text};
use std::fs;

#[test]
fn axes_that_the_data_do_not_support_are_pruned_from_all_results() {
    let dir = folder("auto");
    good(
        &dir,
        &["simulate", "--likelihood", "gaussian", "--rows", "60", "--columns", "20", "--seed", "1", "--out", "s"],
    );
    let fit = "fit s/table.csv --likelihood gaussian --features 20 --latent-dim auto:4 --chains 2 --warmup 150 --draws 40 --seed 1 --out f";
    good(&dir, &fit.split(' ').collect::<Vec<_>>());
    let summary: serde_json::Value = serde_json::from_slice(&good(&dir, &["summary", "f", "--json"]).stdout).unwrap();
    let axes = &summary["axes"];
    let in_use = axes["in_use"].as_u64().unwrap() as usize;
    // The S-curve has two axes; such a short run may still use a third.
    assert!((2..=3).contains(&in_use), "{axes}");
    let told: Vec<f64> = axes["information"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert!(told.is_sorted_by(|a, b| a >= b) && told[1] > 1.0 && told[3] < 1.0, "{told:?}");
    let sum: f64 = axes["probabilities"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    assert!(text(&good(&dir, &["summary", "f"]).stdout).contains(&format!("axes in use: {in_use} of 4")));
    let header = |file: &str| fs::read_to_string(dir.join(file)).unwrap().lines().next().unwrap().to_string();
    let names = |prefix: &str| (1..=in_use).map(|d| format!("{prefix}{d}")).collect::<Vec<_>>().join(",");
    let positions = format!("id,label,{},{}", names("x"), names("sd"));
    // Where there are several modes, there is one more column.
    let embedding = header("f/embedding.csv");
    assert_eq!(embedding.trim_end_matches(",between_modes"), format!("{positions},{}", names("median")));
    // All results about positions have the same axes.
    good(&dir, &["transform", "f", "s/table.csv", "--out", "placed.csv"]);
    assert!(header("placed.csv").starts_with(&positions));
    good(&dir, &["predict", "f", "--path", "1,10", "--steps", "3", "--out", "between.csv"]);
    assert_eq!(header("between.csv"), format!("point,{},column,mean,sd,q05,q50,q95", names("x")));
    good(&dir, &["kernel", "f", "--out", "kernel.csv"]);
    let kernel = fs::read_to_string(dir.join("kernel.csv")).unwrap();
    assert!(kernel.contains(&format!("\nx{in_use},")) && !kernel.contains(&format!("\nx{},", in_use + 1)));
    // Settings that differ from those of the draws.
    let settings = fs::read_to_string(dir.join("f/config.toml")).unwrap();
    fs::write(dir.join("f/config.toml"), settings.replace("features = 20", "features = 22")).unwrap();
    for question in ["predict f --path 1,10 --out p.csv", "kernel f --out k.csv", "transform f s/table.csv --out t.csv"]
    {
        let output = rflvm(&dir, &question.split(' ').collect::<Vec<_>>());
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains("another model") && !said.contains("panicked"), "{said}");
    }
}

#[test]
fn an_error_says_where_axes_cannot_be_learned() {
    let dir = folder("bad");
    fs::write(dir.join("t.csv"), "a,b,c\n1,2,0\n0,1,3\n4,0,1\n2,2,1\n").unwrap();
    let start = ["--likelihood", "poisson", "--out", "f"];
    for (command, flags, words) in [
        ("fit", ["--latent-dim", "auto", "--kernel", "rbf"].as_slice(), "no axis can be pruned"),
        ("fit", &["--latent-dim", "many"], "is not a number of axes, auto"),
        ("fit", &["--latent-dim", "auto:0"], "is not a number of axes, auto"),
        ("fit", &["--method", "map", "--latent-dim", "auto"], "give a number"),
        ("compare", &["--latent-dims", "auto,2"], "list numbers"),
    ] {
        let output = rflvm(&dir, &[&[command, "t.csv"], start.as_slice(), flags].concat());
        assert_eq!(output.status.code(), Some(2), "{command} {flags:?}");
        let said = text(&output.stderr);
        assert!(said.contains(words), "{said}");
        assert!(!dir.join("f/draws.zarr").exists());
    }
}
