//! `rflvm predict`: predictions for rows of the table as if observed again, or for points of the latent space.

mod places;
pub mod rows;

use crate::answer::{Answer, check_csv, check_numbered, drawn, listed, outputs};
use crate::args::PredictArgs;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm::internal::posterior::fitted::{DRAWS, Fitted};
use rflvm::internal::posterior::predict::Points;
use rflvm_study::Fit;
use rflvm_study::drawn::CELLS;

/// Runs the command.
pub fn run(args: &PredictArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    check_csv(&args.out)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    let chosen = args.rows.as_deref().map(|text| rows::rows(text, &fit.table)).transpose()?;
    let mut outputs = outputs(&fit).reading(args.at.as_deref()).overwrite(args.replace.overwrite);
    let drawn = drawn(&fit, reply.console())?;
    match args.draws {
        None => outputs.named(&args.out)?,
        Some(count) => {
            // Points have the positions of one mode only.
            if chosen.is_some() {
                drawn.check_count(count)?
            } else {
                drawn.check_positions(count)?
            }
            check_numbered(&mut outputs, &args.out, count)?;
        }
    }
    if let Some(rows) = chosen {
        let start = rows.iter().map(|n| vec![(n + 1).to_string()]).collect();
        let answer = Answer { fit: &fit, header: vec!["row".into()], start };
        let covariates = fit.covariates_of_rows(&rows, &args.covariates)?;
        let points = match args.covariates.is_empty() {
            true => Points::Rows(&rows),
            false => Points::Adjusted { rows: &rows, covariates: &covariates },
        };
        return write(args, &drawn.fitted(&fit, CELLS), points, &answer, "row");
    }
    let fitted = drawn.fitted(&fit, "predict");
    let frame = fitted.frame()?;
    let embedding = fitted.embedding(&frame)?;
    let (x, covariates) = places::places(args, &fit, &embedding)?;
    let offset = fit.mean_offset();
    if let Some(offset) = offset {
        reply.console().say(&format!("the points have the mean of the rows' offsets, {offset:.4}"));
    }
    let mut header = vec!["point".to_string()];
    header.extend((1..=x.cols()).map(|d| format!("x{d}")));
    let line = |i: usize| std::iter::once((i + 1).to_string()).chain(x.row(i).iter().map(f64::to_string)).collect();
    let start = (0..x.rows()).map(line).collect();
    let points = Points::Places { frame: &frame, x: &x, offset: offset.unwrap_or(0.0), covariates: &covariates };
    write(args, &fitted, points, &Answer { fit: &fit, header, start }, "point")
}

/// Writes predictions for the points, or tables drawn at them.
fn write(
    args: &PredictArgs,
    fitted: &Fitted<'_>,
    points: Points<'_>,
    answer: &Answer<'_>,
    noun: &str,
) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let count = points.count();
    let asked = if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    match args.draws {
        None => {
            answer.write_cells(&args.out, &fitted.predict(points, DRAWS)?)?;
            reply.files(&[&args.out], &format!("{asked}: {}", args.out.display()))
        }
        Some(count) => {
            let mut files = Vec::with_capacity(count);
            fitted.replicas(points, count, |i, drawn| -> Result<(), Failure> {
                files.push(answer.write_table(&args.out, i, drawn)?);
                Ok(())
            })?;
            reply.files(&files, &format!("{count} drawn tables of {asked}: {}", listed(&files)))
        }
    }
}
