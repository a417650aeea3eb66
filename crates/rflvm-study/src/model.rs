//! From settings to the model: its specification, and the observations in its blocks.

use crate::blocks::{self, Given};
use crate::choices::{ColumnProcessKind, KernelKind, LinearPart, TimeForm};
use crate::config::{Config, ModelConfig};
use crate::covariates::Covariates;
use crate::error::Error;
use crate::families::Block;
use crate::latent_dim::LatentDim;
use crate::table::Table;
use crate::times::Timeline;
use rflvm::internal::error::{DataError, SpecError};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Cells, Family};
use rflvm::internal::model::latent::{Dynamics, Form, TimeKernel, TimeSpec};
use rflvm::internal::model::spectral::Kernel;
use rflvm::internal::model::{MOST_AXES, Model, ModelSpec, Priors, roughness};
use rflvm::internal::observations::{Observations, Offset};
use std::sync::Arc;

/// The model of a table. It takes over the table's values, so that they are not held twice.
pub fn model(config: &Config, given: &Given, table: &mut Table, timeline: Option<&Timeline>) -> Result<Model, Error> {
    let blocks = blocks::blocks(config, given, table)?;
    let covariates = Covariates::of(config, table)?;
    let known = covariates.matrix(table)?;
    let y = Mat::from_vec(table.rows, table.columns.len(), std::mem::take(&mut table.values));
    let offset = offset(config, table);
    let spec =
        ModelSpec { time: time_spec(config)?, ..spec(&config.model, config.all_priors()?, table.columns.len())? };
    let is_real = blocks.iter().all(|(_, family)| family.about().is_some_and(|about| about.cells == Cells::Real));
    check_scales(&blocks, &y, &table.columns).map_err(|error| refused(table, error.into()))?;
    let column_process = column_process(config, is_real, &y, timeline, &spec)?;
    let spec = ModelSpec { column_process, ..spec };
    let data = Observations::named(y, table.columns.clone()).and_then(|data| data.with_offset(offset));
    let data = data.and_then(|data| match covariates.is_empty() {
        true => Ok(data),
        false => data.with_covariates(known, covariates.names()),
    });
    let data = data.and_then(|data| match timeline {
        Some(timeline) => data.with_times(timeline.times.clone()),
        None => Ok(data),
    });
    let model = data.map_err(SpecError::from).and_then(|data| Model::with_blocks(data, blocks, spec));
    model.map_err(|error| refused(table, error))
}

/// The least range of the numbers of a column: squares of smaller ones vanish.
const LEAST_RANGE: f64 = 1e-100;

/// Refuses such columns of the part of a model that a process has.
pub(crate) fn check_part(part: &Model) -> Result<(), SpecError> {
    let blocks: Vec<Block> =
        part.blocks().iter().map(|block| (block.columns.clone().collect(), Arc::clone(&block.family))).collect();
    Ok(check_scales(&blocks, part.y(), part.names())?)
}

/// Refuses a column of real numbers whose scale is too small to compute with.
fn check_scales(blocks: &[Block], y: &Mat, names: &[String]) -> Result<(), DataError> {
    let is_real = |family: &dyn Family| family.about().is_some_and(|about| about.cells == Cells::Real);
    for &j in blocks.iter().filter(|(_, family)| is_real(family.as_ref())).flat_map(|(columns, _)| columns) {
        let seen = || (0..y.rows()).filter(|&n| !y[(n, j)].is_nan());
        let (low, high) =
            seen().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), n| (l.min(y[(n, j)]), h.max(y[(n, j)])));
        if let Some(row) = seen().find(|&n| high > low && high - low < LEAST_RANGE && y[(n, j)] != 0.0) {
            let problem = "is too small to compute with; rescale the column".into();
            return Err(DataError::Support { row: row + 1, column: names[j].clone(), value: y[(row, j)], problem });
        }
    }
    Ok(())
}

/// The offsets of the rows.
pub fn offset(config: &Config, table: &mut Table) -> Offset {
    match (config.offset.as_deref(), table.offset.take()) {
        (Some("size-factors"), _) => Offset::SizeFactors,
        (_, Some(values)) => Offset::Given(values),
        _ => Offset::None,
    }
}

/// A table that cannot be fitted.
pub fn refused(table: &Table, error: SpecError) -> Error {
    let error = match error {
        // Which number to give instead is clear.
        SpecError::Setting { setting: "latent-dim", value, rule } => {
            let most = table.columns.len().min(MOST_AXES);
            SpecError::Setting { setting: "latent-dim", value, rule: format!("{rule}; use ⟨latent-dim={most}⟩") }
        }
        other => other,
    };
    Error::Data { file: table.path.display().to_string(), error }
}

