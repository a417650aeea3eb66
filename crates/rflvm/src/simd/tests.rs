//! Every kernel against plain `std` arithmetic, at every level the machine has, at lengths that
//! cover every kind of tail.

use super::level::PINNED;
use super::*;

/// The results of `kernel` at each level the machine has, the baseline first.
pub(crate) fn at_each_level<T>(mut kernel: impl FnMut() -> T) -> Vec<T> {
    [Level::Baseline, Level::Avx2, Level::Avx512]
        .into_iter()
        .filter(|level| *level <= detected())
        .map(|level| {
            PINNED.set(Some(level));
            let result = kernel();
            PINNED.set(None);
            result
        })
        .collect()
}

/// Uniform numbers from a splitmix64 stream.
pub struct Uniform(pub u64);

impl Uniform {
    pub fn draw(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        low + (high - low) * ((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53)
    }

    fn row(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|_| self.draw(low, high)).collect()
    }
}

/// The lengths tried: every tail, short and long rows.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=40).chain([100, 257])
}

/// Asserts that `values`, one per level, are within 1e-12 · scale of `expected`, and that those
/// of the two levels with fused arithmetic are bit-identical.
fn assert_levels(values: &[f64], expected: f64, scale: f64) {
    for value in values {
        assert!((value - expected).abs() <= 1e-12 * scale.max(1e-300), "{values:?} {expected}");
    }
    if let [_, avx2, avx512] = values {
        assert_eq!(avx2.to_bits(), avx512.to_bits());
    }
}

fn assert_rows(rows: &[Vec<f64>], expected: impl Fn(usize) -> f64, tolerance: f64) {
    for row in rows {
        for (i, value) in row.iter().enumerate() {
            let expected = expected(i);
            let error = (value - expected).abs();
            assert!(error <= tolerance * expected.abs().max(1.0), "{value} {expected}");
        }
    }
    if let [_, avx2, avx512] = rows {
        assert_eq!(avx2, avx512);
    }
}

/// Data in which every fifth cell is missing, except in the first.
fn data(random: &mut Uniform, n: usize) -> Vec<f64> {
    let mut y: Vec<f64> = random.row(n, 0.0, 9.0).into_iter().map(f64::floor).collect();
    y.iter_mut().skip(3).step_by(5).for_each(|y| *y = f64::NAN);
    y
}

fn softplus(f: f64) -> f64 {
    f.max(0.0) + (-f.abs()).exp().ln_1p()
}

type LogLikFn<'a> = &'a dyn Fn(&[f64], &[f64], &[f64]) -> f64;
type MovedFn<'a> = &'a dyn Fn(&[f64], &[f64], &[f64], [f64; 2], [&[f64]; 2]) -> f64;
type GradFn<'a> = &'a dyn Fn(&[f64], &[f64], &[f64], &mut [f64]) -> f64;

/// One likelihood's three kernels against its formula for one cell and the range of its weights.
fn check(ln_lik: LogLikFn, moved: MovedFn, grad: GradFn, cell: &dyn Fn(f64, f64, f64) -> f64) {
    let mut random = Uniform(1);
    for n in lengths() {
        let (y, weight) = (data(&mut random, n), random.row(n, 0.1, 9.0));
        let (u, v) = (random.row(n, -2.0, 2.0), random.row(n, -2.0, 2.0));
        for reach in [2.0, 30.0] {
            let f = random.row(n, -reach, reach);
            let sum = |f: &[f64]| {
                let terms = (0..n).filter(|i| !y[*i].is_nan()).map(|i| cell(y[i], weight[i], f[i]));
                terms.fold((0.0, 0.0), |(sum, scale), t| (sum + t, scale + t.abs()))
            };
            let (expected, scale) = sum(&f);
            assert_levels(&at_each_level(|| ln_lik(&y, &weight, &f)), expected, scale);

            let there: Vec<f64> = (0..n).map(|i| f[i] + 0.3 * u[i] - 0.7 * v[i]).collect();
            let (expected_there, scale_there) = sum(&there);
            let found = at_each_level(|| moved(&y, &weight, &f, [0.3, -0.7], [&u, &v]));
            // f + a u + b v is rounded differently if fused, and e^f magnifies that.
            assert_levels(&found, expected_there, 10.0 * scale_there);

            let rows = at_each_level(|| {
                let mut g = vec![f64::NAN; n];
                let found = grad(&y, &weight, &f, &mut g);
                assert!((found - expected).abs() <= 1e-12 * scale);
                g
            });
            let slope = |i: usize| {
                let (y, w, f, h) = (y[i], weight[i], f[i], 1e-4);
                // Five points: the error is of fourth order in h.
                let near = cell(y, w, f + h) - cell(y, w, f - h);
                let far = cell(y, w, f + 2.0 * h) - cell(y, w, f - 2.0 * h);
                if y.is_nan() { 0.0 } else { (8.0 * near - far) / (12.0 * h) }
            };
            let worst = (0..n).map(|i| cell(y[i], weight[i], f[i]).abs()).fold(1.0, f64::max);
            assert_rows(&rows, slope, if worst < 1e3 { 1e-8 } else { 1e-6 });
            for (i, y) in y.iter().enumerate() {
                assert!(!y.is_nan() || rows.iter().all(|row| row[i] == 0.0));
            }
        }
    }
}

