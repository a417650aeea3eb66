//! Curves with bands: panels side by side, one colour per name.

use super::colour::classes;
use super::panel::{self, Side};
use super::span::Span;
use super::text::{cut_middle, put, width};
use super::{INK, TOP, head, notes};

/// One panel.
pub struct Panel<'a> {
    pub x_label: &'a str,
    pub y_label: &'a str,
    pub lines: Vec<Line>,
}

/// Position, value, and band if there is one.
pub type Point = (f64, f64, Option<(f64, f64)>);

/// A curve.
pub struct Line {
    pub name: String,
    pub points: Vec<Point>,
}

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 240.0;
/// Space below the panels, for numbers, axis labels and the note.
const BELOW: f64 = 72.0;
/// Pixels for a name.
const NAME: f64 = 150.0;

/// Draws panels side by side; all of them have the same names in the same order.
pub fn svg(title: &str, panels: &[Panel], note: &str) -> String {
    let names: Vec<String> = panels.first().iter().flat_map(|p| &p.lines).map(|line| line.name.clone()).collect();
    let (legend, of) = classes(&names);
    let (mut placed, mut right) = (Vec::new(), 0.0);
    for panel in panels {
        let own = scales(panel, right);
        right = own.0.right();
        placed.push(own);
    }
    let longest = names.iter().map(|name| width(name, 12.0).min(NAME)).fold(0.0, f64::max);
    let size = (right + 18.0 + 18.0 + longest + 16.0, TOP + HEIGHT + BELOW);
    let mut out = String::new();
    head(&mut out, title, size, placed.first().map_or(16.0, |(panel, _)| panel.left));
    for (panel, (place, [x, y])) in panels.iter().zip(&placed) {
        place.draw(&mut out, &Side::plain(panel.x_label, *x), &Side::plain(panel.y_label, *y));
        for (line, &class) in panel.lines.iter().zip(&of) {
            draw(&mut out, place, line, legend[class].colour, legend[class].dash());
        }
    }
    let x = right + 18.0;
    for (name, &class) in names.iter().zip(&of) {
        let y = TOP + 10.0 + 21.0 * class as f64;
        let (colour, dash, name) = (legend[class].colour, legend[class].dash(), cut_middle(name, NAME, 12.0));
        put(
            &mut out,
            format_args!(
                "<path d=\"M{x:.1} {y}h12\" stroke=\"{colour}\" stroke-width=\"3\"{dash}/><text x=\"{:.1}\" y=\"{}\" fill=\"{INK}\">{name}</text>\n",
                x + 18.0,
                y + 4.0
            ),
        );
    }
    notes(&mut out, &[note.to_string()], 16.0, size.1 - 10.0, size.0 - 24.0);
    out.push_str("</svg>\n");
    out
}

/// The position of a panel, to the right of `start`, and the steps of its ticks.
fn scales(panel: &Panel, start: f64) -> (panel::Panel, [f64; 2]) {
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let ends = points().flat_map(|p| [Some(p.1), p.2.map(|b| b.0), p.2.map(|b| b.1)]).flatten();
    let (x, y) = (Span::around(points().map(|p| p.0), 0.0), Span::around(ends.chain([0.0]), 0.05));
    let (x_step, y_step) = (x.step(5.0), y.step(5.0));
    let left = start + 44.0 + Side::plain("", y_step).room(&y);
    (panel::Panel { left, top: TOP, width: WIDTH, height: HEIGHT, x, y }, [x_step, y_step])
}

fn draw(out: &mut String, panel: &panel::Panel, line: &Line, colour: &str, dash: &str) {
    let good = || line.points.iter().filter(|(x, y, _)| x.is_finite() && y.is_finite());
    let joined =
        |points: Vec<(f64, f64)>| points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect::<Vec<_>>().join("L");
    let bands: Vec<(f64, (f64, f64))> = good().filter_map(|p| Some(p.0).zip(p.2)).collect();
    if !bands.is_empty() {
        let above = bands.iter().map(|&(x, (_, high))| panel.place((x, high)));
        let below = bands.iter().rev().map(|&(x, (low, _))| panel.place((x, low)));
        let outline = joined(above.chain(below).collect());
        put(out, format_args!("<path d=\"M{outline}Z\" fill=\"{colour}\" fill-opacity=\".16\"/>\n"));
    }
    let points: Vec<(f64, f64)> = good().map(|&(x, y, _)| panel.place((x, y))).collect();
    if !points.is_empty() {
        put(
            out,
            format_args!(
                "<path d=\"M{}\" stroke=\"{colour}\" stroke-width=\"1.6\" fill=\"none\"{dash}/>\n",
                joined(points)
            ),
        );
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
    fn odd_values_still_give_a_picture() {
        draw(&[]);
        draw(&[Panel { x_label: "", y_label: "", lines: Vec::new() }]);
        let points = vec![(0.0, 0.0, None), (0.0, f64::NAN, None), (0.0, f64::INFINITY, Some((0.0, 1.0)))];
        draw(&[Panel { x_label: "", y_label: "", lines: vec![Line { name: String::new(), points }] }]);
    }
}
