//! Values over time: one panel per latent axis, column or quantity, one line per sequence or chain, with a band of uncertainty.

use super::colour::{Class, PLAIN, classes};
use super::panel::{Panel, Side};
use super::span::Span;
use super::text::{cut_middle, put, width};
use super::{INK, TOP, head, notes};

/// A value and the ends of its band; without a band, both are the value.
pub type Banded = (f64, [f64; 2]);

/// What to draw. All slices have one entry per row.
pub struct Paths<'a> {
    pub title: &'a str,
    /// What the times are.
    pub across: &'a str,
    pub times: &'a [f64],
    /// How to format a time on the axis; plain numbers if not given.
    pub format: Option<&'a dyn Fn(f64) -> String>,
    /// Rows of each sequence, ordered by time.
    pub sequences: &'a [Vec<usize>],
    /// Names of the sequences; fewer if some have none.
    pub names: &'a [String],
    /// The value of each row, one slice per panel.
    pub axes: &'a [Vec<Banded>],
    /// Names of the panels.
    pub labels: &'a [String],
    /// What the bands are.
    pub note: &'a str,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 150.0;
const GAP: f64 = 16.0;
/// Space below the panels, for numbers, the axis label and the note.
const BELOW: f64 = 72.0;
/// Pixels for a name in the legend.
const NAME: f64 = 190.0;

/// Draws the paths.
pub fn svg(paths: &Paths) -> String {
    let (legend, of) = classes(paths.names);
    let time = Span::around(paths.times.iter().copied(), 0.02);
    let ends = |axis: &Vec<Banded>| Span::around(axis.iter().flat_map(|(_, band)| *band), 0.06);
    let values: Vec<Span> = paths.axes.iter().map(ends).collect();
    let room = values.iter().map(|span| Side::plain("", span.step(4.0)).room(span)).fold(0.0, f64::max);
    let left = 44.0 + room;
    let panels = HEIGHT * values.len() as f64 + GAP * values.len().saturating_sub(1) as f64;
    let names = legend.iter().map(|class| width(&class.name, 12.0).min(NAME)).reduce(f64::max);
    let across = left + WIDTH + names.map_or(24.0, |names| 52.0 + names);
    let bottom = TOP + panels.max(21.0 * legend.len() as f64);
    let mut out = String::new();
    head(&mut out, paths.title, (across, bottom + BELOW), left);
    for (d, (axis, value)) in paths.axes.iter().zip(&values).enumerate() {
        let top = TOP + d as f64 * (HEIGHT + GAP);
        let panel = Panel { left, top, width: WIDTH, height: HEIGHT, x: time, y: *value };
        let is_last = d + 1 == values.len();
        // As many times as fit next to each other.
        let letters = paths.format.map_or(6, |format| format(time.low).chars().count());
        let step = Some(time.step((WIDTH / (7.0 * letters as f64 + 24.0)).min(7.0)));
        let label = if is_last { paths.across } else { "" };
        let below = Side { label, step, is_numbered: is_last, format: paths.format };
        panel.draw(&mut out, &below, &Side::plain(paths.labels.get(d).map_or("", String::as_str), value.step(4.0)));
        for (s, rows) in paths.sequences.iter().enumerate() {
            let (colour, dash) = of.get(s).map_or((PLAIN, ""), |&class| (legend[class].colour, legend[class].dash()));
            path(&mut out, &panel, rows.iter().map(|&n| (paths.times[n], axis[n])), colour, dash);
        }
    }
    key(&mut out, &legend, left + WIDTH + 18.0);
    notes(&mut out, &[paths.note.to_string()], left, bottom + BELOW - 10.0, WIDTH);
    out.push_str("</svg>\n");
    out
}

/// The band, and the line of the means on it; a single row is a dot.
fn path(out: &mut String, panel: &Panel, rows: impl Iterator<Item = (f64, Banded)>, colour: &str, dash: &str) {
    let (mut line, mut above, mut below) = (Vec::new(), Vec::new(), Vec::new());
    for (time, (value, [low, high])) in rows.filter(|(_, (_, [low, high]))| low.is_finite() && high.is_finite()) {
        line.push(panel.place((time, value)));
        above.push(panel.place((time, high)));
        below.push(panel.place((time, low)));
    }
    let joined =
        |points: &[(f64, f64)]| points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect::<Vec<_>>().join("L");
    match line[..] {
        [] => {}
        [(x, y)] => put(
            out,
            format_args!(
                "<path d=\"M{x:.1} {:.1}V{:.1}\" stroke=\"{colour}\" stroke-opacity=\".4\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>\n",
                above[0].1, below[0].1
            ),
        ),
        _ => {
            below.reverse();
            put(
                out,
                format_args!(
                    "<path d=\"M{}L{}Z\" fill=\"{colour}\" fill-opacity=\".16\"/><path d=\"M{}\" stroke=\"{colour}\" stroke-width=\"1.4\" fill=\"none\"{dash}/>\n",
                    joined(&above),
                    joined(&below),
                    joined(&line)
                ),
            );
        }
    }
}

fn key(out: &mut String, legend: &[Class], x: f64) {
    for (line, class) in legend.iter().enumerate() {
        let y = TOP + 10.0 + 21.0 * line as f64;
        let (name, dash) = (cut_middle(&class.name, NAME, 12.0), class.dash());
        put(
            out,
            format_args!(
                "<path d=\"M{x:.1} {y}h12\" stroke=\"{}\" stroke-width=\"3\"{dash}/><text x=\"{:.1}\" y=\"{}\" fill=\"{INK}\">{name}</text>\n",
                class.colour,
                x + 18.0,
                y + 4.0
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(times: &[f64], sequences: &[Vec<usize>], names: &[String], axes: &[Vec<(f64, f64)>]) -> String {
        let axes: Vec<Vec<Banded>> =
            axes.iter().map(|axis| axis.iter().map(|&(v, sd)| (v, [v - sd, v + sd])).collect()).collect();
        let labels: Vec<String> = (1..=axes.len()).map(|d| format!("x{d}")).collect();
        let (title, across, note) = ("a < b", "time", "bands");
        let text =
            svg(&Paths { title, across, times, format: None, sequences, names, axes: &axes, labels: &labels, note });
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        text
    }

    #[test]
    fn every_sequence_is_a_line_in_every_panel() {
        let names: Vec<String> = ["first", "second & last"].map(String::from).to_vec();
        let axis = vec![(0.0, 0.1), (1.0, 0.2), (0.5, 0.1), (2.0, 0.3)];
        let text = draw(&[0.0, 1.0, 2.0, 3.0], &[vec![0, 2], vec![1, 3]], &names, &[axis.clone(), axis]);
        assert_eq!(text.matches("fill-opacity=\".16\"").count(), 4);
        assert!(text.contains(">x2<") && text.contains("second &amp; last"));
    }

    #[test]
    fn odd_values_still_give_a_picture() {
        let odd = vec![(0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)];
        draw(&[5.0, 5.0, 5.0], &[vec![0, 1, 2]], &[], &[odd]);
        draw(&[], &[], &[], &[]);
        draw(&[1.0], &[vec![0]], &[], &[vec![(3.0, 0.0)]]);
    }
}
