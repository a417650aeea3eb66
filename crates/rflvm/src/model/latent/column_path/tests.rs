//! A column process against dense matrices.

use super::*;
use crate::dist::LN_SQRT_2PI;
use crate::linalg::Cholesky;
use crate::model::latent::TimeSpec;
use crate::observations::Times;

const AMPLITUDE: f64 = 1.7;
const LENGTH_SCALE: f64 = 0.13;
const PERIOD: f64 = 2.5;
const KERNELS: [TimeKernel; 6] = [
    TimeKernel::Matern12,
    TimeKernel::Matern32,
    TimeKernel::Matern52,
    TimeKernel::RandomWalk,
    TimeKernel::IntegratedRandomWalk,
    TimeKernel::Matern12Seasonal,
];

/// Two sequences, irregular and out of order, with two rows at one time.
fn times() -> Times {
    Times {
        at: vec![3.0, 0.5, 4.75, 4.75, 5.0, 1.25, 6.5, 8.0, 2.125, 9.5],
        sequence: vec![0, 1, 0, 0, 1, 1, 0, 1, 0, 1],
    }
}

fn dynamics() -> Dynamics {
    Dynamics::new(times(), TimeSpec { period: Some(PERIOD), ..TimeSpec::default() }).unwrap()
}

/// Covariance of g at the rows and at further times.
fn covariance(kernel: TimeKernel, more: &[(f64, usize)]) -> Mat {
    let Times { at, sequence } = times();
    let places: Vec<(f64, usize)> = at.into_iter().zip(sequence).chain(more.iter().copied()).collect();
    let (span, starts) = (9.0, [2.125, 0.5]);
    Mat::from_fn(places.len(), places.len(), |a, b| {
        let ((t, s), (u, r)) = (places[a], places[b]);
        let between = |start: f64| kernel.between((t - start) / span, (u - start) / span, LENGTH_SCALE, PERIOD / span);
        let k = if s == r { (1.0 - NOISE) * between(starts[s]) } else { 0.0 };
        AMPLITUDE.powi(2) * (k + if a == b { NOISE } else { 0.0 })
    })
}

fn some(count: usize, seed: u64) -> Vec<f64> {
    normals(count, &mut Stream::new(seed).rng())
}

/// Variances of the noise; the third and the last row are not seen.
fn variance() -> Vec<f64> {
    let mut variance: Vec<f64> = some(10, 3).iter().map(|v| 0.2 + v * v).collect();
    (variance[2], variance[9]) = (f64::INFINITY, f64::INFINITY);
    variance
}

/// The rows that are seen, and the factor of their covariance.
fn seen(c: &Mat) -> (Vec<usize>, Cholesky) {
    let variance = variance();
    let seen: Vec<usize> = (0..10).filter(|&n| variance[n].is_finite()).collect();
    let of = |a: usize, b: usize| c[(seen[a], seen[b])] + if a == b { variance[seen[a]] } else { 0.0 };
    let factor = Cholesky::new(&Mat::from_fn(seen.len(), seen.len(), of), "test").unwrap();
    (seen, factor)
}

fn ln_normal(factor: &Cholesky, r: &[f64]) -> f64 {
    let mut solved = r.to_vec();
    factor.solve(&mut solved);
    let square: f64 = solved.iter().zip(r).map(|(s, r)| s * r).sum();
    -0.5 * (square + factor.ln_det()) - r.len() as f64 * LN_SQRT_2PI
}

#[test]
fn densities_are_those_of_the_dense_matrices() {
    let (dynamics, g) = (dynamics(), some(10, 1));
    for kernel in KERNELS {
        let (path, c) = (dynamics.column_path(kernel, LENGTH_SCALE), covariance(kernel, &[]));
        // Two rows at one time differ by noise only: in the density of such a path its square counts a million times.
        let g = path.colour(AMPLITUDE, &g);
        let plain = ln_normal(&Cholesky::new(&c, "test").unwrap(), &g);
        let own = path.ln_density(AMPLITUDE, &g);
        assert!((own - plain).abs() < 1e-6, "{}: {own} for {plain}", kernel.name());
        let (seen, factor) = seen(&c);
        let r: Vec<f64> = seen.iter().map(|&n| g[n]).collect();
        let (filtered, plain) = (path.through(AMPLITUDE, &variance()).ln_density(&g), ln_normal(&factor, &r));
        assert!((filtered - plain).abs() < 1e-9, "{}: {filtered} for {plain}", kernel.name());
    }
}

