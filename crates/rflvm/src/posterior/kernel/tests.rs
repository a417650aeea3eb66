//! The kernel of a small fit, against its own frequencies.

use super::*;
use crate::draws::Kept;
use crate::model::family::Gaussian;
use crate::model::spectral::Kernel;
use crate::model::{Amplitude, Model, ModelSpec, Priors};
use crate::observations::Observations;
use crate::posterior::tests::fixture::{fit, open};
use crate::rng::Stream;

const LENGTH: f64 = 1.7;

/// A table that carries almost no information, with a weak signal, so that frequencies stay near their prior.
fn model(dim: usize) -> Model {
    let y = Mat::from_fn(6, 3, |n, j| ((n * 7 + j * 5) % 4) as f64);
    let kernel = Kernel::Rbf { length_scale: LENGTH };
    let priors = Priors { amplitude: Some(Amplitude::Fixed(0.01)), ..Priors::default() };
    let spec = ModelSpec { latent_dim: dim, features: 60, kernel, priors, ..ModelSpec::default() };
    Model::new(Observations::new(y).unwrap(), Gaussian::default(), spec).unwrap()
}

#[test]
fn the_band_of_a_fixed_kernel_holds_it_and_the_density_has_its_area() {
    for dim in 1..=3 {
        let model = model(dim);
        let path = fit(&model, &format!("kernel-{dim}"), &Kept::DEFAULT);
        let store = open(&path);
        let fitted = Fitted {
            store: &store,
            model: &model,
            used: &[0, 1],
            modes: &[],
            is_pooled: false,
            stream: Stream::new(1),
        };
        let learned = fitted.kernel(&fitted.frame().unwrap(), 4.0, 1000).unwrap();
        assert_eq!((learned.kernel.len(), learned.density.len()), (dim + 1, dim + 1));
        for curve in &learned.kernel {
            for ((r, mean), [low, high]) in curve.at.iter().zip(&curve.mean).zip(&curve.band) {
                let truth = (-r * r / (2.0 * LENGTH * LENGTH)).exp();
                assert!(low - 1e-12 <= truth && truth <= high + 1e-12, "D {dim}: {truth} at {r}, {low} to {high}");
                assert!(low - 1e-12 <= *mean && *mean <= high + 1e-12);
            }
        }
        for curve in &learned.density {
            let pieces = curve.at.windows(2).zip(curve.mean.windows(2));
            let area: f64 = pieces.map(|(at, mean)| (at[1] - at[0]) * (mean[0] + mean[1]) / 2.0).sum();
            assert!((SHOWN - 0.01..=1.001).contains(&area), "{area}");
        }
        std::fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn a_draw_has_the_kernel_of_its_frequencies_in_any_frame_and_k_is_phi_phi() {
    let model = model(2);
    let path = fit(&model, "kernel-direct", &Kept::DEFAULT);
    let store = open(&path);
    let fitted =
        Fitted { store: &store, model: &model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1) };
    let frame = fitted.frame().unwrap();
    let parameters = Stored::open(&store, &model).unwrap().at(1, 7).unwrap();
    let direct = |a: &[f64], b: &[f64]| {
        let argument = |w: &[f64]| w.iter().zip(a).zip(b).map(|((w, a), b)| w * (a - b)).sum::<f64>();
        parameters.w.iter_rows().map(|w| argument(w).cos()).sum::<f64>() / parameters.w.rows() as f64
    };
    let (w, placement) = (turned(&parameters, &frame), frame.of(&parameters.x, &parameters.w));
    let origin = placement.back(&Mat::zeros(1, 2));
    for r in [0.0, 0.3, 2.5] {
        // r along an axis of the frame, in the coordinates of the draw.
        for d in 0..2 {
            let to = Mat::from_fn(1, 2, |_, e| if e == d { r } else { 0.0 });
            assert!((profile(&w, d, r) - direct(placement.back(&to).row(0), origin.row(0))).abs() < 1e-12);
        }
        let turn = |i: u32| {
            let angle = 2.0 * PI * f64::from(i) / 360.0;
            direct(&[r * angle.cos(), r * angle.sin()], &[0.0, 0.0])
        };
        let mean = (0..360).map(turn).sum::<f64>() / 360.0;
        assert!((profile(&w, 2, r) - mean).abs() < 1e-12, "{} {mean}", profile(&w, 2, r));
    }
    let rows = [4, 0, 5];
    let k = matrix(&parameters, &rows);
    for (i, &a) in rows.iter().enumerate() {
        for (j, &b) in rows.iter().enumerate() {
            assert!((k[(i, j)] - direct(parameters.x.row(a), parameters.x.row(b))).abs() < 1e-12);
        }
    }
    // Mean and standard deviation over all draws.
    let found = fitted.covariance(&rows, 1000).unwrap();
    let mut stored = Stored::open(&store, &model).unwrap();
    let all: Vec<f64> =
        fitted.visited(1000).unwrap().iter().map(|&(c, d)| matrix(&stored.at(c, d).unwrap(), &rows)[(0, 1)]).collect();
    let (mean, sd) = crate::posterior::spread::mean_and_sd(&all);
    assert!((found.mean[(0, 1)] - mean).abs() < 1e-12 && (found.sd[(0, 1)] - sd).abs() < 1e-12);
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn means_over_directions_are_those_of_cosines() {
    for dim in 1..=6 {
        assert!((mean_over_directions(dim, 0.0) - 1.0).abs() < 1e-12);
        // Λ_D(z) = 1 − z²/(2D) + z⁴/(8D(D+2)) − …
        let (z, d) = (0.1_f64, dim as f64);
        let series = 1.0 - z * z / (2.0 * d) + z.powi(4) / (8.0 * d * (d + 2.0));
        assert!((mean_over_directions(dim, z) - series).abs() < 1e-7, "{dim}");
    }
    // D = 5 in closed form: 3 (sin z − z cos z)/z³.
    for z in [0.5_f64, 3.0, 20.0] {
        let exact = 3.0 * (z.sin() - z * z.cos()) / z.powi(3);
        assert!((mean_over_directions(5, z) - exact).abs() < 1e-5, "{z}");
    }
}

#[test]
fn the_diameter_is_the_largest_distance() {
    let x = Mat::from_vec(4, 2, vec![0.0, 0.0, 3.0, 0.0, 0.0, 4.0, 1.0, 1.0]);
    assert_eq!(diameter(&x), 5.0);
    assert_eq!(diameter(&Mat::zeros(3, 2)), 0.0);
}
