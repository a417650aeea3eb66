//! The models under test: N=4 rows, D=2, L=3, mostly J=3 columns. Small, so that a chain mixes fast and an error shows.
//!
//! Priors are mild, so that the compared moments exist; no constant is 1, so that a missing root, square or factor shows.

use rflvm::internal::device::plain::OnHost;
use rflvm::internal::device::{self, Device};
use rflvm::internal::hmc::directions::Modes;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{
    Binomial, Censored, Family, Gaussian, Generic, Isotropic, Limits, LogNormal, Multinomial, NegativeBinomial,
    Ordinal, Poisson, StudentT, Trials, Unit, ZeroInflatedNegativeBinomial, ZeroInflatedPoisson,
};
use rflvm::internal::model::latent::{Form, TimeKernel, TimeSpec};
use rflvm::internal::model::priors::{Centred, Dispersion, Dof, Gamma, Noise, Normal, Student};
use rflvm::internal::model::spectral::{Kernel, Mixture, Scales};
use rflvm::internal::model::{Amplitude, HalfT, Model, ModelSpec, Pool, Priors};
use rflvm::internal::observations::{Observations, Offset, Times};
use rflvm::internal::steps::tuning::Tuning;
use rflvm::internal::steps::{FrequencyMove, Moves};
use std::sync::Arc;

/// A model and how its sampler moves.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// Its name for `--only`.
    pub name: String,
    /// The model; its values are placeholders.
    pub model: Model,
    /// The moves of a sweep.
    pub moves: Moves,
    /// The gradient move, fixed: tuning would make the chain depend on its past.
    pub tuning: Tuning,
    /// Opens the device that holds the table, if it is not in the state.
    pub device: Option<Open>,
    /// How many processes share the columns, each with its own device.
    pub processes: usize,
}

/// Opens a device with the table of a model.
pub type Open = fn(&Model) -> Box<dyn Device>;

const ROWS: usize = 4;

/// The period of seasonal kernels.
const SEASON: f64 = 0.7;

/// Priors of Student-t columns.
pub(crate) const STUDENT: Student = Student { noise: Noise::Independent(Gamma { shape: 3.0, rate: 2.0 }), dof: DOF };
const DOF: Dof = Dof::Learned(Gamma { shape: 4.0, rate: 0.7 });

/// Prior of the level and spread of columns' noise: at a large spread precisions have tails in which means of their squared logarithms have no
/// reliable standard error.
pub(crate) const POOL: Pool = Pool { level: HalfT { scale: 1.2, dof: 8.0 }, spread: HalfT { scale: 0.4, dof: 30.0 } };

/// That of dispersions: seldom so small that counts become large.
pub(crate) const DISPERSIONS: Pool = Pool { level: HalfT { scale: 2.0, dof: 8.0 }, ..POOL };

/// Prior of amplitudes: light enough in its tail that the gradient move, tuned for all, meets no stiff table.
const HALF_T: HalfT = HalfT { scale: 0.7, dof: 8.0 };

/// Trials of a multinomial row.
const TOTAL: f64 = 5.0;

/// Offsets that are far from equal and do not sum to zero.
const OFFSETS: [f64; ROWS] = [0.6, -0.5, 0.9, 0.0];

/// A covariate, centred.
const COVARIATE: [f64; ROWS] = [1.1, -0.7, -0.9, 0.5];

/// How one configuration differs from the default.
struct Recipe {
    blocks: Vec<(usize, Arc<dyn Family>)>,
    missing: bool,
    offset: bool,
    covariates: bool,
    /// Whether cells of a column are rounded.
    rounded: bool,
    spec: ModelSpec,
    frequencies: FrequencyMove,
    /// Factor of the gradient move's step size.
    hurry: f64,
    times: Option<Times>,
}

