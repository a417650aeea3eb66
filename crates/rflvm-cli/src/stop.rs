//! Ctrl-C, and the termination signal of queues and shells: the sweep is finished and everything is saved; a second one exits
//! at once.

use crate::console::note;
use crate::failure::STOPPED;
use crate::signal;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Starts to listen; says so when asked to stop, unless another process does.
pub fn listen(speaks: bool) {
    let handler = move || {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(STOPPED));
        }
        if !speaks {
            return;
        }
        note("");
        note("finishing the sweep and saving; press Ctrl-C again to exit at once");
    };
    // If no handler can be installed, the system's default remains, and checkpoints make that safe.
    signal::keep_ignored(|| drop(ctrlc::set_handler(handler)));
}

/// Whether a stop was requested.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
