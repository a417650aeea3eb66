//! Posterior predictive checks of a fit, and priors that conflict with their posterior: in words, with advice, and as JSON.

use super::convergence::{self, Began};
use super::{Answer, Column, finite, stream};
use crate::conflict;
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::message::{Naming, render};
use rflvm::internal::error::RunError;
use rflvm::internal::model::{Block, Model};
use rflvm::internal::posterior::check::{Check, Conflict, REPLICATES, VISITED};
use rflvm::internal::posterior::convergence::{Convergence, Outcome};
use rflvm::internal::posterior::fitted::Fitted;
use serde_json::{Value, json};

/// p-values below this are considered small.
pub const SMALL: f64 = 0.05;

/// Checks of a fit, and whether its draws can be trusted.
pub struct Report<'a> {
    /// The checks.
    pub checks: Vec<Check>,
    /// Priors that conflict with their posterior.
    pub conflicts: Vec<Conflict>,
    /// The fitted model.
    pub model: &'a Model,
    convergence: &'a Convergence,
    began: Began,
}

/// The checks of a fit.
pub fn checks<'a>(fit: &'a Fit, drawn: &Drawn, convergence: &'a Convergence) -> Result<Report<'a>, Error> {
    Ok(report(&drawn.fitted(fit, stream::CHECKS), &fit.model, convergence, Began::of(&fit.dir))?)
}

/// The checks of a fit that need not be in a folder.
pub fn report<'a>(
    fitted: &Fitted<'_>,
    model: &'a Model,
    convergence: &'a Convergence,
    began: Began,
) -> Result<Report<'a>, RunError> {
    let (checks, conflicts) = (fitted.check(REPLICATES)?, fitted.conflicts(VISITED)?);
    Ok(Report { checks, conflicts, model, convergence, began })
}

impl Report<'_> {
    /// Draws from chains that have not converged are not posterior draws, and advice based on them may be wrong.
    pub fn is_converged(&self) -> bool {
        matches!(self.convergence.outcome, Outcome::Converged | Outcome::SeveralModes { .. })
    }

    /// Why no advice is given, if so.
    pub fn no_advice(&self) -> Option<String> {
        let word = convergence::word(self.convergence, self.began);
        (!self.is_converged())
            .then(|| format!("no advice is given, because the fit is not known to have converged ({word})"))
    }

    /// Advice for a small p-value.
    pub fn suggestion(&self, check: &Check) -> Option<String> {
        let is_small = check.p() < SMALL && self.is_converged();
        is_small.then(|| check.advice(self.block(check).family.as_ref()))
    }

    /// Advice for a prior that conflicts with its posterior.
    pub fn remedy(&self, conflict: &Conflict) -> Option<String> {
        self.is_converged().then(|| conflict::advice(conflict, self.model))
    }

    /// The block that a check is about.
    pub fn block(&self, check: &Check) -> &Block {
        &self.model.blocks()[check.block]
    }

    /// The statistic; the association of two categories with the other one's name.
    pub fn statistic(&self, check: &Check) -> String {
        let name = check.statistic.name();
        let Some(block) = check.other.map(|other| &self.model.blocks()[other]) else { return name.into() };
        let other = self.category(block).map_or_else(|| self.model.names()[block.columns.start].clone(), String::from);
        format!("{name} with {other}")
    }

    /// The name of a category, by its levels.
    fn category(&self, block: &Block) -> Option<&str> {
        let names = &self.model.names()[block.columns.clone()];
        let category = names[0].split_once('=').map(|(name, _)| name).filter(|_| block.family.is_whole());
        let has_level = |name: &String, of: &str| name.strip_prefix(of).is_some_and(|level| level.starts_with('='));
        category.filter(|category| names.iter().all(|name| has_level(name, category)))
    }

    /// Family and number of columns; a category by its name.
    pub fn columns(&self, check: &Check) -> String {
        let block = self.block(check);
        let count = block.columns.len();
        if let Some(category) = self.category(block) {
            return format!("{category} ({}, {count} levels)", block.family.name());
        }
        format!("{}, {count} column{}", block.family.name(), if count == 1 { "" } else { "s" })
    }

    /// Replicated tables.
    pub fn draws(&self) -> usize {
        self.checks.first().map_or(0, |check| check.replicated.len())
    }

    /// `block,family,columns,statistic,observed,mean,q05,q95,p,words,suggests`, in the terms of a front end; blocks are counted from 1. A prior
    /// that conflicts with its posterior has a line too: its posterior median, where the observed table would be, and its prior.
    pub fn answer(&self, naming: &dyn Naming) -> Answer {
        let sentence = |text: Option<String>| text.map_or_else(String::new, |text| render(&text, naming));
        let of_check = |check: &Check| {
            let (block, [low, high]) = (self.block(check), check.interval());
            let numbers = [check.observed(), check.mean(), low, high, check.p()];
            let words = [self.statistic(check), words(check), sentence(self.suggestion(check))];
            (Some(check.block), block.columns.len(), numbers, words)
        };
        let of_conflict = |clash: &Conflict| {
            let [_, q05, median, q95, _] = clash.prior;
            let numbers = [clash.median, median, q05, q95, f64::NAN];
            let name = format!("prior of {}", clash.assumption.name());
            (clash.block, clash.all, numbers, [name, conflict::words(clash, self.model), sentence(self.remedy(clash))])
        };
        let lines: Vec<_> = self.checks.iter().map(of_check).chain(self.conflicts.iter().map(of_conflict)).collect();
        let blocks = self.model.blocks();
        let of_block =
            |text: &dyn Fn(usize) -> String| lines.iter().map(|line| line.0.map_or_else(String::new, text)).collect();
        let words = |i: usize| lines.iter().map(|line| line.3[i].clone()).collect();
        let mut columns = vec![
            Column::texts("block", of_block(&|b| (b + 1).to_string())),
            Column::texts("family", of_block(&|b| blocks[b].family.name().into())),
            Column::counts("columns", lines.iter().map(|line| line.1).collect()),
            Column::texts("statistic", words(0)),
        ];
        for (i, name) in ["observed", "mean", "q05", "q95", "p"].into_iter().enumerate() {
            columns.push(Column::numbers(name, "", lines.iter().map(|line| line.2[i]).collect()));
        }
        columns.extend([Column::texts("words", words(1)), Column::texts("suggests", words(2))]);
        Answer { columns }
    }

    /// As JSON, in the terms of a front end.
    pub fn as_json(&self, naming: &dyn Naming) -> Value {
        let one = |check: &Check| {
            let (block, [low, high]) = (self.block(check), check.interval());
            json!({
                "family": block.family.name(), "columns": block.columns.len(), "names": &self.model.names()[block.columns.clone()], "statistic": self.statistic(check),
                "observed": finite(check.observed()), "mean": finite(check.mean()), "q05": finite(low), "q95": finite(high),
                "p": finite(check.p()), "words": words(check), "suggests": self.suggestion(check).map(|sentence| render(&sentence, naming)),
            })
        };
        let clash = |clash: &Conflict| {
            let (block, [low, high]) = (clash.block.map(|b| &self.model.blocks()[b]), clash.limits());
            json!({
                "quantity": clash.assumption.name(), "family": block.map(|block| block.family.name()),
                "conflicting": clash.outside, "of": clash.all, "worst": conflict::worst(clash, self.model),
                "median": finite(clash.median), "prior_low": finite(low), "prior_high": finite(high),
                "words": conflict::words(clash, self.model), "suggests": self.remedy(clash).map(|sentence| render(&sentence, naming)),
            })
        };
        json!({
            "draws": self.draws(), "converged": self.is_converged(), "no_advice": self.no_advice(),
            "checks": self.checks.iter().map(one).collect::<Vec<_>>(),
            "conflicts": self.conflicts.iter().map(clash).collect::<Vec<_>>(),
        })
    }
}

