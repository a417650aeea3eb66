//! What a report is about: a fit with its draws, and what is known about its rows.

use rflvm::internal::posterior::convergence::Convergence;
use rflvm::internal::posterior::fitted::Fitted;
use rflvm::internal::posterior::forecast::NewTime;
use rflvm::internal::run::modes::Found;
use rflvm_study::answers::convergence::{Began, report};
use rflvm_study::answers::forecast::{Ahead, When, new_times};
use rflvm_study::answers::positions::Positions;
use rflvm_study::drawn::Drawn;
use rflvm_study::message::Naming;
use rflvm_study::times::Timeline;
use rflvm_study::{Config, Error, Fit, modes};
use serde_json::{Value, json};

/// New times of each sequence that are forecast.
const STEPS: usize = 12;

/// A fit, from a folder or in memory.
pub struct Subject<'a> {
    /// The title of the page.
    pub title: String,
    /// The draws, with the stream of which each question has a part.
    pub fitted: Fitted<'a>,
    /// Positions of the rows, and their frame.
    pub positions: &'a Positions,
    /// The next times of each sequence, if rows have times.
    pub ahead: Vec<NewTime>,
    /// What is known about the rows.
    pub rows: Rows<'a>,
    /// Names of the columns, in the order of the table.
    pub columns: &'a [String],
    /// For each column of the table, its position in the model.
    pub places: Vec<usize>,
    /// The offset of a point of the latent space.
    pub offset: f64,
    /// Its covariates.
    pub covariates: Vec<f64>,
    /// Whether the chains agree.
    pub convergence: &'a Convergence,
    /// Where they began.
    pub began: Began,
    /// The diagnostics, as `rflvm summary --json` prints them.
    pub diagnostics: Value,
    /// The modes that were found before the chains started.
    pub modes: Vec<Found>,
    /// Where the fit comes from: seed, settings, and the command that repeats it.
    pub origin: Value,
    /// How advice names settings.
    pub naming: &'a dyn Naming,
}

/// What is known about the rows besides their positions.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Their names.
    pub ids: &'a [String],
    /// Their labels.
    pub labels: Option<&'a [String]>,
    /// The name of the labels.
    pub label_name: &'a str,
    /// Their times.
    pub timeline: Option<&'a Timeline>,
    /// Their times, as given.
    pub times: Option<&'a [String]>,
}

impl<'a> Subject<'a> {
    /// The fit in a folder.
    pub fn of(
        fit: &'a Fit,
        (drawn, convergence): (&'a Drawn, &'a Convergence),
        positions: &'a Positions,
        naming: &'a dyn Naming,
    ) -> Result<Self, Error> {
        let table = &fit.table;
        Ok(Subject {
            title: fit.title(),
            fitted: Fitted { stream: fit.stream(), ..drawn.fitted(fit, "report") },
            positions,
            // The end of the calendar may be too near; nothing else can be wrong with these times.
            ahead: new_times(fit, Ahead { when: When::Beyond(STEPS), sequence: None, covariates: &[] })
                .unwrap_or_default(),
            rows: Rows {
                ids: &table.ids,
                labels: table.labels.as_deref(),
                label_name: fit.config.labels.as_deref().unwrap_or("label"),
                timeline: fit.timeline.as_ref(),
                times: table.time.as_deref(),
            },
            columns: &table.columns,
            places: fit.places(),
            offset: fit.mean_offset().unwrap_or(0.0),
            covariates: fit.covariates_set(&[])?,
            convergence,
            began: Began::of(&fit.dir),
            diagnostics: report(fit, drawn, convergence, naming)?,
            modes: modes::read(&fit.dir),
            origin: origin(fit),
            naming,
        })
    }

    /// The draws with the random stream of a question, so that its answer is the same everywhere.
    pub fn asked(&self, stream: &str) -> Fitted<'a> {
        Fitted { stream: self.fitted.stream.named(stream), ..self.fitted }
    }
}

/// The settings, with the name of the table but not its folder, since a report is sent to others; and without the identity of this run.
fn origin(fit: &Fit) -> Value {
    let table = fit.saved.table.as_ref().and_then(|path| path.file_name()).map(Into::into);
    let settings = Config { table, identity: None, table_identity: None, ..fit.saved.clone() }.to_toml();
    let command = "rflvm fit --config config.toml --out again";
    json!({ "seed": fit.settings.seed, "command": command, "settings": settings })
}
