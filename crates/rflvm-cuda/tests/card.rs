//! Each operation of a card against the same one on this processor, on random models: all laws, missing cells, offsets, covariates, paths, and sizes that are multiples of
//! nothing. Without a card the kernels run on this processor (`stand_in`); `make test-gpu` requires one (RFLVM_REQUIRE_CARD).

use crate::stand_in;
use rflvm::internal::device::categories::Categories;
use rflvm::internal::device::plain::OnHost;
use rflvm::internal::device::{self, ColumnAt, Device, Priors};
use rflvm::internal::hmc::flow::Frame;
use rflvm::internal::hmc::reference::Reference;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{
    Binomial, Family, Gaussian, Generic, Isotropic, Multinomial, NegativeBinomial, Poisson, StudentT, Trials,
    ZeroInflatedPoisson,
};
use rflvm::internal::model::latent::TimeKernel;
use rflvm::internal::model::{Model, ModelSpec, State};
use rflvm::internal::observations::{Observations, Offset, Times};
use rflvm::internal::rng::Stream;
use rflvm::internal::simulate;
use std::sync::Arc;

/// Relative error that float64 sums in another order may have, and that of float32 exponentials and logarithms of cells.
const BOUND: f64 = 1e-10;
const MIXED_BOUND: f64 = 1e-6;

/// A model with a table drawn from it.
fn model(name: &str, rows: usize, features: usize, missing: bool) -> (Model, State) {
    let columns = match name {
        "mixed" => 9,
        "paths" => 8,
        _ => 7,
    };
    // The first column of the set of categories to which a column belongs.
    let set = |j: usize| match (name, j) {
        ("multinomial", _) | ("categories", ..=2) => Some(0),
        ("categories", 4..) => Some(4),
        ("paths", 2..=4) => Some(2),
        _ => None,
    };
    let poisson: Arc<dyn Family> = Arc::new(Poisson);
    let trials = Mat::from_fn(rows, 3, |n, j| 1.0 + ((2 * n + j) % 5) as f64);
    let blocks: Vec<(Vec<usize>, Arc<dyn Family>)> = match name {
        "poisson" => vec![((0..columns).collect(), poisson)],
        "negative-binomial" => vec![((0..columns).collect(), Arc::new(NegativeBinomial::default()))],
        "bernoulli" => vec![((0..columns).collect(), Arc::new(Binomial::bernoulli()))],
        "multinomial" => vec![((0..columns).collect(), Arc::new(Multinomial))],
        "categories" => {
            vec![(vec![0, 1, 2], Arc::new(Multinomial)), (vec![3], poisson), (vec![4, 5, 6], Arc::new(Multinomial))]
        }
        "paths" => vec![
            (vec![0, 1], Arc::new(Gaussian::independent(3.0, 2.0))),
            (vec![2, 3, 4], Arc::new(Multinomial)),
            (vec![5], poisson),
            (vec![6, 7], Arc::new(NegativeBinomial::default())),
        ],
        "isotropic" => vec![((0..columns).collect(), Arc::new(Isotropic(Gaussian::independent(3.0, 2.0))))],
        "student-t" => vec![((0..columns).collect(), Arc::new(StudentT::default()))],
        "zero-inflated-poisson" => vec![((0..columns).collect(), Arc::new(Generic(ZeroInflatedPoisson::default())))],
        _ => vec![
            (vec![0, 1], Arc::new(Gaussian::independent(3.0, 2.0))),
            (vec![2], poisson),
            (vec![3, 4, 5], Arc::new(Binomial::new(Trials::Each(trials)))),
            (vec![6], Arc::new(NegativeBinomial::default())),
            (vec![7], Arc::new(StudentT::default())),
            (vec![8], Arc::new(Generic(ZeroInflatedPoisson::default()))),
        ],
    };
    let y = Mat::from_fn(rows, columns, |n, j| {
        // A row of categories is missing as a whole.
        if missing && (3 * n + set(j).unwrap_or(j)) % 5 == 0 {
            f64::NAN
        } else {
            f64::from(1 + (n + j) as u32 % 2) - f64::from(u8::from(set(j).is_none()))
        }
    });
    let offset = Offset::Given((0..rows).map(|n| 0.3 * (n as f64).sin()).collect());
    let covariates = Mat::from_fn(rows, 2, |n, c| ((n + 3 * c) as f64).cos());
    let data = Observations::new(y).and_then(|data| data.with_offset(offset));
    let mut data = data.and_then(|data| data.with_covariates(covariates, vec!["a".into(), "b".into()])).unwrap();
    let linear = name != "poisson";
    let mut spec = ModelSpec { features, latent_dim: 3, linear, ..ModelSpec::default() };
    if name == "paths" {
        let times = Times { at: (0..rows).map(|n| (n as f64).sqrt()).collect(), sequence: vec![0; rows] };
        data = data.with_times(times).unwrap();
        spec.column_process = Some(TimeKernel::Matern32);
    }
    let mut model = Model::with_blocks(data, blocks, spec).unwrap();
    let mut state = simulate::draw_prior(&model, Stream::new(5)).unwrap();
    // Zero-inflated counts are kept moderate: their log density includes its constants, and for huge counts these cancel nearly all of it. So are rates next to
    // categories: fits of the latter begin far from the rates of their rows, and their equations have a condition to match.
    let shrink = if ["zero-inflated-poisson", "mixed", "categories", "paths"].contains(&name) { 0.1 } else { 0.5 };
    state.beta.as_mut_slice().iter_mut().for_each(|b| *b *= shrink);
    state.column_process.g.as_mut_slice().iter_mut().for_each(|g| *g = g.clamp(-1.0, 1.0));
    state.refresh(&model);
    let y = simulate::draw_data(&model, &state, Stream::new(6));
    model.set_values(&y);
    (model, state)
}

