//! Values over time: one panel per latent axis, column or quantity, one line per sequence or chain, with a band of uncertainty.

use super::colour::{GREY, PLAIN, classes};
use super::panel::{Axis, Panel, Side};
use super::span::Span;
use super::spec::{Drawn, Entry, Mark, Picture, Words};
use super::text::{beginning, ends, width};
use super::{INK, TOP};
use rflvm_study::times::Calendar;
use serde::Deserialize;

/// Values over time.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Paths {
    pub title: String,
    /// What the times are.
    pub across: String,
    pub times: Times,
    pub panels: Vec<Values>,
    /// Lines of each panel, each with its entry in the key if it has a name.
    pub names: Vec<String>,
    /// Whether the ranks of each line's values among all are shown next to them (Vehtari et al. 2021).
    pub ranks: bool,
    /// What the bands are.
    pub note: String,
}

/// Times as numbers, or as texts that are dates.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Times {
    Numbers(Vec<f64>),
    Dates(Vec<String>),
    #[serde(skip)]
    On(Vec<f64>, Calendar),
}

impl Default for Times {
    fn default() -> Self {
        Times::Numbers(Vec::new())
    }
}

/// One panel.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Values {
    pub label: String,
    /// What is said above it.
    pub heading: String,
    pub lines: Vec<Line>,
}

/// A line. Values are of the times at the places in `rows`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line {
    /// Its name, by its place among all names; without one, it has the first colour.
    pub name: Option<usize>,
    pub rows: Vec<usize>,
    pub values: Vec<Option<f64>>,
    /// Bands, the widest first.
    pub bands: Vec<[Vec<Option<f64>>; 2]>,
    pub look: Look,
}

/// How a line is drawn.
#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    #[default]
    Line,
    /// A thin line of many values.
    Trace,
    /// Grey dots, joined: what was observed.
    Observed,
    /// Grey dots.
    Dots,
    /// Coloured dots with upright bars.
    Bars,
    /// Hollow dots.
    Hollow,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 150.0;
const GAP: f64 = 16.0;
/// Space for a heading, and below the panels, for numbers, the axis label and the note.
const ABOVE: f64 = 18.0;
const BELOW: f64 = 72.0;
/// Pixels for a name in the key.
const NAME: f64 = 190.0;
/// Size of the ranks, and bars of a histogram of them.
const RANKS: f64 = 150.0;
const BARS: usize = 20;

