//! A scatter plot of the latent space.

use super::layout::{View, views};
use super::marks::{Marks, thinned};
use super::paint::Paint;
use super::{Colour, NOTE, TOP, head, notes, reach};

/// What to draw.
pub struct Scatter<'a> {
    pub title: &'a str,
    /// Posterior mean and standard deviation of each row, one slice per latent axis; the first three are drawn, as pairs.
    pub axes: &'a [Vec<(f64, f64)>],
    /// The kind of standard deviation, in a word or two.
    pub errors: &'a str,
    pub colour: Colour<'a>,
    /// Rows of each sequence in order of time, which are joined; empty if rows have no times.
    pub sequences: &'a [Vec<usize>],
    /// Names of the sequences; fewer if some have none.
    pub names: &'a [String],
}

/// Space between panels and key.
const ASIDE: f64 = 18.0;
/// Space below the panels, for numbers and the axis label.
const BELOW: f64 = 62.0;

/// Draws the rows; those without a position are left out.
pub fn svg(scatter: &Scatter) -> String {
    let (axes, crosses) = thinned(scatter.axes);
    let views = views(&reach::spans(&axes));
    let paint = Paint::new(&scatter.colour, scatter.axes.first().map_or(0, Vec::len));
    let (right, bottom) =
        views.iter().fold((0.0, 0.0), |(x, y): (f64, f64), v| (x.max(v.panel.right()), y.max(v.panel.bottom())));
    let key = Corner::of(&views, paint.key_size(), (right, bottom));
    let marks: Vec<Marks> = views.iter().map(|view| Marks { view, axes: &axes, paint: &paint }).collect();
    let remarks = remarks(scatter, &marks, crosses, paint.unknown());
    let width = right.max(key.right) + 24.0;
    let panels_end = bottom + BELOW;
    let height = panels_end.max(key.bottom + 20.0) + NOTE * remarks.len() as f64;
    let left = views[0].panel.left;
    let mut out = String::new();
    head(&mut out, scatter.title, (width, height), left);
    for (i, marks) in marks.iter().enumerate() {
        marks.view.draw(&mut out);
        marks.crosses(&mut out);
        marks.lines(&mut out, scatter.sequences);
        marks.dots(&mut out);
        marks.outside(&mut out);
        // All pairs show the same sequences, so they are named only once.
        marks.starts(&mut out, scatter.sequences, if i == 0 { scatter.names } else { &[] });
    }
    paint.key(&mut out, key.x, TOP, key.height);
    notes(&mut out, &remarks, left, panels_end, width - left - 8.0);
    out.push_str("</svg>\n");
    out
}

/// The position of the key.
struct Corner {
    x: f64,
    height: f64,
    right: f64,
    bottom: f64,
}

impl Corner {
    /// To the right of the panels, or in the free corner of pairs if it fits there.
    fn of(views: &[View], (width, height): (f64, f64), (right, bottom): (f64, f64)) -> Self {
        let first = &views[0].panel;
        let is_corner = views.len() > 1 && height <= first.height;
        let (x, beside) = if is_corner { (first.right() + ASIDE, first.height) } else { (right + ASIDE, bottom - TOP) };
        Corner { x, height: beside, right: x + width - ASIDE, bottom: TOP + height }
    }
}

/// Remarks needed to read the picture.
fn remarks(scatter: &Scatter, marks: &[Marks], crosses: usize, unknown: usize) -> Vec<String> {
    let (rows, axes) = (scatter.axes.first().map_or(0, Vec::len), scatter.axes.len());
    let count = |n: usize| if n == 1 { "1 row".to_string() } else { format!("{n} rows") };
    let mut remarks = Vec::new();
    if rows > 0 {
        let shape = if axes > 1 { "crosses" } else { "bars" };
        let some = if crosses < rows { format!(", shown for {crosses} of {}", count(rows)) } else { String::new() };
        remarks.push(format!("{shape}: ± 1 {} sd{some}", scatter.errors));
    }
    if axes == 1 {
        remarks.push("the height only keeps points apart".into());
    }
    if axes > 3 {
        remarks.push(format!("the first 3 of {axes} axes"));
    }
    if axes > 1 && !scatter.sequences.is_empty() {
        remarks.push("lines join rows in order of time; a ring marks the start of each".into());
    }
    let outside = (0..rows).filter(|&n| marks.iter().any(|marks| marks.is_outside(n))).count();
    if outside > 0 {
        let are = if outside == 1 { "is" } else { "are" };
        remarks.push(format!("{} {are} outside the frame: triangles at its edge point to them", count(outside)));
    }
    let are_cut = (0..rows).filter(|&n| marks.iter().any(|marks| marks.is_cut(n))).count();
    if are_cut > 0 {
        remarks.push(format!("errors of {} reach beyond the frame", count(are_cut)));
    }
    if unknown > 0 {
        remarks.push(format!("grey: {} without a number", count(unknown)));
    }
    remarks
}

#[cfg(test)]
mod tests;
