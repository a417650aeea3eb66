//! Placements against quadrature, against the truth of simulated rows, and through a fit on disk.

use super::*;
use crate::device::plain::OnHost;
use crate::draws::{Chains, Draw, Draws, Kept, Memory, Source, Stats};
use crate::linalg::Cholesky;
use crate::model::family::{Binomial, Family, Gaussian, Multinomial, NegativeBinomial, Poisson, Trials};
use crate::model::{Amplitude, ColumnProcess, ModelSpec, State};
use crate::observations::{Observations, Times};
use crate::posterior::align;
use crate::posterior::tests::fixture::{fit, open};
use crate::simulate;
use std::sync::Arc;

/// Rows of four families, two columns each, from the prior, and the parameters that generated them.
fn simulated(rows: usize, dim: usize, seed: u64) -> (Model, Parameters) {
    let (model, state) = simulated_state(rows, dim, seed);
    (model, parameters(state))
}

fn simulated_state(rows: usize, dim: usize, seed: u64) -> (Model, State) {
    let families: [Arc<dyn Family>; 4] = [
        Arc::new(Poisson),
        // Noise and signal alike: a grid of quadrature must see every hill.
        Arc::new(Gaussian::independent(1.0, 0.1)),
        Arc::new(NegativeBinomial::default()),
        Arc::new(Binomial::new(Trials::Same(3))),
    ];
    let mut spec = ModelSpec { latent_dim: dim, features: 12, ..ModelSpec::default() };
    spec.priors.amplitude = Some(Amplitude::Fixed(1.0));
    let blocks = families.into_iter().map(|family| (2, family)).collect();
    let mut model = simulate::blank(rows, blocks, 1, spec).unwrap();
    let state = simulate::draw_prior(&model, Stream::new(seed)).unwrap();
    model.set_values(&simulate::draw_data(&model, &state, Stream::new(seed)));
    (model, state)
}

fn parameters(state: State) -> Parameters {
    let (x, w) = (state.features.x().clone(), state.features.w().clone());
    let s = state.features.plain().s();
    let (axes, column_process) = (Vec::new(), ColumnProcess::default());
    Parameters { x, w, s, beta: state.beta, theta: state.theta, axes, column_process }
}

/// New rows, in the order of the table.
fn new_rows(model: &Model, y: &Mat) -> NewRows {
    let families = model.blocks().iter().map(|b| b.family.clone()).collect();
    NewRows {
        model: model.with_rows(y, (vec![0.0; y.rows()], Mat::zeros(y.rows(), 0)), families).unwrap(),
        times: None,
        own: Vec::new(),
        open: None,
    }
}

/// The same rows repeated, the first row with a missing cell.
fn repeated(model: &Model, rows: &[usize], times: usize) -> NewRows {
    let hole = |i: usize, j: usize| i < times && j == 3;
    let y = |i: usize, j: usize| if hole(i, j) { f64::NAN } else { model.y()[(rows[i / times], j)] };
    new_rows(model, &Mat::from_fn(rows.len() * times, model.columns(), y))
}

/// Mean, second moments and ln p(y) by the midpoint rule on a grid of the prior's coordinates.
struct Quadrature {
    mean: Vec<f64>,
    second: Vec<f64>,
    ln_evidence: f64,
}

fn quadrature(new: &Model, given: &Parameters, prior: (&[f64], &[f64])) -> Quadrature {
    let (dim, reach) = (given.x.cols(), 6.5);
    let step = if dim == 1 { 0.002 } else { 0.04 };
    let side = (2.0 * reach / step) as usize;
    let point = |k: usize| (k as f64 + 0.5) * step - reach;
    let (mut total, mut mean, mut second) = (0.0, vec![0.0; dim], vec![0.0; dim]);
    let mut top = f64::NEG_INFINITY;
    let rows = if dim == 1 { 1 } else { side };
    for a in 0..rows {
        let u: Vec<Vec<f64>> =
            (0..side).map(|b| if dim == 1 { vec![point(b)] } else { vec![point(a), point(b)] }).collect();
        let x = Mat::from_fn(side, dim, |b, d| prior.0[d] + prior.1[d] * u[b][d]);
        let f = given.f(x.clone(), &vec![0.0; side], Mat::zeros(side, 0));
        for b in 0..side {
            let ln_prior: f64 = u[b].iter().map(|&u| crate::dist::ln_normal(u, 0.0, 1.0)).sum();
            let value = ln_prior + new.ln_density_row(&given.theta, 0, f.row(b));
            if value > top {
                let shrink = (top - value).exp();
                total *= shrink;
                mean.iter_mut().chain(&mut second).for_each(|m| *m *= shrink);
                top = value;
            }
            let weight = (value - top).exp();
            total += weight;
            for d in 0..dim {
                mean[d] += weight * x[(b, d)];
                second[d] += weight * x[(b, d)].powi(2);
            }
        }
    }
    mean.iter_mut().chain(&mut second).for_each(|m| *m /= total);
    Quadrature { mean, second, ln_evidence: top + total.ln() + dim as f64 * step.ln() }
}

