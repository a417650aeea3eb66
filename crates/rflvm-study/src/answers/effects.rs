//! What drives the columns: where their variance comes from, their gradients in the latent space, and how they change along a path.

use super::{Answer, Column, OF_COLUMN, OF_LINK};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::change::Change;
use rflvm::internal::posterior::effects::{Effect, Source};
use rflvm::internal::posterior::fitted::{DRAWS, Fitted};
use rflvm::internal::posterior::frame::Frame;
use rflvm::internal::posterior::summary::Summary;

/// The random stream: nothing is random, but a fit's draws are asked under a name.
const STREAM: &str = "effects";
/// The points of a path, and of each of its straight pieces.
const STEPS: usize = 20;

/// A position in the latent space.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// That of a row, its posterior mean.
    Row(usize),
    /// Coordinates along the axes of `embedding.csv`.
    Point(Vec<f64>),
}

/// In which direction a gradient is taken.
#[derive(Debug, Clone, PartialEq)]
pub enum Direction {
    /// An axis, counted from 1.
    Axis(usize),
    /// Towards a position, from the one where the gradient is.
    Towards(Place),
}

/// `source,column,variance,sd,q05,q95,share,share_sd,share_q05,share_q95`: source by source, columns in the order of the table.
pub fn variance(fit: &Fit, drawn: &Drawn) -> Result<Answer, Error> {
    let fitted = drawn.fitted(fit, STREAM);
    let covariates = fit.covariates.places();
    let ranges: Vec<_> = covariates.iter().map(|(_, range)| range.clone()).collect();
    let mut effects = fitted.effects(&fitted.frame()?, &ranges, DRAWS)?;
    let order = fit.model.order();
    let names: Vec<&str> = covariates.iter().map(|(name, _)| *name).collect();
    let mut sources: Vec<Source> = Vec::new();
    for effect in &effects {
        if sources.last() != Some(&effect.source) {
            sources.push(effect.source);
        }
    }
    let place = |source: Source| sources.iter().position(|own| *own == source).unwrap_or(0);
    effects.sort_by_key(|effect| (place(effect.source), order[effect.column]));
    let number =
        |name: &str, unit, of: &dyn Fn(&Effect) -> f64| Column::numbers(name, unit, effects.iter().map(of).collect());
    Ok(Answer {
        columns: vec![
            Column::names(
                "source",
                sources.iter().map(|source| name_of(*source, &names)).collect(),
                effects.iter().map(|effect| place(effect.source)).collect(),
            ),
            Column::names(
                "column",
                fit.table.columns.clone(),
                effects.iter().map(|effect| order[effect.column]).collect(),
            ),
            number("variance", OF_LINK, &|e| e.variance.mean),
            number("sd", OF_LINK, &|e| e.variance.sd),
            number("q05", OF_LINK, &|e| e.variance.quantiles[0]),
            number("q95", OF_LINK, &|e| e.variance.quantiles[1]),
            number("share", "fraction", &|e| e.share.mean),
            number("share_sd", "fraction", &|e| e.share.sd),
            number("share_q05", "fraction", &|e| e.share.quantiles[0]),
            number("share_q95", "fraction", &|e| e.share.quantiles[1]),
        ],
    })
}

fn name_of(source: Source, covariates: &[&str]) -> String {
    match source {
        Source::Map => "map".into(),
        Source::Axis(d) => format!("x{}", d + 1),
        Source::Interaction => "interaction".into(),
        Source::Covariates => "covariates".into(),
        Source::Covariate(c) => format!("covariate {}", covariates[c]),
        Source::Process => "process".into(),
        Source::Noise => "noise".into(),
    }
}

/// `column,gradient,sd,q05,q95,direction,standardized`, the steepest first: per unit of length, at a position or averaged over the rows.
pub fn gradient(fit: &Fit, drawn: &Drawn, direction: &Direction, at: Option<&Place>) -> Result<Answer, Error> {
    let fitted = drawn.fitted(fit, STREAM);
    let frame = fitted.frame()?;
    let places = Places::of(&fitted, &frame)?;
    let mut point = at.map(|place| places.point("at", place)).transpose()?;
    let along = match direction {
        Direction::Axis(axis) if (1..=frame.axes()).contains(axis) => {
            (1..=frame.axes()).map(|d| if d == *axis { 1.0 } else { 0.0 }).collect()
        }
        Direction::Axis(axis) => {
            let rule = format!("the axes of this fit are x1 to x{}", frame.axes());
            return Err(SpecError::Setting { setting: "along", value: format!("x{axis}"), rule }.into());
        }
        Direction::Towards(place) => {
            // Rows look towards a position from different sides.
            let from = point.get_or_insert_with(|| vec![0.0; frame.axes()]);
            let to = places.point("towards", place)?;
            let apart: Vec<f64> = to.iter().zip(from.iter()).map(|(to, from)| to - from).collect();
            let length = apart.iter().map(|v| v * v).sum::<f64>().sqrt();
            if length.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                let rule = "a direction leads to another position than the one it starts from; give another one";
                return Err(SpecError::Setting { setting: "towards", value: text(&to), rule: rule.into() }.into());
            }
            apart.into_iter().map(|v| v / length).collect::<Vec<f64>>()
        }
    };
    let found = fitted.gradient(&frame, &along, point.as_deref(), DRAWS)?;
    let order = largest_first(fit, &found);
    let mut columns = vec![Column::names("column", fit.table.columns.clone(), order.clone())];
    columns.extend(of_summaries(fit, "gradient", &order, &found));
    Ok(Answer { columns })
}

