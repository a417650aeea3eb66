//! The program, run as users run it. One binary, so that it is linked once and its tests share the cores.

#[path = "../common/mod.rs"]
mod common;

mod alike;
mod axes;
mod backtest;
mod categories;
mod censored;
mod column_process;
mod compare;
mod covariates;
mod damage;
mod effects;
mod equations;
mod folder;
mod forecast;
mod hostile;
mod impute;
mod limits;
mod map;
mod memory;
mod modes;
mod names;
mod newcomer;
mod ordinal;
mod outputs;
mod pictures;
mod predict;
mod priors;
mod program;
mod progress;
mod release;
mod replace;
mod report;
mod resume;
mod rows;
mod search;
mod times;
mod transform;
mod verdict;
mod version_0_2;
