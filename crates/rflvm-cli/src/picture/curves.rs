//! Curves with bands as SVG: panels beside each other, one colour a name.

use super::colour::classes;
use super::frame::{nice_step, number, range, ticks};
use super::{BOTTOM, INK, TOP, escape, head, put};

/// One panel.
pub struct Panel<'a> {
    pub x_label: &'a str,
    pub y_label: &'a str,
    pub lines: Vec<Line>,
}

/// Place, value, and band where there is one.
pub type Point = (f64, f64, Option<(f64, f64)>);

/// A curve.
pub struct Line {
    pub name: String,
    pub points: Vec<Point>,
}

const LEFT: f64 = 64.0;
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 240.0;
const KEY: f64 = 150.0;

/// Draws panels beside each other; all of them have the same names in the same order.
pub fn svg(title: &str, panels: &[Panel], note: &str) -> String {
    let names: Vec<String> = panels.first().iter().flat_map(|p| &p.lines).map(|line| line.name.clone()).collect();
    let (legend, of) = classes(&names);
    let width = panels.len() as f64 * (LEFT + WIDTH) + KEY;
    let height = TOP + HEIGHT + BOTTOM;
    let title = escape(title, 60);
    let mut out = String::new();
    head(&mut out, &title, (width, height), LEFT);
    for (i, panel) in panels.iter().enumerate() {
        let placed = Placed::new(panel, i as f64 * (LEFT + WIDTH) + LEFT);
        placed.frame(&mut out, panel);
        for (line, &class) in panel.lines.iter().zip(&of) {
            placed.line(&mut out, line, legend[class].colour);
        }
    }
    let x = panels.len() as f64 * (LEFT + WIDTH) + 18.0;
    for (name, &class) in names.iter().zip(&of) {
        let y = TOP + 10.0 + 21.0 * class as f64;
        let (colour, name) = (legend[class].colour, escape(name, 22));
        put(
            &mut out,
            format_args!(
                "<path d=\"M{x} {y}h12\" stroke=\"{colour}\" stroke-width=\"3\"/><text x=\"{}\" y=\"{}\" fill=\"{INK}\">{name}</text>\n",
                x + 18.0,
                y + 4.0
            ),
        );
    }
    put(
        &mut out,
        format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10.5\" text-anchor=\"end\">{}</text>\n</svg>\n",
            width - 12.0,
            TOP + HEIGHT + 40.0,
            escape(note, 60)
        ),
    );
    out
}

/// A panel and its scales.
struct Placed {
    left: f64,
    x: (f64, f64),
    y: (f64, f64),
}

impl Placed {
    fn new(panel: &Panel, left: f64) -> Self {
        let points = || panel.lines.iter().flat_map(|line| &line.points);
        let ends = points().flat_map(|p| [Some(p.1), p.2.map(|b| b.0), p.2.map(|b| b.1)]).flatten();
        let span = |values: &mut dyn Iterator<Item = f64>, margin: f64| {
            let (low, high) = range(values.filter(|v| v.abs() < 1e100)).unwrap_or((0.0, 1.0));
            let room = if high > low { margin * (high - low) } else { low.abs().max(1.0) };
            (low - room, high + room)
        };
        Placed { left, x: span(&mut points().map(|p| p.0), 0.0), y: span(&mut ends.chain([0.0]), 0.05) }
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let share = |v: f64, (low, high): (f64, f64)| (v - low) / (high - low);
        (self.left + WIDTH * share(x, self.x), TOP + HEIGHT * (1.0 - share(y, self.y)))
    }

    fn frame(&self, out: &mut String, panel: &Panel) {
        let (left, bottom, right) = (self.left, TOP + HEIGHT, self.left + WIDTH);
        let (mut grid, mut text) = (String::new(), String::new());
        let step = nice_step((self.x.1 - self.x.0) / 5.0);
        for tick in ticks(self.x.0, self.x.1, step) {
            let (x, _) = self.place(tick, 0.0);
            put(&mut grid, format_args!("M{x:.1} {TOP}V{bottom}"));
            let label = number(tick, step);
            put(
                &mut text,
                format_args!("<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>", bottom + 18.0),
            );
        }
        let step = nice_step((self.y.1 - self.y.0) / 5.0);
        for tick in ticks(self.y.0, self.y.1, step) {
            let (_, y) = self.place(0.0, tick);
            put(&mut grid, format_args!("M{left} {y:.1}H{right}"));
            let label = number(tick, step);
            put(
                &mut text,
                format_args!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", left - 8.0, y + 4.0),
            );
        }
        put(
            out,
            format_args!(
                "<path d=\"{grid}\" stroke=\"#e9ecef\" fill=\"none\"/>\n\
                 <rect x=\"{left}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#c9ced3\"/>\n{text}\n\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"13\" fill=\"{INK}\">{}</text>\n\
                 <text transform=\"translate({} {:.1})rotate(-90)\" text-anchor=\"middle\" font-size=\"13\" fill=\"{INK}\">{}</text>\n",
                left + WIDTH / 2.0,
                bottom + 38.0,
                escape(panel.x_label, 40),
                left - 46.0,
                TOP + HEIGHT / 2.0,
                escape(panel.y_label, 40)
            ),
        );
    }

    fn line(&self, out: &mut String, line: &Line, colour: &str) {
        let good = || line.points.iter().filter(|(x, y, _)| x.is_finite() && y.is_finite());
        let joined = |points: Vec<(f64, f64)>| {
            points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect::<Vec<_>>().join("L")
        };
        let bands: Vec<(f64, (f64, f64))> = good().filter_map(|p| Some(p.0).zip(p.2)).collect();
        if !bands.is_empty() {
            let above = bands.iter().map(|&(x, (_, high))| self.place(x, high));
            let below = bands.iter().rev().map(|&(x, (low, _))| self.place(x, low));
            let outline = joined(above.chain(below).collect());
            put(out, format_args!("<path d=\"M{outline}Z\" fill=\"{colour}\" fill-opacity=\".16\"/>\n"));
        }
        let points: Vec<(f64, f64)> = good().map(|&(x, y, _)| self.place(x, y)).collect();
        if !points.is_empty() {
            put(
                out,
                format_args!(
                    "<path d=\"M{}\" stroke=\"{colour}\" stroke-width=\"1.6\" fill=\"none\"/>\n",
                    joined(points)
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(panels: &[Panel]) -> String {
        let text = svg("a < b", panels, "note");
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        text
    }

    #[test]
    fn every_line_is_drawn_with_its_band() {
        let line = |name: &str| Line {
            name: name.into(),
            points: (0..5).map(|i| (f64::from(i), 1.0, Some((0.5, 1.5)))).collect(),
        };
        let panel = || Panel { x_label: "x", y_label: "y & z", lines: vec![line("x1"), line("all")] };
        let text = draw(&[panel(), panel()]);
        assert_eq!(text.matches("fill-opacity=\".16\"").count(), 4);
        assert!(text.contains("y &amp; z") && text.contains(">x1<"));
    }

    #[test]
    fn nothing_a_posterior_may_hold_breaks_it() {
        draw(&[]);
        draw(&[Panel { x_label: "", y_label: "", lines: Vec::new() }]);
        let points = vec![(0.0, 0.0, None), (0.0, f64::NAN, None), (0.0, f64::INFINITY, Some((0.0, 1.0)))];
        draw(&[Panel { x_label: "", y_label: "", lines: vec![Line { name: String::new(), points }] }]);
    }
}
