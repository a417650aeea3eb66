//! The joint-distribution test. (a) Independent draws of (unknowns, Y) from the model; (b) chains that alternate Y given the
//! unknowns with one sweep given Y. Both have the joint distribution if, and practically only if, the sweep is right.
//!
//! A chain of (b) starts at a draw from the prior, so it is stationary from its first sweep; and there are many of
//! them. Means of chains are then independent and identically distributed, whatever their autocorrelation, and a t-test between
//! them and equally many batch means of (a) is all the statistics needed.

use crate::configurations::Configuration;
use crate::functions::Readings;
use rayon::prelude::*;
use rflvm::internal::error::NumericalError;
use rflvm::internal::model::{Model, State};
use rflvm::internal::ranks::{Ranks, Threads};
use rflvm::internal::rng::Stream;
use rflvm::internal::run;
use rflvm::internal::simulate;
use rflvm::internal::table::{self, Host, Remote, Table};
use std::sync::Arc;

/// A step applied after each sweep, to plant an error.
pub type Step = fn(&Model, &mut State, Stream) -> Result<(), NumericalError>;

/// How much to draw.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Chains, and batches of independent draws.
    pub chains: usize,
    /// Total number of sweeps of all chains. Independent draws are half as many, since they are uncorrelated.
    pub sweeps: usize,
}

/// One function's comparison.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The function.
    pub name: String,
    /// Its mean over independent draws.
    pub independent: f64,
    /// Its mean over chains.
    pub chain: f64,
    /// Their difference over its standard error, converted from t to the normal quantile of the same probability.
    pub z: f64,
}

/// The comparisons of one configuration.
#[derive(Debug, Clone)]
pub struct Report {
    /// The configuration.
    pub configuration: String,
    /// One per function.
    pub comparisons: Vec<Comparison>,
    /// Mean acceptance of the gradient move.
    pub acceptance: f64,
    /// Variance of a chain's mean over that of as many independent draws, for the median function:
    /// sweeps per independent draw.
    pub autocorrelation: f64,
}

impl Report {
    /// The comparison with the largest |z|.
    pub fn worst(&self) -> &Comparison {
        self.comparisons.iter().max_by(|a, b| a.z.abs().total_cmp(&b.z.abs())).expect("there are functions")
    }
}

/// Means of all functions over one batch.
struct Batch {
    means: Vec<f64>,
    acceptance: f64,
}

/// Compares the two samplers. `extra` plants an error after each sweep.
pub fn test(
    configuration: &Configuration,
    effort: Effort,
    seed: u64,
    extra: Option<Step>,
) -> Result<Report, NumericalError> {
    let stream = Stream::new(seed).named(&configuration.name);
    let length = (effort.sweeps / effort.chains).max(1);
    let independent = (0..effort.chains)
        .into_par_iter()
        .map(|i| independent(configuration, length.div_ceil(2), stream.named("independent").at(i as u64)))
        .collect::<Result<Vec<_>, _>>()?;
    let chains = (0..effort.chains)
        .into_par_iter()
        .map(|i| chain(configuration, length, stream.named("chain").at(i as u64), extra))
        .collect::<Result<Vec<_>, _>>()?;
    let mut excess = Vec::new();
    let comparisons = names(configuration)
        .into_iter()
        .enumerate()
        .map(|(g, name)| {
            let (independent, error_a) = mean_and_error(independent.iter().map(|b| b.means[g]));
            let (chain, error_b) = mean_and_error(chains.iter().map(|b| b.means[g]));
            excess.push(length as f64 / length.div_ceil(2) as f64 * (error_b / error_a).powi(2));
            let z = z_score(independent - chain, error_a, error_b, effort.chains as f64 - 1.0);
            Comparison { name, independent, chain, z }
        })
        .collect();
    excess.sort_by(f64::total_cmp);
    Ok(Report {
        configuration: configuration.name.clone(),
        comparisons,
        acceptance: chains.iter().map(|c| c.acceptance).sum::<f64>() / chains.len() as f64,
        autocorrelation: excess[excess.len() / 2],
    })
}

/// Names of the functions of a configuration.
pub fn names(configuration: &Configuration) -> Vec<String> {
    let model = &configuration.model;
    let state = simulate::draw_prior(model, Stream::new(0)).expect("mild priors");
    let mut readings = Readings::default();
    readings.take(model, &state);
    let of_block = |b: Option<usize>| match b {
        Some(b) if model.blocks().len() > 1 => format!(" of {}", model.blocks()[b].family.name()),
        _ => String::new(),
    };
    readings.names.iter().map(|&(name, b)| format!("{name}{}", of_block(b))).collect()
}

/// (a).
fn independent(configuration: &Configuration, draws: usize, stream: Stream) -> Result<Batch, NumericalError> {
    let mut model = configuration.model.clone();
    let mut sum = Sum::default();
    for i in 0..draws {
        let state = simulate::draw_prior(&model, stream.at(i as u64))?;
        let y = simulate::draw_data(&model, &state, stream.at(i as u64));
        model.set_values(&y);
        sum.add(&model, &state);
    }
    Ok(Batch { means: sum.means(), acceptance: 0.0 })
}

