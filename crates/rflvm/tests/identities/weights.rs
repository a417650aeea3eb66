//! β_j given X and W, with what is drawn jointly (σ_j²) and what it is conditioned on (ω_j).

use crate::fixtures::{Case, assert_same, blocks_of, case, gap, in_column, ln_joint, near, setting, single};
use crate::fixtures::{FIXED, LEARNED, trials, with_moved_weights};
use rand::RngExt;
use rflvm::internal::dist::polya_gamma::PolyaGamma;
use rflvm::internal::dist::{gamma, normal, softplus};
use rflvm::internal::linalg::{Cholesky, gram};
use rflvm::internal::model::family::{Column, GaussianConditional, poisson, weights_given_omega};
use rflvm::internal::model::{Model, State, joint};
use rflvm::internal::rng::StreamRng;

/// Calls `look` with the conditional of (1/σ_j², β_j), local column j of Gaussian block b.
pub fn in_gaussian<T>(
    model: &Model,
    state: &State,
    (b, j): (usize, usize),
    look: impl FnOnce(GaussianConditional<'_>, &Column<'_>) -> T,
) -> T {
    in_column(model, state, b, j, |column| {
        let seen: Vec<f64> = column.y.iter().map(|y| if y.is_nan() { 0.0 } else { 1.0 }).collect();
        let a = gram(column.h, Some(&seen), &column.precision);
        let cholesky = Cholesky::new(a, "weights").unwrap();
        let family = model.blocks()[b].family.as_gaussian().unwrap();
        look(GaussianConditional::new(family, column, &cholesky), column)
    })
}

/// β_j minus its prior mean.
fn centred(column: &Column<'_>) -> Vec<f64> {
    let mut beta = column.beta.clone();
    *beta.last_mut().unwrap() -= column.unit.centre;
    beta
}

/// ln p(1/σ_j², β_j | y_j, X, W) at the state's own σ_j² and β_j.
fn ln_gaussian(model: &Model, state: &State, at: (usize, usize)) -> f64 {
    in_gaussian(model, state, at, |law, column| law.ln_density(column.theta[0], &centred(column)))
}

/// Σ over all columns of a Gaussian model.
pub fn ln_all_gaussian(model: &Model, state: &State) -> f64 {
    (0..model.columns()).map(|j| ln_gaussian(model, state, (0, j))).sum()
}

/// The state with other σ_j² and β_j.
fn with_moved_gaussian(case: &mut Case, b: usize, j: usize) -> State {
    let global = case.model.blocks()[b].columns.start + j;
    let mut moved = with_moved_weights(&case.model, &case.state, global, &mut case.rng);
    moved.theta[b].values[(0, j)] *= (0.5 * normal(&mut case.rng)).exp();
    moved
}

#[test]
fn gaussian_weights_and_noise_match_the_joint() {
    for (mut case, b) in blocks_of(&["gaussian"]) {
        for j in 0..case.model.blocks()[b].columns.len() {
            let moved = with_moved_gaussian(&mut case, b, j);
            let conditional = ln_gaussian(&case.model, &moved, (b, j)) - ln_gaussian(&case.model, &case.state, (b, j));
            assert_same(conditional, ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state), &case.name);
        }
    }
}

#[test]
fn papers_plus_for_minus_in_b_would_fail() {
    for (mut case, b) in blocks_of(&["gaussian"]) {
        // A column without signal has next to no cᵀA⁻¹c, and no sign shows: one of the block's columns must.
        let mut largest: f64 = 0.0;
        for j in 0..case.model.blocks()[b].columns.len() {
            let moved = with_moved_gaussian(&mut case, b, j);
            let wrong = |state: &State| {
                in_gaussian(&case.model, state, (b, j), |mut law, column| {
                    let cells = column.y.iter().zip(&column.offset).filter(|(y, _)| !y.is_nan());
                    let square: f64 = cells.map(|(y, o)| (y - o - column.unit.centre).powi(2)).sum();
                    let family = case.model.blocks()[b].family.as_gaussian().unwrap();
                    let prior = family.prior(column.hyper, &column.unit).rate;
                    // b = b0 + ½(ỹᵀỹ − cᵀA⁻¹c), so this is b0 + ½(ỹᵀỹ + cᵀA⁻¹c).
                    law.rate = prior + square - (law.rate - prior);
                    law.ln_density(column.theta[0], &centred(column))
                })
            };
            let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
            largest = largest.max(gap(wrong(&moved) - wrong(&case.state), joint));
        }
        assert!(largest > 1e-3, "{}", case.name);
    }
}

