//! The marks in a panel of a scatter plot: rows as points, their errors as crosses, paths over time as lines.

use super::layout::View;
use super::paint::Paint;
use super::reach::ends;
use super::span::usable;
use super::text::put;

/// Beyond this many rows, circles are replaced by dots of a single path, with a third of the bytes.
const CIRCLES: usize = 4000;
/// Most rows with a cross: more would be unreadable.
const CROSSES: usize = 300;

/// The rows as shown in one panel.
pub(super) struct Marks<'a> {
    pub view: &'a View,
    pub axes: &'a [Vec<(f64, f64)>],
    pub paint: &'a Paint,
}

/// The axes with the errors of only some rows, evenly spaced over the table, and the number of these rows.
pub(super) fn thinned(axes: &[Vec<(f64, f64)>]) -> (Vec<Vec<(f64, f64)>>, usize) {
    let rows = axes.first().map_or(0, Vec::len);
    let every = rows.div_ceil(CROSSES).max(1);
    let row = |(n, &(mean, sd)): (usize, &(f64, f64))| (mean, if n % every == 0 { sd } else { 0.0 });
    (axes.iter().map(|axis| axis.iter().enumerate().map(row).collect()).collect(), rows.div_ceil(every))
}

impl Marks<'_> {
    pub fn rows(&self) -> usize {
        self.axes.first().map_or(0, Vec::len)
    }

    /// Mean and standard deviation of a row on both axes. On a strip, the height only separates rows.
    fn row(&self, n: usize) -> [(f64, f64); 2] {
        let strip = || (0.9 * (spread(n) - 0.5), 0.0);
        [self.axes[self.view.x][n], self.view.y.map_or_else(strip, |y| self.axes[y][n])]
    }

    pub fn point(&self, n: usize) -> Option<(f64, f64)> {
        let [(x, _), (y, _)] = self.row(n);
        (usable(x) && usable(y)).then_some((x, y))
    }

    /// Whether a row is outside the panel.
    pub fn is_outside(&self, n: usize) -> bool {
        self.point(n).is_some_and(|point| !self.view.panel.holds(point))
    }

    /// Whether a row is in the panel, but part of its cross is not.
    pub fn is_cut(&self, n: usize) -> bool {
        let ([x, y], panel) = (self.row(n).map(ends), &self.view.panel);
        let is_inside = panel.holds((x.0, y.0)) && panel.holds((x.1, y.1));
        self.point(n).is_some_and(|point| panel.holds(point)) && !is_inside
    }

    pub fn radius(&self) -> f64 {
        (9.0 - 0.9 * (self.rows().max(1) as f64).ln()).clamp(1.4, 4.5)
    }

    /// ± 1 standard deviation on both axes.
    pub fn crosses(&self, out: &mut String) {
        let panel = &self.view.panel;
        let mut paths = vec![String::new(); self.paint.colours.len()];
        for n in 0..self.rows() {
            let Some(point) = self.point(n).filter(|point| panel.holds(*point)) else { continue };
            let (x, y) = panel.place(point);
            let [across, up] = self.row(n).map(ends);
            let ((left, bottom), (right, top)) = (panel.place((across.0, up.0)), panel.place((across.1, up.1)));
            let path = &mut paths[self.paint.index(n)];
            for (a, b) in [((left, y), (right, y)), ((x, bottom), (x, top))] {
                // A line of zero length would be a dot.
                if let Some((a, b)) = panel.clip(a, b).filter(|(a, b)| a != b) {
                    put(path, format_args!("M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1));
                }
            }
        }
        for (path, colour) in paths.iter().zip(&self.paint.colours).filter(|(path, _)| !path.is_empty()) {
            put(out, format_args!("<path d=\"{path}\" stroke=\"{colour}\" stroke-opacity=\".25\" fill=\"none\"/>\n"));
        }
    }

    /// Lines that join the rows of each sequence, each segment in the colour of the row where it begins.
    pub fn lines(&self, out: &mut String, sequences: &[Vec<usize>]) {
        if self.view.y.is_none() {
            return;
        }
        let panel = &self.view.panel;
        let mut paths = vec![String::new(); self.paint.colours.len()];
        let mut pieces = 0;
        for pair in sequences.iter().flat_map(|rows| rows.windows(2)) {
            let (Some(a), Some(b)) = (self.point(pair[0]), self.point(pair[1])) else { continue };
            if let Some((a, b)) = panel.clip(panel.place(a), panel.place(b)) {
                let path = &mut paths[self.paint.index(pair[0])];
                put(path, format_args!("M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1));
                pieces += 1;
            }
        }
        let opacity = if pieces > 1000 { 0.3 } else { 0.6 };
        for (path, colour) in paths.iter().zip(&self.paint.colours).filter(|(path, _)| !path.is_empty()) {
            put(
                out,
                format_args!(
                    "<path d=\"{path}\" stroke=\"{colour}\" stroke-opacity=\"{opacity}\" stroke-width=\"1.2\" stroke-linecap=\"round\" fill=\"none\"/>\n"
                ),
            );
        }
    }

    /// A point for each row in the panel.
    pub fn dots(&self, out: &mut String) {
        // Consecutive points of one colour are one element; runs are short enough to mix the colours.
        const RUN: usize = 250;
        let (radius, count) = (self.radius(), self.rows());
        // White rims separate points when there are few; with many, they would hide them.
        let rim = if count <= 600 { 0.6 } else { 0.0 };
        let opacity = [(500, 0.85), (CIRCLES, 0.75)].into_iter().find(|(most, _)| count <= *most).map_or(0.55, |o| o.1);
        let mut runs = vec![(String::new(), 0); self.paint.colours.len()];
        let flush = |out: &mut String, run: &mut (String, usize), colour: usize| {
            let (shapes, _) = std::mem::take(run);
            let (name, is_ring) = (&self.paint.colours[colour], self.paint.is_ring(colour));
            if shapes.is_empty() {
            } else if count > CIRCLES {
                let mut path = |colour: &str, opacity: f64, width: f64| {
                    put(
                        out,
                        format_args!(
                            "<path stroke=\"{colour}\" stroke-opacity=\"{opacity}\" stroke-width=\"{width:.1}\" stroke-linecap=\"round\" d=\"{shapes}\"/>\n"
                        ),
                    );
                };
                path(name, opacity, 2.0 * radius);
                if is_ring {
                    path("#fff", 0.9, radius);
                }
            } else if is_ring {
                put(
                    out,
                    format_args!(
                        "<g fill=\"#fff\" fill-opacity=\".8\" stroke=\"{name}\" stroke-width=\"{:.1}\">{shapes}</g>\n",
                        0.5 * radius
                    ),
                );
            } else {
                put(
                    out,
                    format_args!(
                        "<g fill=\"{name}\" fill-opacity=\"{opacity}\" stroke=\"#fff\" stroke-width=\"{rim}\">{shapes}</g>\n"
                    ),
                );
            }
        };
        for n in 0..count {
            let Some(point) = self.point(n).filter(|point| self.view.panel.holds(*point)) else { continue };
            let ((x, y), colour) = (self.view.panel.place(point), self.paint.index(n));
            let run = &mut runs[colour];
            if count > CIRCLES {
                put(&mut run.0, format_args!("M{x:.1} {y:.1}h0"));
            } else {
                put(&mut run.0, format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>"));
            }
            run.1 += 1;
            if run.1 == RUN {
                flush(out, run, colour);
            }
        }
        (0..runs.len()).for_each(|colour| flush(out, &mut runs[colour], colour));
    }
}

/// Evenly spread numbers between 0 and 1, for any subset of rows: multiples of the golden ratio.
fn spread(n: usize) -> f64 {
    (n as f64 * 0.618_033_988_749_895).fract()
}
