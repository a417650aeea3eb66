//! Quality of an embedding: R² against known positions, and nearest-neighbour accuracy against labels.

use crate::linalg::{Cholesky, Mat, gram};
use crate::rng::Stream;
use rand::seq::SliceRandom;

/// Fraction of the variance of `truth` explained by the best affine map of `x`, over all axes.
pub fn affine_r2(x: &Mat, truth: &Mat) -> f64 {
    let (rows, dim) = (x.rows(), x.cols());
    let h = Mat::from_fn(rows, dim + 1, |n, d| if d < dim { x[(n, d)] } else { 1.0 });
    let a = gram(&h, None, &vec![0.0; dim + 1]);
    let Ok(cholesky) = Cholesky::new(a, "score") else { return f64::NAN };
    let (mut left, mut total) = (0.0, 0.0);
    for d in 0..truth.cols() {
        let y = truth.col(d);
        let mean = y.iter().sum::<f64>() / rows as f64;
        let mut c: Vec<f64> = (0..=dim).map(|i| (0..rows).map(|n| h[(n, i)] * y[n]).sum()).collect();
        cholesky.solve(&mut c);
        for (y, h) in y.iter().zip(h.iter_rows()) {
            let fitted: f64 = h.iter().zip(&c).map(|(h, c)| h * c).sum();
            left += (y - fitted).powi(2);
            total += (y - mean).powi(2);
        }
    }
    1.0 - left / total
}

/// Accuracy of the nearest neighbour's label in 5-fold cross-validation: mean and standard deviation over `repeats`
/// shuffles.
pub fn nearest_neighbour_accuracy(x: &Mat, labels: &[String], repeats: u64, seed: u64) -> (f64, f64) {
    let accuracies: Vec<f64> = (0..repeats).map(|r| one_shuffle(x, labels, Stream::new(seed).at(r))).collect();
    super::spread::mean_and_sd(&accuracies)
}

/// Folds of the cross-validation.
const FOLDS: usize = 5;

fn one_shuffle(x: &Mat, labels: &[String], stream: Stream) -> f64 {
    let mut order: Vec<usize> = (0..x.rows()).collect();
    order.shuffle(&mut stream.named("folds").rng());
    let mut fold = vec![0; x.rows()];
    // Folds of equal size, the first ones larger by one if rows are left over.
    let bounds: Vec<usize> = (1..=FOLDS)
        .scan(0, |end, k| {
            *end += x.rows() / FOLDS + usize::from(k <= x.rows() % FOLDS);
            Some(*end)
        })
        .collect();
    for (place, &n) in order.iter().enumerate() {
        fold[n] = bounds.partition_point(|&end| end <= place);
    }
    // The mean over folds of each fold's accuracy.
    let mut right = [0.0; FOLDS];
    let mut size = [0.0; FOLDS];
    for n in 0..x.rows() {
        let distance = |m: usize| x.row(n).iter().zip(x.row(m)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let others = (0..x.rows()).filter(|&m| fold[m] != fold[n]);
        let nearest = others.min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        size[fold[n]] += 1.0;
        right[fold[n]] += f64::from(u8::from(nearest.is_some_and(|m| labels[m] == labels[n])));
    }
    let filled = (0..FOLDS).filter(|&k| size[k] > 0.0);
    let accuracies: Vec<f64> = filled.map(|k| right[k] / size[k]).collect();
    accuracies.iter().sum::<f64>() / accuracies.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;

    #[test]
    fn r2_is_one_for_an_affine_image_and_near_zero_for_noise() {
        let mut rng = Stream::new(1).rng();
        let x = Mat::from_vec(200, 2, normals(400, &mut rng));
        let image = Mat::from_fn(200, 2, |n, d| 3.0 + 2.0 * x[(n, d)] - 0.7 * x[(n, 1 - d)]);
        assert!((affine_r2(&x, &image) - 1.0).abs() < 1e-12);
        let noise = Mat::from_vec(200, 2, normals(400, &mut rng));
        assert!(affine_r2(&x, &noise) < 0.1);
    }

    #[test]
    fn separated_classes_are_told_apart_and_mixed_ones_are_not() {
        let mut rng = Stream::new(2).rng();
        let labels: Vec<String> = (0..300).map(|n| (n % 3).to_string()).collect();
        let noise = normals(600, &mut rng);
        let apart = Mat::from_fn(300, 2, |n, d| noise[2 * n + d] + 50.0 * (n % 3) as f64);
        assert_eq!(nearest_neighbour_accuracy(&apart, &labels, 5, 0).0, 1.0);
        let mixed = Mat::from_vec(300, 2, noise);
        let (accuracy, _) = nearest_neighbour_accuracy(&mixed, &labels, 5, 0);
        // A third is correct by chance; four standard errors of 300 guesses.
        assert!((accuracy - 1.0 / 3.0).abs() < 4.0 * (0.222_f64 / 300.0).sqrt(), "{accuracy}");
    }
}
