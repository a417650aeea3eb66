//! What fixed, learned and shared amplitudes do: noise and intervals on simulated tables of known noise, and the log predictive density of
//! hidden cells of any table. One line of CSV per fit on stdout; `evidence/benchmarks/amplitude.py` runs it and makes the tables.

mod table;

use clap::{Parser, Subcommand};
use rand::RngExt;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Family, Gaussian, Theta, Unit};
use rflvm::internal::model::{Amplitude, HalfT, Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::posterior::score::affine_r2;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::chain::Chain;
use rflvm::internal::run::{Settings, sweep};
use rflvm::internal::simulate::s_curve;
use rflvm::internal::spec;
use rflvm::internal::table::Host;
use std::sync::Arc;
use table::Error;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    what: What,
    /// Amplitude: a number, learned, shared, or default.
    #[arg(long, default_value = "default", global = true)]
    amplitude: String,
    /// The seed: of the hidden cells, the simulated table and the chain.
    #[arg(long, default_value_t = 1, global = true)]
    seed: u64,
    /// Sweeps before draws are kept.
    #[arg(long, default_value_t = 200, global = true)]
    warmup: u64,
    /// Sweeps kept.
    #[arg(long, default_value_t = 200, global = true)]
    draws: u64,
    /// M.
    #[arg(long, default_value_t = 100, global = true)]
    features: usize,
    /// Share of the cells that are hidden.
    #[arg(long, default_value_t = 0.2, global = true)]
    hide: f64,
}

#[derive(Subcommand)]
enum What {
    /// A Gaussian S-curve with noise of `ratio` times the signal.
    Noise {
        #[arg(long, default_value_t = 150)]
        rows: usize,
        #[arg(long, default_value_t = 20)]
        columns: usize,
        #[arg(long, default_value_t = 0.1)]
        ratio: f64,
        /// The noise is known.
        #[arg(long)]
        known: bool,
    },
    /// Hidden cells of a table, .npy with two axes of f64.
    Heldout {
        table: std::path::PathBuf,
        #[arg(long, default_value = "poisson")]
        likelihood: String,
        #[arg(long, default_value_t = 2)]
        latent_dim: usize,
    },
    /// Hidden cells of an S-curve of counts or yes/no whose F has this standard deviation about `level`.
    Simulated {
        #[arg(long, default_value = "poisson")]
        likelihood: String,
        #[arg(long, default_value_t = 1.0)]
        signal: f64,
        #[arg(long, default_value_t = 1.0)]
        level: f64,
        #[arg(long, default_value_t = 200)]
        rows: usize,
        #[arg(long, default_value_t = 40)]
        columns: usize,
    },
}

impl Args {
    fn amplitude(&self) -> Result<Option<Amplitude>, Error> {
        Ok(match self.amplitude.as_str() {
            "default" => None,
            "learned" => Some(Amplitude::Learned(HalfT::default())),
            "shared" => Some(Amplitude::Shared(HalfT::default())),
            number => Some(Amplitude::Fixed(number.parse()?)),
        })
    }
}

fn main() -> Result<(), Error> {
    let args = Args::parse();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| match &args.what {
        What::Noise { rows, columns, ratio, known } => noise(&args, *rows, *columns, *ratio, *known),
        What::Heldout { table, likelihood, latent_dim } => {
            let y = table::read(table)?;
            let name = table.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
            heldout(&args, &name, y, likelihood, *latent_dim, None)
        }
        What::Simulated { likelihood, signal, level, rows, columns } => {
            let family = spec::family(likelihood, None)?;
            let stream = Stream::new(args.seed).named("simulated");
            let mut curve = s_curve(*rows, *columns, &Gaussian::default(), &unit_noise(*columns, 1.0), 1, stream)?;
            let f = |n: usize| -> Vec<f64> { curve.f.row(n).iter().map(|f| level + signal * f).collect() };
            let theta =
                Theta { values: Mat::from_fn(family.parameters().len(), *columns, |_, _| 2.0), hyper: Vec::new() };
            let mut y = Mat::zeros(*rows, *columns);
            for n in 0..*rows {
                let (blank, rng) = (vec![0.0; *columns], &mut stream.named("cells").at(n as u64).rng());
                let row = rflvm::internal::model::family::Row { n, first: 0, y: &blank, theta: &theta };
                family.simulate(row, &f(n), y.row_mut(n), rng);
            }
            curve.y = y;
            heldout(&args, &format!("simulated-{signal}"), curve.y, likelihood, 2, Some(&curve.x))
        }
    })
}

