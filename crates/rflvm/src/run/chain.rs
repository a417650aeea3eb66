//! One chain: initialisation, staged warm-up, draws. Every chain and sweep has its own random streams, so draws depend only on the
//! seed and not on the number of threads, nor on how often the chain was stopped and resumed.

use super::guest::{Guest, Joined, Meetings};
use super::maps::of_data;
use super::settings::Settings;
use super::sweep::sweep;
use crate::device::sweep::sweep as on_device;
use crate::device::{self, Device};
use crate::draws::{Draw, Stats, Traced};
use crate::error::NumericalError;
use crate::hmc::tuning::{Adaptation, Tuning};
use crate::hmc::workspace::Workspace;
use crate::init::{start, start_at};
use crate::linalg::Mat;
use crate::model::{Model, State, axes, joint};
use crate::rng::Stream;
use crate::steps::{Step, SweepInfo};
use serde::{Deserialize, Serialize};

/// The fraction of the warm-up in which X is held fixed while the rest adapts to it.
const HELD_SHARE: u64 = 10;
/// The same on a device, where redrawing all weights costs as much as many sweeps.
const HELD_SHARE_ON_DEVICE: u64 = 50;

/// How often a device computes the log-likelihood that progress shows.
const SEEN_EVERY: u64 = 10;

/// The complete state of a chain, apart from the model and the settings: a chain resumed from it gives the same draws
/// as an uninterrupted one, bit for bit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Snapshot {
    state: State,
    tuning: Tuning,
    adaptation: Option<Adaptation>,
    done: u64,
    guest: Guest,
    last: Stats,
    seconds: [f64; Step::COUNT],
}

/// The tables of a snapshot, which have one number per cell.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Held {
    /// F.
    pub f: bool,
    /// The sums of F with which the chain is tuned.
    pub sums: bool,
}

impl Snapshot {
    /// Wall seconds spent in each step so far.
    pub fn seconds(&self) -> [f64; Step::COUNT] {
        self.seconds
    }

    /// Number of sweeps done, warm-up included.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// What it brings to its next meeting with other chains.
    pub(super) fn guest(&self) -> &Guest {
        &self.guest
    }

    /// Begins the further warm-up that the settings ask for, after one that has ended.
    pub fn warm_again(&mut self, model: &Model, settings: &Settings) {
        let sweeps = settings.warmup.saturating_sub(self.done);
        self.adaptation = Some(Adaptation::new(model, &self.tuning, sweeps));
        self.guest.warm_again();
    }

    /// That of all columns on the first of several processes, without its tables; nothing on the others.
    pub(super) fn collect(&self, model: &Model) -> Option<Snapshot> {
        let state = model.collect_state(&self.state, false);
        let tuning = self.tuning.collect(model);
        Some(Snapshot {
            state: state?,
            tuning: tuning?,
            adaptation: self.adaptation.as_ref().map(Adaptation::without_sums),
            done: self.done,
            guest: self.guest.clone(),
            last: self.last,
            seconds: self.seconds,
        })
    }

    /// The tables that it has, one number per cell.
    pub(super) fn held(&self) -> Held {
        Held { f: self.state.f.rows() > 0, sums: !self.sums().is_empty() }
    }

    /// F.
    pub(super) fn table(&self) -> &Mat {
        &self.state.f
    }

    /// The sums of F with which it is tuned.
    pub(super) fn sums(&self) -> &[f32] {
        self.adaptation.as_ref().map_or(&[], Adaptation::sums)
    }

    /// Puts the tables back that it had.
    pub(super) fn put_tables(&mut self, model: &Model, held: Held, f: Vec<f64>, sums: Vec<f32>) {
        if held.f {
            self.state.f = Mat::from_vec(model.rows(), model.columns(), f);
        }
        if let (true, Some(adaptation)) = (held.sums, &mut self.adaptation) {
            adaptation.take_sum(sums);
        }
    }

    /// Gives everything that a device holds to it.
    fn load(&mut self, model: &Model, device: &mut dyn Device) {
        device::load(device, &mut self.state);
        match &self.tuning.reference {
            Some(reference) => device.set_reference(reference),
            // This processor integrates the weights of a complete Gaussian table out.
            None => self.tuning.refer_on(model, &self.state, device),
        }
        if let Some(adaptation) = &mut self.adaptation {
            device.set_sum(adaptation.lend_sum());
        }
    }

    /// That of the columns of this process.
    pub fn own_of(self, model: &Model) -> Snapshot {
        if model.chunks().is_alone() {
            return self;
        }
        Snapshot {
            state: model.own_state(self.state),
            tuning: self.tuning.own_of(model),
            adaptation: self.adaptation.map(|adaptation| adaptation.own_of(model)),
            ..self
        }
    }
}

/// One chain, ready to run.
#[derive(Debug)]
pub struct Chain<'a> {
    model: &'a Model,
    settings: &'a Settings,
    stream: Stream,
    held: u64,
    meetings: Meetings,
    at: Snapshot,
    room: Workspace,
    traced: Traced,
    /// Where H and F are, if not in the state.
    device: Option<Box<dyn Device>>,
    /// The last log-likelihood that a device computed.
    ln_likelihood: f64,
}

