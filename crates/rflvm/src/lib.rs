//! Bayesian non-linear dimension reduction with random features: the RFLVM of Zhang, Gundersen & Engelhardt (2023).
//!
//! The model in brief: row n of an N×J table has a latent position x_n ~ N(0, I) in D dimensions. Each column is a
//! smooth function of it, f_nj = o_n + h_n·β_j, with random Fourier features h_n = [φ_W(x_n), 1] of L frequencies
//! w_l, whose Dirichlet-process mixture prior makes the kernel itself unknown. A cell is drawn from the family of its column
//! given f_nj: Gaussian, Poisson, binomial, negative binomial, multinomial, or any density you write.
//!
//! # In one call
//!
//! [`fit`] takes a table of one family as a [`Mat`], with its [`Options`], and returns the [`Posterior`].
//!
//! ```
//! use rflvm::{Mat, Options, Posterior, RunError, fit};
//!
//! # fn main() -> Result<(), RunError> {
//! // 12 rows of counts, one cell missing.
//! let mut counts = Mat::from_fn(12, 4, |n, j| ((n * (j + 1)) % 9) as f64);
//! counts[(3, 2)] = f64::NAN;
//! let mut options = Options::new("poisson").features(6).sweeps(10, 10).seed(1);
//! options.run.chains = 2;
//! let posterior: Posterior = fit(&counts, &options)?;
//! println!("row 1: {:?}", posterior.embedding()?.mean.row(0));
//! # Ok(())
//! # }
//! ```
//!
//! # Step by step: a table
//!
//! [`Observations`] are checked: a [`DataError`] names the row and the column. Rows can have an [`Offset`] and [`Times`].
//!
//! ```
//! use rflvm::{DataError, Mat, Observations, Offset, Times};
//!
//! # fn main() -> Result<(), DataError> {
//! let counts = Mat::from_fn(12, 3, |n, j| ((n + j) % 5) as f64);
//! let table = Observations::new(counts)?.with_offset(Offset::SizeFactors)?.with_times(Times::new((0..12).map(f64::from).collect()))?;
//! assert_eq!((table.rows(), table.columns()), (12, 3));
//! assert!(matches!(Observations::new(Mat::from_fn(2, 1, |_, _| f64::INFINITY)), Err(DataError::Support { .. })));
//! # Ok(())
//! # }
//! ```
//!
//! # Families and the model
//!
//! A [`Family`] is chosen by [`family`], or made with its priors, such as [`Gaussian`] and [`Poisson`]; a binomial has [`Trials`]. A [`Model`]
//! is a table, the families of its columns and a [`ModelSpec`]: the [`Kernel`], [`Priors`], and the [`TimeKernel`] of a [`TimeSpec`] for rows
//! with times. The signal of a column has an [`Amplitude`], which can be learned with a prior such as a [`HalfT`]. A [`SpecError`] says
//! what does not go together.
//!
//! ```
//! use rflvm::{Amplitude, Family, Gaussian, HalfT, Kernel, Mat, Model, ModelSpec, Observations, Poisson, Priors, SpecError, TimeKernel};
//! use rflvm::{TimeSpec, Times, Trials, family};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cells = Mat::from_fn(12, 4, |n, j| ((n * (j + 1)) % 3) as f64);
//! let table = Observations::new(cells)?.with_times(Times::new((0..12).map(f64::from).collect()))?;
//! let binomial: Arc<dyn Family> = family("binomial", Some(Trials::Same(2)))?;
//! assert!(matches!(family("gausian", None), Err(SpecError::Unknown { .. })));
//! let spec = ModelSpec {
//!     features: 6,
//!     kernel: Kernel::Rbf { length_scale: 1.0 },
//!     priors: Priors { amplitude: Some(Amplitude::Learned(HalfT { scale: 1.0, dof: 3.0 })), ..Priors::default() },
//!     time: TimeSpec { kernel: TimeKernel::Matern32, ..TimeSpec::default() },
//!     ..ModelSpec::default()
//! };
//! let blocks = vec![(vec![0, 1], binomial), (vec![2], Arc::new(Poisson)), (vec![3], Arc::new(Gaussian::default()))];
//! let model = Model::with_blocks(table, blocks, spec)?;
//! assert_eq!(model.blocks().len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! # The run
//!
//! [`run`] draws by the [`Settings`], from an [`Init`], and passes each [`Draw`] to a sink that implements [`Draws`]: [`Memory`] keeps
//! them all. A failure is a [`RunError`]: a [`NumericalError`] with its place, or a [`StoreError`] of the sink. The same seed gives the same draws
//! for any number of threads.
//!
//! ```
//! use rflvm::{Draw, Draws, Init, Mat, Memory, Model, ModelSpec, NumericalError, Observations, Poisson, RunError, Settings, StoreError, run};
//! use std::ops::ControlFlow;
//!
//! /// Keeps the log joint density only.
//! #[derive(Default)]
//! struct Trace(Vec<f64>);
//!
//! impl Draws for Trace {
//!     fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError> {
//!         self.0.push(draw.ln_joint);
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let table = Observations::new(Mat::from_fn(12, 3, |n, j| ((n + j) % 5) as f64))?;
//! let model = Model::new(table, Poisson, ModelSpec { features: 6, ..ModelSpec::default() })?;
//! let settings = Settings { warmup: 4, draws: 5, chains: 2, seed: 1, init: Init::Pca, ..Settings::default() };
//! let traces = run(&model, &settings, |_| Trace::default(), |_| ControlFlow::Continue(()))?;
//! assert!(traces.len() == 2 && traces.iter().all(|trace| trace.0.len() == 5));
//! match run(&model, &settings, |_| Memory::default(), |progress| {
//!     if progress.sweep < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
//! }) {
//!     Err(RunError::Stopped { sweep }) => assert!(sweep < 9),
//!     Err(RunError::Numerical { source: NumericalError::NotFinite { step, .. }, .. }) => panic!("{step}"),
//!     other => panic!("{other:?}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Answers
//!
//! A [`Posterior`] has a method per question. [`Convergence`] says by its [`Outcome`] whether the chains agree; an [`Embedding`] has the rows'
//! positions; [`Imputed`] and [`Predicted`] cells, at [`Points`] or at a [`NewTime`], have a mean, a standard deviation and quantiles;
//! [`Transformed`] rows are new ones, with their outlier scores; and a [`Check`] compares a statistic of the table with replicated tables.
//!
//! ```
//! use rflvm::{Check, Convergence, Embedding, Imputed, Init, Mat, Memory, Model, ModelSpec, NewTime, Observations, Outcome, Points, Poisson};
//! use rflvm::{Posterior, Predicted, Settings, Times, Transformed, run};
//! use std::ops::ControlFlow;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut counts = Mat::from_fn(12, 3, |n, j| ((n + j) % 5) as f64);
//! counts[(4, 1)] = f64::NAN;
//! let table = Observations::new(counts)?.with_times(Times::new((0..12).map(f64::from).collect()))?;
//! let model = Model::new(table, Poisson, ModelSpec { features: 6, ..ModelSpec::default() })?;
//! let settings = Settings { warmup: 10, draws: 10, chains: 2, seed: 1, init: Init::Pca, ..Settings::default() };
//! let chains = run(&model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(()))?;
//! let posterior = Posterior::new(model, chains, settings.seed)?;
//!
//! let convergence: &Convergence = posterior.convergence();
//! assert_ne!(convergence.outcome, Outcome::Converged, "ten draws do not suffice");
//! let embedding: Embedding = posterior.embedding()?;
//! println!("row 1: {:?} ± {:.2}", embedding.mean.row(0), embedding.sd(0, 0));
//! let cells: Vec<Imputed> = posterior.impute()?;
//! assert_eq!((cells[0].row, cells[0].column), (4, 1));
//! let replicates: Vec<Vec<Predicted>> = posterior.predict(Points::Rows(&[0, 1]))?;
//! assert_eq!(replicates.len(), 2);
//! let next = NewTime { time: 12.0, sequence: 0, offset: 0.0, covariates: Vec::new() };
//! println!("next row: {:?}", posterior.forecast(&[next])?[0][0].quantiles);
//! let checks: Vec<Check> = posterior.check()?;
//! println!("{:?}: {:.2}", checks[0].statistic, checks[0].observed());
//! # let model = Model::new(Observations::new(Mat::from_fn(12, 3, |n, j| ((n + j) % 5) as f64))?, Poisson, ModelSpec { features: 6, ..ModelSpec::default() })?;
//! # let chains = run(&model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(()))?;
//! # let posterior = Posterior::new(model, chains, settings.seed)?;
//! // Of a fit without times:
//! let new: Transformed = posterior.transform(&Mat::from_fn(2, 3, |n, j| (n + j) as f64))?;
//! println!("new rows: {:?}, outlier scores {:?}", new.embedding.mean, new.outlier_score);
//! # Ok(())
//! # }
//! ```
//!
//! # Your own family, and simulated tables
//!
//! Implement [`Density`], and pass it to the model as a [`Generic`] family. [`s_curve`] draws a table along a curve from any family and its
//! parameters [`Theta`]; draws come from a [`StreamRng`], which a [`Stream`] names; [`affine_r2`] says how well positions are found again.
//!
//! ```
//! use rflvm::{Density, Generic, Stream, StreamRng, Theta, affine_r2, s_curve};
//!
//! /// y ~ N(f, 1).
//! #[derive(Debug)]
//! struct Unit;
//!
//! impl Density for Unit {
//!     fn name(&self) -> &'static str {
//!         "unit"
//!     }
//!     fn problem(&self, _y: f64) -> Option<String> {
//!         None
//!     }
//!     fn ln_density(&self, y: f64, f: f64, _theta: &[f64]) -> f64 {
//!         -0.5 * (y - f).powi(2)
//!     }
//!     fn derivative(&self, y: f64, f: f64, _theta: &[f64]) -> f64 {
//!         y - f
//!     }
//!     fn mean(&self, f: f64, _theta: &[f64]) -> f64 {
//!         f
//!     }
//!     fn simulate(&self, f: f64, _theta: &[f64], _rng: &mut StreamRng) -> f64 {
//!         f
//!     }
//!     fn link(&self, y: f64) -> f64 {
//!         y
//!     }
//! }
//!
//! # fn main() -> Result<(), rflvm::NumericalError> {
//! let curve = s_curve(20, 5, &Generic(Unit), &Theta::none(5), 1, Stream::new(1))?;
//! assert_eq!((curve.y.rows(), curve.y.cols()), (20, 5));
//! assert!((affine_r2(&curve.x, &curve.x) - 1.0).abs() < 1e-9);
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]