/// `column,difference,sd,q05,q95,direction,standardized,range,range_q05,range_q95,mean_from,mean_to,data_difference,data_q05,data_q95`, the largest
/// difference first: along the straight lines between at least two positions.
pub fn change(fit: &Fit, drawn: &Drawn, path: &[Place]) -> Result<Answer, Error> {
    let fitted = drawn.fitted(fit, STREAM);
    let frame = fitted.frame()?;
    let places = Places::of(&fitted, &frame)?;
    let corners = path.iter().map(|place| places.point("path", place)).collect::<Result<Vec<_>, _>>()?;
    if corners.len() < 2 {
        let rule = "a path has at least two positions".into();
        return Err(SpecError::Setting { setting: "path", value: format!("{} positions", corners.len()), rule }.into());
    }
    let mut points: Vec<f64> = corners[0].clone();
    for pair in corners.windows(2) {
        for i in 1..=STEPS {
            let share = i as f64 / STEPS as f64;
            points.extend(pair[0].iter().zip(&pair[1]).map(|(a, b)| (1.0 - share) * a + share * b));
        }
    }
    let points = Mat::from_vec(points.len() / frame.axes(), frame.axes(), points);
    let found = fitted.change(&frame, &points, fit.mean_offset().unwrap_or(0.0), DRAWS)?;
    let links: Vec<Summary> = found.iter().map(|change| change.link).collect();
    let order = largest_first(fit, &links);
    let mut columns = vec![Column::names("column", fit.table.columns.clone(), order.clone())];
    columns.extend(of_summaries(fit, "difference", &order, &links));
    let model = fit.places();
    let number = |name: &str, unit, of: &dyn Fn(&Change) -> f64| {
        Column::numbers(name, unit, order.iter().map(|&column| of(&found[model[column]])).collect())
    };
    columns.extend([
        number("range", OF_LINK, &|c| c.range.mean),
        number("range_q05", OF_LINK, &|c| c.range.quantiles[0]),
        number("range_q95", OF_LINK, &|c| c.range.quantiles[1]),
        number("mean_from", OF_COLUMN, &|c| c.ends[0]),
        number("mean_to", OF_COLUMN, &|c| c.ends[1]),
        number("data_difference", OF_COLUMN, &|c| c.cells.mean),
        number("data_q05", OF_COLUMN, &|c| c.cells.quantiles[0]),
        number("data_q95", OF_COLUMN, &|c| c.cells.quantiles[1]),
    ]);
    Ok(Answer { columns })
}

/// The columns of the table, the largest mean in units of its column first.
fn largest_first(fit: &Fit, found: &[Summary]) -> Vec<usize> {
    let places = fit.places();
    let size = |column: usize| (found[places[column]].mean / fit.model.units()[places[column]].scale).abs();
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    order
}

/// Mean, standard deviation, quantiles, probability of the direction, and the mean in units of the column.
fn of_summaries(fit: &Fit, name: &str, order: &[usize], found: &[Summary]) -> Vec<Column> {
    let places = fit.places();
    let number = |name: &str, unit, of: &dyn Fn(usize, &Summary) -> f64| {
        Column::numbers(name, unit, order.iter().map(|&column| of(places[column], &found[places[column]])).collect())
    };
    vec![
        number(name, OF_LINK, &|_, s| s.mean),
        number("sd", OF_LINK, &|_, s| s.sd),
        number("q05", OF_LINK, &|_, s| s.quantiles[0]),
        number("q95", OF_LINK, &|_, s| s.quantiles[1]),
        number("direction", "fraction", &|_, s| s.direction()),
        number("standardized", "", &|j, s| s.mean / fit.model.units()[j].scale),
    ]
}

/// Positions in the frame.
struct Places {
    mean: Mat,
}

impl Places {
    fn of(fitted: &Fitted<'_>, frame: &Frame) -> Result<Self, Error> {
        Ok(Places { mean: fitted.embedding(frame)?.mean })
    }

    fn point(&self, setting: &'static str, place: &Place) -> Result<Vec<f64>, SpecError> {
        let wrong = |value: String, rule: String| SpecError::Setting { setting, value, rule };
        match place {
            Place::Row(row) if *row < self.mean.rows() => Ok(self.mean.row(*row).to_vec()),
            Place::Row(row) => Err(wrong(format!("row {}", row + 1), format!("the fit has {} rows", self.mean.rows()))),
            Place::Point(x) if x.len() != self.mean.cols() => {
                let rule =
                    format!("a position of this fit has {} coordinates, those of embedding.csv", self.mean.cols());
                Err(wrong(text(x), rule))
            }
            Place::Point(x) if x.iter().any(|v| !v.is_finite()) => {
                Err(wrong(text(x), "coordinates are numbers".into()))
            }
            Place::Point(x) => Ok(x.clone()),
        }
    }
}

fn text(x: &[f64]) -> String {
    x.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}