impl<'a> Chain<'a> {
    /// Initialises chain number `chain`, with the table on a device.
    pub fn on(
        model: &'a Model,
        settings: &'a Settings,
        chain: usize,
        mut device: Box<dyn Device>,
    ) -> Result<Self, NumericalError> {
        let state = device::start::start(device.as_mut(), model, settings.init, stream(settings, chain))?;
        Self::on_at(model, settings, chain, state, device)
    }

    /// Chain number `chain` from a given state, with the table on a device.
    pub fn on_at(
        model: &'a Model,
        settings: &'a Settings,
        chain: usize,
        mut state: State,
        mut device: Box<dyn Device>,
    ) -> Result<Self, NumericalError> {
        device::load(device.as_mut(), &mut state);
        let tuning = Tuning::on(model, &state, device.as_mut());
        device::check(device.as_mut())?;
        let sweeps = settings.warmup - held(settings, HELD_SHARE_ON_DEVICE);
        let adaptation = Some(Adaptation::on_device(model, &tuning, sweeps));
        let (guest, last, seconds) = (Guest::default(), Stats::default(), [0.0; Step::COUNT]);
        let at = Snapshot { state, tuning, adaptation, done: 0, guest, last, seconds };
        let chain = Self::resume_held(model, settings, chain, at);
        Ok(chain.with(device))
    }

    /// Resumes chain number `chain` with the table on a device, wherever it was before.
    pub fn resume_on(
        model: &'a Model,
        settings: &'a Settings,
        chain: usize,
        mut at: Snapshot,
        mut device: Box<dyn Device>,
    ) -> Result<Self, NumericalError> {
        at.load(model, device.as_mut());
        device::check(device.as_mut())?;
        let chain = Self::resume_held(model, settings, chain, at);
        Ok(chain.with(device))
    }

    /// With its table on a device.
    fn with(self, device: Box<dyn Device>) -> Self {
        Chain { held: held(self.settings, HELD_SHARE_ON_DEVICE), device: Some(device), ..self }
    }

    /// Initialises chain number `chain`.
    pub fn new(model: &'a Model, settings: &'a Settings, chain: usize) -> Result<Self, NumericalError> {
        let state = start(model, settings.init, stream(settings, chain))?;
        Ok(Self::at(model, settings, chain, state))
    }

    /// Chain number `chain` from a state fitted to given positions, with the table on a device if there is one.
    pub(super) fn near(
        model: &'a Model,
        settings: &'a Settings,
        chain: usize,
        x: Mat,
        device: Option<Box<dyn Device>>,
        stream: Stream,
    ) -> Result<Self, NumericalError> {
        match device {
            None => Ok(Self::at(model, settings, chain, start_at(model, x, stream)?)),
            Some(mut device) => {
                let state = device::start::start_at(device.as_mut(), model, x, stream)?;
                Self::on_at(model, settings, chain, state, device)
            }
        }
    }

    /// Chain number `chain` from a given state.
    pub fn at(model: &'a Model, settings: &'a Settings, chain: usize, state: State) -> Self {
        let tuning = Tuning::guess(model);
        let adaptation = Some(Adaptation::new(model, &tuning, settings.warmup - held(settings, HELD_SHARE)));
        let (guest, last, seconds) = (Guest::default(), Stats::default(), [0.0; Step::COUNT]);
        Self::resume(model, settings, chain, Snapshot { state, tuning, adaptation, done: 0, guest, last, seconds })
    }

    /// Resumes chain number `chain` of the same model and settings.
    pub fn resume(model: &'a Model, settings: &'a Settings, chain: usize, mut at: Snapshot) -> Self {
        at.state.restore(model);
        Self::resume_held(model, settings, chain, at)
    }

    /// Without regard to where H and F are.
    fn resume_held(model: &'a Model, settings: &'a Settings, chain: usize, at: Snapshot) -> Self {
        let meetings = Meetings::new(model, settings);
        let (stream, held) = (stream(settings, chain), held(settings, HELD_SHARE));
        let (room, traced) = (Workspace::default(), Traced::of(model));
        Chain { model, settings, stream, held, meetings, at, room, traced, device: None, ln_likelihood: f64::NAN }
    }

