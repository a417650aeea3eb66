//! `rflvm doctor`: what a table holds, which families suit it, and what a fit would cost, before anything is sampled.

use crate::args::DoctorArgs;
use crate::failure::Failure;
use crate::fit;
use crate::table::Table;
use crate::times::Timeline;
use crate::voice::{Voice, tell, tell_json};
use rflvm::error::RunError;
use rflvm::gibbs::chain::{Chain, Settings};
use rflvm::model::Model;
use serde_json::{Value, json};
use std::time::Instant;

/// Sweeps that are timed, after as many that are not.
const SWEEPS: u64 = 6;

/// Runs the command.
pub fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let mut config = args.config.clone().filled();
    let mut table = fit::read(&config)?;
    let sight = Sight::of(&table);
    if config.likelihood.is_none() && config.blocks.is_none() {
        config.likelihood = Some(sight.family().to_string());
    }
    let families = config.likelihood.clone().unwrap_or_else(|| "its families".into());
    let settings = fit::settings(&config);
    let timeline = Timeline::of(&config, &table)?;
    let cost = cost(&fit::model(&config, &mut table, timeline.as_ref())?, &settings)?;
    if args.json {
        tell_json(&sight.as_json(&families, &cost))?;
        return Ok(());
    }
    sight.lines().iter().try_for_each(|line| tell(line))?;
    if let Some(timeline) = &timeline {
        tell(&timeline.line())?;
        timeline.tell(Voice::default());
    }
    let (chains, sweeps) = (settings.chains, settings.sweeps());
    let hours = cost.seconds_a_sweep * (chains as u64 * sweeps) as f64 / 3600.0;
    let time = duration(hours);
    tell(&format!(
        "as {families}: {:.3} s a sweep on one thread, so {time} of computing for {chains} chains of {sweeps} sweeps",
        cost.seconds_a_sweep
    ))?;
    tell(&format!("memory: about {:.0} MB", cost.megabytes))?;
    if let (Some(likelihood), Some(path)) = (&config.likelihood, &args.config.table) {
        tell(&format!("next: rflvm fit {} --likelihood {likelihood}{} --out fit", path.display(), sight.advice()))?;
    }
    Ok(())
}

/// What a table looks like.
struct Sight {
    rows: usize,
    columns: usize,
    missing: usize,
    empty_rows: usize,
    constant: Vec<String>,
    /// Columns of zeros and ones; of counts; of anything else.
    kinds: [usize; 3],
    /// Median over columns of variance over mean, of counts.
    dispersion: f64,
    /// Largest row total over smallest.
    totals: f64,
    zeros: f64,
}

