//! Variances against those of predictors computed row by row.

use super::*;
use crate::draws::Kept;
use crate::posterior::parameters::Stored;
use crate::posterior::tests::fixture::{fit, open};
use crate::posterior::tests::mixed::{model, over_time};
use crate::rng::Stream;

fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
}

/// f at these positions without offsets, of a multinomial as logarithms of shares over their geometric mean.
fn f(model: &Model, parameters: &Parameters, x: &Mat, covariates: &Mat) -> Mat {
    let mut f = parameters.f(x.clone(), &vec![0.0; x.rows()], covariates.clone());
    for block in model.blocks().iter().filter(|block| block.family.name() == "multinomial") {
        for n in 0..f.rows() {
            let shares: Vec<f64> = block.columns.clone().map(|j| f[(n, j)].exp()).collect();
            let total: f64 = shares.iter().sum();
            let geometric = shares.iter().map(|s| (s / total).ln()).sum::<f64>() / shares.len() as f64;
            block.columns.clone().zip(&shares).for_each(|(j, s)| f[(n, j)] = (s / total).ln() - geometric);
        }
    }
    f
}

#[test]
fn variances_are_those_of_predictors_with_one_source() {
    let model = model();
    let path = fit(&model, "effects", &Kept::DEFAULT);
    let store = open(&path);
    let fitted = |used: &'static [usize]| Fitted {
        store: &store,
        model: &model,
        used,
        modes: &[],
        is_pooled: false,
        stream: Stream::new(1),
    };
    let fitted = fitted(&[0, 1]);
    let frame = fitted.frame().unwrap();
    let found = fitted.effects(&frame, &[0..2, 2..3], 3).unwrap();
    let visited = fitted.visited(3).unwrap();
    let mut stored = Stored::open(&store, &model).unwrap();
    let (rows, none) = (model.rows(), Mat::zeros(model.rows(), 3));
    let mut sums = std::collections::HashMap::new();
    for &(chain, draw) in &visited {
        let parameters = stored.at(chain, draw).unwrap();
        let placement = frame.of(&parameters.x, &parameters.w);
        let places = placement.carry(&parameters.x);
        // The map along an axis, averaged over the rows' places along the other, one row at a time.
        let along = |d: usize| {
            let mut mean = Mat::zeros(rows, model.columns());
            for k in 0..rows {
                let moved = Mat::from_fn(rows, 2, |n, e| if e == d { places[(n, d)] } else { places[(k, e)] });
                let there = f(&model, &parameters, &placement.back(&moved), &none);
                mean.as_mut_slice().iter_mut().zip(there.as_slice()).for_each(|(m, f)| *m += f / rows as f64);
            }
            mean
        };
        let map = f(&model, &parameters, &parameters.x, &none);
        let (first, second) = (along(0), along(1));
        let rest = Mat::from_fn(rows, model.columns(), |n, j| map[(n, j)] - first[(n, j)] - second[(n, j)]);
        let origin = Mat::zeros(rows, 2);
        let with = |columns: Range<usize>| {
            let some =
                Mat::from_fn(rows, 3, |n, c| if columns.contains(&c) { model.covariates()[(n, c)] } else { 0.0 });
            f(&model, &parameters, &origin, &some)
        };
        let all = f(&model, &parameters, &parameters.x, model.covariates());
        for (source, values) in [
            (Source::Map, map),
            (Source::Axis(0), first),
            (Source::Axis(1), second),
            (Source::Interaction, rest),
            (Source::Covariates, with(0..3)),
            (Source::Covariate(0), with(0..2)),
            (Source::Covariate(1), with(2..3)),
        ] {
            for j in 0..model.columns() {
                // The Gaussian columns, the last two of the model, have noise.
                let noise = if j < 4 { 0.0 } else { 1.0 / parameters.theta[2].values[(0, j - 4)] };
                let sum = sums.entry(format!("{source:?} {j}")).or_insert([0.0; 2]);
                sum[0] += variance(&values.col(j)) / 3.0;
                sum[1] += variance(&values.col(j)) / (variance(&all.col(j)) + noise) / 3.0;
            }
        }
        for j in 4..6 {
            let noise = 1.0 / parameters.theta[2].values[(0, j - 4)];
            let sum = sums.entry(format!("Noise {j}")).or_insert([0.0; 2]);
            sum[0] += noise / 3.0;
            sum[1] += noise / (variance(&all.col(j)) + noise) / 3.0;
        }
    }
    assert_eq!(found.len(), sums.len());
    for effect in found {
        let name = format!("{:?} {}", effect.source, effect.column);
        let [variance, share] = sums[&name];
        assert!((effect.variance.mean / variance - 1.0).abs() < 1e-8, "{name}: {} {variance}", effect.variance.mean);
        assert!((effect.share.mean / share - 1.0).abs() < 1e-8, "{name}: {} {share}", effect.share.mean);
    }
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn processes_have_their_own_variance_and_other_modes_no_axes() {
    let model = over_time();
    let path = fit(&model, "effects-time", &Kept::DEFAULT);
    let store = open(&path);
    let modes = crate::posterior::stacking::Weighted::by_chains(vec![vec![0], vec![1]]);
    let stream = Stream::new(1);
    let fitted = Fitted { store: &store, model: &model, used: &[0], modes: &modes, is_pooled: true, stream };
    let frame = fitted.frame().unwrap();
    let found = fitted.effects(&frame, &[], 6).unwrap();
    let mut stored = Stored::open(&store, &model).unwrap();
    let visited = fitted.visited(6).unwrap();
    assert!(visited.iter().any(|&(chain, _)| chain == 1));
    let (mut own, mut share, mut first) = (0.0, 0.0, Vec::new());
    for &(chain, draw) in &visited {
        let parameters = stored.at(chain, draw).unwrap();
        let g = variance(&parameters.column_process.g.col(2));
        let rows: Vec<usize> = (0..model.rows()).collect();
        let all = parameters.f_of_rows(&model, &rows).col(2);
        own += g / visited.len() as f64;
        share += g / (variance(&all) + 1.0 / parameters.theta[0].values[(0, 2)]) / visited.len() as f64;
        if chain == 0 {
            let parts = Parts::of(&model, &parameters, Some(&frame));
            first.push(parts.variances(Source::Axis(0), &[])[2]);
        }
    }
    let of = |source: Source| found.iter().find(|e| e.source == source && e.column == 2).unwrap();
    let process = of(Source::Process);
    assert!((process.variance.mean - own).abs() < 1e-10 && own > 0.0, "{process:?}");
    assert!((process.share.mean - share).abs() < 1e-10, "{process:?}");
    assert!(first.len() < visited.len());
    let mean = first.iter().sum::<f64>() / first.len() as f64;
    assert!((of(Source::Axis(0)).variance.mean - mean).abs() < 1e-10);
    assert!(found.iter().all(|effect| !matches!(effect.source, Source::Covariates | Source::Covariate(_))));
    std::fs::remove_dir_all(path).unwrap();
}
