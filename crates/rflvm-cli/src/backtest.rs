//! `rflvm forecast --backtest`: forecasts of rows that are known, from several origins, compared with baselines.

use crate::aligned::{aligned, short};
use crate::answer::{check_csv, next_to, outputs};
use crate::args::ForecastArgs;
use crate::failure::Failure;
use crate::picture::backtest::{self as picture, Picture};
use crate::reply::Reply;
use crate::stop;
use rflvm::internal::backtest::{Backtest, LINE, Stage};
use rflvm::internal::error::RunError;
use rflvm::internal::posterior::outlook::Scores;
use rflvm_study::backtest::{Asked, CELLS, HEADER, as_json, cells, run as score, scores};
use rflvm_study::cells::csv_text;
use rflvm_study::times::Calendar;
use rflvm_study::{Error, Fit, write};
use serde_json::json;
use std::ops::ControlFlow;

/// Runs the command.
pub fn run(args: &ForecastArgs, origins: usize) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let file = args.out.clone().unwrap_or_else(|| args.dir.join("backtest.csv"));
    check_csv(&file)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    let (each, svg) = (next_to(&file, "cells"), file.with_extension("svg"));
    let own = ["backtest.csv", "backtest-cells.csv", "backtest.svg"];
    let mut outputs = outputs(&fit).own(&args.dir, &own).overwrite(args.replace.overwrite);
    outputs.either(&file, args.out.is_some())?;
    [&each, &svg].into_iter().try_for_each(|path| outputs.unnamed(path))?;
    let console = reply.progress();
    let asked = Asked {
        origins,
        horizon: args.horizon,
        period: args.period,
        sweeps: args.sweeps,
        kernels: args.time_kernels.clone().unwrap_or_default(),
    };
    stop::listen(true);
    let told = score(
        &fit,
        &asked,
        &mut |Stage { number, all, rows, method }| {
            console.say(&format!("fit {number} of {all}: {method}, {rows} rows"));
        },
        &|_| if stop::is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) },
    );
    let told = told.map_err(|error| match error {
        Error::Run(RunError::Stopped { .. }) => Failure::Stopped,
        other => other.into(),
    })?;
    let lines = scores(&told, &fit);
    write::text(&file, &csv_text(HEADER.map(String::from).to_vec(), lines.iter().cloned()))?;
    write::text(&each, &csv_text(CELLS.map(String::from).to_vec(), cells(&told, &fit).into_iter()))?;
    write::text(&svg, &draw(&fit, &told))?;
    aligned(&table(&told)).lines().try_for_each(|line| reply.line(line))?;
    reply.line("")?;
    aligned(&by_horizon(&told)).lines().try_for_each(|line| reply.line(line))?;
    reply.line(&format!(
        "scores are in units of each column's standard deviation; the line is fitted to the last {LINE} values"
    ))?;
    reply.line(&format!("scores, cells and picture: {} {} {}", file.display(), each.display(), svg.display()))?;
    reply.object(&json!({ "origins": origins, "scores": as_json(&HEADER, &lines) }))
}

/// Scores of each method over all cells.
fn table(told: &Backtest) -> Vec<Vec<String>> {
    let header = ["method", "cells", "CRPS", "MSE", "MAE", "log density", "in 50%", "in 90%"];
    let line = |(method, s): (&String, Scores)| {
        let mut line = vec![method.clone(), s.cells.to_string()];
        line.extend([s.crps, s.mse, s.mae, s.ln_density.unwrap_or(f64::NAN)].map(short));
        line.extend(s.coverage.map(|share| format!("{:.0}%", 100.0 * share)));
        line
    };
    let lines = told.methods.iter().zip(told.scores(|_| true)).map(line);
    std::iter::once(header.map(String::from).to_vec()).chain(lines).collect()
}

/// CRPS of each method, by rows from the origin.
fn by_horizon(told: &Backtest) -> Vec<Vec<String>> {
    let header = std::iter::once("CRPS at horizon".to_string()).chain(told.methods.iter().cloned()).collect();
    let steps = 1..=told.cells.iter().map(|cell| cell.step).max().unwrap_or(0);
    let line = |step: usize| {
        let scores = told.scores(|cell| cell.step == step);
        std::iter::once(step.to_string()).chain(scores.iter().map(|s| short(s.crps))).collect()
    };
    std::iter::once(header).chain(steps.map(line)).collect()
}

fn draw(fit: &Fit, told: &Backtest) -> String {
    let Some(timeline) = &fit.timeline else { return String::new() };
    let format = |time: f64| timeline.calendar.format(time);
    let has_dates = timeline.calendar != Calendar::Numbers;
    picture::svg(&Picture {
        title: &fit.title(),
        model: &fit.model,
        told,
        times: &timeline.times,
        names: &timeline.names,
        format: if has_dates { Some(&format) } else { None },
        places: &fit.places(),
    })
}
