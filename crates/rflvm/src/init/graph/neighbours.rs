//! The graph of nearest neighbours, and how well a map keeps them.

use crate::linalg::Mat;
use crate::par;

/// For each row, its nearest rows with their distances, nearest first; connected, each edge in both directions.
#[derive(Debug, Clone)]
pub struct Graph {
    /// Neighbours of each row.
    pub edges: Vec<Vec<(usize, f64)>>,
}

fn square(points: &Mat, a: usize, b: usize) -> f64 {
    points.row(a).iter().zip(points.row(b)).map(|(a, b)| (a - b).powi(2)).sum()
}

/// The `k` nearest other rows of each row, nearest first.
pub fn nearest(points: &Mat, k: usize) -> Vec<Vec<(usize, f64)>> {
    let rows = points.rows();
    let k = k.min(rows.saturating_sub(1));
    par::map(rows, rows * rows * points.cols(), |n| {
        let mut others: Vec<(usize, f64)> = (0..rows).filter(|&m| m != n).map(|m| (m, square(points, n, m))).collect();
        let order = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        if k < others.len() && k > 0 {
            others.select_nth_unstable_by(k - 1, order);
        }
        others.truncate(k);
        others.sort_unstable_by(order);
        others.iter_mut().for_each(|(_, d)| *d = d.sqrt());
        others
    })
}

impl Graph {
    /// Joins each row to its `k` nearest; parts that are not connected are joined by their shortest edge.
    pub fn new(points: &Mat, k: usize) -> Self {
        let mut edges = nearest(points, k);
        symmetrise(&mut edges);
        let mut graph = Graph { edges };
        while let Some(parts) = graph.parts() {
            graph.join(points, &parts);
        }
        graph
    }

    /// The part of each row, or `None` if all are connected.
    fn parts(&self) -> Option<Vec<usize>> {
        let mut part = vec![usize::MAX; self.edges.len()];
        let mut count = 0;
        for start in 0..part.len() {
            if part[start] != usize::MAX {
                continue;
            }
            let mut open = vec![start];
            part[start] = count;
            while let Some(n) = open.pop() {
                for &(m, _) in &self.edges[n] {
                    if part[m] == usize::MAX {
                        part[m] = count;
                        open.push(m);
                    }
                }
            }
            count += 1;
        }
        (count > 1).then_some(part)
    }

    /// Adds, for each part, the shortest edge that leaves it: at least half of the parts are gone after each round.
    fn join(&mut self, points: &Mat, part: &[usize]) {
        let rows = part.len();
        let leaving = par::map(rows, rows * rows * points.cols(), |n| {
            let others = (0..rows).filter(|&m| part[m] != part[n]).map(|m| (square(points, n, m), m));
            others.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, n))
        });
        let count = part.iter().max().map_or(0, |most| most + 1);
        let mut shortest = vec![(f64::INFINITY, 0, 0); count];
        for (n, &(distance, m)) in leaving.iter().enumerate() {
            if distance < shortest[part[n]].0 {
                shortest[part[n]] = (distance, n, m);
            }
        }
        for (distance, n, m) in shortest {
            self.edges[n].push((m, distance.sqrt()));
        }
        symmetrise(&mut self.edges);
    }
}

/// Makes every edge known to both of its ends, once.
fn symmetrise(edges: &mut [Vec<(usize, f64)>]) {
    let back: Vec<(usize, usize, f64)> =
        edges.iter().enumerate().flat_map(|(n, own)| own.iter().map(move |&(m, d)| (m, n, d))).collect();
    back.into_iter().for_each(|(n, m, d)| edges[n].push((m, d)));
    for own in edges {
        own.sort_unstable_by_key(|edge| edge.0);
        own.dedup_by_key(|edge| edge.0);
    }
}

/// Continuity and trustworthiness of a map (Venna & Kaski 2001) at `k` neighbours, each between 0 and 1: whether neighbours in the table
/// are still neighbours in the map, and whether neighbours in the map are neighbours in the table.
pub fn continuity(points: &Mat, map: &Mat, k: usize) -> (f64, f64) {
    let rows = points.rows();
    // The measure is only defined for fewer neighbours than half of the rows.
    let k = k.min(rows.saturating_sub(1) / 2).max(1);
    if rows < 4 {
        return (1.0, 1.0);
    }
    let worst = 0.5 * (rows * k) as f64 * (2 * rows - 3 * k - 1) as f64;
    let lost = |near: &Mat, far: &Mat| -> f64 {
        let near = nearest(near, k);
        let excess = par::map(rows, rows * rows * (far.cols() + 4), |n| {
            let distance: Vec<f64> = (0..rows).map(|m| if m == n { -1.0 } else { square(far, n, m) }).collect();
            // How many rows are nearer than a neighbour, itself aside.
            let rank = |m: usize| distance.iter().filter(|&&d| d < distance[m]).count();
            near[n].iter().map(|&(m, _)| rank(m).saturating_sub(k) as f64).sum::<f64>()
        });
        excess.iter().sum::<f64>() / worst
    };
    (1.0 - lost(points, map), 1.0 - lost(map, points))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_by_their_shortest_edge() {
        // Two runs of points on a line, far apart.
        let points = Mat::from_fn(10, 1, |n, _| if n < 5 { n as f64 } else { 100.0 + n as f64 });
        let graph = Graph::new(&points, 2);
        assert!(graph.parts().is_none());
        assert!(graph.edges[4].iter().any(|&(m, d)| m == 5 && (d - 101.0).abs() < 1e-12));
        assert!(graph.edges[5].iter().any(|&(m, _)| m == 4));
    }

    #[test]
    fn a_break_lowers_continuity_and_a_fold_lowers_trustworthiness() {
        let line = Mat::from_fn(60, 1, |n, _| n as f64);
        assert_eq!(continuity(&line, &line, 5), (1.0, 1.0));
        let broken = Mat::from_fn(60, 1, |n, _| if n < 30 { n as f64 } else { n as f64 - 200.0 });
        let (kept, trusted) = continuity(&line, &broken, 5);
        assert!(kept < 0.97 && trusted > 0.97, "broken: {kept} {trusted}");
        let folded = Mat::from_fn(60, 1, |n, _| (n as f64 - 29.5).abs() + 0.01 * n as f64);
        let (kept, trusted) = continuity(&line, &folded, 5);
        assert!(trusted < 0.9 && trusted < kept, "folded: {kept} {trusted}");
    }
}
