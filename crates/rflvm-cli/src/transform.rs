//! `rflvm transform`: the positions of new rows, and how unusual they are.

use crate::answer::{Asked, next_to, outputs};
use crate::args::TransformArgs;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm::internal::error::SpecError;
use rflvm_study::answers::placed::{Placed, placed};
use rflvm_study::new_rows::{self, NewTable};
use rflvm_study::write;
use serde_json::json;
use std::path::Path;

/// Runs the command.
pub fn run(args: &TransformArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let asked = Asked::new(args.out.as_ref(), None, &args.replace, reply);
    let beside = || next_to(asked.out.unwrap_or(Path::new("transform.csv")), "-draws.csv");
    let positions = args.draws.map(|_| args.draws_out.clone().unwrap_or_else(beside));
    positions.as_deref().map_or(Ok(()), check_draws)?;
    let fit = asked.fit(&args.dir)?;
    let trials = args.trials.as_deref().map(Path::new);
    let reads = [Some(args.table.as_path()), args.row_data.as_deref(), trials].into_iter().flatten();
    let mut outputs = outputs(&fit).reading(reads).overwrite(args.replace.overwrite);
    asked.out.map_or(Ok(()), |out| outputs.named(out))?;
    positions.as_deref().map_or(Ok(()), |path| outputs.either(path, args.draws_out.is_some()))?;
    let (table, new) = new_rows::read(&new_table(args), &fit)?;
    reply.console().notes(&new.notes);
    let drawn = crate::answer::drawn(&fit, reply.console())?;
    let found = placed(&fit, &drawn, &new.rows, args.draws.unwrap_or(0))?;
    let rows = if table.rows == 1 { "1 new row".into() } else { format!("{} new rows", table.rows) };
    let mut object = asked.write(&found.answer(&table), &rows)?;
    if let Some(path) = &positions {
        write_draws(path, &found)?;
        reply.line(&format!("{} draws of {rows}: {}", found.draws.len(), path.display()))?;
        let mut files = object["files"].as_array().cloned().unwrap_or_default();
        files.push(json!(path));
        object["files"] = files.into();
    }
    reply.object(&object)
}

/// The table of new rows.
fn new_table(args: &TransformArgs) -> NewTable {
    NewTable {
        path: args.table.clone(),
        separator: args.separator,
        decimal: args.decimal,
        na: args.na.clone(),
        array: args.array.clone(),
        trials: args.trials.clone(),
        row_data: args.row_data.clone(),
        device: args.device,
    }
}

fn is_array(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "npy")
}

fn check_draws(path: &Path) -> Result<(), SpecError> {
    if is_array(path) || path.extension().is_some_and(|ending| ending == "csv") {
        return Ok(());
    }
    let rule = "its name must end in .csv or .npy".into();
    Err(SpecError::Setting { setting: "draws-out", value: path.display().to_string(), rule })
}

/// One line per row and draw, or an array of draw × row × axis.
fn write_draws(path: &Path, found: &Placed) -> Result<(), Failure> {
    if !is_array(path) {
        return Ok(write::text(path, &found.lines_of_draws().csv())?);
    }
    let (rows, axes) = found.draws.first().map_or((0, 0), |x| (x.rows(), x.cols()));
    let numbers: Vec<f64> = found.draws.iter().flat_map(|x| x.as_slice()).copied().collect();
    Ok(write::npy(path, &[found.draws.len(), rows, axes], &numbers)?)
}
