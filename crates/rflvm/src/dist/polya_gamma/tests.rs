use super::*;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

fn sample(b: f64, c: f64, n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let law = PolyaGamma::new(b, c).expect("valid");
    (0..n).map(|_| law.sample(&mut rng)).collect()
}

/// (re, im) of ln(1 + a + ib).
fn ln_1p(a: f64, b: f64) -> (f64, f64) {
    (0.5 * (2.0 * a + a * a + b * b).ln_1p(), b.atan2(1.0 + a))
}

/// (re, im) of ln E[exp(itω)].
fn ln_characteristic(b: f64, c: f64, t: f64) -> (f64, f64) {
    let modulus = (0.25 * c * c).hypot(0.5 * t);
    let re = (0.5 * (modulus + 0.25 * c * c)).sqrt();
    let im = -0.25 * t / re;
    let e = (-2.0 * re).exp();
    let l = ln_1p(e * (2.0 * im).cos(), -e * (2.0 * im).sin());
    (b * (0.5 * c + (-c).exp().ln_1p() - re - l.0), -b * (im + l.1))
}

/// The transform of the distribution that `draw_gamma_sum` samples.
fn ln_characteristic_gamma_sum(b: f64, c: f64, t: f64) -> (f64, f64) {
    let GammaSum { weights, shape, scale } = gamma_sum(c);
    let terms = weights.iter().map(|&w| (b, w)).chain([(b * shape, scale)]);
    terms.fold((0.0, 0.0), |(re, im), (shape, scale)| {
        let l = ln_1p(0.0, -t * scale);
        (re - shape * l.0, im - shape * l.1)
    })
}

#[test]
fn new_validates() {
    for b in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(PolyaGamma::new(b, 1.0), Err(Error::ShapeInvalid));
    }
    for c in [f64::NAN, f64::INFINITY] {
        assert_eq!(PolyaGamma::new(1.0, c), Err(Error::TiltInvalid));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        assert!(draw(1.0, c, &mut rng).is_nan());
    }
    for (b, c) in [(1e-300, 0.0), (1e-300, 1e200), (1.0, 1e200), (1e300, 0.0), (1e300, 700.0)] {
        assert!(sample(b, c, 100, 1).iter().all(|x| x.is_finite() && *x >= 0.0));
    }
}

#[test]
fn moments_agree_with_laplace_transform() {
    for c in [0.0, 1e-9, 0.1, 0.1499, 0.1501, 1.0, 5.0, 30.0, 800.0] {
        let law = PolyaGamma::new(1.0, c).expect("valid");
        // Fourth-order one-sided differences of ln E[exp(−tω)] at t = 0.
        let h = 1e-3 / law.mean();
        let k = |j: f64| law.laplace(j * h).ln();
        let d1 = (48.0 * k(1.0) - 36.0 * k(2.0) + 16.0 * k(3.0) - 3.0 * k(4.0)) / (12.0 * h);
        assert!((-d1 / law.mean() - 1.0).abs() < 1e-9, "mean, c = {c}: {d1}");
        let h = 2e-2 / law.mean();
        let k = |j: f64| law.laplace(j * h).ln();
        let d2 = (-154.0 * k(1.0) + 214.0 * k(2.0) - 156.0 * k(3.0) + 61.0 * k(4.0) - 10.0 * k(5.0)) / (12.0 * h * h);
        assert!((d2 / law.variance() - 1.0).abs() < 2e-4, "variance, c = {c}: {d2}");
    }
    let gap = |f: fn((f64, f64)) -> f64| f(unit_moments(0.15)) / f(unit_moments(0.15 - 1e-13)) - 1.0;
    assert!(gap(|m| m.0).abs() < 1e-12 && gap(|m| m.1).abs() < 1e-12);
}

