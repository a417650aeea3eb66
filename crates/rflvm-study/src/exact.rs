//! Columns that are fitted exactly: a column of few values can take an axis for itself, and its noise vanishes.

use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::message::{listed, with_value};
use crate::note::Note;
use rflvm::internal::draws::{Source, parameter_name};

/// Noise is as good as gone below this share of the column's standard deviation.
const GONE: f64 = 0.01;
/// Draws that are looked at, per chain.
const DRAWS: usize = 10;
/// Names shown in a message.
const SHOWN: usize = 3;

/// A warning about gaussian columns without noise, unless most columns are like this, as in simulations without any.
pub fn note(fit: &Fit, drawn: &Drawn) -> Result<Option<Note>, Error> {
    let (model, draws) = (&fit.model, drawn.store.size()?.1);
    let mut shares = Vec::new();
    for (b, block) in model.blocks().iter().enumerate().filter(|(_, block)| block.family.as_gaussian().is_some()) {
        let name = format!("posterior/{}", parameter_name(model, b, "precision"));
        if !drawn.store.is_drawn(&name) {
            return Ok(None);
        }
        let (mut cursor, visited) = (drawn.store.cursor(&name)?, draws.min(DRAWS));
        let mut precision = vec![0.0; block.columns.len()];
        for (&chain, i) in drawn.used.iter().flat_map(|chain| (0..visited).map(move |i| (chain, i))) {
            let at = cursor.at(chain, (2 * i + 1) * draws / (2 * visited))?;
            let count = (visited * drawn.used.len()) as f64;
            precision.iter_mut().zip(at).for_each(|(sum, own)| *sum += own / count);
        }
        for (j, precision) in block.columns.clone().zip(precision) {
            let share = block.family.standardised(0, precision, &model.units()[j]).sqrt().recip();
            shares.push((fit.table.columns[model.order()[j]].as_str(), share));
        }
    }
    Ok(warning(&shares, model.columns()))
}

/// The warning, from each column's name and share of noise.
fn warning(shares: &[(&str, f64)], columns: usize) -> Option<Note> {
    let gone: Vec<&(&str, f64)> = shares.iter().filter(|(_, share)| *share < GONE).collect();
    let first = gone.first().filter(|_| 2 * gone.len() <= columns)?;
    let shown: Vec<String> = gone.iter().take(SHOWN).map(|(name, _)| format!("`{name}`")).collect();
    let more = gone.len().saturating_sub(SHOWN);
    let names = if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) };
    let (columns, have, it) = match gone.len() {
        1 => ("the column", "has", "it"),
        _ => ("the columns", "have", "one"),
    };
    let [without, covariates] = ["without", "covariates"].map(|name| with_value(name, &listed(first.0)));
    Some(Note::warn(format!(
        "{columns} {names} {have} hardly any noise left, so part of the map may follow nothing else: if that is not wanted, leave {it} out with {without}, \
         correct for {it} with {covariates}, or fit {it} as a category (multinomial in ⟨blocks⟩)"
    )))
}

#[cfg(test)]
mod tests {
    use super::warning;

    #[test]
    fn a_column_without_noise_is_named_unless_most_are_like_this() {
        let shares = [("year", 0.002), ("mass", 0.5), ("bill, mm", 0.4)];
        let text = warning(&shares, 3).unwrap().text;
        assert!(
            text.contains("the column `year` has hardly any noise left") && text.contains("⟨without=year⟩"),
            "{text}"
        );
        assert_eq!(warning(&shares[1..], 2), None);
        assert_eq!(warning(&[("a", 0.001), ("b", 0.002), ("c", 0.5)], 3), None);
    }
}
