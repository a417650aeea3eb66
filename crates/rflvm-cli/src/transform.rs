//! `rflvm transform`: the positions of new rows, and how unusual they are.

mod draws;

use crate::answer::{check_csv, drawn, outputs};
use crate::args::TransformArgs;
use crate::failure::Failure;
use crate::output;
use crate::reply::{Reply, names};
use draws::DrawnPositions;
use rflvm::internal::draws::Source;
use rflvm::internal::posterior::transform::{DRAWS, Transformed};
use rflvm_study::Fit;
use rflvm_study::cells::csv_text;
use rflvm_study::cells::number as text;
use rflvm_study::new_rows::{self, NewTable};
use rflvm_study::table::Table;
use rflvm_study::write;
use serde_json::json;
use std::path::Path;

/// Runs the command.
pub fn run(args: &TransformArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    check_csv(&args.out)?;
    let mut positions = args.draws.map(|count| DrawnPositions::new(count, args)).transpose()?;
    let fit = Fit::open(&args.dir, |_| ())?;
    let trials = args.trials.as_deref().map(Path::new);
    let reads = [Some(args.table.as_path()), args.row_data.as_deref(), trials].into_iter().flatten();
    let mut outputs = outputs(&fit).reading(reads).overwrite(args.replace.overwrite);
    outputs.named(&args.out)?;
    if let Some(positions) = &positions {
        outputs.either(positions.path(), args.draws_out.is_some())?;
    }
    let (table, new) = new_rows::read(&new_table(args), &fit)?;
    reply.console().notes(&new.notes);
    let drawn = drawn(&fit, reply.console())?;
    args.draws.map_or(Ok(()), |count| drawn.check_positions(count))?;
    let there = drawn.used.len() * drawn.store.size()?.1;
    let visited = there.min(DRAWS.max(args.draws.unwrap_or(0)));
    let found = drawn.fitted(&fit, "transform").transform(&new.rows, visited, |i, x| {
        positions.iter_mut().for_each(|positions| positions.take(i, visited, x));
    })?;
    write::text(&args.out, &csv(&found, &table))?;
    let rows = if table.rows == 1 { "1 new row".into() } else { format!("{} new rows", table.rows) };
    reply.line(&format!("{rows}: {}", args.out.display()))?;
    let mut files = vec![args.out.as_path()];
    if let Some(positions) = &positions {
        positions.write()?;
        files.push(positions.path());
        reply.line(&format!("{} draws of {rows}: {}", positions.count(), positions.path().display()))?;
    }
    reply.object(&json!({ "files": names(&files) }))
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

/// The columns of embedding.csv, then `log_density,log_density_per_cell,outlier_score`; unknown values are left empty.
fn csv(found: &Transformed, table: &Table) -> String {
    let (mut header, mut lines) = output::embedding_lines(&found.embedding, &table.into());
    header.extend(["log_density", "log_density_per_cell", "outlier_score"].map(String::from));
    for (n, line) in lines.iter_mut().enumerate() {
        let value = found.ln_density[n];
        line.extend([value, value / found.cells[n] as f64, found.outlier_score[n]].map(text));
    }
    csv_text(header, lines.into_iter())
}
