//! What to simulate: the family, the priors and the settings of the model, from flags and from a file.

use crate::args::{SimulateArgs, SourceArg};
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm::internal::error::SpecError;
use rflvm::internal::model::family::{Cells, Family, Trials};
use rflvm::internal::model::{Model, Priors};
use rflvm::internal::{simulate, spec};
use rflvm_study::Config;
use rflvm_study::config::{SamplingConfig, fresh_seed};
use rflvm_study::idle;
use std::sync::Arc;

pub struct Request {
    /// Flags, completed by the file.
    pub config: Config,
    pub priors: Priors,
    pub family: Arc<dyn Family>,
    pub seed: u64,
    /// Of each binomial cell, or of each multinomial row.
    trials: Option<u32>,
}

impl Request {
    pub fn new(args: &SimulateArgs) -> Result<Self, Failure> {
        let refuse = |setting, value: &str, rule: &str| {
            Failure::from(SpecError::Setting { setting, value: value.into(), rule: rule.into() })
        };
        if args.time && args.source() == SourceArg::Model {
            let rule = "rows from the prior have no times; omit it, or simulate an S-curve";
            return Err(refuse("time", "given", rule));
        }
        if args.file.is_some() && args.source() == SourceArg::SCurve {
            let rule = "an S-curve has no priors; add --prior to draw a table from the prior, or omit it";
            return Err(refuse("config", "given", rule));
        }
        if args.source() == SourceArg::SCurve {
            let typed = serde_json::to_value(&args.model.0).unwrap_or_default();
            if let Some((name, value)) = typed.as_object().into_iter().flatten().find(|(_, value)| !value.is_null()) {
                let rule = format!(
                    "an S-curve has no such setting; leave out --{name}, or add --prior to draw a table from the prior"
                );
                return Err(refuse("the model", &format!("given with --{name} {value}"), &rule));
            }
        }
        let flags = Config {
            likelihood: args.likelihood.clone(),
            trials: args.trials.map(|trials| trials.to_string()),
            model: args.model.0.clone(),
            sampling: SamplingConfig { seed: args.seed, ..SamplingConfig::default() },
            ..Config::default()
        };
        let typed = flags.clone();
        let config = flags.or(Config::given(args.file.as_deref())?);
        Reply::from(&args.reply).console().notes(Config::earlier(args.file.as_deref()).as_slice());
        if config.blocks.is_some() {
            let rule = "a simulated table has one family; choose it with --likelihood";
            return Err(refuse("blocks", "given in the file", rule));
        }
        if config.time.is_some() {
            let words = "rows from the prior have no times, so the times of the file are ignored";
            Reply::from(&args.reply).console().say(words);
        }
        let whole = |text: &String| {
            text.parse::<u32>().map_err(|_| refuse("trials", text, "it must be a whole number here; give --trials"))
        };
        let trials = config.trials.as_ref().map(whole).transpose()?;
        let priors = config.all_priors()?;
        // A multinomial row has a total, which a table to fit has in its cells.
        let named = Config {
            likelihood: Some(config.likelihood.clone().unwrap_or_else(|| "poisson".into())),
            ..config.clone()
        };
        let has_total = spec::about(named.likelihood.as_deref().unwrap_or_default())?.cells == Cells::Categories;
        idle::check(&Config { trials: typed.trials.clone().filter(|_| !has_total), ..typed }, &named)?;
        let name = config.likelihood.as_deref().unwrap_or("poisson");
        let has_trials = spec::about(name)?.cells.have_trials();
        let family = spec::family_with(name, has_trials.then(|| Trials::Same(trials.unwrap_or(1))), &priors)?;
        let seed = config.sampling.seed.unwrap_or_else(fresh_seed);
        Ok(Request { config, priors, family, seed, trials })
    }

    /// The total of each multinomial row.
    pub fn row_trials(&self) -> u32 {
        self.trials.unwrap_or(100)
    }

    /// The most that a cell can be, where its trials limit it; 1 elsewhere.
    pub fn total(&self) -> f64 {
        f64::from(match self.family.about().map(|about| about.cells) {
            Some(Cells::Trials) => self.trials.unwrap_or(1),
            Some(Cells::Categories) => self.row_trials(),
            _ => 1,
        })
    }

    /// A model without data.
    pub fn model(&self, rows: usize, columns: usize) -> Result<Model, Failure> {
        let spec = rflvm_study::model::spec(&self.config.model, self.priors.clone(), columns)?;
        Ok(simulate::blank(rows, vec![(columns, self.family.clone())], self.row_trials(), spec)?)
    }
}
