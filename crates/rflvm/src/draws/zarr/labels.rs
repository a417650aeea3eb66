//! Names, classes and times of the rows, stored with the data.

/// Information about the rows besides the data.
#[derive(Debug, Clone, Default)]
pub struct RowLabels {
    /// Names of the rows.
    pub ids: Vec<String>,
    /// Their labels.
    pub labels: Option<Vec<String>>,
    /// Their times.
    pub times: Option<Vec<f64>>,
    /// The unit of the times by the CF conventions, such as `days since 2001-05-30`.
    pub time_units: Option<String>,
    /// The times as the user wrote them.
    pub times_as_given: Option<Vec<String>>,
    /// The sequences they belong to.
    pub sequences: Option<Vec<String>>,
    /// Their covariates as the user wrote them, one covariate after the other.
    pub covariates_as_given: Vec<Vec<String>>,
}
