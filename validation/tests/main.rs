//! The fast slice of `make validate`.

mod calibration;
mod geweke;
mod planted;
