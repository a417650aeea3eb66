//! Names that are given more than once.

use std::collections::{HashMap, HashSet};

/// Several genes share a symbol; the later ones become `symbol-1`, `symbol-2`, … as in scanpy.
pub(super) fn unique(mut names: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen = HashSet::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for name in &mut names {
        if seen.insert(name.clone()) {
            continue;
        }
        let count = counts.entry(name.clone()).or_default();
        *name = loop {
            *count += 1;
            let candidate = format!("{name}-{count}");
            if taken.insert(candidate.clone()) {
                break candidate;
            }
        };
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_become_unique_as_in_scanpy() {
        let names = "a a b a a-1 b".split(' ').map(String::from).collect();
        assert_eq!(unique(names), ["a", "a-2", "b", "a-3", "a-1", "b-1"]);
    }
}