impl Recipe {
    fn new(blocks: Vec<(usize, Arc<dyn Family>)>) -> Self {
        let mixture = Mixture { nu0: Some(6.0), scales: Scales::Equal(2.0), ..Mixture::default() };
        let spec = ModelSpec {
            latent_dim: 2,
            features: 6,
            kernel: Kernel::Learned(mixture),
            linear: false,
            priors: Priors {
                amplitude: Some(Amplitude::Fixed(0.8)),
                intercept: 0.5,
                covariates: 0.7,
                linear: HALF_T,
                ..Priors::default()
            },
            time: TimeSpec::default(),
            column_process: None,
        };
        Recipe {
            blocks,
            missing: false,
            offset: false,
            covariates: false,
            rounded: false,
            spec,
            frequencies: FrequencyMove::Slice,
            hurry: 1.0,
            times: None,
        }
    }

    fn missing(mut self) -> Self {
        self.missing = true;
        self
    }

    fn offset(mut self) -> Self {
        self.offset = true;
        self
    }

    fn rounded(mut self) -> Self {
        self.rounded = true;
        self
    }

    fn covariates(mut self) -> Self {
        self.covariates = true;
        self
    }

    /// A map with a linear part.
    fn linear(mut self) -> Self {
        self.spec.linear = true;
        self
    }

    fn rbf(mut self) -> Self {
        self.spec.kernel = Kernel::Rbf { length_scale: 1.3 };
        self
    }

    fn learned_amplitude(mut self) -> Self {
        self.spec.priors.amplitude = Some(Amplitude::Learned(HALF_T));
        self
    }

    fn shared_amplitude(mut self) -> Self {
        self.spec.priors.amplitude = Some(Amplitude::Shared(HALF_T));
        self
    }

    fn metropolis(mut self) -> Self {
        self.frequencies = FrequencyMove::Metropolis;
        self
    }

    /// Axes with their own scales.
    fn relevance(mut self) -> Self {
        if let Kernel::Learned(mixture) = &mut self.spec.kernel {
            mixture.scales = Scales::Learned(1.4);
        }
        self
    }

    /// Steps of the gradient move so large that many trajectories diverge to NaN: they must be rejected.
    fn reckless(mut self) -> Self {
        self.hurry = 2.0;
        self
    }

    /// Rows in time: irregular, out of order, in one sequence or two.
    fn timed(mut self, kernel: TimeKernel, form: Form, trend: bool) -> Self {
        let sequence = if form == Form::StateSpace { vec![0, 1, 0, 1] } else { vec![0; ROWS] };
        self.times = Some(Times { at: vec![1.4, 0.2, 0.9, 1.1], sequence });
        self.spec.time = TimeSpec { kernel, trend, form, inducing: 2, period: kernel.is_seasonal().then_some(SEASON) };
        self
    }

    /// Column processes besides shared ones; scales with light tails, and length-scales at which neighbours are neither equal nor strangers.
    fn column_processes(self, kernel: TimeKernel) -> Self {
        let mut recipe = self.timed(TimeKernel::Matern32, Form::StateSpace, false);
        recipe.spec.column_process = Some(kernel);
        recipe.spec.time.period = kernel.is_seasonal().then_some(SEASON);
        recipe.spec.priors.column_process = HALF_T;
        recipe.spec.priors.column_process_length_scale = Centred { median: 0.6, sd: 0.7 };
        recipe
    }

