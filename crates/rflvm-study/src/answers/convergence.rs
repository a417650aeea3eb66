//! Whether a fit has converged, in words and as JSON, and how its sampler performed.

use crate::axes;
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::folder::{checkpoint_path, modes_path};
use crate::label::About;
use crate::message::{Naming, render, with_value};
use crate::modes;
use crate::time_scales::TimeScales;
use rflvm::internal::draws::Source;
use rflvm::internal::draws::zarr::Reader;
use rflvm::internal::posterior::axes::AxesInUse;
use rflvm::internal::posterior::convergence::{Convergence, Outcome, Within, within};
use rflvm::internal::posterior::stacking::Weighted;
use rflvm::internal::run::checkpoint;
use rflvm::internal::run::spread::start_of;
use rflvm::internal::steps::Step;
use serde_json::{Map, Value, json};
use std::path::Path;

/// All convergence diagnostics of a fit, as JSON.
pub fn report(fit: &Fit, drawn: &Drawn, convergence: &Convergence, naming: &dyn Naming) -> Result<Value, Error> {
    let (dir, store) = (fit.dir.as_path(), &drawn.store);
    let began = Began::of(dir);
    let mut all = as_json(convergence, began);
    all["advice"] = json!(advice(convergence, fit).map(|sentence| render(&sentence, naming)));
    let seconds = times(dir).into_iter().map(|(name, seconds)| (name.to_string(), json!(seconds)));
    all["seconds_per_sweep"] = seconds.collect::<Map<_, _>>().into();
    let sampler = sampler(store, convergence)?;
    all["sampler"] =
        json!(sampler.iter().map(|(name, value)| json!({ "name": name, "mean": value })).collect::<Vec<_>>());
    let modes = modes::read(dir);
    if !modes.is_empty() {
        all["modes"] = modes::as_json(&modes, naming);
        all["modes"]["shortage"] = json!(modes::shortage(&modes, fit.settings.modes));
    }
    if !drawn.modes().is_empty() {
        all["modes"] = modes_as_json(fit, drawn)?;
    } else if let Some(stacking) = &drawn.stacking {
        all["modes"]["stacking"] = stacking.as_json();
        for (i, mode) in stacking.modes.iter().enumerate() {
            let told = if i == 0 { as_json(convergence, began) } else { as_json(&drawn.others[i - 1], began) };
            let found = &mut all["modes"]["found"][i];
            (found["weight"], found["log_density"]) = (json!(mode.weight), json!(mode.log_density));
            (found["verdict"], found["words"]) = (told["verdict"].clone(), told["words"].clone());
        }
    }
    if let Some(scales) = TimeScales::of(dir, store, &drawn.used)? {
        all["length_scales"] = scales.as_json();
    }
    if let Some(axes) = AxesInUse::of(store, &drawn.used)? {
        all["axes"] = axes::as_json(&axes);
    }
    Ok(all)
}

/// A mode of chains that began apart.
struct Mode {
    /// Its chains, counted from 1, and where each began.
    chains: Vec<usize>,
    starts: Vec<String>,
    weight: f64,
    within: Within,
}

fn modes_of(fit: &Fit, drawn: &Drawn) -> Result<Vec<Mode>, Error> {
    let one = |mode: &Weighted| {
        Ok(Mode {
            chains: mode.used.iter().map(|chain| chain + 1).collect(),
            starts: mode.used.iter().map(|&chain| start_of(&fit.model, chain)).collect(),
            weight: mode.weight,
            within: within(&drawn.store, &mode.used)?,
        })
    };
    drawn.modes().iter().map(one).collect()
}

/// The modes of chains that began apart.
fn modes_as_json(fit: &Fit, drawn: &Drawn) -> Result<Value, Error> {
    let number = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
    let one = |Mode { chains, starts, weight, within }: Mode| {
        json!({
            "chains": chains, "starts": starts, "weight": weight, "r_hat": number(within.r_hat), "ess_bulk": number(within.ess_bulk),
        })
    };
    Ok(modes_of(fit, drawn)?.into_iter().map(one).collect())
}

/// A line per mode of chains that began apart.
pub fn mode_lines(fit: &Fit, drawn: &Drawn) -> Result<Vec<String>, Error> {
    let line = |(i, Mode { chains, starts, weight, within }): (usize, Mode)| {
        let noun = if chains.len() == 1 { "chain" } else { "chains" };
        let chains: Vec<String> = chains.iter().map(usize::to_string).collect();
        format!(
            "mode {}: weight {weight:.2}, {noun} {} (from {}); distances within it: R̂ up to {:.3}, {:.0} effective draws or more",
            i + 1,
            chains.join(", "),
            starts.join("; "),
            within.r_hat,
            within.ess_bulk
        )
    };
    Ok(modes_of(fit, drawn)?.into_iter().enumerate().map(line).collect())
}

