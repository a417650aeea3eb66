//! Convergence of a stored run: diagnostics of invariant quantities, and a recommendation.

use super::diagnostics::{Diagnosis, diagnose};
use super::spread::mean_and_sd;
use super::verdict::{Verdict, verdicts};
use crate::draws::Source;
use crate::error::StoreError;

/// Diagnostics of one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosed {
    /// Its name, with an index if it has several values.
    pub name: String,
    /// What it is in words, once the names of rows and columns are known.
    pub label: String,
    /// Its array.
    pub array: String,
    /// Its place there.
    pub index: usize,
    /// Its diagnostics.
    pub diagnosis: Diagnosis,
}

/// Overall result for a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The chains have converged.
    Converged,
    /// The chains agree, but there are too few effective draws: about this many times as many would suffice.
    RunLonger {
        /// Factor of the number of draws.
        factor: f64,
    },
    /// The chains disagree.
    ChainsDisagree,
    /// Chains that began apart are in this many modes: there is nothing to run, and their mixture is the answer.
    SeveralModes {
        /// Number of modes.
        modes: usize,
    },
    /// The log joint density still rises over the kept draws.
    NotStationary,
    /// Too few draws, or a single chain, to assess convergence.
    CannotTell,
}

/// The convergence diagnostics of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence {
    /// Every quantity; those with many values by their worst.
    pub lines: Vec<Diagnosed>,
    /// The status of each chain.
    pub chains: Vec<Verdict>,
    /// Their numbers in the store, counted from 0.
    pub numbers: Vec<usize>,
    /// Number of draws per chain.
    pub draws: usize,
    /// The overall result.
    pub outcome: Outcome,
}

impl Convergence {
    /// The chains whose draws are used.
    pub fn used(&self) -> Vec<usize> {
        self.numbers.iter().zip(&self.chains).filter(|(_, verdict)| verdict.used).map(|(&number, _)| number).collect()
    }

    /// Of chains that are in several modes: what there is to do is decided by whether they are stationary.
    pub(super) fn of_modes(self, store: &dyn Source, modes: usize) -> Result<Self, StoreError> {
        if modes < 2 || self.draws < LEAST {
            return Ok(self);
        }
        let ln_joint = ln_joint(store, &self.numbers)?;
        let rises = ln_joint.iter().map(|draws| rise(draws)).sum::<f64>() / ln_joint.len() as f64;
        let outcome = if rises > RISING { Outcome::NotStationary } else { Outcome::SeveralModes { modes } };
        Ok(Convergence { outcome, ..self })
    }
}

/// R̂ below which chains agree (Vehtari et al. 2021).
const AGREE: f64 = 1.01;
/// R̂ above which more draws are unlikely to help.
const DISAGREE: f64 = 1.1;
/// Chains that rise by more standard deviations than this, on average, from the first quarter of their draws to the last have not burned in. Stationary
/// chains rise and fall equally often.
const RISING: f64 = 1.0;
/// Draws of a chain without which nothing is said of modes.
const LEAST: usize = 20;
/// Effective draws needed to estimate a quantile.
const ENOUGH: f64 = 400.0;

/// Quantities that are invariant to rotation and relabelling.
const SCALARS: [&str; 7] = [
    "sample_stats/lp",
    "sample_stats/log_likelihood",
    "posterior/alpha",
    "posterior/clusters",
    "posterior/w2",
    "posterior/distance",
    "posterior/f_cell",
];
/// Quantities of fits with times, with a linear part, and of fits whose axes can be pruned.
const OF_SOME: [&str; 3] = ["posterior/time_scale", "posterior/linear_scale", "posterior/axes_in_use"];
/// Arrays that are excluded: not identified, or too many values to examine.
const OTHERS: [&str; 8] = ["x", "w", "z", "beta", "f", "length_scale", "noise_share", "axis_information"];
/// Entries that are not arrays of draws.
const COORDINATES: [&str; 10] =
    ["chain", "draw", "row", "column", "latent", "frequency", "feature", "pair", "time", "sequence"];

