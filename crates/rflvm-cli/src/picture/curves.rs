//! The learned kernel: curves with bands, panels side by side, one colour per name.

use super::TOP;
use super::colour::classes;
use super::panel::{Axis, Panel, Side};
use super::span::Span;
use super::spec::{Drawn, Entry, Mark, Picture};
use super::text::{ends, width};

/// Panels side by side; all of them have the same names in the same order.
pub struct Curves {
    pub title: String,
    pub panels: Vec<Curved>,
    pub note: String,
}

/// One panel.
pub struct Curved {
    pub x_label: String,
    pub y_label: String,
    pub lines: Vec<Line>,
}

/// A curve, with its band if there is one.
pub struct Line {
    pub name: String,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub band: Option<[Vec<f64>; 2]>,
}

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 240.0;
/// Space below the panels, for numbers, axis labels and the note.
const BELOW: f64 = 72.0;
/// Pixels for a name.
const NAME: f64 = 150.0;

/// The picture.
pub fn picture(curves: &Curves) -> Picture {
    let names: Vec<String> =
        curves.panels.first().iter().flat_map(|p| &p.lines).map(|line| line.name.clone()).collect();
    let (legend, of) = classes(&names);
    let (mut panels, mut right) = (Vec::new(), 0.0);
    for curved in &curves.panels {
        let (panel, [x, y]) = scales(curved, right);
        right = panel.right();
        let across = Axis::of(&Side::plain(&curved.x_label, x), &panel, true);
        let up = Axis::of(&Side::plain(&curved.y_label, y), &panel, false);
        let marks = curved.lines.iter().zip(&of).flat_map(|(line, &class)| {
            let (colour, is_dashed) = (legend[class].colour.to_string(), legend[class].is_ring);
            let band = line.band.clone().map(|[low, high]| Mark::Band {
                x: line.x.clone(),
                low,
                high,
                colour: colour.clone(),
                opacity: 0.16,
            });
            let (name, x, y) = (line.name.clone(), line.x.clone(), line.y.clone());
            band.into_iter().chain([Mark::Line { name, x, y, colour, width: 1.6, is_dashed }])
        });
        panels.push(Drawn { panel, across, up, marks: marks.collect(), words: Vec::new() });
    }
    let longest = names.iter().map(|name| width(name, 12.0).min(NAME)).fold(0.0, f64::max);
    let size = (right + 18.0 + 18.0 + longest + 16.0, TOP + HEIGHT + BELOW);
    let entry = |(name, &class): (&String, &usize)| Entry {
        name: ends(name, NAME, 12.0),
        colour: legend[class].colour.into(),
        is_dashed: legend[class].is_ring,
        at: (right + 18.0, TOP + 10.0 + 21.0 * class as f64),
    };
    let (key, left) =
        (names.iter().zip(&of).map(entry).collect(), panels.first().map_or(16.0, |drawn| drawn.panel.left));
    Picture {
        title: curves.title.clone(),
        size,
        left,
        panels,
        key,
        notes: vec![curves.note.clone()],
        notes_top: size.1 - 10.0,
    }
}

/// The position of a panel, to the right of `start`, and the steps of its ticks.
fn scales(curved: &Curved, start: f64) -> (Panel, [f64; 2]) {
    let at = curved.lines.iter().flat_map(|line| line.x.iter().copied());
    let bands = curved.lines.iter().flat_map(|line| &line.band).flatten();
    let values = curved.lines.iter().map(|line| &line.y).chain(bands).flatten().copied();
    let (x, y) = (Span::around(at, 0.0), Span::around(values.chain([0.0]), 0.05));
    let (x_step, y_step) = (x.step(5.0), y.step(5.0));
    let left = start + 44.0 + Side::plain("", y_step).room(&y);
    (Panel { left, top: TOP, width: WIDTH, height: HEIGHT, x, y }, [x_step, y_step])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(panels: Vec<Curved>) -> String {
        let text = picture(&Curves { title: "a < b".into(), panels, note: "note".into() }).svg();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        text
    }

    fn panel(lines: Vec<Line>) -> Curved {
        Curved { x_label: "x".into(), y_label: "y & z".into(), lines }
    }

    #[test]
    fn every_line_is_drawn_with_its_band() {
        let line = |name: &str| Line {
            name: name.into(),
            x: (0..5).map(f64::from).collect(),
            y: vec![1.0; 5],
            band: Some([vec![0.5; 5], vec![1.5; 5]]),
        };
        let text = draw(vec![panel(vec![line("x1"), line("all")]), panel(vec![line("x1"), line("all")])]);
        assert_eq!(text.matches("fill-opacity=\"0.16\"").count(), 4);
        assert!(text.contains("y &amp; z") && text.contains(">x1<"));
    }

    #[test]
    fn odd_values_still_give_a_picture() {
        draw(Vec::new());
        draw(vec![panel(Vec::new())]);
        let (x, y) = (vec![0.0; 3], vec![0.0, f64::NAN, f64::INFINITY]);
        draw(vec![panel(vec![Line {
            name: String::new(),
            x,
            y,
            band: Some([vec![0.0; 3], vec![f64::NAN, 1.0, 1.0]]),
        }])]);
    }
}
