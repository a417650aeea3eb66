//! Priors of which a user gives only some numbers: the others have the defaults of that prior.

use super::amplitude::HalfT;
use super::gamma::Gamma;
use super::pool::Pool;
use super::priors::{Centred, DOF, Normal, Priors};
use serde::{Deserialize, Deserializer};

macro_rules! partial {
    ($($type:ident { $($number:ident),+ })+) => {$(
        impl $type {
            fn over<'de, D: Deserializer<'de>>(deserializer: D, rest: Self) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields, expecting = "a table of numbers")]
                struct Given {
                    $($number: Option<f64>),+
                }
                let given = Given::deserialize(deserializer)?;
                Ok($type { $($number: given.$number.unwrap_or(rest.$number)),+ })
            }
        }
    )+};
}
partial! {
    Gamma { shape, rate }
    HalfT { scale, dof }
    Normal { mean, sd }
    Centred { median, sd }
}

macro_rules! priors {
    ($($name:ident: $type:ident = $rest:expr;)+) => {$(
        pub(super) fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
            $type::over(deserializer, $rest)
        }
    )+};
}
priors! {
    zero_inflation: Normal = Priors::default().zero_inflation;
    alpha: Gamma = Priors::default().alpha;
    length_scale: Centred = Priors::default().length_scale;
    noise_share: Centred = Priors::default().noise_share;
    column_process_length_scale: Centred = Priors::default().column_process_length_scale;
    level: HalfT = Pool::default().level;
    spread: HalfT = Pool::default().spread;
    dof: Gamma = DOF;
}