    /// One sweep, with tuning during warm-up.
    pub fn advance(&mut self) -> Result<SweepInfo, NumericalError> {
        let at = &mut self.at;
        let stream = self.stream.named("sweep").at(at.done);
        let mut moves = self.settings.moves;
        if at.done < self.held {
            // The step size is not tuned while X is held fixed.
            moves.positions = false;
            moves.gradient = false;
        }
        if at.done == self.settings.warmup
            && let Some(adaptation) = at.adaptation.take()
            && self.settings.warmup > self.held
        {
            adaptation.finish(&mut at.tuning);
        }
        if at.done == self.held {
            match &mut self.device {
                Some(device) => {
                    device::totals::settle(device.as_mut());
                    at.tuning.refer_on(self.model, &at.state, device.as_mut());
                }
                None => at.tuning.refer_to(self.model, &at.state, &mut self.room),
            }
        }
        let step = at.tuning.trajectory.step;
        let (state, room) = (&mut at.state, &mut self.room);
        let info = match &mut self.device {
            Some(device) => on_device(device.as_mut(), self.model, state, moves, &at.tuning, stream)?,
            None => sweep(self.model, state, moves, &at.tuning, room, stream)?,
        };
        if at.done >= self.held
            && moves.gradient
            && let Some(adaptation) = &mut at.adaptation
        {
            let device = self.device.as_deref_mut().map(|device| device as &mut dyn Device);
            adaptation.learn(self.model, info.acceptance, &at.state, &mut at.tuning, &mut self.room, device);
        }
        at.done += 1;
        if let Some(device) = &mut self.device
            && at.done % SEEN_EVERY == 1
        {
            self.ln_likelihood = device::totals::ln_likelihood(device.as_mut(), self.model);
        }
        let device = self.device.as_deref_mut().map(|device| device as &mut dyn Device);
        at.guest.see(self.meetings, at.done, (self.model, &at.state), device, stream);
        at.seconds.iter_mut().zip(info.seconds).for_each(|(sum, s)| *sum += s);
        at.last = Stats {
            acceptance: info.acceptance,
            step,
            frequency_tries: info.frequency_tries,
            position_tries: info.position_tries,
        };
        Ok(info)
    }

    /// The current state as a draw, if the settings keep it.
    pub fn draw(&mut self) -> Result<Option<Draw<'_>>, NumericalError> {
        if !self.settings.keeps(self.at.done) {
            return Ok(None);
        }
        let (model, state) = (self.model, &self.at.state);
        let ln_likelihood = match &mut self.device {
            Some(device) => device::totals::ln_likelihood(device.as_mut(), model),
            None => model.ln_likelihood(state),
        };
        self.ln_likelihood = ln_likelihood;
        let ln_joint = ln_likelihood + joint::ln_prior(model, state)?;
        let axis_information = if model.has_relevance() { axes::information(model, state) } else { Vec::new() };
        let cells = self.traced.values(model, state);
        Ok(Some(Draw { model, state, cells, ln_likelihood, ln_joint, axis_information, stats: self.at.last }))
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.at.state
    }

    /// ln p(Y, θ, τ² | X, W), by which maps are compared.
    pub(super) fn ln_data(&mut self) -> Result<f64, NumericalError> {
        let device = self.device.as_deref_mut().map(|device| device as &mut dyn Device);
        of_data(self.model, &self.at.state, device)
    }

    /// The last log-likelihood that its device computed, if its table is on one.
    pub(super) fn seen_ln_likelihood(&self) -> Option<f64> {
        self.device.as_ref().map(|_| self.ln_likelihood)
    }

    /// Brings what a snapshot needs back from the device.
    pub(super) fn gather(&mut self) {
        if let (Some(device), Some(adaptation)) = (&mut self.device, &mut self.at.adaptation) {
            adaptation.take_sum(device.sum());
        }
    }

    /// The tuning of the gradient move.
    pub fn tuning(&self) -> &Tuning {
        &self.at.tuning
    }

    /// Changes the mean number of leapfrog steps of the gradient move, from the next sweep on.
    pub fn set_leapfrogs(&mut self, leapfrogs: usize) {
        self.at.tuning.trajectory.leapfrogs = leapfrogs.max(1);
    }

    /// Number of sweeps done, warm-up included.
    pub fn done(&self) -> u64 {
        self.at.done
    }

    /// The sweep of its next meeting with other chains.
    pub(super) fn meeting(&self) -> Option<u64> {
        self.meetings.after(self.at.guest.met)
    }

    /// What it brings there.
    pub(super) fn guest(&self) -> &Guest {
        &self.at.guest
    }

    /// Assigns it to a map.
    pub(super) fn belongs_to(&mut self, map: usize) {
        self.at.guest.map = map;
    }

    /// Continues from the state and the tuning of another chain.
    pub(super) fn join(&mut self, other: &Snapshot, joined: Joined) {
        let Snapshot { state, tuning, adaptation, guest, .. } = &mut self.at;
        state.clone_from(&other.state);
        tuning.clone_from(&other.tuning);
        adaptation.clone_from(&other.adaptation);
        guest.joined.push(joined);
        if let Some(device) = &mut self.device {
            self.at.load(self.model, device.as_mut());
        }
    }

    /// Forgets what was compared.
    pub(super) fn leave_meeting(&mut self) {
        self.at.guest.leave();
    }

    /// The complete state, to resume from.
    pub fn snapshot(&self) -> &Snapshot {
        &self.at
    }

    /// The same, of a chain that does not go on.
    pub(super) fn into_snapshot(self) -> Snapshot {
        self.at
    }
}

fn stream(settings: &Settings, chain: usize) -> Stream {
    Stream::new(settings.seed).named("chain").at(chain as u64)
}

/// The sweeps in which X is held fixed: none in a further warm-up, whose positions are not those of a start.
fn held(settings: &Settings, share: u64) -> u64 {
    if settings.warmup_from > 0 { 0 } else { settings.warmup / share }
}
