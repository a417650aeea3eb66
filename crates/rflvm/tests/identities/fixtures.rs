//! Small random models of every family, complete and with missing cells, and comparisons of numbers.

use rand::RngExt;
use rflvm::internal::dist::{normal, normals};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{
    Binomial, Censored, Column, Family, Gaussian, Generic, Isotropic, Limits, LogNormal, NegativeBinomial, Ordinal,
    StudentT, Trials, Unit, ZeroInflatedNegativeBinomial,
};
use rflvm::internal::model::latent::{Form, TimeKernel, TimeSpec};
use rflvm::internal::model::priors::{Dispersion, Dof, Gamma, Noise, Normal, Student};
use rflvm::internal::model::spectral::{Kernel, Mixture, Scales};
use rflvm::internal::model::{Amplitude, HalfT, Model, ModelSpec, Pool, Priors, State, joint};
use rflvm::internal::observations::{Observations, Offset, Times};
use rflvm::internal::rng::{Stream, StreamRng};
use rflvm::internal::{simulate, spec};
use std::sync::Arc;

pub const ROWS: usize = 6;
pub const FREQUENCIES: usize = 4;

pub use rflvm::internal::spec::FAMILIES;

pub const FIXED: Amplitude = Amplitude::Fixed(0.6);
pub const LEARNED: Amplitude = Amplitude::Learned(HALF_T);
pub const SHARED: Amplitude = Amplitude::Shared(HALF_T);
const HALF_T: HalfT = HalfT { scale: 0.8, dof: 6.0 };
pub const RBF: Kernel = Kernel::Rbf { length_scale: 1.3 };

/// The Student-t of all cases.
pub const STUDENT: StudentT =
    StudentT { prior: Student { noise: Noise::Independent(Gamma { shape: 1.6, rate: 0.5 }), dof: DOF } };
const DOF: Dof = Dof::Learned(Gamma { shape: 3.0, rate: 0.4 });

/// Where columns' noise is pooled.
pub const POOL: Pool = Pool { level: HalfT { scale: 0.9, dof: 7.0 }, spread: HalfT { scale: 0.7, dof: 9.0 } };
/// The families whose columns' noise can be pooled, with it.
pub const POOLED: [&str; 3] = ["gaussian, pooled", "student-t, pooled", "negative-binomial, pooled"];

/// A model with data drawn from it, and a state that is another draw from its prior.
pub struct Case {
    pub name: String,
    pub model: Model,
    pub state: State,
    pub rng: StreamRng,
}

/// What varies between cases besides the families.
#[derive(Clone)]
pub struct Setting {
    pub dim: usize,
    pub holes: bool,
    pub amplitude: Amplitude,
    pub kernel: Kernel,
    /// Whether, and how, rows have times.
    pub time: Option<TimeSpec>,
    /// Whether rows have two covariates, and the map a linear part.
    pub plain: bool,
    /// Kernel of column processes.
    pub column_process: Option<TimeKernel>,
}

pub fn setting(holes: bool, amplitude: Amplitude) -> Setting {
    let (kernel, time, column_process) = (Kernel::Learned(mixture()), None, None);
    Setting { dim: 2, holes, amplitude, kernel, time, plain: false, column_process }
}

/// The isotropic family of all cases.
pub const ISOTROPIC: Isotropic = Isotropic(Gaussian::independent(1.7, 0.4));

/// Nothing at its default, so that a formula that assumes a default fails.
pub fn mixture() -> Mixture {
    Mixture { lambda0: Some(1.7), scales: Scales::Equal(0.8), nu0: Some(5.5), alpha_shape: 2.5, alpha_rate: 0.7 }
}

/// Trials of a binomial cell; j is counted within its block.
pub fn trials(n: usize, j: usize) -> f64 {
    (1 + (3 * n + 2 * j) % 5) as f64
}

/// A family with priors other than its defaults, where it has any.
fn family(name: &str, columns: usize) -> Arc<dyn Family> {
    match name {
        "gaussian" => Arc::new(Gaussian::independent(1.7, 0.4)),
        "isotropic" => Arc::new(ISOTROPIC),
        "binomial" => Arc::new(Binomial::new(Trials::Each(Mat::from_fn(ROWS, columns, trials)))),
        "negative-binomial" => Arc::new(NegativeBinomial::shaped(1.3, 2.1, 0.8)),
        "student-t" => Arc::new(STUDENT),
        "zero-inflated-negative-binomial" => Arc::new(INFLATED),
        "ordinal" => Arc::new(Generic(ordinal())),
        "log-normal" => Arc::new(LogNormal(Gaussian::independent(1.7, 0.4))),
        "gaussian, censored" => Arc::new(censored(columns, false)),
        "log-normal, censored" => Arc::new(censored(columns, true)),
        "gaussian, pooled" => Arc::new(Gaussian { noise: Noise::Pooled(POOL) }),
        "student-t, pooled" => Arc::new(StudentT::new(Student { noise: Noise::Pooled(POOL), dof: DOF })),
        "negative-binomial, pooled" => Arc::new(NegativeBinomial { prior: Dispersion::Pooled(POOL) }),
        _ => spec::family(name, None).unwrap(),
    }
}

