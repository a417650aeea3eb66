//! Neighbourhoods of rows: who is near whom in the table, and starts that keep neighbours together.
//!
//! Principal components fold a curved sheet onto itself; a graph of nearest neighbours sees along the sheet instead. Distances are those
//! between the leading principal scores of the table on the link scale: noise, which is spread over all components, is mostly left out.

mod eigenmaps;
mod geodesic;
mod neighbours;

pub use neighbours::{Graph, continuity};

use super::begin::on_link_scale;
use super::pca;
use crate::linalg::Mat;
use crate::model::Model;
use crate::rng::StreamRng;

/// Principal scores between which distances are taken.
const COMPONENTS: usize = 20;
/// Most rows for which distances between all pairs are computed.
pub const MOST_ROWS: usize = 20_000;

/// The rows of a table as points whose distances matter: its leading principal scores, each as wide as in the table.
pub fn points(model: &Model, rng: &mut StreamRng) -> Mat {
    let components = COMPONENTS.min(model.all_columns()).min(model.rows().saturating_sub(1)).max(1);
    pca::wide_scores(model.chunks(), on_link_scale(model), components, rng)
}

/// Numbers that the start of largest memory holds: the Laplacian, its factor and the factor's workspace.
pub fn numbers(rows: usize) -> usize {
    if rows <= eigenmaps::MOST_ROWS { 3 * rows * rows } else { 0 }
}

/// Isomap (Tenenbaum, de Silva & Langford 2000): positions whose distances are those along the graph. Its axes keep their proportions:
/// the second axis of a curve that it lays out straight is noise, and must not become as wide as the first.
pub fn isomap(graph: &Graph, dim: usize, rng: &mut StreamRng) -> Mat {
    unit(geodesic::scaled(graph, dim, rng))
}

/// Laplacian eigenmaps (Belkin & Niyogi 2003): the smoothest functions on the graph. `None` if there are too many rows.
pub fn eigenmaps(graph: &Graph, dim: usize, rng: &mut StreamRng) -> Option<Mat> {
    eigenmaps::smoothest(graph, dim, rng).map(pca::whiten)
}

/// Positions whose widest axis has unit variance, their shape kept.
fn unit(mut x: Mat) -> Mat {
    let rows = x.rows() as f64;
    let centre = crate::placement::centre(&x);
    for n in 0..x.rows() {
        x.row_mut(n).iter_mut().zip(&centre).for_each(|(x, c)| *x -= c);
    }
    let variance = |d: usize| (0..x.rows()).map(|n| x[(n, d)].powi(2)).sum::<f64>() / rows;
    let widest = (0..x.cols()).map(variance).fold(0.0, f64::max).sqrt().max(f64::MIN_POSITIVE);
    x.as_mut_slice().iter_mut().for_each(|x| *x /= widest);
    x
}
