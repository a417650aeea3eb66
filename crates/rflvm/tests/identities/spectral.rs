//! z, (μ, Σ) and α: the prior of the frequencies.

use crate::fixtures::{Case, FIXED, assert_same, case, gap, ln_joint, mixture, setting, single};
use rand::RngExt;
use rflvm::internal::dist::cluster::Cluster;
use rflvm::internal::dist::niw::Niw;
use rflvm::internal::dist::{gamma, ln_gamma, ln_gamma_density};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::State;
use rflvm::internal::model::spectral::Spectral;
use rflvm::internal::rng::StreamRng;
use rflvm::internal::steps::assignments::Seating;
use rflvm::internal::steps::concentration;

/// One cluster, several singletons, only singletons: moves then open and close clusters.
const PARTITIONS: [[usize; 4]; 4] = [[0, 0, 0, 0], [0, 1, 0, 2], [0, 1, 1, 0], [0, 1, 2, 3]];

fn example(seed: u64) -> Case {
    case("poisson", single("poisson"), setting(false, FIXED), seed)
}

/// The base measure of the fixtures.
fn base() -> Niw {
    mixture().base(&[0.8; 2])
}

/// The NIW of cluster k given its frequencies, except `without`.
fn posterior(z: &[usize], w: &Mat, k: usize, without: Option<usize>) -> Niw {
    let members: Vec<usize> = (0..z.len()).filter(|&l| z[l] == k && Some(l) != without).collect();
    base().posterior(members.iter().map(|&l| w.row(l)))
}

/// Σ_k ln p(μ_k, Σ_k | z, W).
fn ln_clusters(spectral: &Spectral, w: &Mat) -> f64 {
    let of_cluster =
        |(k, c): (usize, &Cluster)| posterior(&spectral.z, w, k, None).ln_density(&c.mu, &c.sigma).unwrap();
    spectral.clusters.iter().enumerate().map(of_cluster).sum()
}

/// The same partition with labels 0..K in order of first appearance: the joint does not allow empty clusters.
fn relabelled(z: &[usize]) -> Vec<usize> {
    let mut labels: Vec<usize> = Vec::new();
    z.iter()
        .map(|k| {
            labels.iter().position(|label| label == k).unwrap_or_else(|| {
                labels.push(*k);
                labels.len() - 1
            })
        })
        .collect()
}

/// The state with this partition and arbitrary clusters (draws from the base measure).
fn with_partition(state: &State, z: &[usize], rng: &mut StreamRng) -> State {
    let z = relabelled(z);
    let count = z.iter().max().unwrap() + 1;
    let clusters = (0..count).map(|_| base().draw(rng).unwrap()).collect();
    State { spectral: Spectral { z, clusters, ..state.spectral.clone() }, ..state.clone() }
}

/// ln p(z_l = k | z_−l, W, α) up to a constant in k, with (μ, Σ) integrated out; k = K is a new cluster.
fn ln_assignment(spectral: &Spectral, w: &Mat, l: usize, k: usize) -> f64 {
    let mut seating = Seating::new(&mixture(), spectral, w).unwrap();
    seating.leave(spectral, w, l).unwrap();
    let ln = seating.ln_weights(spectral, w, l);
    // A cluster whose only member is l does not exist without l: staying there means opening a new one.
    if ln[k] == f64::NEG_INFINITY { ln[spectral.count()] } else { ln[k] }
}

#[test]
fn assignments_then_clusters_match_the_joint() {
    for seed in 0..3 {
        let mut case = example(seed);
        for partition in PARTITIONS {
            let old = with_partition(&case.state, &partition, &mut case.rng);
            let w = old.features.w();
            for l in 0..w.rows() {
                for k in 0..=old.spectral.count() {
                    let mut z = old.spectral.z.clone();
                    z[l] = k;
                    let new = with_partition(&old, &z, &mut case.rng);
                    let conditional = ln_assignment(&old.spectral, w, l, k)
                        - ln_assignment(&old.spectral, w, l, old.spectral.z[l])
                        + ln_clusters(&new.spectral, w)
                        - ln_clusters(&old.spectral, w);
                    let joint = ln_joint(&case.model, &new) - ln_joint(&case.model, &old);
                    assert_same(conditional, joint, &format!("{partition:?}: z_{l} = {k}"));
                }
            }
        }
    }
}

