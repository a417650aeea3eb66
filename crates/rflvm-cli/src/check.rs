//! `rflvm check`: does the model make tables like the one that was fitted?
//!
//! A command of its own and not a flag of `predict`: it writes no file, and is asked of every fit, as `summary` is.

mod advice;

use crate::args::CheckArgs;
use crate::drawn::Drawn;
use crate::failure::Failure;
use crate::fit::Fit;
use crate::voice::tell;
use advice::advice;
use rflvm::draws::Source;
use rflvm::model::Model;
use rflvm::posterior::check::{Check, REPLICATES};
use serde_json::{Value, json};

/// p-values below it are remarked upon.
const SMALL: f64 = 0.05;

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let fit = Fit::open(&args.dir, |_| ())?;
    let drawn = Drawn::open(&fit)?;
    let draws = REPLICATES.min(drawn.used.len() * drawn.store.size()?.1);
    let checks = drawn.fitted(&fit, "check").check(REPLICATES)?;
    if args.json {
        tell(&as_json(&checks, &fit.model, draws).to_string())?;
    } else {
        tell(&table(&checks, &fit.model, draws))?;
    }
    Ok(())
}

/// What a small p-value suggests.
fn remark(check: &Check, family: &str) -> Option<String> {
    let is_more = check.above < 0.5;
    (check.p() < SMALL).then(|| advice(check.statistic, is_more, family))
}

fn table(checks: &[Check], model: &Model, draws: usize) -> String {
    let width = checks.iter().map(|c| c.statistic.name().chars().count()).max().unwrap_or(0);
    let head =
        format!("{:width$} {:>11} {:>11} {:>23} {:>7}", "statistic", "observed", "replicated", "90% of them", "p");
    let mut lines = vec![head];
    let (mut block, mut small) = (None, 0);
    for check in checks {
        let of = &model.blocks()[check.block];
        if block.replace(check.block) != Some(check.block) {
            let count = of.columns.len();
            lines.push(format!("{}, {count} column{}", of.family.name(), if count == 1 { "" } else { "s" }));
        }
        let interval = format!("{} … {}", number(check.interval[0]), number(check.interval[1]));
        let (name, observed, mean) = (check.statistic.name(), number(check.observed), number(check.mean));
        lines.push(format!("{name:width$} {observed:>11} {mean:>11} {interval:>23} {:>7.3}", check.p()));
        if let Some(remark) = remark(check, of.family.name()) {
            lines.push(format!("  → {remark}"));
            small += 1;
        }
    }
    let word = match small {
        0 => "no statistic tells the table from those that the fit makes".to_string(),
        1 => "one statistic tells the table from those that the fit makes".to_string(),
        _ => format!("{small} statistics tell the table from those that the fit makes"),
    };
    lines.push(format!("{draws} replicated tables; {word} (p < {SMALL}, two-sided)"));
    lines.join("\n")
}

/// Four digits that count.
fn number(value: f64) -> String {
    let places = if value == 0.0 { 0.0 } else { 3.0 - value.abs().log10().floor() };
    if value.abs() >= 1e9 { format!("{value:.3e}") } else { format!("{value:.*}", places.clamp(0.0, 6.0) as usize) }
}

/// The same for programs.
pub fn as_json(checks: &[Check], model: &Model, draws: usize) -> Value {
    let finite = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
    let one = |check: &Check| {
        let block = &model.blocks()[check.block];
        json!({
            "family": block.family.name(), "columns": block.columns.len(), "statistic": check.statistic.name(),
            "observed": finite(check.observed), "mean": finite(check.mean), "q05": finite(check.interval[0]), "q95": finite(check.interval[1]),
            "p": finite(check.p()), "suggests": remark(check, block.family.name()),
        })
    };
    json!({ "draws": draws, "checks": checks.iter().map(one).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in
            [(0.0, "0"), (0.41239, "0.4124"), (12.3456, "12.35"), (123456.0, "123456"), (2e12, "2.000e12")]
        {
            assert_eq!(number(value), text);
        }
    }
}
