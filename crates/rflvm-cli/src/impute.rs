//! `rflvm impute`: what a fit knows of the missing cells, one by one or as completed tables.

use crate::args::ImputeArgs;
use crate::atomic::plain_reason;
use crate::failure::Failure;
use crate::fit::Fit;
use crate::output;
use crate::results::warn_of_chains;
use crate::sample::store_path;
use crate::voice::Voice;
use rflvm::atomic::write_with;
use rflvm::draws::zarr::Reader;
use rflvm::error::SpecError;
use rflvm::linalg::Mat;
use rflvm::posterior::convergence::judge;
use rflvm::posterior::impute::{Cell, DRAWS, Imputation};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: &ImputeArgs) -> Result<(), Failure> {
    if args.out.extension().is_none_or(|e| e != "csv") {
        let (setting, value) = ("out", args.out.display().to_string());
        return Err(SpecError::Setting { setting, value, rule: "its name must end in .csv".into() }.into());
    }
    let fit = Fit::open(&args.dir, |_| ())?;
    if !fit.model.has_missing() {
        return Err(Failure::Complete { file: fit.table.path.display().to_string() });
    }
    let path = store_path(&args.dir);
    let no_draws = || Failure::NoDraws { dir: args.dir.display().to_string() };
    if !path.join(".zmetadata").exists() {
        return Err(no_draws());
    }
    let store = Reader::open(&path)?;
    if store.size()?.1 == 0 {
        return Err(no_draws());
    }
    fit.use_instructions();
    let convergence = judge(&store)?;
    warn_of_chains(&convergence, Voice::default());
    let used = convergence.used();
    match args.draws {
        None => {
            let count = write_cells(&args.out, &fit, &store, &used)?;
            println!("{count} missing cells: {}", args.out.display());
        }
        Some(count) => {
            let files = write_tables(&args.out, count, &fit, &store, &used)?;
            println!(
                "{count} completed tables: {}",
                files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(" ")
            );
        }
    }
    Ok(())
}

/// The cells of a fit, by the draws of the chains that are used.
fn imputation<'a>(fit: &'a Fit, store: &'a Reader, used: &'a [usize]) -> Imputation<'a> {
    Imputation { store, model: &fit.model, used, stream: fit.stream().named("impute") }
}

/// A number as a cell; what is not known is left empty.
fn text(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

/// Writes `row,column,mean,sd,q05,q50,q95`, and says how many cells there were.
pub fn write_cells(path: &Path, fit: &Fit, store: &Reader, used: &[usize]) -> Result<usize, Failure> {
    let mut cells: Vec<Cell> = Vec::new();
    imputation(fit, store, used).cells(DRAWS, |cell| cells.push(cell))?;
    let header = ["row", "column", "mean", "sd", "q05", "q50", "q95"].map(String::from).to_vec();
    let line = |cell: &Cell| {
        let mut line = vec![cell.row.to_string(), fit.model.names()[cell.column].clone()];
        line.extend([cell.mean, cell.sd].iter().chain(&cell.quantiles).map(|&v| text(v)));
        line
    };
    output::write(path, &output::csv_text(header, cells.iter().map(line)))?;
    Ok(cells.len())
}

/// Writes completed tables beside `path`: table.csv is the pattern of table-1.csv, table-2.csv, …
fn write_tables(path: &Path, count: usize, fit: &Fit, store: &Reader, used: &[usize]) -> Result<Vec<PathBuf>, Failure> {
    let there = used.len() * store.size()?.1;
    if count == 0 || count > there {
        let rule = format!("each table takes a draw of its own, and this fit has {there}; ask for 1 to {there}");
        return Err(SpecError::Setting { setting: "draws", value: count.to_string(), rule }.into());
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut files = Vec::with_capacity(count);
    imputation(fit, store, used).tables(count, |i, table| -> Result<(), Failure> {
        let file = path.with_file_name(format!("{stem}-{}.csv", i + 1));
        write_table(&file, fit, table)?;
        files.push(file);
        Ok(())
    })?;
    Ok(files)
}

/// A completed table: the columns that were set aside by flags, then the fitted ones in the table's order.
fn write_table(path: &Path, fit: &Fit, values: &Mat) -> Result<(), Failure> {
    let (config, table, model) = (&fit.config, &fit.table, &fit.model);
    let offset: Vec<String> = model.offset().iter().map(f64::to_string).collect();
    let aside: Vec<(&str, &Vec<String>)> = [
        (config.id.as_deref(), Some(&table.ids)),
        (config.labels.as_deref(), table.labels.as_ref()),
        (config.time.as_deref(), table.time.as_ref()),
        (config.sequence.as_deref(), table.sequence.as_ref()),
        (config.offset_column(), Some(&offset)),
    ]
    .into_iter()
    .filter_map(|(name, cells)| name.zip(cells))
    .collect();
    // For each column of the table, its place in the model.
    let mut places = vec![0; model.columns()];
    model.order().iter().enumerate().for_each(|(place, &column)| places[column] = place);
    let fill = |file: &mut std::io::BufWriter<std::fs::File>| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(aside.iter().map(|(name, _)| *name).chain(table.columns.iter().map(String::as_str)))?;
        for n in 0..values.rows() {
            let numbers = places.iter().map(|&j| text(values[(n, j)]));
            writer.write_record(aside.iter().map(|(_, cells)| cells[n].clone()).chain(numbers))?;
        }
        writer.flush()
    };
    write_with(path, fill)
        .map_err(|error| Failure::Write { path: path.display().to_string(), reason: plain_reason(&error) })
}
