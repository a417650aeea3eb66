//! `rflvm forecast`: predictions at new times, cell by cell or as simulated futures.

use crate::answer::{Answer, check_csv, check_numbered, drawn, listed, outputs};
use crate::args::ForecastArgs;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm::internal::atomic::plain_reason;
use rflvm::internal::error::SpecError;
use rflvm::internal::posterior::fitted::DRAWS;
use rflvm::internal::posterior::forecast::NewTime;
use rflvm_study::Error;
use rflvm_study::Fit;
use rflvm_study::future::{When, moments};
use rflvm_study::times::Timeline;
use std::fs;
use std::path::Path;

/// Runs the command.
pub fn run(args: &ForecastArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    if let Some(origins) = args.backtest {
        return crate::backtest::run(args, origins);
    }
    // The parser requires it.
    let out = args.out.clone().unwrap_or_default();
    check_csv(&out)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    let Some(timeline) = &fit.timeline else {
        return Err(Error::Timeless { dir: args.dir.display().to_string() }.into());
    };
    let (offset, covariates) = (fit.mean_offset(), fit.covariates_set(&args.covariates)?);
    let when = match &args.times {
        Some(text) => When::At(given(text, timeline)?),
        None => When::Beyond(args.horizon.unwrap_or(0)),
    };
    let moments = moments(when, args.sequence.as_deref(), timeline, (offset.unwrap_or(0.0), &covariates))?;
    let drawn = drawn(&fit, reply.console())?;
    let times = args.times.as_deref().map(Path::new).filter(|path| path.is_file());
    let mut outputs = outputs(&fit).reading(times).overwrite(args.replace.overwrite);
    match args.draws {
        None => outputs.named(&out)?,
        Some(count) => {
            drawn.check_count(count)?;
            check_numbered(&mut outputs, &out, count)?;
        }
    }
    if let Some(offset) = offset {
        reply.console().say(&format!("new rows have the mean of the rows' offsets, {offset:.4}"));
    }
    let fitted = drawn.fitted(&fit, "forecast");
    let answer = answer(&fit, timeline, &moments);
    let rows = if moments.len() == 1 { "1 new row".into() } else { format!("{} new rows", moments.len()) };
    match args.draws {
        None => {
            answer.write_cells(&out, &fitted.forecast(&moments, DRAWS)?)?;
            reply.files(&[&out], &format!("{rows}: {}", out.display()))
        }
        Some(count) => {
            let mut files = Vec::with_capacity(count);
            fitted.futures(&moments, count, |i, future| -> Result<(), Failure> {
                files.push(answer.write_table(&out, i, future)?);
                Ok(())
            })?;
            reply.files(&files, &format!("{count} futures of {rows}: {}", listed(&files)))
        }
    }
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

/// The leading columns of new rows: `time`, and `sequence` if there are sequences.
fn answer<'a>(fit: &'a Fit, timeline: &Timeline, moments: &[NewTime]) -> Answer<'a> {
    let mut header = vec!["time".to_string()];
    header.extend((!timeline.names.is_empty()).then(|| "sequence".to_string()));
    let start = |moment: &NewTime| {
        let mut start = vec![timeline.calendar.format(moment.time)];
        start.extend(timeline.names.get(moment.sequence).cloned());
        start
    };
    Answer { fit, header, start: moments.iter().map(start).collect() }
}
