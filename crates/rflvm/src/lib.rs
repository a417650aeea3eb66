//! Bayesian non-linear dimension reduction with random features: the RFLVM of Zhang, Gundersen & Engelhardt (2023).
//!
//! The model on one page: row n of an N×J table has a latent position x_n ~ N(0, I) in D dimensions. Each column is a
//! smooth function of it, f_nj = o_n + h_n·β_j, with random Fourier features h_n = [φ_W(x_n), 1] of L frequencies
//! w_l, whose Dirichlet-process mixture prior makes the kernel itself unknown. A cell is born from f_nj by its column's
//! family: Gaussian, Poisson, binomial, negative binomial, multinomial, or any density you write.
//!
//! | symbol | where | meaning |
//! |---|---|---|
//! | X, W, H | [`model::features`] | positions, frequencies, features with the intercept's column |
//! | z, μ, Σ, α | [`model::spectral`] | clusters of frequencies |
//! | β, θ, τ² | [`model::State`] | weights, own parameters of families, amplitudes |
//! | p(Y, everything) | [`model::joint`] | the joint density, written plainly |
//! | one sweep | [`gibbs::sweep`] | the sampler |

pub mod atomic;
pub mod closest;
pub mod dist;
pub mod draws;
pub mod error;
pub mod gibbs;
pub mod kernels;
pub mod linalg;
pub mod model;
pub mod observations;
mod par;
pub mod peak;
pub mod posterior;
pub mod rng;
pub mod simulate;
pub mod slice;
pub mod spec;
pub mod split;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
