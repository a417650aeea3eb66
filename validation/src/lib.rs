//! Is the sampler right? Geweke's joint-distribution test ("Getting it right", 2004) of every family, and errors planted
//! on purpose to show that the test would have seen them.
//!
//! | file | what |
//! |---|---|
//! | [`calibration`] | intervals of hidden cells, and of cells drawn again, on tables drawn from the model |
//! | [`configurations`] | the tiny models that are tested |
//! | [`functions`] | what is compared: moments of unknowns and data |
//! | [`geweke`] | the two samplers of the joint distribution and their comparison |
//! | [`planted`] | wrong steps, each a known mistake |
//! | [`verdict`] | one threshold for all, and the printed tables |

pub mod calibration;
pub mod configurations;
pub mod functions;
pub mod geweke;
pub mod planted;
pub mod verdict;