/// The picture; the error says which time cannot be read.
pub fn picture(paths: &Paths) -> Result<Picture, String> {
    let (at, calendar) = match &paths.times {
        Times::Numbers(at) => (at.clone(), Calendar::Numbers),
        Times::On(at, calendar) => (at.clone(), calendar.clone()),
        Times::Dates(texts) => Calendar::of_texts(texts)?,
    };
    let has_dates = calendar != Calendar::Numbers;
    let format = |time: f64| calendar.format(time);
    let (legend, of) = classes(&paths.names);
    let shown = paths.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.rows);
    let time = Span::around(shown.filter_map(|&n| at.get(n).copied()), 0.02);
    let known = |values: &Vec<Option<f64>>| values.iter().flatten().copied().collect::<Vec<f64>>();
    let spans: Vec<Span> = paths
        .panels
        .iter()
        .map(|panel| {
            let bands = panel.lines.iter().flat_map(|line| line.bands.iter().flatten());
            Span::around(panel.lines.iter().map(|line| &line.values).chain(bands).flat_map(known), 0.06)
        })
        .collect();
    let room = spans.iter().map(|span| Side::plain("", span.step(4.0)).room(span)).fold(0.0, f64::max);
    let (left, count) = (44.0 + room, spans.len());
    let above = if paths.panels.iter().any(|panel| !panel.heading.is_empty()) { ABOVE } else { 0.0 };
    let high = (HEIGHT + above) * count as f64 + GAP * count.saturating_sub(1) as f64;
    let names = legend.iter().map(|class| width(&class.name, 12.0).min(NAME)).reduce(f64::max);
    let right = left + WIDTH + if paths.ranks { GAP + RANKS } else { 0.0 };
    let bottom = TOP + high.max(21.0 * legend.len() as f64);
    let size = (right + names.map_or(24.0, |names| 52.0 + names), bottom + BELOW);
    let mut panels = Vec::new();
    for (d, (values, span)) in paths.panels.iter().zip(&spans).enumerate() {
        let top = TOP + above + d as f64 * (HEIGHT + above + GAP);
        let panel = Panel { left, top, width: WIDTH, height: HEIGHT, x: time, y: *span };
        let is_last = d + 1 == count;
        // As many times as fit next to each other.
        let letters = if has_dates { format(time.low).chars().count() } else { 6 };
        let step = Some(time.step((WIDTH / (7.0 * letters as f64 + 24.0)).min(7.0)));
        let label = if is_last { paths.across.as_str() } else { "" };
        let format: Option<&dyn Fn(f64) -> String> = if has_dates { Some(&format) } else { None };
        let mut across = Axis::of(&Side { label, step, is_numbered: is_last, format }, &panel, true);
        across.origin = calendar.units();
        let up = Axis::of(&Side::plain(&values.label, span.step(4.0)), &panel, false);
        let look = |line: &Line| {
            let class = line.name.and_then(|name| of.get(name)).map(|&class| &legend[class]);
            class.map_or((PLAIN, false), |class| (class.colour, class.is_ring))
        };
        let name = |line: &Line| line.name.and_then(|name| paths.names.get(name)).cloned().unwrap_or_default();
        let marks = values.lines.iter().flat_map(|line| marks(line, &at, name(line), look(line))).collect();
        let text = beginning(&values.heading, WIDTH, 12.0);
        let heading = Words { at: (left, top - 6.0), text, size: 12.0, colour: INK.into() };
        let words = Some(heading).filter(|heading| !heading.text.is_empty()).into_iter().collect();
        panels.push(Drawn { panel, across, up, marks, words });
        if paths.ranks {
            let label = if is_last { "rank among all draws" } else { "" };
            panels.push(ranks(values, Panel { left: left + WIDTH + GAP, width: RANKS, ..panel }, label, look));
        }
    }
    let entry = |(line, class): (usize, &super::colour::Class)| Entry {
        name: ends(&class.name, NAME, 12.0),
        colour: class.colour.into(),
        is_dashed: class.is_ring,
        at: (right + 18.0, TOP + 10.0 + 21.0 * line as f64),
    };
    let key = legend.iter().enumerate().map(entry).collect();
    let notes = vec![beginning(&paths.note, WIDTH, 10.5)];
    Ok(Picture { title: paths.title.clone(), size, left, panels, key, notes, notes_top: bottom + BELOW - 10.0 })
}

/// The bands of a line, and the line on them; a single value is a dot with a bar.
fn marks(line: &Line, times: &[f64], name: String, (colour, is_dashed): (&str, bool)) -> Vec<Mark> {
    let number = |values: &[Option<f64>]| values.iter().map(|v| v.unwrap_or(f64::NAN)).collect::<Vec<f64>>();
    let (x, y): (Vec<f64>, _) =
        (line.rows.iter().map(|&n| times.get(n).copied().unwrap_or(f64::NAN)).collect(), number(&line.values));
    let colour = if matches!(line.look, Look::Observed | Look::Dots) { GREY } else { colour };
    let (is_dots, mut marks) = (matches!(line.look, Look::Bars) || x.len() == 1, Vec::new());
    for [low, high] in &line.bands {
        let (x, low, high, colour) = (x.clone(), number(low), number(high), colour.to_string());
        marks.push(match is_dots {
            true => Mark::Intervals { x, low, high, colour, opacity: 0.4, width: 1.5 },
            false => Mark::Band { x, low, high, colour, opacity: 0.16 },
        });
    }
    let has_dots = is_dots || !matches!(line.look, Look::Line | Look::Trace);
    if !has_dots || line.look == Look::Observed {
        let width = if line.look == Look::Line { 1.4 } else { 0.8 };
        let (name, x, y, colour) = (name.clone(), x.clone(), y.clone(), colour.to_string());
        marks.push(Mark::Line { name, x, y, colour, width, is_dashed });
    }
    if has_dots {
        let (colour, is_hollow) = (colour.to_string(), line.look == Look::Hollow);
        let radius = if line.look == Look::Observed { 1.75 } else { 2.5 };
        marks.push(Mark::Dots { name, x, y, colour, radius, is_hollow });
    }
    marks
}

