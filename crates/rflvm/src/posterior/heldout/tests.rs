use super::*;
use crate::draws::Stats;
use crate::model::ModelSpec;
use crate::model::family::{Cells, Trials};
use crate::rng::Stream;
use crate::simulate::{blank, draw_data, draw_prior};
use crate::spec::{FAMILIES, about, family};

const TRIALS: u32 = 7;

/// A model of one family with data drawn from it, and the state they were drawn from.
fn drawn(name: &str, rows: usize, columns: usize) -> (Model, State) {
    let trials = about(name).unwrap().cells.have_trials().then_some(Trials::Same(TRIALS));
    let spec = ModelSpec { latent_dim: 1, features: 4, ..ModelSpec::default() };
    let mut model = blank(rows, vec![(columns, family(name, trials).unwrap())], TRIALS, spec).unwrap();
    let state = draw_prior(&model, Stream::new(3).named(name)).unwrap();
    let y = draw_data(&model, &state, Stream::new(4).named(name));
    model.set_values(&y);
    (model, state)
}

fn only(model: &Model, cells: &[(usize, usize)]) -> Mat {
    let mut test = Mat::from_vec(model.rows(), model.columns(), vec![f64::NAN; model.rows() * model.columns()]);
    cells.iter().for_each(|&cell| test[cell] = model.y()[cell]);
    test
}

/// The probabilities of all possible values of a cell sum, or integrate, to one.
#[test]
fn a_cell_of_any_family_has_a_proper_density() {
    for name in FAMILIES {
        let (model, state) = drawn(name, 3, 4);
        if model.blocks()[0].family.is_whole() {
            continue;
        }
        for cell in [(0, 0), (1, 3), (2, 2)] {
            let ln_density = |y: f64| {
                let mut test = only(&model, &[]);
                test[cell] = y;
                TestPoints::new(&model, &test).ln_densities(&model, &state)[0]
            };
            let total: f64 = match about(name).unwrap().cells {
                cells @ (Cells::Real | Cells::Positive) => {
                    // y, or its logarithm, is f + sinh(t)/5: fine steps in the middle, and far into heavy tails.
                    let step = 1e-3;
                    let at = |i: i32| f64::from(i) * step;
                    let f = state.f[cell];
                    let density = |z: f64| match cells {
                        Cells::Positive if z.abs() > 600.0 => 0.0,
                        Cells::Positive => (ln_density(z.exp()) + z).exp(),
                        _ => ln_density(z).exp(),
                    };
                    (-20_000..20_000).map(|i| 0.2 * step * at(i).cosh() * density(f + 0.2 * at(i).sinh())).sum()
                }
                Cells::Levels => (1..=5).map(|y| ln_density(f64::from(y)).exp()).sum(),
                Cells::Binary => (0..2).map(|y| ln_density(f64::from(y)).exp()).sum(),
                Cells::Trials => (0..=TRIALS).map(|y| ln_density(f64::from(y)).exp()).sum(),
                _ => (0..100_000).map(|y| ln_density(f64::from(y)).exp()).sum(),
            };
            assert!((total - 1.0).abs() < 1e-6, "{name} {cell:?}: {total}");
        }
    }
}

/// Cells of a row are independent given f, so a row's density is the product of its cells' densities; a multinomial row is one point.
#[test]
fn cells_multiply_to_their_row() {
    for name in FAMILIES {
        let (model, state) = drawn(name, 3, 4);
        let cells: Vec<(usize, usize)> = (0..4).map(|j| (1, j)).collect();
        let each = TestPoints::new(&model, &only(&model, &cells)).ln_densities(&model, &state);
        assert_eq!(each.len(), if model.blocks()[0].family.is_whole() { 1 } else { 4 });
        let row = model.ln_density_row(&state.theta, 1, state.f.row(1));
        assert!((each.iter().sum::<f64>() - row).abs() < 1e-10, "{name}");
    }
}

/// Two chains of two draws: the score is the log of the mean density over all four, by row.
#[test]
fn the_score_is_the_log_mean_density() {
    let (model, state) = drawn("poisson", 4, 3);
    let cells = [(0, 1), (2, 0), (2, 2)];
    let points = TestPoints::new(&model, &only(&model, &cells));
    let states: Vec<State> = (0..4)
        .map(|s| {
            let mut moved = state.clone();
            moved.f.as_mut_slice().iter_mut().enumerate().for_each(|(i, f)| *f += 0.3 * (s * i % 5) as f64 - 0.5);
            moved
        })
        .collect();
    let chain = |of: &[State]| {
        let mut chain = Heldout::new(&model, &points);
        for state in of {
            let (stats, axis_information) = (Stats::default(), Vec::new());
            let draw = Draw {
                model: &model,
                state,
                cells: Vec::new(),
                ln_likelihood: 0.0,
                ln_joint: 0.0,
                axis_information,
                stats,
            };
            chain.push(&draw).unwrap();
        }
        chain
    };
    let (rows, _) = score(&model, &[chain(&states[..2]), chain(&states[2..])]);
    assert_eq!(rows.points, [1, 0, 2, 0]);
    let expected = |(n, j): (usize, usize)| {
        let density = |s: &State| {
            let (y, f) = (model.y()[(n, j)], s.f[(n, j)]);
            (y * f - f.exp() - crate::dist::ln_gamma(y + 1.0)).exp()
        };
        (states.iter().map(density).sum::<f64>() / 4.0).ln()
    };
    assert!((rows.ln_density[0] - expected((0, 1))).abs() < 1e-10);
    assert!((rows.ln_density[2] - expected((2, 0)) - expected((2, 2))).abs() < 1e-10);
}

#[test]
fn densities_of_any_size_are_summed() {
    let mut sum = LnSum::NONE;
    assert_eq!(sum.ln(), f64::NEG_INFINITY);
    for v in [f64::NEG_INFINITY, -900.0, -1000.0, f64::NEG_INFINITY, -899.0] {
        sum.add(v);
    }
    let expected = -899.0 + (1.0 + (-1.0_f64).exp() + (-101.0_f64).exp()).ln();
    assert!((sum.ln() - expected).abs() < 1e-12);
}
