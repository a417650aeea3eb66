//! A way to fit the table: latent dimension, family, kernel, number of features.

use crate::blocks::{self, Given};
use crate::choices::KernelKind;
use crate::config::Config;
use crate::error::Error;
use crate::latent_dim::LatentDim;
use crate::model;
use crate::table::Table;
use crate::times::Timeline;
use rflvm::internal::error::SpecError;
use rflvm::internal::identity;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// What is tried, in every combination; a setting without a list is as for a fit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lists {
    /// Latent dimensions.
    pub latent_dims: Option<Vec<LatentDim>>,
    /// Families.
    pub likelihoods: Option<Vec<String>>,
    /// Kernels.
    pub kernels: Option<Vec<KernelKind>>,
    /// Numbers of random features.
    pub feature_counts: Option<Vec<usize>>,
}

/// One candidate, checked against the table.
pub struct Candidate {
    /// The latent dimension.
    pub latent_dim: usize,
    /// The family; `blocks` if a file lists them.
    pub likelihood: String,
    /// The kernel.
    pub kernel: KernelKind,
    /// The number of random features.
    pub features: usize,
    /// Its settings.
    pub config: Config,
    /// Families by column, if they were chosen automatically.
    pub given: Given,
    /// Identifies the table and the model.
    pub fingerprint: String,
    /// Columns of the table that hold multinomial rows.
    pub wholes: Vec<Vec<usize>>,
    /// Whether some of its columns have a density on the reals.
    pub is_real: bool,
    /// The largest number of parameters of a column's family.
    pub parameters: usize,
    /// Offsets of the whole table.
    pub offset: Vec<f64>,
}

/// How simple a candidate is: fewer latent dimensions, then fewer features, fewer parameters per column, and a fixed kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Complexity {
    latent_dim: usize,
    features: usize,
    parameters: usize,
    is_learned: bool,
}

impl Candidate {
    fn new(mut config: Config, mut given: Given, table: &Table, timeline: Option<&Timeline>) -> Result<Self, Error> {
        // Chosen once, from the whole table: held-out cells must not change the families.
        let asked = config.likelihood.clone();
        let mut table = table.clone();
        blocks::choose(&mut config, &mut given, &mut table);
        let model = model::model(&config, &given, &mut table, timeline)?;
        let blocks = model.blocks();
        let columns = |b: &rflvm::internal::model::Block| b.columns.clone().map(|c| model.order()[c]).collect();
        Ok(Candidate {
            latent_dim: model.latent_dim(),
            likelihood: config.likelihood.clone().or(asked).unwrap_or_else(|| "blocks".into()),
            kernel: config.model.kernel.unwrap_or(KernelKind::Learned),
            features: model.spec().features,
            fingerprint: identity::of_data(&model) + &identity::of_model(&model),
            wholes: blocks.iter().filter(|b| b.family.is_whole()).map(columns).collect(),
            is_real: blocks.iter().any(|b| b.family.problem(0, 0, 0.5).is_none()),
            parameters: blocks.iter().map(|b| b.family.parameters().len()).max().unwrap_or(0),
            offset: model.offset().to_vec(),
            config,
            given,
        })
    }

    /// In words.
    pub fn words(&self) -> String {
        let Candidate { latent_dim, likelihood, kernel, features, .. } = self;
        format!("D = {latent_dim}, {likelihood}, {kernel} kernel, {features} features")
    }

    /// As part of a file name.
    pub fn stem(&self) -> String {
        let Candidate { latent_dim, likelihood, kernel, features, .. } = self;
        format!("d{latent_dim}-{likelihood}-{kernel}-m{features}")
    }

    /// By which candidates are ordered.
    pub(super) fn complexity(&self) -> Complexity {
        let Candidate { latent_dim, features, parameters, .. } = *self;
        Complexity { latent_dim, features, parameters, is_learned: self.kernel == KernelKind::Learned }
    }
}

