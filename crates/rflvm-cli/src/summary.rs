//! `rflvm summary`: whether a fit has converged, and what to do if not.

use crate::args::SummaryArgs;
use crate::failure::Failure;
use crate::message::Flags;
use crate::reply::Reply;
use rflvm::internal::posterior::axes::AxesInUse;
use rflvm::internal::posterior::convergence::{Convergence, Diagnosed};
use rflvm_study::answers::convergence::{self, Began, advice, mode_lines, report, sampler, times, verdicts};
use rflvm_study::answers::positions::{line_of_modes, positions};
use rflvm_study::drawn::Drawn;
use rflvm_study::message::render;
use rflvm_study::time_scales::TimeScales;
use rflvm_study::{Fit, axes, modes};

/// Explains the shortest names of the table.
const NAMES: &str = "(lp: log joint density; alpha: concentration of the Dirichlet process; clusters: of the kernel's frequencies, not of rows; w2: sum of squared frequencies)";

/// Runs the command.
pub fn run(args: &SummaryArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let fit = Fit::open(&args.dir, |_| ())?;
    let (drawn, convergence) = Drawn::open(&fit)?;
    if reply.json {
        return reply.object(&report(&fit, &drawn, &convergence, &Flags)?);
    }
    let tell = |line: &str| reply.line(line);
    let sampler = sampler(&drawn.store, &convergence)?;
    let scales = TimeScales::of(&args.dir, &drawn.store, &drawn.used)?;
    let axes = AxesInUse::of(&drawn.store, &drawn.used)?;
    let times = times(&args.dir);
    table(&convergence).lines().try_for_each(tell)?;
    tell(NAMES)?;
    let all = std::iter::once(&convergence).chain(&drawn.others);
    for (chain, verdict) in all.flat_map(|map| map.numbers.iter().zip(&map.chains)) {
        let word =
            if verdict.used { String::new() } else { format!("; set aside, {:.0} below the best", verdict.below) };
        tell(&format!(
            "chain {}: {} draws, mean log joint {:.1}{word}",
            chain + 1,
            convergence.draws,
            verdict.ln_joint
        ))?;
    }
    let modes = modes::read(&args.dir);
    modes::lines(&modes).iter().try_for_each(|line| tell(line))?;
    modes::shortage(&modes, fit.settings.modes).iter().try_for_each(|note| tell(note))?;
    if let Some(words) = modes::words(&modes) {
        tell(&render(&words, &Flags))?;
    }
    mode_lines(&fit, &drawn)?.iter().try_for_each(|line| tell(line))?;
    if !drawn.modes().is_empty() {
        let embedding = positions(&fit, &drawn, 1)?.embedding;
        line_of_modes(&embedding, &fit.table).map_or(Ok(()), |line| tell(&line))?;
    }
    drawn.stacking.iter().try_for_each(|stacking| tell(&stacking.words()))?;
    if let Some(scales) = &scales {
        tell(&scales.line())?;
    }
    if let Some(axes) = &axes {
        tell(&render(&axes::line(axes), &Flags))?;
    }
    let parts: Vec<String> = sampler.iter().map(|(name, value)| format!("{name} {value:.3}")).collect();
    tell(&format!("per sweep: {}", parts.join(", ")))?;
    if !times.is_empty() {
        let parts: Vec<String> = times.iter().map(|(name, seconds)| format!("{name} {seconds:.4}")).collect();
        tell(&format!("seconds per sweep: {}", parts.join(", ")))?;
    }
    verdicts(&drawn, &convergence, Began::of(&args.dir)).iter().try_for_each(|line| tell(line))?;
    convergence::parts(&convergence).iter().try_for_each(|line| tell(&format!("  {line}")))?;
    advice(&convergence, &fit).map_or(Ok(()), |advice| tell(&format!("  → {}", render(&advice, &Flags))))
}

/// A number of the fit by its short name, a number of a row or a column by that of the row or the column.
fn shown(line: &Diagnosed) -> &str {
    if line.name == line.array { &line.name } else { line.label.trim_start_matches("the ") }
}

fn table(convergence: &Convergence) -> String {
    let width = convergence.lines.iter().map(|l| shown(l).chars().count()).max().unwrap_or(8).max(8);
    let mut text = format!(
        "{:width$} {:>12} {:>10} {:>9} {:>8} {:>8} {:>6}",
        "quantity", "mean", "sd", "mcse", "ess bulk", "ess tail", "R̂"
    );
    for line in &convergence.lines {
        let d = &line.diagnosis;
        let name = shown(line);
        let (mean, sd, mcse, bulk, tail, r_hat) = (d.mean, d.sd, d.mcse_mean, d.ess_bulk, d.ess_tail, d.r_hat);
        text.push_str(&format!(
            "\n{name:width$} {mean:>12.3} {sd:>10.3} {mcse:>9.3} {bulk:>8.0} {tail:>8.0} {r_hat:>5.3}"
        ));
    }
    text
}
