//! A fit in its folder, as Python holds it: made of a table in memory, or opened.

use crate::array::{Array, array, matrix};
use crate::ask::Drawn;
use crate::error::{raised, spec};
use crate::job::Job;
use crate::room::check_room;
use crate::values::Values;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::error::RunError;
use rflvm::linalg::Mat;
use rflvm::model::family::Trials;
use rflvm::posterior::align::Embedding;
use rflvm::posterior::transform::{self, row_key};
use rflvm::rng::Stream;
use rflvm::simulate;
use rflvm_cli::config::Config;
use rflvm_cli::failure::Failure;
use rflvm_cli::folder::Claim;
use rflvm_cli::identity::checkpoint;
use rflvm_cli::map::climb;
use rflvm_cli::table::Table;
use rflvm_cli::transform::rows::new_rows;
use rflvm_cli::voice::Voice;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Nothing on the terminal: what there is to say is said by Python.
const SILENT: Voice = Voice { json: false, quiet: true, verbose: false };

/// What messages call a table that has no file.
const NAME: &str = "X";

/// A fit with its settings and its table, checked.
#[pyclass(module = "rflvm._native", frozen)]
pub struct Fit {
    pub fit: Arc<rflvm_cli::fit::Fit>,
    /// The right to write into its folder, from when that is made ready until the run that takes it ends.
    claim: Mutex<Option<Claim>>,
}

impl Fit {
    fn of(fit: rflvm_cli::fit::Fit) -> Self {
        Fit { fit: Arc::new(fit), claim: Mutex::default() }
    }

    fn claimed(&self) -> PyResult<Claim> {
        let claim = self.claim.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        claim.map_or_else(|| Claim::take(&self.fit.dir).map_err(raised), Ok)
    }
}

/// A table as the program holds it.
fn table(
    values: &mut Values,
    columns: Vec<String>,
    named: bool,
    ids: Option<Vec<String>>,
    offset: Option<Vec<f64>>,
    times: Option<Vec<String>>,
    sequences: Option<Vec<String>>,
) -> PyResult<Table> {
    let (values, rows, width) = values.hand_over();
    if values.len() != rows * width {
        return Err(PyValueError::new_err("these values have been handed over already"));
    }
    let lengths = [
        ("the offset", offset.as_ref().map(Vec::len)),
        ("the list of row names", ids.as_ref().map(Vec::len)),
        ("the list of times", times.as_ref().map(Vec::len)),
        ("the list of sequences", sequences.as_ref().map(Vec::len)),
    ];
    for (what, length) in lengths {
        if let Some(length) = length.filter(|length| *length != rows) {
            return Err(PyValueError::new_err(format!("{what} has {length} entries, but the table has {rows} rows")));
        }
    }
    Ok(Table {
        path: NAME.into(),
        columns,
        ids: ids.unwrap_or_else(|| (1..=rows).map(|n| n.to_string()).collect()),
        offset,
        time: times,
        sequence: sequences,
        rows,
        values,
        named,
        ..Table::default()
    })
}

