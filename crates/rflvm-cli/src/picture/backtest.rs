//! Forecasts from several origins against what was observed: one panel per column, for the sequence with the most forecasts.

use super::colour::{GREY, PLAIN};
use super::panel::{Panel, Side};
use super::span::Span;
use super::text::put;
use super::{TOP, head, notes};
use rflvm::internal::backtest::{Backtest, Held};
use rflvm::internal::model::Model;
use rflvm::internal::observations::Times;

/// What to draw.
pub struct Picture<'a> {
    pub title: &'a str,
    pub model: &'a Model,
    pub told: &'a Backtest,
    pub times: &'a Times,
    /// Names of the sequences.
    pub names: &'a [String],
    /// How to format a time on the axis; plain numbers if not given.
    pub format: Option<&'a dyn Fn(f64) -> String>,
    /// For each column of the table, its place in the model.
    pub places: &'a [usize],
}

/// Most columns shown.
const SOME: usize = 4;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 150.0;
const GAP: f64 = 16.0;
/// Space below the panels, for numbers, the axis label and the note.
const BELOW: f64 = 72.0;

/// Draws the forecasts of the first method.
pub fn svg(picture: &Picture<'_>) -> String {
    let Picture { model, told, times, .. } = picture;
    let counts = |sequence: usize| told.cells.iter().filter(|cell| times.sequence[cell.row] == sequence).count();
    let sequence = (0..picture.names.len().max(1)).max_by_key(|&s| (counts(s), usize::MAX - s)).unwrap_or(0);
    let own: Vec<&Held> = told.cells.iter().filter(|cell| times.sequence[cell.row] == sequence).collect();
    let ahead = Span::around(own.iter().map(|cell| times.at[cell.row]), 0.0);
    // As much of the past as of the time that is forecast.
    let mut rows: Vec<usize> = (0..model.rows())
        .filter(|&n| {
            times.sequence[n] == sequence && times.at[n] >= ahead.low - ahead.width() && times.at[n] <= ahead.high
        })
        .collect();
    rows.sort_by(|&a, &b| times.at[a].total_cmp(&times.at[b]));
    let time = Span::around(rows.iter().map(|&n| times.at[n]), 0.02);
    let columns: Vec<usize> = picture.places.iter().copied().take(SOME).collect();
    let of = |column: usize| own.iter().copied().filter(move |cell| cell.column == column);
    let span = |&column: &usize| {
        let seen = rows.iter().map(|&n| model.y()[(n, column)]);
        let bands = of(column).flat_map(|cell| cell.outlooks.first().map(|o| [o.quantiles[0], o.quantiles[4]]));
        Span::around(seen.chain(bands.flatten()), 0.06)
    };
    let spans: Vec<Span> = columns.iter().map(span).collect();
    let room = spans.iter().map(|span| Side::plain("", span.step(4.0)).room(span)).fold(0.0, f64::max);
    let left = 44.0 + room;
    let bottom = TOP + HEIGHT * columns.len() as f64 + GAP * columns.len().saturating_sub(1) as f64;
    let mut out = String::new();
    head(&mut out, picture.title, (left + WIDTH + 24.0, bottom + BELOW), left);
    for (i, (&column, value)) in columns.iter().zip(&spans).enumerate() {
        let top = TOP + i as f64 * (HEIGHT + GAP);
        let panel = Panel { left, top, width: WIDTH, height: HEIGHT, x: time, y: *value };
        let is_last = i + 1 == columns.len();
        let letters = picture.format.map_or(6, |format| format(time.low).chars().count());
        let step = Some(time.step((WIDTH / (7.0 * letters as f64 + 24.0)).min(7.0)));
        let below =
            Side { label: if is_last { "time" } else { "" }, step, is_numbered: is_last, format: picture.format };
        panel.draw(&mut out, &below, &Side::plain(&model.names()[column], value.step(4.0)));
        observed(&mut out, &panel, rows.iter().map(|&n| (times.at[n], model.y()[(n, column)])));
        let last = own.iter().map(|cell| cell.origin).max().map_or(0, |origin| origin + 1);
        for origin in 0..last {
            band(&mut out, &panel, of(column).filter(|cell| cell.origin == origin), &times.at);
        }
    }
    let of = picture.names.get(sequence).map_or(String::new(), |name| format!(" of sequence {name}"));
    let method = told.methods.first().map_or("", String::as_str);
    let note =
        format!("grey: observed{of}; bands: central 90% and 50% of the forecasts ({method}), lines: their medians");
    notes(&mut out, &[note], left, bottom + BELOW - 10.0, WIDTH);
    out.push_str("</svg>\n");
    out
}

/// What was observed: a line with a dot per row; missing cells interrupt it.
fn observed(out: &mut String, panel: &Panel, points: impl Iterator<Item = (f64, f64)>) {
    let (mut line, mut dots, mut is_on) = (String::new(), String::new(), false);
    for point in points {
        let (x, y) = panel.place(point);
        if y.is_finite() {
            put(&mut line, format_args!("{}{x:.1} {y:.1}", if is_on { "L" } else { "M" }));
            put(&mut dots, format_args!("M{x:.1} {y:.1}h0"));
        }
        is_on = y.is_finite();
    }
    put(
        out,
        format_args!(
            "<path d=\"{line}\" stroke=\"{GREY}\" fill=\"none\"/><path d=\"{dots}\" stroke=\"{GREY}\" stroke-width=\"3.5\" stroke-linecap=\"round\"/>\n"
        ),
    );
}

/// The forecast from one origin; one of a single row is drawn as bars.
fn band<'a>(out: &mut String, panel: &Panel, cells: impl Iterator<Item = &'a Held>, times: &[f64]) {
    let mut cells: Vec<&Held> = cells.filter(|cell| !cell.outlooks.is_empty()).collect();
    cells.sort_by_key(|cell| cell.step);
    let at = |cell: &Held, i: usize| panel.place((times[cell.row], cell.outlooks[0].quantiles[i]));
    let written = |(x, y): (f64, f64)| format!("{x:.1} {y:.1}");
    let line = |i: usize| cells.iter().map(|cell| written(at(cell, i))).collect::<Vec<_>>();
    if let [cell] = cells[..] {
        for (low, high, width) in [(0, 4, 3), (1, 3, 6)] {
            let ((x, from), (_, to)) = (at(cell, low), at(cell, high));
            put(
                out,
                format_args!(
                    "<path d=\"M{x:.1} {from:.1}V{to:.1}\" stroke=\"{PLAIN}\" stroke-width=\"{width}\" stroke-opacity=\".35\"/>"
                ),
            );
        }
    } else if !cells.is_empty() {
        for (low, high) in [(0, 4), (1, 3)] {
            let (mut edge, mut back) = (line(high), line(low));
            back.reverse();
            edge.extend(back);
            put(out, format_args!("<path d=\"M{}Z\" fill=\"{PLAIN}\" fill-opacity=\".18\"/>", edge.join("L")));
        }
        put(
            out,
            format_args!(
                "<path d=\"M{}\" stroke=\"{PLAIN}\" stroke-width=\"1.4\" fill=\"none\"/>\n",
                line(2).join("L")
            ),
        );
    }
}
