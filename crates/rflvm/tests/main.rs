//! What the engine answers, in one program, since each takes seconds to link. The tests that need a program to themselves have one.

mod arviz;
mod curve;
mod modes;
mod noise;
mod reproducible;
mod units;
