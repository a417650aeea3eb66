//! The sampler on a card. Without a card its kernels run on this processor (`stand_in`).

mod card;
mod chain;
mod shared;
mod stand_in;