/// A p-value in words.
pub fn words(check: &Check) -> String {
    let (p, above) = (check.p(), check.above());
    let share = |v: f64| format!("{:.0}%", (100.0 * v).floor());
    match p {
        p if p >= SMALL => format!("the observed table is typical (p = {p:.2})"),
        _ if above < 0.5 => format!("larger than in {} of replicated tables (p = {p:.3})", share(1.0 - above)),
        _ => format!("smaller than in {} of replicated tables (p = {p:.3})", share(above)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rflvm::internal::model::ModelSpec;
    use rflvm::internal::model::family::Poisson;
    use rflvm::internal::observations::Observations;
    use rflvm::internal::posterior::check::Statistic;

    fn check(observed: f64) -> Check {
        let replicated: Vec<f64> = (0..200).map(|i| f64::from(i) / 200.0).collect();
        Check { block: 0, statistic: Statistic::Zeros, other: None, observed: vec![observed; 200], replicated }
    }

    #[test]
    fn p_values_are_described_in_words() {
        assert_eq!(words(&check(0.5)), "the observed table is typical (p = 1.00)");
        assert_eq!(words(&check(2.0)), "larger than in 99% of replicated tables (p = 0.005)");
        assert_eq!(words(&check(-1.0)), "smaller than in 99% of replicated tables (p = 0.005)");
    }

    #[test]
    fn only_a_fit_that_has_converged_gives_advice() {
        let y = rflvm::internal::linalg::Mat::from_fn(6, 2, |n, j| (n * (j + 1) % 4) as f64);
        let spec = ModelSpec { features: 4, ..ModelSpec::default() };
        let model = Model::new(Observations::new(y).unwrap(), Poisson, spec).unwrap();
        for outcome in
            [Outcome::Converged, Outcome::RunLonger { factor: 3.0 }, Outcome::ChainsDisagree, Outcome::CannotTell]
        {
            let convergence =
                Convergence { lines: Vec::new(), chains: Vec::new(), numbers: Vec::new(), draws: 100, outcome };
            let began = Began::Anywhere;
            let checks = vec![check(2.0), check(0.5)];
            let report = Report { checks, conflicts: Vec::new(), model: &model, convergence: &convergence, began };
            let json = report.as_json(&crate::message::Plain);
            let is_advised = outcome == Outcome::Converged;
            assert_eq!(json["checks"][0]["suggests"].is_string(), is_advised, "{json}");
            assert_eq!((json["converged"] == true, json["no_advice"].is_null()), (is_advised, is_advised));
        }
    }
}
