//! The random stream of each question: whoever asks it gets the same draws.

/// Cells of the table's rows, whether they are missing or predicted again.
pub const CELLS: &str = "impute";
/// Points of the latent space.
pub const PLACES: &str = "predict";
/// New times.
pub const TIMES: &str = "forecast";
/// New rows: their positions, densities and cells.
pub const NEW_ROWS: &str = "transform";
/// Tables of new rows.
pub const NEW_TABLES: &str = "sample";
/// Positions.
pub const POSITIONS: &str = "results";
/// Distances between rows.
pub const DISTANCES: &str = "distances";
/// Nearest neighbors.
pub const NEIGHBORS: &str = "neighbors";
/// The kernel.
pub const KERNEL: &str = "kernel";
/// Posterior predictive checks.
pub const CHECKS: &str = "check";
/// Pointwise log-likelihoods.
pub const DENSITIES: &str = "pointwise";
/// Whether missing cells support a larger latent dimension.
pub const LEFTOVER: &str = "leftover";
