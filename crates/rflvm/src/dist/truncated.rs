//! The normal distribution beyond a limit: its log probability, its slope, and draws (Robert 1995).

use super::{LN_SQRT_2PI, normal};
use rand::{Rng, RngExt};
use std::f64::consts::SQRT_2;

/// Below this, ln Φ is computed by its asymptotic series: erfc would lose its digits, and then vanish.
const FAR: f64 = -25.0;

/// Φ(x).
pub fn probability(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

/// φ(x).
pub fn density(x: f64) -> f64 {
    (-0.5 * x * x - LN_SQRT_2PI).exp()
}

/// ln Φ(x).
pub fn ln_probability(x: f64) -> f64 {
    if x > FAR {
        return probability(x).ln();
    }
    let r = (x * x).recip();
    let series = r * (-1.0 + r * (3.0 + r * (-15.0 + r * 105.0)));
    -0.5 * x * x - (-x).ln() - LN_SQRT_2PI + series.ln_1p()
}

/// φ(x)/Φ(x), the derivative of ln Φ.
pub fn hazard(x: f64) -> f64 {
    if x > FAR { density(x) / probability(x) } else { (-0.5 * x * x - LN_SQRT_2PI - ln_probability(x)).exp() }
}

/// A draw from N(0, 1) given that it is at least `least`.
pub fn draw_above<R: Rng + ?Sized>(least: f64, rng: &mut R) -> f64 {
    // Where the condition is likely, by drawing until it holds; elsewhere by a shifted exponential of the best rate.
    if least < 0.4 {
        loop {
            let z = normal(rng);
            if z >= least {
                return z;
            }
        }
    }
    let rate = 0.5 * (least + (least * least + 4.0).sqrt());
    loop {
        // One minus a number in [0, 1) is never zero.
        let z = least - (1.0 - rng.random::<f64>()).ln() / rate;
        if rng.random::<f64>() <= (-0.5 * (z - rate).powi(2)).exp() {
            return z;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn logarithms_agree_where_the_series_takes_over_and_far_beyond() {
        for (x, expected) in
            [(0.0, -std::f64::consts::LN_2), (-5.0, -15.064_998_393_988_727), (-40.0, -804.608_442_013_75)]
        {
            assert!((ln_probability(x) - expected).abs() < 1e-9 * expected.abs(), "{x}: {}", ln_probability(x));
        }
        let [near, far] = [FAR + 1e-9, FAR - 1e-9].map(ln_probability);
        assert!((near - far).abs() < 1e-6, "{near}, {far}");
        for x in [-60.0, -26.0, -24.0, -3.0, 0.0, 4.0] {
            let slope = (ln_probability(x + 1e-5) - ln_probability(x - 1e-5)) / 2e-5;
            assert!((hazard(x) - slope).abs() < 1e-4 * (1.0 + slope.abs()), "{x}: {} and {slope}", hazard(x));
        }
    }

    #[test]
    fn draws_have_the_mean_of_the_tail() {
        const DRAWS: usize = 20_000;
        for (i, least) in [-2.0, 0.1, 0.5, 3.0, 12.0].into_iter().enumerate() {
            let rng = &mut Stream::new(i as u64).rng();
            let drawn: Vec<f64> = (0..DRAWS).map(|_| draw_above(least, rng)).collect();
            assert!(drawn.iter().all(|z| *z >= least));
            // E[z | z > a] = φ(a)/Φ(−a), Var = 1 + a E − E².
            let mean = hazard(-least);
            let error = ((1.0 + least * mean - mean * mean) / DRAWS as f64).sqrt();
            let found = drawn.iter().sum::<f64>() / DRAWS as f64;
            assert!(((found - mean) / error).abs() < 4.0, "{least}: {found}, {mean} ± {error}");
        }
    }
}
