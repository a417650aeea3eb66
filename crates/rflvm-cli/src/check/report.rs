//! Checks as text and as a picture.

use crate::message::Flags;
use crate::picture::histograms::{self, Histogram};
use crate::picture::spec::Picture;
use rflvm::internal::posterior::check::{Check, Conflict};
use rflvm_study::answers::checks::{Report, SMALL, words};
use rflvm_study::conflict;
use rflvm_study::message::render;

/// A report as the program shows it.
pub struct Shown<'a>(pub &'a Report<'a>);

impl Shown<'_> {
    /// Advice for a small p-value, with flags.
    fn suggestion(&self, check: &Check) -> Option<String> {
        self.0.suggestion(check).map(|sentence| render(&sentence, &Flags))
    }

    /// Advice for a prior, with flags.
    fn remedy(&self, conflict: &Conflict) -> Option<String> {
        self.0.remedy(conflict).map(|sentence| render(&sentence, &Flags))
    }

    /// As text.
    pub fn lines(&self) -> Vec<String> {
        let width = self.0.checks.iter().map(|c| self.0.statistic(c).chars().count()).max().unwrap_or(0);
        let head =
            format!("{:width$} {:>11} {:>11} {:>23} {:>7}", "statistic", "observed", "replicated", "90% of them", "p");
        let mut lines = vec![head];
        let mut block = None;
        for check in &self.0.checks {
            if block.replace(check.block) != Some(check.block) {
                lines.push(self.0.columns(check));
            }
            let (name, [low, high]) = (self.0.statistic(check), check.interval());
            let (observed, mean) = (number(check.observed()), number(check.mean()));
            let interval = format!("{} … {}", number(low), number(high));
            lines.push(format!("{name:width$} {observed:>11} {mean:>11} {interval:>23} {:>7.3}", check.p()));
            lines.extend(self.suggestion(check).map(|suggestion| format!("  → {suggestion}")));
        }
        let small = self.0.checks.iter().filter(|check| check.p() < SMALL).count();
        let all = self.0.checks.len();
        lines.push(format!(
            "{} replicated tables; {small} of {all} statistics have p < {SMALL} (two-sided)",
            self.0.draws()
        ));
        for conflict in &self.0.conflicts {
            let (name, words) = (conflict.assumption.name(), conflict::words(conflict, self.0.model));
            lines.push(format!("the prior of {name} conflicts with its posterior: {words}"));
            lines.extend(self.remedy(conflict).map(|remedy| format!("  → {remedy}")));
        }
        lines.extend(self.0.conflicts.is_empty().then(|| conflict::NONE.into()));
        lines.extend(self.0.no_advice());
        lines
    }

    /// Replicated tables compared with the observed one, one panel per statistic.
    pub fn picture(&self, title: &str) -> Picture {
        let panel = |check: &Check| Histogram {
            name: self.0.statistic(check),
            about: self.0.columns(check),
            values: check.replicated.clone(),
            observed: check.observed(),
            range: check.observed_interval(),
            words: words(check),
            is_marked: check.p() < SMALL,
        };
        let mut notes = vec![format!("bars: {} replicated tables; line: the observed table", self.0.draws())];
        if !self.0.is_converged() {
            notes.push("the fit is not known to have converged".into());
        }
        histograms::picture(title, &self.0.checks.iter().map(panel).collect::<Vec<_>>(), notes)
    }
}

/// Four significant digits.
fn number(value: f64) -> String {
    let places = if value == 0.0 { 0.0 } else { 3.0 - value.abs().log10().floor() };
    if value.abs() >= 1e9 { format!("{value:.3e}") } else { format!("{value:.*}", places.clamp(0.0, 6.0) as usize) }
}