fn unit_noise(columns: usize, precision: f64) -> Theta {
    Theta { values: Mat::from_fn(1, columns, |_, _| precision), hyper: Vec::new() }
}

/// Hides cells at random and says which; no column and no row is hidden as a whole.
fn hide(y: &mut Mat, share: f64, seed: u64) -> Vec<(usize, usize, f64)> {
    let rng = &mut Stream::new(seed).named("hidden").rng();
    let mut hidden = Vec::new();
    for n in 0..y.rows() {
        for j in 0..y.cols() {
            if n != j % y.rows() && j != n % y.cols() && rng.random::<f64>() < share && !y[(n, j)].is_nan() {
                hidden.push((n, j, y[(n, j)]));
                y[(n, j)] = f64::NAN;
            }
        }
    }
    hidden
}

fn noise(args: &Args, rows: usize, columns: usize, ratio: f64, known: bool) -> Result<(), Error> {
    let stream = Stream::new(args.seed).named("noise");
    let theta = unit_noise(columns, ratio.powi(-2));
    let curve = s_curve(rows, columns, &Gaussian::default(), &theta, 1, stream)?;
    let mut y = curve.y;
    let hidden = hide(&mut y, args.hide, args.seed);
    let data = Observations::new(y)?;
    let mut spec = ModelSpec { features: args.features, ..ModelSpec::default() };
    spec.priors.amplitude = args.amplitude()?;
    let blocks =
        |family: Gaussian| -> Vec<(Vec<usize>, Arc<dyn Family>)> { vec![((0..columns).collect(), Arc::new(family))] };
    let model = Model::with_blocks(data.clone(), blocks(Gaussian::default()), spec.clone())?;
    // A prior as narrow as that, in units that are those of the table.
    let mut told = Model::with_blocks(data, blocks(Gaussian::independent(1e6, 1e6 * ratio * ratio)), spec)?;
    told.set_units(model.units().iter().map(|u| Unit { scale: 1.0, ..*u }).collect());
    let settings = Settings { warmup: args.warmup, draws: args.draws, seed: args.seed, ..Settings::default() };
    let mut chain = Chain::new(&model, &settings, 0, Box::new(Host::default()))?;
    let (mut sd, mut drawn, mut strength) = (0.0, vec![Vec::new(); hidden.len()], 0.0);
    let mut x = Mat::zeros(rows, 2);
    let (mut apart, mut table) = (None, Host::default());
    for i in 0..settings.sweeps() {
        let state = if known && i >= args.warmup {
            // The noise is fixed at its true value once the chain has found its mode; from the start, it would freeze the chain.
            let state = apart.get_or_insert_with(|| chain.state().clone());
            sweep(&mut table, &told, state, settings.moves, chain.tuning(), stream.named("told").at(i))?;
            &*state
        } else {
            chain.advance()?;
            chain.state()
        };
        if i < args.warmup {
            continue;
        }
        let precision = state.theta[0].values.row(0);
        sd += precision.iter().map(|p| p.sqrt().recip()).sum::<f64>() / (ratio * columns as f64);
        strength += state.tau2.iter().map(|t| 0.5 * t.ln()).sum::<f64>() / columns as f64;
        let rng = &mut stream.named("predictive").at(i).rng();
        for (&(n, j, _), drawn) in hidden.iter().zip(&mut drawn) {
            drawn.push(state.f[(n, j)] + rflvm::internal::dist::normal(rng) / precision[j].sqrt());
        }
        x.as_mut_slice().iter_mut().zip(state.features.x().as_slice()).for_each(|(m, x)| *m += x);
    }
    let (mut covered, mut width) = ([0.0; 2], 0.0);
    for (&(_, _, y), drawn) in hidden.iter().zip(&mut drawn) {
        drawn.sort_by(f64::total_cmp);
        let at = |q: f64| drawn[((drawn.len() - 1) as f64 * q).round() as usize];
        for (c, level) in covered.iter_mut().zip([0.5, 0.9]) {
            *c += f64::from(u8::from(at(0.5 - 0.5 * level) <= y && y <= at(0.5 + 0.5 * level)));
        }
        width += at(0.95) - at(0.05);
    }
    let (draws, cells) = (args.draws as f64, hidden.len().max(1) as f64);
    println!(
        "{rows},{columns},{ratio},{},{known},{},{:.3},{:.3},{:.3},{:.3},{:.4},{:.3}",
        args.amplitude,
        args.seed,
        sd / draws,
        covered[0] / cells,
        covered[1] / cells,
        width / cells / ratio,
        affine_r2(&x, &curve.x),
        (strength / draws).exp()
    );
    Ok(())
}