#[test]
fn gaussian_evidence_is_chibs() {
    // ln p(y | X, W) = ln p(y, β, σ² | X, W) − ln p(β, σ² | y, X, W) at any (β, σ²), all constants included.
    for holes in [false, true] {
        for amplitude in [FIXED, LEARNED] {
            let Case { model, state, .. } = case("gaussian", single("gaussian"), setting(holes, amplitude), 3);
            let evidence: f64 =
                (0..model.columns()).map(|j| in_gaussian(&model, &state, (0, j), |law, _| law.ln_evidence())).sum();
            let together = joint::ln_likelihood(&model, &state)
                + joint::ln_weights(&model, &state)
                + model.blocks()[0].family.ln_prior(&state.theta[0], model.units());
            assert_same(evidence, together - ln_all_gaussian(&model, &state), "evidence");
        }
    }
}

/// A cell in the form e^{aψ}/(1+e^ψ)^b with ψ = f − ξ.
struct Logistic {
    a: f64,
    b: f64,
    xi: f64,
}

impl Logistic {
    fn kappa(&self) -> f64 {
        self.a - 0.5 * self.b
    }
}

const LOGISTIC: [&[&str]; 4] = [&["bernoulli"], &["binomial"], &["negative-binomial"], &["multinomial"]];

/// The cell of row n and local column j of block b; `None` where missing.
fn logistic(model: &Model, state: &State, b: usize, n: usize, j: usize) -> Option<Logistic> {
    let block = &model.blocks()[b];
    let row = &model.y().row(n)[block.columns.clone()];
    let a = row[j];
    let (b, xi) = match block.family.name() {
        "bernoulli" => (1.0, 0.0),
        "binomial" => (trials(n, j), 0.0),
        "negative-binomial" => (a + state.theta[b].values[(0, j)], 0.0),
        _ => {
            let f = &state.f.row(n)[block.columns.clone()];
            let others = f.iter().enumerate().filter(|&(k, _)| k != j).map(|(_, f)| f.exp());
            (row.iter().sum(), others.sum::<f64>().ln())
        }
    };
    (!a.is_nan()).then_some(Logistic { a, b, xi })
}

/// Local columns of block b that have weights.
fn free_columns(model: &Model, b: usize) -> Vec<usize> {
    let range = model.blocks()[b].columns.clone();
    range.clone().filter(|&j| model.is_free(j)).map(|j| j - range.start).collect()
}

#[test]
fn weights_given_omega_match_the_augmented_joint() {
    for (mut case, b) in LOGISTIC.iter().flat_map(|names| blocks_of(names)) {
        for j in free_columns(&case.model, b) {
            let rows = case.model.rows();
            let global = case.model.blocks()[b].columns.start + j;
            let cells: Vec<_> = (0..rows).map(|n| logistic(&case.model, &case.state, b, n, j)).collect();
            let omega: Vec<f64> =
                cells.iter().map(|c| if c.is_some() { gamma(2.0, 5.0, &mut case.rng) } else { 0.0 }).collect();
            let kappa: Vec<f64> = cells.iter().map(|c| c.as_ref().map_or(0.0, Logistic::kappa)).collect();
            let xi: Vec<f64> = cells.iter().map(|c| c.as_ref().map_or(0.0, |c| c.xi)).collect();
            let known: Vec<f64> = case.model.offset().iter().zip(&xi).map(|(o, xi)| o - xi).collect();
            let conditional = |state: &State| {
                in_column(&case.model, state, b, j, |column| {
                    let law = weights_given_omega(column, &omega, &kappa, &known).unwrap();
                    law.ln_density(&column.beta)
                })
            };
            // ln p(β) + Σ_n (κψ − ½ωψ²).
            let augmented = |state: &State| {
                let of_row = |n: usize| {
                    let psi = state.f[(n, global)] - xi[n];
                    kappa[n] * psi - 0.5 * omega[n] * psi * psi
                };
                joint::ln_weights(&case.model, state) + (0..rows).map(of_row).sum::<f64>()
            };
            let moved = with_moved_weights(&case.model, &case.state, global, &mut case.rng);
            let what = format!("{}, column {j}", case.name);
            assert_same(
                conditional(&moved) - conditional(&case.state),
                augmented(&moved) - augmented(&case.state),
                &what,
            );
        }
    }
}