/// How many values of each line fall into each part of all values by rank.
fn ranks<'a>(values: &Values, panel: Panel, label: &str, look: impl Fn(&Line) -> (&'a str, bool)) -> Drawn {
    let each = values.lines.iter().enumerate();
    let mut order: Vec<(f64, usize)> =
        each.flat_map(|(c, line)| line.values.iter().map(move |v| (v.unwrap_or(f64::NAN), c))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (all, own) = (order.len(), values.lines.first().map_or(0, |line| line.values.len()));
    let bars = (own / 5).clamp(2, BARS);
    let mut heights = vec![vec![0.0; bars]; values.lines.len()];
    order.iter().enumerate().for_each(|(rank, &(_, c))| heights[c][rank * bars / all.max(1)] += 1.0);
    let edge = |i: usize| (i * all) as f64 / bars as f64;
    let (low, high): (Vec<f64>, Vec<f64>) = ((0..bars).map(edge).collect(), (1..=bars).map(edge).collect());
    let mut marks = vec![Mark::Rule {
        x: None,
        y: Some(own as f64 / bars as f64),
        colour: GREY.into(),
        width: 1.0,
        is_dashed: true,
    }];
    for (line, height) in values.lines.iter().zip(&heights) {
        for (is_hollow, opacity) in [(false, 0.15), (true, 1.0)] {
            let (low, high, height, colour) = (low.clone(), high.clone(), height.clone(), look(line).0.to_string());
            marks.push(Mark::Bars { low, high, height, colour, opacity, is_hollow });
        }
    }
    let tallest = heights.iter().flatten().copied().fold(1.0, f64::max);
    let panel =
        Panel { x: Span { low: 0.0, high: all.max(1) as f64 }, y: Span { low: 0.0, high: 1.08 * tallest }, ..panel };
    let bare = |label: &str| Axis { label: label.into(), ticks: Vec::new(), origin: None };
    Drawn { panel, across: bare(label), up: bare(""), marks, words: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(times: Vec<f64>, sequences: &[Vec<usize>], names: &[&str], panels: &[Vec<(f64, f64)>]) -> String {
        let known = |v: f64| Some(v).filter(|v| v.is_finite());
        let line = |(s, rows): (usize, &Vec<usize>), axis: &[(f64, f64)]| Line {
            name: (s < names.len()).then_some(s),
            rows: rows.clone(),
            values: rows.iter().map(|&n| known(axis[n].0)).collect(),
            bands: vec![[-1.0, 1.0].map(|side| rows.iter().map(|&n| known(axis[n].0 + side * axis[n].1)).collect())],
            look: Look::Line,
        };
        let panel = |(d, axis): (usize, &Vec<(f64, f64)>)| Values {
            label: format!("x{}", d + 1),
            heading: String::new(),
            lines: sequences.iter().enumerate().map(|one| line(one, axis)).collect(),
        };
        let paths = Paths {
            title: "a < b".into(),
            across: "time".into(),
            times: Times::Numbers(times),
            panels: panels.iter().enumerate().map(panel).collect(),
            names: names.iter().map(ToString::to_string).collect(),
            ranks: true,
            note: "bands".into(),
        };
        let text = picture(&paths).unwrap().svg();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        text
    }

    #[test]
    fn every_sequence_is_a_line_in_every_panel() {
        let axis = vec![(0.0, 0.1), (1.0, 0.2), (0.5, 0.1), (2.0, 0.3)];
        let sequences = [vec![0, 2], vec![1, 3]];
        let text = draw(vec![0.0, 1.0, 2.0, 3.0], &sequences, &["first", "second & last"], &[axis.clone(), axis]);
        assert_eq!(text.matches("fill-opacity=\"0.16\"").count(), 4);
        assert!(text.contains(">x2<") && text.contains("second &amp; last"));
    }

    #[test]
    fn odd_values_still_give_a_picture() {
        let odd = vec![(0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)];
        draw(vec![5.0, 5.0, 5.0], &[vec![0, 1, 2]], &[], &[odd]);
        draw(vec![], &[], &[], &[]);
        draw(vec![1.0], &[vec![0]], &[], &[vec![(3.0, 0.0)]]);
    }
}
