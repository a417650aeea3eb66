//! Queries to the draws of a fit, one file per kind.

mod arrays;
mod cells;
mod densities;
mod effects;
mod rows;
mod verdicts;
