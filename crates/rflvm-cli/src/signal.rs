//! Signals: those that were ignored when the program was started stay so, and a limit on the size of files is an error of the write that
//! exceeds it, not the end of the program.

#[cfg(unix)]
use nix::sys::signal::{SigHandler, Signal, signal};

/// Lets writes beyond the limit (`ulimit -f`) fail.
pub fn let_large_writes_fail() {
    #[cfg(unix)]
    set(Signal::SIGXFSZ, SigHandler::SigIgn);
}

/// Installs handlers, but not for signals that whoever started the program lets it ignore, as `nohup` and `trap '' HUP` do.
pub fn keep_ignored(install: impl FnOnce()) {
    #[cfg(unix)]
    let ignored = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].map(|signal| (signal, is_ignored(signal)));
    install();
    #[cfg(unix)]
    for (signal, _) in ignored.into_iter().filter(|(_, is_ignored)| *is_ignored) {
        set(signal, SigHandler::SigIgn);
    }
}

#[cfg(unix)]
fn is_ignored(signal: Signal) -> bool {
    // There is no way to ask without setting it.
    match set(signal, SigHandler::SigIgn) {
        Some(SigHandler::SigIgn) => true,
        Some(old) => set(signal, old).is_none(),
        None => false,
    }
}

#[cfg(unix)]
fn set(what: Signal, handler: SigHandler) -> Option<SigHandler> {
    // SAFETY: either no code runs on the signal, or the code that ran on it before.
    unsafe { signal(what, handler) }.ok()
}
