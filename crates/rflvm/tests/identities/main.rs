//! Identity tests: every conditional that the sampler uses, against the joint density in `model::joint`.
//!
//! For each block of unknowns, ln p(new | rest) − ln p(old | rest) from the block's own conditional must equal the
//! difference of the joint at random points. There is no Monte Carlo here: a test fails if and only if a formula is
//! wrong. Where the paper or its code prints a wrong formula, the test also shows that it would be detected.
//!
//! | module | blocks |
//! |---|---|
//! | `likelihood` | ln p(Y \| F, θ): direct against fast, normalisation, mixed tables |
//! | `priors` | the densities used by the joint |
//! | `spectral` | z, (μ, Σ), α |
//! | `weights` | β and σ² of Gaussian columns, β given Pólya-gamma ω, Poisson's fitted Gaussian |
//! | `amplitudes` | τ², given β and with β and σ² integrated out |
//! | `parameters` | r and h of the negative binomial, θ of the generic families |
//! | `pooling` | the level and spread of columns' noise and dispersions, with precisions given and integrated out |
//! | `linear` | s of the linear part |
//! | `positions` | X and W given β |
//! | `gradients` | derivatives of families, of the joint and of the collapsed joint |
//! | `relevance` | ψ and its rates, the rotation of axes with their own scales |
//! | `column_process` | column processes, their scales, and β with them integrated out |
//! | `symmetry` | translation and stretch |

mod amplitudes;
mod column_process;
mod fixtures;
mod gradients;
mod likelihood;
mod linear;
mod parameters;
mod pooling;
mod positions;
mod priors;
mod relevance;
mod spectral;
mod symmetry;
mod weights;
