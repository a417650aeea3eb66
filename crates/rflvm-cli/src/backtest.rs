//! `rflvm forecast --backtest`: forecasts of rows that are known, from several origins, compared with baselines.

use crate::aligned::{aligned, short};
use crate::answer::{check_csv, next_to, outputs};
use crate::args::ForecastArgs;
use crate::failure::Failure;
use crate::picture::paths::{Line, Look, Paths, Times, Values};
use crate::plot::over_time::{COLUMNS, drawn_over};
use crate::reply::Reply;
use crate::stop;
use rflvm::internal::backtest::{Backtest, Held, LINE, Stage};
use rflvm::internal::error::RunError;
use rflvm::internal::posterior::outlook::Scores;
use rflvm_study::answers::backtest::{Asked, as_json, cells, run as score, scores};
use rflvm_study::answers::forecast::timeline;
use rflvm_study::{Error, Fit, write};
use serde_json::json;
use std::ops::ControlFlow;

/// Runs the command.
pub fn run(args: &ForecastArgs, origins: usize) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let file = args.out.clone().unwrap_or_else(|| args.dir.join("backtest.csv"));
    check_csv(&file)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    let (each, svg) = (next_to(&file, "-cells.csv"), file.with_extension("svg"));
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
    let scores = scores(&told, &fit);
    write::text(&file, &scores.csv())?;
    write::text(&each, &cells(&told, &fit).csv())?;
    write::text(&svg, &draw(&fit, &told)?)?;
    aligned(&table(&told)).lines().try_for_each(|line| reply.line(line))?;
    reply.line("")?;
    aligned(&by_horizon(&told)).lines().try_for_each(|line| reply.line(line))?;
    reply.line(&format!(
        "scores are in units of each column's standard deviation; the line is fitted to the last {LINE} values"
    ))?;
    reply.line(&format!("scores, cells and picture: {} {} {}", file.display(), each.display(), svg.display()))?;
    reply.object(&json!({ "origins": origins, "scores": as_json(&scores) }))
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

/// Forecasts of the first method from each origin over what was observed, for the first columns of the sequence with the most forecasts.
fn draw(fit: &Fit, told: &Backtest) -> Result<String, Failure> {
    let timeline = timeline(fit)?;
    let (times, y) = (&timeline.times, fit.model.y());
    let of = |cell: &&Held, sequence: usize| times.sequence[cell.row] == sequence && !cell.outlooks.is_empty();
    let counts = |sequence: usize| told.cells.iter().filter(|cell| of(cell, sequence)).count();
    let sequence = (0..timeline.names.len().max(1)).max_by_key(|&s| (counts(s), usize::MAX - s)).unwrap_or(0);
    let own: Vec<&Held> = told.cells.iter().filter(|cell| of(cell, sequence)).collect();
    let ends = own.iter().map(|cell| times.at[cell.row]).fold(None, |ends: Option<(f64, f64)>, at| {
        Some(ends.map_or((at, at), |(low, high)| (low.min(at), high.max(at))))
    });
    // As much of the past as of the time that is forecast.
    let (low, high) = ends.map_or((f64::NEG_INFINITY, f64::INFINITY), |(low, high)| (2.0 * low - high, high));
    let mut rows: Vec<usize> = timeline.sequences().get(sequence).cloned().unwrap_or_default();
    rows.retain(|&n| (low..=high).contains(&times.at[n]));
    let place_of = |row: usize| rows.iter().position(|&n| n == row).unwrap_or(0);
    let column = |(&place, name): (&usize, &String)| {
        let values = rows.iter().map(|&n| Some(y[(n, place)]).filter(|v| v.is_finite())).collect();
        let seen = Line { rows: (0..rows.len()).collect(), values, look: Look::Observed, ..Line::default() };
        let last = own.iter().map(|cell| cell.origin + 1).max().unwrap_or(0);
        let ahead = |origin: usize| {
            let mut cells: Vec<&&Held> = own.iter().filter(|c| c.origin == origin && c.column == place).collect();
            cells.sort_by_key(|cell| cell.step);
            let quantile = |i: usize| cells.iter().map(|cell| Some(cell.outlooks[0].quantiles[i])).collect::<Vec<_>>();
            Line {
                rows: cells.iter().map(|cell| place_of(cell.row)).collect(),
                values: quantile(2),
                bands: vec![[quantile(0), quantile(4)], [quantile(1), quantile(3)]],
                ..Line::default()
            }
        };
        let lines = std::iter::once(seen).chain((0..last).map(ahead)).collect();
        Values { label: name.clone(), lines, ..Values::default() }
    };
    let of = timeline.names.get(sequence).map_or(String::new(), |name| format!(" of sequence {name}"));
    let method = told.methods.first().map_or("", String::as_str);
    let at = rows.iter().map(|&n| times.at[n]).collect();
    Ok(drawn_over(Paths {
        title: fit.title(),
        across: "time".into(),
        times: Times::On(at, timeline.calendar.clone()),
        panels: fit.places().iter().zip(&fit.table.columns).take(COLUMNS).map(column).collect(),
        note: format!(
            "grey: observed{of}; bands: central 90% and 50% of the forecasts ({method}), lines: their medians"
        ),
        ..Paths::default()
    })?
    .svg())
}
