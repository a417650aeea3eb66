//! One fit of a comparison: a candidate on the training part of a split, or on the whole table for leave-one-out.

use super::candidate::Candidate;
use super::piece::Piece;
use crate::error::Error;
use crate::model;
use crate::sample::Follow;
use crate::table::Table;
use crate::times::Timeline;
use rflvm::internal::draws::Draws;
use rflvm::internal::error::RunError;
use rflvm::internal::model::Model;
use rflvm::internal::posterior::heldout::{self, Heldout, TestPoints};
use rflvm::internal::posterior::leave_out::{LeaveOut, left_out};
use rflvm::internal::rng::Stream;
use rflvm::internal::run::Run;
use rflvm::internal::run::Settings;
use rflvm::internal::split::Split;
use std::ops::ControlFlow;
use std::time::Instant;

/// Shared by all fits of a comparison.
pub(super) struct Common<'a> {
    pub table: &'a Table,
    pub timeline: Option<&'a Timeline>,
    pub settings: &'a Settings,
}

/// A fit to run.
pub struct Task<'a> {
    /// What is fitted.
    pub candidate: &'a Candidate,
    /// What is scored.
    pub job: Job<'a>,
}

/// What to score.
pub enum Job<'a> {
    /// The held-out part of a split.
    Split {
        /// Its number, from 1.
        number: usize,
        /// Its parts.
        split: &'a Split,
    },
    /// Each row.
    LeaveOut,
}

impl Task<'_> {
    /// In words.
    pub fn words(&self) -> String {
        let candidate = self.candidate.words();
        match self.job {
            Job::Split { number, .. } => format!("{candidate}, mask {number}"),
            Job::LeaveOut => format!("{candidate}, rows left out"),
        }
    }

    /// The name of its file.
    pub fn file(&self) -> String {
        let stem = self.candidate.stem();
        match self.job {
            Job::Split { number, .. } => format!("{stem}-mask{number}.json"),
            Job::LeaveOut => format!("{stem}-loo.json"),
        }
    }

    /// Fits and scores; `None` if a stop was requested.
    pub(super) fn run(&self, of: &Common<'_>, follow: &dyn Follow) -> Result<Option<Piece>, Error> {
        let begun = Instant::now();
        let settings = of.settings;
        let mut table = of.table.clone();
        if let Job::Split { split, .. } = self.job {
            table.values = split.train.as_slice().to_vec();
        }
        // The offsets of the table are already known, as numbers.
        let mut config = self.candidate.config.clone();
        config.offset = None;
        let model = model::model(&config, &self.candidate.given, &mut table, of.timeline)?;
        let doubtful;
        let (rows, mixing) = match self.job {
            Job::Split { split, .. } => {
                let points = TestPoints::new(&model, &split.test);
                let sinks = (0..settings.chains).map(|_| Heldout::new(&model, &points)).collect();
                let Some(sinks) = sample(&model, settings, sinks, follow)? else { return Ok(None) };
                doubtful = None;
                heldout::score(&model, &sinks)
            }
            Job::LeaveOut => {
                let stream = Stream::new(settings.seed).named("leave out");
                let sinks = (0..settings.chains).map(|c| LeaveOut::new(&model, stream.at(c as u64))).collect();
                let Some(sinks) = sample(&model, settings, sinks, follow)? else { return Ok(None) };
                let broken = |source| RunError::Numerical { chain: 1, sweep: settings.sweeps(), source };
                let left = left_out(&sinks).map_err(broken)?;
                doubtful = Some(left.doubtful());
                (left.rows, left.mixing)
            }
        };
        Ok(Some(Piece {
            candidate: self.candidate.words(),
            fingerprint: self.candidate.fingerprint.clone(),
            ln_density: rows.ln_density.into_iter().map(Some).collect(),
            points: rows.points,
            set_aside: mixing.set_aside(),
            ess: Some(mixing.ess),
            r_hat: Some(mixing.r_hat),
            doubtful,
            seconds: (10.0 * begun.elapsed().as_secs_f64()).round() / 10.0,
        }))
    }
}

/// Runs all chains into their sinks; `None` if a stop was requested.
fn sample<D: Draws + Send>(
    model: &Model,
    settings: &Settings,
    mut sinks: Vec<D>,
    follow: &dyn Follow,
) -> Result<Option<Vec<D>>, Error> {
    let mut run = Run::start(model, settings, None)?;
    let is_done = run.go_on(&mut sinks, |progress| {
        follow.see(progress);
        if follow.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    follow.end(&run);
    Ok(is_done.then_some(sinks))
}
