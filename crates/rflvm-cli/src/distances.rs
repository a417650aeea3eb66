//! `rflvm distances` and `rflvm neighbors`: how far rows lie apart, over all modes of the posterior.

use crate::answer::{check_csv, drawn, outputs};
use crate::args::{DistancesArgs, NeighborsArgs, ReplaceArgs};
use crate::failure::Failure;
use crate::predict::rows;
use crate::reply::{self, Reply};
use rflvm::internal::error::SpecError;
use rflvm::internal::posterior::fitted::DRAWS;
use rflvm_study::Fit;
use rflvm_study::cells::{csv_text, number};
use rflvm_study::drawn::{Drawn, check_graph, check_pairs};
use rflvm_study::write;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Writes the distances.
pub fn run(args: &DistancesArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let (fit, drawn) = open(&args.dir, &args.out, &args.replace, reply)?;
    let mut rows = rows::rows(&args.rows, &fit.table)?;
    rows.sort_unstable();
    rows.dedup();
    check_pairs(rows.len())?;
    let pairs: Vec<[usize; 2]> =
        rows.iter().enumerate().flat_map(|(i, &a)| rows[i + 1..].iter().map(move |&b| [a, b])).collect();
    let found = drawn.fitted(&fit, "distances").distances(&pairs, DRAWS)?;
    let header = ["row", "other", "mean", "sd", "q05", "q25", "q50", "q75", "q95"].map(String::from).to_vec();
    let lines = found.iter().map(|distance| {
        let names = distance.rows.map(|n| fit.table.ids[n].clone());
        let numbers = [distance.mean, distance.sd].into_iter().chain(distance.quantiles).map(number);
        names.into_iter().chain(numbers).collect()
    });
    write::text(&args.out, &csv_text(header, lines))?;
    tell(reply, &format!("distances of {} pairs of rows", found.len()), &args.out)
}

/// Writes the graph of nearest neighbours.
pub fn neighbors(args: &NeighborsArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let (fit, drawn) = open(&args.dir, &args.out, &args.replace, reply)?;
    let most = fit.model.rows().saturating_sub(1);
    if !(1..=most).contains(&args.neighbors) {
        let rule = format!("a row of this fit has 1 to {most} neighbors");
        return Err(SpecError::Setting { setting: "neighbors", value: args.neighbors.to_string(), rule }.into());
    }
    check_graph(fit.model.rows())?;
    let found = drawn.fitted(&fit, "neighbors").neighbours(args.neighbors, DRAWS)?;
    let header = ["row", "neighbor", "probability", "distance"].map(String::from).to_vec();
    let lines = found.iter().map(|edge| {
        let names = [edge.row, edge.neighbour].map(|n| fit.table.ids[n].clone());
        names.into_iter().chain([number(edge.probability), number(edge.mean)]).collect()
    });
    write::text(&args.out, &csv_text(header, lines))?;
    tell(reply, &format!("{} neighbors of {} rows", found.len(), fit.model.rows()), &args.out)
}

/// The fit and its draws, once the output is known to be free.
fn open(dir: &Path, out: &Path, replace: &ReplaceArgs, reply: Reply) -> Result<(Fit, Drawn), Failure> {
    check_csv(out)?;
    let fit = Fit::open(dir, |_| ())?;
    outputs(&fit).overwrite(replace.overwrite).named(out)?;
    let drawn = drawn(&fit, reply.console())?;
    Ok((fit, drawn))
}

fn tell(reply: Reply, what: &str, out: &Path) -> Result<(), Failure> {
    reply.line(&format!("{what}: {}", out.display()))?;
    reply.object(&json!({ "files": reply::names(&[PathBuf::from(out)]) }))
}