/// (b). Functions see the state with the Y that its sweep was given, where an error is most visible.
fn chain(
    configuration: &Configuration,
    sweeps: usize,
    stream: Stream,
    extra: Option<Step>,
) -> Result<Batch, NumericalError> {
    let mut model = configuration.model.clone();
    let mut state = simulate::draw_prior(&model, stream.named("start"))?;
    let mut sum = Sum::default();
    let mut here = Host::default();
    let mut acceptance = 0.0;
    let alone = configuration.device.filter(|_| configuration.processes == 1);
    let mut there = alone.map(|open| Remote(open(&model)));
    for i in 0..sweeps {
        let stream = stream.at(i as u64);
        let y = simulate::draw_data(&model, &state, stream.named("data"));
        model.set_values(&y);
        let Configuration { moves, tuning, .. } = configuration;
        let stream_of_sweep = stream.named("sweep");
        acceptance += match &mut there {
            None if configuration.processes > 1 => {
                let (next, acceptance) = together(configuration, &model, &state, stream_of_sweep)?;
                state = next;
                acceptance
            }
            None => run::sweep(&mut here, &model, &mut state, *moves, tuning, stream_of_sweep)?.acceptance,
            Some(there) => {
                there.0.set_table(&model);
                if let Some(reference) = &tuning.reference {
                    there.set_reference(reference);
                }
                there.load(&model, &mut state);
                let info = run::sweep(there, &model, &mut state, *moves, tuning, stream_of_sweep)?;
                state.restore(&model);
                info.acceptance
            }
        };
        if let Some(extra) = extra {
            extra(&model, &mut state, stream.named("extra"))?;
        }
        sum.add(&model, &state);
    }
    Ok(Batch { means: sum.means(), acceptance: acceptance / sweeps as f64 })
}

/// A sweep of processes that share the columns, each with its own device; threads play them. Returns the state and the acceptance.
fn together(
    configuration: &Configuration,
    model: &Model,
    state: &State,
    stream: Stream,
) -> Result<(State, f64), NumericalError> {
    let Configuration { moves, tuning, device, processes, .. } = configuration;
    let open_own = device.expect("processes have devices");
    let sweep = |ranks: Arc<dyn Ranks>| -> Result<(Option<State>, f64), NumericalError> {
        let part = model.part(ranks).expect("enough columns for all");
        let mut own = part.own_state(state.clone());
        let tuning = tuning.clone().own_of(&part);
        let mut table = table::open(Some(&|model, _| Ok(open_own(model))), &part, 0).expect("a device opens");
        if let Some(reference) = &tuning.reference {
            table.set_reference(reference);
        }
        table.load(&part, &mut own);
        let info = run::sweep(table.as_mut(), &part, &mut own, *moves, &tuning, stream)?;
        Ok((part.collect_state(&own, false), info.acceptance))
    };
    let swept: Vec<_> = std::thread::scope(|scope| {
        // Each has its own pool: threads of the common one wait for them.
        let alone = || rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread starts");
        let sweep = &sweep;
        let process = |ranks| scope.spawn(move || alone().install(|| sweep(ranks)));
        let begun: Vec<_> = Threads::connected(*processes).into_iter().map(process).collect();
        begun.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let all = swept.into_iter().collect::<Result<Vec<_>, _>>()?;
    let acceptance = all[0].1;
    let mut next = all.into_iter().find_map(|(state, _)| state).expect("the first process has all columns");
    next.restore(model);
    Ok((next, acceptance))
}

/// Running sums of all functions.
#[derive(Default)]
struct Sum {
    readings: Readings,
    total: Vec<f64>,
    count: f64,
}

impl Sum {
    fn add(&mut self, model: &Model, state: &State) {
        self.readings.take(model, state);
        self.total.resize(self.readings.values.len(), 0.0);
        self.total.iter_mut().zip(&self.readings.values).for_each(|(t, v)| *t += v);
        self.count += 1.0;
    }

    fn means(self) -> Vec<f64> {
        self.total.into_iter().map(|t| t / self.count).collect()
    }
}

fn mean_and_error(values: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Welch's t as a normal score (Wallace 1959; accurate to a few per mille of z for the degrees of freedom used here).
fn z_score(difference: f64, error_a: f64, error_b: f64, freedom: f64) -> f64 {
    let (a, b) = (error_a.powi(2), error_b.powi(2));
    let t = difference / (a + b).sqrt();
    if !t.is_finite() {
        // A function that is constant and equal in both agrees; any other NaN does not.
        return if difference == 0.0 { 0.0 } else { f64::INFINITY };
    }
    let freedom = freedom * (a + b).powi(2) / (a * a + b * b);
    let z = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * (freedom * (t * t / freedom).ln_1p()).sqrt();
    z.copysign(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_becomes_the_normal_score_of_the_same_probability() {
        let z = z_score(5.0, 0.5_f64.sqrt(), 0.5_f64.sqrt(), 30.0);
        // P(|T_60| > 5) = 5.288e-6 = P(|Z| > 4.5530), both by quadrature.
        assert!((z - 4.553).abs() < 0.002, "{z}");
        assert_eq!(z_score(0.0, 0.0, 0.0, 30.0), 0.0);
        assert_eq!(z_score(f64::NAN, 1.0, 1.0, 30.0), f64::INFINITY);
        assert_eq!(z_score(1.0, 0.0, 0.0, 30.0), f64::INFINITY);
        assert_eq!(z_score(f64::INFINITY, 1.0, f64::NAN, 30.0), f64::INFINITY);
    }
}
