//! `validate`: the joint-distribution tests at full power. Exit code 1 if the sampler fails, or if (with
//! `--planted`) a planted error goes undetected.

use rflvm_validation::geweke::{self, Effort};
use rflvm_validation::planted;
use rflvm_validation::verdict::{FUNCTIONS, LEVEL, REAL, SEED, head, line, passes, threshold};
use rflvm_validation::{calibration, configurations, positions};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "\
usage: validate [--planted | --calibration | --positions | --cuda] [--only NAME] [--sweeps N] [--chains N] [--seed N] [--all-functions]
  --planted        plant errors instead, which must be seen
  --calibration    intervals of hidden cells and of cells drawn again instead: each level to within 3 points
  --positions      regions of positions instead, by how chains are run: a table, not a test
  --cuda           instead, the configurations that a card can run, on the first card; needs --features cuda
  --only NAME      only configurations (or errors) whose name contains NAME; =NAME for the one of that very name
  --sweeps N       sweeps per configuration, all chains together (default 400000)
  --chains N       independent chains per configuration (default 200)
  --seed N         the seed
  --all-functions  print every function's comparison";

struct Options {
    planted: bool,
    calibration: bool,
    positions: bool,
    cuda: bool,
    only: Option<String>,
    effort: Effort,
    seed: u64,
    verbose: bool,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let chosen = |name: &str| match &options.only {
        None => true,
        Some(only) => only.strip_prefix('=').map_or(name.contains(only.as_str()), |exact| name == exact),
    };
    if options.calibration {
        return calibrate(options.seed, chosen);
    }
    if options.positions {
        return locate(options.seed, chosen);
    }
    let effort = options.effort;
    println!(
        "{} functions in total, level {LEVEL}: a function fails at |z| > {:.2}. {} sweeps in {} chains, seed {}.",
        *FUNCTIONS,
        threshold(),
        effort.sweeps,
        effort.chains,
        options.seed
    );
    println!("act: sweeps per independent draw, for the median function.\n\n{}", head());
    let started = Instant::now();
    let jobs: Vec<(String, configurations::Configuration, Option<geweke::Step>)> = if options.planted {
        let of_error = |p: &planted::Planted| {
            configurations::named(p.configuration).map(|c| (p.name.to_string(), c, Some(p.step)))
        };
        planted::ALL.iter().filter_map(of_error).collect()
    } else if options.cuda {
        on_card().into_iter().map(|c| (c.name.clone(), c, None)).collect()
    } else {
        configurations::all().into_iter().map(|c| (c.name.clone(), c, None)).collect()
    };
    let (mut ran, mut bad) = (0, 0);
    for (name, configuration, step) in jobs.iter().filter(|job| chosen(&job.0)) {
        let start = Instant::now();
        ran += 1;
        match geweke::test(configuration, effort, options.seed, *step) {
            Ok(report) => {
                println!("{}", line(name, &report, start.elapsed().as_secs_f64()));
                if options.verbose {
                    for c in &report.comparisons {
                        println!("    {:>6.2}  {:<40} {:>9.4} {:>9.4}", c.z, c.name, c.independent, c.chain);
                    }
                }
                bad += u32::from(passes(&report) == options.planted);
            }
            Err(error) => {
                println!("{name:<34} error: {error}");
                bad += 1;
            }
        }
    }
    println!("\n{ran} run in {:.0} s; {bad} failed.", started.elapsed().as_secs_f64());
    if ran == 0 {
        eprintln!("no test has that name");
        return ExitCode::from(2);
    }
    ExitCode::from(u8::from(bad > 0))
}

/// The configurations that a card can run, there.
#[cfg(feature = "cuda")]
fn on_card() -> Vec<configurations::Configuration> {
    let open = |model: &rflvm::Model| rflvm_cuda::open(model, 0, false).unwrap_or_else(|error| panic!("{error}"));
    let base: Vec<_> = configurations::all().into_iter().filter(|c| c.device.is_none()).collect();
    configurations::on_device(&base, open)
}

/// None in this build.
#[cfg(not(feature = "cuda"))]
fn on_card() -> Vec<configurations::Configuration> {
    eprintln!("this build knows no cards: build it with --features cuda");
    Vec::new()
}

/// Coverage of regions of positions.
fn locate(seed: u64, chosen: impl Fn(&str) -> bool) -> ExitCode {
    for family in ["gaussian", "poisson", "bernoulli"] {
        for chains in positions::CHAINS {
            let name = format!("{family}, {}", chains.name);
            if !chosen(&name) {
                continue;
            }
            match positions::coverage(family, chains, 40, seed) {
                Ok(shares) => {
                    let cell = |s: &calibration::Share| format!("{:.1}% ± {:.1}", 100.0 * s.found, 100.0 * s.error);
                    println!("{name}: {}", shares.iter().map(cell).collect::<Vec<_>>().join(", "));
                }
                Err(error) => println!("{name}: error: {error}"),
            }
        }
    }
    ExitCode::SUCCESS
}

/// Coverage of intervals, by kind of table: hidden cells, and new replicates of observed ones. A level must be met to 3 percentage
/// points; p-values under the truth must be uniform to 4 standard errors, and small ones under the fit at most nominal, to 3.
fn calibrate(seed: u64, chosen: impl Fn(&str) -> bool) -> ExitCode {
    let started = Instant::now();
    let (mut ran, mut bad) = (0, 0);
    for kind in calibration::kinds().into_iter().filter(|kind| chosen(&kind.name())) {
        ran += 1;
        let found = match calibration::coverage(kind, calibration::REAL, seed) {
            Ok(found) => found,
            Err(error) => {
                println!("{}: error: {error}", kind.name());
                bad += 1;
                continue;
            }
        };
        let mut words = Vec::new();
        let mut tell = |what: String, share: calibration::Share, is_met: bool| {
            bad += u8::from(!is_met);
            let mark = if is_met { "" } else { " NOT MET" };
            words.push(format!("{what}: {:.1}% ± {:.1}{mark}", 100.0 * share.found, 100.0 * share.error));
        };
        for (what, shares) in [("hidden", &found.hidden), ("again", &found.again)] {
            for &share in shares {
                let what = format!("{what} {:.0}%", 100.0 * share.nominal);
                tell(what, share, (share.found - share.nominal).abs() <= 0.03);
            }
        }
        for &share in &found.exact {
            tell(format!("p < {} by the truth", share.nominal), share, share.above().abs() <= 4.0);
        }
        let small = found.small;
        tell(format!("p < {} by the fit", small.nominal), small, small.above() <= 3.0);
        println!("{:<36} {}", found.name, words.join("; "));
    }
    println!("\n{ran} kinds in {:.0} s; {bad} proportions failed.", started.elapsed().as_secs_f64());
    ExitCode::from(if ran == 0 { 2 } else { u8::from(bad > 0) })
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        planted: false,
        calibration: false,
        positions: false,
        cuda: false,
        only: None,
        effort: REAL,
        seed: SEED,
        verbose: false,
    };
    while let Some(flag) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{flag} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("'{text}' is not a whole number"));
        match flag.as_str() {
            "--planted" => options.planted = true,
            "--calibration" => options.calibration = true,
            "--positions" => options.positions = true,
            "--cuda" => options.cuda = true,
            "--all-functions" => options.verbose = true,
            "--only" => options.only = Some(value()?),
            "--sweeps" => options.effort.sweeps = number(value()?)? as usize,
            "--chains" => options.effort.chains = number(value()?)?.max(2) as usize,
            "--seed" => options.seed = number(value()?)?,
            _ => return Err(format!("unknown argument '{flag}'")),
        }
    }
    Ok(options)
}
