//! The draws of a fit, and the questions that they answer.

use crate::array::{Array, array, matrix};
use crate::error::{in_python, raised, run, spec, store};
use crate::fit::{NewRows, embedding_arrays};
use crate::room::check_answer;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::draws::Source;
use rflvm::error::{RunError, SpecError};
use rflvm::linalg::Mat;
use rflvm::posterior::check::REPLICATES;
use rflvm::posterior::convergence::{Convergence, Outcome};
use rflvm::posterior::fitted::{DRAWS, Fitted};
use rflvm::posterior::forecast::NewTime;
use rflvm::posterior::frame::Frame;
use rflvm::posterior::kernel::{Curve, diameter};
use rflvm::posterior::predict::Points;
use rflvm::posterior::predicted::Predicted;
use rflvm::posterior::transform;
use rflvm::run::pool;
use rflvm_cli::check::report::Report;
use rflvm_cli::failure::Failure;
use rflvm_cli::fit::Fit;
use rflvm_cli::forecast::moments::{When, moments};
use rflvm_cli::forecast::offset;
use rflvm_cli::transform::draws::is_due;
use rflvm_cli::{drawn, kernel, summary};
use serde_json::{Value, json};
use std::sync::Arc;

/// Along an axis: its name, places, mean, 5% and 95% quantiles.
type Curves = Vec<(String, Array, Array, Array, Array)>;

/// Draws that are there, of which some chains are used.
#[pyclass(module = "rflvm._native", frozen)]
pub struct Drawn {
    fit: Arc<Fit>,
    drawn: drawn::Drawn,
    convergence: Convergence,
}

impl Drawn {
    /// The draws in the folder of a fit, which may be finished, stopped or still running.
    pub fn open(fit: Arc<Fit>) -> Result<Self, Failure> {
        let (drawn, convergence) = drawn::Drawn::judged(&fit)?;
        Ok(Drawn { fit, drawn, convergence })
    }

    /// Asks with the threads of the fit, while Python does other things. Each kind of question has the randomness that the program's
    /// command of that name has.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: &'static str,
        answer: impl FnOnce(&Fitted<'_>) -> Result<T, RunError> + Send,
    ) -> PyResult<T> {
        let pool = pool(&self.fit.settings).map_err(spec)?;
        self.fit.use_instructions();
        py.detach(|| pool.install(|| answer(&self.drawn.fitted(&self.fit, question)))).map_err(run)
    }

    /// Whether predictions of so many rows, and the array made of them, can be held.
    fn check_predicted(&self, rows: usize) -> PyResult<()> {
        check_answer(&[2, 5, rows, self.fit.model.columns()])
    }

    /// Whether so many tables can be held, and whether there are draws for them.
    fn check_tables(&self, count: usize, rows: usize) -> PyResult<()> {
        self.drawn.check_count(count).map_err(raised)?;
        check_answer(&[count, rows, self.fit.model.columns()])
    }

    /// mean, sd, q05, q50, q95 of each row and column, 5×N×J in the order of the table's columns.
    fn predicted(&self, py: Python<'_>, cells: &[Vec<Predicted>]) -> PyResult<Array> {
        let places = self.fit.places();
        let parts: [fn(&Predicted) -> f64; 5] =
            [|p| p.mean, |p| p.sd, |p| p.quantiles[0], |p| p.quantiles[1], |p| p.quantiles[2]];
        let rows = || cells.iter().flat_map(|row| places.iter().map(move |&j| &row[j]));
        let numbers = parts.iter().flat_map(|part| rows().map(part)).collect();
        array(py, numbers, &[parts.len(), cells.len(), places.len()])
    }

    /// Adds a table, its columns in the order of the user's.
    fn add(&self, table: &Mat, to: &mut Vec<f64>) {
        let places = self.fit.places();
        table.iter_rows().for_each(|row| to.extend(places.iter().map(|&j| row[j])));
    }

    /// Draws × rows × columns.
    fn tables(&self, py: Python<'_>, numbers: Vec<f64>, count: usize, rows: usize) -> PyResult<Array> {
        array(py, numbers, &[count, rows, self.fit.model.columns()])
    }

