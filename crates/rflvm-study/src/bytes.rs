//! How much memory is free, and amounts of memory in words.

use sysinfo::System;

/// Memory available without swapping, as reported by the system.
pub fn free() -> Option<u128> {
    let mut system = System::new();
    system.refresh_memory();
    // A container counts files that it has read as used, but gives their memory back when it is needed: only what programs hold is taken.
    let container = system.cgroup_limits().map(|l| l.total_memory.saturating_sub(l.rss));
    let free = container.map_or(system.available_memory(), |c| c.min(system.available_memory()));
    let free = u128::from(free);
    let free = granted().map_or(free, |granted| granted.min(free));
    (free > 0).then_some(free)
}

/// What the limits of this process (`ulimit -v`, `ulimit -d`) still grant it, where the system tells.
fn granted() -> Option<u128> {
    let [limits, status] = ["limits", "status"].map(|name| std::fs::read_to_string(format!("/proc/self/{name}")));
    granted_by(&limits.ok()?, &status.ok()?)
}

/// The same, from the words of Linux.
fn granted_by(limits: &str, status: &str) -> Option<u128> {
    let after = |text: &str, name: &str| -> Option<u128> {
        text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
    };
    let left = |limit: &str, held: &str| {
        let held = 1024 * after(status, held)?;
        Some(after(limits, limit)?.saturating_sub(held).max(1))
    };
    [left("Max address space", "VmSize:"), left("Max data size", "VmData:")].into_iter().flatten().min()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_process_leave_what_it_does_not_hold() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             1000000              unlimited            bytes     \n\
                      Max address space         unlimited            unlimited            bytes     \n";
        let status = "VmSize:\t    2000 kB\nVmData:\t     100 kB\n";
        assert_eq!(granted_by(limits, status), Some(1_000_000 - 102_400));
        assert_eq!(granted_by(&limits.replace("1000000", "unlimited"), status), None);
        assert_eq!(granted_by(&limits.replace("1000000", "5      "), status), Some(1));
    }
}
