//! `rflvm forecast`: what a fit with times expects of new rows, cell by cell or as simulated futures.

mod moments;

use crate::args::ForecastArgs;
use crate::drawn::{Drawn, check_csv, listed, numbered, text};
use crate::failure::Failure;
use crate::fit::Fit;
use crate::output;
use crate::times::Timeline;
use crate::voice::Voice;
use rflvm::linalg::Mat;
use rflvm::posterior::fitted::{DRAWS, Fitted};
use rflvm::posterior::forecast::Moment;
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: &ForecastArgs) -> Result<(), Failure> {
    check_csv(&args.out)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    let Some(timeline) = &fit.timeline else {
        return Err(Failure::Timeless { dir: args.dir.display().to_string() });
    };
    let offset = offset(&fit);
    let moments = moments::moments(args, timeline, offset.unwrap_or(0.0))?;
    let drawn = Drawn::open(&fit, &args.dir)?;
    args.draws.map_or(Ok(()), |count| drawn.check_count(count))?;
    if let Some(offset) = offset {
        Voice::default().say(&format!("new rows have the mean of the rows' offsets, {offset:.4}"));
    }
    let fitted = drawn.fitted(&fit, "forecast");
    let ahead = Ahead { fit: &fit, timeline, moments: &moments };
    let rows = if moments.len() == 1 { "1 new row".into() } else { format!("{} new rows", moments.len()) };
    match args.draws {
        None => {
            ahead.write_cells(&args.out, &fitted)?;
            println!("{rows}: {}", args.out.display());
        }
        Some(count) => {
            let files = ahead.write_futures(&args.out, count, &fitted)?;
            println!("{count} futures of {rows}: {}", listed(&files));
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

/// New rows of a fit.
struct Ahead<'a> {
    fit: &'a Fit,
    timeline: &'a Timeline,
    moments: &'a [Moment],
}

impl Ahead<'_> {
    /// `time`, and `sequence` where there are any.
    fn header(&self) -> Vec<String> {
        let mut header = vec!["time".to_string()];
        header.extend((!self.timeline.names.is_empty()).then(|| "sequence".to_string()));
        header
    }

    /// The cells below it.
    fn start(&self, moment: &Moment) -> Vec<String> {
        let mut start = vec![self.timeline.calendar.format(moment.time)];
        start.extend(self.timeline.names.get(moment.sequence).cloned());
        start
    }

    /// Writes `time,sequence,column,mean,sd,q05,q50,q95`.
    fn write_cells(&self, path: &Path, fitted: &Fitted<'_>) -> Result<(), Failure> {
        let cells = fitted.forecast(self.moments, DRAWS)?;
        let mut header = self.header();
        header.extend(["column", "mean", "sd", "q05", "q50", "q95"].map(String::from));
        let places = self.fit.places();
        let lines = self.moments.iter().zip(&cells).flat_map(|(moment, row)| {
            let start = self.start(moment);
            places.iter().zip(&self.fit.table.columns).map(move |(&j, name)| {
                let mut line = start.clone();
                line.push(name.clone());
                line.extend([row[j].mean, row[j].sd].iter().chain(&row[j].quantiles).map(|&v| text(v)));
                line
            })
        });
        output::write(path, &output::csv_text(header, lines))
    }

    /// Writes simulated futures beside `path`, in the form of the table.
    fn write_futures(&self, path: &Path, count: usize, fitted: &Fitted<'_>) -> Result<Vec<PathBuf>, Failure> {
        let mut header = self.header();
        header.extend(self.fit.table.columns.iter().cloned());
        let places = self.fit.places();
        let mut files = Vec::with_capacity(count);
        fitted.futures(self.moments, count, |i, future: &Mat| -> Result<(), Failure> {
            let lines = self.moments.iter().enumerate().map(|(n, moment)| {
                let mut line = self.start(moment);
                line.extend(places.iter().map(|&j| text(future[(n, j)])));
                line
            });
            let file = numbered(path, i);
            output::write(&file, &output::csv_text(header.clone(), lines))?;
            files.push(file);
            Ok(())
        })?;
        Ok(files)
    }
}