    /// Every `thin`-th draw of the used chains.
    fn chosen(&self, thin: usize) -> PyResult<(Vec<(usize, usize)>, usize)> {
        if thin == 0 {
            return Err(PyValueError::new_err("thin is 0, but it must be at least 1"));
        }
        let draws = self.drawn.store.size().map_err(store)?.1;
        let of = |&chain: &usize| (0..draws).step_by(thin).map(move |draw| (chain, draw));
        Ok((self.drawn.used.iter().flat_map(of).collect(), draws.div_ceil(thin)))
    }
}

#[pymethods]
impl Drawn {
    /// Chains, and draws of each.
    #[getter]
    fn size(&self) -> PyResult<(usize, usize)> {
        self.drawn.store.size().map_err(store)
    }

    /// The chains that are used; others sit in a lesser mode.
    #[getter]
    fn used(&self) -> Vec<usize> {
        self.drawn.used.clone()
    }

    /// Names of the arrays of a group.
    fn names(&self, group: &str) -> Vec<String> {
        self.drawn.store.names(group)
    }

    /// Every `thin`-th draw of an array such as `posterior/beta`: chains × draws × its own axes. Chains that are not used are left out.
    #[pyo3(signature = (name, *, thin=1))]
    fn draws(&self, py: Python<'_>, name: &str, thin: usize) -> PyResult<Array> {
        let (chosen, count) = self.chosen(thin)?;
        let mut shape = self.drawn.store.shape(name).map_err(store)?;
        (shape[0], shape[1]) = (self.drawn.used.len(), count);
        check_answer(&shape)?;
        let numbers = py
            .detach(|| {
                let mut cursor = self.drawn.store.cursor(name)?;
                let mut numbers = Vec::new();
                for (chain, draw) in chosen {
                    numbers.extend_from_slice(cursor.at(chain, draw)?);
                }
                Ok(numbers)
            })
            .map_err(store)?;
        array(py, numbers, &shape)
    }

    /// An array that does not grow, such as `observed_data/y`.
    fn fixed(&self, py: Python<'_>, name: &str) -> PyResult<Array> {
        array(py, self.drawn.store.fixed(name).map_err(store)?, &self.drawn.store.lengths(name).map_err(store)?)
    }

    /// Names of the axes of an array.
    fn dims(&self, name: &str) -> Vec<String> {
        self.drawn.store.dims(name)
    }

    /// The texts of a coordinate such as `posterior/feature`, or its numbers.
    fn coordinate(&self, name: &str) -> PyResult<Vec<String>> {
        if let Ok(texts) = self.drawn.store.texts(name) {
            return Ok(texts);
        }
        Ok(self.drawn.store.fixed(name).map_err(store)?.iter().map(f64::to_string).collect())
    }