mod atomic;
mod backtest;
mod checksum;
mod chunks;
mod closest;
mod device;
mod dist;
mod draws;
mod encode;
mod error;
mod fit;
mod hmc;
mod identity;
mod init;
mod linalg;
mod maximize_1d;
mod model;
mod observations;
mod par;
mod placement;
mod posterior;
mod ranks;
mod regular;
mod rng;
mod run;
mod simd;
mod simulate;
mod slice;
mod spec;
mod split;
mod steps;
mod table;

pub use fit::{Options, fit};
pub use linalg::Mat;
pub use observations::{Observations, Offset, Times};

pub use model::family::{Family, Gaussian, Poisson, Trials};
pub use model::latent::{TimeKernel, TimeSpec};
pub use model::spectral::Kernel;
pub use model::{Amplitude, HalfT, Model, ModelSpec, Priors};
pub use spec::family;

pub use draws::{Draw, Draws, Memory};
pub use init::Init;
pub use run::{Settings, run};

pub use posterior::Posterior;
pub use posterior::align::Embedding;
pub use posterior::check::Check;
pub use posterior::convergence::{Convergence, Outcome};
pub use posterior::forecast::NewTime;
pub use posterior::impute::Imputed;
pub use posterior::predict::Points;
pub use posterior::predicted::Predicted;
pub use posterior::transform::Transformed;

pub use model::family::{Density, Generic, Theta};
pub use posterior::score::affine_r2;
pub use rng::{Stream, StreamRng};
pub use simulate::s_curve;

pub use error::{DataError, NumericalError, RunError, SpecError, StoreError};

/// What the program, the Python package and the tests use besides. It is not part of the library's interface, and changes without notice.
#[doc(hidden)]
pub mod internal {
    macro_rules! modules {
        ($($name:ident)*) => {
            $(pub mod $name {
                pub use crate::$name::*;
            })*
        };
    }
    modules! {
        atomic backtest chunks closest device dist draws encode error hmc identity init linalg model observations placement posterior ranks
        regular rng run simd simulate slice spec split steps table
    }
}

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
