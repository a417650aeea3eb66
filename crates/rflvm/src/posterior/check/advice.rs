//! What a failed check suggests, in one sentence.

use crate::model::family::{About, Observed, Statistic};

const MORE_AXES: &str = "try more latent axes or more random features";

/// What is wrong, and what to try: the family's own suggestion, or else one that fits any family.
pub fn advice(statistic: Statistic, side: Observed, family: Option<&About>) -> String {
    let (what, remedy) = any_family(statistic, side);
    let own = family.and_then(|about| about.suggestions.iter().find(|s| (s.0, s.1) == (statistic, side)));
    format!("{what}: {}", own.map_or(remedy, |own| own.2))
}

fn any_family(statistic: Statistic, side: Observed) -> (&'static str, &'static str) {
    match (statistic, side) {
        (Statistic::Zeros, Observed::More) => ("more zeros than the model predicts", MORE_AXES),
        (Statistic::Zeros, Observed::Less) => {
            ("fewer zeros than the model predicts", "check whether zeros were left out of the table")
        }
        (Statistic::VarianceToMean, Observed::More) => ("columns vary more than the model predicts", MORE_AXES),
        (Statistic::VarianceToMean, Observed::Less) => {
            ("columns vary less than the model predicts", "check whether large cells were cut off")
        }
        (Statistic::Largest, Observed::More) => {
            ("a larger cell than the model predicts", "check that the cell is not an error")
        }
        (Statistic::Largest, Observed::Less) => {
            ("no cell as large as the model predicts", "check whether large cells were cut off")
        }
        (Statistic::RowTotals, Observed::More) => (
            "row totals differ more than the model predicts",
            "add an offset such as size factors if totals are not of interest; otherwise try more latent axes",
        ),
        (Statistic::RowTotals, Observed::Less) => {
            ("row totals differ less than the model predicts", "try multinomial if totals were fixed in advance")
        }
        (Statistic::RowMeans, Observed::More) => ("row means differ more than the model predicts", MORE_AXES),
        (Statistic::RowMeans, Observed::Less) => {
            ("row means differ less than the model predicts", "subtract the mean of each row, or try fewer latent axes")
        }
        (Statistic::ColumnMeans, Observed::More) => {
            ("column means differ more than the model predicts", "check for columns that are nearly constant")
        }
        (Statistic::ColumnMeans, Observed::Less) => {
            ("column means differ less than the model predicts", "run longer chains and check that they converge")
        }
        (Statistic::LargestResidual | Statistic::Kurtosis, Observed::More) => {
            ("more extreme outliers than the model predicts", "check whether these cells are errors")
        }
        (Statistic::LargestResidual | Statistic::Kurtosis, Observed::Less) => {
            ("fewer outliers than the model predicts", "check whether large cells were cut off")
        }
        (Statistic::Entropy, Observed::More) => {
            ("rows are spread over more categories than the model predicts", MORE_AXES)
        }
        (Statistic::Entropy, Observed::Less) => {
            ("rows are concentrated on fewer categories than the model predicts", MORE_AXES)
        }
        (Statistic::Association, Observed::More) => {
            ("two categories are more closely related than the model predicts", MORE_AXES)
        }
        (Statistic::Association, Observed::Less) => (
            "two categories are less closely related than the model predicts",
            "try fewer latent axes or fewer random features",
        ),
        (Statistic::Likeliest, Observed::More) => ("categories are easier to predict than the model says", MORE_AXES),
        (Statistic::Likeliest, Observed::Less) => {
            ("categories are harder to predict than the model says", "try fewer latent axes or fewer random features")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;

    #[test]
    fn a_familys_own_suggestion_comes_first() {
        let of = |family: &str, side| advice(Statistic::Zeros, side, spec::about(family).ok());
        assert_eq!(
            of("negative-binomial", Observed::More),
            "more zeros than the model predicts: try zero-inflated-negative-binomial"
        );
        assert!(of("poisson", Observed::Less).ends_with("zeros were left out of the table"));
        assert!(advice(Statistic::Zeros, Observed::More, None).ends_with(MORE_AXES));
    }
}
