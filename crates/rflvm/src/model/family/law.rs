//! Densities of single cells that other processors know too ([`crate::device`]).

use super::{
    Binomial, Family, Gaussian, Isotropic, Multinomial, NegativeBinomial, Poisson, StudentT, Trials,
    ZeroInflatedPoisson,
};

/// A density of a cell given f and the family's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law<'a> {
    /// N(f, 1/θ).
    Gaussian(&'a Gaussian),
    /// N(f, 1/θ), θ the same for all columns in one unit.
    Isotropic(&'a Isotropic),
    /// Po(e^f).
    Poisson,
    /// Po(e^f) given the rate of its row ([`crate::device::totals`]).
    Multinomial,
    /// Bin(trials, logistic(f)).
    Binomial(&'a Trials),
    /// NB(θ, logistic(f)).
    NegativeBinomial(&'a NegativeBinomial),
    /// f + t_ν/√θ, with ν the second parameter.
    StudentT(&'a StudentT),
    /// Zero with probability logistic(θ), otherwise Po(e^f).
    ZeroInflatedPoisson(&'a ZeroInflatedPoisson),
}

impl<'a> Law<'a> {
    /// That of a family, if other processors know it.
    pub fn of(family: &'a dyn Family) -> Option<Self> {
        let any = family.as_any()?;
        None.or_else(|| any.downcast_ref().map(Law::Gaussian))
            .or_else(|| any.downcast_ref().map(Law::Isotropic))
            .or_else(|| any.downcast_ref().map(|Poisson| Law::Poisson))
            .or_else(|| any.downcast_ref().map(|Multinomial| Law::Multinomial))
            .or_else(|| any.downcast_ref::<Binomial>().map(|family| Law::Binomial(&family.trials)))
            .or_else(|| any.downcast_ref().map(Law::NegativeBinomial))
            .or_else(|| any.downcast_ref().map(Law::StudentT))
            .or_else(|| any.downcast_ref().map(Law::ZeroInflatedPoisson))
    }
}