/// The model of a table whose cells no process has as a whole.
pub fn outlined(config: &Config, given: &Given, table: &Table) -> Result<Model, Error> {
    let blocks = blocks::blocks(config, given, table)?;
    let covariates = Covariates::of(config, table)?;
    let known = covariates.matrix(table)?;
    let known = (!covariates.is_empty()).then(|| (known, covariates.names()));
    let spec = spec(&config.model, config.all_priors()?, table.columns.len())?;
    let spec = ModelSpec { time: time_spec(config)?, ..spec };
    let model = Model::outlined((table.rows, table.columns.clone()), known, blocks, spec);
    model.map_err(|error| refused(table, error))
}

/// The paths over time, where rows have times.
pub fn time_spec(config: &Config) -> Result<TimeSpec, SpecError> {
    let (path, default) = (&config.paths, TimeSpec::default());
    let given = [
        ("sequence", config.sequence.clone()),
        ("time-kernel", path.time_kernel.map(|v| v.to_string())),
        ("time-trend", path.time_trend.map(|v| v.to_string())),
        ("time-form", path.time_form.map(|v| v.to_string())),
        ("period", path.period.map(|v| v.to_string())),
        (
            "column-process",
            path.column_process
                .filter(|kind| !matches!(kind, ColumnProcessKind::Auto | ColumnProcessKind::None))
                .map(|v| v.to_string()),
        ),
        ("inducing", path.inducing.map(|v| v.to_string())),
    ];
    if config.time.is_none() {
        let rule = "it applies only to rows with times; give the times with ⟨time⟩";
        return match given.into_iter().find_map(|(setting, value)| value.map(|value| (setting, value))) {
            Some((setting, value)) => Err(SpecError::Setting { setting, value, rule: rule.into() }),
            None => Ok(default),
        };
    }
    let spec = TimeSpec {
        kernel: path.time_kernel.map_or(Ok(default.kernel), |kernel| TimeKernel::named(&kernel.to_string()))?,
        trend: path.time_trend.unwrap_or(default.trend),
        form: match path.time_form {
            None | Some(TimeForm::Automatic) => Form::Automatic,
            Some(TimeForm::Dense) => Form::Dense,
            Some(TimeForm::StateSpace) => Form::StateSpace,
            Some(TimeForm::Inducing) => Form::Inducing,
        },
        inducing: path.inducing.unwrap_or(default.inducing),
        period: path.period,
    };
    spec.check()?;
    Ok(spec)
}

/// The kernel of column processes, where rows have times.
fn column_process(
    config: &Config,
    is_real: bool,
    y: &Mat,
    timeline: Option<&Timeline>,
    spec: &ModelSpec,
) -> Result<Option<TimeKernel>, SpecError> {
    let Some(timeline) = timeline else { return Ok(None) };
    match config.paths.column_process.unwrap_or(ColumnProcessKind::Auto) {
        ColumnProcessKind::None => Ok(None),
        ColumnProcessKind::Auto if is_real => {
            Ok(roughness::kernel(y, &Dynamics::new(timeline.times.clone(), spec.time.clone())?))
        }
        ColumnProcessKind::Auto => Ok(None),
        kernel => TimeKernel::named(&kernel.to_string()).map(Some),
    }
}

/// The specification of the model, for a table with the given number of columns.
pub fn spec(config: &ModelConfig, priors: Priors, columns: usize) -> Result<ModelSpec, SpecError> {
    let latent_dim = config.latent_dim.unwrap_or_default();
    let is_auto = matches!(latent_dim, LatentDim::Auto(_));
    let kernel = match config.kernel {
        Some(KernelKind::Rbf) if is_auto => {
            return Err(SpecError::Setting {
                setting: "latent-dim",
                value: latent_dim.to_string(),
                rule: "a fixed kernel has the same scale along all axes, so no axis can be pruned; give a number, or learn the kernel".into(),
            });
        }
        Some(KernelKind::Rbf) => Kernel::Rbf { length_scale: config.length_scale.unwrap_or(1.0) },
        _ => Kernel::Learned(priors.mixture(is_auto)),
    };
    let linear = config.linear == Some(LinearPart::Learned);
    if linear && is_auto {
        let rule = "the linear part has the same scale along all axes, so no axis can be pruned; give a number, or omit the linear part";
        let (setting, value) = ("latent-dim", latent_dim.to_string());
        return Err(SpecError::Setting { setting, value, rule: rule.into() });
    }
    let default = ModelSpec::default();
    Ok(ModelSpec {
        latent_dim: latent_dim.axes(columns),
        features: config.features.unwrap_or(default.features),
        kernel,
        linear,
        priors,
        ..default
    })
}
