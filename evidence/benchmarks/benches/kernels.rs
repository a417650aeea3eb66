//! Timings of the parts of a sweep, on one thread; the names include the sizes.
//!
//! ```text
//! cargo bench --package rflvm-benchmarks --bench kernels [-- [--quick] NAME]
//! ```
//!
//! Sizes are those of the S-curve: N = 500 rows, J = 100 columns, M = 100 features and the intercept. Plain products next to the
//! weighted Gram matrix show what the machine can do.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use rflvm::internal::dist::crt;
use rflvm::internal::dist::polya_gamma::PolyaGamma;
use rflvm::internal::linalg::{Cholesky, Gram, Mat, gram, mul};
use rflvm::internal::model::features::Features;
use rflvm::internal::rng::Stream;
use rflvm::internal::simd;
use std::hint::black_box;

const N: usize = 500;
const J: usize = 100;
/// Number of frequencies, two features each.
const L: usize = 50;
/// M + 1.
const WIDTH: usize = 2 * L + 1;
const D: usize = 2;
/// Draws per timed call of a sampler.
const DRAWS: usize = 1000;

fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Stream::new(seed).rng();
    (0..count).map(|_| rng.sample(StandardNormal)).collect()
}

fn random(rows: usize, cols: usize, seed: u64) -> Mat {
    Mat::from_vec(rows, cols, normals(rows * cols, seed))
}

/// H of random positions and frequencies.
fn features() -> Features {
    Features::new(random(N, D, 1), random(L, D, 2))
}

/// Weights like Pólya-gamma draws: positive, around one.
fn weights() -> Vec<f64> {
    normals(N, 3).iter().map(|z| (0.5 * z).exp()).collect()
}

fn bench_features(c: &mut Criterion) {
    let mut features = features();
    let (x, w) = (features.x().clone(), features.w().clone());
    let name = format!("{N}x{WIDTH}");
    // One thread: this is the only kernel here that would use more.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    c.benchmark_group("features").bench_function(name, |b| {
        pool.install(|| b.iter(|| features.set(black_box(x.as_slice()), black_box(w.as_slice()))));
    });
}

/// a·b of random matrices, by our own product and by faer's: a baseline for the machine.
fn bench_product(c: &mut Criterion, name: &str, [rows, inner, cols]: [usize; 3]) {
    let (a, b) = (random(rows, inner, 4), random(inner, cols, 5));
    let mut out = Mat::zeros(rows, cols);
    let mut group = c.benchmark_group("product");
    group.throughput(Throughput::Elements(2 * (rows * inner * cols) as u64));
    group.bench_function(format!("{name} {rows}x{inner}x{cols}"), |bencher| {
        bencher.iter(|| mul(out.as_mut_slice(), black_box(a.view()), black_box(b.view()), false));
    });
    let view = |m| MatRef::from_row_major_slice(Mat::as_slice(m), m.rows(), m.cols());
    group.bench_function(format!("{name} {rows}x{inner}x{cols} by faer"), |bencher| {
        bencher.iter(|| {
            let out = MatMut::from_row_major_slice_mut(out.as_mut_slice(), rows, cols);
            matmul(out, Accum::Replace, black_box(view(&a)), black_box(view(&b)), 1.0, Par::Seq);
        });
    });
}

fn bench_products(c: &mut Criterion) {
    bench_product(c, "F = HB", [N, WIDTH, J]);
    bench_product(c, "large", [1000, 1000, 1000]);
    // The weighted Gram matrices of all columns, written as one product: pairs of features by rows by columns.
    bench_product(c, "pairs", [WIDTH * (WIDTH + 1) / 2, N, J]);
}

/// HᵀΩH of one column. Put a faster version here, under the same name.
fn bench_gram(c: &mut Criterion) {
    let (features, omega, prior) = (features(), weights(), vec![1.0; WIDTH]);
    let mut gram = Gram::default();
    let mut group = c.benchmark_group("weighted gram");
    group.throughput(Throughput::Elements((N * WIDTH * (WIDTH + 1)) as u64));
    group.bench_function(format!("{N}x{WIDTH} per column"), |b| {
        b.iter(|| gram.compute(black_box(features.h()), Some(black_box(&omega)), &prior).order());
    });
}

