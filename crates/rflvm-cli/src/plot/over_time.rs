//! Traces of chains, and forecasts: values over draws or over times.

use crate::failure::Failure;
use crate::picture::paths::{self, Banded, Paths};
use rflvm::internal::draws::Source;
use rflvm::internal::posterior::fitted::DRAWS;
use rflvm_study::drawn::Drawn;
use rflvm_study::future::{When, moments};
use rflvm_study::times::Calendar;
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
/// Columns of a forecast.
const COLUMNS: usize = 4;

/// One panel per quantity, one line per chain.
pub fn trace(drawn: &Drawn, title: &str) -> Result<String, Failure> {
    let chains = drawn.shown();
    let store = &drawn.store;
    let draws = store.size().map_err(Error::from)?.1;
    let step = draws.div_ceil(SHOWN);
    let (mut axes, mut labels) = (Vec::new(), Vec::new());
    for name in TRACED.into_iter().filter(|name| store.is_drawn(name)) {
        let width = store.numbers(name).map_err(Error::from)?.max(1);
        let mut axis: Vec<Banded> = Vec::new();
        for &chain in &chains {
            let all = store.all(name, chain).map_err(Error::from)?;
            axis.extend(all.iter().step_by(width * step).map(|&value| (value, [value, value])));
        }
        let short = name.split('/').next_back().unwrap_or(name);
        labels.push(if width > 1 { format!("{short}[0]") } else { short.into() });
        axes.push(axis);
    }
    let shown = draws.div_ceil(step);
    let times: Vec<f64> = chains.iter().flat_map(|_| (0..shown).map(|i| (i * step) as f64)).collect();
    let sequences: Vec<Vec<usize>> = (0..chains.len()).map(|c| (c * shown..(c + 1) * shown).collect()).collect();
    let names: Vec<String> = chains.iter().map(|chain| format!("chain {}", chain + 1)).collect();
    let (across, note) = ("draw", "chains that agree overlap");
    Ok(paths::svg(&Paths {
        title,
        across,
        times: &times,
        format: None,
        sequences: &sequences,
        names: &names,
        axes: &axes,
        labels: &labels,
        note,
    }))
}

/// One panel per column, for the first sequence: its rows, and its next times.
pub fn forecast(fit: &Fit, drawn: &Drawn, horizon: usize, title: &str) -> Result<String, Failure> {
    let Some(timeline) = &fit.timeline else {
        return Err(Error::Timeless { dir: fit.dir.display().to_string() }.into());
    };
    let (offset, covariates) = (fit.mean_offset().unwrap_or(0.0), fit.covariates_set(&[])?);
    let first = timeline.names.first().map(String::as_str);
    let new = moments(When::Beyond(horizon), first, timeline, (offset, &covariates))?;
    let predicted = drawn.fitted(fit, "forecast").forecast(&new, DRAWS)?;
    let rows = timeline.sequences().swap_remove(0);
    let times: Vec<f64> =
        rows.iter().map(|&n| timeline.times.at[n]).chain(new.iter().map(|moment| moment.time)).collect();
    let (places, y) = (fit.places(), fit.model.y());
    let column = |&place: &usize| -> Vec<Banded> {
        let seen = rows.iter().map(|&n| y[(n, place)]).map(|y| (y, [y, y]));
        let ahead =
            predicted.iter().map(|row| (row[place].centre(), [row[place].quantiles[0], row[place].quantiles[2]]));
        seen.chain(ahead).collect()
    };
    let format = |time: f64| timeline.calendar.format(time);
    let has_dates = timeline.calendar != Calendar::Numbers;
    Ok(paths::svg(&Paths {
        title,
        across: "time",
        times: &times,
        format: if has_dates { Some(&format) } else { None },
        sequences: &[(0..rows.len()).collect(), (rows.len()..times.len()).collect()],
        names: &["observed".into(), "forecast".into()],
        axes: &places.iter().take(COLUMNS).map(column).collect::<Vec<_>>(),
        labels: &fit.table.columns.iter().take(COLUMNS).cloned().collect::<Vec<_>>(),
        note: "forecasts: mean and 90% interval of new cells",
    }))
}
