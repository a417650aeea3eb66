//! `rflvm forecast`: predictions at new times, cell by cell or as simulated futures.

use crate::answer::{Asked, outputs};
use crate::args::ForecastArgs;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm::internal::atomic::plain_reason;
use rflvm::internal::error::SpecError;
use rflvm_study::Error;
use rflvm_study::answers::forecast::{Ahead, When, forecast, new_times, timeline};
use rflvm_study::times::Timeline;
use std::fs;
use std::path::Path;

/// Runs the command.
pub fn run(args: &ForecastArgs) -> Result<(), Failure> {
    if let Some(origins) = args.backtest {
        return crate::backtest::run(args, origins);
    }
    let reply = Reply::from(&args.reply);
    let asked = Asked::new(args.out.as_ref(), args.draws, &args.replace, reply);
    let fit = asked.fit(&args.dir)?;
    let when = match &args.times {
        Some(text) => When::At(given(text, timeline(&fit)?)?),
        None => When::Beyond(args.horizon.unwrap_or(0)),
    };
    let ahead = Ahead { when, sequence: args.sequence.as_deref(), covariates: &args.covariates };
    let times = new_times(&fit, ahead)?;
    let file = args.times.as_deref().map(Path::new).filter(|path| path.is_file());
    let drawn = asked.drawn(&fit, outputs(&fit).reading(file))?;
    let cells = forecast(&fit, &drawn, times)?;
    args.draws.map_or(Ok(()), |count| cells.check_tables(count))?;
    if let Some(offset) = fit.mean_offset() {
        reply.console().say(&format!("new rows have the mean of the rows' offsets, {offset:.4}"));
    }
    asked.cells(&cells, "new row", "futures")
}

/// The times that were typed: a list, or a file with times.
fn given(text: &str, timeline: &Timeline) -> Result<Vec<f64>, Failure> {
    let list: Result<Vec<f64>, String> = text.split(',').map(|one| timeline.calendar.parse(one)).collect();
    let path = Path::new(text);
    match list {
        Ok(times) => Ok(times),
        Err(_) if path.is_file() => from_file(path, timeline),
        Err(problem) => {
            let rule = if text.contains(',') { problem } else { format!("{problem}, or give an existing file") };
            Err(SpecError::Setting { setting: "times", value: text.chars().take(40).collect(), rule }.into())
        }
    }
}

/// One time per line; empty lines are skipped.
fn from_file(path: &Path, timeline: &Timeline) -> Result<Vec<f64>, Failure> {
    let bad = |problem: String| Failure::from(Error::Config { file: path.display().to_string(), problem });
    let text = fs::read_to_string(path)
        .map_err(|error| bad(format!("the file of times cannot be read ({})", plain_reason(&error))))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse = |(i, line): (usize, &str)| {
        timeline.calendar.parse(line).map_err(|problem| bad(format!("line {}: {problem}", i + 1)))
    };
    lines.map(parse).collect()
}
