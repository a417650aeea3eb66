//! The quantities used to assess convergence, since rotation, reflection and relabelling leave them unchanged: distances
//! between some rows, and F in some cells. They are chosen by the size of the table alone.

use crate::model::{Model, State};
use crate::rng::Stream;
use rand::RngExt;

/// Pairs of rows, and cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// Pairs of different rows.
    pub pairs: Vec<(usize, usize)>,
    /// Row and column (in the model's order) of cells whose column has its own weights.
    pub cells: Vec<(usize, usize)>,
}

/// Number of each.
const COUNT: usize = 10;

impl Traced {
    /// The traced quantities of a model.
    pub fn of(model: &Model) -> Self {
        let mut rng = Stream::new(0).named("traced").rng();
        let rows = model.rows();
        let pair = |rng: &mut _| {
            let (a, step) = (rng_below(rng, rows), 1 + rng_below(rng, rows - 1));
            (a, (a + step) % rows)
        };
        let pairs = (0..COUNT).map(|_| pair(&mut rng)).collect();
        let free = model.free_columns();
        let cell = |_| (rng_below(&mut rng, rows), free[rng_below(&mut rng, free.len())]);
        Traced { pairs, cells: (0..COUNT).map(cell).collect() }
    }

    /// |x_a − x_b| of each pair; in units of the map where axes can be pruned, so that pruned axes do not count.
    pub fn distances(&self, model: &Model, state: &State) -> Vec<f64> {
        let in_units = model.has_relevance().then(|| state.features.in_units_of_the_map());
        let x = in_units.as_ref().unwrap_or(state.features.x());
        let distance =
            |&(a, b): &(usize, usize)| x.row(a).iter().zip(x.row(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        self.pairs.iter().map(distance).collect()
    }

    /// f of each cell.
    pub fn values(&self, model: &Model, state: &State) -> Vec<f64> {
        let (chunks, first) = (model.chunks(), model.chunks().own_columns().start);
        chunks.add(&mut chunks.own(), self.cells.len(), |chunk, to| {
            for (&(n, j), to) in self.cells.iter().zip(to) {
                let own = j.checked_sub(first).filter(|own| chunk.columns.contains(own));
                *to = own.map_or(0.0, |own| state.cell(model, (n, own)));
            }
        })
    }
}

fn rng_below(rng: &mut crate::rng::StreamRng, bound: usize) -> usize {
    rng.random_range(0..bound)
}
