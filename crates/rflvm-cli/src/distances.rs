//! `rflvm distances` and `rflvm neighbors`: how far rows lie apart, over all modes of the posterior.

use crate::answer::{Asked, outputs};
use crate::args::{DistancesArgs, NeighborsArgs};
use crate::failure::Failure;
use crate::predict::rows;
use crate::reply::Reply;
use rflvm_study::answers::distances;

/// Writes the distances.
pub fn run(args: &DistancesArgs) -> Result<(), Failure> {
    let asked = Asked::new(args.out.as_ref(), None, &args.replace, Reply::from(&args.reply));
    let fit = asked.fit(&args.dir)?;
    let pairs = distances::pairs(rows::rows(&args.rows, &fit.table)?)?;
    let drawn = asked.drawn(&fit, outputs(&fit))?;
    let answer = distances::distances(&fit, &drawn, &pairs)?;
    asked.answer(&answer, &format!("distances of {} pairs of rows", answer.lines()))
}

/// Writes the graph of nearest neighbours.
pub fn neighbors(args: &NeighborsArgs) -> Result<(), Failure> {
    let asked = Asked::new(args.out.as_ref(), None, &args.replace, Reply::from(&args.reply));
    let fit = asked.fit(&args.dir)?;
    let drawn = asked.drawn(&fit, outputs(&fit))?;
    let answer = distances::neighbors(&fit, &drawn, args.neighbors)?;
    asked.answer(&answer, &format!("{} neighbors of {} rows", answer.lines(), fit.model.rows()))
}