#[test]
fn draws_have_mean_variance_and_laplace_transform() {
    let n = 200_000;
    let close = |estimate: f64, exact: f64, variance: f64, what: &str| {
        let z = (estimate - exact) / (variance / n as f64).sqrt();
        assert!(z.abs() < 4.5, "{what}: {estimate} against {exact}, z = {z}");
    };
    let mut cases = vec![(10.0, 2.2), (10.0, 2.19), (60.0, 4.1), (2.0, 0.0), (3e3, 8.1)];
    for b in [0.01, 0.05, 0.3, 1.0, 2.7, 10.0, 50.0, 500.0] {
        cases.extend([0.0, 1.0, 5.0, 30.0].map(|c| (b, c)));
    }
    for (seed, (b, c)) in cases.into_iter().enumerate() {
        let law = PolyaGamma::new(b, c).expect("valid");
        let (mean, variance) = (law.mean(), law.variance());
        let xs = sample(b, c, n, seed as u64);
        let average = |f: &dyn Fn(f64) -> f64| xs.iter().map(|&x| f(x)).sum::<f64>() / n as f64;
        close(average(&|x| x), mean, variance, &format!("mean, b = {b}, c = {c}"));
        let fourth = average(&|x| (x - mean).powi(4));
        let second = average(&|x| (x - mean).powi(2));
        let of_second = fourth - second * second;
        close(second, variance, of_second, &format!("variance, b = {b}, c = {c}"));
        for t in [0.3 / mean, 1.0 / mean, 4.0 / mean] {
            let exact = law.laplace(t);
            let of_laplace = law.laplace(2.0 * t) - exact * exact;
            let estimate = average(&|x| (-t * x).exp());
            close(estimate, exact, of_laplace, &format!("laplace({t}), b = {b}, c = {c}"));
        }
    }
}

/// Kolmogorov's test against the CDF obtained by Gil-Pelaez inversion with the midpoint
/// rule; Davies (1973): its error is at most P(ω > 2π/h) if x < 2π/h.
#[test]
fn draws_follow_the_inverted_cdf() {
    let n = 200_000;
    let cases = [(0.3, 0.0), (0.3, 2.0), (1.0, 0.0), (1.0, 3.0), (2.0, 0.5), (2.7, 0.0)];
    for (b, c) in cases.into_iter().chain([(10.0, 1.0), (10.0, 2.2), (50.0, 5.0)]) {
        let law = PolyaGamma::new(b, c).expect("valid");
        let h = 2.0 * PI / (law.mean() + 4.0 + 8.0 * law.variance().sqrt());
        let waves: Vec<_> = (0..)
            .map(|k| (k as f64 + 0.5) * h)
            .map(|t| (t, ln_characteristic(b, c, t)))
            .take_while(|(_, l)| l.0 > -20.0)
            .collect();
        let mut xs = sample(b, c, n, 77);
        xs.sort_by(f64::total_cmp);
        let distance = (1..100)
            .map(|i| {
                let x = xs[i * n / 100];
                let wave = |&(t, l): &(f64, (f64, f64))| l.0.exp() * (l.1 - t * x).sin() / t;
                let cdf = 0.5 - h / PI * waves.iter().map(wave).sum::<f64>();
                (cdf - i as f64 / 100.0).abs()
            })
            .fold(0.0, f64::max);
        let statistic = distance * (n as f64).sqrt();
        assert!(statistic < 1.8, "b = {b}, c = {c}: {statistic}");
    }
}

/// The two-sample test of Kolmogorov and Smirnov against sums of b draws of PG(1, c), which are exact.
#[test]
fn draws_for_large_b_follow_sums_of_draws_for_one() {
    let n = 10_000;
    for (b, c) in [(51, 0.0), (51, 1.3), (51, 4.0), (300, 0.7)] {
        let mut drawn = sample(f64::from(b), c, n, 11);
        let ones = sample(1.0, c, n * b as usize, 12);
        let mut summed: Vec<f64> = ones.chunks_exact(b as usize).map(|ones| ones.iter().sum()).collect();
        [&mut drawn, &mut summed].into_iter().for_each(|xs| xs.sort_by(f64::total_cmp));
        let below = |x: f64| summed.partition_point(|&s| s <= x) as f64 / n as f64;
        let gap = |(i, &x): (usize, &f64)| {
            let [before, after] = [i, i + 1].map(|i| i as f64 / n as f64 - below(x));
            before.abs().max(after.abs())
        };
        let distance = drawn.iter().enumerate().map(gap).fold(0.0, f64::max);
        // 1.95 is exceeded once in a thousand times.
        let statistic = distance * (0.5 * n as f64).sqrt();
        assert!(statistic < 1.95, "b = {b}, c = {c}: {statistic}");
    }
}

