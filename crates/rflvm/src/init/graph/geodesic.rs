//! Distances along the graph, and positions that have them: classical scaling from landmarks (de Silva & Tenenbaum 2004).

use super::Graph;
use crate::linalg::{Mat, leading};
use crate::par;
use crate::rng::StreamRng;
use rand::RngExt;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Most rows from which distances to all others are computed.
const LANDMARKS: usize = 400;

/// Positions whose distances are close to those along the graph, N×dim.
pub fn scaled(graph: &Graph, dim: usize, rng: &mut StreamRng) -> Mat {
    let rows = graph.edges.len();
    let landmarks = some(rows, LANDMARKS.min(rows), rng);
    let count = landmarks.len();
    let edges: usize = graph.edges.iter().map(Vec::len).sum();
    let distances = par::map(count, 20 * count * edges, |i| from(graph, landmarks[i]));
    let mut square = Mat::from_fn(count, rows, |i, n| distances[i][n].powi(2));
    // B = −½ (I − 1/c) D² (I − 1/c) over the landmarks; the same, with means over the landmarks, for all other rows.
    let means: Vec<f64> =
        (0..count).map(|i| landmarks.iter().map(|&l| square[(i, l)]).sum::<f64>() / count as f64).collect();
    let mean = means.iter().sum::<f64>() / count as f64;
    let between = Mat::from_fn(count, count, |i, k| -0.5 * (square[(i, landmarks[k])] - means[i] - means[k] + mean));
    let basis = leading(&between, dim, 100, rng);
    for (i, mean) in means.iter().enumerate() {
        square.row_mut(i).iter_mut().for_each(|d| *d -= mean);
    }
    let along = |n: usize, d: usize| match d < basis.rows() {
        true => (0..count).map(|i| -0.5 * basis[(d, i)] * square[(i, n)]).sum(),
        false => 0.0,
    };
    Mat::from_fn(rows, dim, along)
}

/// `count` of `0..rows` at random, in order.
fn some(rows: usize, count: usize, rng: &mut StreamRng) -> Vec<usize> {
    let mut all: Vec<usize> = (0..rows).collect();
    for i in 0..count {
        let other = rng.random_range(i..rows);
        all.swap(i, other);
    }
    all.truncate(count);
    all.sort_unstable();
    all
}

/// A row that has been reached, nearest first in a heap.
struct Reached {
    distance: f64,
    row: usize,
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Reached {}
impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(other.row.cmp(&self.row))
    }
}

/// Shortest distances along the graph from one row to all (Dijkstra).
fn from(graph: &Graph, start: usize) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; graph.edges.len()];
    distances[start] = 0.0;
    let mut heap = BinaryHeap::from([Reached { distance: 0.0, row: start }]);
    while let Some(Reached { distance, row }) = heap.pop() {
        if distance > distances[row] {
            continue;
        }
        for &(next, length) in &graph.edges[row] {
            let through = distance + length;
            if through < distances[next] {
                distances[next] = through;
                heap.push(Reached { distance: through, row: next });
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn a_curled_line_is_laid_out_straight() {
        // Three quarters of a circle: principal components curl, distances along it do not.
        for rows in [90, 900] {
            let angle = |n: usize| 1.5 * std::f64::consts::PI * n as f64 / rows as f64;
            let points = Mat::from_fn(rows, 2, |n, d| if d == 0 { angle(n).cos() } else { angle(n).sin() });
            let x = scaled(&Graph::new(&points, 4), 2, &mut Stream::new(1).rng());
            let mut order: Vec<usize> = (0..rows).collect();
            order.sort_by(|&a, &b| x[(a, 0)].total_cmp(&x[(b, 0)]));
            let steps = order.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > 1).count();
            assert_eq!(steps, 0, "{rows} rows");
            let width = |d: usize| (0..rows).map(|n| x[(n, d)].powi(2)).sum::<f64>();
            assert!(width(1) < 1e-3 * width(0));
        }
    }
}
