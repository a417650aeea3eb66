//! Runs chains on a matrix and writes, for each sweep, its cost and the quantities used to assess mixing: those
//! invariant to rotation, reflection and relabelling. `evidence/benchmarks/run.py` calls it; effective sample sizes are computed
//! there, by the same function for all samplers.

mod table;

use clap::Parser;
use rflvm::internal::model::latent::{TimeKernel, TimeSpec};
use rflvm::internal::model::{Amplitude, HalfT, Model, ModelSpec, State};
use rflvm::internal::observations::{Observations, Offset, Times};
use rflvm::internal::run::Settings;
use rflvm::internal::run::chain::Chain;
use rflvm::internal::spec;
use rflvm::internal::table::Host;
use std::io::{BufWriter, Write};
use std::time::Instant;
use table::Error;

/// Cost and invariant quantities of each sweep, as CSV on stdout.
#[derive(Parser)]
struct Args {
    /// Table of numbers, .npy with two axes of f64.
    table: std::path::PathBuf,
    /// Family of all columns.
    #[arg(long, default_value = "gaussian")]
    likelihood: String,
    /// D.
    #[arg(long, default_value_t = 2)]
    latent_dim: usize,
    /// M.
    #[arg(long, default_value_t = 100)]
    features: usize,
    /// Number of warm-up sweeps.
    #[arg(long, default_value_t = 200)]
    warmup: u64,
    /// Number of sweeps kept.
    #[arg(long, default_value_t = 200)]
    draws: u64,
    /// CPU seconds of kept sweeps after which the chain stops, even if it has not made all its draws.
    #[arg(long)]
    cpu: Option<f64>,
    /// Number of the chain: determines its start and its random streams.
    #[arg(long, default_value_t = 0)]
    chain: usize,
    /// The seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Use the rows' size factors as offsets.
    #[arg(long)]
    size_factors: bool,
    /// Amplitude: a number, learned or shared; the family's own if not given.
    #[arg(long)]
    amplitude: Option<String>,
    /// Leave out moves along symmetries.
    #[arg(long)]
    no_symmetry: bool,
    /// Leave out the joint gradient move.
    #[arg(long)]
    no_gradient: bool,
    /// Fraction of the frequencies and columns that a sweep redraws individually besides the gradient move.
    #[arg(long)]
    share: Option<f64>,
    /// Factor for the mean number of leapfrog steps of the gradient move.
    #[arg(long)]
    leapfrog_factor: Option<f64>,
    /// Times of the rows, .npy with one axis of f64: the dynamic model.
    #[arg(long)]
    times: Option<std::path::PathBuf>,
    /// Kernel over them.
    #[arg(long, default_value = "rbf")]
    time_kernel: String,
    /// Output file for the mean of F over the kept sweeps, row-major f64.
    #[arg(long)]
    mean: Option<std::path::PathBuf>,
    /// Pairs of rows whose distances are traced, a:b,c:d,…
    #[arg(long, value_parser = pair, value_delimiter = ',')]
    pairs: Vec<(usize, usize)>,
    /// Cells of F that are traced, row:column,…
    #[arg(long, value_parser = pair, value_delimiter = ',')]
    cells: Vec<(usize, usize)>,
}

fn pair(text: &str) -> Result<(usize, usize), String> {
    let both = text.split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    both.ok_or_else(|| format!("'{text}' is not of the form 3:14"))
}

fn main() -> Result<(), Error> {
    let args = Args::parse();
    let y = table::read(&args.table)?;
    let columns = y.cols();
    let mut data = Observations::new(y)?;
    if args.size_factors {
        data = data.with_offset(Offset::SizeFactors)?;
    }
    if let Some(times) = &args.times {
        data = data.with_times(Times::new(table::values(times)?))?;
    }
    let time = TimeSpec { kernel: TimeKernel::named(&args.time_kernel)?, ..TimeSpec::default() };
    let mut spec = ModelSpec { latent_dim: args.latent_dim, features: args.features, time, ..ModelSpec::default() };
    spec.priors.amplitude = match args.amplitude.as_deref() {
        None => None,
        Some("learned") => Some(Amplitude::Learned(HalfT::default())),
        Some("shared") => Some(Amplitude::Shared(HalfT::default())),
        Some(number) => Some(Amplitude::Fixed(number.parse()?)),
    };
    let model = Model::with_blocks(data, vec![((0..columns).collect(), spec::family(&args.likelihood, None)?)], spec)?;
    let mut settings = Settings { warmup: args.warmup, draws: args.draws, seed: args.seed, ..Settings::default() };
    settings.moves.symmetry = !args.no_symmetry;
    settings.moves.gradient = !args.no_gradient;
    settings.moves.share = args.share.unwrap_or(settings.moves.share);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build()?;
    pool.install(|| run(&args, &model, &settings))
}