/// How the moves perform: means over all kept sweeps.
pub fn sampler(store: &Reader, convergence: &Convergence) -> Result<Vec<(&'static str, f64)>, Error> {
    let names = [
        ("acceptance of the gradient move", "acceptance_rate"),
        ("its step", "step_size"),
        ("slice tries per frequency", "frequency_tries"),
        ("slice tries per row", "position_tries"),
    ];
    let mean = |name: &str| -> Result<f64, Error> {
        let mut all = Vec::new();
        for &chain in &convergence.numbers {
            all.extend(store.all(&format!("sample_stats/{name}"), chain)?);
        }
        Ok(all.iter().sum::<f64>() / all.len() as f64)
    };
    names.into_iter().map(|(words, name)| Ok((words, mean(name)?))).collect()
}

/// Wall seconds of each step of a sweep, from the last checkpoint; `None` if it cannot be read, which `resume` reports.
pub fn times(dir: &Path) -> Vec<(&'static str, f64)> {
    let Ok(checkpoint) = checkpoint::load(&checkpoint_path(dir)) else { return Vec::new() };
    let sweeps: u64 = checkpoint.chains.iter().map(|(chain, _)| chain.done()).sum();
    let of = |step: usize| checkpoint.chains.iter().map(|(chain, _)| chain.seconds()[step]).sum::<f64>();
    Step::NAMES.iter().enumerate().map(|(step, name)| (*name, of(step) / sweeps.max(1) as f64)).collect()
}

/// Where chains began: disagreement means something else if they were together at first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Began {
    /// In the same mode.
    InOneMode,
    /// Anywhere.
    Anywhere,
}

impl Began {
    /// The chains of a fit: a search for modes leaves a list of them.
    pub fn of(dir: &Path) -> Self {
        if modes_path(dir).exists() { Began::InOneMode } else { Began::Anywhere }
    }
}

/// The verdict in words.
pub fn word(convergence: &Convergence, began: Began) -> String {
    let worst = convergence
        .lines
        .iter()
        .filter(|l| l.diagnosis.sd > 0.0)
        .min_by(|a, b| a.diagnosis.ess_bulk.total_cmp(&b.diagnosis.ess_bulk));
    let slowest = worst.map_or(String::new(), |l| {
        format!(" (the slowest is {}, with {:.0} effective draws)", l.label, l.diagnosis.ess_bulk)
    });
    match convergence.outcome {
        Outcome::Converged => format!("converged: all chains agree{slowest}"),
        Outcome::RunLonger { factor } => format!(
            "run longer: the chains agree so far, but there are too few effective draws{slowest}; about {} draws per chain should be enough",
            draws_advised(convergence.draws, factor)
        ),
        Outcome::ChainsDisagree if began == Began::InOneMode => format!(
            "chains have not mixed inside the mode: they began in the same one, and still differ{slowest}; a chain whose log joint density \
             is far below the best is stuck in a minor mode"
        ),
        Outcome::ChainsDisagree => format!(
            "chains disagree: they explore different regions{slowest}; a chain whose log joint density is far below the best is stuck in a \
             minor mode"
        ),
        Outcome::SeveralModes { modes } => format!(
            "several modes fit: {} chains that began apart are in {modes} of them, and their mixture is the answer; cells, distances and the uncertainty of \
             positions are those of all modes, positions themselves those of the first",
            convergence.chains.len()
        ),
        Outcome::NotStationary => "not stationary yet: the log joint density still rises over the kept draws".into(),
        Outcome::CannotTell => {
            "cannot tell: convergence can be judged from two or more chains of at least a few dozen draws; run more chains or more draws"
                .into()
        }
    }
}

