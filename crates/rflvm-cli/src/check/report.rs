//! What checks come to: lines for people, a table, a picture, and JSON for programs.

use crate::drawn::text;
use crate::output::csv_text;
use crate::picture::histograms::{self, Histogram};
use crate::summary;
use rflvm::model::{Block, Model};
use rflvm::posterior::check::Check;
use rflvm::posterior::convergence::{Convergence, Outcome};
use serde_json::{Value, json};

/// p-values below it are remarked upon.
const SMALL: f64 = 0.05;

/// Checks of a fit, and whether its draws are to be trusted.
pub struct Report<'a> {
    pub checks: &'a [Check],
    pub model: &'a Model,
    pub convergence: &'a Convergence,
}

impl Report<'_> {
    /// Draws of chains that have not converged are not those of the posterior, and what they suggest may be wrong.
    fn is_converged(&self) -> bool {
        self.convergence.outcome == Outcome::Converged
    }

    /// Why there is no advice, if there is none.
    fn no_advice(&self) -> Option<String> {
        let word = summary::word(self.convergence);
        (!self.is_converged())
            .then(|| format!("no advice is given, because the fit is not known to have converged ({word})"))
    }

    /// What a small p-value suggests.
    fn suggestion(&self, check: &Check) -> Option<String> {
        let is_small = check.p() < SMALL && self.is_converged();
        is_small.then(|| check.advice(self.block(check).family.as_ref()))
    }

    fn block(&self, check: &Check) -> &Block {
        &self.model.blocks()[check.block]
    }

    /// Family and number of columns.
    fn columns(&self, check: &Check) -> String {
        let block = self.block(check);
        let count = block.columns.len();
        format!("{}, {count} column{}", block.family.name(), if count == 1 { "" } else { "s" })
    }

    fn draws(&self) -> usize {
        self.checks.first().map_or(0, |check| check.replicated.len())
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let width = self.checks.iter().map(|c| c.statistic.name().chars().count()).max().unwrap_or(0);
        let head =
            format!("{:width$} {:>11} {:>11} {:>23} {:>7}", "statistic", "observed", "replicated", "90% of them", "p");
        let mut lines = vec![head];
        let mut block = None;
        for check in self.checks {
            if block.replace(check.block) != Some(check.block) {
                lines.push(self.columns(check));
            }
            let (name, [low, high]) = (check.statistic.name(), check.interval());
            let (observed, mean) = (number(check.observed()), number(check.mean()));
            let interval = format!("{} … {}", number(low), number(high));
            lines.push(format!("{name:width$} {observed:>11} {mean:>11} {interval:>23} {:>7.3}", check.p()));
            lines.extend(self.suggestion(check).map(|suggestion| format!("  → {suggestion}")));
        }
        let small = self.checks.iter().filter(|check| check.p() < SMALL).count();
        let all = self.checks.len();
        lines.push(format!(
            "{} replicated tables; {small} of {all} statistics have p < {SMALL} (two-sided)",
            self.draws()
        ));
        lines.extend(self.no_advice());
        lines
    }

    /// `block,family,columns,statistic,observed,mean,q05,q95,p,words,suggests`; blocks are counted from 1.
    pub fn csv(&self) -> String {
        let header =
            ["block", "family", "columns", "statistic", "observed", "mean", "q05", "q95", "p", "words", "suggests"];
        let line = |check: &Check| {
            let block = self.block(check);
            let [low, high] = check.interval();
            let mut line = vec![(check.block + 1).to_string(), block.family.name().to_string()];
            line.extend([block.columns.len().to_string(), check.statistic.name().to_string()]);
            line.extend([check.observed(), check.mean(), low, high, check.p()].map(text));
            line.extend([words(check), self.suggestion(check).unwrap_or_default()]);
            line
        };
        csv_text(header.map(String::from).to_vec(), self.checks.iter().map(line))
    }

    /// Replicated tables beside the observed one, one panel per statistic.
    pub fn svg(&self, title: &str) -> String {
        let panel = |check: &Check| Histogram {
            name: check.statistic.name().into(),
            about: self.columns(check),
            values: check.replicated.clone(),
            observed: check.observed(),
            range: check.observed_interval(),
            words: words(check),
            is_marked: check.p() < SMALL,
        };
        let mut notes = vec![format!("bars: {} replicated tables; line: the observed table", self.draws())];
        if !self.is_converged() {
            notes.push("the fit is not known to have converged".into());
        }
        histograms::svg(title, &self.checks.iter().map(panel).collect::<Vec<_>>(), &notes)
    }

    /// For programs.
    pub fn as_json(&self) -> Value {
        let finite = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
        let one = |check: &Check| {
            let (block, [low, high]) = (self.block(check), check.interval());
            json!({
                "family": block.family.name(), "columns": block.columns.len(), "statistic": check.statistic.name(),
                "observed": finite(check.observed()), "mean": finite(check.mean()), "q05": finite(low), "q95": finite(high),
                "p": finite(check.p()), "words": words(check), "suggests": self.suggestion(check),
            })
        };
        json!({
            "draws": self.draws(), "converged": self.is_converged(), "no_advice": self.no_advice(),
            "checks": self.checks.iter().map(one).collect::<Vec<_>>(),
        })
    }
}

