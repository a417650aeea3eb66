//! Every prior, with its numbers: set in `ModelSpec`, and passed to families by [`crate::spec::family_with`].
//!
//! | field | prior | default |
//! |---|---|---|
//! | `noise` | Gaussian: IG(shape, rate · var_j) each, or σ_j² pooled over the columns ([`Pool`]); isotropic: one σ² ~ IG, var the mean of var_j | ½, 10⁻⁴ |
//! | `amplitude` | τ_j fixed, or half-t with `dof` and `scale`, one per column or one per block | by family |
//! | `intercept` | β_0j ~ N(link of the column's mean, `intercept` · τ_j²/λ_j) | 5 |
//! | `covariates` | γ_j ~ N(0, `covariates`² · τ_j²/λ_j), per standard deviation of a number or per level of a category | 1 |
//! | `linear` | s of the linear part: half-t with `dof` and `scale` | 1, 1 |
//! | `student_t` | IG(shape, rate · spread_j²) each, or σ_j² pooled; ν_j known or Ga(shape, rate) | ½, 10⁻⁴; Ga(2, 0.1) |
//! | `dispersion` | negative binomial: r_j ~ Ga(shape, h), h ~ Ga(rate_shape, rate_rate), or r_j pooled | 1; 1, 1 |
//! | `zero_inflation` | logit π_j ~ N(mean, sd²) | −1, 1.5 |
//! | `cut_points` | ordinal: logarithms of the gaps between neighbouring cut points ~ N(mean, sd²) | 0, 1 |
//! | `alpha` | α ~ Ga(shape, rate) | 3, ⅓ |
//! | `niw` | (μ_k, Σ_k) ~ NIW(0, lambda, psi · I, nu) | D, 1, D + 2 |
//! | `length_scale` | ln ℓ_d ~ N(ln median, sd²), ℓ in units of the longest sequence's span | 0.1, 1 |
//! | `noise_share` | logit ρ_d ~ N(logit median, sd²) | 0.01, 1.5 |
//! | `column_process` | s_j of a column process: half-t with `dof` and `scale`, in units of the column | 1, 1 |
//! | `column_process_length_scale` | ln ℓ_j of that path ~ N(ln median, sd²), ℓ in units of the longest sequence's span | 0.1, 1.5 |

use super::amplitude::{Amplitude, HalfT};
use super::partial::{over_defaults, partial};
use super::pool::Pool;
use super::spectral::{Mixture, Scales};
use crate::error::SpecError;
use crate::linalg::Mat;
use serde::{Deserialize, Serialize};

pub use super::gamma::Gamma;
pub use super::noise::{Dispersion, Noise, Shaped};

/// Every prior. `Priors::default()` has the default numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Priors {
    /// Noise of Gaussian and isotropic columns, in units of the column's variance, or of the mean one.
    pub noise: Noise,
    /// Signal strength; each family has its own default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amplitude: Option<Amplitude>,
    /// s_c²: variance of the intercepts about the link of their column's mean, in units of τ_j²/λ_j.
    pub intercept: f64,
    /// s_γ: standard deviation of the effect of a covariate, per unit of the covariate, in units of τ_j/√λ_j.
    pub covariates: f64,
    /// s of the linear part of the map.
    pub linear: HalfT,
    /// Noise and degrees of freedom of Student-t columns.
    pub student_t: Student,
    /// Dispersions of negative binomial columns.
    pub dispersion: Dispersion,
    /// Logit of the share of extra zeros of zero-inflated columns.
    #[serde(deserialize_with = "zero_inflation")]
    pub zero_inflation: Normal,
    /// Logarithms of the gaps between neighbouring cut points of ordinal columns.
    pub cut_points: Normal,
    /// Concentration of the clusters of frequencies.
    #[serde(deserialize_with = "alpha")]
    pub alpha: Gamma,
    /// Clusters of frequencies.
    pub niw: NormalInverseWishart,
    /// Length-scales of paths, in units of the longest sequence's span.
    #[serde(deserialize_with = "length_scale")]
    pub length_scale: Centred,
    /// Shares of white noise in the variance of paths.
    #[serde(deserialize_with = "noise_share")]
    pub noise_share: Centred,
    /// Standard deviations of column processes, in units of the column.
    #[serde(alias = "residual")]
    pub column_process: HalfT,
    /// Length-scales of column processes, in units of the longest sequence's span.
    #[serde(alias = "residual-length-scale", deserialize_with = "column_process_length_scale")]
    pub column_process_length_scale: Centred,
}

/// Mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
}

/// A median, and a standard deviation on the log or logit scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Centred {
    /// The median.
    pub median: f64,
    /// Standard deviation of the logarithm or logit.
    pub sd: f64,
}

/// Degrees of freedom of a Student-t.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dof {
    /// ν is known, the same for all columns.
    Known(f64),
    /// ν_j is gamma, one per column.
    Learned(#[serde(deserialize_with = "dof")] Gamma),
}

/// Noise and degrees of freedom of Student-t columns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Student {
    /// σ_j², in units of the column's squared spread.
    pub noise: Noise,
    /// ν_j.
    pub dof: Dof,
}

/// Juárez & Steel (2010).
const DOF: Gamma = Gamma { shape: 2.0, rate: 0.1 };

impl Default for Student {
    fn default() -> Self {
        Student { noise: Noise::default(), dof: Dof::Learned(DOF) }
    }
}

/// NIW(0, lambda, psi · I, nu).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NormalInverseWishart {
    /// λ0; D if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// Diagonal of Ψ0; its typical size where each axis has its own scale.
    pub psi: f64,
    /// ν0; D + 2 if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nu: Option<f64>,
}

impl Default for NormalInverseWishart {
    fn default() -> Self {
        NormalInverseWishart { lambda: None, psi: 1.0, nu: None }
    }
}

impl Default for Priors {
    fn default() -> Self {
        Priors {
            noise: Noise::default(),
            amplitude: None,
            intercept: 5.0,
            covariates: 1.0,
            linear: HalfT::default(),
            student_t: Student::default(),
            dispersion: Dispersion::default(),
            zero_inflation: Normal { mean: -1.0, sd: 1.5 },
            cut_points: Normal { mean: 0.0, sd: 1.0 },
            alpha: Gamma { shape: 3.0, rate: 1.0 / 3.0 },
            niw: NormalInverseWishart::default(),
            length_scale: Centred { median: 0.1, sd: 1.0 },
            noise_share: Centred { median: 0.01, sd: 1.5 },
            column_process: HalfT::default(),
            column_process_length_scale: Centred { median: 0.1, sd: 1.5 },
        }
    }
}

partial!(Normal { mean, sd });
partial!(Centred { median, sd });

over_defaults! {
    zero_inflation: Normal = Priors::default().zero_inflation;
    alpha: Gamma = Priors::default().alpha;
    length_scale: Centred = Priors::default().length_scale;
    noise_share: Centred = Priors::default().noise_share;
    column_process_length_scale: Centred = Priors::default().column_process_length_scale;
    dof: Gamma = DOF;
}

impl Priors {
    /// The mixture of frequencies, with a scale for each axis if asked.
    pub fn mixture(&self, relevance: bool) -> Mixture {
        let NormalInverseWishart { lambda, psi, nu } = self.niw;
        Mixture {
            lambda0: lambda,
            scales: if relevance { Scales::Learned(psi.sqrt()) } else { Scales::Equal(psi) },
            nu0: nu,
            alpha_shape: self.alpha.shape,
            alpha_rate: self.alpha.rate,
        }
    }

    /// Covariates in units of the prior of their effects.
    pub(super) fn covariates_in_its_units(&self, mut covariates: Mat) -> Mat {
        covariates.as_mut_slice().iter_mut().for_each(|u| *u *= self.covariates);
        covariates
    }

