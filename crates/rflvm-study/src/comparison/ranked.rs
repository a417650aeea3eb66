//! The result of a comparison: all candidates ranked, and one recommendation with its reason.

use super::candidate::Candidate;
use super::piece::Piece;
use crate::error::Error;
use rflvm::internal::error::SpecError;
use rflvm::internal::posterior::psis::TRUSTED;
use rflvm::internal::posterior::ranking::{Estimate, Ranking, RowScores, rank};
use serde_json::{Value, json};

/// R̂ above which the scores of a fit are not trusted.
const DISAGREE: f64 = 1.1;

/// A candidate with the scores of all its fits.
pub struct Outcome<'a> {
    /// The candidate.
    pub candidate: &'a Candidate,
    rows: RowScores,
    /// Scores of rows left out, and how many of them are doubtful.
    left_out: Option<(RowScores, usize)>,
    ess: f64,
    r_hat: f64,
    set_aside: usize,
    seconds: f64,
}

impl<'a> Outcome<'a> {
    /// Combines the fits of a candidate.
    pub(super) fn new(candidate: &'a Candidate, pieces: &[Piece]) -> Self {
        let (loo, splits): (Vec<&Piece>, Vec<&Piece>) = pieces.iter().partition(|p| p.doubtful.is_some());
        let mut rows = splits.iter().map(|p| p.rows());
        let first = rows.next().unwrap_or(RowScores { ln_density: Vec::new(), points: Vec::new() });
        let rows = rows.fold(first, |mut sum, rows| {
            sum.add(&rows);
            sum
        });
        let number = |v: Option<f64>| v.unwrap_or(f64::NAN);
        Outcome {
            candidate,
            rows,
            left_out: loo.first().map(|p| (p.rows(), p.doubtful.unwrap_or(0))),
            ess: pieces.iter().map(|p| number(p.ess)).fold(f64::NAN, f64::min),
            r_hat: pieces.iter().map(|p| number(p.r_hat)).fold(f64::NAN, f64::max),
            set_aside: pieces.iter().map(|p| p.set_aside).sum(),
            seconds: pieces.iter().map(|p| p.seconds).sum(),
        }
    }
}

/// All candidates, ranked.
pub struct Ranked<'a> {
    /// The candidates, in the order of the lists.
    pub outcomes: Vec<Outcome<'a>>,
    /// Their ranking.
    pub ranking: Ranking,
    /// By leave-one-out, if requested.
    left_out: Option<Ranking>,
    note: Option<&'static str>,
}

impl<'a> Ranked<'a> {
    /// Ranks the candidates.
    pub(super) fn new(outcomes: Vec<Outcome<'a>>, note: Option<&'static str>) -> Result<Self, Error> {
        let complexity: Vec<_> = outcomes.iter().map(|o| o.candidate.complexity()).collect();
        let none = || {
            let (setting, value) = ("candidates", "none".into());
            SpecError::Setting { setting, value, rule: "there is nothing to compare".into() }
        };
        let rows: Vec<RowScores> = outcomes.iter().map(|o| o.rows.clone()).collect();
        let ranking = rank(&rows, &complexity).ok_or_else(none)?;
        let left: Vec<RowScores> = outcomes.iter().filter_map(|o| o.left_out.as_ref().map(|l| l.0.clone())).collect();
        let left_out = if left.len() == outcomes.len() { rank(&left, &complexity) } else { None };
        Ok(Ranked { outcomes, ranking, left_out, note })
    }

