//! `rflvm forecast`: what a fit with times expects of new rows, cell by cell or as simulated futures.

pub mod moments;

use crate::answer::Answer;
use crate::args::ForecastArgs;
use crate::drawn::{Drawn, check_csv, listed};
use crate::failure::Failure;
use crate::fit::Fit;
use crate::times::Timeline;
use crate::voice::{Voice, tell};
use rflvm::posterior::fitted::DRAWS;
use rflvm::posterior::forecast::NewTime;

/// Runs the command.
pub fn run(args: &ForecastArgs) -> Result<(), Failure> {
    check_csv(&args.out)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    let Some(timeline) = &fit.timeline else {
        return Err(Failure::Timeless { dir: args.dir.display().to_string() });
    };
    let offset = offset(&fit);
    let moments = moments::asked(args, timeline, offset.unwrap_or(0.0))?;
    let drawn = Drawn::open(&fit)?;
    args.draws.map_or(Ok(()), |count| drawn.check_count(count))?;
    if let Some(offset) = offset {
        Voice::default().say(&format!("new rows have the mean of the rows' offsets, {offset:.4}"));
    }
    let fitted = drawn.fitted(&fit, "forecast");
    let answer = answer(&fit, timeline, &moments);
    let rows = if moments.len() == 1 { "1 new row".into() } else { format!("{} new rows", moments.len()) };
    match args.draws {
        None => {
            answer.write_cells(&args.out, &fitted.forecast(&moments, DRAWS)?)?;
            tell(&format!("{rows}: {}", args.out.display()))?;
        }
        Some(count) => {
            let mut files = Vec::with_capacity(count);
            fitted.futures(&moments, count, |i, future| -> Result<(), Failure> {
                files.push(answer.write_table(&args.out, i, future)?);
                Ok(())
            })?;
            tell(&format!("{count} futures of {rows}: {}", listed(&files)))?;
        }
    }
    Ok(())
}

/// The offset of new rows, where rows have any.
pub fn offset(fit: &Fit) -> Option<f64> {
    let is_given = fit.config.offset.as_deref().is_some_and(|offset| offset != "none");
    let offsets = fit.model.offset();
    is_given.then(|| offsets.iter().sum::<f64>() / offsets.len() as f64)
}

/// How the lines about new rows begin: `time`, and `sequence` where there are any.
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
