//! Running chains: a sweep, one chain, all chains, and a run on disk.

#[doc(hidden)]
pub mod apart;
#[doc(hidden)]
pub mod chain;
mod chains;
#[doc(hidden)]
pub mod checkpoint;
mod exchange;
mod exchange_state;
#[doc(hidden)]
pub mod message;
pub mod modes;
mod settings;
pub mod spread;
pub(crate) mod sweep;
mod threads;

pub use chains::{Progress, Run, run};
pub use exchange_state::Replaced;
pub use settings::{MOST_CHAINS, MOST_MODES, MOST_SWEEPS, MOST_THREADS, Settings};
pub use sweep::sweep;
pub use threads::pool;