/// A p-value in words.
fn words(check: &Check) -> String {
    let (p, above) = (check.p(), check.above());
    let share = |v: f64| format!("{:.0}%", (100.0 * v).floor());
    match p {
        p if p >= SMALL => format!("the observed table is typical (p = {p:.2})"),
        _ if above < 0.5 => format!("larger than in {} of replicated tables (p = {p:.3})", share(1.0 - above)),
        _ => format!("smaller than in {} of replicated tables (p = {p:.3})", share(above)),
    }
}

/// Four digits that count.
fn number(value: f64) -> String {
    let places = if value == 0.0 { 0.0 } else { 3.0 - value.abs().log10().floor() };
    if value.abs() >= 1e9 { format!("{value:.3e}") } else { format!("{value:.*}", places.clamp(0.0, 6.0) as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rflvm::model::ModelSpec;
    use rflvm::model::family::Poisson;
    use rflvm::observations::Observations;
    use rflvm::posterior::check::Statistic;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in
            [(0.0, "0"), (0.41239, "0.4124"), (12.3456, "12.35"), (123456.0, "123456"), (2e12, "2.000e12")]
        {
            assert_eq!(number(value), text);
        }
    }

    fn check(observed: f64) -> Check {
        let replicated: Vec<f64> = (0..200).map(|i| f64::from(i) / 200.0).collect();
        Check { block: 0, statistic: Statistic::Zeros, observed: vec![observed; 200], replicated }
    }

    #[test]
    fn p_values_are_told_in_words() {
        assert_eq!(words(&check(0.5)), "the observed table is typical (p = 1.00)");
        assert_eq!(words(&check(2.0)), "larger than in 99% of replicated tables (p = 0.005)");
        assert_eq!(words(&check(-1.0)), "smaller than in 99% of replicated tables (p = 0.005)");
    }

    #[test]
    fn only_a_fit_that_has_converged_gives_advice() {
        let y = rflvm::linalg::Mat::from_fn(6, 2, |n, j| (n * (j + 1) % 4) as f64);
        let spec = ModelSpec { features: 4, ..ModelSpec::default() };
        let model = Model::new(Observations::new(y).unwrap(), Poisson, spec).unwrap();
        let checks = [check(2.0), check(0.5)];
        for outcome in
            [Outcome::Converged, Outcome::RunLonger { factor: 3.0 }, Outcome::ChainsDisagree, Outcome::CannotTell]
        {
            let convergence = Convergence { lines: Vec::new(), chains: Vec::new(), draws: 100, outcome };
            let report = Report { checks: &checks, model: &model, convergence: &convergence };
            let (lines, json, csv) = (report.lines().join("\n"), report.as_json(), report.csv());
            let is_advised = outcome == Outcome::Converged;
            assert_eq!(lines.contains("→ more zeros"), is_advised, "{lines}");
            assert_eq!(csv.contains("more zeros"), is_advised, "{csv}");
            assert_eq!(json["checks"][0]["suggests"].is_string(), is_advised, "{json}");
            assert_eq!(lines.contains("no advice is given"), !is_advised, "{lines}");
            assert_eq!((json["converged"] == true, json["no_advice"].is_null()), (is_advised, is_advised));
            assert!(lines.contains("1 of 2 statistics have p < 0.05"), "{lines}");
            assert_eq!(report.svg("t").contains("not known to have converged"), !is_advised);
        }
    }
}
