//! How far rows lie apart, and which are the neighbors of each, over all modes of the posterior.

use super::{Answer, Column, OF_AXIS, stream};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::fitted::DRAWS;

/// Most rows whose pairs are written one by one.
const MOST_PAIRED: usize = 2000;
/// Most rows of a graph of neighbors: what is counted of all pairs then takes 5 GB.
const MOST_IN_GRAPH: usize = 20_000;

/// `row,other,mean,sd,q05,q25,q50,q75,q95` of each pair of rows, by name.
pub fn distances(fit: &Fit, drawn: &Drawn, pairs: &[[usize; 2]]) -> Result<Answer, Error> {
    let found = drawn.fitted(fit, stream::DISTANCES).distances(pairs, DRAWS)?;
    let row = |side: usize| found.iter().map(|pair| pair.rows[side]).collect();
    let names = |name: &str, of: Vec<usize>| Column::names(name, fit.table.ids.clone(), of);
    let mut columns = vec![
        names("row", row(0)),
        names("other", row(1)),
        Column::of("mean", OF_AXIS, &found, |pair| pair.mean),
        Column::of("sd", OF_AXIS, &found, |pair| pair.sd),
    ];
    for (i, name) in ["q05", "q25", "q50", "q75", "q95"].into_iter().enumerate() {
        columns.push(Column::of(name, OF_AXIS, &found, |pair| pair.quantiles[i]));
    }
    Ok(Answer { columns })
}

/// All pairs of some rows, which must not be too many.
pub fn pairs(mut rows: Vec<usize>) -> Result<Vec<[usize; 2]>, SpecError> {
    rows.sort_unstable();
    rows.dedup();
    if !(2..=MOST_PAIRED).contains(&rows.len()) {
        let rule =
            format!("distances can be written of 2 to {MOST_PAIRED} rows; choose a subset, such as 1-{MOST_PAIRED}");
        return Err(SpecError::Setting { setting: "rows", value: format!("{} rows", rows.len()), rule });
    }
    Ok(rows.iter().enumerate().flat_map(|(i, &a)| rows[i + 1..].iter().map(move |&b| [a, b])).collect())
}

/// The posterior mean of every distance, N×N.
pub fn mean_distances(fit: &Fit, drawn: &Drawn) -> Result<Mat, Error> {
    Ok(drawn.fitted(fit, stream::DISTANCES).mean_distances(DRAWS)?)
}

/// `row,neighbor,probability,distance`: the rows that may be among the k nearest of each.
pub fn neighbors(fit: &Fit, drawn: &Drawn, k: usize) -> Result<Answer, Error> {
    let rows = fit.model.rows();
    let most = rows.saturating_sub(1);
    if !(1..=most).contains(&k) {
        let rule = format!("a row of this fit has 1 to {most} neighbors");
        return Err(SpecError::Setting { setting: "neighbors", value: k.to_string(), rule }.into());
    }
    if rows > MOST_IN_GRAPH {
        let rule = format!("a graph of neighbors can have at most {MOST_IN_GRAPH} rows");
        return Err(SpecError::Setting { setting: "rows", value: format!("{rows} rows"), rule }.into());
    }
    let found = drawn.fitted(fit, stream::NEIGHBORS).neighbours(k, DRAWS)?;
    let names = |name: &str, of: Vec<usize>| Column::names(name, fit.table.ids.clone(), of);
    Ok(Answer {
        columns: vec![
            names("row", found.iter().map(|edge| edge.row).collect()),
            names("neighbor", found.iter().map(|edge| edge.neighbour).collect()),
            Column::of("probability", "fraction", &found, |edge| edge.probability),
            Column::of("distance", OF_AXIS, &found, |edge| edge.mean),
        ],
    })
}
