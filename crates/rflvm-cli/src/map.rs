//! `rflvm map`: a first picture of a table in seconds. Nothing is written before all results are known, and each file is written
//! atomically, so Ctrl-C needs no handling.

use crate::args::MapArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::fit::{check_settings, tell};
use crate::flags::OF_CHAINS;
use crate::labels::Labels;
use crate::output;
use rflvm::internal::error::SpecError;
use rflvm::internal::init::map::MapFit;
use rflvm::internal::linalg::{Mat, mul};
use rflvm::internal::posterior::align::Embedding;
use rflvm::internal::posterior::score;
use rflvm_study::Fit;
use rflvm_study::answers::positions::columns;
use rflvm_study::cells::csv_text;
use rflvm_study::choices::InitAt;
use rflvm_study::config::{Config, RunConfig};
use rflvm_study::folder::{map_path, settled};
use rflvm_study::{idle, point, write};
use serde_json::json;
use std::time::Instant;

/// Runs the command.
pub fn run(args: &MapArgs) -> Result<(), Failure> {
    let console = Console::from(&args.console);
    check(args)?;
    let file = Config::given(args.file.as_deref())?;
    let noted = file.noted_table(&args.config.0);
    let config = args.config.0.clone().or(file).filled();
    idle::check(&args.config.0, &config)?;
    let fit = Fit::new(config, &args.out)?;
    fit.check_noted(noted)?;
    point::check(&fit, args.starts)?;
    check_settings(args.file.as_deref(), &args.out)?;
    let _lock = point::lock(&fit, args.overwrite)?;
    tell(&fit, console);
    let begun = Instant::now();
    let (point, spread) = point::point(&fit, args.starts)?;
    write(args, &fit, &point, &spread, begun.elapsed().as_secs_f64(), console)
}

/// Rejects settings that have no meaning for a point estimate, rather than ignoring them.
fn check(args: &MapArgs) -> Result<(), SpecError> {
    let RunConfig { warmup, draws, thin, chains, keep, checkpoint, .. } = &args.config.0.run;
    let given =
        [warmup.is_some(), draws.is_some(), thin.is_some(), chains.is_some(), keep.is_some(), checkpoint.is_some()];
    if let Some(setting) = OF_CHAINS.into_iter().zip(given).find_map(|(name, given)| given.then_some(name)) {
        let rule = "a point estimate has no chains; omit it, or use `rflvm fit`".into();
        return Err(SpecError::Setting { setting, value: "given".into(), rule });
    }
    point::check_starts(args.starts)?;
    if args.config.0.run.init == Some(InitAt::Map) {
        let rule = "this command computes a MAP estimate and cannot start from one; choose pca or random".into();
        return Err(SpecError::Setting { setting: "init", value: "map".into(), rule });
    }
    point::check_starts(args.starts)
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
    args: &MapArgs,
    fit: &Fit,
    point: &MapFit,
    spread: &[Mat],
    seconds: f64,
    console: Console,
) -> Result<(), Failure> {
    let (dir, table) = (&args.out, &fit.table);
    let (embedding, rotation) = Embedding::of_point(point.state.features.x(), spread);
    fit.write_settings("map", Some(&fit.identity()))?;
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
    let about = json!({
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
    console.event("map", about);
    Ok(())
}