    fn build(self, name: impl Into<String>) -> Configuration {
        let name = name.into();
        let columns = self.blocks.iter().map(|b| b.0).sum();
        let mut y = Mat::zeros(ROWS, columns);
        let mut units = Vec::with_capacity(columns);
        let mut blocks = Vec::new();
        for (width, family) in self.blocks {
            let range = units.len()..units.len() + width;
            let multinomial = family.is_whole();
            for j in range.clone() {
                for n in 0..ROWS {
                    let first = if multinomial && j == range.start { TOTAL } else { family.any_cell() };
                    // One cell in four; of a multinomial, one row in four.
                    let hole = if multinomial { n == 1 } else { (n + 2 * j) % 4 == 0 };
                    y[(n, j)] = if self.missing && hole { f64::NAN } else { first };
                }
                let reference = multinomial && j + 1 == range.end;
                let centre = if reference { 0.0 } else { [0.3, -0.4, 0.2][j % 3] };
                let rounding = if self.rounded { [0.0, 1.5, 0.8][j % 3] } else { 0.0 };
                units.push(Unit { centre, scale: [1.0, 1.3, 0.8][j % 3], rounding });
            }
            blocks.push((range.collect(), family));
        }
        let offset = if self.offset { Offset::Given(OFFSETS.to_vec()) } else { Offset::None };
        let data = Observations::new(y).and_then(|data| data.with_offset(offset));
        let data = data.and_then(|data| match self.covariates {
            true => data.with_covariates(Mat::from_vec(ROWS, 1, COVARIATE.to_vec()), vec!["batch".into()]),
            false => Ok(data),
        });
        let data = data.and_then(|data| match self.times {
            Some(times) => data.with_times(times),
            None => Ok(data),
        });
        let model = data.map_err(Into::into).and_then(|data| Model::with_blocks(data, blocks, self.spec));
        let mut model = model.unwrap_or_else(|error| panic!("configuration {name}: {error}"));
        model.set_units(units);
        // Half of the individual redraws, so that both they and the random choice among them are tested.
        let moves = Moves { frequencies: self.frequencies, share: 0.5, ..Moves::default() };
        let step = if model.is_collapsed() { 0.8 } else { joint_step(&model) } * self.hurry;
        let mut tuning = Tuning::guess(&model);
        (tuning.trajectory.step, tuning.trajectory.leapfrogs) = (step, 3);
        // Rows that move together: any directions must work.
        tuning.trajectory.modes = Modes {
            functions: Mat::from_fn(2, ROWS, |r, n| (0.5 + (r * ROWS + 3 * n) as f64).sin()),
            coefficients: Mat::from_fn(2 * model.latent_dim(), 2, |i, k| 0.2 * (0.7 + (2 * i + 3 * k) as f64).sin()),
        };
        Configuration { name, model, moves, tuning, device: None, processes: 1 }
    }
}

/// A constructor of a family.
pub(crate) type Maker = fn() -> Arc<dyn Family>;

/// Every family with the priors it is tested with, and a leapfrog step size that is accepted about three times in four.
pub(crate) const FAMILIES: &[(Maker, f64)] = &[
    (gaussian, 0.4),
    (poisson, 0.3),
    (bernoulli, 0.7),
    (binomial, 0.5),
    (negative_binomial, 0.4),
    (multinomial, 0.5),
    (student_t, 0.12),
    (zero_inflated_poisson, 0.3),
    (zero_inflated_negative_binomial, 0.4),
    (ordinal, 0.5),
    (log_normal, 0.4),
    (isotropic, 0.4),
];

/// The step size of the stiffest block.
fn joint_step(model: &Model) -> f64 {
    let names = model.blocks().iter().map(|b| b.family.name());
    let steps = names.filter_map(|name| FAMILIES.iter().find(|(family, _)| family().name() == name));
    steps.map(|(_, step)| *step).fold(f64::INFINITY, f64::min)
}

/// The Gaussian family of all configurations, and that inside the isotropic one.
pub(crate) const GAUSSIAN: Gaussian = Gaussian::independent(3.0, 2.0);

fn gaussian() -> Arc<dyn Family> {
    Arc::new(GAUSSIAN)
}

fn pooled_gaussian() -> Arc<dyn Family> {
    Arc::new(Gaussian { noise: Noise::Pooled(POOL) })
}

fn isotropic() -> Arc<dyn Family> {
    Arc::new(Isotropic(GAUSSIAN))
}

fn poisson() -> Arc<dyn Family> {
    Arc::new(Poisson)
}

fn bernoulli() -> Arc<dyn Family> {
    Arc::new(Binomial::bernoulli())
}

fn binomial() -> Arc<dyn Family> {
    let trials = Mat::from_fn(ROWS, 3, |n, j| 1.0 + ((2 * n + j) % 5) as f64);
    Arc::new(Binomial::new(Trials::Each(trials)))
}

fn negative_binomial() -> Arc<dyn Family> {
    Arc::new(NegativeBinomial::shaped(2.0, 3.0, 2.0))
}

