//! A fit in its folder, as Python holds it: created from a table in memory, or opened.

use crate::answers::Answers;
use crate::array::{Array, array, embedding_arrays, matrix};
use crate::coordinator::Coordinator;
use crate::error::raised;
use crate::job::Job;
use crate::rows::{Known, NewRows, mat, table};
use crate::values::Values;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rflvm::internal::identity::Identity;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::align::Embedding;
use rflvm::internal::posterior::transform::row_key;
use rflvm_study::blocks::Given;
use rflvm_study::column_families::ColumnFamilies;
use rflvm_study::folder::FolderLock;
use rflvm_study::identity::{checkpoint, is_kept};
use rflvm_study::new_rows::{NewTrials, own_rows};
use rflvm_study::point::point;
use rflvm_study::{Config, coordinator, segment};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// A fit with its settings and its table, checked.
#[pyclass(module = "rflvm._native", frozen)]
pub struct Fit {
    pub fit: Arc<rflvm_study::Fit>,
    /// The right to write into its folder, held from its preparation until the run that takes it ends.
    lock: Mutex<Option<FolderLock>>,
    /// Determined when it is needed: all cells enter it.
    identity: OnceLock<Identity>,
}

impl Fit {
    fn of(fit: rflvm_study::Fit) -> Self {
        Fit { fit: Arc::new(fit), lock: Mutex::default(), identity: OnceLock::new() }
    }

    fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| self.fit.identity())
    }

    fn locked(&self) -> PyResult<FolderLock> {
        let lock = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        lock.map_or_else(|| FolderLock::take(&self.fit.dir).map_err(raised), Ok)
    }
}