fn run(args: &Args, model: &Model, settings: &Settings) -> Result<(), Error> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let distances = (0..args.pairs.len()).map(|i| format!("distance{i}"));
    let cells = (0..args.cells.len()).map(|i| format!("f{i}"));
    let names: Vec<String> = distances.chain(cells).collect();
    writeln!(
        out,
        "sweep,cpu,wall,spectral,frequencies,scales,positions,gradient,weights,symmetry,w_tries,x_tries,acceptance,leapfrogs,step,clusters,\
         ln_lik,w2,alpha,{}",
        names.join(",")
    )?;
    let begun = (cpu_seconds(), Instant::now());
    let mut chain = Chain::new(model, settings, args.chain, Box::new(Host::default()))?;
    eprintln!("start: {:.3} CPU s, {:.3} s", cpu_seconds() - begun.0, begun.1.elapsed().as_secs_f64());
    if let Some(factor) = args.leapfrog_factor {
        chain.set_leapfrogs((factor * chain.tuning().trajectory.leapfrogs as f64).round() as usize);
    }
    let (mut kept, mut spent) = (0.0, 0.0);
    let mut mean = vec![0.0; if args.mean.is_some() { model.rows() * model.columns() } else { 0 }];
    for sweep in 1..=args.warmup + args.draws {
        let begun = (cpu_seconds(), Instant::now());
        let info = chain.advance()?;
        let (cpu, wall) = (cpu_seconds() - begun.0, begun.1.elapsed().as_secs_f64());
        write!(out, "{sweep},{cpu:.6},{wall:.6}")?;
        for seconds in info.seconds {
            write!(out, ",{seconds:.6}")?;
        }
        let step = chain.tuning().trajectory.step;
        write!(
            out,
            ",{:.3},{:.3},{:.3},{},{step:.4},{}",
            info.frequency_tries,
            info.position_tries,
            info.acceptance,
            chain.tuning().trajectory.leapfrogs,
            chain.state().spectral.count()
        )?;
        for value in invariants(args, model, chain.state()) {
            write!(out, ",{value}")?;
        }
        writeln!(out)?;
        if sweep > args.warmup {
            mean.iter_mut().zip(chain.state().f.as_slice()).for_each(|(m, f)| *m += f);
            (kept, spent) = (kept + 1.0, spent + cpu);
            if args.cpu.is_some_and(|most| spent >= most) {
                break;
            }
        }
    }
    mean.iter_mut().for_each(|m| *m /= kept);
    if let Some(path) = &args.mean {
        std::fs::write(path, mean.iter().flat_map(|m| m.to_le_bytes()).collect::<Vec<u8>>())?;
    }
    for axis in &chain.state().axes {
        eprintln!("length-scale {:.4} of the span, noise share {:.5}", axis.length_scale, axis.noise);
    }
    Ok(())
}

/// log-likelihood, ‖W‖², α, distances, cells of F.
fn invariants(args: &Args, model: &Model, state: &State) -> Vec<f64> {
    let x = state.features.x();
    let w2 = state.features.w().as_slice().iter().map(|w| w * w).sum();
    let distance =
        |&(a, b): &(usize, usize)| x.row(a).iter().zip(x.row(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let mut values = vec![model.ln_likelihood(state), w2, state.spectral.alpha];
    values.extend(args.pairs.iter().map(distance));
    values.extend(args.cells.iter().map(|&(n, j)| state.f[(n, j)]));
    values
}

/// CPU seconds of the process, all threads.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call only fills the struct it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
