//! `rflvm impute`: predictions of the missing cells, one by one or as completed tables.

use crate::answer::{check_csv, drawn, listed, numbered};
use crate::args::ImputeArgs;
use crate::failure::Failure;
use crate::voice::tell;
use rflvm::linalg::Mat;
use rflvm::posterior::fitted::{DRAWS, Fitted};
use rflvm::posterior::impute::Imputed;
use rflvm_study::Fit;
use rflvm_study::cells::csv_text;
use rflvm_study::cells::number as text;
use rflvm_study::cells::write_line;
use rflvm_study::covariates::columns;
use rflvm_study::drawn::Drawn;
use rflvm_study::{Error, write};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: &ImputeArgs) -> Result<(), Failure> {
    check_csv(&args.out)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    if !fit.model.has_missing() {
        return Err(Error::Complete { file: fit.table.path.display().to_string() }.into());
    }
    let drawn = drawn(&fit)?;
    match args.draws {
        None => {
            let count = write_cells(&args.out, &drawn.fitted(&fit, "impute"))?;
            tell(&format!("{count} missing cells: {}", args.out.display()))?;
        }
        Some(count) => {
            drawn.check_count(count)?;
            let files = write_tables(&args.out, count, &fit, &drawn)?;
            tell(&format!("{count} completed tables: {}", listed(&files)))?;
        }
    }
    Ok(())
}

/// Writes `row,column,mean,sd,q05,q50,q95`, with rows counted from 1, and returns the number of cells.
pub fn write_cells(path: &Path, fitted: &Fitted<'_>) -> Result<usize, Failure> {
    let mut cells: Vec<Imputed> = Vec::new();
    fitted.missing_cells(DRAWS, |cell| cells.push(cell))?;
    let header = ["row", "column", "mean", "sd", "q05", "q50", "q95"].map(String::from).to_vec();
    let line = |cell: &Imputed| {
        let mut line = vec![(cell.row + 1).to_string(), fitted.model.names()[cell.column].clone()];
        let known = &cell.predicted;
        line.extend([known.mean, known.sd].iter().chain(&known.quantiles).map(|&v| text(v)));
        line
    };
    write::text(path, &csv_text(header, cells.iter().map(line)))?;
    Ok(cells.len())
}

/// Writes completed tables next to `path`: table.csv becomes table-1.csv, table-2.csv, …
fn write_tables(path: &Path, count: usize, fit: &Fit, drawn: &Drawn) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::with_capacity(count);
    drawn.fitted(fit, "impute").completed_tables(count, |i, table| -> Result<(), Failure> {
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
        write_line(&mut writer, aside.iter().map(|(name, _)| *name).chain(sources.iter().map(|s| s.name(table))))?;
        for n in 0..values.rows() {
            let cells = sources.iter().map(|source| source.text(|j| values[(n, places[j])]));
            write_line(&mut writer, aside.iter().map(|(_, cells)| cells[n].clone()).chain(cells))?;
        }
        writer.flush()
    };
    Ok(write::with(path, fill)?)
}
