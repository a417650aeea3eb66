//! What a family says about itself, apart from its mathematics.

use super::Family;
use super::statistic::Statistic;
use super::trials::Trials;
use crate::error::SpecError;
use crate::model::Priors;
use std::sync::Arc;

/// A named family: how users call it, what it models, and how its fit is checked.
///
/// Everything that distinguishes families by more than their density follows from this: names on the command line, how
/// cells are read and rounded, which posterior predictive checks are made, and what they advise.
#[derive(Debug)]
pub struct About {
    /// The name under which it is stored.
    pub name: &'static str,
    /// Other names that users may type, in lower case with hyphens.
    pub aliases: &'static [&'static str],
    /// Which cells it models.
    pub cells: Cells,
    /// Statistics of its posterior predictive checks.
    pub statistics: &'static [Statistic],
    /// What to try when a check fails; [`advice`](crate::posterior::check::advice) has a default for other cases.
    pub suggestions: &'static [Suggestion],
    /// The family with the given priors, and the trials if it has any; for ordered levels, their number.
    pub new: New,
}

/// Makes a family with the given priors.
pub type New = fn(Option<Trials>, &Priors) -> Result<Arc<dyn Family>, SpecError>;

/// The cells that a family models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// Real numbers.
    Real,
    /// Real numbers above zero.
    Positive,
    /// Whole numbers from 0.
    Counts,
    /// 0 or 1; yes or no.
    Binary,
    /// Whole numbers from 0 to a known number of trials.
    Trials,
    /// Whole numbers from 0, one column per category; a column of text becomes one column per level.
    Categories,
    /// Whole numbers from 1 to a known number of levels, in order.
    Levels,
}

impl Cells {
    /// Whether cells are whole numbers, none of them negative.
    pub fn are_counts(self) -> bool {
        !matches!(self, Cells::Real | Cells::Positive)
    }

    /// Whether cells are ordered levels.
    pub fn are_levels(self) -> bool {
        self == Cells::Levels
    }

    /// Whether the family needs numbers of trials.
    pub fn have_trials(self) -> bool {
        self == Cells::Trials
    }

    /// Whether a column of text can be modelled, with one category per level.
    pub fn may_be_text(self) -> bool {
        self == Cells::Categories
    }
}

/// How the observed table differs from the tables that the model generates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// The statistic of the observed table is larger.
    More,
    /// The statistic of the observed table is smaller.
    Less,
}

/// What to try when a statistic of the observed table differs to that side.
pub type Suggestion = (Statistic, Observed, &'static str);
