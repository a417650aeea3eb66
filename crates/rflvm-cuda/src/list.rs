//! The cards of this machine, and what a table needs.

use crate::card::Fault;
use crate::shape::{at_least, pitch};
use crate::table::{CellSize, groups};
use cudarc::driver::CudaContext;
use rflvm::internal::model::Model;

/// A card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardInfo {
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of memory that are free.
    pub free: usize,
}

/// The cards of this machine, or why none can be used.
pub fn cards() -> Result<Vec<CardInfo>, Fault> {
    // cudarc panics where a library is missing: ask first.
    // SAFETY: loads libraries, as their first use would.
    let missing = unsafe {
        [
            (cudarc::driver::sys::is_culib_present(), "no NVIDIA driver (libcuda) was found"),
            (cudarc::cublas::sys::is_culib_present(), "cuBLAS (libcublas) was not found"),
            (cudarc::nvrtc::sys::is_culib_present(), "CUDA's run-time compiler (libnvrtc) was not found"),
        ]
    };
    if let Some((_, reason)) = missing.iter().find(|(is_present, _)| !is_present) {
        let advice = "install the driver and CUDA 13, or add their folder to LD_LIBRARY_PATH";
        return Err(Fault(format!("{reason}: {advice}")));
    }
    let of = |ordinal: usize| -> Result<CardInfo, Fault> {
        let context = CudaContext::new(ordinal)?;
        let (free, memory) = context.mem_get_info()?;
        Ok(CardInfo { name: context.name()?, memory, free })
    };
    (0..CudaContext::device_count()? as usize).map(of).collect()
}

/// Bytes that a table needs on a card: per cell 8 for F, 16 for the noise of a trajectory and its momenta, 4 for the sum of the warm-up, and the cell itself;
/// H with its slope, candidates of the rows of a short table, the columns whose weights are redrawn together, and what is known of f besides the weights, which
/// is one number per row except for columns with column processes and for sets of categories.
pub fn needed(model: &Model) -> usize {
    let (rows, columns, width) = (model.rows(), model.columns(), pitch(model.width()));
    let cells = rows * columns * (8 + 16 + 4 + CellSize::of(model) as usize);
    let features = rows * width * 8 * 5 / 2;
    let together = rows * columns.min(256) * 8 * 4;
    let grams = 8 * (crate::table::TILE + 3 * 256) * width * (width + 1) / 2;
    let candidates = 16 * at_least(columns) * columns;
    let known = 8 * rows * (groups(model) + model.column_process().map_or(0, |_| columns));
    let rest = rows * columns / 8 + 8 * (16 * width * columns + 64 * rows);
    cells + known + candidates + features + together + grams + rest
}