/// The zero-inflated negative binomial of all cases.
pub const INFLATED: ZeroInflatedNegativeBinomial = ZeroInflatedNegativeBinomial {
    counts: NegativeBinomial::shaped(1.3, 2.1, 0.8),
    prior: Normal { mean: -0.4, sd: 0.9 },
};

/// The families some of whose cells may lie beyond a limit.
pub const CENSORED: [&str; 2] = ["gaussian, censored", "log-normal, censored"];

/// The limits of all cases: cells have one, both or none.
pub fn censored(columns: usize, is_logarithmic: bool) -> Censored {
    let scale = |z: f64| if is_logarithmic { z.exp() } else { z };
    let lower = |n, j| scale(if (n + j) % 3 > 0 { -0.7 + 0.2 * n as f64 } else { f64::NEG_INFINITY });
    let upper = |n, j| scale(if (n + 2 * j) % 4 > 0 { 0.9 + 0.1 * j as f64 } else { f64::INFINITY });
    let limits = Limits { lower: Mat::from_fn(ROWS, columns, lower), upper: Mat::from_fn(ROWS, columns, upper) };
    Censored { gaussian: Gaussian::independent(1.7, 0.4), is_logarithmic, limits }
}

/// The ordinal of all cases.
pub fn ordinal() -> Ordinal {
    Ordinal::new(4, Normal { mean: 0.3, sd: 0.7 }).unwrap()
}

/// A block of a table: its columns and its family.
pub type Block = (Vec<usize>, Arc<dyn Family>);

/// Four columns of one family.
pub fn single(name: &str) -> Vec<Block> {
    vec![((0..4).collect(), family(name, 4))]
}

/// Several families whose columns are interleaved in the table.
pub fn mixed() -> Vec<Block> {
    let blocks = [
        ("gaussian", vec![4, 0]),
        ("multinomial", vec![7, 1, 9]),
        ("negative-binomial", vec![2]),
        ("poisson", vec![5, 10]),
        ("binomial", vec![8, 3]),
        ("student-t", vec![6]),
        ("isotropic", vec![12, 11]),
    ];
    blocks.into_iter().map(|(name, columns)| (columns.clone(), family(name, columns.len()))).collect()
}

/// Several more.
fn mixed_more() -> Vec<Block> {
    let blocks = [
        ("ordinal", vec![2]),
        ("zero-inflated-negative-binomial", vec![4, 0]),
        ("gaussian, censored", vec![1, 6]),
        ("log-normal", vec![5, 3]),
    ];
    blocks.into_iter().map(|(name, columns)| (columns.clone(), family(name, columns.len()))).collect()
}

/// A table that every family accepts, with missing cells: a multinomial row is missing as a whole, other cells one by one.
fn table(blocks: &[Block], holes: bool) -> Mat {
    let columns = blocks.iter().map(|b| b.0.len()).sum();
    let mut y = Mat::zeros(ROWS, columns);
    for (columns, family) in blocks {
        for n in 0..ROWS {
            let is_multinomial = family.is_whole();
            for &c in columns {
                let hole = if is_multinomial { n == 2 } else { (n + 2 * c) % 5 == 0 };
                y[(n, c)] = if holes && hole { f64::NAN } else { family.any_cell() };
            }
            if is_multinomial {
                // Totals that differ between rows; adding them to NaN changes nothing.
                y[(n, columns[0])] += (5 + n) as f64;
            }
        }
    }
    y
}

/// Data from the model, the first draw whose cells are neither nearly all zero nor all positive: such tables would let
/// a wrong formula pass.
fn telling_data(model: &Model, stream: Stream) -> Mat {
    let draw = |i: u64| {
        let truth = simulate::draw_prior(model, stream.named("truth").at(i)).unwrap();
        simulate::draw_data(model, &truth, stream.at(i))
    };
    let least: Vec<f64> = model.blocks().iter().flat_map(|b| b.columns.clone().map(|_| b.family.any_cell())).collect();
    let is_telling = |y: &Mat| {
        let above = y.iter_rows().flat_map(|row| row.iter().zip(&least)).filter(|(y, least)| y > least).count();
        let share = above as f64 / y.as_slice().len() as f64;
        (0.25..0.9).contains(&share)
    };
    (0..1000).map(draw).find(is_telling).unwrap()
}

