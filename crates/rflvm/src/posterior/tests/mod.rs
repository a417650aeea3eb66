//! What tests of this folder share.

pub(super) mod fixture;
pub(super) mod mixed;
