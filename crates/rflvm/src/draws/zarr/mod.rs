//! Draws on disk, in a Zarr store that xarray and ArviZ open as it is: groups `posterior`, `sample_stats`,
//! `observed_data`, `constant_data` and `moments`, with named axes and coordinates.
//!
//! Draws are appended chunk by chunk. A store is never ahead of its files: chunks are written first, each whole or not at all,
//! and only then does the metadata say that they are there. So one that is still growing, or whose program was killed,
//! opens like any other, with the draws that all chains have. Every chunk and the metadata carry a checksum, which every reader checks.

mod array;
mod cursor;
mod reader;
mod sealed;
mod store;
mod verify;
mod writer;

pub use reader::Reader;
pub use store::{Labels, Store};
pub use writer::{Writer, WriterState};