/// Whether independent values have this mean, to four standard errors.
fn assert_mean(what: &str, values: &[f64], truth: f64) {
    let (mean, sd) = crate::posterior::spread::mean_and_sd(values);
    let error = sd / (values.len() as f64).sqrt();
    assert!((mean - truth).abs() < 4.0 * error, "{what}: {mean} ± {error} for {truth}");
}

#[test]
fn positions_and_evidence_agree_with_quadrature() {
    const TIMES: usize = 5000;
    for (dim, seed) in [(1, 3), (1, 4), (2, 5), (2, 6)] {
        let (model, given) = simulated(8, dim, seed);
        let new = repeated(&model, &[2], TIMES);
        let positions = Positions::new(&new.model, &given.theta, &given.beta, (&given.w, given.s));
        let anchors = Anchors::new(&given, 0, Stream::new(seed));
        // A row without a time, and one whose path is more informative: its own position is typical of it.
        let sd = [0.3, 1.2];
        let mean: Vec<f64> = (0..dim).map(|d| given.x[(2, d)] + 0.8 * sd[d]).collect();
        for (mean, sd) in [(vec![0.0; dim], [1.0, 1.0]), (mean, sd)] {
            let prior = (&mean[..], &sd[..dim]);
            let truth = quadrature(&new.model, &given, prior);
            let each = par::map(TIMES, usize::MAX, |n| {
                let target = Target { positions: &positions, row: n, prior: Prior { mean: prior.0, sd: prior.1 } };
                let mut scratch = positions.scratch();
                let starts = anchors.starts(&target, &mut scratch);
                place(&target, starts, &mut scratch, Stream::new(seed).at(n as u64)).unwrap()
            });
            for d in 0..dim {
                let along: Vec<f64> = each.iter().map(|row| row.x[d]).collect();
                assert_mean("mean", &along, truth.mean[d]);
                let squares: Vec<f64> = along.iter().map(|x| x * x).collect();
                assert_mean("second moment", &squares, truth.second[d]);
            }
            let ratios: Vec<f64> = each.iter().map(|row| (row.ln_evidence - truth.ln_evidence).exp()).collect();
            assert_mean("evidence", &ratios, 1.0);
            // The proposal covers the modes: estimates hardly differ.
            assert!(crate::posterior::spread::mean_and_sd(&ratios).1 < 0.3);
        }
    }
}