#[pymethods]
impl Fit {
    /// A new fit of a table into a folder; `settings` are those of config.toml, as JSON, and files that they name lie in `aside`. Nothing
    /// is written yet.
    #[new]
    #[pyo3(signature = (values, columns, named, settings, dir, aside, *, ids=None, offset=None, times=None, sequences=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        values: &Bound<'_, Values>,
        columns: Vec<String>,
        named: bool,
        settings: &str,
        dir: PathBuf,
        aside: PathBuf,
        ids: Option<Vec<String>>,
        offset: Option<Vec<f64>>,
        times: Option<Vec<String>>,
        sequences: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let config: Config = serde_json::from_str(settings).map_err(|e| PyValueError::new_err(e.to_string()))?;
        // What the folder says of the table: its store holds it.
        let config = Config { table: Some("draws.zarr".into()), ..config.filled() };
        let table = table(&mut values.borrow_mut(), columns, named, ids, offset, times, sequences)?;
        let fit = py.detach(|| rflvm_cli::fit::Fit::of(config, &aside, |_| Ok(table))).map_err(raised)?;
        // Its files go where the fit goes.
        let moved = |name: &PathBuf| dir.join(name.file_name().unwrap_or_default());
        let trials = fit.config.trials.as_ref().map(|t| match aside.join(t).is_file() {
            true => moved(&t.into()).to_string_lossy().into_owned(),
            false => t.clone(),
        });
        let config = Config { blocks: fit.config.blocks.as_ref().map(moved), trials, ..fit.config };
        Ok(Fit::of(rflvm_cli::fit::Fit { dir, config, ..fit }))
    }

    /// The fit that a folder holds, made by Python or by the program; with other `threads`, and to `draws` draws in all, if given.
    #[staticmethod]
    #[pyo3(signature = (dir, *, threads=None, draws=None))]
    fn open(py: Python<'_>, dir: PathBuf, threads: Option<usize>, draws: Option<u64>) -> PyResult<Self> {
        let change = |config: &mut Config| {
            config.run.threads = threads.or(config.run.threads);
            config.run.draws = draws.or(config.run.draws);
        };
        let fit = py.detach(|| rflvm_cli::fit::Fit::open(&dir, change)).map_err(raised)?;
        Ok(Fit::of(fit))
    }

    /// Makes the folder ready and keeps other runs out: an older fit in it is refused, or removed if that is asked for.
    fn claim(&self, py: Python<'_>, overwrite: bool) -> PyResult<()> {
        let claim = py.detach(|| self.fit.claim(overwrite)).map_err(raised)?;
        *self.claim.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(claim);
        Ok(())
    }

    /// Begins to sample.
    fn start(&self) -> PyResult<Job> {
        Ok(Job::start(Arc::clone(&self.fit), self.claimed()?, None))
    }

    /// Goes on from the last checkpoint, or begins where there is none.
    fn resume(&self, py: Python<'_>) -> PyResult<Job> {
        let claim = self.claimed()?;
        let from = py.detach(|| checkpoint(&self.fit)).map_err(raised)?;
        Ok(Job::start(Arc::clone(&self.fit), claim, from))
    }

    /// The draws so far.
    fn drawn(&self, py: Python<'_>) -> PyResult<Drawn> {
        py.detach(|| Drawn::open(Arc::clone(&self.fit))).map_err(raised)
    }

    /// Rows that the fit has not seen, with what goes with them: a number or a file of trials, offsets, times, sequences.
    #[pyo3(signature = (values, *, trials=None, offset=None, times=None, sequences=None))]
    fn new_rows(
        &self,
        values: &Bound<'_, Values>,
        trials: Option<&str>,
        offset: Option<Vec<f64>>,
        times: Option<Vec<String>>,
        sequences: Option<Vec<String>>,
    ) -> PyResult<NewRows> {
        let fit = &self.fit;
        if offset.is_none() && fit.config.offset_column().is_some() {
            return Err(PyValueError::new_err("the rows of this fit have offsets; give the new rows theirs"));
        }
        if times.is_some() && fit.timeline.is_none() {
            let sentence = "times are given for the new rows, but the rows of this fit have no times; leave them out";
            return Err(PyValueError::new_err(sentence));
        }
        let (values, columns) = (&mut values.borrow_mut(), fit.table.columns.clone());
        let mut table = table(values, columns, fit.table.named, None, offset, times, sequences)?;
        if table.columns.len() * table.rows != table.values.len() {
            let (found, expected) = (table.values.len() / table.rows.max(1), table.columns.len());
            return Err(PyValueError::new_err(format!(
                "the new rows have {found} columns, but the fit has {expected}"
            )));
        }
        Ok(NewRows { new: new_rows(&mut table, trials, fit, SILENT).map_err(raised)? })
    }

    /// The maximum of the posterior: mean N×D and covariance N×D×D of the positions, and what was reached, as JSON.
    #[pyo3(signature = (*, starts=3))]
    fn map(&self, py: Python<'_>, starts: usize) -> PyResult<(Array, Array, (f64, f64, bool))> {
        let (point, spread) = py.detach(|| climb(&self.fit, starts)).map_err(raised)?;
        let (embedding, _) = Embedding::of_point(point.state.features.x(), &spread);
        let (mean, covariance) = embedding_arrays(py, &embedding)?;
        Ok((mean, covariance, (point.ln_joint, point.ln_likelihood, point.converged)))
    }

    /// The table that is fitted, in the order of its own columns.
    fn table(&self, py: Python<'_>) -> PyResult<Array> {
        let (y, places) = (self.fit.model.y(), self.fit.places());
        matrix(py, &Mat::from_fn(y.rows(), y.cols(), |n, j| y[(n, places[j])]))
    }

    /// For each of some rows its place in the table, the first if there are several; -1 if it is not there.
    fn known(&self, py: Python<'_>, values: &Bound<'_, Values>) -> Vec<i64> {
        let held = values.borrow();
        let values: &Values = &held;
        let (model, places) = (&self.fit.model, self.fit.places());
        py.detach(|| {
            let mut rows: HashMap<[u64; 2], i64> = HashMap::new();
            for n in 0..model.rows() {
                rows.entry(row_key(places.iter().map(|&j| &model.y()[(n, j)]))).or_insert(n as i64);
            }
            values.rows().map(|row| rows.get(&row_key(row)).copied().unwrap_or(-1)).collect()
        })
    }

    /// o_n of each row.
    fn offset(&self, py: Python<'_>) -> PyResult<Array> {
        array(py, self.fit.model.offset().to_vec(), &[self.fit.model.rows()])
    }

    /// The folder.
    #[getter]
    fn dir(&self) -> PathBuf {
        self.fit.dir.clone()
    }

    /// Names of the columns, in the order of the table.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.fit.table.columns.clone()
    }

    /// Whether the table named its columns.
    #[getter]
    fn named(&self) -> bool {
        self.fit.table.named
    }

    /// The family of each column, in the order of the table.
    #[getter]
    fn families(&self) -> Vec<&'static str> {
        let mut names = vec![""; self.fit.model.columns()];
        for block in self.fit.model.blocks() {
            block.columns.clone().for_each(|j| names[self.fit.model.order()[j]] = block.family.name());
        }
        names
    }

    /// Names of the rows.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.fit.table.ids.clone()
    }

    /// Labels of the rows, where the table has some.
    #[getter]
    fn labels(&self) -> Option<Vec<String>> {
        self.fit.table.labels.clone()
    }

    /// Times of the rows, as they were given.
    #[getter]
    fn times(&self) -> Option<Vec<String>> {
        self.fit.table.time.clone()
    }

    /// Times of the rows as numbers, and what these are counted in where they are dates.
    #[getter]
    fn timeline(&self) -> Option<(Vec<f64>, Option<String>)> {
        self.fit.timeline.as_ref().map(|timeline| (timeline.times.at.clone(), timeline.calendar.units()))
    }

    /// Sequences of the rows.
    #[getter]
    fn sequences(&self) -> Option<Vec<String>> {
        self.fit.table.sequence.clone()
    }

    /// What may spoil the result.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.fit.model.warnings().to_vec()
    }

    /// The settings of the fit, as JSON.
    fn settings(&self) -> PyResult<String> {
        serde_json::to_string(&self.fit.config).map_err(|e| PyValueError::new_err(e.to_string()))
    }
}