#[pymethods]
impl Fit {
    /// A new fit of a table into a folder. `settings` are those of config.toml, as JSON; `families` are (column, family, trials or levels, block), and
    /// `trials` one number per cell, if the settings do not name them. Nothing is written yet.
    #[new]
    #[pyo3(signature = (values, columns, named, settings, dir, *, families=None, trials=None, ids=None, offset=None, times=None, sequences=None, covariates=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        values: &Bound<'_, Values>,
        columns: Vec<String>,
        named: bool,
        settings: &str,
        dir: PathBuf,
        families: Option<Vec<[String; 4]>>,
        trials: Option<PyReadonlyArray2<'_, f64>>,
        ids: Option<Vec<String>>,
        offset: Option<Vec<f64>>,
        times: Option<Vec<String>>,
        sequences: Option<Vec<String>>,
        covariates: Option<Vec<Vec<String>>>,
    ) -> PyResult<Self> {
        let config: Config = serde_json::from_str(settings).map_err(|e| PyValueError::new_err(e.to_string()))?;
        // The folder's config.toml names the store, which holds the table.
        let config = Config { table: Some("draws.zarr".into()), ..config.filled() };
        let column_families =
            families.map(|lines| ColumnFamilies::of("likelihood", lines)).transpose().map_err(raised)?;
        let given = Given { column_families, trials: trials.as_ref().map(mat) };
        let known = Known { ids, offset, times, sequences, covariates };
        let table = table(&mut values.borrow_mut(), columns, named, known)?;
        let fit = py.detach(|| rflvm_study::Fit::of(config, given, &dir, |_| Ok(table))).map_err(raised)?;
        Ok(Fit::of(fit))
    }

    /// The fit in a folder, created by Python or by the program; with other `threads`, and up to `draws` draws in all, if given, or to be drawn
    /// from again after `warmup` sweeps more of warm-up.
    #[staticmethod]
    #[pyo3(signature = (dir, *, threads=None, draws=None, warmup=None))]
    fn open(
        py: Python<'_>,
        dir: PathBuf,
        threads: Option<usize>,
        draws: Option<u64>,
        warmup: Option<u64>,
    ) -> PyResult<Self> {
        let change = |config: &mut Config| {
            config.compute.threads = threads.or(config.compute.threads);
            config.sampling.draws = draws.filter(|_| warmup.is_none()).or(config.sampling.draws);
        };
        let opened = || {
            let mut fit = rflvm_study::Fit::open(&dir, change)?;
            if let Some(sweeps) = warmup {
                let from = checkpoint(&fit)?;
                fit.warm_again(sweeps, draws, from.as_ref())?;
            }
            Ok(fit)
        };
        Ok(Fit::of(py.detach(opened).map_err(raised)?))
    }

    /// Prepares the folder and locks out other runs: an older fit in it is an error, or is removed with `overwrite`.
    fn lock(&self, py: Python<'_>, overwrite: bool) -> PyResult<()> {
        let lock = py.detach(|| self.fit.lock(overwrite)).map_err(raised)?;
        *self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(lock);
        Ok(())
    }

    /// All that its draws depend on, except how many there are.
    fn origin(&self, py: Python<'_>) -> String {
        py.detach(|| Identity { draws: 0, ..self.identity().clone() }.digest())
    }

    /// Whether its folder still holds this fit.
    fn is_kept(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| is_kept(&self.fit.dir, self.identity())).map_err(raised)
    }

    /// Starts to sample.
    fn start(&self) -> PyResult<Job> {
        Ok(Job::start(Arc::clone(&self.fit), self.locked()?, None))
    }

    /// Continues from the last checkpoint, or starts if there is none.
    fn resume(&self, py: Python<'_>) -> PyResult<Job> {
        let lock = self.locked()?;
        let from = py.detach(|| checkpoint(&self.fit)).map_err(raised)?;
        Ok(Job::start(Arc::clone(&self.fit), lock, from))
    }

    /// Prepares a run whose chains are advanced by workers: from the last checkpoint with `resume`, if there is one.
    fn coordinator(&self, py: Python<'_>, resume: bool) -> PyResult<Coordinator> {
        let lock = self.locked()?;
        let prepare = || {
            let from = if resume { checkpoint(&self.fit)? } else { None };
            coordinator::Coordinator::new(Arc::clone(&self.fit), lock, from)
        };
        Ok(Coordinator::of(py.detach(prepare).map_err(raised)?))
    }

    /// Starts all chains of such a run, as a worker.
    fn start_chains<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Bound<'py, PyBytes>> {
        let message = py.detach(|| segment::start(&self.fit, threads)).map_err(raised)?;
        Ok(PyBytes::new(py, &message))
    }

    /// Continues a chain of such a run for about some seconds, as a worker.
    fn segment<'py>(
        &self,
        py: Python<'py>,
        chain: usize,
        message: &[u8],
        threads: usize,
        seconds: f64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let time = Duration::try_from_secs_f64(seconds.clamp(0.0, 1e9)).unwrap_or_default();
        let message = py.detach(|| segment::run(&self.fit, chain, message, threads, time)).map_err(raised)?;
        Ok(PyBytes::new(py, &message))
    }

    /// The draws so far.
    fn drawn(&self, py: Python<'_>) -> PyResult<Answers> {
        py.detach(|| Answers::open(Arc::clone(&self.fit))).map_err(raised)
    }

    /// New rows, with their trials (a number or one per cell), offsets, times, sequences and covariates.
    #[pyo3(signature = (values, *, trials=None, trials_of_cells=None, offset=None, times=None, sequences=None, covariates=None))]
    #[allow(clippy::too_many_arguments)]
    fn new_rows(
        &self,
        values: &Bound<'_, Values>,
        trials: Option<u32>,
        trials_of_cells: Option<PyReadonlyArray2<'_, f64>>,
        offset: Option<Vec<f64>>,
        times: Option<Vec<String>>,
        sequences: Option<Vec<String>>,
        covariates: Option<Vec<Vec<String>>>,
    ) -> PyResult<NewRows> {
        let trials = match (trials, trials_of_cells) {
            (_, Some(cells)) => NewTrials::Cells(mat(&cells)),
            (Some(number), None) => NewTrials::Named(number.to_string()),
            (None, None) => NewTrials::AsFit,
        };
        NewRows::of(&self.fit, values, trials, Known { ids: None, offset, times, sequences, covariates })
    }

    /// The maximum of the posterior: mean N×D and covariance N×D×D of the positions, and details as JSON.
    #[pyo3(signature = (*, starts=3))]
    fn map(&self, py: Python<'_>, starts: usize) -> PyResult<(Array, Array, (f64, f64, bool))> {
        let (found, spread) = py.detach(|| point(&self.fit, starts)).map_err(raised)?;
        let (embedding, _) = Embedding::of_point(found.state.features.x(), &spread);
        let (mean, covariance) = embedding_arrays(py, &embedding)?;
        Ok((mean, covariance, (found.ln_joint, found.ln_likelihood, found.converged)))
    }

    /// The fitted table, with its own order of columns.
    fn table(&self, py: Python<'_>) -> PyResult<Array> {
        let (y, places) = (self.fit.model.y(), self.fit.places());
        matrix(py, &Mat::from_fn(y.rows(), y.cols(), |n, j| y[(n, places[j])]))
    }

    /// For each of some rows its position in the table, the first if there are several; -1 if it is not found.
    fn known(&self, py: Python<'_>, values: &Bound<'_, Values>) -> Vec<i64> {
        let held = values.borrow();
        let values: &Values = &held;
        let order = self.fit.model.order();
        py.detach(|| {
            let key = |row: &[f64]| row_key(order.iter().map(|&j| &row[j]));
            let own = own_rows(&self.fit, values.rows().map(key));
            own.into_iter().map(|own| own.map_or(-1, |own| own as i64)).collect()
        })
    }

    /// The offset of each row.
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

    /// Labels of the rows, if the table has any.
    #[getter]
    fn labels(&self) -> Option<Vec<String>> {
        self.fit.table.labels.clone()
    }

    /// Times of the rows, as given.
    #[getter]
    fn times(&self) -> Option<Vec<String>> {
        self.fit.table.time.clone()
    }

    /// Times of the rows as numbers, and their unit if they are dates.
    #[getter]
    fn timeline(&self) -> Option<(Vec<f64>, Option<String>)> {
        self.fit.timeline.as_ref().map(|timeline| (timeline.times.at.clone(), timeline.calendar.units()))
    }

    /// Sequences of the rows.
    #[getter]
    fn sequences(&self) -> Option<Vec<String>> {
        self.fit.table.sequence.clone()
    }

    /// Covariates of the rows as given, one after the other.
    #[getter]
    fn covariates(&self) -> Vec<Vec<String>> {
        self.fit.table.covariates.clone()
    }

    /// Warnings about the results.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.fit.model.warnings().to_vec()
    }

    /// The settings of the fit, as JSON.
    fn settings(&self) -> PyResult<String> {
        serde_json::to_string(&self.fit.saved).map_err(|e| PyValueError::new_err(e.to_string()))
    }
}