#[test]
fn poisson() {
    check(
        &|y, _, f| poisson_ln_lik(y, f),
        &|y, _, f, [a, b], [u, v]| poisson_ln_lik_moved(y, f, a, u, b, v),
        &|y, _, f, g| poisson_grad(y, f, g),
        &|y, _, f| y * f - f.exp(),
    );
}

#[test]
fn logistic() {
    check(
        &|y, w, f| logistic_ln_lik(y, w, f),
        &|y, w, f, [a, b], [u, v]| logistic_ln_lik_moved(y, w, f, a, u, b, v),
        &|y, w, f, g| logistic_grad(y, w, f, g),
        &|y, w, f| y * f - w * softplus(f),
    );
}

#[test]
fn negative_binomial() {
    check(
        &|y, r, f| negative_binomial_ln_lik(y, r, f),
        &|y, r, f, [a, b], [u, v]| negative_binomial_ln_lik_moved(y, r, f, a, u, b, v),
        &|y, r, f, g| negative_binomial_grad(y, r, f, g),
        &|y, r, f| y * f - (y + r) * softplus(f),
    );
}

#[test]
fn gaussian() {
    check(
        &|y, w, f| gaussian_ln_lik(y, w, f),
        &|y, w, f, [a, b], [u, v]| gaussian_ln_lik_moved(y, w, f, a, u, b, v),
        &|y, w, f, g| gaussian_grad(y, w, f, g),
        &|y, w, f| -0.5 * w * (y - f) * (y - f),
    );
}

#[test]
fn multinomial() {
    let mut random = Uniform(2);
    for n in lengths().skip(1) {
        let y: Vec<f64> = random.row(n, 0.0, 9.0).into_iter().map(f64::floor).collect();
        let f = random.row(n, -40.0, 40.0);
        let max = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lse = max + f.iter().map(|f| (f - max).exp()).sum::<f64>().ln();
        let total: f64 = y.iter().sum();
        let expected = y.iter().zip(&f).map(|(y, f)| y * f).sum::<f64>() - total * lse;
        let scale = total * 100.0 + 1.0;
        assert_levels(&at_each_level(|| multinomial_ln_lik(&y, &f)), expected, scale);
        let rows = at_each_level(|| {
            let mut g = vec![f64::NAN; n];
            assert!((multinomial_grad(&y, &f, &mut g) - expected).abs() <= 1e-12 * scale);
            g
        });
        assert_rows(&rows, |i| y[i] - total * (f[i] - lse).exp(), 1e-11);

        let missing = vec![f64::NAN; n];
        assert!(at_each_level(|| multinomial_ln_lik(&missing, &f)).iter().all(|ll| *ll == 0.0));
        let rows = at_each_level(|| {
            let mut g = vec![f64::NAN; n];
            assert_eq!(multinomial_grad(&missing, &f, &mut g), 0.0);
            g
        });
        assert_rows(&rows, |_| 0.0, 0.0);
    }
    assert_eq!(multinomial_ln_lik(&[], &[]), 0.0);
}

#[test]
fn extremes_stay_finite() {
    let (y, w) = (vec![3.0; 30], vec![2.0; 30]);
    for f in [800.0, -800.0, 1e5, -1e5, 1e100, -1e100] {
        let f = vec![f; 30];
        let mut g = vec![0.0; 30];
        for value in [
            at_each_level(|| poisson_ln_lik(&y, &f)),
            at_each_level(|| logistic_ln_lik(&y, &w, &f)),
            at_each_level(|| negative_binomial_ln_lik(&y, &w, &f)),
            at_each_level(|| gaussian_ln_lik(&y, &w, &f)),
            at_each_level(|| multinomial_ln_lik(&y, &f)),
        ] {
            assert!(value.iter().all(|value| value.is_finite()), "{value:?}");
        }
        poisson_grad(&y, &f, &mut g);
        assert!(g.iter().all(|g| g.is_finite()));
        negative_binomial_grad(&y, &w, &f, &mut g);
        assert!(g.iter().all(|g| g.is_finite()));
        // Where y is missing, f may be anything.
        let (missing, unbounded) = ([f64::NAN; 30], [f64::INFINITY; 30]);
        let lls = at_each_level(|| poisson_ln_lik(&missing, &unbounded));
        assert!(lls.iter().all(|ll| *ll == 0.0));
    }
}

