//! Single rows and frequencies of a complete Gaussian table with β and σ² integrated out.

pub(crate) mod pairs;
pub(crate) mod rows;

pub use pairs::frequency_ln_ratio;
pub use rows::row_ln_ratio;

#[cfg(test)]
mod tests {
    use super::pairs::WithoutPair;
    use crate::dist::normals;
    use crate::linalg::Mat;
    use crate::model::collapsed::{CollapsedData, Factored};
    use crate::model::features::{Features, Pair, Turned};
    use crate::rng::Stream;

    /// A target and features of a small random problem.
    fn problem() -> (CollapsedData, Features) {
        let mut rng = Stream::new(8).rng();
        let y = Mat::from_vec(9, 4, normals(36, &mut rng));
        let features =
            Features::new(Mat::from_vec(9, 2, normals(18, &mut rng)), Mat::from_vec(3, 2, normals(6, &mut rng)));
        let precision = vec![1.7, 1.7, 1.7, 1.7, 1.7, 1.7, 0.2];
        (CollapsedData::of(y, precision, vec![0.3, 0.5, 0.7, 1.1], 2.0 + 4.5), features)
    }

    fn assert_close(what: &str, kept: &[f64], fresh: &[f64]) {
        for (a, b) in kept.iter().zip(fresh) {
            assert!((a - b).abs() < 1e-9, "{what}: {a} for {b}");
        }
    }

    #[test]
    fn a_row_taken_out_and_put_elsewhere_leaves_what_a_fresh_factor_has() {
        let (target, mut features) = problem();
        let mut kept = Factored::new(&target, features.h()).unwrap();
        for n in [2, 5, 2] {
            kept.remove_row(features.h().row(n), target.y.row(n));
            let x = [0.3 * n as f64, -0.4];
            let mut h = vec![0.0; 7];
            crate::model::features::fill_row(&x, &Turned::new(features.w()), &mut [0.0; 3], &mut h);
            features.set_row(n, &x, &h);
            kept.insert_row(&h, target.y.row(n));
            let fresh = Factored::new(&target, features.h()).unwrap();
            assert_close("P", kept.p.as_slice(), fresh.p.as_slice());
            assert_close("G", kept.g.as_slice(), fresh.g.as_slice());
            assert_close("b", &kept.rate, &fresh.rate);
        }
    }

    #[test]
    fn a_pair_taken_out_and_exchanged_leaves_what_a_fresh_factor_has() {
        let (target, mut features) = problem();
        let mut kept = Factored::new(&target, features.h()).unwrap();
        for l in [1, 0, 2, 1] {
            let mut pair = Pair::new(9);
            let w = [0.9 - l as f64, 0.2];
            let mut without = WithoutPair::new(&target, features.h(), l, kept);
            features.pair(&w, &mut pair);
            without.price(&pair);
            kept = without.commit(&pair);
            features.set_pair(l, &w, &pair);
            let fresh = Factored::new(&target, features.h()).unwrap();
            assert_close("P", kept.p.as_slice(), fresh.p.as_slice());
            assert_close("G", kept.g.as_slice(), fresh.g.as_slice());
            assert_close("E", kept.e.as_slice(), fresh.e.as_slice());
            assert_close("b", &kept.rate, &fresh.rate);
            assert_close("ln|A|", &[kept.ln_det], &[fresh.ln_det]);
        }
    }
}
