//! The draws of a fit, read from its store.

use crate::error::Error;
use crate::fit::Fit;
use crate::folder::{checkpoint_path, store_path};
use crate::identity;
use crate::label::label;
use crate::modes;
use crate::stacking::Stacking;
use rflvm::Init;
use rflvm::internal::atomic::plain_reason;
use rflvm::internal::draws::Source;
use rflvm::internal::draws::zarr::Reader;
use rflvm::internal::error::{SpecError, StoreError};
use rflvm::internal::posterior::convergence::{Convergence, judge_chains};
use rflvm::internal::posterior::fitted::Fitted;
use rflvm::internal::posterior::modes::judge_modes;
use rflvm::internal::posterior::stacking::Weighted;
use rflvm::internal::run::Settings;
use std::path::Path;

/// Stored draws, from some of the chains.
pub struct Drawn {
    /// All draws.
    pub store: Reader,
    /// The chains that are used, all of the chosen mode; others of that mode are stuck in a minor mode.
    pub used: Vec<usize>,
    /// How the chains of the other sampled modes compare, mode by mode.
    pub others: Vec<Convergence>,
    /// The weights of the modes, if several are sampled.
    pub stacking: Option<Stacking>,
    /// The chains in use of each mode, with its weight; empty for one mode.
    weighted: Vec<Weighted>,
    /// Whether chains began apart.
    is_spread: bool,
}

impl Drawn {
    /// The draws of a fit, which may be finished, stopped or still running, and how the chains of the chosen mode compare.
    pub fn open(fit: &Fit) -> Result<(Self, Convergence), Error> {
        fit.use_instructions();
        let path = store_path(&fit.dir);
        let no_draws = || Error::NoDraws { dir: fit.dir.display().to_string() };
        let metadata = path.join(".zmetadata");
        if !is_there(&metadata)? {
            // A checkpoint is written after the metadata.
            if !is_there(&checkpoint_path(&fit.dir))? {
                return Err(no_draws());
            }
            let problem = "the file is missing, so the draws cannot be read; restore it from a copy, or fit again";
            let path = metadata.display().to_string();
            return Err(StoreError::Damaged { path, problem: problem.into() }.into());
        }
        let store = Reader::open(&path)?;
        identity::check_store(fit, &store)?;
        if store.size()?.1 == 0 {
            return Err(no_draws());
        }
        if is_spread(&fit.settings) {
            return Self::of_spread(fit, store);
        }
        let judged = modes::groups(&fit.dir, &fit.settings)?
            .iter()
            .map(|chains| judge_chains(&store, chains))
            .collect::<Result<Vec<_>, _>>();
        let mut judged = judged?;
        judged.iter_mut().for_each(|convergence| label(&mut convergence.lines, fit));
        let used: Vec<Vec<usize>> = judged.iter().map(Convergence::used).collect();
        // Without its table nothing can be predicted, and modes have no weights.
        let is_weighted = used.len() > 1 && fit.model.has_table();
        let stacking = if is_weighted { Stacking::of(fit, &store, &used)? } else { None };
        let weights = stacking.iter().flat_map(|stacking| &stacking.modes).map(|mode| mode.weight);
        let weighted = used.into_iter().zip(weights).map(|(used, weight)| Weighted { used, weight }).collect();
        let convergence = judged.remove(0);
        let used = convergence.used();
        Ok((Drawn { used, store, others: judged, stacking, weighted, is_spread: false }, convergence))
    }

    /// Chains that began apart: those in use are in the mode with most chains, and all answers but positions combine the modes, each counting by its chains.
    fn of_spread(fit: &Fit, store: Reader) -> Result<(Self, Convergence), Error> {
        let all: Vec<usize> = (0..store.size()?.0).collect();
        let (modes, mut convergence) = judge_modes(&store, &all, (fit.model.rows(), fit.model.latent_dim()))?;
        label(&mut convergence.lines, fit);
        let used = modes[0].clone();
        let weighted = if modes.len() > 1 { Weighted::by_chains(modes) } else { Vec::new() };
        Ok((Drawn { store, used, others: Vec::new(), stacking: None, weighted, is_spread: true }, convergence))
    }

    /// The modes of chains that began apart, by their weights; empty if there is one, or chains began otherwise.
    pub fn modes(&self) -> &[Weighted] {
        if self.is_spread { &self.weighted } else { &[] }
    }

    /// The chains whose draws are shown: those in use, or all that began apart.
    pub fn shown(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.modes().iter().flat_map(|mode| mode.used.iter().copied()).collect();
        all.sort_unstable();
        if all.is_empty() { self.used.clone() } else { all }
    }

    /// The fit with its draws, with a separate random stream for each kind of question.
    pub fn fitted<'a>(&'a self, fit: &'a Fit, question: &'static str) -> Fitted<'a> {
        let (store, model, stream) = (&self.store, &fit.model, fit.stream().named(question));
        Fitted { store, model, used: &self.used, modes: &self.weighted, is_pooled: self.is_spread, stream }
    }

    /// Keeps the weights of the modes in the folder: they take seconds to compute, and every prediction needs them.
    pub fn keep_weights(&self, fit: &Fit) -> Result<(), Error> {
        self.stacking.as_ref().map_or(Ok(()), |stacking| stacking.write(fit))
    }

    /// Checks that there are enough draws for `count` tables of predictions.
    pub fn check_count(&self, count: usize) -> Result<(), Error> {
        let draws = self.store.size()?.1;
        let there = match &self.weighted[..] {
            [] => self.used.len() * draws,
            modes => Weighted::counts(modes, draws, usize::MAX).iter().sum(),
        };
        enough(count, there)
    }

    /// Checks that there are enough draws for `count` draws of positions, which come from the chosen mode.
    pub fn check_positions(&self, count: usize) -> Result<(), Error> {
        enough(count, self.used.len() * self.store.size()?.1)
    }
}

/// Whether a fit has several chains, each with its own start.
pub fn is_spread(settings: &Settings) -> bool {
    settings.init == Init::Spread && settings.chains > 1
}

/// Whether there is a file; an error if that cannot be known.
fn is_there(path: &Path) -> Result<bool, StoreError> {
    let unreadable = |error| StoreError::Read { path: path.display().to_string(), reason: plain_reason(&error) };
    path.try_exists().map_err(unreadable)
}

fn enough(count: usize, there: usize) -> Result<(), Error> {
    if (1..=there).contains(&count) {
        return Ok(());
    }
    let rule = format!("each table needs a separate draw, and this fit has {there}; ask for 1 to {there}");
    Err(SpecError::Setting { setting: "draws", value: count.to_string(), rule }.into())
}
