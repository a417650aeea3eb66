//! Traces of chains, and forecasts: values over draws or over times.

use crate::failure::Failure;
use crate::picture::paths::{self, Line, Look, Paths, Times, Values};
use crate::picture::spec::Picture;
use rflvm::internal::draws::Source;
use rflvm_study::answers::forecast::{Ahead, When, new_times, predicted, timeline};
use rflvm_study::drawn::Drawn;
use rflvm_study::{Error, Fit};

/// Quantities whose trace is drawn; of several values, the first.
const TRACED: [&str; 6] = [
    "sample_stats/lp",
    "sample_stats/log_likelihood",
    "posterior/w2",
    "posterior/time_scale",
    "posterior/distance",
    "posterior/f_cell",
];
/// Draws of a chain that a trace shows; more would not be distinguished.
const SHOWN: usize = 1000;
/// Columns of forecasts.
pub const COLUMNS: usize = 4;

/// One panel per quantity, one line per chain, and the ranks of each chain's draws.
pub fn trace(drawn: &Drawn, title: &str) -> Result<Picture, Failure> {
    let chains = drawn.shown();
    let store = &drawn.store;
    let draws = store.size().map_err(Error::from)?.1;
    let step = draws.div_ceil(SHOWN);
    let mut panels = Vec::new();
    for name in TRACED.into_iter().filter(|name| store.is_drawn(name)) {
        let width = store.numbers(name).map_err(Error::from)?.max(1);
        let short = name.split('/').next_back().unwrap_or(name);
        let label = if width > 1 { format!("{short}[0]") } else { short.into() };
        let mut lines = Vec::new();
        for (c, &chain) in chains.iter().enumerate() {
            let all = store.all(name, chain).map_err(Error::from)?;
            let values: Vec<Option<f64>> = all.iter().step_by(width * step).copied().map(known).collect();
            let rows = (0..values.len()).collect();
            lines.push(Line { name: Some(c), rows, values, look: Look::Trace, ..Line::default() });
        }
        panels.push(Values { label, lines, ..Values::default() });
    }
    drawn_over(Paths {
        title: title.into(),
        across: "draw".into(),
        times: Times::Numbers((0..draws).step_by(step).map(|draw| draw as f64).collect()),
        panels,
        names: chains.iter().map(|chain| format!("chain {}", chain + 1)).collect(),
        ranks: chains.len() > 1,
        note: "chains that agree overlap, and their ranks are even".into(),
    })
}

/// One panel per column, for the first sequence: its rows, and its next times.
pub fn forecast(fit: &Fit, drawn: &Drawn, horizon: usize, title: &str) -> Result<Picture, Failure> {
    let timeline = timeline(fit)?;
    let first = timeline.names.first().map(String::as_str);
    let new = new_times(fit, Ahead { when: When::Beyond(horizon), sequence: first, covariates: &[] })?;
    let predicted = predicted(fit, drawn, &new)?;
    let rows = timeline.sequences().swap_remove(0);
    let times = rows.iter().map(|&n| timeline.times.at[n]).chain(new.iter().map(|new| new.time)).collect();
    let (places, y, seen) = (fit.places(), fit.model.y(), rows.len());
    let column = |(&place, name): (&usize, &String)| {
        let ahead = |part: &dyn Fn(usize) -> f64| (0..new.len()).map(|i| known(part(i))).collect::<Vec<_>>();
        let observed = Line {
            rows: (0..seen).collect(),
            values: rows.iter().map(|&n| known(y[(n, place)])).collect(),
            look: Look::Observed,
            ..Line::default()
        };
        let forecast = Line {
            rows: (seen..seen + new.len()).collect(),
            values: ahead(&|i| predicted[i][place].quantiles[1]),
            bands: vec![[0, 2].map(|side| ahead(&|i| predicted[i][place].quantiles[side]))],
            ..Line::default()
        };
        Values { label: name.clone(), lines: vec![observed, forecast], ..Values::default() }
    };
    drawn_over(Paths {
        title: title.into(),
        across: "time".into(),
        times: Times::On(times, timeline.calendar.clone()),
        panels: places.iter().zip(&fit.table.columns).take(COLUMNS).map(column).collect(),
        note: "grey: observed; forecasts: median and 90% interval of new cells".into(),
        ..Paths::default()
    })
}

/// A number that is known.
fn known(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Times on a calendar can be drawn.
pub fn drawn_over(paths: Paths) -> Result<Picture, Failure> {
    paths::picture(&paths).map_err(|problem| Error::Config { file: "times".into(), problem }.into())
}