/// Every combination of the lists; settings without a list are as for a fit. All are checked against the table.
pub(super) fn candidates(
    lists: &Lists,
    config: &Config,
    given: &Given,
    table: &Table,
    timeline: Option<&Timeline>,
) -> Result<Vec<Candidate>, Error> {
    // By canonical name, if it is known.
    let named = |name: &String| rflvm::internal::spec::canonical(name).map_or_else(|_| name.clone(), String::from);
    let named: Option<Vec<String>> = lists.likelihoods.as_ref().map(|list| list.iter().map(named).collect());
    let is_listed = config.blocks.is_some() || given.column_families.is_some();
    let likelihoods = match (&named, &config.likelihood) {
        (Some(list), _) => list.iter().cloned().map(Some).collect(),
        (None, Some(one)) => vec![Some(one.clone())],
        (None, None) if is_listed => vec![None],
        (None, None) => {
            let rule = "a comparison needs the family of the columns; give ⟨likelihood⟩, ⟨likelihoods⟩ for several to compare, or ⟨blocks⟩";
            return Err(
                SpecError::Setting { setting: "likelihood", value: "not given".into(), rule: rule.into() }.into()
            );
        }
    };
    let dims = listed("latent-dims", &lists.latent_dims, config.model.latent_dim)?;
    if let Some(auto) = dims.iter().flatten().find(|dim| matches!(dim, LatentDim::Auto(_))) {
        let rule = "it learns the number of axes and needs no comparison; list numbers, or use ⟨fit⟩".into();
        return Err(SpecError::Setting { setting: "latent-dim", value: auto.to_string(), rule }.into());
    }
    let kernels = listed("kernels", &lists.kernels, config.model.kernel)?;
    let features = listed("feature-counts", &lists.feature_counts, config.model.features)?;
    listed("likelihoods", &named, None)?;
    let has_trials = |name: &str| rflvm::internal::spec::about(name).is_ok_and(|about| about.cells.have_trials());
    let any_has_trials = likelihoods.iter().flatten().any(|name| has_trials(name));
    let mut candidates = Vec::new();
    for likelihood in &likelihoods {
        for &kernel in &kernels {
            for &features in &features {
                for &latent_dim in &dims {
                    let mut config = config.clone();
                    config.likelihood = likelihood.clone();
                    // Trials apply to the binomial among the families, if there is one.
                    let takes_trials = !any_has_trials || likelihood.as_deref().is_some_and(has_trials);
                    config.trials = config.trials.filter(|_| takes_trials);
                    let given = Given { trials: given.trials.clone().filter(|_| takes_trials), ..given.clone() };
                    config.model.latent_dim = latent_dim.or(config.model.latent_dim);
                    config.model.features = features.or(config.model.features);
                    config.model.kernel = kernel.or(config.model.kernel);
                    let name = likelihood.as_deref().filter(|_| likelihoods.len() > 1);
                    let candidate = Candidate::new(config, given, table, timeline);
                    candidates.push(candidate.map_err(|error| match name {
                        Some(name) => Error::Candidate { name: name.into(), error: Box::new(error) },
                        None => error,
                    })?);
                }
            }
        }
    }
    if candidates.iter().any(|c| c.wholes != candidates[0].wholes) {
        let rule = "a multinomial is scored by held-out trials and other families by held-out cells, which cannot be compared; list multinomial by itself";
        let value = lists.likelihoods.iter().flatten().cloned().collect::<Vec<_>>().join(",");
        return Err(SpecError::Setting { setting: "likelihoods", value, rule: rule.into() }.into());
    }
    Ok(candidates)
}

/// The entries of a list, without repetition; or the single setting.
fn listed<T: Clone + PartialEq + Display>(
    setting: &'static str,
    list: &Option<Vec<T>>,
    one: Option<T>,
) -> Result<Vec<Option<T>>, SpecError> {
    let Some(list) = list else { return Ok(vec![one]) };
    if let Some(twice) = (1..list.len()).find(|&i| list[..i].contains(&list[i])) {
        let rule = format!("it names {} twice; name each once", list[twice]);
        let value = list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        return Err(SpecError::Setting { setting, value, rule });
    }
    Ok(list.iter().cloned().map(Some).collect())
}