/// The information of a cell is exact on a device, where that of a family may be a difference quotient: proposals differ a little, so a few rows choose another
/// draw, and all others are close. What they estimate is the same.
#[test]
fn rows_on_a_device_are_placed_almost_as_here_whatever_their_family() {
    const TIMES: usize = 2000;
    let categories = |blocks: Vec<(usize, Arc<dyn Family>)>| {
        let spec = ModelSpec { latent_dim: 2, features: 12, ..ModelSpec::default() };
        let mut model = simulate::blank(8, blocks, 6, spec).unwrap();
        let state = simulate::draw_prior(&model, Stream::new(8)).unwrap();
        model.set_values(&simulate::draw_data(&model, &state, Stream::new(8)));
        (model, parameters(state))
    };
    let alone: Vec<(usize, Arc<dyn Family>)> = vec![(5, Arc::new(Multinomial))];
    let beside: Vec<(usize, Arc<dyn Family>)> =
        vec![(3, Arc::new(Multinomial)), (1, Arc::new(NegativeBinomial::default())), (4, Arc::new(Multinomial))];
    for ((model, given), hole) in [
        (simulated(8, 1, 3), Some(3)),
        (simulated(8, 2, 5), Some(3)),
        (simulated(8, 2, 6), None),
        (categories(alone), None),
        (categories(beside), None),
    ] {
        let y = |_, j: usize| if hole == Some(j) { f64::NAN } else { model.y()[(2, j)] };
        let new = new_rows(&model, &Mat::from_fn(TIMES, model.columns(), y));
        let dim = given.x.cols();
        let here = placed(&model, (&new, &new.keys()), 0..TIMES, &given, Stream::new(9)).unwrap();
        let device = &mut OnHost::new(&new.model);
        let there = there::placed(device, &model, (&new, &new.keys()), 0..TIMES, &given, Stream::new(9)).unwrap();
        let is_close = |(here, there): &(&Placed, &Placed)| {
            let apart = here.x.iter().zip(&there.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            apart < 1e-2 && (here.ln_evidence - there.ln_evidence).abs() < 1e-2
        };
        let close = here.iter().zip(&there).filter(is_close).count();
        assert!(close > TIMES * 99 / 100, "{close} of {TIMES}");
        let truth = quadrature(&new.model, &given, (&vec![0.0; dim], &vec![1.0; dim])).ln_evidence;
        let ratios: Vec<f64> = there.iter().map(|row| (row.ln_evidence - truth).exp()).collect();
        assert_mean("evidence", &ratios, 1.0);
        assert!(crate::posterior::spread::mean_and_sd(&ratios).1 < 0.3);
    }
}

/// Where the information of cells is exact here too, a device places rows as they are placed here.
#[test]
fn rows_on_a_device_are_placed_as_here() {
    let families: Vec<(usize, Arc<dyn Family>)> = vec![(12, Arc::new(Gaussian::default()))];
    let spec = ModelSpec { features: 16, ..ModelSpec::default() };
    let mut model = simulate::blank(60, families, 1, spec).unwrap();
    let state = simulate::draw_prior(&model, Stream::new(3)).unwrap();
    model.set_values(&simulate::draw_data(&model, &state, Stream::new(3)));
    let given = parameters(state);
    // Missing cells, and a row without any.
    let y = |n: usize, j: usize| if (n + j).is_multiple_of(7) || n == 4 { f64::NAN } else { model.y()[(n, j)] };
    let new = new_rows(&model, &Mat::from_fn(60, 12, y));
    let some = 2..57;
    let here = placed(&model, (&new, &new.keys()), some.clone(), &given, Stream::new(1)).unwrap();
    let there =
        there::placed(&mut OnHost::new(&new.model), &model, (&new, &new.keys()), some, &given, Stream::new(1)).unwrap();
    assert_eq!(here.len(), there.len());
    for (n, (here, there)) in here.iter().zip(&there).enumerate() {
        let apart = here.x.iter().zip(&there.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-7, "row {n}: {:?} for {:?}", there.x, here.x);
        let (a, b) = (here.ln_evidence, there.ln_evidence);
        assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()), "row {n}: {b} for {a}");
    }
}

