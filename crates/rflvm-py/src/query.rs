//! Queries to the draws of a fit, one file per kind.

mod arrays;
mod cells;
mod densities;
mod kernels;
mod new;
mod page;
mod positions;
mod times;
mod verdicts;