/// Rows that the fit has not seen, checked.
#[pyclass(module = "rflvm._native", frozen)]
pub struct NewRows {
    pub new: transform::NewRows,
}

/// Mean N×D and covariance N×D×D.
pub fn embedding_arrays(py: Python<'_>, embedding: &Embedding) -> PyResult<(Array, Array)> {
    let (rows, dim) = (embedding.mean.rows(), embedding.mean.cols());
    let covariance = embedding.covariance.iter().flat_map(|c| c.as_slice()).copied().collect();
    Ok((matrix(py, &embedding.mean)?, array(py, covariance, &[rows, dim, dim])?))
}

/// The S-curve of the paper, as the program's `simulate` makes it: the table N×J, the truth N×2, and the place along the S.
#[pyfunction]
#[pyo3(signature = (rows, columns, likelihood, *, trials=None, seed=1))]
pub fn s_curve(
    py: Python<'_>,
    rows: usize,
    columns: usize,
    likelihood: &str,
    trials: Option<u32>,
    seed: u64,
) -> PyResult<(Array, Array, Array)> {
    if rows < 2 || columns < 2 {
        return Err(PyValueError::new_err(format!(
            "an S-curve of {rows} rows × {columns} columns has too few; it must have at least 2 of each"
        )));
    }
    // The positions, the functions and the table are held at once.
    check_room(rows, columns.saturating_mul(3))?;
    let has_trials = rflvm::spec::about(likelihood).map_err(spec)?.cells.have_trials();
    let own = has_trials.then(|| Trials::Same(trials.unwrap_or(1)));
    let family = rflvm::spec::family(likelihood, own).map_err(spec)?;
    let stream = Stream::new(seed).named("simulate");
    let broken = |source| raised(Failure::Run(RunError::Numerical { chain: 0, sweep: 0, source }));
    let draw = || simulate::example(rows, columns, family.as_ref(), trials.unwrap_or(100), stream);
    let (curve, _) = py.detach(draw).map_err(broken)?;
    Ok((matrix(py, &curve.y)?, matrix(py, &curve.x)?, array(py, curve.t, &[rows])?))
}
