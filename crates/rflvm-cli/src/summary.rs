//! `rflvm summary`: has a fit converged, and what to do if not.

use crate::args::SummaryArgs;
use crate::axes;
use crate::drawn::Drawn;
use crate::failure::Failure;
use crate::fit::Fit;
use crate::folder::checkpoint_path;
use crate::time_scales::TimeScales;
use crate::voice::{tell, tell_json};
use rflvm::draws::Source;
use rflvm::draws::zarr::Reader;
use rflvm::posterior::axes::AxesInUse;
use rflvm::posterior::convergence::{Convergence, Outcome};
use rflvm::run::checkpoint;
use rflvm::steps::Step;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Runs the command.
pub fn run(args: &SummaryArgs) -> Result<(), Failure> {
    let (drawn, convergence) = Drawn::judged(&Fit::open(&args.dir, |_| ())?)?;
    if args.json {
        return tell_json(&report(&args.dir, &drawn.store, &convergence)?);
    }
    let sampler = sampler(&drawn.store, &convergence)?;
    let scales = TimeScales::of(&args.dir, &drawn.store, &drawn.used)?;
    let axes = AxesInUse::of(&drawn.store, &drawn.used)?;
    let times = times(&args.dir);
    table(&convergence).lines().try_for_each(tell)?;
    for (chain, verdict) in convergence.chains.iter().enumerate() {
        let word =
            if verdict.used { String::new() } else { format!("; set aside, {:.0} below the best", verdict.below) };
        tell(&format!(
            "chain {}: {} draws, mean log joint {:.1}{word}",
            chain + 1,
            convergence.draws,
            verdict.ln_joint
        ))?;
    }
    if let Some(scales) = &scales {
        tell(&scales.line())?;
    }
    if let Some(axes) = &axes {
        tell(&axes::line(axes))?;
    }
    let parts: Vec<String> = sampler.iter().map(|(name, value)| format!("{name} {value:.3}")).collect();
    tell(&format!("per sweep: {}", parts.join(", ")))?;
    if !times.is_empty() {
        let parts: Vec<String> = times.iter().map(|(name, seconds)| format!("{name} {seconds:.4}")).collect();
        tell(&format!("seconds a sweep: {}", parts.join(", ")))?;
    }
    tell(&word(&convergence))
}

/// All that is known of a fit's convergence, for programs.
pub fn report(dir: &Path, store: &Reader, convergence: &Convergence) -> Result<Value, Failure> {
    let mut all = as_json(convergence);
    let seconds = times(dir).into_iter().map(|(name, seconds)| (name.to_string(), json!(seconds)));
    all["seconds_a_sweep"] = seconds.collect::<Map<_, _>>().into();
    let sampler = sampler(store, convergence)?;
    all["sampler"] =
        json!(sampler.iter().map(|(name, value)| json!({ "name": name, "mean": value })).collect::<Vec<_>>());
    if let Some(scales) = TimeScales::of(dir, store, &convergence.used())? {
        all["length_scales"] = scales.as_json();
    }
    if let Some(axes) = AxesInUse::of(store, &convergence.used())? {
        all["axes"] = axes::as_json(&axes);
    }
    Ok(all)
}

/// How the moves go: means over all kept sweeps.
fn sampler(store: &Reader, convergence: &Convergence) -> Result<Vec<(&'static str, f64)>, Failure> {
    let names = [
        ("acceptance of the gradient move", "acceptance_rate"),
        ("its step", "step_size"),
        ("slice tries a frequency", "frequency_tries"),
        ("slice tries a row", "position_tries"),
    ];
    let mean = |name: &str| -> Result<f64, Failure> {
        let mut all = Vec::new();
        for chain in 0..convergence.chains.len() {
            all.extend(store.all(&format!("sample_stats/{name}"), chain)?);
        }
        Ok(all.iter().sum::<f64>() / all.len() as f64)
    };
    names.into_iter().map(|(words, name)| Ok((words, mean(name)?))).collect()
}