fn pooled_negative_binomial() -> Arc<dyn Family> {
    Arc::new(NegativeBinomial { prior: Dispersion::Pooled(DISPERSIONS) })
}

fn multinomial() -> Arc<dyn Family> {
    Arc::new(Multinomial)
}

fn student_t() -> Arc<dyn Family> {
    Arc::new(StudentT::new(STUDENT))
}

fn pooled_student_t() -> Arc<dyn Family> {
    Arc::new(StudentT::new(Student { noise: Noise::Pooled(POOL), dof: DOF }))
}

fn zero_inflated_poisson() -> Arc<dyn Family> {
    Arc::new(Generic(ZeroInflatedPoisson::default()))
}

fn zero_inflated_negative_binomial() -> Arc<dyn Family> {
    Arc::new(ZeroInflatedNegativeBinomial { counts: NegativeBinomial::shaped(2.0, 3.0, 2.0), ..Default::default() })
}

/// The prior of the logarithms of gaps between cut points.
pub(crate) const CUT_POINTS: Normal = Normal { mean: 0.2, sd: 0.8 };

fn ordinal() -> Arc<dyn Family> {
    Arc::new(Generic(Ordinal::new(4, CUT_POINTS).expect("few levels")))
}

fn log_normal() -> Arc<dyn Family> {
    Arc::new(LogNormal(GAUSSIAN))
}

/// Limits that differ between cells and leave most of them their values; some cells have none.
fn limits(columns: usize) -> Limits {
    let cell = |n: usize, j: usize| (2 * n + 3 * j) % 5;
    let lower = |n, j| if cell(n, j) < 3 { -0.9 + 0.5 * cell(n, j) as f64 } else { f64::NEG_INFINITY };
    let upper = |n, j| if cell(n, j) > 1 { 2.1 - 0.4 * cell(n, j) as f64 } else { f64::INFINITY };
    Limits { lower: Mat::from_fn(ROWS, columns, lower), upper: Mat::from_fn(ROWS, columns, upper) }
}

fn censored_gaussian() -> Arc<dyn Family> {
    Arc::new(Censored { gaussian: GAUSSIAN, is_logarithmic: false, limits: limits(3) })
}

fn censored_log_normal() -> Arc<dyn Family> {
    let Limits { lower, upper } = limits(3);
    let exp = |z: &Mat| Mat::from_fn(z.rows(), z.cols(), |n, j| z[(n, j)].exp());
    let limits = Limits { lower: exp(&lower), upper: exp(&upper) };
    Arc::new(Censored { gaussian: Gaussian { noise: Noise::Pooled(POOL) }, is_logarithmic: true, limits })
}

