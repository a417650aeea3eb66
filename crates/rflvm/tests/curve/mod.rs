//! A small S-curve of any family, for tests that run the whole sampler.

use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Family, Theta, Unit};
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::rng::Stream;
use rflvm::internal::simulate::s_curve;
use rflvm::internal::spec;
use std::sync::Arc;

const ROWS: usize = 150;
const COLUMNS: usize = 60;

fn family(name: &str) -> Arc<dyn Family> {
    spec::family(name, None).unwrap()
}

/// An S-curve of the family, large enough that every parallel loop is split; with missing cells if requested.
pub fn model(name: &str, missing: bool) -> Model {
    let family = family(name);
    let unit = Unit::new(0.0, 1.0);
    let start = family.start(&[(0, 1.0, 0.0), (1, 3.0, 0.0)], &unit);
    let theta = Theta { values: Mat::from_fn(start.len(), COLUMNS, |p, _| start[p]), hyper: Vec::new() };
    let curve = s_curve(ROWS, COLUMNS, family.as_ref(), &theta, 50, Stream::new(9)).unwrap();
    let mut y = curve.y;
    if missing {
        for n in (0..ROWS).step_by(3) {
            match family.is_whole() {
                true => y.row_mut(n).fill(f64::NAN),
                false => y[(n, (7 * n) % COLUMNS)] = f64::NAN,
            }
        }
    }
    let spec = ModelSpec { features: 10, ..ModelSpec::default() };
    let columns = (0..COLUMNS).collect();
    Model::with_blocks(Observations::new(y).unwrap(), vec![(columns, family)], spec).unwrap()
}
