//! `rflvm simulate`: a table with its true values, from the S-curve or from the model's prior.

mod prior;
mod request;

use crate::args::{SimulateArgs, SourceArg};
use crate::failure::Failure;
use crate::output;
use crate::reply::{self, Reply};
use request::Request;
use rflvm::internal::error::{NumericalError, RunError, SpecError};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Family, Theta};
use rflvm::internal::rng::Stream;
use rflvm::internal::simulate;
use rflvm::internal::split::{HeldOut, split};
use rflvm_study::cells::csv_text;
use rflvm_study::cells::number as text;
use rflvm_study::memory;
use rflvm_study::outputs::Outputs;
use rflvm_study::{out_dir, write};
use serde_json::json;

/// What was drawn.
struct Truth {
    y: Mat,
    /// Position along the S.
    t: Option<Vec<f64>>,
    x: Mat,
    f: Mat,
    w: Option<Mat>,
    theta: Theta,
}

/// Most rows, and most columns.
const MOST: usize = 1_000_000_000;

/// All files that a simulation may write.
const FILES: [&str; 7] =
    ["table.csv", "complete.csv", "positions.csv", "functions.csv", "frequencies.csv", "parameters.csv", "prior.svg"];

/// Runs the command.
pub fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let answer = Reply::from(&args.reply);
    for (setting, value) in [("rows", args.rows), ("columns", args.columns)] {
        if !(2..=MOST).contains(&value) {
            let rule = format!("it must be between 2 and {MOST}");
            return Err(SpecError::Setting { setting, value: value.to_string(), rule }.into());
        }
    }
    let request = Request::new(args)?;
    check_memory(args, &request)?;
    let (family, seed) = (&request.family, request.seed);
    let stream = Stream::new(seed).named("simulate");
    let truth = draw(args, &request, stream)?;
    let holes = args.missing.map(|fraction| with_holes(&truth.y, fraction, family.as_ref(), stream)).transpose()?;
    let picture = match args.source() {
        SourceArg::Model => Some(prior::picture(&request, args.columns, stream.named("picture"))?),
        SourceArg::SCurve => None,
    };
    Outputs::of(args.file.clone()).overwrite(args.replace.overwrite).within(&args.out, &FILES)?;
    out_dir::prepare(&args.out)?;
    let times = truth.t.as_deref().filter(|_| args.time);
    let mut files = vec![
        ("table.csv", table(holes.as_ref().unwrap_or(&truth.y), times)),
        ("positions.csv", output::matrix_csv("x", &truth.x)),
        ("functions.csv", output::matrix_csv("f", &truth.f)),
    ];
    if holes.is_some() {
        files.push(("complete.csv", table(&truth.y, times)));
    }
    if let Some(w) = &truth.w {
        files.push(("frequencies.csv", output::matrix_csv("w", w)));
    }
    let names = family.parameters();
    if !names.is_empty() {
        let header = names.iter().map(ToString::to_string).collect();
        let columns = (0..truth.y.cols()).map(|j| truth.theta.values.col(j).iter().map(f64::to_string).collect());
        files.push(("parameters.csv", csv_text(header, columns)));
    }
    files.extend(picture.map(|picture| ("prior.svg", picture)));
    // Not those of an earlier simulation.
    let stale = FILES.iter().filter(|name| files.iter().all(|(own, _)| own != *name));
    stale.map(|name| args.out.join(name)).filter(|path| path.is_file()).try_for_each(|path| write::remove(&path))?;
    let mut written = Vec::new();
    for (name, contents) in files {
        written.push(args.out.join(name));
        write::text(&args.out.join(name), &contents)?;
    }
    let line = format!(
        "{} rows × {} columns, {}, seed {seed}: {}",
        args.rows,
        args.columns,
        family.name(),
        args.out.display()
    );
    answer.line(&line)?;
    answer.object(&json!({ "seed": seed, "files": reply::names(&written) }))
}

/// Rejects a table that does not fit into memory: cells, functions and their text; for the S-curve, also the covariance of the rows.
fn check_memory(args: &SimulateArgs, request: &Request) -> Result<(), Failure> {
    let [n, j, m] = [args.rows, args.columns, request.config.model.features.unwrap_or(100)].map(|v| v as u128);
    let own = if args.source() == SourceArg::SCurve { 2 * n * n } else { m.saturating_mul(2 * n + 2 * j) };
    let what = || format!("a table of {n} rows × {j} columns");
    let bytes = (10 * n * j).saturating_add(own).saturating_mul(8);
    Ok(memory::check_bytes(bytes, what, "ask for fewer rows or columns")?)
}

fn draw(args: &SimulateArgs, request: &Request, stream: Stream) -> Result<Truth, Failure> {
    match args.source() {
        SourceArg::SCurve => {
            let (family, trials) = (request.family.as_ref(), request.row_trials());
            let (curve, theta) = simulate::example(args.rows, args.columns, family, trials, stream).map_err(broken)?;
            Ok(Truth { y: curve.y, t: Some(curve.t), x: curve.x, f: curve.f, w: None, theta })
        }
        SourceArg::Model => {
            let model = request.model(args.rows, args.columns)?;
            let state = simulate::draw_prior(&model, stream).map_err(broken)?;
            Ok(Truth {
                y: simulate::draw_data(&model, &state, stream),
                t: None,
                x: state.features.x().clone(),
                w: Some(state.features.w().clone()),
                theta: state.theta[0].clone(),
                f: state.f,
            })
        }
    }
}

/// A numerical failure, before any chain.
fn broken(source: NumericalError) -> Failure {
    RunError::Numerical { chain: 0, sweep: 0, source }.into()
}

/// The table with a fraction of its cells missing; each row and column keeps at least one.
fn with_holes(y: &Mat, fraction: f64, family: &dyn Family, stream: Stream) -> Result<Mat, SpecError> {
    let refuse = |rule: &str| SpecError::Setting { setting: "missing", value: fraction.to_string(), rule: rule.into() };
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(refuse("it must be a fraction of the cells, above 0 and below 1"));
    }
    if family.is_whole() {
        let rule = format!("a {} row is observed or missing as a whole; omit it", family.name());
        return Err(refuse(&rule));
    }
    let splits = split(y, &[], HeldOut::Share(fraction), stream.named("missing"));
    let only =
        splits.map_err(|_| refuse("no cell of so small a table can be left empty at this fraction; choose another"))?;
    Ok(only[0].train.clone())
}

/// The table, after its times if requested; missing cells are empty.
fn table(y: &Mat, times: Option<&[f64]>) -> String {
    let header = times.map(|_| "time".to_string()).into_iter().chain((1..=y.cols()).map(|j| format!("y{j}"))).collect();
    let time = |n: usize| times.map(|times| times[n]);
    let row = |(n, row): (usize, &[f64])| time(n).into_iter().chain(row.iter().copied()).map(text).collect();
    csv_text(header, y.iter_rows().enumerate().map(row))
}
