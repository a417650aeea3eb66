//! What drives columns, and what sets groups of rows apart.

use crate::answers::{Answers, Columns};
use pyo3::prelude::*;
use rflvm_study::answers::differences::{self, Asked};
use rflvm_study::answers::effects::{self, Direction, Place};
use rflvm_study::answers::grouping::Grouping;
use rflvm_study::answers::{Answer, groups};
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

#[pymethods]
impl Answers {
    /// Where the variance of each column comes from.
    fn variances(&self, py: Python<'_>) -> PyResult<Columns> {
        Ok(Columns(self.query(py, effects::variance)?))
    }

    /// The gradient of each column along an axis, counted from 1, or towards a place.
    #[pyo3(signature = (*, along=None, towards=None, at=None))]
    fn gradients(
        &self,
        py: Python<'_>,
        along: Option<usize>,
        towards: Option<Given>,
        at: Option<Given>,
    ) -> PyResult<Columns> {
        let at = at.map(Place::from);
        let direction = match towards {
            Some(place) => Direction::Towards(place.into()),
            None => Direction::Axis(along.unwrap_or(1)),
        };
        Ok(Columns(self.query(py, |fit, drawn| effects::gradient(fit, drawn, &direction, at.as_ref()))?))
    }

    /// How each column changes along a path.
    fn changes(&self, py: Python<'_>, path: Vec<Given>) -> PyResult<Columns> {
        let path: Vec<Place> = path.into_iter().map(Place::from).collect();
        Ok(Columns(self.query(py, |fit, drawn| effects::change(fit, drawn, &path))?))
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
    ) -> PyResult<Columns> {
        let answer = |fit: &Fit, drawn: &Drawn| -> Result<Answer, Error> {
            let groups = groups.of(fit)?;
            let pair = |(a, b): (String, String)| Ok::<_, Error>([groups.position(&a)?, groups.position(&b)?]);
            let between = between.map(pair).transpose()?;
            let found = differences::differences(fit, drawn, &Asked { groups, between, size, level: fdr })?;
            Ok(differences::columns(fit, &found))
        };
        Ok(Columns(self.query(py, answer)?))
    }

    /// With which group each row is found; or of each group how sure it is.
    #[pyo3(signature = (groups, *, k, summary=false))]
    fn groups(&self, py: Python<'_>, groups: Groups, k: usize, summary: bool) -> PyResult<Columns> {
        let answer = |fit: &Fit, drawn: &Drawn| -> Result<Answer, Error> {
            let found = groups::groups(fit, drawn, groups.of(fit)?, k)?;
            Ok(if summary { found.summary() } else { found.rows(fit) })
        };
        Ok(Columns(self.query(py, answer)?))
    }
}
