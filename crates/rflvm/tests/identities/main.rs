//! Identity tests: every conditional that the sampler uses, against the one plain joint density in `model::joint`.
//!
//! For each block of unknowns, ln p(new | rest) − ln p(old | rest) from the block's own conditional must equal the
//! difference of the joint at random points. There is no Monte Carlo in here: a test fails when a formula is wrong and
//! never otherwise. Where the paper or its code prints a wrong formula, the test also shows that it would be noticed.
//!
//! | module | blocks |
//! |---|---|
//! | `likelihood` | ln p(Y \| F, θ): plain against fast, normalisation, mixed tables |
//! | `priors` | the densities that the joint is written with |
//! | `spectral` | z, (μ, Σ), α |
//! | `weights` | β and σ² of Gaussian columns, β given Pólya-gamma ω, Poisson's fitted Gaussian |
//! | `amplitudes` | τ², given β and with β and σ² integrated out |
//! | `parameters` | r and h of the negative binomial, θ of the generic families |
//! | `positions` | X and W given β |
//! | `gradients` | derivatives of families, of the joint and of the collapsed joint |
//! | `relevance` | ψ and its rates, the turn of axes with scales of their own |
//! | `symmetry` | translation and stretch |

mod amplitudes;
mod fixtures;
mod gradients;
mod likelihood;
mod parameters;
mod positions;
mod priors;
mod relevance;
mod spectral;
mod symmetry;
mod weights;