/// All configurations, in the order of the table.
pub fn all() -> Vec<Configuration> {
    let one = |family: Maker| Recipe::new(vec![(3, family())]);
    let mixed = || Recipe::new(vec![(2, gaussian()), (1, poisson()), (1, bernoulli()), (1, negative_binomial())]);
    // A multinomial that is neither first nor last, so that column indices in the block and in the model differ.
    let between = || Recipe::new(vec![(1, poisson()), (3, multinomial()), (1, gaussian())]);
    let alone = |&(family, _): &(Maker, f64)| {
        let name = family().name();
        [one(family).build(name), one(family).missing().build(format!("{name}-missing"))]
    };
    let others = vec![
        mixed().build("mixed"),
        mixed().missing().build("mixed-missing"),
        between().missing().offset().build("mixed-multinomial-missing-offset"),
        one(gaussian).offset().build("gaussian-offset"),
        one(gaussian).missing().offset().build("gaussian-missing-offset"),
        one(poisson).offset().build("poisson-offset"),
        one(negative_binomial).offset().build("negative-binomial-offset"),
        one(gaussian).rbf().build("gaussian-rbf"),
        one(poisson).rbf().build("poisson-rbf"),
        one(gaussian).learned_amplitude().build("gaussian-amplitude"),
        one(gaussian).learned_amplitude().missing().build("gaussian-amplitude-missing"),
        one(gaussian).shared_amplitude().build("gaussian-shared"),
        one(gaussian).shared_amplitude().missing().offset().build("gaussian-shared-missing-offset"),
        one(poisson).learned_amplitude().build("poisson-amplitude"),
        one(poisson).shared_amplitude().missing().build("poisson-shared-missing"),
        one(bernoulli).learned_amplitude().missing().build("bernoulli-amplitude-missing"),
        one(negative_binomial).learned_amplitude().build("negative-binomial-amplitude"),
        one(multinomial).learned_amplitude().build("multinomial-amplitude"),
        one(multinomial).shared_amplitude().missing().build("multinomial-shared-missing"),
        one(student_t).learned_amplitude().build("student-t-amplitude"),
        one(student_t).learned_amplitude().missing().offset().build("student-t-amplitude-missing-offset"),
        one(zero_inflated_poisson).shared_amplitude().build("zero-inflated-poisson-shared"),
        one(zero_inflated_negative_binomial).offset().build("zero-inflated-negative-binomial-offset"),
        one(ordinal).learned_amplitude().offset().build("ordinal-amplitude-offset"),
        one(log_normal).learned_amplitude().offset().build("log-normal-amplitude-offset"),
        one(log_normal).column_processes(TimeKernel::Matern12).build("log-normal-column-process"),
        one(censored_gaussian).build("censored-gaussian"),
        one(censored_gaussian).shared_amplitude().missing().offset().build("censored-gaussian-shared-missing-offset"),
        one(censored_gaussian).column_processes(TimeKernel::Matern32).build("censored-gaussian-column-process"),
        one(censored_log_normal).learned_amplitude().missing().build("censored-log-normal-amplitude-missing"),
        Recipe::new(vec![(1, ordinal()), (2, zero_inflated_negative_binomial()), (1, gaussian())])
            .missing()
            .build("mixed-ordinal-missing"),
        mixed().learned_amplitude().missing().build("mixed-amplitude-missing"),
        one(gaussian)
            .learned_amplitude()
            .timed(TimeKernel::Matern32, Form::StateSpace, false)
            .build("gaussian-amplitude-matern32"),
        one(student_t)
            .shared_amplitude()
            .missing()
            .timed(TimeKernel::Rbf, Form::Dense, false)
            .build("student-t-shared-rbf-missing"),
        one(poisson).covariates().build("poisson-covariates"),
        one(gaussian).covariates().shared_amplitude().build("gaussian-covariates-shared"),
        between().covariates().missing().build("mixed-covariates-missing"),
        one(gaussian).linear().build("gaussian-linear"),
        one(gaussian).linear().learned_amplitude().covariates().build("gaussian-linear-amplitude-covariates"),
        one(gaussian).linear().missing().build("gaussian-linear-missing"),
        one(poisson).linear().build("poisson-linear"),
        one(negative_binomial).linear().shared_amplitude().build("negative-binomial-linear-shared"),
        one(poisson).linear().relevance().build("poisson-linear-relevance"),
        one(poisson).linear().timed(TimeKernel::Matern32, Form::StateSpace, false).build("poisson-linear-matern32"),
        one(gaussian)
            .linear()
            .covariates()
            .missing()
            .timed(TimeKernel::Rbf, Form::Dense, false)
            .build("gaussian-linear-covariates-rbf-missing"),
        one(gaussian).relevance().build("gaussian-relevance"),
        one(negative_binomial).relevance().missing().build("negative-binomial-relevance-missing"),
        one(gaussian).metropolis().build("gaussian-metropolis"),
        one(poisson).metropolis().build("poisson-metropolis"),
        one(poisson).learned_amplitude().reckless().build("poisson-reckless"),
        one(gaussian).timed(TimeKernel::RandomWalk, Form::StateSpace, false).build("gaussian-wander-random-walk"),
        one(poisson)
            .missing()
            .timed(TimeKernel::IntegratedRandomWalk, Form::StateSpace, false)
            .build("poisson-wander-integrated-random-walk-missing"),
        one(bernoulli).timed(TimeKernel::Seasonal, Form::StateSpace, false).build("bernoulli-wander-seasonal"),
        one(negative_binomial)
            .timed(TimeKernel::RandomWalkSeasonal, Form::StateSpace, true)
            .build("negative-binomial-wander-random-walk-seasonal"),
        one(gaussian)
            .missing()
            .timed(TimeKernel::Matern32Seasonal, Form::StateSpace, false)
            .build("gaussian-wander-matern32-seasonal-missing"),
        one(poisson).timed(TimeKernel::RandomWalk, Form::Dense, false).build("poisson-wander-random-walk-dense"),
        one(gaussian)
            .timed(TimeKernel::IntegratedRandomWalkSeasonal, Form::Inducing, false)
            .build("gaussian-wander-integrated-random-walk-seasonal-inducing"),
        one(gaussian).column_processes(TimeKernel::Matern12).build("gaussian-column-process"),
        one(gaussian)
            .column_processes(TimeKernel::Matern32)
            .missing()
            .offset()
            .build("gaussian-column-process-missing-offset"),
        one(gaussian)
            .column_processes(TimeKernel::Matern12)
            .shared_amplitude()
            .missing()
            .build("gaussian-column-process-shared-missing"),
        one(isotropic).shared_amplitude().missing().offset().build("isotropic-shared-missing-offset"),
        one(isotropic)
            .learned_amplitude()
            .timed(TimeKernel::Matern32, Form::StateSpace, false)
            .build("isotropic-amplitude-matern32"),
        one(isotropic).column_processes(TimeKernel::Matern12).missing().build("isotropic-column-process-missing"),
        one(student_t).column_processes(TimeKernel::Matern32).missing().build("student-t-column-process-missing"),
        one(poisson).column_processes(TimeKernel::Matern32).missing().build("poisson-column-process-missing"),
        one(negative_binomial)
            .column_processes(TimeKernel::Matern12)
            .missing()
            .build("negative-binomial-column-process-missing"),
        one(bernoulli).column_processes(TimeKernel::Matern32).build("bernoulli-column-process"),
        one(zero_inflated_poisson).column_processes(TimeKernel::Matern12).build("zero-inflated-poisson-column-process"),
        one(zero_inflated_negative_binomial)
            .column_processes(TimeKernel::Matern12)
            .missing()
            .build("zero-inflated-negative-binomial-column-process-missing"),
        one(ordinal).column_processes(TimeKernel::Matern32).missing().build("ordinal-column-process-missing"),
        one(gaussian)
            .column_processes(TimeKernel::RandomWalk)
            .missing()
            .build("gaussian-column-process-random-walk-missing"),
        one(gaussian)
            .column_processes(TimeKernel::IntegratedRandomWalk)
            .build("gaussian-column-process-integrated-random-walk"),
        one(poisson).column_processes(TimeKernel::Seasonal).missing().build("poisson-column-process-seasonal-missing"),
        one(student_t)
            .column_processes(TimeKernel::RandomWalkSeasonal)
            .build("student-t-column-process-random-walk-seasonal"),
        between()
            .column_processes(TimeKernel::Matern32)
            .missing()
            .offset()
            .build("mixed-column-process-missing-offset"),
        one(gaussian)
            .column_processes(TimeKernel::Matern12)
            .linear()
            .covariates()
            .missing()
            .build("gaussian-linear-covariates-column-process-missing"),
        one(pooled_gaussian).rounded().build("gaussian-pooled"),
        one(pooled_gaussian).missing().rounded().build("gaussian-pooled-missing"),
        one(pooled_gaussian).learned_amplitude().missing().offset().build("gaussian-pooled-amplitude-missing-offset"),
        one(pooled_gaussian).shared_amplitude().build("gaussian-pooled-shared"),
        one(pooled_gaussian).timed(TimeKernel::Matern32, Form::StateSpace, false).build("gaussian-pooled-matern32"),
        one(pooled_gaussian)
            .column_processes(TimeKernel::Matern12)
            .missing()
            .build("gaussian-pooled-column-process-missing"),
        one(pooled_student_t).build("student-t-pooled"),
        one(pooled_student_t).missing().rounded().build("student-t-pooled-missing"),
        one(pooled_negative_binomial).build("negative-binomial-pooled"),
        one(pooled_negative_binomial).missing().offset().build("negative-binomial-pooled-missing-offset"),
        Recipe::new(vec![(1, pooled_gaussian()), (2, poisson())]).build("mixed-pooled-alone"),
        Recipe::new(vec![
            (2, pooled_gaussian()),
            (1, poisson()),
            (2, pooled_negative_binomial()),
            (2, pooled_student_t()),
        ])
        .missing()
        .build("mixed-pooled-missing"),
        // With more than sixteen columns a Poisson block moves some of its weights by another slice.
        Recipe { hurry: 0.6, ..Recipe::new(vec![(20, poisson())]) }.build("poisson-wide"),
    ];
    let mut all: Vec<Configuration> = FAMILIES.iter().flat_map(alone).chain(others).chain(timed()).collect();
    all.extend(on_device(&all, |model| Box::new(OnHost::new(model))));
    all.extend(on_device(&wide(), |model| Box::new(OnHost::new(model))).into_iter().map(divided));
    all
}