#[test]
fn clusters_match_the_joint() {
    for seed in 0..3 {
        let mut case = example(seed);
        for partition in PARTITIONS {
            let old = with_partition(&case.state, &partition, &mut case.rng);
            for k in 0..old.spectral.count() {
                let mut new = old.clone();
                new.spectral.clusters[k] = base().draw(&mut case.rng).unwrap();
                let law = posterior(&old.spectral.z, old.features.w(), k, None);
                let ln = |state: &State| {
                    let cluster = &state.spectral.clusters[k];
                    law.ln_density(&cluster.mu, &cluster.sigma).unwrap()
                };
                let joint = ln_joint(&case.model, &new) - ln_joint(&case.model, &old);
                assert_same(ln(&new) - ln(&old), joint, "(μ, Σ)");
            }
        }
    }
}

#[test]
fn papers_scatter_about_single_frequencies_would_fail() {
    // The paper prints w_l − μ0 for w̄ − μ0: Ψ of a posterior that does not match the joint.
    let mut case = example(0);
    let old = with_partition(&case.state, &[0, 0, 0, 0], &mut case.rng);
    let new = with_partition(&case.state, &[0, 0, 0, 0], &mut case.rng);
    let w = old.features.w();
    let mut law = posterior(&old.spectral.z, w, 0, None);
    let n = w.rows() as f64;
    let mean: Vec<f64> = (0..2).map(|d| w.col(d).iter().sum::<f64>() / n).collect();
    let shrink = base().lambda * n / (base().lambda + n);
    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let single = w.iter_rows().map(|w| w[i] * w[j]).sum::<f64>() / n;
        law.psi[(i, j)] += shrink * (single - mean[i] * mean[j]);
    }
    let ln = |state: &State| {
        let cluster = &state.spectral.clusters[0];
        law.ln_density(&cluster.mu, &cluster.sigma).unwrap()
    };
    let joint = ln_joint(&case.model, &new) - ln_joint(&case.model, &old);
    assert!(gap(ln(&new) - ln(&old), joint) > 1e-3);
}

/// States with several K at two concentrations each.
fn concentrations() -> Vec<(Case, State, State)> {
    let mut found = Vec::new();
    for (seed, partition) in PARTITIONS.iter().enumerate() {
        let mut case = example(seed as u64);
        let mut old = with_partition(&case.state, partition, &mut case.rng);
        let mut new = old.clone();
        old.spectral.alpha = gamma(2.0, 1.0, &mut case.rng);
        new.spectral.alpha = gamma(2.0, 0.5, &mut case.rng);
        found.push((case, old, new));
    }
    found
}

#[test]
fn concentration_with_eta_integrated_out_matches_the_joint() {
    for (case, old, new) in concentrations() {
        let ln = |state: &State| {
            let (alpha, k, l) = (state.spectral.alpha, state.spectral.count() as f64, state.spectral.z.len() as f64);
            let prior = (mixture().alpha_shape - 1.0) * alpha.ln() - mixture().alpha_rate * alpha;
            prior + k * alpha.ln() + ln_gamma(alpha) - ln_gamma(alpha + l)
        };
        assert_same(ln(&new) - ln(&old), ln_joint(&case.model, &new) - ln_joint(&case.model, &old), "α");
    }
}

/// How far the scheme of Escobar & West is from the joint of (α, η) if the number of frequencies is taken to be `l`.
fn concentration_gap(l: impl Fn(f64) -> f64) -> f64 {
    let mut worst: f64 = 0.0;
    for (mut case, old, new) in concentrations() {
        let (k, l) = (old.spectral.count() as f64, l(old.spectral.z.len() as f64));
        let eta: f64 = case.rng.random_range(0.05..0.95);
        let rate = mixture().alpha_rate - eta.ln();
        let odds = concentration::odds(&mixture(), k, l, rate);
        let share = odds / (1.0 + odds);
        let shape = mixture().alpha_shape + k;
        // p(α | η): a choice between two gammas.
        let given_eta = |alpha: f64| {
            let (more, less) = (ln_gamma_density(alpha, shape, rate), ln_gamma_density(alpha, shape - 1.0, rate));
            (share * more.exp() + (1.0 - share) * less.exp()).ln()
        };
        // p(η | α) = Beta(α + 1, l).
        let of_eta = |alpha: f64| {
            ln_gamma(alpha + 1.0 + l) - ln_gamma(alpha + 1.0) - ln_gamma(l)
                + alpha * eta.ln()
                + (l - 1.0) * (1.0 - eta).ln()
        };
        let (a, b) = (old.spectral.alpha, new.spectral.alpha);
        let augmented = ln_joint(&case.model, &new) + of_eta(b) - ln_joint(&case.model, &old) - of_eta(a);
        worst = worst.max(gap(given_eta(b) - given_eta(a), augmented));
    }
    worst
}

#[test]
fn concentration_given_eta_matches_the_augmented_joint() {
    assert!(concentration_gap(|l| l) < 1e-8);
    // The paper prints M = 2L.
    assert!(concentration_gap(|l| 2.0 * l) > 1e-3);
}
