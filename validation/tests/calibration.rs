//! Intervals of hidden cells cover what they say, on tables drawn from the model with rows in time.

use rflvm_validation::calibration::{FAST, coverage, kinds};
use rflvm_validation::verdict::SEED;

#[test]
fn intervals_of_hidden_cells_cover_what_they_say() {
    for kind in kinds() {
        let found = coverage(kind, FAST, SEED).unwrap();
        for (level, share, error) in found.levels {
            println!("{}: {share:.3} ± {error:.3} for {level}", found.name);
            // So few tables see only a gross error (a standard error is about two points); `make validate` holds to three points.
            assert!((share - level).abs() < 4.0 * error, "{}: {share} ± {error} for {level}", found.name);
        }
    }
}