/// Tables with enough columns that two processes can share them. All columns together say little about a row: where they say much, data drawn given
/// the state hardly let it move.
pub fn wide() -> Vec<Configuration> {
    let little = HalfT { scale: 0.2, dof: 8.0 };
    let with = |recipe: Recipe, amplitude: Amplitude| {
        let mut recipe = Recipe { hurry: 1.2, ..recipe.missing() };
        recipe.spec.priors.amplitude = Some(amplitude);
        recipe
    };
    let mixed = vec![(50, pooled_negative_binomial()), (40, pooled_gaussian()), (4, multinomial()), (42, poisson())];
    let counts = Recipe::new(vec![(136, poisson())]).timed(TimeKernel::Matern32, Form::StateSpace, false).linear();
    vec![
        with(Recipe::new(mixed), Amplitude::Shared(little)).build("mixed-wide-shared-missing"),
        with(counts, Amplitude::Learned(little)).build("poisson-wide-linear-matern32-missing"),
    ]
}

/// The same with two processes.
pub fn divided(c: Configuration) -> Configuration {
    Configuration { name: format!("two-{}", c.name), processes: 2, ..c }
}

/// Those of the given configurations that a device can run, run there.
pub fn on_device(all: &[Configuration], open: Open) -> Vec<Configuration> {
    let of = |c: &Configuration| {
        let mut own = Configuration { name: format!("device-{}", c.name), device: Some(open), ..c.clone() };
        if own.tuning.reference.is_none() {
            own.tuning.reference = Tuning::guess_sampled(&c.model).reference;
            own.tuning.trajectory.step = joint_step(&c.model);
        }
        own
    };
    all.iter().filter(|c| device::supports(&c.model).is_ok()).map(of).collect()
}

