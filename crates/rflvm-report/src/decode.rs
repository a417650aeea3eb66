//! A thinned posterior, with which the page computes what the model expects at a point x of the latent plane.
//!
//! In the common frame, draw s has f_j(x) = Σ_l (a_lj sin(w_l·x + p_l) + b_lj cos(w_l·x + p_l)) + x·c_j + d_j: its own alignment is in
//! w, p, c and d; the scale L^(-1/2), offset and covariates are in the weights; and so is the factor of a mean a·e^f.

use crate::cells::kept;
use crate::link::{Link, link};
use crate::pack::Pack;
use crate::subject::Subject;
use rflvm::internal::error::RunError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::parameters::{Parameters, Stored, evenly};
use serde_json::{Value, json};

/// Weights in all: two bytes each.
const WEIGHTS: usize = 1_200_000;
/// Draws at most: an interval is then known to a few percentage points.
const DRAWS: usize = 60;
/// Draws at least, whatever it takes.
const LEAST: usize = 4;

/// The map of one draw, for the kept columns.
struct Draw {
    /// L×D.
    w: Mat,
    /// One per frequency.
    phase: Vec<f64>,
    /// 2L + D rows: sine, cosine, linear; one column per kept column.
    weights: Mat,
    /// d_j.
    level: Vec<f64>,
}

/// The draws.
pub fn section(subject: &Subject<'_>, pack: &mut Pack) -> Result<Value, RunError> {
    let (fitted, model, kept) = (&subject.fitted, subject.fitted.model, kept(subject));
    let places: Vec<usize> = kept.iter().map(|&column| subject.places[column]).collect();
    let wide = (model.spec().features + subject.positions.frame.axes()) * kept.len();
    let chosen = evenly(fitted.used, fitted.store.size()?.1, (WEIGHTS / wide).clamp(LEAST, DRAWS));
    let mut stored = Stored::open(fitted.store, model)?;
    let mut draws = Vec::with_capacity(chosen.len());
    let mut groups = Vec::new();
    for (chain, draw) in chosen {
        let parameters = stored.at(chain, draw)?;
        let Some((links, factors)) = links(subject, &parameters) else {
            return Ok(json!({ "absent": "the mean of a cell has a form that the page cannot compute" }));
        };
        let mut draw = Draw::of(subject, &parameters, &places);
        for (level, &place) in draw.level.iter_mut().zip(&places) {
            *level += if links[place] == Link::Exp { factors[place].ln() } else { 0.0 };
        }
        draws.push(draw);
        groups = grouped(subject, &places, &links, &factors);
    }
    if groups.iter().any(|group| group["link"] == "softmax") && kept.len() < subject.columns.len() {
        return Ok(json!({ "absent": "there are more categories than the page can hold" }));
    }
    // Columns may have very different units.
    let scale: Vec<f64> = (0..places.len())
        .map(|j| draws.iter().flat_map(|draw| draw.weights.col(j)).fold(0.0_f64, |a, v| a.max(v.abs())))
        .map(|largest| if largest > 0.0 { largest } else { 1.0 })
        .collect();
    let draws: Vec<Value> = draws.into_iter().map(|draw| draw.packed(&scale, pack)).collect();
    Ok(
        json!({ "has_column_processes": model.spec().column_process.is_some(), "frequencies": model.frequencies(), "groups": groups, "scale": pack.floats(&scale), "draws": draws }),
    )
}

/// g of each column of the model and its factor.
fn links(subject: &Subject<'_>, parameters: &Parameters) -> Option<(Vec<Link>, Vec<f64>)> {
    let model = subject.fitted.model;
    let (mut links, mut factors) = (Vec::new(), Vec::new());
    for (block, theta) in model.blocks().iter().zip(&parameters.theta) {
        let (link, factor) = link(block, theta, model.rows())?;
        links.extend(factor.iter().map(|_| link));
        factors.extend(factor);
    }
    Some((links, factors))
}

/// Which kept columns share a function g, block by block, with their factors.
fn grouped(subject: &Subject<'_>, places: &[usize], links: &[Link], factors: &[f64]) -> Vec<Value> {
    let blocks = subject.fitted.model.blocks().iter();
    let group = |block: &rflvm::internal::model::Block| {
        let members: Vec<usize> = (0..places.len()).filter(|&j| block.columns.contains(&places[j])).collect();
        let link = links[block.columns.start];
        // That of an exponential differs from draw to draw, and is in the weights.
        let factor = |&j: &usize| if link == Link::Exp { 1.0 } else { factors[places[j]] };
        json!({ "link": link.name(), "factors": members.iter().map(factor).collect::<Vec<_>>(), "columns": members })
    };
    blocks.map(group).collect()
}

impl Draw {
    fn of(subject: &Subject<'_>, parameters: &Parameters, places: &[usize]) -> Self {
        let (model, axes) = (subject.fitted.model, subject.positions.frame.axes());
        // An affine map is known by the images of the origin and of the unit vectors.
        let corners = Mat::from_fn(axes + 1, axes, |i, d| if i == d + 1 { 1.0 } else { 0.0 });
        let back = subject.positions.frame.of(&parameters.x, &parameters.w).back(&corners);
        let origin = back.row(0).to_vec();
        let unit = |d: usize, e: usize| back[(d + 1, e)] - origin[e];
        let (w, beta) = (&parameters.w, &parameters.beta);
        let (l, dim) = (w.rows(), w.cols());
        let along = |w: &[f64], d: usize| (0..dim).map(|e| w[e] * unit(d, e)).sum::<f64>();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (features, linear) = (2 * l, model.linear());
        let slope = |d: usize, j: usize| {
            let of_axis = |e: usize| parameters.s * beta[(linear.start + e, j)] * unit(d, e);
            if linear.is_empty() { 0.0 } else { (0..dim).map(of_axis).sum() }
        };
        let root = (l as f64).sqrt().recip();
        let weight = |m: usize, j: usize| if m < features { root * beta[(m, j)] } else { slope(m - features, j) };
        let level = |&j: &usize| {
            let covariates: f64 = subject.covariates.iter().enumerate().map(|(c, u)| u * beta[(features + c, j)]).sum();
            let shift: f64 = linear.clone().map(|m| parameters.s * origin[m - linear.start] * beta[(m, j)]).sum();
            beta[(beta.rows() - 1, j)] + subject.offset + covariates + shift
        };
        Draw {
            w: Mat::from_fn(l, axes, |i, d| along(w.row(i), d)),
            phase: w.iter_rows().map(|w| dot(w, &origin)).collect(),
            weights: Mat::from_fn(features + axes, places.len(), |m, j| weight(m, places[j])),
            level: places.iter().map(level).collect(),
        }
    }

    fn packed(&self, scale: &[f64], pack: &mut Pack) -> Value {
        let (rows, columns) = (self.weights.rows(), self.weights.cols());
        let relative = Mat::from_fn(rows, columns, |m, j| self.weights[(m, j)] / scale[j]);
        json!({
            "w": pack.floats(self.w.as_slice()), "phase": pack.floats(&self.phase),
            "weights": pack.shorts(relative.as_slice()), "level": pack.floats(&self.level),
        })
    }
}