/// Rows simulated from the model and placed with the parameters that generated them: the truth is one more draw of their posterior, so
/// its rank among the draws is uniform, and its squared distance from their mean, in units of their covariance, is D on average.
#[test]
fn simulated_rows_are_where_their_truth_is() {
    const ROWS: usize = 600;
    const TIMES: usize = 39;
    let (model, given) = simulated(ROWS, 2, 11);
    // No missing cells here: the truth belongs to whole rows.
    let y = Mat::from_fn(ROWS * TIMES, 8, |i, j| model.y()[(i / TIMES, j)]);
    let new = new_rows(&model, &y);
    let placed = placed(&model, (&new, &new.keys()), 0..new.model.rows(), &given, Stream::new(12)).unwrap();
    let x = Mat::from_vec(ROWS * TIMES, 2, placed.iter().flat_map(|row| row.x.clone()).collect());
    let of_draws = given.f(x.clone(), &vec![0.0; ROWS * TIMES], Mat::zeros(ROWS * TIMES, 0));
    let of_truth = given.f(given.x.clone(), &[0.0; ROWS], Mat::zeros(ROWS, 0));
    let mut distances = Vec::new();
    let mut ranks = [[0.0; 20]; 3];
    for n in 0..ROWS {
        let draws = n * TIMES..(n + 1) * TIMES;
        let below = |truth: f64, of: &dyn Fn(usize) -> f64| draws.clone().filter(|&i| of(i) < truth).count() / 2;
        ranks[0][below(given.x[(n, 0)], &|i| x[(i, 0)])] += 1.0;
        ranks[1][below(given.x[(n, 1)], &|i| x[(i, 1)])] += 1.0;
        ranks[2][below(of_truth[(n, 2)], &|i| of_draws[(i, 2)])] += 1.0;
        let mut moments = RowMoments::new(1, 2);
        draws.for_each(|i| moments.add(&Mat::from_vec(1, 2, x.row(i).to_vec()), |_| 1.0));
        let own = moments.embedding();
        let mut apart: Vec<f64> = (0..2).map(|d| given.x[(n, d)] - own.mean[(0, d)]).collect();
        Cholesky::new(&own.covariance[0], "test").unwrap().solve_lower(&mut apart);
        distances.push(target::square(&apart));
    }
    // χ² with 19 degrees of freedom; one in a thousand exceeds this.
    for ranks in ranks {
        let expected = ROWS as f64 / 20.0;
        let chi: f64 = ranks.iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(chi < 43.8, "{chi}: {ranks:?}");
    }
    // For a truth and n draws that are all normal, with the covariance over n: D (n+1)/n · n/(n−D−2).
    let count = TIMES as f64;
    assert_mean("distance", &distances, 2.0 * (count + 1.0) / (count - 4.0));
}

/// Draws of two kinds, of which one explains the new row better: both count by p(y | W, β, θ), by quadrature, for its position and for its hidden cell.
#[test]
fn draws_count_by_how_well_they_explain_the_row() {
    const DRAWS: usize = 4000;
    let (model, state) = simulated_state(8, 1, 3);
    let mut other = state.clone();
    other.beta.as_mut_slice().iter_mut().for_each(|b| *b *= -0.5);
    let hidden = 3;
    let new = new_rows(&model, &Mat::from_fn(1, 8, |_, j| if j == hidden { f64::NAN } else { model.y()[(2, j)] }));
    let fitted = |kinds: &[&State]| {
        let mut chain = Memory::default();
        for i in 0..DRAWS {
            let (state, cells, axis_information) = (kinds[i % kinds.len()], vec![0.0; 10], Vec::new());
            let (ln_likelihood, ln_joint, stats) = (0.0, 0.0, Stats::default());
            chain
                .push(&Draw { model: &model, state, cells, ln_likelihood, ln_joint, axis_information, stats })
                .unwrap();
        }
        let store = Chains(vec![chain]);
        let fitted =
            Fitted { store: &store, model: &model, used: &[0], modes: &[], is_pooled: false, stream: Stream::new(1) };
        let placed = fitted.transform(&new, DRAWS, |_, _| ()).unwrap().embedding;
        let cell = fitted.predict_new(&new, DRAWS).unwrap()[0][hidden];
        let mut tables = Vec::new();
        fitted.replicas_new(&new, DRAWS / 4, |_, table| tables.push(table[(0, hidden)])).unwrap();
        let replica = crate::posterior::spread::mean_and_sd(&tables).0;
        [(placed.mean[(0, 0)], placed.covariance[0][(0, 0)].sqrt()), (cell.mean, cell.sd), (replica, cell.sd)]
    };
    let ln_evidence = |state: &State| quadrature(&new.model, &parameters(state.clone()), (&[0.0], &[1.0])).ln_evidence;
    let share = 1.0 / (1.0 + (ln_evidence(&other) - ln_evidence(&state)).exp());
    let (one, two, both) = (fitted(&[&state]), fitted(&[&other]), fitted(&[&state, &other]));
    for (i, ((one, two), both)) in one.into_iter().zip(two).zip(both).enumerate() {
        let expected = share * one.0 + (1.0 - share) * two.0;
        // As many draws as tables, of which half at least are of one kind.
        let error = one.1.max(two.1).max(both.1) / (DRAWS as f64 / 8.0).sqrt();
        let equal = 0.5 * (one.0 + two.0);
        assert!((both.0 - expected).abs() < 4.0 * error, "{i}: {} ± {error} for {expected}", both.0);
        assert!(
            (equal - expected).abs() > 8.0 * error,
            "{i}: equal weights cannot be told apart: {equal}, {expected}, {share}"
        );
    }
}

