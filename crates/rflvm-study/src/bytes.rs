//! How much memory is free, and amounts of memory in words.

use sysinfo::System;

/// Memory available without swapping, as reported by the system.
pub fn free() -> Option<u128> {
    let mut system = System::new();
    system.refresh_memory();
    // A container counts files that it has read as used, but gives their memory back when it is needed: only what programs hold is taken.
    let container = system.cgroup_limits().map(|l| l.total_memory.saturating_sub(l.rss));
    let free = container.map_or(system.available_memory(), |c| c.min(system.available_memory()));
    (free > 0).then_some(free.into())
}

/// A number of bytes, formatted for people.
pub fn in_words(bytes: u128) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        1_000_000_000..1_000_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        1_000_000_000_000..1_000_000_000_000_000_000 => format!("{:.1} TB", bytes as f64 / 1e12),
        _ => format!("{:.0e} TB", bytes as f64 / 1e12),
    }
}