fn bench_cholesky(c: &mut Criterion) {
    let a = gram(features().h(), Some(&weights()), &[1.0; WIDTH]);
    let mut cholesky = Cholesky::default();
    c.benchmark_group("cholesky").bench_function(format!("{WIDTH}"), |b| {
        b.iter(|| cholesky.factor(black_box(&a), "bench"));
    });
}

fn bench_log_likelihood(c: &mut Criterion) {
    let f = normals(J, 6);
    let y: Vec<f64> = normals(J, 7).iter().map(|z| (3.0 * z.abs()).floor()).collect();
    let yes: Vec<f64> = y.iter().map(|&y| f64::from(y > 1.0)).collect();
    let r = vec![2.5; J];
    let mut group = c.benchmark_group("log-likelihood");
    group.throughput(Throughput::Elements(J as u64));
    group.bench_function(format!("poisson {J}"), |b| {
        b.iter(|| simd::poisson_ln_lik(black_box(&y), black_box(&f)));
    });
    group.bench_function(format!("negative binomial {J}"), |b| {
        b.iter(|| simd::negative_binomial_ln_lik(black_box(&y), black_box(&r), black_box(&f)));
    });
    group.bench_function(format!("logistic {J}"), |b| {
        b.iter(|| simd::logistic_ln_lik_same(black_box(&yes), 1.0, black_box(&f)));
    });
    group.bench_function(format!("multinomial {J}"), |b| {
        b.iter(|| simd::multinomial_ln_lik(black_box(&y), black_box(&f)));
    });
}

fn bench_functions(c: &mut Criterion) {
    const LENGTH: usize = 1000;
    let x = normals(LENGTH, 8);
    let (mut first, mut second) = (vec![0.0; LENGTH], vec![0.0; LENGTH]);
    let mut group = c.benchmark_group("functions");
    group.throughput(Throughput::Elements(LENGTH as u64));
    group.bench_function(format!("exp {LENGTH}"), |b| {
        b.iter(|| simd::exp_into(black_box(&x), black_box(&mut first)));
    });
    group.bench_function(format!("sin_cos {LENGTH}"), |b| {
        b.iter(|| simd::sin_cos(black_box(&x), black_box(&mut first), black_box(&mut second), 1.0));
    });
}

/// [`DRAWS`] draws of PG(b, c) with c taken from `tilts` in turn.
fn polya_gammas(b: f64, tilts: &[f64], rng: &mut impl Rng) -> f64 {
    let draw = |i: usize| PolyaGamma::new(b, tilts[i % tilts.len()]).expect("b > 0").sample(rng);
    (0..DRAWS).map(draw).sum()
}

fn bench_polya_gamma(c: &mut Criterion) {
    let fixed = [0.0, 1.0, 4.0].map(|tilt| (format!("c={tilt}"), vec![tilt]));
    // evidence/benchmarks/run.py compares this with another library: c ~ N(0, 1).
    let tilts: Vec<_> = fixed.into_iter().chain([("c~N(0,1)".to_string(), normals(DRAWS, 9))]).collect();
    let mut group = c.benchmark_group("polya-gamma");
    group.throughput(Throughput::Elements(DRAWS as u64));
    for b in [1.0, 2.7, 10.0, 50.0, 500.0] {
        for (name, tilts) in &tilts {
            let mut rng = Stream::new(10).rng();
            group.bench_function(format!("b={b} {name} {DRAWS}"), |bencher| {
                bencher.iter(|| polya_gammas(black_box(b), tilts, &mut rng));
            });
        }
    }
}

fn bench_crt(c: &mut Criterion) {
    let mut group = c.benchmark_group("crt");
    group.throughput(Throughput::Elements(DRAWS as u64));
    for (y, r) in [(5, 1.0), (50, 1.0), (50, 20.0), (5000, 1.0)] {
        group.bench_function(format!("y={y} r={r} {DRAWS}"), |b| {
            let mut rng = Stream::new(11).rng();
            b.iter(|| (0..DRAWS).map(|_| crt::draw(black_box(y), black_box(r), &mut rng)).sum::<u64>());
        });
    }
}

criterion_group!(
    all,
    bench_features,
    bench_products,
    bench_gram,
    bench_cholesky,
    bench_log_likelihood,
    bench_functions,
    bench_polya_gamma,
    bench_crt
);
criterion_main!(all);