/// A fit on disk whose rows return as new ones, with the frame, the draws and the scores.
fn on_disk(name: &str) -> (Model, std::path::PathBuf) {
    let families: Vec<(usize, Arc<dyn Family>)> = vec![(12, Arc::new(Poisson)), (12, Arc::new(Gaussian::default()))];
    let spec = ModelSpec { features: 16, ..ModelSpec::default() };
    let mut model = simulate::blank(40, families, 1, spec).unwrap();
    let state = simulate::draw_prior(&model, Stream::new(3)).unwrap();
    model.set_values(&simulate::draw_data(&model, &state, Stream::new(3)));
    let path = fit(&model, name, &Kept::DEFAULT);
    (model, path)
}

#[test]
fn rows_of_the_fit_come_back_to_where_they_are() {
    let (model, path) = on_disk("transform-back");
    let store = open(&path);
    let fitted =
        Fitted { store: &store, model: &model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1) };
    let new = new_rows(&model, model.y());
    let mut draws: Vec<Mat> = Vec::new();
    let found = fitted.transform(&new, 1000, |i, x| {
        assert_eq!(i, draws.len());
        draws.push(x.clone());
    });
    let found = found.unwrap();
    let mut own: Vec<Mat> = Vec::new();
    for chain in 0..2 {
        store.each("posterior/x", chain, &mut |x| own.push(Mat::from_vec(40, 2, x.to_vec()))).unwrap();
    }
    let embedding = align::align(&own.iter().collect::<Vec<_>>());
    assert_eq!(draws.len(), own.len());
    // In the frame of the embedding, and near the rows' own means, in units of their own standard deviations.
    let (mut distances, mut ratios) = (Vec::new(), Vec::new());
    for n in 0..40 {
        // Each weight is met to within one draw, whose number has a variance of at most a quarter.
        let (mean, sd) = (found.embedding.mean[(n, 0)], found.embedding.covariance[n][(0, 0)].sqrt());
        let of_draws = draws.iter().map(|x| x[(n, 0)]).sum::<f64>() / draws.len() as f64;
        assert!((of_draws - mean).abs() < 2.0 * sd / (draws.len() as f64).sqrt(), "{of_draws} for {mean} ± {sd}");
        let square = draws.iter().map(|x| (x[(n, 1)] - found.embedding.mean[(n, 1)]).powi(2)).sum::<f64>();
        ratios.push(square / draws.len() as f64 / found.embedding.covariance[n][(1, 1)]);
        let mut apart: Vec<f64> = (0..2).map(|d| embedding.mean[(n, d)] - found.embedding.mean[(n, d)]).collect();
        Cholesky::new(&found.embedding.covariance[n], "test").unwrap().solve_lower(&mut apart);
        distances.push(target::square(&apart));
    }
    assert_mean("covariance of draws", &ratios, 1.0);
    let (mean, sd) = crate::posterior::spread::mean_and_sd(&distances);
    assert!(mean + 4.0 * sd / 40.0_f64.sqrt() < 2.0, "{mean} ± {sd}");
    assert_eq!(found.cells, vec![24; 40]);
    assert!(found.ln_density.iter().all(|v| v.is_finite()));
    // A row unlike any other is more unusual than all of them.
    let odd = Mat::from_fn(2, 24, |n, j| if n == 0 { f64::NAN } else { 40.0 * (j % 2) as f64 });
    let found = fitted.transform(&new_rows(&model, &odd), 1000, |_, _| ()).unwrap();
    assert!(found.outlier_score[1] == 1.0 && found.outlier_score[0].is_nan());
    // For one without cells only the prior is known.
    assert_eq!((found.cells[0], found.ln_density[0]), (0, 0.0));
    std::fs::remove_dir_all(path).unwrap();
}

