//! `rflvm impute`: predictions of the missing cells, one by one or as completed tables.

use crate::aligned::{aligned, short};
use crate::answer::{check_csv, check_numbered, drawn, listed, numbered, outputs};
use crate::args::ImputeArgs;
use crate::failure::Failure;
use crate::reply::{Reply, names};
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::fitted::DRAWS;
use rflvm::internal::posterior::impute::Imputed;
use rflvm::internal::posterior::outlook::Scores;
use rflvm_study::Fit;
use rflvm_study::cells::csv_text;
use rflvm_study::cells::number as text;
use rflvm_study::covariates::columns;
use rflvm_study::drawn::{CELLS, Drawn};
use rflvm_study::new_rows::NewTable;
use rflvm_study::{Error, axes, revealed, write};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: &ImputeArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    args.out.as_deref().map_or(Ok(()), check_csv)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    if !fit.model.has_missing() {
        return Err(Error::Complete { file: fit.table.path.display().to_string() }.into());
    }
    let mut outputs = outputs(&fit).reading(args.truth.as_deref()).overwrite(args.replace.overwrite);
    let drawn = drawn(&fit, reply.console())?;
    match (&args.out, args.draws) {
        (Some(out), Some(count)) => {
            drawn.check_count(count)?;
            check_numbered(&mut outputs, out, count)?;
        }
        // A fit writes this file too.
        (Some(out), None) => outputs.own(&args.dir, &["imputed.csv"]).named(out)?,
        (None, _) => {}
    }
    let leftover = drawn.fitted(&fit, "leftover").leftover()?;
    reply.console().notes(axes::too_few(&fit, leftover).as_slice());
    let (lines, mut object) = match &args.truth {
        Some(truth) => score(truth, &fit, &drawn, reply)?,
        None => (Vec::new(), json!({})),
    };
    let files = match (&args.out, args.draws) {
        (None, _) => Vec::new(),
        (Some(out), None) => {
            let count = write_cells(out, &fit, &drawn)?;
            reply.line(&format!("{count} missing cells: {}", out.display()))?;
            vec![out.clone()]
        }
        (Some(out), Some(count)) => {
            let files = write_tables(out, count, &fit, &drawn)?;
            reply.line(&format!("{count} completed tables: {}", listed(&files)))?;
            files
        }
    };
    lines.iter().try_for_each(|line| reply.line(line))?;
    object["files"] = json!(names(&files));
    reply.object(&object)
}

/// The scores of the cells whose true value is known, as lines and as an object.
fn score(truth: &Path, fit: &Fit, drawn: &Drawn, reply: Reply) -> Result<(Vec<String>, Value), Failure> {
    // Its rows are those of the fit, and so is the table about them.
    let row_data = fit.config.row_data.clone();
    let truth = NewTable { path: truth.to_path_buf(), row_data, ..NewTable::default() };
    let (cells, notes) = revealed::read(&truth, fit, drawn)?;
    let (all, columns) = revealed::scores(&cells, fit);
    let answers = revealed::answers(&cells, fit);
    reply.console().notes(&notes);
    let object = |s: &Scores| {
        let [in50, in90] = s.coverage;
        json!({ "cells": s.cells, "mse": s.mse, "mae": s.mae, "crps": s.crps, "log_density": s.ln_density, "in50": in50, "in90": in90 })
    };
    let mut told = object(&all);
    told["columns"] = columns.iter().map(|(j, s)| (fit.model.names()[*j].clone(), object(s))).collect();
    let each = answers.iter().map(|a| {
        let scores = json!({ "cells": a.count, "accuracy": a.accuracy, "log_probability": a.ln_probability });
        (a.name.clone(), scores)
    });
    told["categories"] = each.collect();
    let header = ["", "cells", "MSE", "MAE", "CRPS", "log density", "in 50%", "in 90%"].map(String::from).to_vec();
    let line = |name: &str, s: &Scores| {
        let mut line = vec![name.to_string(), s.cells.to_string()];
        line.extend([s.mse, s.mae, s.crps, s.ln_density.unwrap_or(f64::NAN)].map(short));
        line.extend(s.coverage.map(|share| format!("{:.0}%", 100.0 * share)));
        line
    };
    let each = columns.iter().map(|(j, s)| line(&fit.model.names()[*j], s));
    let table: Vec<Vec<String>> = std::iter::once(header).chain(each).chain([line("all columns", &all)]).collect();
    let mut lines: Vec<String> = aligned(&table).lines().map(String::from).collect();
    lines.push("MSE, MAE and CRPS are in units of each column's standard deviation".into());
    lines.extend(answers.iter().map(|a| {
        let (share, ln) = (100.0 * a.accuracy, short(a.ln_probability));
        format!("{}: {} answers, {share:.0}% predicted; mean log probability of an answer {ln}", a.name, a.count)
    }));
    Ok((lines, told))
}