/// Diagnoses a store.
pub fn judge(store: &dyn Source) -> Result<Convergence, StoreError> {
    judge_chains(store, &(0..store.size()?.0).collect::<Vec<_>>())
}

/// Diagnoses some chains of a store: those of one mode. Chains of different modes have nothing to agree on.
pub fn judge_chains(store: &dyn Source, numbers: &[usize]) -> Result<Convergence, StoreError> {
    let verdicts = verdicts(&ln_joint(store, numbers)?);
    judge_given(store, numbers, verdicts)
}

/// Diagnoses chains that began apart. None is set aside: how much each counts is decided by how well it predicts.
pub fn judge_all(store: &dyn Source, numbers: &[usize]) -> Result<Convergence, StoreError> {
    let mut verdicts = verdicts(&ln_joint(store, numbers)?);
    verdicts.iter_mut().for_each(|verdict| verdict.used = true);
    judge_given(store, numbers, verdicts)
}

/// How the chains of one mode mix with one another, by the distances between rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Within {
    /// The largest R̂.
    pub r_hat: f64,
    /// The smallest number of effective draws.
    pub ess_bulk: f64,
}

/// Diagnoses the distances within one mode. A single chain is compared with itself, half by half.
pub fn within(store: &dyn Source, chains: &[usize]) -> Result<Within, StoreError> {
    let all = columns(store, "posterior/distance", chains)?;
    let moving = || all.iter().filter(|d| d.sd > 0.0);
    Ok(Within {
        r_hat: moving().map(|d| d.r_hat).fold(1.0, f64::max),
        ess_bulk: moving().map(|d| d.ess_bulk).fold(f64::INFINITY, f64::min),
    })
}

/// The log joint densities of the draws of some chains.
fn ln_joint(store: &dyn Source, numbers: &[usize]) -> Result<Vec<Vec<f64>>, StoreError> {
    numbers.iter().map(|&chain| store.all("sample_stats/lp", chain)).collect()
}

/// By how many of its standard deviations a quantity is higher in the last quarter of the draws than in the first.
fn rise(draws: &[f64]) -> f64 {
    let quarter = draws.len() / 4;
    let mean = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64;
    let sd = mean_and_sd(draws).1;
    if quarter == 0 || sd <= 0.0 {
        return 0.0;
    }
    (mean(&draws[draws.len() - quarter..]) - mean(&draws[..quarter])) / sd
}

fn judge_given(store: &dyn Source, numbers: &[usize], verdicts: Vec<Verdict>) -> Result<Convergence, StoreError> {
    let (chains, draws) = (numbers.len(), store.size()?.1);
    // A chain that was set aside is not averaged in; its own status reports it.
    let used: Vec<usize> = (0..chains).filter(|&c| verdicts[c].used).map(|c| numbers[c]).collect();
    let mut lines = Vec::new();
    let scalars: Vec<&str> =
        SCALARS.into_iter().chain(OF_SOME.into_iter().filter(|name| store.is_drawn(name))).collect();
    for &name in &scalars {
        let short = name.split('/').next_back().unwrap_or(name);
        let all = columns(store, name, &used)?;
        let several = all.len() > 1;
        for (i, diagnosis) in all.into_iter().enumerate() {
            let name = if several { format!("{short}[{i}]") } else { short.to_string() };
            lines.push(Diagnosed { label: name.clone(), name, array: short.into(), index: i, diagnosis });
        }
    }
    let parameters = store.names("posterior").into_iter().filter(|name| {
        let known = OTHERS.iter().chain(&COORDINATES).any(|other| other == name);
        !known
            && name != "cell"
            && !name.starts_with("column_")
            && !scalars.iter().any(|s| s.ends_with(&format!("/{name}")))
    });
    for name in parameters {
        let all = columns(store, &format!("posterior/{name}"), &used)?;
        let worst = all.iter().enumerate().min_by(|a, b| a.1.ess_bulk.total_cmp(&b.1.ess_bulk));
        if let Some((i, diagnosis)) = worst {
            let shown = format!("{name}[{i}], the worst of {}", all.len());
            lines.push(Diagnosed { label: shown.clone(), name: shown, array: name, index: i, diagnosis: *diagnosis });
        }
    }
    let outcome = outcome(&lines, used.len() < chains, chains);
    Ok(Convergence { lines, chains: verdicts, numbers: numbers.to_vec(), draws, outcome })
}

