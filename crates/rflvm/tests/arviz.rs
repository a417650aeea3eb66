//! Diagnostics equal ArviZ's on the same draws. Runs the Python named by RFLVM_TEST_PYTHON, which has ArviZ: `make test`
//! creates one from crates/rflvm-py/tests/requirements.txt.

use rand::{Rng, RngExt};
use rand_distr::{Cauchy, Distribution, StandardNormal};
use rflvm::internal::posterior::diagnostics::{Diagnosis, diagnose};
use rflvm::internal::rng::Stream;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

/// The quantities in the order of ask_arviz.py.
const NAMES: [&str; 7] = ["mean", "sd", "mcse_mean", "mcse_sd", "ess_bulk", "ess_tail", "r_hat"];
const TAIL: usize = 5;

fn values(d: Diagnosis) -> [f64; 7] {
    [d.mean, d.sd, d.mcse_mean, d.mcse_sd, d.ess_bulk, d.ess_tail, d.r_hat]
}

/// A kind of chain: from its number, its length and randomness.
type Kind = fn(usize, usize, &mut dyn Rng) -> Vec<f64>;

const KINDS: [(&str, Kind); 10] = [
    ("independent", |_, n, rng| autoregressive(n, 0.0, rng)),
    ("slow", |_, n, rng| autoregressive(n, 0.95, rng)),
    ("antithetic", |_, n, rng| autoregressive(n, -0.6, rng)),
    ("walk", |_, n, rng| autoregressive(n, 1.0, rng)),
    ("heavy tails", |_, n, rng| (0..n).map(|_| Cauchy::new(0.0, 1.0).unwrap().sample(rng)).collect()),
    ("ties", |_, n, rng| autoregressive(n, 0.5, rng).iter().map(|v| (2.0 * v).round()).collect()),
    ("tied fractions", |_, n, rng| (0..n).map(|_| f64::from(rng.random_range(1..5_u8)) / 10.0).collect()),
    ("two values", |_, n, rng| autoregressive(n, 0.7, rng).iter().map(|&v| f64::from(u8::from(v > 0.0))).collect()),
    ("apart", |c, n, rng| autoregressive(n, 0.3, rng).iter().map(|v| v + c as f64).collect()),
    ("far from zero", |c, n, rng| autoregressive(n, 0.3, rng).iter().map(|v| 1e4 + (1.0 + c as f64) * v).collect()),
];

fn autoregressive(n: usize, keep: f64, rng: &mut dyn Rng) -> Vec<f64> {
    let step = |x: &mut f64, _| {
        let noise: f64 = StandardNormal.sample(rng);
        *x = keep * *x + noise;
        Some(*x)
    };
    (0..n).scan(0.0, step).collect()
}

const LENGTHS: [usize; 16] = [3, 4, 5, 7, 10, 11, 20, 21, 33, 41, 100, 101, 250, 333, 999, 1000];

struct Case {
    name: String,
    chains: Vec<Vec<f64>>,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, draw) in KINDS {
        for length in LENGTHS {
            for count in 1..=4 {
                let name = format!("{kind}, {count} chains of {length}");
                let mut rng = Stream::new(5).named(&name).rng();
                cases.push(Case { chains: (0..count).map(|c| draw(c, length, &mut rng)).collect(), name });
            }
        }
    }
    cases.push(Case { name: "constant".into(), chains: vec![vec![2.5; 30]; 4] });
    let mut gap = vec![vec![1.0, 2.0, 3.0, 4.0, 5.0]; 2];
    gap[1][2] = f64::NAN;
    cases.push(Case { name: "not a number".into(), chains: gap });
    cases
}

fn ask(python: &str, cases: &[Case]) -> String {
    let join = |chain: &Vec<f64>| chain.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let line = |case: &Case| case.chains.iter().map(join).collect::<Vec<_>>().join(";") + "\n";
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arviz-chains.txt");
    fs::write(&file, cases.iter().map(line).collect::<String>()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ask_arviz.py");
    let answer = Command::new(python).arg(script).arg(&file).output().unwrap_or_else(|e| panic!("{python}: {e}"));
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    String::from_utf8(answer.stdout).unwrap()
}

#[test]
fn diagnostics_equal_those_of_arviz() {
    let Ok(python) = env::var("RFLVM_TEST_PYTHON") else {
        // Not eprintln!, which the test harness captures when a test passes.
        let skipped = "SKIPPED: diagnostics are not compared with ArviZ: RFLVM_TEST_PYTHON names no Python that has it";
        writeln!(io::stderr(), "{skipped}").unwrap();
        return;
    };
    let cases = cases();
    let answer = ask(&python, &cases);
    let (version, answers) = answer.split_once('\n').unwrap();
    assert_eq!(answers.lines().count(), cases.len());
    let mut wrong = Vec::new();
    for (case, line) in cases.iter().zip(answers.lines()) {
        let said: Vec<f64> = line.split(',').map(|v| v.parse().unwrap()).collect();
        for (i, (ours, theirs)) in values(diagnose(&case.chains)).into_iter().zip(said).enumerate() {
            if i == TAIL && misplaced(version, case) {
                continue;
            }
            let same = ours == theirs || (ours.is_nan() && theirs.is_nan());
            let equal = same || (ours - theirs).abs() <= 1e-6 * theirs.abs();
            if !equal {
                wrong.push(format!("{}: {} is {ours}, by ArviZ {version} {theirs}", case.name, NAMES[i]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases.len() * NAMES.len(), wrong.join("\n"));
    eprintln!("{} diagnoses equal those of ArviZ {version}", cases.len());
}

/// Where the 95% quantile is a draw, ArviZ before 1.0 may place it a rounding error lower and exclude the draw itself.
fn misplaced(version: &str, case: &Case) -> bool {
    version.starts_with("0.") && case.chains.iter().map(Vec::len).sum::<usize>() % 20 == 1
}
