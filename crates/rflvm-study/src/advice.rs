//! Advice for a statistic that the model gets wrong, in one sentence.

use rflvm::posterior::check::Statistic;

/// `is_more`: the observed value is larger than in replicated tables.
pub fn advice(statistic: Statistic, is_more: bool, family: &str) -> String {
    let (what, remedy) = match (statistic, is_more) {
        (Statistic::Zeros, true) => ("more zeros than the fit predicts", zeros(family)),
        (Statistic::Zeros, false) => ("fewer zeros than the fit predicts", fewer_zeros(family)),
        (Statistic::VarianceToMean, true) => ("columns vary more than the fit predicts", spread(family)),
        (Statistic::VarianceToMean, false) => ("columns vary less than the fit predicts", narrower(family)),
        (Statistic::Largest, true) => ("a larger cell than the fit predicts", largest(family)),
        (Statistic::Largest, false) => ("no cell as large as the fit predicts", narrower(family)),
        (Statistic::RowTotals, true) => ("row totals differ more than the fit predicts", totals(family)),
        (Statistic::RowTotals, false) => ("row totals are more alike than the fit predicts", alike(family)),
        (Statistic::RowMeans, true) => ("row means differ more than the fit predicts", MORE_AXES),
        (Statistic::RowMeans, false) => {
            ("row means are more alike than the fit predicts", "subtract each row's mean, or try fewer latent axes")
        }
        (Statistic::ColumnMeans, true) => {
            ("column means differ more than the fit predicts", "look for columns that are nearly constant")
        }
        (Statistic::ColumnMeans, false) => {
            ("column means are more alike than the fit predicts", "run longer, and look at ⟨summary⟩")
        }
        (Statistic::LargestResidual | Statistic::Kurtosis, true) => {
            ("outliers that the fit does not predict", outliers(family))
        }
        (Statistic::LargestResidual | Statistic::Kurtosis, false) => {
            ("fewer outliers than the fit predicts", fewer_outliers(family))
        }
        (Statistic::Entropy, true) => ("rows are spread over more categories than the fit predicts", MORE_AXES),
        (Statistic::Entropy, false) => ("rows are spread over fewer categories than the fit predicts", MORE_AXES),
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
        "negative-binomial" => "try poisson, and check whether zeros were left out of the table",
        _ => "check whether zeros were left out of the table",
    }
}

fn spread(family: &str) -> &'static str {
    if family == "negative-binomial" { MORE_AXES } else { "try negative-binomial" }
}

fn narrower(family: &str) -> &'static str {
    match family {
        "negative-binomial" | "zero-inflated-poisson" => "try poisson",
        "poisson" => "try binomial, if counts have an upper limit",
        _ => "check whether large values were truncated",
    }
}

fn largest(family: &str) -> &'static str {
    match family {
        "poisson" | "zero-inflated-poisson" => "try negative-binomial, and check whether the cell is an error",
        _ => "check whether the cell is an error",
    }
}

fn totals(family: &str) -> &'static str {
    match family {
        "bernoulli" | "binomial" => MORE_AXES,
        _ => "try ⟨offset=size-factors⟩ if totals carry no information, otherwise more latent axes (⟨latent-dim⟩)",
    }
}

fn alike(family: &str) -> &'static str {
    match family {
        "bernoulli" | "binomial" => "check whether row totals were equalised",
        _ => "try multinomial if totals were fixed in advance",
    }
}

fn outliers(family: &str) -> &'static str {
    if family == "gaussian" { "try student-t" } else { "check whether the cells are errors" }
}

fn fewer_outliers(family: &str) -> &'static str {
    if family == "student-t" { "try gaussian" } else { "check whether large values were truncated" }
}