/// sup_x |F_sum(x) − F(x)| ≤ (1/π) ∫ |φ_sum(t) − φ(t)| / t dt, by Gil-Pelaez.
#[test]
fn gamma_sum_has_small_cdf_error() {
    let mut worst = (0.0, 0.0, 0.0);
    for b in [2.0001, 2.2, 2.7, 3.3, 4.0, 6.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 1e5, 1e6] {
        for c in (0..=10).map(|i| i as f64 / 10.0 * f64::ln(b - 1.0)) {
            let law = PolyaGamma::new(b, c).expect("valid");
            let step = 0.02;
            let gap = |i: i32| {
                let t = (step * i as f64).exp() / law.variance().sqrt();
                let exact = ln_characteristic(b, c, t);
                let sum = ln_characteristic_gamma_sum(b, c, t);
                let (r, phase) = ((sum.0 - exact.0).exp(), sum.1 - exact.1);
                exact.0.exp() * (r * phase.cos() - 1.0).hypot(r * phase.sin())
            };
            let bound = (-400..400).map(gap).sum::<f64>() * step / PI;
            if bound > worst.0 {
                worst = (bound, b, c);
            }
        }
    }
    println!("largest bound (error, b, c): {worst:?}");
    assert!(worst.0 < 4e-7, "{worst:?}");
}

/// 0 ≤ r(x) ≤ 1, and x⁴ r(x) ≤ 10(1 + b)² for b ≤ 2.
#[test]
fn ratio_is_bounded() {
    for b in (1..=200).map(|i| 0.01 * i as f64) {
        for x in (1..=760).map(|i| 0.05 * i as f64) {
            let mut weight = 1.0;
            let ratio: f64 = (0..60)
                .map(|n| n as f64)
                .map(|n| {
                    let term = weight * (2.0 * n + b) / b * (-2.0 * n * (n + b) / x).exp();
                    weight *= -(n + b) / (n + 1.0);
                    term
                })
                .sum();
            assert!((-1e-12..=1.0 + 1e-12).contains(&ratio), "b = {b}, x = {x}: {ratio}");
            assert!(x.powi(4) * ratio <= 10.0 * (1.0 + b) * (1.0 + b), "b = {b}, x = {x}");
        }
    }
}

#[test]
fn sign_of_c_does_not_matter() {
    for (b, c) in [(0.3, 2.0), (1.0, 0.5), (3.0, 1.0), (40.0, 2.0)] {
        assert_eq!(sample(b, c, 100, 5), sample(b, -c, 100, 5));
        let (plus, minus) = (PolyaGamma { b, c }, PolyaGamma { b, c: -c });
        assert_eq!(plus.mean(), minus.mean());
        assert_eq!(plus.variance(), minus.variance());
        assert_eq!(plus.laplace(0.7), minus.laplace(0.7));
    }
}

#[test]
fn values_are_stable() {
    let expected = [
        (0.3, 0.0, [0.06948865181820744, 0.02582615196841272, 0.019889949585623113]),
        (1.0, 2.0, [0.14257129012631356, 0.18302779582988188, 0.2738595637552533]),
        (10.0, 1.0, [1.965890009685539, 1.5036335609909188, 1.6301290766751853]),
        (10.0, 5.0, [0.89248600044413, 0.9393122478527908, 1.0184042718807278]),
    ];
    for (b, c, values) in expected {
        for (drawn, value) in sample(b, c, 3, 2013).into_iter().zip(values) {
            assert!((drawn / value - 1.0).abs() < 1e-12, "b = {b}, c = {c}: {drawn:?}");
        }
    }
}
