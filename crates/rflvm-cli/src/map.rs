//! `rflvm fit --method map`: a first picture of a table in seconds. Nothing is written before all results are known, and each file is written
//! atomically, so Ctrl-C needs no handling.

use crate::args::FitArgs;
use crate::begin::{check_settings, tell};
use crate::console::Console;
use crate::failure::Failure;
use crate::labels::Labels;
use crate::output;
use crate::ranks::Ranks;
use crate::results;
use rflvm::internal::error::SpecError;
use rflvm::internal::init::map::{Map, MapFit};
use rflvm::internal::linalg::{Mat, mul};
use rflvm::internal::posterior::align::Embedding;
use rflvm::internal::posterior::score;
use rflvm_study::answers::positions::columns;
use rflvm_study::cells::csv_text;
use rflvm_study::folder::{map_path, settled};
use rflvm_study::{Config, Fit, point, write};
use serde_json::json;
use std::time::Instant;

/// Computes the estimate with these settings; `noted` is the table that they were saved with.
pub fn run(args: &FitArgs, config: Config, noted: Option<String>, ranks: &Ranks) -> Result<(), Failure> {
    let console = Console::from(&args.console);
    if args.page.image.is_some() {
        let (setting, rule) = ("image", "a point estimate has no report; omit it, or use `--method mcmc`".into());
        return Err(SpecError::Setting { setting, value: "given".into(), rule }.into());
    }
    ranks.check_alone("a point estimate")?;
    let starts = config.sampling.starts.unwrap_or(Map::default().starts);
    let fit = Fit::new(config, &args.out)?;
    fit.check_noted(noted)?;
    point::check(&fit, starts)?;
    check_settings(args.file.as_deref(), &args.out)?;
    let _lock = point::lock(&fit, args.overwrite)?;
    tell(&fit, console);
    let begun = Instant::now();
    let (point, spread) = point::point(&fit, starts)?;
    write(args, &fit, &point, &spread, begun.elapsed().as_secs_f64(), console)
}

/// `row,column,mean`: the expectation of each missing cell at the point estimate. Rows are counted from 1.
fn imputed(fit: &Fit, point: &MapFit) -> String {
    let model = &fit.model;
    let mut expected = vec![0.0; model.columns()];
    let mut cells = Vec::new();
    for n in 0..model.rows() {
        model.expected_row(&point.state, n, &mut expected);
        let missing = fit.places().into_iter().filter(|&j| model.y()[(n, j)].is_nan());
        cells.extend(missing.map(|j| vec![(n + 1).to_string(), model.names()[j].clone(), expected[j].to_string()]));
    }
    csv_text(["row", "column", "mean"].map(String::from).to_vec(), cells.into_iter())
}

/// Writes the positions, their picture, the frequencies on the same axes, the settings and, last, map.json, which marks the folder as complete.
fn write(
    args: &FitArgs,
    fit: &Fit,
    point: &MapFit,
    spread: &[Mat],
    seconds: f64,
    console: Console,
) -> Result<(), Failure> {
    let (dir, table) = (&args.out, &fit.table);
    let (embedding, rotation) = Embedding::of_point(point.state.features.x(), spread);
    fit.write_settings(Some(&fit.identity()))?;
    write::text(&dir.join("embedding.csv"), &columns(&embedding, None, table).csv())?;
    output::write_pictures(dir, fit, &embedding, "conditional", None)?;
    let w = point.state.features.w();
    let mut turned = Mat::zeros(w.rows(), w.cols());
    mul(turned.as_mut_slice(), w.view(), rotation.view(), false);
    write::text(&dir.join("frequencies.csv"), &output::matrix_csv("w", &turned))?;
    if fit.model.has_missing() {
        write::text(&dir.join("imputed.csv"), &imputed(fit, point))?;
    }
    let value = point.trace.last();
    let mut about = json!({
        "objective": value, "log_joint": point.ln_joint, "log_likelihood": point.ln_likelihood,
        "iterations": point.iterations, "rounds": point.trace.len() - 1, "converged": point.converged,
        "starts": point.reached, "seconds": seconds, "seed": fit.settings.seed,
        "sd": "conditional: of each position given frequencies, weights and parameters",
    });
    write::text(&map_path(dir), &format!("{about:#}\n"))?;
    settled(dir)?;
    if let Some(Labels::Classes(labels)) = table.labels.as_deref().map(Labels::of) {
        let (mean, sd) = score::nearest_neighbour_accuracy(&embedding.mean, labels, 5, 0);
        console.say(&format!("1-nearest-neighbour accuracy of the labels, 5-fold: {mean:.3} ± {sd:.3}"));
    }
    if !point.converged {
        console.warn("the optimiser reached its iteration limit; the picture may still change a little");
    }
    console.say(&format!(
        "log joint {:.1}, log-likelihood {:.1}, {} iterations in {} rounds, {seconds:.1} s",
        point.ln_joint,
        point.ln_likelihood,
        point.iterations,
        point.trace.len() - 1
    ));
    console.say(&format!(
        "MAP estimate, not a posterior: standard deviations are conditional on everything else; results in {}",
        dir.display()
    ));
    about["files"] = json!(results::files(dir));
    console.answer("map", about);
    Ok(())
}