impl Sight {
    fn of(table: &Table) -> Self {
        let (rows, columns) = (table.rows, table.columns.len());
        let row = |n: usize| &table.values[n * columns..(n + 1) * columns];
        let mut kinds = [0; 3];
        let mut constant = Vec::new();
        let mut ratios = Vec::new();
        for j in 0..columns {
            let seen: Vec<f64> = (0..rows).map(|n| row(n)[j]).filter(|v| !v.is_nan()).collect();
            let binary = seen.iter().all(|v| *v == 0.0 || *v == 1.0);
            let count = seen.iter().all(|v| *v >= 0.0 && v.fract() == 0.0);
            kinds[if binary { 0 } else { usize::from(!count) + 1 }] += 1;
            if seen.windows(2).all(|pair| pair[0] == pair[1]) {
                constant.push(table.columns[j].clone());
            } else if count {
                let mean = seen.iter().sum::<f64>() / seen.len() as f64;
                let variance = seen.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (seen.len() - 1) as f64;
                ratios.push(variance / mean);
            }
        }
        ratios.sort_by(f64::total_cmp);
        let total = |n: usize| row(n).iter().filter(|v| !v.is_nan()).sum::<f64>();
        let totals: Vec<f64> = (0..rows).map(total).collect();
        let (low, high) = totals.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &t| (a.min(t), b.max(t)));
        Sight {
            rows,
            columns,
            missing: table.values.iter().filter(|v| v.is_nan()).count(),
            empty_rows: (0..rows).filter(|&n| row(n).iter().all(|v| v.is_nan())).count(),
            constant,
            kinds,
            dispersion: ratios.get(ratios.len() / 2).copied().unwrap_or(1.0),
            totals: high / low.max(1e-300),
            zeros: table.values.iter().filter(|v| **v == 0.0).count() as f64 / table.values.len().max(1) as f64,
        }
    }

    /// The family that suits most of the columns.
    fn family(&self) -> &'static str {
        let [binary, counts, others] = self.kinds;
        if others > 0 {
            "gaussian"
        } else if counts == 0 && binary > 0 {
            "bernoulli"
        } else if self.dispersion > 1.5 {
            "negative-binomial"
        } else {
            "poisson"
        }
    }

    /// Flags that a fit of this table should have.
    fn advice(&self) -> &'static str {
        if self.kinds[2] == 0 && self.kinds[1] > 0 && self.totals > 5.0 { " --offset size-factors" } else { "" }
    }

    fn lines(&self) -> Vec<String> {
        let [binary, counts, others] = self.kinds;
        let cells = (self.rows * self.columns) as f64;
        let mut lines = vec![format!("{} rows × {} columns", self.rows, self.columns)];
        lines.push(format!("columns: {binary} of zeros and ones, {counts} of counts, {others} of other numbers"));
        let share = 100.0 * self.missing as f64 / cells;
        lines.push(match self.missing {
            0 => "no cell is missing".into(),
            missing => format!("{missing} cells are missing ({share:.1}%), {} rows wholly", self.empty_rows),
        });
        if !self.constant.is_empty() {
            let some: Vec<&str> = self.constant.iter().take(5).map(String::as_str).collect();
            let more = if self.constant.len() > 5 { ", …" } else { "" };
            lines.push(format!("{} constant columns tell nothing: {}{more}", self.constant.len(), some.join(", ")));
        }
        if counts > 0 && others == 0 {
            let word = if self.dispersion > 1.5 {
                "over-dispersed: negative-binomial suits better than poisson"
            } else {
                "as a Poisson's"
            };
            lines.push(format!(
                "variance over mean of the counts: {:.2} in the middle column, {word}; {:.0}% zeros",
                self.dispersion,
                100.0 * self.zeros
            ));
            if self.totals > 5.0 {
                lines.push(format!(
                    "row totals differ {:.0}-fold: if they only say how much was measured, use --offset size-factors or a multinomial",
                    self.totals
                ));
            }
        }
        lines
    }

    fn as_json(&self, likelihood: &str, cost: &Cost) -> Value {
        let number = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
        json!({
            "rows": self.rows, "columns": self.columns, "missing": self.missing, "empty_rows": self.empty_rows,
            "constant_columns": self.constant, "binary": self.kinds[0], "counts": self.kinds[1], "other": self.kinds[2],
            "variance_over_mean": number(self.dispersion), "row_totals_ratio": number(self.totals), "zeros": self.zeros,
            "likelihood": likelihood, "seconds_a_sweep": cost.seconds_a_sweep, "megabytes": cost.megabytes,
        })
    }
}

/// What a fit would take.
struct Cost {
    seconds_a_sweep: f64,
    megabytes: f64,
}

/// Times some sweeps of one chain.
fn cost(model: &Model, settings: &Settings) -> Result<Cost, Failure> {
    let timed = Settings { warmup: 0, threads: 1, ..settings.clone() };
    let broken = |sweep| move |source| Failure::Run(RunError::Numerical { chain: 1, sweep, source });
    let mut chain = Chain::new(model, &timed, 0).map_err(broken(0))?;
    let mut begun = Instant::now();
    for sweep in 0..2 * SWEEPS {
        if sweep == SWEEPS {
            begun = Instant::now();
        }
        chain.advance().map_err(broken(sweep + 1))?;
    }
    // The table, and a chain's F, noise, momenta and gradients: about five of its size; features and weights beside them.
    let (n, j, m) = (model.rows() as f64, model.columns() as f64, model.spec().features as f64 + 1.0);
    let chain_numbers = 5.0 * n * j + 3.0 * n * m + 8.0 * m * j;
    Ok(Cost {
        seconds_a_sweep: begun.elapsed().as_secs_f64() / SWEEPS as f64,
        megabytes: 8e-6 * (n * j + settings.chains as f64 * chain_numbers),
    })
}

fn duration(hours: f64) -> String {
    if hours >= 1.0 { format!("{hours:.1} hours") } else { format!("{:.0} minutes", (60.0 * hours).max(1.0)) }
}
