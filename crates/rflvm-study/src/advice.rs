//! What a statistic that the model gets wrong suggests, in a sentence.

use rflvm::posterior::check::Statistic;

/// `is_more`: the observed table has more of it than replicated ones.
pub fn advice(statistic: Statistic, is_more: bool, family: &str) -> String {
    let (what, remedy) = match (statistic, is_more) {
        (Statistic::Zeros, true) => ("more zeros than the fit makes", zeros(family)),
        (Statistic::Zeros, false) => ("fewer zeros than the fit makes", fewer_zeros(family)),
        (Statistic::VarianceToMean, true) => ("columns vary more than the fit makes them", spread(family)),
        (Statistic::VarianceToMean, false) => ("columns vary less than the fit makes them", narrower(family)),
        (Statistic::Largest, true) => ("a larger cell than the fit makes", largest(family)),
        (Statistic::Largest, false) => ("no cell as large as the fit makes", narrower(family)),
        (Statistic::RowTotals, true) => ("rows differ more in their totals than the fit makes them", totals(family)),
        (Statistic::RowTotals, false) => ("row totals are more alike than the fit makes them", alike(family)),
        (Statistic::RowMeans, true) => ("rows differ more in their means than the fit makes them", MORE_AXES),
        (Statistic::RowMeans, false) => {
            ("row means are more alike than the fit makes them", "take each row's mean off, or try fewer latent axes")
        }
        (Statistic::ColumnMeans, true) => {
            ("columns differ more in their means than the fit makes them", "look for columns that are nearly constant")
        }
        (Statistic::ColumnMeans, false) => {
            ("column means are more alike than the fit makes them", "run longer, and look at ⟨summary⟩")
        }
        (Statistic::LargestResidual | Statistic::Kurtosis, true) => {
            ("outliers that the fit does not make", outliers(family))
        }
        (Statistic::LargestResidual | Statistic::Kurtosis, false) => {
            ("fewer outliers than the fit makes", fewer_outliers(family))
        }
        (Statistic::Entropy, true) => ("rows are spread over more categories than the fit makes them", MORE_AXES),
        (Statistic::Entropy, false) => ("rows keep to fewer categories than the fit makes them", MORE_AXES),
    };
    format!("{what}: {remedy}")
}

const MORE_AXES: &str = "try more latent axes (⟨latent-dim⟩) or random features (⟨features⟩)";

fn zeros(family: &str) -> &'static str {
    match family {
        "poisson" => "try zero-inflated-poisson or negative-binomial",
        "negative-binomial" => "try zero-inflated-poisson",
        "zero-inflated-poisson" => "try negative-binomial",
        _ => MORE_AXES,
    }
}

fn fewer_zeros(family: &str) -> &'static str {
    match family {
        "zero-inflated-poisson" => "try poisson",
        "negative-binomial" => "try poisson, and see whether zeros were left out of the table",
        _ => "see whether zeros were left out of the table",
    }
}

fn spread(family: &str) -> &'static str {
    if family == "negative-binomial" { MORE_AXES } else { "try negative-binomial" }
}

fn narrower(family: &str) -> &'static str {
    match family {
        "negative-binomial" | "zero-inflated-poisson" => "try poisson",
        "poisson" => "try binomial, if there is a largest count that a cell can have",
        _ => "see whether large cells were cut off",
    }
}

fn largest(family: &str) -> &'static str {
    match family {
        "poisson" | "zero-inflated-poisson" => "try negative-binomial, and see whether the cell is an error",
        _ => "see whether the cell is an error",
    }
}

fn totals(family: &str) -> &'static str {
    match family {
        "bernoulli" | "binomial" => MORE_AXES,
        _ => "try ⟨offset=size-factors⟩ if totals carry no information, else more latent axes (⟨latent-dim⟩)",
    }
}

fn alike(family: &str) -> &'static str {
    match family {
        "bernoulli" | "binomial" => "see whether rows were made to have like totals",
        _ => "try multinomial if totals were fixed beforehand",
    }
}

fn outliers(family: &str) -> &'static str {
    if family == "gaussian" { "try student-t" } else { "see whether the cells are errors" }
}

fn fewer_outliers(family: &str) -> &'static str {
    if family == "student-t" { "try gaussian" } else { "see whether large cells were cut off" }
}