fn assert_close(what: &str, bound: f64, on_card: &[f64], on_host: &[f64]) {
    let size = on_host.iter().map(|v| v.abs()).fold(0.0, f64::max).max(1e-300);
    let error = on_card.iter().zip(on_host).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size;
    println!("    {what:<28} {error:.1e}");
    assert!(error < bound, "{what}: relative error {error:e}");
}

/// The same question to both.
fn both<T>(card: &mut dyn Device, host: &mut dyn Device, ask: impl Fn(&mut dyn Device) -> T) -> [T; 2] {
    [ask(card), ask(host)]
}

fn compare(name: &str, rows: usize, features: usize, missing: bool, is_mixed: bool) {
    let [missing_, mixed] = [(missing, ", missing cells"), (is_mixed, ", mixed precision")]
        .map(|(is_so, words)| if is_so { words } else { "" });
    println!("{name}, {rows} rows, {features} features{missing_}{mixed}");
    let bound = if is_mixed { MIXED_BOUND } else { BOUND };
    let (model, mut state) = model(name, rows, features, missing);
    device::supports(&model).unwrap();
    let reference = Reference::new(&model, &state.theta, model.known(&state), &mut state.f.clone());
    let mut host: Box<dyn Device> = Box::new(OnHost::new(&model));
    let mut card = rflvm_cuda::open(&model, 0, is_mixed).unwrap();
    for device in [&mut card, &mut host] {
        device::load(device.as_mut(), &mut state);
        device.set_reference(&reference);
    }
    let (card, host) = (card.as_mut(), host.as_mut());
    let (columns, width, dim) = (model.columns(), model.width(), model.latent_dim());
    let missing_rows: Vec<bool> = model.y().iter_rows().map(|row| row.iter().all(|y| y.is_nan())).collect();
    let check =
        |what: &str, ask: &dyn Fn(&mut dyn Device) -> Vec<f64>, card: &mut dyn Device, host: &mut dyn Device| {
            let [a, b] = both(card, host, ask);
            assert_close(what, bound, &a, &b);
        };
    assert_eq!(format!("{:?}", card.categories()), format!("{:?}", host.categories()));
    for (set, Categories { totals, .. }) in host.categories().to_vec().into_iter().enumerate() {
        check(
            "sums of rows",
            &|d| {
                let mut out = vec![0.0; rows];
                d.ln_sums(set, &mut out);
                // Of missing rows there are none.
                out.iter().zip(&totals).map(|(sum, total)| if total.is_nan() { 0.0 } else { *sum }).collect()
            },
            card,
            host,
        );
    }
    check("with constants, of categories", &|d| vec![device::totals::ln_likelihood(d, &model)], card, host);
    check(
        "F",
        &|d| {
            let mut f = Mat::zeros(0, 0);
            d.f(&mut f);
            f.into_vec()
        },
        card,
        host,
    );
    check("log-likelihood", &|d| vec![d.ln_lik()], card, host);
    check("with constants", &|d| vec![d.ln_likelihood()], card, host);
    check(
        "of rows",
        &|d| {
            let mut out = vec![0.0; rows];
            d.ln_lik_rows(&mut out);
            out
        },
        card,
        host,
    );
    let some: Vec<u32> = (0..rows as u32).filter(|n| n % 3 == 1).collect();
    let x: Vec<f64> = (0..some.len() * dim).map(|i| (0.7 * i as f64).sin()).collect();
    check(
        "of rows elsewhere",
        &|d| {
            let mut out = vec![0.0; some.len()];
            d.ln_lik_rows_at(&some, &x, &mut out);
            out
        },
        card,
        host,
    );
    // Rows of categories that are missing have no likelihood without rates.
    let mut seen: Vec<u32> = (0..rows as u32).filter(|&n| !missing_rows[n as usize]).collect();
    // Those of columns with column processes are placed on the CPU.
    let parts: [Vec<u32>; 2] = [seen.clone(), seen.drain(..1).collect()];
    for some in parts.into_iter().filter(|_| name != "paths") {
        let x: Vec<f64> = (0..some.len() * dim).map(|i| (0.3 * i as f64).cos()).collect();
        check(
            "of new rows elsewhere",
            &|d| {
                let mut out = vec![0.0; some.len()];
                d.ln_lik_new_rows_at(&some, &x, &mut out);
                out
            },
            card,
            host,
        );
        check(
            "slopes of new rows elsewhere",
            &|d| {
                let mut out = vec![0.0; some.len() * dim * (dim + 3) / 2];
                d.slope_new_rows_at(&some, &x, &mut out);
                out
            },
            card,
            host,
        );
    }
    check(
        "of rows with constants",
        &|d| {
            let mut out = vec![0.0; rows];
            d.ln_density_rows(&mut out);
            out
        },
        card,
        host,
    );
    let w: Vec<f64> = (0..dim).map(|i| 0.4 + 0.3 * i as f64).collect();
    check("at another frequency", &|d| vec![d.ln_lik_frequency(1, &w)], card, host);
    for device in [&mut *card, &mut *host] {
        device.set_frequency(1, &w);
    }
    check("after it was kept", &|d| vec![d.ln_lik()], card, host);
    let at: Vec<ColumnAt> = (0..columns)
        .map(|j| ColumnAt { factor: 0.9, shift: 0.1 * j as f64, theta: [0.5 + 0.2 * j as f64, 3.0 + j as f64] })
        .collect();
    check(
        "of columns elsewhere",
        &|d| {
            let mut out = vec![0.0; columns];
            d.ln_lik_columns(&at, &mut out);
            out
        },
        card,
        host,
    );
    let shares: Vec<f64> = (0..columns).map(|j| if j == 4 { 0.0 } else { 0.3 + 0.1 * j as f64 }).collect();
    check(
        "information of rows",
        &|d| {
            let mut out = vec![0.0; rows];
            d.information_rows(&shares, &mut out);
            out
        },
        card,
        host,
    );
    let due: Vec<u32> = vec![0, 2, 3, 6];
    for device in [&mut *card, &mut *host] {
        device.take_columns(&due);
    }
    let precision = Mat::from_fn(due.len(), width, |k, m| 0.5 + 0.1 * (k + m) as f64);
    let priors = Priors { precision, centre: vec![0.3, -0.2, 0.1, 0.4] };
    let normals = Mat::from_fn(due.len(), width, |k, m| ((k + 2 * m) as f64).sin());
    let from_mean = Mat::from_fn(due.len(), width, |k, m| 0.1 * ((3 * k + m) as f64).cos());
    let fit = |d: &mut dyn Device| d.fit_columns(&priors).into_vec();
    // A fit solves equations, whose condition multiplies the error of a cell. Slices about a fit are exact for any fit.
    let of_fits = if is_mixed { 100.0 * MIXED_BOUND } else { BOUND };
    let check =
        |what: &str, ask: &dyn Fn(&mut dyn Device) -> Vec<f64>, card: &mut dyn Device, host: &mut dyn Device| {
            let [a, b] = both(card, host, ask);
            assert_close(what, of_fits, &a, &b);
        };
    check("fits of columns", &fit, card, host);
    check("fits about them", &fit, card, host);
    let aim = |d: &mut dyn Device| {
        let (directions, squares) = d.aim_columns(&normals, &from_mean);
        [directions.into_vec(), squares.concat()].concat()
    };
    check("directions", &aim, card, host);
    let turns = vec![(0.8, 0.6), (1.0, 0.0), (0.0, 1.0), (-0.6, 0.8)];
    check(
        "of turned columns",
        &|d| {
            let mut out = vec![0.0; 4];
            d.ln_lik_turned(&turns, &mut out);
            out
        },
        card,
        host,
    );
    if name == "poisson" && !is_mixed {
        // Rates beyond what a fit can hold: it is the prior.
        let [left, right] = [(rows, 1, 1.0), (1, columns, 680.0)].map(|(n, j, v)| Mat::from_fn(n, j, |_, _| v));
        let far = Reference { root: vec![1.0; rows], column: vec![1.0; columns], left, right };
        for device in [&mut *card, &mut *host] {
            device.set_reference(&far);
            device.take_columns(&due);
        }
        let [a, b] = both(card, host, fit);
        let centre = |m: usize| if m % width == width - 1 { priors.centre[m / width] } else { 0.0 };
        let away = |mean: &[f64]| mean.iter().enumerate().map(|(m, v)| (v - centre(m)).abs()).fold(0.0, f64::max);
        assert!(away(&a) < 1e-12 && away(&b) < 1e-12, "a fit that overflows");
        for device in [&mut *card, &mut *host] {
            device.set_reference(&reference);
        }
    }
    // Precisions, and the product of the factors, which are unique only up to a rotation.
    for added in [None, Some(2.0)] {
        let refer = |d: &mut dyn Device| {
            d.add_to_sum();
            d.add_to_sum();
            let Reference { root, column, left, right } = d.refer(added);
            let mut z = Mat::zeros(rows, columns);
            rflvm::internal::linalg::par_mul(&mut z, left.view(), right.view(), false);
            [root, column, z.into_vec()]
        };
        let [a, b] = both(card, host, refer);
        // Sums are in single precision.
        let bound = if is_mixed { 1e-5 } else { 1e-6 };
        for (what, (a, b)) in ["rows", "columns", "product"].iter().zip(a.iter().zip(&b)) {
            let away = a.iter().zip(b).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
            println!("    reference, {what:<17} {away:.1e}");
            assert!(away < bound, "reference {added:?} of {what}: {away}");
        }
        for device in [&mut *card, &mut *host] {
            device.set_reference(&reference);
        }
    }
    let slope = |d: &mut dyn Device| {
        let (mut gx, mut gw, mut dbeta) =
            (vec![0.1; rows * dim], vec![0.2; features / 2 * dim], Mat::zeros(width, columns));
        let ln = d.slope(state.features.x(), state.features.w(), 0.7, &state.beta, &mut dbeta, (&mut gx, &mut gw));
        [vec![ln], gx, gw, dbeta.into_vec()]
    };
    let [a, b] = both(card, host, slope);
    ["density", "its slope of X", "its slope of W", "its slope of β"]
        .iter()
        .zip(a.iter().zip(&b))
        .for_each(|(what, (a, b))| assert_close(what, bound, a, b));
    if !is_mixed {
        let fixed = (0..columns).filter(|&j| !model.is_free(j)).collect::<Vec<_>>();
        flow(&reference, &state, &fixed, card);
        flow(&reference, &state, &fixed, host);
    }
    assert_eq!(card.fault(), None);
}