#[test]
fn omega_integrates_out_to_the_family() {
    // e^{κψ} 2^{−b} E[e^{−ωψ²/2}], ω ~ PG(b, 0), is e^{aψ}/(1+e^ψ)^b: equal to the family's, up to a constant in f_j.
    for (mut case, b) in LOGISTIC.iter().flat_map(|names| blocks_of(names)) {
        let block = case.model.blocks()[b].clone();
        for n in 0..case.model.rows() {
            for j in free_columns(&case.model, b) {
                let Some(cell) = logistic(&case.model, &case.state, b, n, j) else { continue };
                let f = case.state.f.row(n)[block.columns.clone()].to_vec();
                let mut moved = f.clone();
                moved[j] += normal(&mut case.rng);
                let row = case.model.row(&block, n, &case.state.theta[b]);
                let family = block.family.ln_density(row, &moved) - block.family.ln_density(row, &f);
                let law = PolyaGamma::new(cell.b, 0.0).unwrap();
                let mixture = |f: f64| {
                    let psi = f - cell.xi;
                    cell.kappa() * psi + law.laplace(0.5 * psi * psi).ln()
                };
                assert_same(mixture(moved[j]) - mixture(f[j]), family, &case.name);
                let direct = |f: f64| cell.a * (f - cell.xi) - cell.b * softplus(f - cell.xi);
                assert_same(direct(moved[j]) - direct(f[j]), family, &case.name);
            }
        }
    }
}

#[test]
fn omega_given_psi_is_the_tilted_law() {
    // PG(b, c) is PG(b, 0) tilted by e^{−ωc²/2}: what makes PG(b, ψ) the conditional of ω.
    let mut rng = rflvm::internal::rng::Stream::new(8).rng();
    for _ in 0..50 {
        let (b, c, t) = (gamma(1.5, 0.3, &mut rng), 2.0 * normal(&mut rng), rng.random_range(0.01..3.0));
        let plain = PolyaGamma::new(b, 0.0).unwrap();
        let tilted = PolyaGamma::new(b, c).unwrap();
        let ratio = plain.laplace(t + 0.5 * c * c) / plain.laplace(0.5 * c * c);
        assert_same(tilted.laplace(t).ln(), ratio.ln(), "PG");
    }
}

/// A column whose β and f have been moved, which a fit must not depend on.
fn disturbed<'a>(column: &Column<'a>, rng: &mut StreamRng) -> Column<'a> {
    Column {
        y: column.y.clone(),
        offset: column.offset.clone(),
        f: near(&column.f, 1.0, rng),
        beta: near(&column.beta, 1.0, rng),
        theta: column.theta.clone(),
        precision: column.precision.clone(),
        ..*column
    }
}

#[test]
fn poisson_fit_does_not_see_the_weights_it_moves() {
    // The slice along the fitted ellipse is exact only if the fit is the same before and after the move.
    for (mut case, b) in blocks_of(&["poisson"]) {
        for j in 0..case.model.blocks()[b].columns.len() {
            in_column(&case.model, &case.state, b, j, |column| {
                let other = disturbed(column, &mut case.rng);
                let (here, there) = (poisson::fit(column).unwrap(), poisson::fit(&other).unwrap());
                for at in [&column.beta, &other.beta] {
                    assert!(here.ln_density(at) == there.ln_density(at), "{}", case.name);
                }
            });
        }
    }
}