    /// Candidates, best first.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.outcomes.len()).collect();
        order.sort_by(|&a, &b| self.ranking.differences[b].value.total_cmp(&self.ranking.differences[a].value));
        order
    }

    /// Why the recommended candidate is recommended.
    pub fn reason(&self) -> String {
        let Ranking { best, recommended, .. } = self.ranking;
        let name = |i: usize| self.outcomes[i].candidate.words();
        if best == recommended {
            return format!(
                "{}; it has the best score, and no simpler candidate is within one standard error of it",
                name(best)
            );
        }
        let Estimate { value, error } = self.ranking.differences[recommended];
        let (best, below) = (name(best), -value);
        format!(
            "{}; it is the simplest within one standard error of the best, {best}, which scores {below:.1} ± {error:.1} higher",
            name(recommended)
        )
    }

    /// Why scores may mislead.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.note.iter().map(ToString::to_string).collect();
        for i in [self.ranking.best, self.ranking.recommended] {
            let Outcome { candidate, r_hat, .. } = &self.outcomes[i];
            let warning = format!(
                "the chains of {} disagree (R̂ {r_hat:.2}), so differences may be due to chance; run more sweeps with ⟨warmup⟩ and ⟨draws⟩",
                candidate.words()
            );
            if *r_hat > DISAGREE && !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        let doubtful = self.outcomes.iter().filter_map(|o| o.left_out.as_ref().map(|l| l.1)).max().unwrap_or(0);
        if doubtful > 0 {
            let rows = self.outcomes.first().map_or(0, |o| o.rows.points.len());
            warnings.push(format!(
                "up to {doubtful} of {rows} rows have k̂ above {TRUSTED}: a fit without them would be too different for their leave-one-out scores to be trusted; rely on the held-out cells"
            ));
        }
        warnings
    }

    /// The names of its columns.
    pub fn header(&self) -> Vec<String> {
        let mut names =
            vec!["latent_dim", "likelihood", "kernel", "features", "elpd", "se", "difference", "difference_se"];
        if self.left_out.is_some() {
            names.extend(["loo_elpd", "loo_se", "loo_difference", "loo_difference_se", "doubtful_rows"]);
        }
        names.extend(["ess", "r_hat", "chains_set_aside", "seconds", "recommended"]);
        names.into_iter().map(String::from).collect()
    }

    /// The line of a candidate.
    pub fn line(&self, i: usize) -> Vec<String> {
        let text = |v: f64| if v.is_nan() { String::new() } else { v.to_string() };
        let outcome = &self.outcomes[i];
        let c = outcome.candidate;
        let mut line =
            vec![c.latent_dim.to_string(), c.likelihood.clone(), c.kernel.to_string(), c.features.to_string()];
        let mut put = |e: Estimate| line.extend([text(e.value), text(e.error)]);
        put(outcome.rows.total());
        put(self.ranking.differences[i]);
        if let (Some(ranking), Some((rows, doubtful))) = (&self.left_out, &outcome.left_out) {
            put(rows.total());
            put(ranking.differences[i]);
            line.push(doubtful.to_string());
        }
        line.extend([text(outcome.ess), text(outcome.r_hat), outcome.set_aside.to_string(), text(outcome.seconds)]);
        line.push((i == self.ranking.recommended).to_string());
        line
    }

    fn as_json(&self, i: usize) -> Value {
        let mut object = serde_json::Map::new();
        for (name, text) in self.header().into_iter().zip(self.line(i)) {
            // The JSON reader may change the last digit of a number.
            let value = match (text.parse::<u64>(), text.parse::<f64>(), text.parse::<bool>()) {
                _ if text.is_empty() => Value::Null,
                (Ok(count), ..) => json!(count),
                (_, Ok(number), _) if number.is_finite() => json!(number),
                (.., Ok(truth)) => json!(truth),
                _ => json!(text),
            };
            object.insert(name, value);
        }
        Value::Object(object)
    }

    /// The table for people: the header, and a line per candidate, best first.
    pub fn short(&self) -> Vec<Vec<String>> {
        let both = |e: Estimate| {
            let error = if e.error.is_nan() { String::new() } else { format!(" ± {:.1}", e.error) };
            format!("{:.1}{error}", e.value)
        };
        let number = |v: f64, places: usize| if v.is_nan() { "–".into() } else { format!("{v:.places$}") };
        let mut header = vec!["D", "likelihood", "kernel", "features", "elpd", "to the best"];
        if self.left_out.is_some() {
            header.extend(["left-out rows", "to the best", "k̂ > 0.7"]);
        }
        header.extend(["ESS", "R̂", "seconds", ""]);
        let mut lines: Vec<Vec<String>> = vec![header.into_iter().map(String::from).collect()];
        for i in self.order() {
            let outcome = &self.outcomes[i];
            let mut line = self.line(i)[..4].to_vec();
            line.extend([both(outcome.rows.total()), both(self.ranking.differences[i])]);
            if let (Some(ranking), Some((rows, doubtful))) = (&self.left_out, &outcome.left_out) {
                line.extend([both(rows.total()), both(ranking.differences[i]), doubtful.to_string()]);
            }
            line.extend([number(outcome.ess, 0), number(outcome.r_hat, 2), number(outcome.seconds, 0)]);
            line.push(if i == self.ranking.recommended { "←" } else { "" }.into());
            lines.push(line);
        }
        lines
    }

    /// All of it as one object.
    pub fn answer(&self) -> Value {
        let all: Vec<Value> = self.order().into_iter().map(|i| self.as_json(i)).collect();
        json!({ "candidates": all, "reason": self.reason() })
    }
}
