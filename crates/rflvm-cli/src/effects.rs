//! `rflvm effects`: what drives the columns of a fit.

use crate::aligned::{aligned, short};
use crate::answer::{Asked, outputs};
use crate::args::EffectsArgs;
use crate::failure::Failure;
use crate::predict::rows;
use crate::reply::Reply;
use rflvm::internal::error::SpecError;
use rflvm_study::Fit;
use rflvm_study::answers::effects::{self, Direction, Place};
use rflvm_study::answers::{Answer, Values};

/// Lines of the answer that are printed, and columns named for a source.
const SHOWN: usize = 10;
const NAMED: usize = 5;
/// Columns of the answer that are printed.
const SHOWN_COLUMNS: usize = 7;

/// Runs the command.
pub fn run(args: &EffectsArgs) -> Result<(), Failure> {
    let asked = Asked::new(args.out.as_ref(), None, &args.replace, Reply::from(&args.reply));
    let fit = asked.fit(&args.dir)?;
    let at = args.at.as_deref().map(|text| place("at", text, &fit)).transpose()?;
    let path = path(args, &fit)?;
    let direction = match (&args.along, &args.towards) {
        (Some(axis), _) => Some(Direction::Axis(self::axis(axis)?)),
        (None, Some(to)) => Some(Direction::Towards(place("towards", to, &fit)?)),
        (None, None) => None,
    };
    if direction.is_none() && at.is_some() {
        let rule = "a gradient has a direction; give --along or --towards";
        return Err(setting("at", args.at.as_deref().unwrap_or_default(), rule.into()).into());
    }
    let drawn = asked.drawn(&fit, outputs(&fit))?;
    let (found, what) = match (&direction, path) {
        (Some(direction), _) => (effects::gradient(&fit, &drawn, direction, at.as_ref())?, "gradients"),
        (None, Some(path)) => (effects::change(&fit, &drawn, &path)?, "changes"),
        (None, None) => (effects::variance(&fit, &drawn)?, "variances"),
    };
    let shown = if what == "variances" { by_source(&found) } else { first(&found) };
    aligned(&shown).lines().try_for_each(|line| asked.reply.line(line))?;
    asked.answer(&found, &format!("{what} of {} columns", fit.table.columns.len()))
}

fn setting(setting: &'static str, value: &str, rule: String) -> SpecError {
    SpecError::Setting { setting, value: value.chars().take(40).collect(), rule }
}

/// `x1`, or `1`.
fn axis(text: &str) -> Result<usize, SpecError> {
    let number = text.strip_prefix('x').unwrap_or(text).parse().ok();
    number.ok_or_else(|| setting("along", text, "an axis is named as in embedding.csv, such as x1".into()))
}

/// A row, or coordinates.
fn place(name: &'static str, text: &str, fit: &Fit) -> Result<Place, SpecError> {
    let point: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    if let Some(point) = point.filter(|_| text.contains([',', '.'])) {
        return Ok(Place::Point(point));
    }
    match rows::rows(text.trim(), &fit.table)?[..] {
        [row] => Ok(Place::Row(row)),
        ref rows => Err(setting(name, text, format!("a place is one row, and these are {}", rows.len()))),
    }
}

/// The places of a path, if one is given.
fn path(args: &EffectsArgs, fit: &Fit) -> Result<Option<Vec<Place>>, SpecError> {
    if let (Some(from), Some(to)) = (&args.from, &args.to) {
        return Ok(Some(vec![place("from", from, fit)?, place("to", to, fit)?]));
    }
    let places = args.path.as_deref().map(|text| text.split(';').map(|part| place("path", part, fit)).collect());
    places.transpose()
}

/// The first lines of an answer.
fn first(found: &Answer) -> Vec<Vec<String>> {
    let columns = &found.columns[..found.columns.len().min(SHOWN_COLUMNS)];
    let cell = |i: usize| {
        columns.iter().map(move |column| match &column.values {
            Values::Numbers(values) => short(values[i]),
            _ => column.text(i),
        })
    };
    let header = columns.iter().map(|column| column.name.clone()).collect();
    std::iter::once(header).chain((0..found.lines().min(SHOWN)).map(|i| cell(i).collect())).collect()
}

/// For each source its mean share over the columns, and the columns with the largest.
fn by_source(found: &Answer) -> Vec<Vec<String>> {
    let [source, column] = [0, 1].map(|i| &found.columns[i]);
    let share = found.numbers("share");
    let mut lines = vec![["source", "mean share", "largest in"].map(String::from).to_vec()];
    let mut start = 0;
    while start < found.lines() {
        let name = source.text(start);
        let end = (start..found.lines()).find(|&i| source.text(i) != name).unwrap_or(found.lines());
        let mut order: Vec<usize> = (start..end).filter(|&i| !share[i].is_nan()).collect();
        let mean = order.iter().map(|&i| share[i]).sum::<f64>() / order.len() as f64;
        order.sort_by(|&a, &b| share[b].total_cmp(&share[a]));
        let largest = order.iter().take(NAMED).map(|&i| format!("{} {:.2}", column.text(i), share[i]));
        lines.push(vec![name, short(mean), largest.collect::<Vec<_>>().join(", ")]);
        start = end;
    }
    lines
}
