//! `rflvm predict`: what a fit expects of rows of its table, seen again, or of places in its latent space.

mod places;
pub mod rows;

use crate::args::PredictArgs;
use crate::drawn::{Drawn, check_csv, listed, numbered, text};
use crate::failure::Failure;
use crate::fit::Fit;
use crate::forecast::offset;
use crate::output;
use crate::voice::Voice;
use rflvm::linalg::Mat;
use rflvm::posterior::fitted::{DRAWS, Fitted};
use rflvm::posterior::predict::Points;
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: &PredictArgs) -> Result<(), Failure> {
    check_csv(&args.out)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    let chosen = args.rows.as_deref().map(|text| rows::rows(text, &fit.table)).transpose()?;
    let drawn = Drawn::open(&fit, &args.dir)?;
    args.draws.map_or(Ok(()), |count| drawn.check_count(count))?;
    let fitted = drawn.fitted(&fit, "predict");
    if let Some(rows) = chosen {
        let start = rows.iter().map(|n| vec![n.to_string()]).collect();
        let asked = Asked { fit: &fit, points: Points::Rows(&rows), header: vec!["row".into()], start };
        return asked.write(args, &fitted, "row");
    }
    let frame = fitted.frame()?;
    let embedding = fitted.embedding(&frame)?;
    let x = places::places(args, &fit, &embedding)?;
    let offset = offset(&fit);
    if let Some(offset) = offset {
        Voice::default().say(&format!("the points have the mean of the rows' offsets, {offset:.4}"));
    }
    let mut header = vec!["point".to_string()];
    header.extend((1..=x.cols()).map(|d| format!("x{d}")));
    let line = |i: usize| std::iter::once(i.to_string()).chain(x.row(i).iter().map(f64::to_string)).collect();
    let start = (0..x.rows()).map(line).collect();
    let points = Points::Places { frame: &frame, x: &x, offset: offset.unwrap_or(0.0) };
    Asked { fit: &fit, points, header, start }.write(args, &fitted, "point")
}

/// What was asked for, and how its lines start.
struct Asked<'a> {
    fit: &'a Fit,
    points: Points<'a>,
    header: Vec<String>,
    start: Vec<Vec<String>>,
}

impl Asked<'_> {
    fn write(&self, args: &PredictArgs, fitted: &Fitted<'_>, noun: &str) -> Result<(), Failure> {
        let count = self.points.count();
        let points = if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
        match args.draws {
            None => {
                self.write_cells(&args.out, fitted)?;
                println!("{points}: {}", args.out.display());
            }
            Some(count) => {
                let files = self.write_replicas(&args.out, count, fitted)?;
                println!("{count} drawn tables of {points}: {}", listed(&files));
            }
        }
        Ok(())
    }

    /// Writes `row` or `point,x1,…`, then `column,mean,sd,q05,q50,q95`.
    fn write_cells(&self, path: &Path, fitted: &Fitted<'_>) -> Result<(), Failure> {
        let cells = fitted.predict(self.points, DRAWS)?;
        let mut header = self.header.clone();
        header.extend(["column", "mean", "sd", "q05", "q50", "q95"].map(String::from));
        let places = self.fit.places();
        let lines = self.start.iter().zip(&cells).flat_map(|(start, row)| {
            places.iter().zip(&self.fit.table.columns).map(move |(&j, name)| {
                let mut line = start.clone();
                line.push(name.clone());
                line.extend([row[j].mean, row[j].sd].iter().chain(&row[j].quantiles).map(|&v| text(v)));
                line
            })
        });
        output::write(path, &output::csv_text(header, lines))
    }

    /// Writes drawn tables beside `path`, one line a row or point.
    fn write_replicas(&self, path: &Path, count: usize, fitted: &Fitted<'_>) -> Result<Vec<PathBuf>, Failure> {
        let mut header = self.header.clone();
        header.extend(self.fit.table.columns.iter().cloned());
        let places = self.fit.places();
        let mut files = Vec::with_capacity(count);
        fitted.replicas(self.points, count, |i, drawn: &Mat| -> Result<(), Failure> {
            let lines = self.start.iter().enumerate().map(|(n, start)| {
                let mut line = start.clone();
                line.extend(places.iter().map(|&j| text(drawn[(n, j)])));
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
