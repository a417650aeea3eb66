//! What drives columns, and what sets groups of rows apart.

use crate::answers::Answers;
use crate::array::array;
use crate::error::{raised, spec};
use pyo3::prelude::*;
use pyo3::types::PyList;
use rflvm::run::pool;
use rflvm_study::answers::differences::{self, Asked};
use rflvm_study::answers::effects::{self, Direction, Place};
use rflvm_study::answers::grouping::Grouping;
use rflvm_study::answers::groups;
use rflvm_study::answers::{Answer, Values};
use rflvm_study::drawn::Drawn;
use rflvm_study::{Error, Fit};

/// A row, counted from 0, or coordinates.
#[derive(FromPyObject)]
enum Given {
    Row(usize),
    Point(Vec<f64>),
}

impl From<Given> for Place {
    fn from(given: Given) -> Self {
        match given {
            Given::Row(row) => Place::Row(row),
            Given::Point(x) => Place::Point(x),
        }
    }
}

/// The name of a column or a file, or one text per row.
#[derive(FromPyObject)]
enum Groups {
    Named(String),
    Texts(Vec<String>),
}

impl Groups {
    fn of(self, fit: &Fit) -> Result<Grouping, Error> {
        match self {
            Groups::Named(name) => Grouping::named(fit, &name),
            Groups::Texts(texts) => Ok(Grouping::of(&texts)?),
        }
    }
}

/// The columns of a frame, in order.
type Frame = Vec<(String, Py<PyAny>)>;

impl Answers {
    /// Computes an answer with the threads of the fit, with the GIL released.
    fn framed(
        &self,
        py: Python<'_>,
        answer: impl FnOnce(&Fit, &Drawn) -> Result<Answer, Error> + Send,
    ) -> PyResult<Frame> {
        let pool = pool(&self.fit.settings).map_err(spec)?;
        self.fit.use_instructions();
        let answer = py.detach(|| pool.install(|| answer(&self.fit, &self.drawn))).map_err(raised)?;
        let column = |column: rflvm_study::answers::Column| -> PyResult<(String, Py<PyAny>)> {
            let lines = column.len();
            let values = match column.values {
                Values::Numbers(values) => array(py, values, &[lines])?.into_any(),
                Values::Counts(values) => {
                    array(py, values.into_iter().map(|count| count as i64).collect(), &[lines])?.into_any()
                }
                Values::Texts(values) => PyList::new(py, values)?.into_any().unbind(),
                Values::Names { names, of } => {
                    PyList::new(py, of.into_iter().map(|i| names[i].as_str()))?.into_any().unbind()
                }
            };
            Ok((column.name, values))
        };
        answer.columns.into_iter().map(column).collect()
    }
}

#[pymethods]
impl Answers {
    /// Where the variance of each column comes from.
    fn variances(&self, py: Python<'_>) -> PyResult<Frame> {
        self.framed(py, effects::variance)
    }

    /// The gradient of each column along an axis, counted from 1, or towards a place.
    #[pyo3(signature = (*, along=None, towards=None, at=None))]
    fn gradients(
        &self,
        py: Python<'_>,
        along: Option<usize>,
        towards: Option<Given>,
        at: Option<Given>,
    ) -> PyResult<Frame> {
        let at = at.map(Place::from);
        let direction = match towards {
            Some(place) => Direction::Towards(place.into()),
            None => Direction::Axis(along.unwrap_or(1)),
        };
        self.framed(py, |fit, drawn| effects::gradient(fit, drawn, &direction, at.as_ref()))
    }

    /// How each column changes along a path.
    fn changes(&self, py: Python<'_>, path: Vec<Given>) -> PyResult<Frame> {
        let path: Vec<Place> = path.into_iter().map(Place::from).collect();
        self.framed(py, |fit, drawn| effects::change(fit, drawn, &path))
    }

    /// Which columns differ between groups of rows.
    #[pyo3(signature = (groups, *, between=None, size, fdr=None))]
    fn differences(
        &self,
        py: Python<'_>,
        groups: Groups,
        between: Option<(String, String)>,
        size: f64,
        fdr: Option<f64>,
    ) -> PyResult<Frame> {
        let answer = |fit: &Fit, drawn: &Drawn| {
            let groups = groups.of(fit)?;
            let pair = |(a, b): (String, String)| Ok::<_, Error>([groups.position(&a)?, groups.position(&b)?]);
            let between = between.map(pair).transpose()?;
            let found = differences::differences(fit, drawn, &Asked { groups, between, size, level: fdr })?;
            Ok(differences::columns(fit, &found))
        };
        self.framed(py, answer)
    }

    /// With which group each row is found; or of each group how sure it is.
    #[pyo3(signature = (groups, *, k, summary=false))]
    fn groups(&self, py: Python<'_>, groups: Groups, k: usize, summary: bool) -> PyResult<Frame> {
        let answer = |fit: &Fit, drawn: &Drawn| {
            let found = groups::groups(fit, drawn, groups.of(fit)?, k)?;
            Ok(if summary { found.summary() } else { found.rows(fit) })
        };
        self.framed(py, answer)
    }
}
