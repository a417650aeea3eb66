//! The engine between the mathematics (`rflvm`) and its front ends (the program and the Python package): tables in many formats,
//! settings, fits in folders, and their results.
//!
//! Data flows one way: [`config`] names a table, [`table`] reads it, [`mod@model`] makes a model of it, [`fit`] checks everything and
//! [`sample`] draws into a folder; [`drawn`] reads the draws back, and [`answers`] are computed from them. Nothing here parses arguments or prints:
//! messages are returned as a [`note`] or an [`error`], which each front end puts in its own words ([`message`]).

#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
// User input must never cause a panic.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]

pub mod answers;
pub mod apart;
pub mod axes;
pub mod blocks;
pub mod bytes;
pub mod cells;
pub mod choices;
pub mod column_families;
pub mod comparison;
pub mod config;
pub mod conflict;
pub mod coordinator;
pub mod covariates;
pub mod device;
pub mod drawn;
pub mod error;
pub mod exact;
pub mod families;
pub mod fit;
pub mod folder;
pub mod identity;
pub mod idle;
pub mod label;
pub mod latent_dim;
pub mod memory;
pub mod message;
pub mod model;
pub mod modes;
mod moment;
pub mod names;
pub mod new_rows;
pub mod note;
pub mod out_dir;
pub mod outputs;
pub mod pace;
pub mod point;
pub mod reading;
pub mod run;
pub mod sample;
pub mod seen;
pub mod segment;
pub mod settings;
mod shared;
pub mod stacking;
mod survey;
pub mod table;
pub mod time_scales;
pub mod times;
mod told;
pub mod write;

pub use config::Config;
pub use error::Error;
pub use fit::Fit;
