//! Draws on disk, in a Zarr store that xarray and ArviZ can open directly: groups `posterior`, `sample_stats`,
//! `observed_data`, `constant_data` and `moments`, with named axes and coordinates.
//!
//! Draws are appended chunk by chunk. Metadata never run ahead of the files: chunks are written first, each atomically,
//! and only then do the metadata list them. A store that is still growing, or whose program was killed,
//! opens like any other, with the draws that all chains have. Each chunk and the metadata have a checksum, verified on reading.

mod array;
mod batch;
mod cursor;
mod earlier;
mod labels;
mod reader;
mod sealed;
mod store;
mod verify;
mod writer;

pub use batch::{Batch, Packer};
pub use earlier::today;
pub use labels::RowLabels;
pub use reader::Reader;
pub use store::{Store, covariate_name};
pub use writer::{Writer, WriterState};