/// Through a fit on disk, with its frame and the comparison with its rows.
#[test]
fn a_fit_places_rows_on_a_device() {
    let (model, path) = on_disk("transform-device");
    let store = open(&path);
    let fitted =
        Fitted { store: &store, model: &model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1) };
    let new = new_rows(&model, &Mat::from_fn(7, 24, |n, j| if n == j { f64::NAN } else { model.y()[(n, j)] }));
    let open = Opener(Arc::new(|model: &Model, _| Ok(Box::new(OnHost::new(model)) as Box<dyn Device>)));
    let there = NewRows { open: Some(open), ..new.clone() };
    // The information of a Poisson cell is a difference quotient here.
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3 * (1.0 + a.abs()));
    let of = |draws| [&new, &there].map(|new| fitted.transform(new, draws, |_, _| ()).unwrap());
    // Of one draw: the weights of several would multiply the error of the quotient.
    let [here, device] = of(1);
    assert!(close(here.embedding.mean.as_slice(), device.embedding.mean.as_slice()));
    let [here, there] = of(9);
    assert!(close(&here.ln_density, &there.ln_density));
    assert_eq!(here.outlier_score, there.outlier_score);
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (model, path) = on_disk("transform-threads");
    let store = open(&path);
    let fitted =
        Fitted { store: &store, model: &model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1) };
    let new = new_rows(&model, &Mat::from_fn(5, 24, |n, j| model.y()[(n, j)]));
    let by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| fitted.transform(&new, 11, |_, _| ()).unwrap());
        (found.embedding.mean, found.embedding.covariance, found.ln_density, found.outlier_score)
    };
    assert_eq!(by(1), by(2));
    std::fs::remove_dir_all(path).unwrap();
}

/// Rows without cells follow the path of their sequence; those of an unknown sequence, the prior.
#[test]
fn rows_with_times_follow_their_path() {
    let at = |n: usize| Times { at: (0..n).map(|n| n as f64).collect(), sequence: vec![0; n] };
    let data = Observations::new(Mat::from_fn(20, 3, |n, j| ((n * 7 + j * 3) % 11) as f64)).unwrap();
    let spec = ModelSpec { features: 8, ..ModelSpec::default() };
    let model = Model::new(data.with_times(at(20)).unwrap(), Poisson, spec).unwrap();
    let path = fit(&model, "transform-times", &Kept::DEFAULT);
    let store = open(&path);
    let mut given = Stored::open(&store, &model).unwrap().at(0, 5).unwrap();
    given.axes.iter_mut().for_each(|axis| (axis.length_scale, axis.noise) = (0.2, 0.01));
    const TIMES: usize = 500;
    let mut new = new_rows(&model, &Mat::from_fn(2 * TIMES, 3, |_, _| f64::NAN));
    new.times = Some(Times { at: vec![7.5; 2 * TIMES], sequence: (0..2 * TIMES).map(|n| n / TIMES).collect() });
    let placed = placed(&model, (&new, &new.keys()), 0..new.model.rows(), &given, Stream::new(1)).unwrap();
    let dynamics = model.dynamics().unwrap();
    let (mean, sd) = dynamics.expected(&given.axes, &given.x, 0, &[7.5]).unwrap();
    for d in 0..2 {
        let own: Vec<f64> = placed[..TIMES].iter().map(|row| row.x[d]).collect();
        assert_mean("path", &own, mean[(0, d)]);
        let squares: Vec<f64> = own.iter().map(|x| ((x - mean[(0, d)]) / sd[(0, d)]).powi(2)).collect();
        assert_mean("spread of the path", &squares, 1.0);
        let others: Vec<f64> = placed[TIMES..].iter().map(|row| row.x[d].powi(2)).collect();
        assert_mean("unknown path", &others, 1.0);
    }
    let fitted =
        Fitted { store: &store, model: &model, used: &[0], modes: &[], is_pooled: false, stream: Stream::new(1) };
    let known = new_rows(&model, &Mat::from_fn(2, 3, |_, j| j as f64));
    let error = fitted.transform(&known, 5, |_, _| ()).unwrap_err().to_string();
    assert!(error.contains("have times"), "{error}");
    let timed = NewRows { times: Some(Times { at: vec![3.0, 40.0], sequence: vec![0, 1] }), ..known };
    let found = fitted.transform(&timed, 5, |_, _| ()).unwrap();
    assert!(found.ln_density.iter().all(|v| v.is_finite()));
    std::fs::remove_dir_all(path).unwrap();
}
