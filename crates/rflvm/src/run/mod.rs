//! Running chains: a sweep, one chain, all chains, and a run on disk.

#[doc(hidden)]
pub mod chain;
mod chains;
#[doc(hidden)]
pub mod checkpoint;
mod settings;
mod sweep;

pub use chains::{Progress, Run, pool, run};
pub use settings::{MOST_CHAINS, MOST_SWEEPS, MOST_THREADS, Settings};
pub use sweep::sweep;