/// Wall seconds of each step of a sweep, by the last checkpoint; none if it cannot be read, which `resume` tells of.
fn times(dir: &Path) -> Vec<(&'static str, f64)> {
    let Ok(checkpoint) = checkpoint::load(&checkpoint_path(dir)) else { return Vec::new() };
    let sweeps: u64 = checkpoint.chains.iter().map(|(chain, _)| chain.done()).sum();
    let of = |step: usize| checkpoint.chains.iter().map(|(chain, _)| chain.seconds()[step]).sum::<f64>();
    Step::NAMES.iter().enumerate().map(|(step, name)| (*name, of(step) / sweeps.max(1) as f64)).collect()
}

fn table(convergence: &Convergence) -> String {
    let width = convergence.lines.iter().map(|l| l.name.chars().count()).max().unwrap_or(8).max(8);
    let mut text = format!(
        "{:width$} {:>12} {:>10} {:>9} {:>8} {:>8} {:>6}",
        "quantity", "mean", "sd", "mcse", "ess bulk", "ess tail", "R̂"
    );
    for line in &convergence.lines {
        let d = &line.diagnosis;
        let name = &line.name;
        let (mean, sd, mcse, bulk, tail, r_hat) = (d.mean, d.sd, d.mcse_mean, d.ess_bulk, d.ess_tail, d.r_hat);
        text.push_str(&format!(
            "\n{name:width$} {mean:>12.3} {sd:>10.3} {mcse:>9.3} {bulk:>8.0} {tail:>8.0} {r_hat:>5.3}"
        ));
    }
    text
}

/// The verdict in words.
pub fn word(convergence: &Convergence) -> String {
    let worst = convergence
        .lines
        .iter()
        .filter(|l| l.diagnosis.sd > 0.0)
        .min_by(|a, b| a.diagnosis.ess_bulk.total_cmp(&b.diagnosis.ess_bulk));
    let slowest = worst.map_or(String::new(), |l| {
        format!(" (the slowest is {}, with {:.0} effective draws)", l.name, l.diagnosis.ess_bulk)
    });
    match convergence.outcome {
        Outcome::Converged => format!("converged: all chains agree{slowest}"),
        Outcome::RunLonger { factor } => format!(
            "run longer: the chains agree so far, but tell little{slowest}; about {:.0} draws a chain should do",
            (factor * convergence.draws as f64 / 100.0).ceil() * 100.0
        ),
        Outcome::ChainsDisagree => format!(
            "chains disagree: they have not found the same thing{slowest}; warm up longer, run more chains, and look at their log joints: \
             chains far below the best sit in a lesser mode"
        ),
        Outcome::CannotTell => {
            "cannot tell: convergence shows in two or more chains of at least some dozen draws; run more of either"
                .into()
        }
    }
}

/// The same for programs.
pub fn as_json(convergence: &Convergence) -> Value {
    let number = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
    let line = |l: &rflvm::posterior::convergence::Diagnosed| {
        let d = &l.diagnosis;
        json!({
            "name": l.name, "mean": number(d.mean), "sd": number(d.sd), "mcse_mean": number(d.mcse_mean),
            "mcse_sd": number(d.mcse_sd), "ess_bulk": number(d.ess_bulk), "ess_tail": number(d.ess_tail), "r_hat": number(d.r_hat),
        })
    };
    let outcome = match convergence.outcome {
        Outcome::Converged => "converged",
        Outcome::RunLonger { .. } => "run-longer",
        Outcome::ChainsDisagree => "chains-disagree",
        Outcome::CannotTell => "cannot-tell",
    };
    let chain = |v: &rflvm::posterior::Verdict| json!({ "log_joint": number(v.ln_joint), "used": v.used, "below_best": number(v.below) });
    json!({
        "verdict": outcome, "words": word(convergence), "draws": convergence.draws,
        "chains": convergence.chains.iter().map(chain).collect::<Vec<_>>(),
        "quantities": convergence.lines.iter().map(line).collect::<Vec<_>>(),
    })
}
