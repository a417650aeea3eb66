//! Rows that the fit has not seen.

use crate::device::{Device, Open};
use crate::error::RunError;
use crate::model::Model;
use crate::observations::Times;
use crate::par;
use crate::rng::Stream;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Opens a device for a table.
#[derive(Clone)]
pub struct Opener(pub Arc<Open<'static>>);

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener")
    }
}

/// Key of a row's random stream.
pub(super) type Key = [u64; 3];

/// Rows to place.
#[derive(Debug, Clone)]
pub struct NewRows {
    /// The model of the fit with these rows in place of the training rows: see [`Model::with_rows`].
    pub model: Model,
    /// Their times, if the rows of the fit have times; an unknown sequence has its own path.
    pub times: Option<Times>,
    /// Which of them are rows of the fit, by index: they keep their positions there. Empty if none is.
    pub own: Vec<Option<usize>>,
    /// The device on which they are placed, if not here.
    pub open: Option<Opener>,
}

impl NewRows {
    /// The rows that are rows of the fit, each with its index there.
    pub(super) fn own(&self) -> impl Iterator<Item = (usize, usize)> {
        self.own.iter().enumerate().filter_map(|(n, own)| own.map(|own| (n, own)))
    }

    /// Their device, with their table.
    pub(super) fn device(&self) -> Result<Option<Box<dyn Device>>, RunError> {
        self.open.as_ref().map(|open| open.0(&self.model, 0)).transpose()
    }

    /// Key of each row's random stream: its contents, and the number of equal rows before it. So a row is
    /// placed the same way alone and among others, in any order.
    pub(super) fn keys(&self) -> Vec<Key> {
        let (model, times) = (&self.model, &self.times);
        let of = |n: usize| {
            let known = model.offset()[n..=n].iter().chain(model.covariates().row(n));
            let cells = model.y().row(n).iter().chain(known);
            let when = times.iter().flat_map(|t| [t.at[n].to_bits(), t.sequence[n] as u64]);
            Stream::new(0).along(row_key(cells).into_iter().chain(when)).key()
        };
        let mut met: HashMap<[u64; 2], u64> = HashMap::new();
        let numbered = |key: [u64; 2]| {
            let count = met.entry(key).or_default();
            *count += 1;
            [key[0], key[1], *count]
        };
        par::map(model.rows(), 10 * model.rows() * model.columns(), of).into_iter().map(numbered).collect()
    }
}

/// Key of a row's cells: all NaNs are equal, and so are both zeros.
#[doc(hidden)]
pub fn row_key<'a>(cells: impl IntoIterator<Item = &'a f64>) -> [u64; 2] {
    let bits = cells.into_iter().map(|y| if y.is_nan() { f64::NAN.to_bits() } else { (y + 0.0).to_bits() });
    Stream::new(0).along(bits).key()
}