fn heldout(
    args: &Args,
    name: &str,
    mut y: Mat,
    likelihood: &str,
    latent_dim: usize,
    truth: Option<&Mat>,
) -> Result<(), Error> {
    let hidden = hide(&mut y, args.hide, args.seed);
    let (rows, columns) = (y.rows(), y.cols());
    let mut spec = ModelSpec { features: args.features, latent_dim, ..ModelSpec::default() };
    spec.priors.amplitude = args.amplitude()?;
    let family = spec::family(likelihood, None)?;
    let model = Model::with_blocks(Observations::new(y)?, vec![((0..columns).collect(), family.clone())], spec)?;
    let settings = Settings { warmup: args.warmup, draws: args.draws, seed: args.seed, ..Settings::default() };
    let mut chain = Chain::new(&model, &settings, 0, Box::new(Host::default()))?;
    // The row of each hidden cell with nothing else seen: its density is the cell's alone.
    let mut ln_mean = vec![f64::NEG_INFINITY; hidden.len()];
    let (mut x, mut strength) = (Mat::zeros(rows, latent_dim), 0.0);
    let mut lone = vec![f64::NAN; columns];
    for i in 0..settings.sweeps() {
        chain.advance()?;
        if i < args.warmup {
            continue;
        }
        let state = chain.state();
        for (&(n, j, y), total) in hidden.iter().zip(&mut ln_mean) {
            lone[j] = y;
            let row = rflvm::internal::model::family::Row { n, first: 0, y: &lone, theta: &state.theta[0] };
            let ln = family.ln_density(row, state.f.row(n));
            lone[j] = f64::NAN;
            let top = total.max(ln);
            *total = top + ((*total - top).exp() + (ln - top).exp()).ln();
        }
        strength += state.tau2.iter().map(|t| 0.5 * t.ln()).sum::<f64>() / columns as f64;
        x.as_mut_slice().iter_mut().zip(state.features.x().as_slice()).for_each(|(m, x)| *m += x);
    }
    let draws = args.draws as f64;
    let density = ln_mean.iter().map(|ln| ln - draws.ln()).sum::<f64>() / hidden.len() as f64;
    let r2 = truth.map_or(f64::NAN, |truth| affine_r2(&x, truth));
    println!(
        "{name},{likelihood},{},{},{density:.5},{:.3},{r2:.3}",
        args.amplitude,
        args.seed,
        (strength / draws).exp()
    );
    Ok(())
}
