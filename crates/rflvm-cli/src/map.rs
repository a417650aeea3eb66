//! `rflvm map`: a table in, a first picture out in seconds. Nothing is written before all is known, and each file appears whole,
//! so Ctrl-C needs no care.

use crate::args::{MapArgs, StartArg};
use crate::config::{Config, RunConfig};
use crate::failure::Failure;
use crate::fit::Fit;
use crate::folder::map_path;
use crate::labels::Labels;
use crate::output;
use crate::voice::Voice;
use clap::Arg;
use rflvm::error::{RunError, SpecError};
use rflvm::init::map::{Map, MapFit};
use rflvm::linalg::{Mat, mul};
use rflvm::posterior::align::Embedding;
use rflvm::posterior::score;
use rflvm::run::pool;
use serde_json::json;
use std::time::Instant;

/// Settings of a fit that say how chains run.
const OF_CHAINS: [&str; 6] = ["warmup", "draws", "thin", "chains", "keep", "checkpoint"];

/// More starts than anybody has time for.
const MOST_STARTS: usize = 1000;

/// Leaves out of the help what means nothing here.
pub fn hide_sampling(arg: Arg) -> Arg {
    let hidden = OF_CHAINS.contains(&arg.get_id().as_str());
    arg.hide(hidden)
}

/// Runs the command.
pub fn run(args: &MapArgs) -> Result<(), Failure> {
    let voice = Voice::from(&args.voice);
    check(args)?;
    let file = Config::given(args.file.as_deref())?;
    let fit = Fit::new(args.config.clone().or(file).filled(), &args.out)?;
    check_point(&fit, args.starts)?;
    let _claim = fit.claim(args.overwrite)?;
    fit.tell(voice);
    let begun = Instant::now();
    let (point, spread) = climb(&fit, args.starts)?;
    write(args, &fit, &point, &spread, begun.elapsed().as_secs_f64(), voice)
}

/// The maximum, and the spread of each position around it.
pub fn climb(fit: &Fit, starts: usize) -> Result<(MapFit, Vec<Mat>), Failure> {
    check_point(fit, starts)?;
    let settings = Map { starts, init: fit.settings.init, ..Map::default() };
    fit.use_instructions();
    let failed = |source| Failure::Run(RunError::Numerical { chain: 1, sweep: 0, source });
    let climb = || {
        let point = settings.fit(&fit.model, fit.stream())?;
        let spread = point.spread(&fit.model)?;
        Ok((point, spread))
    };
    pool(&fit.settings)?.install(climb).map_err(failed)
}

/// Whether there can be a point of the fit.
fn check_point(fit: &Fit, starts: usize) -> Result<(), SpecError> {
    check_starts(starts)?;
    if fit.model.has_relevance() {
        let rule = "a point estimate cannot tell how many axes are in use; give a number, or use `rflvm fit`".into();
        return Err(SpecError::Setting { setting: "latent-dim", value: "auto".into(), rule });
    }
    Ok(())
}

fn check_starts(starts: usize) -> Result<(), SpecError> {
    if (1..=MOST_STARTS).contains(&starts) {
        return Ok(());
    }
    let rule = format!("it must be between 1 and {MOST_STARTS}");
    Err(SpecError::Setting { setting: "starts", value: starts.to_string(), rule })
}

/// Refuses what means nothing for a point estimate, rather than ignore it.
fn check(args: &MapArgs) -> Result<(), SpecError> {
    let RunConfig { warmup, draws, thin, chains, keep, checkpoint, .. } = &args.config.run;
    let given =
        [warmup.is_some(), draws.is_some(), thin.is_some(), chains.is_some(), keep.is_some(), checkpoint.is_some()];
    if let Some(setting) = OF_CHAINS.into_iter().zip(given).find_map(|(name, given)| given.then_some(name)) {
        let rule = "a point estimate has no chains; leave it out, or use `rflvm fit`".into();
        return Err(SpecError::Setting { setting, value: "given".into(), rule });
    }
    check_starts(args.starts)?;
    if args.config.run.start == Some(StartArg::Map) {
        let rule = "it is what this command climbs to, not where it starts; choose pca or random".into();
        return Err(SpecError::Setting { setting: "start", value: "map".into(), rule });
    }
    check_starts(args.starts)
}

/// `row,column,mean`: what a missing cell is expected to be at the point. Rows are counted from 1.
fn imputed(fit: &Fit, point: &MapFit) -> String {
    let model = &fit.model;
    let mut expected = vec![0.0; model.columns()];
    let mut cells = Vec::new();
    for n in 0..model.rows() {
        model.expected_row(&point.state, n, &mut expected);
        let missing = fit.places().into_iter().filter(|&j| model.y()[(n, j)].is_nan());
        cells.extend(missing.map(|j| vec![(n + 1).to_string(), model.names()[j].clone(), expected[j].to_string()]));
    }
    output::csv_text(["row", "column", "mean"].map(String::from).to_vec(), cells.into_iter())
}

/// Writes the positions, their picture, the frequencies on the same axes, the settings and, last, map.json: a folder that has it is whole.
fn write(args: &MapArgs, fit: &Fit, point: &MapFit, spread: &[Mat], seconds: f64, voice: Voice) -> Result<(), Failure> {
    let (dir, table) = (&args.out, &fit.table);
    let (embedding, rotation) = Embedding::of_point(point.state.features.x(), spread);
    fit.write_settings("map", None)?;
    output::write(&dir.join("embedding.csv"), &output::embedding_csv(&embedding, &table.into()))?;
    output::write_pictures(dir, fit, &embedding, "conditional")?;
    let w = point.state.features.w();
    let mut turned = Mat::zeros(w.rows(), w.cols());
    mul(turned.as_mut_slice(), w.view(), rotation.view(), false);
    output::write(&dir.join("frequencies.csv"), &output::matrix_csv("w", &turned))?;
    if fit.model.has_missing() {
        output::write(&dir.join("imputed.csv"), &imputed(fit, point))?;
    }
    let value = point.trace.last();
    let about = json!({
        "objective": value, "log_joint": point.ln_joint, "log_likelihood": point.ln_likelihood,
        "iterations": point.iterations, "rounds": point.trace.len() - 1, "converged": point.converged,
        "starts": point.reached, "seconds": seconds, "seed": fit.settings.seed,
        "sd": "conditional: of each position given frequencies, weights and parameters",
    });
    output::write(&map_path(dir), &format!("{about:#}\n"))?;
    if let Some(Labels::Classes(labels)) = table.labels.as_deref().map(Labels::of) {
        let (mean, sd) = score::nearest_neighbour_accuracy(&embedding.mean, labels, 5, 0);
        voice.say(&format!("1-nearest-neighbour accuracy of the labels, 5-fold: {mean:.3} ± {sd:.3}"));
    }
    if !point.converged {
        voice.warn("the climb had not ended when its rounds were up; the picture may still change a little");
    }
    voice.say(&format!(
        "log joint {:.1}, log-likelihood {:.1}, {} iterations in {} rounds, {seconds:.1} s",
        point.ln_joint,
        point.ln_likelihood,
        point.iterations,
        point.trace.len() - 1
    ));
    voice.say(&format!(
        "a point, not a posterior: the standard deviations are those of each position with all else known; results in {}",
        dir.display()
    ));
    voice.event("map", about);
    Ok(())
}