/// The model of `blocks` with non-trivial offsets, centres and scales, and data drawn from it.
pub fn case(name: &str, blocks: Vec<Block>, setting: Setting, seed: u64) -> Case {
    let stream = Stream::new(seed).named(name);
    let mut rng = stream.named("fixture").rng();
    let offset = normals(ROWS, &mut rng).iter().map(|z| 0.4 * z).collect();
    let mut data = Observations::new(table(&blocks, setting.holes)).unwrap();
    if setting.time.is_some() {
        data = data.with_times(times()).unwrap();
    }
    if setting.plain {
        let covariates = Mat::from_vec(ROWS, 2, normals(2 * ROWS, &mut rng));
        data = data.with_covariates(covariates, vec!["batch".into(), "age".into()]).unwrap();
    }
    let spec = ModelSpec {
        latent_dim: setting.dim,
        features: 2 * FREQUENCIES,
        kernel: setting.kernel,
        linear: setting.plain,
        priors: Priors {
            amplitude: Some(setting.amplitude),
            intercept: 1.4,
            covariates: 0.7,
            linear: HalfT { scale: 0.6, dof: 5.0 },
            column_process: HALF_T,
            ..Priors::default()
        },
        time: setting.time.clone().unwrap_or_default(),
        column_process: setting.column_process,
    };
    let mut model = Model::with_blocks(data.with_offset(Offset::Given(offset)).unwrap(), blocks, spec).unwrap();
    // Rounding where columns are pooled, and not in all of them.
    let is_pooled = name.ends_with("pooled");
    let rounding = |j: usize| if is_pooled { 0.15 * (j % 3) as f64 } else { 0.0 };
    let unit = |j: usize, rng: &mut StreamRng| Unit {
        rounding: rounding(j),
        ..Unit::new(0.5 * normal(rng), rng.random_range(0.6..1.6))
    };
    model.set_units((0..model.columns()).map(|j| unit(j, &mut rng)).collect());
    model.set_values(&telling_data(&model, stream));
    assert_eq!(model.has_missing(), setting.holes);
    let state = simulate::draw_prior(&model, stream.named("state")).unwrap();
    let time = setting.time.map_or(String::new(), |time| format!(", {time:?}"));
    let plain = if setting.plain { ", plain columns" } else { "" };
    Case { name: format!("{name}, holes {}, {:?}{time}{plain}", setting.holes, setting.amplitude), model, state, rng }
}

/// Every family and the mixed table × {complete, missing} × {known, learned, shared amplitude}, and two with a known kernel;
/// some with covariates and a linear part.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for holes in [false, true] {
        for amplitude in [FIXED, LEARNED, SHARED] {
            for name in FAMILIES {
                cases.push(case(name, single(name), setting(holes, amplitude), 1));
            }
            cases.push(case("mixed", mixed(), setting(holes, amplitude), 1));
            cases.push(case("mixed, more", mixed_more(), setting(holes, amplitude), 1));
            for name in POOLED.into_iter().chain(CENSORED) {
                cases.push(case(name, single(name), setting(holes, amplitude), 1));
            }
        }
        for name in ["gaussian", "poisson"] {
            cases.push(case(name, single(name), Setting { kernel: RBF, ..setting(holes, FIXED) }, 2));
        }
        for amplitude in [FIXED, LEARNED, SHARED] {
            for name in ["gaussian", "poisson", "negative-binomial", "multinomial"] {
                cases.push(case(name, single(name), Setting { plain: true, ..setting(holes, amplitude) }, 4));
            }
            cases.push(case("mixed", mixed(), Setting { plain: true, ..setting(holes, amplitude) }, 4));
        }
    }
    cases
}

/// Two sequences, out of order, with a repeated time in one of them.
fn times() -> Times {
    Times { at: vec![2.5, 7.0, 2.5, 3.0, 4.0, 5.5], sequence: vec![3, 1, 3, 1, 3, 1] }
}

