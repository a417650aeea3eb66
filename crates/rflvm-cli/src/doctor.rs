//! `rflvm doctor`: what the columns of a table hold, which families and flags suit them, and what a fit would cost.

mod advice;
mod cards;
mod chart;
mod cost;
mod totals;

use crate::args::DoctorArgs;
use crate::failure::Failure;
use crate::message::Flags;
use crate::reply::{Reply, names};
use crate::shell;
use advice::Advice;
use chart::Chart;
use cost::Cost;
use rflvm::internal::error::SpecError;
use rflvm_study::Config;
use rflvm_study::blocks::{self, Given};
use rflvm_study::column_families::ColumnFamilies;
use rflvm_study::families::{seen, suited};
use rflvm_study::latent_dim::LatentDim;
use rflvm_study::message::render;
use rflvm_study::outputs::{Outputs, inputs};
use rflvm_study::seen::{Kind, Seen};
use rflvm_study::table::{self, Aside, Look, Table, TableError};
use rflvm_study::times::Timeline;
use rflvm_study::{Error, idle, model, reading, run as running, write};
use serde_json::{Value, json};
use std::path::Path;
use totals::Totals;

/// Runs the command.
pub fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let mut given = args.config.0.clone();
    idle::check(&given, &given)?;
    let has_family = given.blocks.is_some() || given.likelihood.is_some() && !given.is_auto();
    if !has_family {
        given.likelihood = Some("auto".into());
    } else if args.blocks_out.is_some() {
        let (setting, value) = ("blocks-out", "given".into());
        let rule = "it writes the families that suit the columns; omit --likelihood".into();
        return Err(SpecError::Setting { setting, value, rule }.into());
    }
    if let Some(path) = &args.blocks_out {
        // It may have been edited by hand.
        Outputs::of(inputs(&given)).overwrite(args.replace.overwrite).unnamed(path)?;
    }
    let mut says = Vec::new();
    let Look { mut table, aside } = look(&mut given, &mut says)?;
    blocks::choose(&mut given.clone(), &mut Given::default(), &mut table);
    let columns = seen(&table);
    let totals = Totals::of(&table, &columns);
    let mut chart = Chart::default();
    chart.fitted(&table, &columns, &suited(&columns));
    let mut advice = Advice::new(given);
    let mut flags = advice.set_aside(&aside);
    advice.look_at(&table, &columns);
    let read = read_again(&mut advice, &table, &aside, &mut flags);
    aside.iter().zip(&flags).for_each(|(column, flag)| chart.aside(column, flag));
    says.extend(table.notes.iter().map(|note| render(&note.text, &Flags)));
    says.push(format!("{} rows × {} columns", table.rows, chart.len()));
    says.extend(chart.lines());
    says.append(&mut advice.notes);
    if !table.columns.is_empty() {
        says.extend(totals.lines());
    }
    says.iter().try_for_each(|line| reply.line(line))?;

    // From here on as in `fit`, with the flags of the suggested command.
    let (mut table, timeline) = read?;
    genes_by_cells(&table).map_or(Ok(()), |line| reply.line(line))?;
    if let Some(timeline) = timeline.as_ref().filter(|_| !reply.json) {
        reply.line(&timeline.line())?;
        reply.console().notes(&timeline.notes());
    }
    let next = &mut advice.config;
    if table.columns.len() == 1 && next.model.latent_dim.is_none() {
        next.model.latent_dim = Some(LatentDim::Fixed(1));
    }
    if totals.are_unequal() && totals.zero_rows == 0 && next.offset.is_none() {
        next.offset = Some("size-factors".into());
    }
    let mut config = next.clone().filled();
    let mut chosen = Given::default();
    blocks::choose(&mut config, &mut chosen, &mut table);
    let column_families = (!has_family).then(|| ColumnFamilies::suited(&table));
    match (&column_families, &args.blocks_out) {
        (Some(column_families), Some(path)) => {
            write::text(path, &column_families.to_csv())?;
            (next.likelihood, next.blocks) = (None, Some(path.clone()));
        }
        (Some(column_families), None) => {
            next.likelihood =
                column_families.uniform().map_or(next.likelihood.take(), |family| Some(family.to_string()));
        }
        (None, _) => {}
    }
    let settings = running::settings(&config);
    settings.check()?;
    let model = model::model(&config, &chosen, &mut table, timeline.as_ref())?;
    reply.progress().say("timing the initialisation and some sweeps of a fit …");
    let cost = Cost::of(&model, &settings, None)?;
    let cards = cards::of(&model, &settings);
    let command = command(next);
    let families =
        column_families.map_or_else(|| config.likelihood.clone().unwrap_or_else(|| "blocks".into()), |l| l.words());
    if reply.json {
        let mut told = as_json(&totals, &chart, &columns, &cost);
        told["rows"] = json!(table.rows);
        told["likelihood"] = json!(next.likelihood);
        told["families"] = json!(families);
        told["chains"] = json!(settings.chains);
        told["sweeps"] = json!(settings.sweeps());
        told["next"] = json!(command);
        told["cards"] = cards::as_json(&cards);
        if let Some(path) = &args.blocks_out {
            told["files"] = json!(names(&[path]));
        }
        return reply.object(&told);
    }
    reply.line(&format!("families: {families}"))?;
    reply.line(&cost.line(&settings))?;
    reply.line(&format!("memory: about {:.0} MB", cost.megabytes))?;
    cards.iter().try_for_each(|card| reply.line(&card.line()))?;
    if let Some(path) = &args.blocks_out {
        reply.line(&format!("families by column: {}", path.display()))?;
    }
    reply.line(&format!("next: {command}"))
}