/// Every family and a mixture of them × the representations of the paths × {complete, missing}.
fn timed() -> Vec<Configuration> {
    let forms = [
        ("rbf-dense", TimeKernel::Rbf, Form::Dense, false),
        ("matern32-state-space", TimeKernel::Matern32, Form::StateSpace, false),
        ("cauchy-inducing", TimeKernel::Cauchy, Form::Inducing, true),
    ];
    let mut all = Vec::new();
    for (form_name, kernel, form, trend) in forms {
        for missing in [false, true] {
            let with = |recipe: Recipe| {
                let recipe = recipe.timed(kernel, form, trend);
                if missing { recipe.missing() } else { recipe }
            };
            let suffix = if missing { "-missing" } else { "" };
            for (family, _) in FAMILIES {
                let name = family().name();
                all.push(with(Recipe::new(vec![(3, family())])).build(format!("{name}-{form_name}{suffix}")));
            }
            let mixed = Recipe::new(vec![(1, poisson()), (3, multinomial()), (1, gaussian())]).offset();
            all.push(with(mixed).build(format!("mixed-{form_name}{suffix}")));
        }
    }
    all
}

/// The configuration with this name.
pub fn named(name: &str) -> Option<Configuration> {
    all().into_iter().find(|c| c.name == name)
}
