//! Priors of which a user gives only some numbers: the others have the defaults of that prior.

/// Reads a prior over its defaults.
macro_rules! partial {
    ($type:ident { $($number:ident),+ }) => {
        impl $type {
            pub(super) fn over<'de, D: serde::Deserializer<'de>>(deserializer: D, rest: Self) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields, expecting = "a table of numbers")]
                struct Given {
                    $($number: Option<f64>),+
                }
                let given: Given = serde::Deserialize::deserialize(deserializer)?;
                Ok($type { $($number: given.$number.unwrap_or(rest.$number)),+ })
            }
        }
    };
}
pub(super) use partial;

/// Readers of fields, each with the defaults of its prior.
macro_rules! over_defaults {
    ($($name:ident: $type:ident = $rest:expr;)+) => {$(
        fn $name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
            $type::over(deserializer, $rest)
        }
    )+};
}
pub(super) use over_defaults;