    /// Positions of the rows in the common frame: chains × draws × N × D.
    #[pyo3(signature = (*, thin=1))]
    fn positions(&self, py: Python<'_>, thin: usize) -> PyResult<Array> {
        let (chosen, count) = self.chosen(thin)?;
        check_answer(&[chosen.len(), self.fit.model.rows(), self.fit.model.latent_dim()])?;
        let answer = |fitted: &Fitted<'_>| -> Result<(Vec<f64>, usize), RunError> {
            let (frame, mut numbers) = (fitted.frame()?, Vec::new());
            fitted.aligned(&frame, &chosen, |x| numbers.extend_from_slice(x.as_slice()))?;
            Ok((numbers, frame.axes()))
        };
        let (numbers, axes) = self.ask(py, "results", answer)?;
        array(py, numbers, &[self.drawn.used.len(), count, self.fit.model.rows(), axes])
    }

    /// Mean N×D and covariance N×D×D of the positions.
    fn embedding(&self, py: Python<'_>) -> PyResult<(Array, Array)> {
        let answer = |fitted: &Fitted<'_>| fitted.embedding(&fitted.frame()?);
        embedding_arrays(py, &self.ask(py, "results", answer)?)
    }

    /// What the program's `summary --json` tells, and how many draws of each chain should do where there are too few.
    fn diagnostics(&self, py: Python<'_>) -> PyResult<String> {
        let report = || summary::report(&self.fit.dir, &self.drawn.store, &self.convergence);
        let mut report = py.detach(report).map_err(raised)?;
        report["draws_advised"] = match self.convergence.outcome {
            Outcome::RunLonger { factor } => {
                json!((factor * self.convergence.draws as f64 / 100.0).ceil() as u64 * 100)
            }
            _ => Value::Null,
        };
        Ok(report.to_string())
    }

    /// What the program's `check --json` tells, with the columns by name and what small p-values suggest in Python's words.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let checks = self.ask(py, "check", |fitted| fitted.check(REPLICATES))?;
        let model = &self.fit.model;
        let mut report = Report { checks: &checks, model, convergence: &self.convergence }.as_json();
        for (line, check) in report["checks"].as_array_mut().into_iter().flatten().zip(&checks) {
            let columns = model.blocks()[check.block].columns.clone();
            line["names"] = columns.map(|j| self.fit.table.columns[model.order()[j]].as_str()).collect();
            line["suggests"] = line["suggests"].as_str().map(in_python).into();
        }
        Ok(report.to_string())
    }

    /// New rows: mean, covariance, share of the fit's rows that surprise less; and draws of the positions if asked for.
    #[pyo3(signature = (rows, *, draws=0))]
    fn transform(&self, py: Python<'_>, rows: &NewRows, draws: usize) -> PyResult<(Array, Array, Array, Array)> {
        let there = self.drawn.used.len() * self.size()?.1;
        if draws > 0 {
            self.drawn.check_count(draws).map_err(raised)?;
        }
        let visited = there.min(transform::DRAWS.max(draws));
        let mut kept: Vec<f64> = Vec::new();
        let (mut count, mut axes) = (0, 0);
        let answer = |fitted: &Fitted<'_>| {
            fitted.transform(&rows.new, visited, |i, x| {
                axes = x.cols();
                if is_due(i, count, visited, draws) {
                    kept.extend_from_slice(x.as_slice());
                    count += 1;
                }
            })
        };
        let found = self.ask(py, "transform", answer)?;
        let height = rows.new.model.rows();
        let (mean, covariance) = embedding_arrays(py, &found.embedding)?;
        Ok((mean, covariance, array(py, found.surprise, &[height])?, array(py, kept, &[count, height, axes])?))
    }

    /// ln p of each new row given the table.
    fn log_density(&self, py: Python<'_>, rows: &NewRows) -> PyResult<Array> {
        let found = self.ask(py, "transform", |fitted| fitted.ln_density(&rows.new, transform::DRAWS))?;
        array(py, found, &[rows.new.model.rows()])
    }

    /// What is expected of the cells of new rows: mean, sd, q05, q50, q95, 5×N×J.
    fn predict_new(&self, py: Python<'_>, rows: &NewRows) -> PyResult<Array> {
        self.check_predicted(rows.new.model.rows())?;
        let cells = self.ask(py, "transform", |fitted| fitted.predict_new(&rows.new, transform::DRAWS))?;
        self.predicted(py, &cells)
    }

    /// Tables of new rows, each from another draw: count×N×J.
    fn replicas_new(&self, py: Python<'_>, rows: &NewRows, count: usize) -> PyResult<Array> {
        self.check_tables(count, rows.new.model.rows())?;
        let mut numbers = Vec::new();
        let answer =
            |fitted: &Fitted<'_>| fitted.replicas_new(&rows.new, count, |_, drawn| self.add(drawn, &mut numbers));
        self.ask(py, "sample", answer)?;
        self.tables(py, numbers, count, rows.new.model.rows())
    }

    /// What is expected of rows of the table, seen again: 5×N×J.
    fn predict_rows(&self, py: Python<'_>, rows: Vec<usize>) -> PyResult<Array> {
        self.check_rows(&rows)?;
        self.check_predicted(rows.len())?;
        let cells = self.ask(py, "predict", |fitted| fitted.predict(Points::Rows(&rows), DRAWS))?;
        self.predicted(py, &cells)
    }

    /// Tables of rows, seen again, each from another draw: count×N×J.
    fn replicas_rows(&self, py: Python<'_>, rows: Vec<usize>, count: usize) -> PyResult<Array> {
        self.check_rows(&rows)?;
        self.replicas(py, count, rows.len(), |fitted, take| {
            fitted.replicas(Points::Rows(&rows), count, |_, table| {
                take(table);
                Ok(())
            })
        })
    }

    /// What is expected at places of the latent space: 5×K×J.
    fn predict_places(&self, py: Python<'_>, places: PyReadonlyArray2<'_, f64>) -> PyResult<Array> {
        let x = self.places(&places)?;
        self.check_predicted(x.rows())?;
        let offset = offset(&self.fit).unwrap_or(0.0);
        let answer = |fitted: &Fitted<'_>| {
            let frame = checked_frame(fitted, &x)?;
            fitted.predict(Points::Places { frame: &frame, x: &x, offset }, DRAWS)
        };
        let cells = self.ask(py, "predict", answer)?;
        self.predicted(py, &cells)
    }

    /// Missing cells: their rows, their columns, and mean, sd, q05, q50, q95, 5×cells.
    fn missing(&self, py: Python<'_>) -> PyResult<(Vec<usize>, Vec<usize>, Array)> {
        let mut cells = Vec::new();
        self.ask(py, "impute", |fitted| fitted.missing_cells(DRAWS, |cell| cells.push(cell)))?;
        let of = |part: &dyn Fn(&Predicted) -> f64| cells.iter().map(|c| part(&c.predicted)).collect::<Vec<f64>>();
        let quantile = |i: usize| of(&move |p: &Predicted| p.quantiles[i]);
        let numbers = [of(&|p| p.mean), of(&|p| p.sd), quantile(0), quantile(1), quantile(2)].concat();
        let order = self.fit.model.order();
        Ok((
            cells.iter().map(|cell| cell.row).collect(),
            cells.iter().map(|cell| order[cell.column]).collect(),
            array(py, numbers, &[5, cells.len()])?,
        ))
    }

    /// Completed tables, each from another draw: count×N×J.
    fn completed(&self, py: Python<'_>, count: usize) -> PyResult<Array> {
        self.check_tables(count, self.fit.model.rows())?;
        let mut numbers = Vec::new();
        let answer = |fitted: &Fitted<'_>| -> Result<(), RunError> {
            fitted.completed_tables(count, |_, table| {
                self.add(table, &mut numbers);
                Ok(())
            })
        };
        self.ask(py, "impute", answer)?;
        self.tables(py, numbers, count, self.fit.model.rows())
    }

    /// New times: as written, with their sequences, and 5×K×J; or `count` futures, count×K×J.
    #[pyo3(signature = (*, times=None, horizon=None, sequence=None, count=0))]
    fn forecast(
        &self,
        py: Python<'_>,
        times: Option<Vec<String>>,
        horizon: Option<usize>,
        sequence: Option<&str>,
        count: usize,
    ) -> PyResult<(Vec<String>, Vec<String>, Array)> {
        let Some(timeline) = &self.fit.timeline else {
            return Err(PyValueError::new_err(
                "the rows of this fit have no times, so there is nothing to forecast; fit again with times",
            ));
        };
        let when = match (times, horizon) {
            (Some(times), None) => {
                let parse = |time: &String| timeline.calendar.parse(time).map_err(PyValueError::new_err);
                When::At(times.iter().map(parse).collect::<PyResult<Vec<f64>>>()?)
            }
            (None, Some(steps)) => When::Beyond(steps),
            _ => return Err(PyValueError::new_err("give either times or a horizon, and not both")),
        };
        let offset = offset(&self.fit).unwrap_or(0.0);
        let moments: Vec<NewTime> = moments(when, sequence, timeline, offset).map_err(raised)?;
        let written = moments.iter().map(|m| timeline.calendar.format(m.time)).collect();
        let name = |m: &NewTime| timeline.names.get(m.sequence).cloned().unwrap_or_default();
        let sequences = moments.iter().map(name).collect();
        if count == 0 {
            self.check_predicted(moments.len())?;
            let cells = self.ask(py, "forecast", |fitted| fitted.forecast(&moments, DRAWS))?;
            return Ok((written, sequences, self.predicted(py, &cells)?));
        }
        self.check_tables(count, moments.len())?;
        let mut numbers = Vec::new();
        let answer = |fitted: &Fitted<'_>| -> Result<(), RunError> {
            fitted.futures(&moments, count, |_, table| {
                self.add(table, &mut numbers);
                Ok(())
            })
        };
        self.ask(py, "forecast", answer)?;
        Ok((written, sequences, self.tables(py, numbers, count, moments.len())?))
    }

    /// The kernel and its spectral density, along each axis and over all directions.
    fn kernel(&self, py: Python<'_>) -> PyResult<(Curves, Curves)> {
        let answer = |fitted: &Fitted<'_>| {
            let frame = fitted.frame()?;
            let reach = diameter(&fitted.embedding(&frame)?.mean);
            Ok((fitted.kernel(&frame, reach, DRAWS)?, frame.axes()))
        };
        let (learned, axes) = self.ask(py, "kernel", answer)?;
        let names: Vec<String> = (1..=axes).map(|d| format!("x{d}")).chain(["all".into()]).collect();
        let arrays = |curves: &[Curve]| -> PyResult<Curves> {
            let one = |(name, curve): (&String, &Curve)| {
                let put = |numbers: Vec<f64>| array(py, numbers, &[curve.at.len()]);
                let band = |i: usize| put(curve.band.iter().map(|b| b[i]).collect());
                Ok((name.clone(), put(curve.at.clone())?, put(curve.mean.clone())?, band(0)?, band(1)?))
            };
            names.iter().zip(curves).map(one).collect()
        };
        Ok((arrays(&learned.kernel)?, arrays(&learned.density)?))
    }

    /// Posterior mean and standard deviation of K(X, X) of some rows.
    fn covariance(&self, py: Python<'_>, rows: Vec<usize>) -> PyResult<(Array, Array)> {
        self.check_rows(&rows)?;
        kernel::check_rows(rows.len()).map_err(spec)?;
        let found = self.ask(py, "kernel", |fitted| fitted.covariance(&rows, DRAWS))?;
        Ok((matrix(py, &found.mean)?, matrix(py, &found.sd)?))
    }

    /// ln p of each cell (chains × draws × N × J, NaN where nothing is observed) or of each row, its position integrated out (chains × draws × N).
    #[pyo3(signature = (of, *, thin=1))]
    fn log_likelihood(&self, py: Python<'_>, of: &str, thin: usize) -> PyResult<Array> {
        let (chosen, count) = self.chosen(thin)?;
        let (mut numbers, model) = (Vec::new(), &self.fit.model);
        let mut shape = vec![self.drawn.used.len(), count, model.rows()];
        match of {
            "cell" => {
                shape.push(model.columns());
                check_answer(&shape)?;
                let answer = |fitted: &Fitted<'_>| fitted.ln_cells(&chosen, |_, pieces| self.add(pieces, &mut numbers));
                self.ask(py, "pointwise", answer)?;
            }
            "row" if self.fit.timeline.is_some() => {
                let sentence =
                    "rows with times are not independent given the parameters; ask for the log-likelihood of each cell";
                return Err(PyValueError::new_err(sentence));
            }
            "row" => {
                check_answer(&shape)?;
                let answer = |fitted: &Fitted<'_>| fitted.ln_rows(&chosen, |_, rows| numbers.extend_from_slice(rows));
                self.ask(py, "pointwise", answer)?;
            }
            _ => {
                return Err(PyValueError::new_err(format!(
                    "there is no log-likelihood of each '{of}'; known are cell and row"
                )));
            }
        }
        array(py, numbers, &shape)
    }
}