/// Maximum number of values held at once, unless those of a single quantity are more.
const HELD: usize = 1 << 20;

/// The diagnostics of every value of an array. Some values are examined at a time: at most the draws of one value must fit in
/// memory, however many values and draws there are.
fn columns(store: &dyn Source, name: &str, chains: &[usize]) -> Result<Vec<Diagnosis>, StoreError> {
    let numbers = store.numbers(name)?.max(1);
    let at_once = (HELD / (chains.len() * store.size()?.1).max(1)).clamp(1, numbers);
    let mut found = Vec::with_capacity(numbers);
    for first in (0..numbers).step_by(at_once) {
        let some = first..(first + at_once).min(numbers);
        let mut draws = vec![vec![Vec::new(); chains.len()]; some.len()];
        for (c, &chain) in chains.iter().enumerate() {
            store.each(name, chain, &mut |values| {
                values[some.clone()].iter().zip(&mut draws).for_each(|(&value, of)| of[c].push(value));
            })?;
        }
        found.extend(draws.iter().map(|of| diagnose(of)));
    }
    Ok(found)
}

fn outcome(lines: &[Diagnosed], set_aside: bool, chains: usize) -> Outcome {
    // A constant quantity, such as α under a fixed kernel, has nothing to converge.
    let moving: Vec<&Diagnosis> = lines.iter().map(|l| &l.diagnosis).filter(|d| d.sd > 0.0).collect();
    if set_aside {
        return Outcome::ChainsDisagree;
    }
    if moving.is_empty() || moving.iter().any(|d| d.ess_bulk.is_nan() || d.ess_tail.is_nan()) || chains < 2 {
        return Outcome::CannotTell;
    }
    let least = moving.iter().map(|d| d.ess_bulk.min(d.ess_tail)).fold(f64::INFINITY, f64::min);
    let worst = moving.iter().map(|d| d.r_hat).fold(1.0, f64::max);
    if worst >= DISAGREE {
        Outcome::ChainsDisagree
    } else if worst <= AGREE && least >= ENOUGH {
        Outcome::Converged
    } else {
        Outcome::RunLonger { factor: (ENOUGH / least).max(2.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(r_hat: f64, ess: f64) -> Diagnosed {
        let diagnosis =
            Diagnosis { mean: 0.0, sd: 1.0, mcse_mean: 0.1, mcse_sd: 0.1, ess_bulk: ess, ess_tail: ess, r_hat };
        Diagnosed { name: "q".into(), label: "q".into(), array: "q".into(), index: 0, diagnosis }
    }

    #[test]
    fn the_word_follows_from_the_worst_quantity() {
        let good = line(1.001, 900.0);
        assert_eq!(outcome(std::slice::from_ref(&good), false, 2), Outcome::Converged);
        assert_eq!(outcome(&[good.clone(), line(1.02, 100.0)], false, 2), Outcome::RunLonger { factor: 4.0 });
        assert_eq!(outcome(&[good.clone(), line(1.3, 900.0)], false, 2), Outcome::ChainsDisagree);
        assert_eq!(outcome(std::slice::from_ref(&good), true, 2), Outcome::ChainsDisagree);
        assert_eq!(outcome(&[good, line(f64::NAN, f64::NAN)], false, 2), Outcome::CannotTell);
    }
}
