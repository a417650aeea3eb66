//! Is the sampler right? Geweke's joint-distribution test ("Getting it right", 2004) of every family, and deliberately planted
//! errors to show that the test would detect them.
//!
//! | file | what |
//! |---|---|
//! | [`calibration`] | coverage for hidden cells and new replicates, on tables drawn from the model |
//! | [`configurations`] | the tiny models that are tested |
//! | [`functions`] | what is compared: moments of unknowns and data |
//! | [`geweke`] | the two samplers of the joint distribution and their comparison |
//! | [`planted`] | wrong steps, each a known mistake |
//! | [`positions`] | coverage of positions, by where chains start and how long they run |
//! | [`routine`] | the configurations of `make test` |
//! | [`verdict`] | one threshold for all, and the printed tables |

pub mod calibration;
pub mod configurations;
pub mod functions;
pub mod geweke;
pub mod planted;
pub mod positions;
pub mod routine;
pub mod verdict;
