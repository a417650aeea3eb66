//! `rflvm impute`: predictions of the missing cells, one by one or as completed tables.

use crate::aligned::{aligned, short};
use crate::answer::{Asked, outputs};
use crate::args::ImputeArgs;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm_study::answers::imputed::{check, imputed, larger_dim};
use rflvm_study::answers::revealed;
use rflvm_study::new_rows::NewTable;
use rflvm_study::{Fit, drawn::Drawn};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Runs the command.
pub fn run(args: &ImputeArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let asked = Asked::new(args.out.as_ref(), args.draws, &args.replace, reply);
    let fit = asked.fit(&args.dir)?;
    check(&fit)?;
    // A fit writes this file too.
    let outputs = outputs(&fit).reading(args.truth.as_deref());
    let own: &[&str] = if args.draws.is_none() { &["imputed.csv"] } else { &[] };
    let drawn = asked.drawn(&fit, outputs.own(&args.dir, own))?;
    let cells = imputed(&fit, &drawn)?;
    reply.console().notes(larger_dim(&fit, &drawn)?.as_slice());
    let Some(truth) = &args.truth else {
        return asked.cells(&cells, "missing cell", "completed tables");
    };
    let (lines, mut object) = score(truth, &fit, &drawn, reply)?;
    if asked.out.is_some() {
        let answer = cells.answer()?;
        object["files"] = asked.write(&answer, &format!("{} missing cells", answer.lines()))?["files"].take();
    }
    lines.iter().try_for_each(|line| reply.line(line))?;
    reply.object(&object)
}

/// The scores of the cells whose true value is known, as lines and as an object.
fn score(truth: &Path, fit: &Fit, drawn: &Drawn, reply: Reply) -> Result<(Vec<String>, Value), Failure> {
    // Its rows are those of the fit, and so is the table about them.
    let row_data = fit.config.row_data.clone();
    let truth = NewTable { path: truth.to_path_buf(), row_data, ..NewTable::default() };
    let (cells, notes) = revealed::read(&truth, fit, drawn)?;
    reply.console().notes(&notes);
    let (scores, answers) = (revealed::scores(&cells, fit), revealed::answers(&cells, fit));
    let mut columns: Map<String, Value> = Map::new();
    for mut object in scores.objects() {
        let name = object.as_object_mut().and_then(|object| object.remove("column"));
        columns.insert(name.and_then(|name| name.as_str().map(String::from)).unwrap_or_default(), object);
    }
    let mut told = columns.remove("all").unwrap_or_default();
    told["columns"] = columns.into();
    let each = answers.iter().map(|a| {
        let scores = json!({ "cells": a.count, "accuracy": a.accuracy, "log_probability": a.ln_probability });
        (a.name.clone(), scores)
    });
    told["categories"] = each.collect();
    told["files"] = json!([]);
    let header = ["", "cells", "MSE", "MAE", "CRPS", "log density", "in 50%", "in 90%"].map(String::from).to_vec();
    let line = |i: usize| {
        let all = i + 1 == scores.lines();
        let of = |name: &str| scores.numbers(name)[i];
        let name = if all { "all columns".into() } else { scores.columns[0].text(i) };
        let mut line = vec![name, scores.columns[1].text(i)];
        line.extend(["mse", "mae", "crps", "log_density"].map(|name| short(of(name))));
        line.extend(["in50", "in90"].map(|name| format!("{:.0}%", 100.0 * of(name))));
        line
    };
    let table: Vec<Vec<String>> = std::iter::once(header).chain((0..scores.lines()).map(line)).collect();
    let mut lines: Vec<String> = aligned(&table).lines().map(String::from).collect();
    lines.push("MSE, MAE and CRPS are in units of each column's standard deviation".into());
    lines.extend(answers.iter().map(|a| {
        let (share, ln) = (100.0 * a.accuracy, short(a.ln_probability));
        format!("{}: {} answers, {share:.0}% predicted; mean log probability of an answer {ln}", a.name, a.count)
    }));
    Ok((lines, told))
}
