//! The result of a comparison: a table, compare.csv, compare.svg, and one recommendation with its reason.

use crate::aligned::aligned;
use crate::console::{Console, tell};
use crate::failure::Failure;
use crate::message::Flags;
use crate::picture::intervals::{self, Interval};
use crate::reply::names;
use rflvm::internal::posterior::ranking::Estimate;
use rflvm_study::cells::csv_text;
use rflvm_study::comparison::Ranked;
use rflvm_study::message::render;
use rflvm_study::write;
use serde_json::json;
use std::path::Path;

/// A ranking and its title.
pub struct Report<'a> {
    pub title: String,
    pub ranked: Ranked<'a>,
}

impl Report<'_> {
    /// Prints and writes the report.
    pub fn tell(&self, dir: &Path, console: Console) -> Result<(), Failure> {
        let ranked = &self.ranked;
        let lines = ranked.order().into_iter().map(|i| ranked.line(i));
        write::text(&dir.join("compare.csv"), &csv_text(ranked.header(), lines))?;
        write::text(&dir.join("compare.svg"), &self.picture())?;
        if !console.quiet && !console.json {
            aligned(&ranked.short()).lines().try_for_each(tell)?;
            tell(&format!("recommended: {}", ranked.reason()))?;
            tell(&format!("results: {} {}", dir.join("compare.csv").display(), dir.join("compare.svg").display()))?;
        }
        for warning in ranked.warnings() {
            console.warn(&render(&warning, &Flags));
        }
        let mut answer = ranked.answer();
        answer["files"] = json!(names(&[dir.join("compare.csv"), dir.join("compare.svg")]));
        console.answer("comparison", answer);
        Ok(())
    }

    fn picture(&self) -> String {
        let Ranked { ranking, outcomes, .. } = &self.ranked;
        let interval = |i: usize| {
            let Estimate { value, error } = ranking.differences[i];
            let is_marked = i == ranking.recommended;
            Interval { name: outcomes[i].candidate.words(), value, error, is_marked }
        };
        let intervals: Vec<Interval> = self.ranked.order().into_iter().map(interval).collect();
        intervals::svg(
            &self.title,
            "log predictive density of held-out cells, relative to the best candidate",
            &intervals,
        )
    }
}
