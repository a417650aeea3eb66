//! Convergence diagnostics: rank-normalised split R̂, effective sample sizes and Monte-Carlo standard errors of Vehtari,
//! Gelman, Simpson, Carpenter & Bürkner (2021, Bayesian Analysis 16(2)), matching ArviZ's values.
//!
//! R̂ = √((B/W + n − 1)/n) over halves of chains, of the normal scores z and of those of |θ − median|, whichever is larger;
//! the bulk ESS is that of z, the tail ESS the smaller of those of 1(θ ≤ q₀.₀₅) and 1(θ ≤ q₀.₉₅); the standard errors are
//! sd/√S for the mean, √((m₄ − m₂²)/(4 m₂ S)) for the standard deviation, S the ESS for θ and for (θ − mean)².

mod effective;
mod fourier;
mod halves;
mod moments;
mod quantile;
#[cfg(test)]
mod tests;

pub use quantile::quantile;

use effective::EffectiveSize;
use halves::Halves;
use moments::{mean, variance};

/// Diagnostics of one quantity over several chains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diagnosis {
    /// Mean of all draws.
    pub mean: f64,
    /// Standard deviation of all draws.
    pub sd: f64,
    /// Monte-Carlo standard error of the mean.
    pub mcse_mean: f64,
    /// Monte-Carlo standard error of the standard deviation.
    pub mcse_sd: f64,
    /// Effective sample size in the bulk.
    pub ess_bulk: f64,
    /// Effective sample size in the tails: the smaller of those for the 5% and 95% quantiles.
    pub ess_tail: f64,
    /// Rank-normalised split R̂; above 1.01 the chains have not mixed.
    pub r_hat: f64,
}

/// Diagnoses one quantity from its draws, one slice per chain. Undefined results are NaN: everything but the moments
/// if a chain has fewer than four draws, lengths differ or a draw is NaN; R̂ of a single chain or of draws that
/// are all equal.
pub fn diagnose<C: AsRef<[f64]>>(chains: &[C]) -> Diagnosis {
    let chains: Vec<&[f64]> = chains.iter().map(AsRef::as_ref).collect();
    let mut draws = chains.concat();
    let (mean, variance) = (mean(&draws), variance(&draws));
    let unknown = Diagnosis {
        mean,
        sd: variance.sqrt(),
        mcse_mean: f64::NAN,
        mcse_sd: f64::NAN,
        ess_bulk: f64::NAN,
        ess_tail: f64::NAN,
        r_hat: f64::NAN,
    };
    let Some(halves) = Halves::new(&chains) else { return unknown };
    let effective = EffectiveSize::new(halves.length());
    let scores = halves.normal_scores();

    let (second, fourth) = central_moments(&draws, mean);
    let of_square = effective.of(&halves.map(|v| (v - mean).powi(2)));

    draws.sort_unstable_by(f64::total_cmp);
    let of_quantile = |p: f64| {
        let cut = quantile(&draws, p);
        effective.of(&halves.map(|v| if v <= cut { 1.0 } else { 0.0 }))
    };

    Diagnosis {
        mcse_mean: (variance / effective.of(&halves)).sqrt(),
        mcse_sd: ((fourth - second * second) / of_square / second / 4.0).sqrt(),
        ess_bulk: effective.of(&scores),
        ess_tail: of_quantile(0.05).min(of_quantile(0.95)),
        r_hat: if chains.len() > 1 { rank_r_hat(&halves, &scores) } else { f64::NAN },
        ..unknown
    }
}

/// The larger of the bulk and folded R̂; the bulk R̂ if the folded draws are constant.
fn rank_r_hat(halves: &Halves, scores: &Halves) -> f64 {
    let median = halves.median();
    let (bulk, spread) = (r_hat(scores), r_hat(&halves.map(|v| (v - median).abs()).normal_scores()));
    if spread > bulk { spread } else { bulk }
}

fn r_hat(halves: &Halves) -> f64 {
    let n = halves.length() as f64;
    let variances: Vec<f64> = halves.iter().map(variance).collect();
    ((n * variance(&halves.means()) / mean(&variances) + n - 1.0) / n).sqrt()
}

/// Second and fourth moments about the mean.
fn central_moments(draws: &[f64], mean: f64) -> (f64, f64) {
    let about = |power: i32| draws.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / draws.len() as f64;
    (about(2), about(4))
}