    /// Checks the range of every number, for D axes. Errors name it as `priors.noise.shape`.
    pub fn check(&self, dim: usize) -> Result<(), SpecError> {
        let d = dim as f64;
        let most = |name, value: f64, least: f64, rule: &str| match value > least && value.is_finite() {
            true => Ok(()),
            false => Err(SpecError::Setting { setting: name, value: value.to_string(), rule: rule.into() }),
        };
        let positive = |name, value: f64| most(name, value, 0.0, "it must be a positive number");
        let pooled = |names: [&'static str; 4], pool: &Pool| {
            let Pool { level, spread } = pool;
            let numbers = [level.scale, level.dof, spread.scale, spread.dof];
            names.into_iter().zip(numbers).try_for_each(|(name, number)| positive(name, number))
        };
        match self.noise {
            Noise::Pooled(pool) => pooled(
                [
                    "priors.noise.pooled.level.scale",
                    "priors.noise.pooled.level.dof",
                    "priors.noise.pooled.spread.scale",
                    "priors.noise.pooled.spread.dof",
                ],
                &pool,
            )?,
            Noise::Independent(Gamma { shape, rate }) => {
                positive("priors.noise.shape", shape)?;
                positive("priors.noise.rate", rate)?;
            }
        }
        if let Some(amplitude) = self.amplitude.filter(|amplitude| !amplitude.is_valid()) {
            let (value, rule) = (amplitude.to_string(), "its numbers must be positive".into());
            return Err(SpecError::Setting { setting: "amplitude", value, rule });
        }
        positive("priors.intercept", self.intercept)?;
        positive("priors.covariates", self.covariates)?;
        positive("priors.linear.scale", self.linear.scale)?;
        positive("priors.linear.dof", self.linear.dof)?;
        match self.student_t.noise {
            Noise::Pooled(pool) => pooled(
                [
                    "priors.student-t.noise.pooled.level.scale",
                    "priors.student-t.noise.pooled.level.dof",
                    "priors.student-t.noise.pooled.spread.scale",
                    "priors.student-t.noise.pooled.spread.dof",
                ],
                &pool,
            )?,
            Noise::Independent(Gamma { shape, rate }) => {
                positive("priors.student-t.noise.shape", shape)?;
                positive("priors.student-t.noise.rate", rate)?;
            }
        }
        match self.student_t.dof {
            Dof::Known(dof) => positive("priors.student-t.dof.known", dof)?,
            Dof::Learned(Gamma { shape, rate }) => {
                positive("priors.student-t.dof.learned.shape", shape)?;
                positive("priors.student-t.dof.learned.rate", rate)?;
            }
        }
        match self.dispersion {
            Dispersion::Pooled(pool) => pooled(
                [
                    "priors.dispersion.pooled.level.scale",
                    "priors.dispersion.pooled.level.dof",
                    "priors.dispersion.pooled.spread.scale",
                    "priors.dispersion.pooled.spread.dof",
                ],
                &pool,
            )?,
            Dispersion::Shaped(Shaped { shape, rate_shape, rate_rate }) => {
                positive("priors.dispersion.shape", shape)?;
                positive("priors.dispersion.rate-shape", rate_shape)?;
                positive("priors.dispersion.rate-rate", rate_rate)?;
            }
        }
        most("priors.zero-inflation.mean", self.zero_inflation.mean, f64::MIN, "it must be a number")?;
        positive("priors.zero-inflation.sd", self.zero_inflation.sd)?;
        most("priors.cut-points.mean", self.cut_points.mean, f64::MIN, "it must be a number")?;
        positive("priors.cut-points.sd", self.cut_points.sd)?;
        positive("priors.alpha.shape", self.alpha.shape)?;
        positive("priors.alpha.rate", self.alpha.rate)?;
        positive("priors.niw.lambda", self.niw.lambda.unwrap_or(d))?;
        positive("priors.niw.psi", self.niw.psi)?;
        let rule = format!("it must be above {}, the number of axes less one", d - 1.0);
        most("priors.niw.nu", self.niw.nu.unwrap_or(d + 2.0), d - 1.0, &rule)?;
        positive("priors.length-scale.median", self.length_scale.median)?;
        positive("priors.length-scale.sd", self.length_scale.sd)?;
        let (median, rule) = (self.noise_share.median, "it must be above 0 and below 1".to_string());
        if !(median > 0.0 && median < 1.0) {
            return Err(SpecError::Setting { setting: "priors.noise-share.median", value: median.to_string(), rule });
        }
        positive("priors.noise-share.sd", self.noise_share.sd)?;
        positive("priors.column-process.scale", self.column_process.scale)?;
        positive("priors.column-process.dof", self.column_process.dof)?;
        positive("priors.column-process-length-scale.median", self.column_process_length_scale.median)?;
        positive("priors.column-process-length-scale.sd", self.column_process_length_scale.sd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HalfT;

    /// Sets a number out of range.
    type Spoil = fn(&mut Priors);

    #[test]
    fn every_number_out_of_range_is_named() {
        assert_eq!(Priors::default().check(2), Ok(()));
        fn pool(level: f64, spread: f64) -> Pool {
            let half_t = |scale: f64| HalfT { scale, dof: 4.0 };
            Pool { level: half_t(level), spread: half_t(spread) }
        }
        let broken: [(&str, Spoil); 21] = [
            ("priors.noise.shape", |p| p.noise = Noise::Independent(Gamma { shape: 0.0, rate: 1.0 })),
            ("priors.noise.rate", |p| p.noise = Noise::Independent(Gamma { shape: 1.0, rate: f64::NAN })),
            ("priors.noise.pooled.level.scale", |p| p.noise = Noise::Pooled(pool(0.0, 1.0))),
            ("priors.student-t.noise.pooled.spread.scale", |p| p.student_t.noise = Noise::Pooled(pool(1.0, -1.0))),
            ("priors.dispersion.pooled.spread.scale", |p| p.dispersion = Dispersion::Pooled(pool(1.0, f64::INFINITY))),
            ("amplitude", |p| p.amplitude = Some(Amplitude::Learned(HalfT { scale: -1.0, dof: 1.0 }))),
            ("amplitude", |p| p.amplitude = Some(Amplitude::Fixed(0.0))),
            ("priors.intercept", |p| p.intercept = f64::INFINITY),
            ("priors.student-t.dof.known", |p| p.student_t.dof = Dof::Known(-4.0)),
            ("priors.student-t.dof.learned.rate", |p| p.student_t.dof = Dof::Learned(Gamma { shape: 2.0, rate: 0.0 })),
            ("priors.dispersion.shape", |p| {
                p.dispersion = Dispersion::Shaped(Shaped { shape: -1.0, rate_shape: 1.0, rate_rate: 1.0 });
            }),
            ("priors.zero-inflation.mean", |p| p.zero_inflation.mean = f64::NAN),
            ("priors.zero-inflation.sd", |p| p.zero_inflation.sd = 0.0),
            ("priors.cut-points.mean", |p| p.cut_points.mean = f64::INFINITY),
            ("priors.cut-points.sd", |p| p.cut_points.sd = -2.0),
            ("priors.alpha.rate", |p| p.alpha.rate = 0.0),
            ("priors.niw.nu", |p| p.niw.nu = Some(1.0)),
            ("priors.length-scale.median", |p| p.length_scale.median = 0.0),
            ("priors.noise-share.median", |p| p.noise_share.median = 1.0),
            ("priors.column-process.scale", |p| p.column_process.scale = 0.0),
            ("priors.column-process-length-scale.sd", |p| p.column_process_length_scale.sd = -1.0),
        ];
        for (name, spoil) in broken {
            let mut priors = Priors::default();
            spoil(&mut priors);
            let sentence = priors.check(2).unwrap_err().to_string();
            assert!(sentence.starts_with(&format!("{name} is ")), "{sentence}");
        }
    }

    #[test]
    fn a_few_words_suffice_and_the_rest_is_default() {
        let text = r#"{"noise": {"shape": 2, "rate": 0.5}, "amplitude": {"shared": {}}, "niw": {"nu": 7},
            "student-t": {"dof": {"known": 4}}, "noise-share": {"median": 0.05, "sd": 1}}"#;
        let read: Priors = serde_json::from_str(text).unwrap();
        let priors = Priors {
            noise: Noise::Independent(Gamma { shape: 2.0, rate: 0.5 }),
            amplitude: Some(Amplitude::Shared(HalfT::default())),
            niw: NormalInverseWishart { nu: Some(7.0), ..Default::default() },
            student_t: Student { dof: Dof::Known(4.0), ..Default::default() },
            noise_share: Centred { median: 0.05, sd: 1.0 },
            ..Priors::default()
        };
        assert_eq!(read, priors);
        assert_eq!(serde_json::from_str::<Priors>(&serde_json::to_string(&priors).unwrap()).unwrap(), priors);
        let text = r#"{"noise": {"pooled": {"spread": {"scale": 0.2}}}, "dispersion": {"shape": 3, "rate-shape": 1, "rate-rate": 2}}"#;
        let read: Priors = serde_json::from_str(text).unwrap();
        let spread = HalfT { scale: 0.2, ..Pool::default().spread };
        assert_eq!(read.noise, Noise::Pooled(Pool { spread, ..Pool::default() }));
        assert_eq!(read.dispersion, Dispersion::Shaped(Shaped { shape: 3.0, rate_shape: 1.0, rate_rate: 2.0 }));
        assert_eq!(serde_json::from_str::<Priors>(&serde_json::to_string(&read).unwrap()).unwrap(), read);
        let both = r#"{"noise": {"pooled": {}, "shape": 2}}"#;
        assert!(serde_json::from_str::<Priors>(both).unwrap_err().to_string().contains("either pooled, or"));
        let typo = serde_json::from_str::<Priors>(r#"{"nosie": {"shape": 2, "rate": 1}}"#).unwrap_err();
        assert!(typo.to_string().contains("nosie"), "{typo}");
    }

    #[test]
    fn each_number_can_be_given_alone() {
        // Every number of every prior that has numbers, in turn: the others are the defaults of that prior.
        let whole = serde_json::json!({
            "noise": {"shape": 0.5, "rate": 1e-4}, "linear": {"scale": 1.0, "dof": 1.0},
            "student-t": {"noise": {"shape": 0.5, "rate": 1e-4}, "dof": {"learned": {"shape": 2.0, "rate": 0.1}}},
            "dispersion": {"shape": 1.0, "rate-shape": 1.0, "rate-rate": 1.0}, "zero-inflation": {"mean": -1.0, "sd": 1.5},
            "alpha": {"shape": 3.0, "rate": 1.0 / 3.0}, "niw": {"psi": 1.0},
            "length-scale": {"median": 0.1, "sd": 1.0}, "noise-share": {"median": 0.01, "sd": 1.5},
            "column-process": {"scale": 1.0, "dof": 1.0}, "column-process-length-scale": {"median": 0.1, "sd": 1.5},
        });
        assert_eq!(serde_json::from_value::<Priors>(whole.clone()).unwrap(), Priors::default());
        let pooled = serde_json::json!({"noise": {"pooled": {"level": {"scale": 1.0, "dof": 4.0}, "spread": {"scale": 1.0, "dof": 30.0}}}});
        let mut count = 0;
        for base in [&whole, &pooled] {
            let mut paths = Vec::new();
            numbers(base, String::new(), &mut paths);
            for path in paths {
                let mut alone = serde_json::json!(7.5);
                for key in path.trim_start_matches('/').rsplit('/') {
                    alone = serde_json::json!({ key: alone });
                }
                let mut wanted = base.clone();
                *wanted.pointer_mut(&path).unwrap() = serde_json::json!(7.5);
                let read = |value| serde_json::from_value::<Priors>(value).unwrap();
                assert_eq!(read(alone.clone()), read(wanted), "{alone}");
                assert_ne!(read(alone), Priors::default());
                count += 1;
            }
        }
        assert_eq!(count, 28);
    }

    /// Pointers to all numbers of a value.
    fn numbers(value: &serde_json::Value, at: String, found: &mut Vec<String>) {
        match value.as_object() {
            Some(fields) => fields.iter().for_each(|(key, inner)| numbers(inner, format!("{at}/{key}"), found)),
            None => found.push(at),
        }
    }
}