/// Reads the table as it is written, even if that differs from what its name implies.
fn look(config: &mut Config, says: &mut Vec<String>) -> Result<Look, Failure> {
    let path = reading::table_path(config)?.to_path_buf();
    match table::look(&path, &reading::options(config)?) {
        Err(TableError::Written { written, .. }) => {
            says.push(format!("{}: read with {}", written.words(), render(&written.settings(), &Flags)));
            config.separator = written.separator.or(config.separator);
            config.decimal = written.decimal.or(config.decimal);
            Ok(table::look(&path, &reading::options(config)?)?)
        }
        other => Ok(other?),
    }
}

/// The table read with the suggested flags, and its times. Dates that cannot be used are excluded again.
fn read_again(
    advice: &mut Advice,
    table: &Table,
    aside: &[Aside],
    flags: &mut [String],
) -> Result<(Table, Option<Timeline>), Failure> {
    if table.columns.is_empty() {
        return Err(TableError::NothingToFit { file: table.path.clone() }.into());
    }
    let read = |config: &Config| -> Result<(Table, Option<Timeline>), Failure> {
        let table = if advice.is_new { reading::read(config)? } else { table.clone() };
        let timeline = Timeline::of(config, &table)?;
        Ok((table, timeline))
    };
    match read(&advice.config) {
        Err(failure @ Failure::Study(Error::Data { .. })) => {
            let found = aside.iter().position(|column| Some(&column.name) == advice.config.time.as_ref());
            let Some(place) = found else { return Err(failure) };
            flags[place] = "--without".into();
            advice.notes.push(format!("--time cannot use the column `{}`: {failure}", aside[place].name));
            advice.config.time = None;
            advice.leave_out(&aside[place].name);
            let table = reading::read(&advice.config)?;
            Ok((table, None))
        }
        other => other,
    }
}

/// A hint where rows seem to be genes, and columns cells.
fn genes_by_cells(table: &Table) -> Option<&'static str> {
    let is_gene = |name: &String| {
        let rest = name.strip_prefix("ENS").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_uppercase()));
        rest.is_some_and(|rest| rest.len() >= 6 && rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_barcode = |name: &String| {
        let bases = name.bytes().filter(|b| b"ACGT".contains(b)).count();
        bases >= 12 && 4 * bases >= 3 * name.len()
    };
    let most =
        |names: &[String], is: &dyn Fn(&String) -> bool| 2 * names.iter().filter(|name| is(name)).count() > names.len();
    (most(&table.ids, &is_gene) || most(&table.columns, &is_barcode)).then_some(
        "rows seem to be genes, and columns cells: transpose the table, so that there is one row per cell, and positions are those of cells",
    )
}

/// The command that fits the table, into a folder that does not exist yet.
fn command(config: &Config) -> String {
    let mut names = ["fit".to_string()].into_iter().chain((2..).map(|n| format!("fit-{n}")));
    let out = names.find(|name| !Path::new(name).exists()).unwrap_or_default();
    let mut words = vec!["rflvm fit".to_string()];
    words.extend(config.table.as_deref().map(shell::path));
    words.extend(shell::flags(config));
    words.push(format!("--out {out}"));
    words.join(" ")
}

fn as_json(totals: &Totals, chart: &Chart, columns: &[Seen], cost: &Cost) -> Value {
    let count = |kinds: &[Kind]| columns.iter().filter(|c| kinds.contains(&c.kind)).count();
    let number = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
    json!({
        "columns": chart.len(), "column_kinds": chart.as_json(),
        "missing": totals.missing, "empty_rows": totals.empty_rows, "zero_rows": totals.zero_rows,
        "constant_columns": chart.constant(),
        "binary": count(&[Kind::Binary, Kind::Truth]), "counts": count(&[Kind::Counts]),
        "other": count(&[Kind::Real, Kind::Even, Kind::Few, Kind::Amounts, Kind::Scale]),
        "variance_over_mean": number(totals.dispersion), "row_totals_ratio": number(totals.ratio),
        "zeros": totals.zeros,
        "seconds": cost.seconds, "seconds_start": cost.start, "seconds_per_sweep": cost.sweep,
        "threads": cost.threads, "megabytes": cost.megabytes,
    })
}
