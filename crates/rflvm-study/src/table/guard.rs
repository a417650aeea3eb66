//! Panics in third-party readers, turned into errors.
//!
//! The readers of Parquet and Arrow panic on some damaged files, and later versions may on others;
//! a damaged file must still end in a clear message.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use super::TableError;
use super::allowance::Allowance;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which reads a file of the kind `kind`.
pub(super) fn guarded<T>(
    allowance: &Allowance,
    kind: &'static str,
    work: impl FnOnce() -> Result<T, TableError>,
) -> Result<T, TableError> {
    static SILENCE: Once = Once::new();
    // The error message is all that is shown; panics elsewhere are reported as usual.
    SILENCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                report(info);
            }
        }));
    });
    GUARDED.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(false);
    outcome.unwrap_or_else(|_| {
        let reason = "its parts contradict each other".to_string();
        Err(TableError::Damaged { file: allowance.path.clone(), kind, reason })
    })
}