/// What to do about a fit that has not converged, with the command.
pub fn advice(convergence: &Convergence, fit: &Fit) -> Option<String> {
    let dir = fit.dir.display();
    let more = |draws: u64| with_value("more-draws", &format!("{draws} {dir}"));
    Some(match convergence.outcome {
        Outcome::Converged | Outcome::SeveralModes { .. } => return None,
        Outcome::NotStationary => {
            let run = &fit.settings;
            let sweeps = (2 * (run.warmup - run.warmup_from)).max(LEAST_ADVISED);
            format!("warm up for longer with {}", with_value("more-warmup", &format!("{sweeps} {dir}")))
        }
        Outcome::RunLonger { factor } => format!("continue with {}", more(draws_advised(convergence.draws, factor))),
        Outcome::ChainsDisagree => {
            let run = &fit.settings;
            let sweeps = (2 * (run.warmup - run.warmup_from)).max(LEAST_ADVISED);
            let longer = with_value("more-warmup", &format!("{sweeps} {dir}"));
            let chains = with_value("chains", &(2 * run.chains_per_mode()).max(4).to_string());
            format!("warm up for longer with {longer}; if they still disagree, fit again with {chains}")
        }
        Outcome::CannotTell if convergence.chains.len() < 2 => {
            format!("fit again with {}: convergence cannot be judged from a single chain", with_value("chains", "4"))
        }
        Outcome::CannotTell => format!("continue with {}", more(LEAST_ADVISED.max(2 * convergence.draws as u64))),
    })
}

/// In one sentence, that results are those of a fit that has not converged; nothing for one that has.
pub fn caution(convergence: &Convergence, fit: &Fit) -> Option<String> {
    let advice = advice(convergence, fit)?;
    let why = match convergence.outcome {
        Outcome::CannotTell => "it cannot be judged whether the chains have converged",
        _ => "the chains have not converged",
    };
    Some(format!("{why}, so these results may change; {advice}"))
}

/// How positions, cells and other parameters mix, a line each.
pub fn parts(convergence: &Convergence) -> Vec<String> {
    let of = |(about, name): (About, &str)| {
        let own = convergence.lines.iter().filter(|l| About::of(&l.array) == about && l.diagnosis.sd > 0.0);
        let worst = own.clone().min_by(|a, b| a.diagnosis.ess_bulk.total_cmp(&b.diagnosis.ess_bulk))?;
        let r_hat = own.map(|l| l.diagnosis.r_hat).fold(1.0, f64::max);
        let least = worst.diagnosis.ess_bulk;
        Some(format!("{name}: R̂ up to {r_hat:.3}, {least:.0} effective draws or more (least for {})", worst.label))
    };
    About::ALL.into_iter().filter_map(of).collect()
}

/// The least draws or sweeps to advise.
const LEAST_ADVISED: u64 = 1000;

/// The verdict of each sampled mode; `convergence` is that of the first.
pub fn verdicts(drawn: &Drawn, convergence: &Convergence, began: Began) -> Vec<String> {
    if drawn.others.is_empty() {
        return vec![word(convergence, began)];
    }
    let all = std::iter::once(convergence).chain(&drawn.others);
    (1..).zip(all).map(|(mode, convergence)| format!("mode {mode}: {}", word(convergence, began))).collect()
}

/// Draws per chain that should be enough, rounded to hundreds.
pub fn draws_advised(draws: usize, factor: f64) -> u64 {
    (factor * draws as f64 / 100.0).ceil() as u64 * 100
}

/// The diagnostics as JSON.
pub fn as_json(convergence: &Convergence, began: Began) -> Value {
    let number = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
    let line = |l: &rflvm::internal::posterior::convergence::Diagnosed| {
        let d = &l.diagnosis;
        json!({
            "name": l.name, "label": l.label, "mean": number(d.mean), "sd": number(d.sd), "mcse_mean": number(d.mcse_mean),
            "mcse_sd": number(d.mcse_sd), "ess_bulk": number(d.ess_bulk), "ess_tail": number(d.ess_tail), "r_hat": number(d.r_hat),
        })
    };
    let outcome = match convergence.outcome {
        Outcome::Converged => "converged",
        Outcome::RunLonger { .. } => "run-longer",
        Outcome::ChainsDisagree => "chains-disagree",
        Outcome::SeveralModes { .. } => "several-modes",
        Outcome::NotStationary => "not-stationary",
        Outcome::CannotTell => "cannot-tell",
    };
    let chain = |(place, v): (&usize, &rflvm::internal::posterior::Verdict)| json!({ "chain": place + 1, "log_joint": number(v.ln_joint), "used": v.used, "below_best": number(v.below) });
    json!({
        "verdict": outcome, "words": word(convergence, began), "draws": convergence.draws,
        "chains": convergence.numbers.iter().zip(&convergence.chains).map(chain).collect::<Vec<_>>(),
        "quantities": convergence.lines.iter().map(line).collect::<Vec<_>>(),
    })
}