impl Drawn {
    fn check_rows(&self, rows: &[usize]) -> PyResult<()> {
        let all = self.fit.model.rows();
        match rows.iter().find(|&&n| n >= all) {
            Some(n) => Err(PyValueError::new_err(format!("row is {n}, but the rows of this fit are 0 to {}", all - 1))),
            None => Ok(()),
        }
    }

    fn places(&self, places: &PyReadonlyArray2<'_, f64>) -> PyResult<Mat> {
        let places = places.as_array();
        if let Some(bad) = places.iter().find(|v| !v.is_finite()) {
            return Err(PyValueError::new_err(format!("a position is {bad}, but positions are finite numbers")));
        }
        let (rows, columns) = places.dim();
        Ok(Mat::from_vec(rows, columns, places.iter().copied().collect()))
    }

    fn replicas(
        &self,
        py: Python<'_>,
        count: usize,
        rows: usize,
        answer: impl FnOnce(&Fitted<'_>, &mut (dyn FnMut(&Mat) + Send)) -> Result<(), RunError> + Send,
    ) -> PyResult<Array> {
        self.check_tables(count, rows)?;
        let mut numbers = Vec::new();
        self.ask(py, "predict", |fitted| answer(fitted, &mut |table| self.add(table, &mut numbers)))?;
        self.tables(py, numbers, count, rows)
    }
}

/// The frame, if places of so many axes can be in it.
fn checked_frame(fitted: &Fitted<'_>, x: &Mat) -> Result<Frame, RunError> {
    let frame = fitted.frame()?;
    if frame.axes() == x.cols() {
        return Ok(frame);
    }
    let rule = format!("the positions of this fit have {}; give as many", frame.axes());
    Err(SpecError::Setting { setting: "the number of axes of the places", value: x.cols().to_string(), rule }.into())
}
