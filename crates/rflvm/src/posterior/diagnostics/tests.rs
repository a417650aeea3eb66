//! Known answers from ArviZ 0.23.4 with NumPy 2.4.6 and SciPy 1.17.1; those of ArviZ 1.3.0 differ at most in the last digits.
//! `tests/arviz.rs` calls ArviZ itself.

use super::*;

/// Autoregressive chains that any language can reproduce to the last bit: x ← x/2 + u − 1/2, with u from a congruential generator
/// (Numerical Recipes') seeded by the chain's number.
fn series(chains: u32, draws: usize) -> Vec<Vec<f64>> {
    let chain = |seed: u32| {
        let (mut word, mut x) = (seed, 0.0);
        let next = move || {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            x = 0.5 * x + f64::from(word) / 4_294_967_296.0 - 0.5;
            x
        };
        std::iter::repeat_with(next).take(draws).collect()
    };
    (1..=chains).map(chain).collect()
}

/// The same with each draw transformed by a function of the chain's number, from 0, and the value.
fn each(chains: u32, draws: usize, f: impl Fn(f64, f64) -> f64) -> Vec<Vec<f64>> {
    let chain = |(c, values): (usize, Vec<f64>)| values.into_iter().map(|v| f(c as f64, v)).collect();
    series(chains, draws).into_iter().enumerate().map(chain).collect()
}

/// Mean, sd, mcse of the mean, mcse of the sd, bulk size, tail size, R̂.
fn assert_known(chains: &[Vec<f64>], known: [f64; 7]) {
    let d = diagnose(chains);
    let found = [d.mean, d.sd, d.mcse_mean, d.mcse_sd, d.ess_bulk, d.ess_tail, d.r_hat];
    for (found, known) in found.into_iter().zip(known) {
        let same = found == known || (found.is_nan() && known.is_nan());
        assert!(same || (found - known).abs() <= 1e-8 * known.abs(), "{found} for {known} in {d:?}");
    }
}

#[test]
fn four_chains() {
    let known = [
        0.012720808030817632,
        0.32665662074505836,
        0.026853571525777675,
        0.011702863174388543,
        145.84936240704852,
        233.77400107173167,
        1.002376598035546,
    ];
    assert_known(&series(4, 100), known);
}

#[test]
fn one_chain_has_no_r_hat() {
    let known = [
        -0.0032776976555347415,
        0.32979801611606696,
        0.03964948886293503,
        0.016005277552566876,
        69.38320352672639,
        135.97033374536463,
        f64::NAN,
    ];
    assert_known(&series(1, 200), known);
}

#[test]
fn the_middle_of_an_odd_length_is_left_out() {
    let known = [
        -0.054651836330120336,
        0.3238072480436647,
        0.05117574593300076,
        0.024222999033560892,
        39.20393874810955,
        61.92256272245852,
        1.0109201237539787,
    ];
    assert_known(&series(3, 37), known);
}

#[test]
fn ties() {
    let known = [
        -0.6291666666666667,
        1.3660495426078572,
        0.1481483975418897,
        0.0702845453087355,
        84.73025841586754,
        119.3923491090018,
        1.0257867130916363,
    ];
    assert_known(&each(4, 60, |_, v| (4.0 * v).floor()), known);
}

#[test]
fn chains_of_different_means() {
    let known = [
        0.38772080803081765,
        0.42299252370854434,
        0.12988489619699328,
        0.030482963731611305,
        10.641096464361217,
        47.37944617269004,
        1.3303099526589202,
    ];
    assert_known(&each(4, 100, |c, v| v + 0.25 * c), known);
}

#[test]
fn chains_of_different_spread() {
    let known = [
        0.018073068585587996,
        0.575574111776938,
        0.11621208142921341,
        0.14228052185761547,
        24.762132048768578,
        16.029066039752074,
        1.2306675267057563,
    ];
    assert_known(&each(2, 50, |c, v| v * (1.0 + c)), known);
}

#[test]
fn draws_that_are_all_the_same() {
    let known = [0.5, 0.0, 0.0, f64::NAN, 96.0, 96.0, f64::NAN];
    assert_known(&each(4, 25, |_, _| 0.5), known);
}

#[test]
fn chains_that_stand_still_apart() {
    let known =
        [0.5, 0.5063696835418333, 0.2773500981126146, 0.0, 3.3333333333333335, 3.3333333333333335, f64::INFINITY];
    assert_known(&each(2, 20, |c, _| c), known);
}

#[test]
fn three_draws_tell_nothing() {
    let known = [-0.24744457315925197, 0.09307187112609258, f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN];
    assert_known(&series(2, 3), known);
}

#[test]
fn four_draws() {
    let known = [
        -0.1624768467117974,
        0.1778333571523007,
        0.06616110045100723,
        0.03429453216649037,
        7.224719895935548,
        7.224719895935548,
        1.5174789646651496,
    ];
    assert_known(&series(2, 4), known);
}

#[test]
fn five_draws_of_one_chain() {
    let known = [
        -0.1780885651765857,
        0.19960503090358384,
        0.1286238792191349,
        0.06785836063823011,
        2.4082399653118496,
        2.4082399653118496,
        f64::NAN,
    ];
    assert_known(&series(1, 5), known);
}

#[test]
fn eleven_draws() {
    let known = [
        -0.13253553189512826,
        0.2249176697098743,
        0.044408080667812634,
        0.0210131109799811,
        26.020599913279625,
        25.925925925925945,
        0.9353430239113512,
    ];
    assert_known(&series(2, 11), known);
}

#[test]
fn what_cannot_be_said_is_not_a_number() {
    let unknown = |d: Diagnosis| [d.mcse_mean, d.mcse_sd, d.ess_bulk, d.ess_tail, d.r_hat].iter().all(|v| v.is_nan());
    let mut chains = series(2, 50);
    assert!(!unknown(diagnose(&chains)));
    assert!(unknown(diagnose(&[&chains[0], &chains[1][..49]])));
    chains[1][7] = f64::NAN;
    assert!(unknown(diagnose(&chains)));
    assert!(unknown(diagnose::<Vec<f64>>(&[])));
    assert!(unknown(diagnose(&[Vec::new(), Vec::new()])));
}

#[test]
fn quantiles_are_those_of_numpy() {
    // numpy.quantile, 2.4.6, of 0, 1, 4, 9, 16, 25, 36.
    let sorted: Vec<f64> = (0..7).map(|i| f64::from(i * i)).collect();
    for (p, known) in [
        (0.0, 0.0),
        (0.05, 0.30000000000000004),
        (0.3, 3.3999999999999995),
        (0.5, 9.0),
        (0.95, 32.69999999999999),
        (1.0, 36.0),
    ] {
        assert_eq!(quantile(&sorted, p), known, "{p}");
    }
    assert!(quantile(&[], 0.5).is_nan());
    // Between equal draws the quantile is that draw, to the last bit.
    assert!((0..100).all(|i| quantile(&[0.1; 7], f64::from(i) / 99.0) == 0.1));
}
