//! `rflvm predict`: predictions for rows of the table as if observed again, or for points of the latent space.

mod places;
pub mod rows;

use crate::answer::{Asked, outputs};
use crate::args::PredictArgs;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm_study::answers::{positions, predictions};

/// Runs the command.
pub fn run(args: &PredictArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let asked = Asked::new(args.out.as_ref(), args.draws, &args.replace, reply);
    let fit = asked.fit(&args.dir)?;
    let chosen = args.rows.as_deref().map(|text| rows::rows(text, &fit.table)).transpose()?;
    let drawn = asked.drawn(&fit, outputs(&fit).reading(args.at.as_deref()))?;
    let tables = "drawn tables";
    if let Some(rows) = chosen {
        return asked.cells(&predictions::rows(&fit, &drawn, rows, &args.covariates)?, "row", tables);
    }
    let positions = positions::positions(&fit, &drawn, 1)?;
    let (x, covariates) = places::places(args, &fit, &positions.embedding)?;
    if let Some(offset) = fit.mean_offset() {
        reply.console().say(&format!("the points have the mean of the rows' offsets, {offset:.4}"));
    }
    asked.cells(&predictions::places(&fit, &drawn, (positions.frame, x), covariates)?, "point", tables)
}