#[test]
fn whitening_takes_the_root_of_the_covariance() {
    let (dynamics, r) = (dynamics(), some(10, 1));
    let h = Mat::from_vec(10, 4, some(40, 2));
    for kernel in KERNELS {
        let path = dynamics.column_path(kernel, LENGTH_SCALE);
        let through = path.through(AMPLITUDE, &variance());
        let (white, of_r) = (through.whiten_rows(&h), through.whiten(&r));
        let (seen, factor) = seen(&covariance(kernel, &[]));
        for a in 0..4 {
            let mut solved: Vec<f64> = seen.iter().map(|&n| h[(n, a)]).collect();
            factor.solve(&mut solved);
            let plain = |of: &dyn Fn(usize) -> f64| seen.iter().zip(&solved).map(|(&n, s)| of(n) * s).sum::<f64>();
            let product = |of: &dyn Fn(usize) -> f64| (0..10).map(|i| white[(i, a)] * of(i)).sum::<f64>();
            for b in 0..4 {
                assert!((product(&|i| white[(i, b)]) - plain(&|n| h[(n, b)])).abs() < 1e-9);
            }
            assert!((product(&|i| of_r[i]) - plain(&|n| r[n])).abs() < 1e-9);
        }
        let g = path.colour(AMPLITUDE, &r);
        path.whiten(AMPLITUDE, &g).iter().zip(&r).for_each(|(u, r)| assert!((u - r).abs() < 1e-7));
    }
}

/// Mean and covariance of draws, whose error is known.
fn check_draws(mean: &[f64], covariance: &Mat, draw: impl Fn(Stream) -> Vec<f64>) {
    const COUNT: usize = 20_000;
    let draws: Vec<Vec<f64>> = (0..COUNT).map(|i| draw(Stream::new(7).at(i as u64))).collect();
    let n = COUNT as f64;
    for a in 0..mean.len() {
        let average = draws.iter().map(|d| d[a]).sum::<f64>() / n;
        let error = (covariance[(a, a)] / n).sqrt() + 1e-9;
        assert!((average - mean[a]).abs() < 4.5 * error, "{a}: {average} for {}", mean[a]);
        for b in 0..mean.len() {
            let own = draws.iter().map(|d| (d[a] - mean[a]) * (d[b] - mean[b])).sum::<f64>() / n;
            let spread = covariance[(a, a)] * covariance[(b, b)] + covariance[(a, b)].powi(2);
            assert!((own - covariance[(a, b)]).abs() < 5.0 * (spread / n).sqrt() + 1e-9, "{a}, {b}: {own}");
        }
    }
}

/// Mean and covariance of `wanted` places given noisy values at the seen rows.
fn conditional(c: &Mat, wanted: &[usize], seen: &[usize], factor: &Cholesky, r: &[f64]) -> (Vec<f64>, Mat) {
    let solved = |place: usize| {
        let mut column: Vec<f64> = seen.iter().map(|&n| c[(place, n)]).collect();
        factor.solve(&mut column);
        column
    };
    let mean = wanted.iter().map(|&p| solved(p).iter().zip(seen).map(|(s, &n)| s * r[n]).sum()).collect();
    let of = |a: usize, b: usize| {
        let told: f64 = solved(wanted[a]).iter().zip(seen).map(|(s, &n)| s * c[(wanted[b], n)]).sum();
        c[(wanted[a], wanted[b])] - told
    };
    (mean, Mat::from_fn(wanted.len(), wanted.len(), of))
}

#[test]
fn draws_have_the_mean_and_covariance_of_the_dense_matrices() {
    let (dynamics, r) = (dynamics(), some(10, 1));
    for kernel in KERNELS {
        let (path, c) = (dynamics.column_path(kernel, LENGTH_SCALE), covariance(kernel, &[]));
        let (seen, factor) = seen(&c);
        let (mean, spread) = conditional(&c, &(0..10).collect::<Vec<_>>(), &seen, &factor, &r);
        let through = path.through(AMPLITUDE, &variance());
        through.expected(&r).iter().zip(&mean).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
        for (n, v) in through.variances().into_iter().enumerate() {
            // The white noise of a row that is seen is left out.
            let error = if seen.contains(&n) { 2.0 * NOISE * AMPLITUDE.powi(2) } else { 1e-9 };
            assert!((v - spread[(n, n)]).abs() < error, "{}, row {n}: {v} for {}", kernel.name(), spread[(n, n)]);
        }
        check_draws(&mean, &spread, |stream| through.draw(&r, &mut stream.rng()));
    }
}

#[test]
fn new_times_follow_the_path() {
    let new = [(7.0, 0), (12.0, 0), (0.25, 0)];
    let at: Vec<f64> = new.iter().map(|(t, _)| *t).collect();
    let (dynamics, kernel) = (dynamics(), TimeKernel::Matern32);
    let g = dynamics.column_path(kernel, LENGTH_SCALE).colour(AMPLITUDE, &some(10, 5));
    let c = covariance(kernel, &new);
    let rows: Vec<usize> = (0..10).collect();
    let factor = Cholesky::new(&Mat::from_fn(10, 10, |a, b| c[(a, b)]), "test").unwrap();
    let (mean, spread) = conditional(&c, &[10, 11, 12], &rows, &factor, &g);
    check_draws(&mean, &spread, |stream| {
        dynamics.column_path_ahead(kernel, (AMPLITUDE, LENGTH_SCALE), &g, 0, &at, stream)
    });
}
