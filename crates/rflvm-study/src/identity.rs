//! Whether the parts of a fit belong together: its settings, its draws and its checkpoint each record the run they come from.

use crate::config::Config;
use crate::error::Error;
use crate::fit::Fit;
use crate::folder::{checkpoint_path, config_path, store_path};
use crate::run;
use rflvm::internal::draws::Source;
use rflvm::internal::draws::zarr::Reader;
use rflvm::internal::identity::{Difference, Identity};
use rflvm::internal::run::checkpoint::{self, Checkpoint};
use std::path::Path;

/// Checks that the draws in a store come from this fit.
pub fn check_store(fit: &Fit, store: &Reader) -> Result<(), Error> {
    let drawn = store.identity()?;
    let is_first = fit.part.as_ref().is_none_or(|part| part.chunks().is_first());
    match drawn.difference(&ours(fit, &drawn)) {
        // Of several processes, the first checks them for all.
        None if !is_first => Ok(()),
        None => Ok(store.check_arrays(&fit.model, &fit.keep, fit.settings.chains)?),
        Some(difference) => {
            let path = store_path(&fit.dir);
            Err(foreign(fit, &path, "the draws were", &drawn, &difference))
        }
    }
}

/// Whether a folder that holds a fit holds the one of this identity, perhaps with more draws by now.
pub fn is_kept(dir: &Path, identity: &Identity) -> Result<bool, Error> {
    if !config_path(dir).exists() {
        return Ok(true);
    }
    let config = Config::read(&config_path(dir))?;
    let draws = run::settings(&config).draws;
    let ours = Identity { draws, ..identity.clone() }.digest();
    Ok(config.identity.is_none_or(|theirs| theirs == ours))
}

/// Where a fit was when it stopped; `None` if that was before its first draw.
pub fn checkpoint(fit: &Fit) -> Result<Option<Checkpoint>, Error> {
    let (path, store) = (checkpoint_path(&fit.dir), store_path(&fit.dir));
    let drawn = if store.join(".zmetadata").exists() { Some(Reader::open(&store)?) } else { None };
    if let Some(store) = &drawn {
        check_store(fit, store)?;
    }
    if !path.exists() {
        return match drawn.map_or(Ok(0), |store| store.size().map(|size| size.1))? {
            0 => Ok(None),
            draws => Err(Error::NoCheckpoint { dir: fit.dir.display().to_string(), draws }),
        };
    }
    let checkpoint = checkpoint::load(&path)?;
    if checkpoint.version != env!("CARGO_PKG_VERSION") {
        let problem = format!(
            "the fit was begun by rflvm {}, and other versions may give different draws; resume it with that version",
            checkpoint.version
        );
        return Err(Error::Foreign { path: path.display().to_string(), problem });
    }
    if let Some(difference) = checkpoint.identity.difference(&ours(fit, &checkpoint.identity)) {
        return Err(foreign(fit, &path, "the checkpoint was", &checkpoint.identity, &difference));
    }
    let drawn = checkpoint.draws();
    // With a further warm-up, there may be fewer.
    if fit.settings.draws < drawn && fit.settings.warmup_from == checkpoint.identity.warmup_from {
        let problem = format!(
            "draws is {}, but a chain has {drawn} draws already; set it to {drawn} or more to continue",
            fit.settings.draws
        );
        return Err(Error::Foreign { path: config_path(&fit.dir).display().to_string(), problem });
    }
    if fit.part.as_ref().is_none_or(|part| part.chunks().is_first()) {
        checkpoint.check_tables()?;
    }
    Ok(Some(checkpoint))
}

/// The identity that a part of this fit has. The number of draws requested does not affect those already made, and where the warm-up is to be
/// extended, the settings say so first.
fn ours(fit: &Fit, part: &Identity) -> Identity {
    let own = fit.identity();
    let (warmup, warmup_from) = match own.warmup_from > part.warmup_from {
        true => (part.warmup, part.warmup_from),
        false => (own.warmup, own.warmup_from),
    };
    Identity { draws: part.draws, warmup, warmup_from, ..own }
}

/// The error for a part that belongs to another run.
fn foreign(fit: &Fit, path: &Path, what: &str, theirs: &Identity, difference: &Difference) -> Error {
    let how = match difference {
        Difference::Data => format!("{what} made from another table"),
        Difference::Model => format!("{what} made with another model (families, latent-dim, features, priors …)"),
        Difference::Setting { name, one, other } => {
            format!("{what} made with {name} = {one}, and config.toml says {name} = {other}")
        }
    };
    let is_edited = fit.saved.identity.as_ref() == Some(&theirs.digest());
    let config = config_path(&fit.dir);
    let (path, remedy) = if is_edited {
        (
            config.as_path(),
            "the settings, or a file that they name, were changed since the fit began: restore the originals",
        )
    } else {
        (path, "it belongs to another fit: restore the one that belongs here")
    };
    let problem = format!("{how}; {remedy}, or start a new fit in another folder");
    Error::Foreign { path: path.display().to_string(), problem }
}