#[test]
fn maps() {
    let mut random = Uniform(3);
    for n in lengths() {
        let x = random.row(n, -700.0, 700.0);
        let rows = at_each_level(|| {
            let mut out = vec![f64::NAN; n];
            exp_into(&x, &mut out);
            out
        });
        assert_rows(&rows, |i| x[i].exp(), 1e-15);
        let rows = at_each_level(|| {
            let (mut sin, mut cos) = (vec![f64::NAN; n], vec![f64::NAN; n]);
            sin_cos(&x, &mut sin, &mut cos, 0.5);
            [sin, cos].concat()
        });
        let expected = |i: usize| {
            if i < n { 0.5 * x[i].sin() } else { 0.5 * x[i - n].cos() }
        };
        assert_rows(&rows, expected, 1e-15);
    }
}

#[test]
fn linear_algebra() {
    let mut random = Uniform(4);
    for n in lengths() {
        let [base, x, y] = std::array::from_fn(|_| random.row(n, -1.0, 1.0));
        let expected = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        assert_levels(&at_each_level(|| dot(&x, &y)), expected, n as f64);
        let updated = |update: &dyn Fn(&mut [f64])| {
            at_each_level(|| {
                let mut out = base.clone();
                update(&mut out);
                out
            })
        };
        assert_rows(&updated(&|out| axpy(0.3, &x, out)), |i| base[i] + 0.3 * x[i], 1e-15);
        let expected = |i: usize| base[i] + 0.3 * x[i] - 0.7 * y[i];
        assert_rows(&updated(&|out| axpy2(0.3, &x, -0.7, &y, out)), expected, 1e-15);
        for m in [0, 1, 3, 4, 7, 8, 13, 100] {
            let (phi, b) = (random.row(m, -1.0, 1.0), random.row(m * n, -1.0, 1.0));
            let expected = |j| base[j] + (0..m).map(|r| phi[r] * b[r * n + j]).sum::<f64>();
            assert_rows(&updated(&|out| vecmat(&phi, &b, out)), expected, 1e-13);
        }
    }
}

#[test]
#[should_panic]
fn unequal_lengths_are_refused() {
    dot(&[1.0; 9], &[1.0; 8]);
}

#[test]
fn the_level_in_force_is_one_the_machine_has() {
    assert!(level() <= detected());
    assert_eq!(force(Level::Avx512), detected());
    assert_eq!(level(), detected());
}

#[test]
fn features_are_sines_and_cosines_of_the_projections() {
    let mut random = Uniform(12);
    for n in lengths().skip(1) {
        for dim in [1, 2, 5] {
            let (x, w) = (random.row(dim, -3.0, 3.0), random.row(dim * n, -3.0, 3.0));
            let rows = at_each_level(|| {
                let (mut args, mut h) = (vec![f64::NAN; n], vec![f64::NAN; 2 * n + 1]);
                features(&x, &w, 0.3, 1.7, &mut args, &mut h);
                h
            });
            let argument = |l: usize| (0..dim).map(|d| x[d] * w[d * n + l]).sum::<f64>();
            let expected = |i: usize| match i {
                i if i < n => 0.3 * argument(i).sin(),
                i if i < 2 * n => 0.3 * argument(i - n).cos(),
                _ => 1.7,
            };
            assert_rows(&rows, expected, 1e-13);
        }
    }
}

#[test]
fn turns_are_rotations() {
    let mut random = Uniform(13);
    let (sin, cos) = 0.4_f64.sin_cos();
    for n in lengths().chain([511, 512, 513, 1100]) {
        let (q, p) = (random.row(n, -2.0, 2.0), random.row(n, -2.0, 2.0));
        let rows = at_each_level(|| {
            let (mut q, mut p) = (q.clone(), p.clone());
            turn(sin, cos, &mut q, &mut p);
            [q, p].concat()
        });
        let expected = |i: usize| if i < n { cos * q[i] + sin * p[i] } else { cos * p[i - n] - sin * q[i - n] };
        assert_rows(&rows, expected, 1e-14);
    }
}
