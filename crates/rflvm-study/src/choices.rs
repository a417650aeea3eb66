//! The settings that are chosen from a list of names.

use crate::settings::{Value, choices};
use rflvm::internal::model::latent::TimeKernel;
use std::ffi::OsStr;

choices! {
    /// The most advanced instruction set that may be used.
    Instructions {
        /// The best that this machine supports.
        Best = "best",
        /// AVX2 with fused multiply-add, even where AVX-512 is available.
        Avx2 = "avx2",
        /// Supported by every processor of this architecture; several times slower.
        Baseline = "baseline",
    }
}

choices! {
    /// In which precision a card computes what touches each cell.
    Precision {
        /// Everything in float64.
        Double = "double",
        /// Exponentials and logarithms of cells in float32; products, sums, factors and decisions in float64. Each cell's log-likelihood is then
        /// right to about seven digits.
        Mixed = "mixed",
    }
}

choices! {
    /// How positions are found.
    Method {
        /// Sample the posterior by Markov chain Monte Carlo.
        Mcmc = "mcmc",
        /// Maximise the posterior: a MAP estimate in seconds, with conditional standard deviations only.
        Map = "map",
    }
}

choices! {
    /// Where chains begin.
    InitAt {
        /// Each chain at a different start: principal components, Isomap, Laplacian eigenmaps, and fits in more axes that are then given up. The chains
        /// together show how far the posterior reaches.
        Spread = "spread",
        /// The best of several modes: starts from principal components, Isomap and Laplacian eigenmaps are fitted and sampled briefly; the
        /// mode with the highest evidence is chosen or, where that cannot tell, the one that keeps neighbours together best.
        Search = "search",
        /// Principal components on the link scale (probabilistic ones where cells are missing).
        Pca = "pca",
        /// Standard normal positions.
        Random = "random",
        /// A MAP estimate per chain, optimised from principal components and scattered by twice the standard deviation of each position.
        Map = "map",
    }
}

choices! {
    /// Whether the kernel is learned.
    KernelKind {
        /// A Dirichlet-process mixture over frequencies.
        Learned = "learned",
        /// exp(−|x−x'|²/(2ℓ²)), with a fixed length-scale ℓ.
        Rbf = "rbf",
    }
}

choices! {
    /// The kernel over time.
    TimeKernelKind {
        /// Very smooth.
        Rbf = "rbf",
        /// Rough, like a random walk that returns to its mean.
        Matern12 = "matern12",
        /// Once differentiable.
        Matern32 = "matern32",
        /// Twice differentiable.
        Matern52 = "matern52",
        /// Smooth, with long memory.
        Cauchy = "cauchy",
        /// Wanders without returning to a mean.
        RandomWalk = "random-walk",
        /// Wanders smoothly: level and slope are random walks.
        IntegratedRandomWalk = "integrated-random-walk",
        /// Repeats with the given period, slowly changing.
        Seasonal = "seasonal",
        /// Sum of both.
        Matern12Seasonal = "matern12+seasonal",
        /// Sum of both.
        Matern32Seasonal = "matern32+seasonal",
        /// Sum of both.
        Matern52Seasonal = "matern52+seasonal",
        /// Sum of both.
        RandomWalkSeasonal = "random-walk+seasonal",
        /// Sum of both.
        IntegratedRandomWalkSeasonal = "integrated-random-walk+seasonal",
    }
}

choices! {
    /// The kernel of column processes.
    ColumnProcessKind {
        /// matern12 or matern32, chosen from the columns, where all of them are gaussian, isotropic or student-t; elsewhere none.
        Auto = "auto",
        /// No such paths.
        None = "none",
        /// Rough, like a random walk that returns to its mean.
        Matern12 = "matern12",
        /// Once differentiable.
        Matern32 = "matern32",
        /// Twice differentiable.
        Matern52 = "matern52",
        /// Wanders without returning to a mean.
        RandomWalk = "random-walk",
        /// Wanders smoothly: level and slope are random walks.
        IntegratedRandomWalk = "integrated-random-walk",
        /// Repeats with the given period, slowly changing.
        Seasonal = "seasonal",
        /// Sum of both.
        Matern12Seasonal = "matern12+seasonal",
        /// Sum of both.
        Matern32Seasonal = "matern32+seasonal",
        /// Sum of both.
        Matern52Seasonal = "matern52+seasonal",
        /// Sum of both.
        RandomWalkSeasonal = "random-walk+seasonal",
        /// Sum of both.
        IntegratedRandomWalkSeasonal = "integrated-random-walk+seasonal",
    }
}

impl ColumnProcessKind {
    /// The choice that gives this kernel.
    pub fn of(kernel: Option<TimeKernel>) -> Self {
        kernel.and_then(|kernel| Value::parse(OsStr::new(kernel.name())).ok()).unwrap_or(ColumnProcessKind::None)
    }
}

choices! {
    /// How the covariance of a path is represented.
    TimeForm {
        /// Chosen by the kernel and the length of the sequences.
        Automatic = "automatic",
        /// Dense matrices: exact for every kernel, slow for thousands of rows per sequence.
        Dense = "dense",
        /// A state-space model: exact and fast for every kernel but rbf and cauchy.
        StateSpace = "state-space",
        /// Inducing points: approximate, fast for every kernel.
        Inducing = "inducing",
    }
}

choices! {
    /// Whether the map has a linear part.
    LinearPart {
        /// None: the map is a sum of waves, which bends back.
        None = "none",
        /// Kernel k(x, x') + s² x·x', with s learned: trends go on beyond the rows.
        Learned = "learned",
    }
}
