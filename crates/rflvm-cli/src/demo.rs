//! `rflvm demo`: the Poisson S-curve, simulated and fitted while you watch.

use crate::args::DemoArgs;
use crate::failure::Failure;
use crate::message::Flags;
use crate::output;
use crate::picture::Colour;
use crate::progress::Watch;
use crate::reply::{Reply, names};
use crate::report;
use rflvm::internal::draws::Memory;
use rflvm::internal::error::RunError;
use rflvm::internal::model::family::{Poisson, Theta};
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::posterior::Posterior;
use rflvm::internal::posterior::fitted::Fitted;
use rflvm::internal::posterior::score::affine_r2;
use rflvm::internal::rng::Stream;
use rflvm::internal::run;
use rflvm::internal::run::Progress;
use rflvm::internal::run::Settings;
use rflvm::internal::simulate::s_curve;
use rflvm_report::{Subject, html};
use rflvm_study::answers::convergence::{Began, as_json};
use rflvm_study::answers::positions::{self, Positions};
use rflvm_study::answers::stream;
use rflvm_study::outputs::Outputs;
use rflvm_study::table::Table;
use rflvm_study::{out_dir, write};
use serde_json::json;
use std::ops::ControlFlow;
use std::time::Instant;

/// Rows and columns of the table.
const SHAPE: (usize, usize) = (500, 100);
/// Few enough that the picture is there within a minute on two cores.
const CHAINS: usize = 4;

/// Runs the command.
pub fn run(args: &DemoArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let (rows, columns) = SHAPE;
    let stream = Stream::new(args.seed).named("demo");
    let curve = s_curve(rows, columns, &Poisson, &Theta::none(columns), 1, stream)
        .map_err(|source| Failure::from(RunError::Numerical { chain: 0, sweep: 0, source }))?;
    let model = Model::new(Observations::new(curve.y)?, Poisson, ModelSpec::default())?;
    let settings = Settings {
        warmup: args.warmup,
        draws: args.draws,
        chains: CHAINS,
        seed: args.seed,
        threads: args.threads,
        ..Settings::default()
    };
    settings.check()?;
    Outputs::default()
        .overwrite(args.replace.overwrite)
        .within(&args.out, &["embedding.csv", "latent.svg", report::FILE])?;
    out_dir::prepare(&args.out)?;
    let console = reply.progress();
    console.say(&format!(
        "{rows} rows of {columns} Poisson counts, simulated along an S-shaped curve; {CHAINS} chains, seed {}",
        args.seed
    ));
    let begun = Instant::now();
    let watch = Watch::new(console, settings.chains, settings.sweeps(), false);
    let see = |progress: Progress<'_>| {
        watch.see(progress);
        ControlFlow::Continue(())
    };
    let chains = run::run(&model, &settings, |_| Memory::default(), see)?;
    let posterior = Posterior::of_spread(model, chains, settings.seed)?;
    let seconds = begun.elapsed().as_secs_f64();
    let aside = posterior.convergence().chains.iter().filter(|v| !v.used).count();
    if aside > 0 {
        console.warn(&format!("{aside} of {} chains is stuck in a minor mode and is set aside", settings.chains));
    }
    let fitted = posterior.fitted(stream::POSITIONS);
    let frame = fitted.frame()?;
    let placed = Positions { embedding: fitted.embedding(&frame)?, frame };
    let embedding = &placed.embedding;
    let ids: Vec<String> = (1..=rows).map(|n| n.to_string()).collect();
    let along: Vec<String> = curve.t.iter().map(|t| format!("{t:.4}")).collect();
    let known = Table { ids: ids.clone(), labels: Some(along.clone()), ..Table::default() };
    let (table, picture) = (args.out.join("embedding.csv"), args.out.join("latent.svg"));
    write::text(&table, &positions::columns(embedding, None, &known).csv())?;
    let colour = Colour::Value { values: &curve.t, name: "position along the S", format: None };
    let title = args.title.as_deref().unwrap_or("An S-curve found in Poisson counts");
    write::text(&picture, &output::latent_svg(title, embedding, colour))?;
    let page = args.out.join(report::FILE);
    if !args.no_report {
        let names: Vec<String> = (1..=columns).map(|j| j.to_string()).collect();
        let convergence = posterior.convergence();
        let subject = Subject {
            title: title.into(),
            fitted: Fitted { stream: Stream::new(args.seed), ..posterior.fitted("report") },
            positions: &placed,
            ahead: Vec::new(),
            rows: rflvm_report::Rows {
                ids: &ids,
                labels: Some(&along),
                label_name: "position along the S",
                timeline: None,
                times: None,
            },
            places: (0..names.len()).collect(),
            columns: &names,
            offset: 0.0,
            covariates: Vec::new(),
            convergence,
            began: Began::Anywhere,
            diagnostics: as_json(convergence, Began::Anywhere),
            modes: Vec::new(),
            origin: json!({ "seed": args.seed, "command": format!("rflvm demo --seed {}", args.seed) }),
            naming: &Flags,
        };
        write::text(&page, &html(&subject, None)?)?;
    }
    let score = affine_r2(&embedding.mean, &curve.x);
    reply.line(&format!("R² of the posterior-mean positions against the true S: {score:.4}"))?;
    reply.line(&format!("{seconds:.0} seconds of sampling"))?;
    reply.line(&format!("picture: {}", picture.display()))?;
    reply.line(&format!("table:   {}", table.display()))?;
    let mut files = vec![picture, table];
    if !args.no_report {
        reply.line(&format!("report:  {} (open it in a browser)", page.display()))?;
        files.push(page);
    }
    reply.object(&json!({ "r2": score, "seconds": seconds, "files": names(&files) }))
}