/// Every family and the mixed table × {complete, missing}, with rows in time in each representation.
pub fn timed_cases() -> Vec<Case> {
    let form = |kernel: TimeKernel, form, trend| TimeSpec {
        kernel,
        form,
        trend,
        inducing: 2,
        period: kernel.is_seasonal().then_some(1.3),
    };
    let mut cases = Vec::new();
    for holes in [false, true] {
        for time in [
            form(TimeKernel::Rbf, Form::Dense, false),
            form(TimeKernel::Matern32, Form::StateSpace, true),
            form(TimeKernel::Cauchy, Form::Inducing, true),
            form(TimeKernel::RandomWalk, Form::StateSpace, false),
            form(TimeKernel::IntegratedRandomWalkSeasonal, Form::StateSpace, true),
        ] {
            let setting = Setting { time: Some(time), ..setting(holes, FIXED) };
            for name in FAMILIES {
                cases.push(case(name, single(name), setting.clone(), 3));
            }
            cases.push(case("mixed", mixed(), setting.clone(), 3));
            for name in ["gaussian", "poisson"] {
                cases.push(case(name, single(name), Setting { plain: true, ..setting.clone() }, 5));
            }
        }
    }
    cases
}

/// Every family and the mixed table × {complete, missing}, with column processes.
pub fn column_process_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for holes in [false, true] {
        for kernel in [TimeKernel::Matern12, TimeKernel::Matern32] {
            let time = TimeSpec { kernel: TimeKernel::Matern52, ..TimeSpec::default() };
            let setting = Setting { time: Some(time), column_process: Some(kernel), ..setting(holes, FIXED) };
            for name in FAMILIES {
                cases.push(case(name, single(name), setting.clone(), 4));
            }
            for name in POOLED.into_iter().chain(CENSORED) {
                cases.push(case(name, single(name), setting.clone(), 4));
            }
            cases.push(case("mixed", mixed(), setting, 4));
        }
    }
    cases
}

/// The blocks of all cases with one of the given families, each as (case, block).
pub fn blocks_of(names: &[&str]) -> Vec<(Case, usize)> {
    let mut found = Vec::new();
    for case in cases() {
        if let Some(b) = case.model.blocks().iter().position(|block| names.contains(&block.family.name())) {
            found.push((case, b));
        }
    }
    assert!(found.len() >= 4, "cases of {names:?}");
    found
}

/// The joint log density.
pub fn ln_joint(model: &Model, state: &State) -> f64 {
    joint::ln_joint(model, state).unwrap()
}

/// The view of local column j of block b that the family's update gets.
pub fn in_column<T>(model: &Model, state: &State, b: usize, j: usize, look: impl FnOnce(&Column<'_>) -> T) -> T {
    let mut state = state.clone();
    look(&model.block_view(b, &mut state, 1.0).column(j, Stream::new(0)))
}

/// The state with randomly perturbed weights of column j (in the model's order).
pub fn with_moved_weights(model: &Model, state: &State, j: usize, rng: &mut StreamRng) -> State {
    let mut moved = state.clone();
    for m in 0..moved.beta.rows() {
        moved.beta[(m, j)] += 0.6 * normal(rng);
    }
    moved.refresh(model);
    moved
}

/// The state with other positions and frequencies.
pub fn with_features(model: &Model, state: &State, x: &Mat, w: &Mat) -> State {
    let mut moved = state.clone();
    moved.features.set(x.as_slice(), w.as_slice());
    moved.refresh(model);
    moved
}

/// A point near `at`.
pub fn near(at: &[f64], sd: f64, rng: &mut StreamRng) -> Vec<f64> {
    at.iter().map(|v| v + sd * normal(rng)).collect()
}

/// |a − b| relative to their magnitude, if that is above one.
pub fn gap(a: f64, b: f64) -> f64 {
    assert!(a.is_finite() && b.is_finite(), "{a} and {b}");
    (a - b).abs() / a.abs().max(b.abs()).max(1.0)
}

/// Two ways to compute the same number.
#[track_caller]
pub fn assert_same(a: f64, b: f64, what: &str) {
    assert!(gap(a, b) < 1e-8, "{what}: {a} instead of {b}, difference {:e}", a - b);
}

/// Derivative of f at x by the five-point rule: the error is of order step⁴, so a wide step keeps rounding small.
pub fn derivative(mut f: impl FnMut(f64) -> f64, x: f64) -> f64 {
    const STEP: f64 = 1e-3;
    (8.0 * (f(x + STEP) - f(x - STEP)) - (f(x + 2.0 * STEP) - f(x - 2.0 * STEP))) / (12.0 * STEP)
}

/// A derivative against its finite difference.
#[track_caller]
pub fn assert_slope(exact: f64, numerical: f64, what: &str) {
    assert!(gap(exact, numerical) < 1e-6, "{what}: slope {exact}, finite difference {numerical}");
}
