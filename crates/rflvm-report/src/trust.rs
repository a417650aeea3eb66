//! Whether to trust the fit: traces and ranks of quantities that do not depend on the frame, diagnostics, and where the fit comes from.

use crate::pack::Pack;
use crate::subject::Subject;
use rflvm::internal::error::RunError;
use serde_json::{Value, json};

/// Draws of a chain that a trace shows.
const SHOWN: usize = 500;
/// Bars of a rank plot (Vehtari et al. 2021).
const BARS: usize = 20;

/// Quantities with a trace; those with several values have one for each.
const TRACED: [&str; 10] = [
    "sample_stats/lp",
    "sample_stats/log_likelihood",
    "posterior/alpha",
    "posterior/clusters",
    "posterior/w2",
    "posterior/time_scale",
    "posterior/linear_scale",
    "posterior/axes_in_use",
    "posterior/distance",
    "posterior/f_cell",
];

/// Diagnostics, traces, ranks and origin.
pub fn section(subject: &Subject<'_>, pack: &mut Pack) -> Result<Value, RunError> {
    let (store, chains) = (subject.fitted.store, &subject.convergence.numbers);
    let mut traces = Vec::new();
    for name in TRACED.into_iter().filter(|name| store.is_drawn(name)) {
        let short = name.split('/').next_back().unwrap_or(name);
        let width = store.numbers(name)?.max(1);
        let all = chains.iter().map(|&chain| store.all(name, chain)).collect::<Result<Vec<_>, _>>()?;
        for i in 0..width {
            let of_chain = |values: &Vec<f64>| values.iter().skip(i).step_by(width).copied().collect::<Vec<f64>>();
            let draws: Vec<Vec<f64>> = all.iter().map(of_chain).collect();
            let ranks = ranks(&draws);
            traces.push(json!({
                "name": if width > 1 { format!("{short}[{i}]") } else { short.into() },
                "chains": draws.iter().map(|draws| pack.steps(&thinned(draws))).collect::<Vec<_>>(),
                "ranks": ranks,
            }));
        }
    }
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"), "diagnostics": subject.diagnostics, "draws": subject.convergence.draws,
        "chains": chains.iter().map(|chain| chain + 1).collect::<Vec<_>>(), "origin": subject.origin, "traces": traces,
    }))
}

/// At most [`SHOWN`] draws, evenly spaced.
fn thinned(draws: &[f64]) -> Vec<f64> {
    let count = draws.len().min(SHOWN);
    (0..count).map(|i| draws[i * draws.len() / count]).collect()
}

/// How many draws of each chain fall into each twentieth of all draws by rank; equal draws are ranked in the order of the chains' draws,
/// so that a constant quantity looks mixed.
fn ranks(chains: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let draws = chains.iter().map(Vec::len).min().unwrap_or(0);
    let mut order: Vec<(usize, usize)> = (0..draws).flat_map(|i| (0..chains.len()).map(move |c| (i, c))).collect();
    order.sort_by(|a, b| chains[a.1][a.0].total_cmp(&chains[b.1][b.0]));
    let mut bars = vec![vec![0; BARS]; chains.len()];
    for (rank, &(_, chain)) in order.iter().enumerate() {
        bars[chain][rank * BARS / order.len()] += 1;
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_apart_have_ranks_apart() {
        let low: Vec<f64> = (0..100).map(f64::from).collect();
        let high: Vec<f64> = low.iter().map(|v| v + 100.0).collect();
        let apart = ranks(&[low.clone(), high]);
        assert_eq!((apart[0][..10].iter().sum::<usize>(), apart[1][..10].iter().sum::<usize>()), (100, 0));
        let even = ranks(&[low.clone(), low]);
        assert!(even.iter().flatten().all(|&count| count == 5), "{even:?}");
        assert_eq!(ranks(&[]).len(), 0);
        assert_eq!(thinned(&(0..1000).map(f64::from).collect::<Vec<_>>())[499], 998.0);
    }
}