/// Writes `row,column,mean,sd,q05,q50,q95`, with rows counted from 1, and `id` if rows have names; returns the number of cells.
pub fn write_cells(path: &Path, fit: &Fit, drawn: &Drawn) -> Result<usize, Failure> {
    let mut cells: Vec<Imputed> = Vec::new();
    drawn.fitted(fit, CELLS).missing_cells(DRAWS, |cell| cells.push(cell))?;
    let mut header = ["row", "column", "mean", "sd", "q05", "q50", "q95"].map(String::from).to_vec();
    let has_ids = fit.table.has_ids();
    header.extend(has_ids.then(|| "id".into()));
    let line = |cell: &Imputed| {
        let mut line = vec![(cell.row + 1).to_string(), fit.model.names()[cell.column].clone()];
        let known = &cell.predicted;
        line.extend([known.mean, known.sd].iter().chain(&known.quantiles).map(|&v| text(v)));
        line.extend(has_ids.then(|| fit.table.ids[cell.row].clone()));
        line
    };
    write::text(path, &csv_text(header, cells.iter().map(line)))?;
    Ok(cells.len())
}

/// Writes completed tables next to `path`: table.csv becomes table-1.csv, table-2.csv, …
fn write_tables(path: &Path, count: usize, fit: &Fit, drawn: &Drawn) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::with_capacity(count);
    drawn.fitted(fit, CELLS).completed_tables(count, |i, table| -> Result<(), Failure> {
        let file = numbered(path, i);
        write_table(&file, fit, table)?;
        files.push(file);
        Ok(())
    })?;
    Ok(files)
}

/// A completed table: first the columns with ids, labels, times, sequences, offsets and covariates, then the fitted ones in the table's order, categories as text.
fn write_table(path: &Path, fit: &Fit, values: &Mat) -> Result<(), Failure> {
    let (config, table, model) = (&fit.config, &fit.table, &fit.model);
    let offset: Vec<String> = model.offset().iter().map(f64::to_string).collect();
    let covariates = columns(config);
    let aside: Vec<(&str, &Vec<String>)> = [
        (config.id.as_deref(), Some(&table.ids)),
        (config.labels.as_deref(), table.labels.as_ref()),
        (config.time.as_deref(), table.time.as_ref()),
        (config.sequence.as_deref(), table.sequence.as_ref()),
        (config.offset_column(), Some(&offset)),
    ]
    .into_iter()
    .filter_map(|(name, cells)| name.zip(cells))
    .chain(covariates.iter().map(String::as_str).zip(&table.covariates))
    .collect();
    let (places, sources) = (fit.places(), table.sources());
    let fill = |file: &mut std::io::BufWriter<std::fs::File>| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(aside.iter().map(|(name, _)| *name).chain(sources.iter().map(|s| s.name(table))))?;
        for n in 0..values.rows() {
            let cells = sources.iter().map(|source| source.text(|j| values[(n, places[j])]));
            writer.write_record(aside.iter().map(|(_, cells)| cells[n].clone()).chain(cells))?;
        }
        writer.flush()
    };
    Ok(write::with(path, fill)?)
}
