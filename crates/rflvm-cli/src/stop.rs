//! Ctrl-C, and the request to end that queues and shells send: the sweep is finished and all is saved; a second one leaves at
//! once.

use crate::failure::STOPPED;
use crate::voice::note;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Listens from now on.
pub fn listen() {
    let handler = || {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(STOPPED));
        }
        note("");
        note("finishing the sweep and saving; press Ctrl-C again to leave at once");
    };
    // Without a handler the system's own way of stopping remains, and checkpoints make that safe.
    let _ = ctrlc::set_handler(handler);
}

/// Whether a stop was asked for.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
