//! Bayesian non-linear dimension reduction with random features: the RFLVM of Zhang, Gundersen & Engelhardt (2023).
//!
//! ```no_run
//! use rflvm::{Mat, Options, fit};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // 40 rows of counts, one cell missing.
//!     let mut counts = Mat::from_fn(40, 6, |n, j| ((n * (j + 1)) % 9) as f64);
//!     counts[(3, 2)] = f64::NAN;
//!     let posterior = fit(&counts, &Options::new("poisson").features(20).sweeps(20, 20).seed(1))?;
//!
//!     let embedding = posterior.embedding()?;
//!     println!("row 1: {:?} ± {:.2}", embedding.mean.row(0), embedding.sd(0, 0));
//!     for cell in posterior.impute()? {
//!         println!("row {}, column {}: {:.1}", cell.row + 1, cell.column + 1, cell.predicted.mean);
//!     }
//!     let new = posterior.transform(&Mat::from_fn(2, 6, |n, j| (n + j) as f64))?;
//!     println!("new rows: {:?}", new.embedding.mean);
//!     Ok(())
//! }
//! ```
//!
//! The model in brief: row n of an N×J table has a latent position x_n ~ N(0, I) in D dimensions. Each column is a
//! smooth function of it, f_nj = o_n + h_n·β_j, with random Fourier features h_n = [φ_W(x_n), 1] of L frequencies
//! w_l, whose Dirichlet-process mixture prior makes the kernel itself unknown. A cell is drawn from the family of its column
//! given f_nj: Gaussian, Poisson, binomial, negative binomial, multinomial, or any density you write.
//!
//! | symbol | where | meaning |
//! |---|---|---|
//! | X, W, H | `model::features` | positions, frequencies, features with the intercept column |
//! | z, μ, Σ, α | [`model::spectral`] | clusters of frequencies |
//! | β, θ, τ² | [`model::State`] | weights, parameters of the families, amplitudes |
//! | p(Y, everything) | `model::joint` | the joint density, computed directly |
//! | one sweep | [`run::sweep`] | the sampler |
//!
//! [`fit`] covers a table of one family. For several families, times, offsets per row or your own sink of draws, build a
//! [`Model`] with [`Model::with_blocks`], [`run`](run::run) it, and query the [`Posterior`]. For your own family,
//! implement [`Density`].

#![deny(missing_docs)]

pub mod backtest;
pub mod draws;
pub mod error;
mod fit;
pub mod model;
pub mod observations;
pub mod posterior;
pub mod run;
pub mod simulate;
pub mod spec;

// Shared with the program and the Python package, and not part of the library's interface.
#[doc(hidden)]
pub mod atomic;
mod checksum;
#[doc(hidden)]
pub mod chunks;
#[doc(hidden)]
pub mod closest;
#[doc(hidden)]
pub mod device;
#[doc(hidden)]
pub mod dist;
#[doc(hidden)]
pub mod encode;
#[doc(hidden)]
pub mod hmc;
#[doc(hidden)]
pub mod identity;
#[doc(hidden)]
pub mod init;
#[doc(hidden)]
pub mod linalg;
mod maximize_1d;
mod par;
#[doc(hidden)]
pub mod placement;
#[doc(hidden)]
pub mod ranks;
#[doc(hidden)]
pub mod regular;
#[doc(hidden)]
pub mod rng;
#[doc(hidden)]
pub mod simd;
#[doc(hidden)]
pub mod slice;
#[doc(hidden)]
pub mod split;
#[doc(hidden)]
pub mod steps;
#[doc(hidden)]
pub mod table;

pub use error::{DataError, NumericalError, RunError, SpecError, StoreError};
pub use fit::{Options, fit};
pub use init::Init;
pub use linalg::Mat;
pub use model::family::{Density, Family, Generic};
pub use model::{Amplitude, Model, ModelSpec};
pub use observations::{Observations, Offset, Times};
pub use posterior::Posterior;
pub use posterior::align::Embedding;
pub use rng::{Stream, StreamRng};
pub use run::Settings;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
