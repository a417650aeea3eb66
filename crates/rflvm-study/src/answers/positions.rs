//! Positions of the rows in the latent space.

use super::{Answer, Column, OF_AXIS, stream};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::table::Table;
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::align::Embedding;
use rflvm::internal::posterior::fitted::Fitted;
use rflvm::internal::posterior::frame::Frame;

/// Positions of the rows.
pub struct Positions {
    /// The frame of all draws.
    pub frame: Frame,
    /// Posterior mean and covariance of each row.
    pub embedding: Embedding,
}

/// The fit, for questions about positions in one of its sampled modes, counted from 1; each has its own axes.
fn of_mode<T>(
    fit: &Fit,
    drawn: &Drawn,
    mode: usize,
    ask: impl FnOnce(&Fitted<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let used = match (mode, mode.checked_sub(2).and_then(|other| drawn.others.get(other))) {
        (1, _) => drawn.used.clone(),
        (_, Some(other)) => other.used(),
        _ => {
            let rule = format!("the modes that this fit samples are 1 to {}", drawn.others.len() + 1);
            return Err(SpecError::Setting { setting: "mode", value: mode.to_string(), rule }.into());
        }
    };
    ask(&Fitted { used: &used, ..drawn.fitted(fit, stream::POSITIONS) })
}

/// The positions in a mode.
pub fn positions(fit: &Fit, drawn: &Drawn, mode: usize) -> Result<Positions, Error> {
    of_mode(fit, drawn, mode, |fitted| {
        let frame = fitted.frame()?;
        let embedding = fitted.embedding(&frame)?;
        Ok(Positions { frame, embedding })
    })
}

/// The spatial median of each row's positions in a mode.
pub fn medians(fit: &Fit, drawn: &Drawn, mode: usize, frame: &Frame) -> Result<Mat, Error> {
    of_mode(fit, drawn, mode, |fitted| Ok(fitted.medians(frame)?))
}

/// The share of a row's variance that lies between modes, from which it is most of it.
const MOST: f64 = 0.5;
/// Rows that are named.
const NAMED: usize = 3;

/// How many rows have most of their variance between modes, and which the most; `None` with a single mode.
pub fn line_of_modes(embedding: &Embedding, table: &Table) -> Option<String> {
    let shares = &embedding.between_modes;
    if shares.is_empty() {
        return None;
    }
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    let most = shares.iter().filter(|share| **share > MOST).count();
    let named: Vec<String> =
        order.iter().take(NAMED).map(|&n| format!("{} ({:.2})", table.ids[n], shares[n])).collect();
    Some(format!(
        "between modes: {most} of {} rows have most of the variance of their position there; the largest shares: {}",
        shares.len(),
        named.join(", ")
    ))
}

/// `id,label,x1,…,sd1,…`: posterior mean and standard deviation of each row's position; with `time` and `sequence` after the label if rows
/// have times, with spatial medians as `median1,…` if they are given, and with the share of the variance that lies between modes if there are several.
pub fn columns(embedding: &Embedding, medians: Option<&Mat>, table: &Table) -> Answer {
    let (rows, axes) = (embedding.mean.rows(), embedding.mean.cols());
    let texts = |name: &str, cells: Option<&Vec<String>>| {
        Column::texts(name, cells.cloned().unwrap_or_else(|| vec![String::new(); rows]))
    };
    let mut columns = vec![texts("id", Some(&table.ids)), texts("label", table.labels.as_ref())];
    if table.time.is_some() {
        columns.extend([texts("time", table.time.as_ref()), texts("sequence", table.sequence.as_ref())]);
    }
    let mut add = |prefix: &str, at: &dyn Fn(usize, usize) -> f64| {
        let axis = |d: usize| (0..rows).map(|n| at(n, d)).collect();
        columns.extend((0..axes).map(|d| Column::numbers(format!("{prefix}{}", d + 1), OF_AXIS, axis(d))));
    };
    add("x", &|n, d| embedding.mean[(n, d)]);
    add("sd", &|n, d| embedding.sd(n, d));
    if let Some(medians) = medians {
        add("median", &|n, d| medians[(n, d)]);
    }
    if !embedding.between_modes.is_empty() {
        columns.push(Column::numbers("between_modes", "fraction", embedding.between_modes.clone()));
    }
    Answer { columns }
}
