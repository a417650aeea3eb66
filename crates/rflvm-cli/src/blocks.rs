//! From settings to the model's parts: which columns have which family, and the priors.

use crate::args::{KernelArg, TimeFormArg};
use crate::config::{Config, ModelConfig};
use crate::failure::Failure;
use crate::latent_dim::LatentDim;
use crate::listing::Listing;
use crate::table::{self, ReadOptions, Table};
use clap::ValueEnum;
use rflvm::error::SpecError;
use rflvm::linalg::Mat;
use rflvm::model::family::{Family, Trials};
use rflvm::model::latent::{Form, TimeKernel, TimeSpec};
use rflvm::model::spectral::{Kernel, Mixture, Scales};
use rflvm::model::{Amplitude, HalfT, ModelSpec, Priors};
use std::path::Path;
use std::sync::Arc;

/// Columns, and the family they share.
pub type Block = (Vec<usize>, Arc<dyn Family>);

/// The blocks of a fit: all columns of one family, or as a file says. A category is a block of its own.
pub fn blocks(config: &Config, table: &Table) -> Result<Vec<Block>, Failure> {
    let data = |error| Failure::Data { file: table.path.display().to_string(), error };
    if let Some(listing) = &config.listing {
        return listing.blocks(table);
    }
    if let Some(path) = &config.blocks {
        return Listing::read(path)?.blocks(table);
    }
    let name = config.likelihood.as_deref().unwrap_or_default();
    let trials = config.trials.as_deref().map(|text| trials(text, config, table)).transpose().map_err(data)?;
    let family = rflvm::spec::family(name, trials).map_err(data)?;
    if let Some(category) = table.categories.first().filter(|_| !family.is_whole()) {
        let rule = format!(
            "the column `{}` holds text, which only multinomial takes; give --likelihood auto, or keep the column out with --labels or --without",
            category.name
        );
        return Err(data(SpecError::Setting { setting: "likelihood", value: family.name().into(), rule }));
    }
    let is_of_category = |j: &usize| table.categories.iter().any(|c| c.columns().contains(j));
    let numbers: Vec<usize> = (0..table.columns.len()).filter(|j| !is_of_category(j)).collect();
    let categories = table.categories.iter().map(|c| (c.columns().collect(), Arc::clone(&family)));
    let numbers = (!numbers.is_empty()).then(|| (numbers, Arc::clone(&family)));
    Ok(numbers.into_iter().chain(categories).collect())
}

/// A number, or a table of the data's shape.
fn trials(text: &str, config: &Config, data: &Table) -> Result<Trials, SpecError> {
    let wrong = |rule: String| SpecError::Setting { setting: "trials", value: format!("'{text}'"), rule };
    if let Ok(number) = text.parse::<u32>() {
        return Ok(Trials::Same(number));
    }
    // Written as the data are, if it is a text table as they may be.
    let as_data = table::is_text(Path::new(text));
    let options = ReadOptions {
        columns: Some(data.columns.clone()).filter(|_| data.named),
        separator: config.separator.filter(|_| as_data),
        decimal: config.decimal.filter(|_| as_data),
        na: config.na.clone().filter(|_| as_data).unwrap_or_default(),
        ..ReadOptions::default()
    };
    let table = table::read(Path::new(text), &options)
        .map_err(|error| wrong(format!("it is neither a whole number nor a readable table ({error})")))?;
    if table.rows != data.rows || table.columns.len() != data.columns.len() {
        let (r, c) = (data.rows, data.columns.len());
        return Err(wrong(format!("it has {}×{} cells, the data {r}×{c}", table.rows, table.columns.len())));
    }
    // A missing number of trials is harmless where the cell itself is missing, and refused elsewhere by the family.
    Ok(Trials::Each(Mat::from_vec(table.rows, table.columns.len(), table.values)))
}

/// The paths over time, where rows have times.
pub fn time_spec(config: &Config) -> Result<TimeSpec, SpecError> {
    let (path, default) = (&config.path, TimeSpec::default());
    let given = [
        ("sequence", config.sequence.clone()),
        ("time-kernel", path.time_kernel.clone()),
        ("time-trend", path.time_trend.map(|v| v.to_string())),
        ("time-form", path.time_form.and_then(|v| v.to_possible_value()).map(|v| v.get_name().to_string())),
        ("inducing", path.inducing.map(|v| v.to_string())),
    ];
    if config.time.is_none() {
        let rule = "it is about rows with times, and these have none; name the column of their times with --time";
        return match given.into_iter().find_map(|(setting, value)| value.map(|value| (setting, value))) {
            Some((setting, value)) => Err(SpecError::Setting { setting, value, rule: rule.into() }),
            None => Ok(default),
        };
    }
    let spec = TimeSpec {
        kernel: path.time_kernel.as_deref().map_or(Ok(default.kernel), TimeKernel::named)?,
        trend: path.time_trend.unwrap_or(default.trend),
        form: match path.time_form {
            None | Some(TimeFormArg::Automatic) => Form::Automatic,
            Some(TimeFormArg::Dense) => Form::Dense,
            Some(TimeFormArg::StateSpace) => Form::StateSpace,
            Some(TimeFormArg::Inducing) => Form::Inducing,
        },
        inducing: path.inducing.unwrap_or(default.inducing),
    };
    spec.check()?;
    Ok(spec)
}

/// √ψ_d of an axis is half-Cauchy of this scale: that of the fixed ψ of axes that are all used.
const TYPICAL_SCALE: f64 = 1.0;

/// The model's settings, for a table of so many columns.
pub fn spec(config: &ModelConfig, columns: usize) -> Result<ModelSpec, SpecError> {
    let latent_dim = config.latent_dim.unwrap_or_default();
    let is_auto = matches!(latent_dim, LatentDim::Auto(_));
    let kernel = match config.kernel {
        Some(KernelArg::Rbf) if is_auto => {
            return Err(SpecError::Setting {
                setting: "latent-dim",
                value: latent_dim.to_string(),
                rule: "a fixed kernel has the same scale along all axes, so none can fall out of use; give a number, or learn the kernel".into(),
            });
        }
        Some(KernelArg::Rbf) => Kernel::Rbf { length_scale: config.length_scale.unwrap_or(1.0) },
        _ if is_auto => Kernel::Learned(Mixture { scales: Scales::Learned(TYPICAL_SCALE), ..Mixture::default() }),
        _ => Kernel::Learned(Mixture::default()),
    };
    let amplitude = match config.amplitude.as_deref() {
        None => None,
        Some("learned") => Some(Amplitude::Learned(HalfT::default())),
        Some("shared") => Some(Amplitude::Shared(HalfT::default())),
        Some(number) => Some(Amplitude::Fixed(number.parse().map_err(|_| SpecError::Setting {
            setting: "amplitude",
            value: format!("'{number}'"),
            rule: "it must be a positive number or one of the words learned and shared".into(),
        })?)),
    };
    let default = ModelSpec::default();
    Ok(ModelSpec {
        latent_dim: latent_dim.axes(columns),
        features: config.features.unwrap_or(default.features),
        kernel,
        priors: Priors { amplitude, ..Priors::default() },
        ..default
    })
}
