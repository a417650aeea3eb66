//! The tables that the programs here are given, or make.
#![allow(dead_code, reason = "not every program needs all of them")]

use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Poisson, Theta};
use rflvm::internal::rng::Stream;
use rflvm::internal::simulate::{SCurve, s_curve};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

pub type Error = Box<dyn std::error::Error + Send + Sync>;

fn open(path: &Path) -> Result<npyz::NpyFile<BufReader<File>>, Error> {
    Ok(npyz::NpyFile::new(BufReader::new(File::open(path)?))?)
}

/// The values of an array, .npy of f64.
pub fn values(path: &Path) -> Result<Vec<f64>, Error> {
    Ok(open(path)?.into_vec()?)
}

/// A table, .npy with two axes of f64.
pub fn read(path: &Path) -> Result<Mat, Error> {
    let array = open(path)?;
    let &[rows, columns] = array.shape() else {
        return Err(format!("{}: the array must have two axes", path.display()).into());
    };
    Ok(Mat::from_vec(rows as usize, columns as usize, array.into_vec::<f64>()?))
}

/// A simulated S-curve of counts.
pub fn counts(rows: usize, columns: usize, seed: u64) -> Result<SCurve, Error> {
    Ok(s_curve(rows, columns, &Poisson, &Theta::none(columns), 1, Stream::new(seed).named("maps"))?)
}
