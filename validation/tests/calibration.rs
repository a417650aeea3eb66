//! Intervals for cells, hidden and replicated, have nominal coverage on tables drawn from the model: every family, and rows in time.

use rflvm_validation::calibration::{FAST, coverage, kinds};
use rflvm_validation::verdict::SEED;

#[test]
fn intervals_cover_what_they_say_and_small_p_values_are_few() {
    for kind in kinds() {
        let found = coverage(kind, FAST, SEED).unwrap();
        for share in found.hidden.iter().chain(&found.again).chain(&found.exact) {
            println!("{}: {:.3} ± {:.3} for {}", found.name, share.found, share.error, share.nominal);
            // Few tables reveal only a gross error (the standard error is about two percentage points); `make validate` requires three.
            assert!(share.above().abs() < 4.0, "{}: {share:?}", found.name);
        }
        assert!(found.small.above() < 4.0, "{}: {:?}", found.name, found.small);
    }
}
