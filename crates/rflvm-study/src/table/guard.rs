//! Panics in other people's readers, turned into errors.
//!
//! The readers of Parquet and Arrow meet some damaged files with a panic, and so may what a later version of them adds;
//! a damaged file must end in a sentence all the same.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use super::TableError;
use super::room::Room;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`, which reads a file of the kind `kind`.
pub(super) fn guarded<T>(
    room: &Room,
    kind: &'static str,
    work: impl FnOnce() -> Result<T, TableError>,
) -> Result<T, TableError> {
    static SILENCE: Once = Once::new();
    // The sentence is all that is to be seen of it; panics elsewhere are reported as ever.
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
        Err(TableError::Damaged { file: room.path.clone(), kind, reason })
    })
}