/// A trajectory: its coordinates give back the weights, and its gradient is the slope of its density.
fn flow(reference: &Reference, state: &State, fixed: &[usize], card: &mut dyn Device) {
    let (width, columns) = (state.beta.rows(), state.beta.cols());
    let precision: Vec<f64> = (0..columns).map(|j| 0.5 + 0.3 * j as f64).collect();
    let mut order: Vec<usize> = (0..columns).rev().filter(|c| !fixed.contains(c)).collect();
    let groups = vec![(0..3, 0.8), (3..order.len(), 2.5)];
    order.extend(fixed);
    let scale = |c: &usize| if fixed.contains(c) { 0.0 } else { precision[*c].sqrt().recip() };
    let frame = Frame {
        groups,
        scale: order.iter().map(scale).collect(),
        right: Mat::from_fn(reference.right.rows(), columns, |r, k| reference.right[(r, order[k])]),
        intercept: 0.7,
        order,
        precision,
    };
    let (x, w) = (state.features.x().clone(), state.features.w().clone());
    let flow = card;
    flow.begin(&frame);
    flow.gather(&x, &w, &state.beta, [Stream::new(1), Stream::new(2)]);
    let (mut gx, mut gw) = (vec![0.0; x.as_slice().len()], vec![0.0; w.as_slice().len()]);
    assert!(flow.evaluate(&x, &w, (&mut gx, &mut gw)).is_finite());
    let mut beta = Mat::zeros(width, columns);
    flow.beta(&mut beta);
    assert_close("weights of the noise", BOUND, beta.as_slice(), state.beta.as_slice());
    for i in [0, 5, gx.len() - 1] {
        let mut at = |step: f64| {
            let mut moved = x.clone();
            moved.as_mut_slice()[i] += step;
            flow.evaluate(&moved, &w, (&mut vec![0.0; gx.len()], &mut vec![0.0; gw.len()]))
        };
        let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
        assert!((slope - gx[i]).abs() < 1e-4 * (1.0 + gx[i].abs()), "coordinate {i} of X: {slope} for {}", gx[i]);
    }
    for i in [0, gw.len() - 1] {
        let mut at = |step: f64| {
            let mut moved = w.clone();
            moved.as_mut_slice()[i] += step;
            flow.evaluate(&x, &moved, (&mut vec![0.0; gx.len()], &mut vec![0.0; gw.len()]))
        };
        let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
        assert!((slope - gw[i]).abs() < 1e-3 * (1.0 + gw[i].abs()), "coordinate {i} of W: {slope} for {}", gw[i]);
    }
    // A short trajectory of the noise alone keeps its energy to second order in the step.
    flow.draw_momenta([Stream::new(3), Stream::new(4)]);
    let mut drift = |step: f64| {
        let mut value = || flow.evaluate(&x, &w, (&mut vec![0.0; gx.len()], &mut vec![0.0; gw.len()]));
        let before = value();
        let start = before - flow.energy();
        flow.kick(0.5 * step);
        let mut after = before;
        for i in 0..4 {
            flow.turn(step.sin(), step.cos());
            after = flow.evaluate(&x, &w, (&mut vec![0.0; gx.len()], &mut vec![0.0; gw.len()]));
            flow.kick(if i == 3 { 0.5 * step } else { step });
        }
        (after - flow.energy() - start).abs()
    };
    let (large, small) = (drift(2e-3), drift(2e-4));
    let cells = (2 * (x.rows() + width) * columns) as f64;
    println!("    energy after four steps      {large:.1e} and {small:.1e}");
    assert!(small < 0.05 * large + 1e-7, "energy drifts by {large} and {small}");
    // Noise has the energy of normals, to five standard errors, and the same stream gives the same noise. A quarter turn makes momenta coordinates.
    flow.draw_momenta([Stream::new(5), Stream::new(6)]);
    flow.turn(1.0, 0.0);
    flow.draw_momenta([Stream::new(3), Stream::new(4)]);
    let energy = flow.energy();
    assert!((energy - 0.5 * cells).abs() < 5.0 * (0.5 * cells).sqrt(), "energy {energy} of {cells} numbers");
    flow.draw_momenta([Stream::new(3), Stream::new(4)]);
    assert_eq!(flow.energy(), energy);
}

#[test]
fn a_card_agrees_with_this_processor() {
    stand_in::on_a_card("card::a_card_agrees_with_this_processor", || {
        let laws = [
            ("poisson", false),
            ("negative-binomial", true),
            ("bernoulli", false),
            ("multinomial", true),
            ("isotropic", true),
            ("student-t", true),
            ("zero-inflated-poisson", true),
            ("mixed", true),
            ("categories", true),
            ("paths", true),
        ];
        for (name, missing) in laws {
            compare(name, 37, 6, missing, false);
            compare(name, 311, 22, missing, true);
        }
        compare("mixed", 611, 22, true, false);
        if std::env::var_os("RFLVM_STAND_IN").is_none() {
            compare("negative-binomial", 5003, 100, true, false);
        }
    });
}
