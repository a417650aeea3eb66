//! What a picture shows: panels with axes and marks, a key and notes, in places given in pixels. It is made once, drawn as SVG here, and on
//! matplotlib's axes by Python.

use super::panel::{Axis, Panel};
use super::text::{escape, put};
use super::{INK, NOTE, SOFT, head};
use serde::Serialize;

/// A picture.
#[derive(Debug, Serialize)]
pub struct Picture {
    pub title: String,
    /// Width and height.
    pub size: (f64, f64),
    /// The left edge of the title and the notes.
    pub left: f64,
    pub panels: Vec<Drawn>,
    pub key: Vec<Entry>,
    /// Remarks below the panels, from this height down.
    pub notes: Vec<String>,
    pub notes_top: f64,
}

/// A panel with what it shows.
#[derive(Debug, Serialize)]
pub struct Drawn {
    #[serde(flatten)]
    pub panel: Panel,
    pub across: Axis,
    pub up: Axis,
    pub marks: Vec<Mark>,
    pub words: Vec<Words>,
}

/// What is drawn in a panel, in the units of its axes; widths and radii are in pixels.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Mark {
    /// A line, interrupted where a value is unknown.
    Line { name: String, x: Vec<f64>, y: Vec<f64>, colour: String, width: f64, is_dashed: bool },
    /// The area between two lines.
    Band { x: Vec<f64>, low: Vec<f64>, high: Vec<f64>, colour: String, opacity: f64 },
    /// Upright bars from low to high.
    Intervals { x: Vec<f64>, low: Vec<f64>, high: Vec<f64>, colour: String, opacity: f64, width: f64 },
    /// Dots; hollow ones are drawn as squares by some.
    Dots { name: String, x: Vec<f64>, y: Vec<f64>, colour: String, radius: f64, is_hollow: bool },
    /// The bars of a histogram, which begin at 0; only their outline if they are hollow.
    Bars { low: Vec<f64>, high: Vec<f64>, height: Vec<f64>, colour: String, opacity: f64, is_hollow: bool },
    /// A range of the horizontal axis.
    Region { low: f64, high: f64, colour: String, opacity: f64 },
    /// A line across the whole panel: upright at x, or level at y.
    Rule { x: Option<f64>, y: Option<f64>, colour: String, width: f64, is_dashed: bool },
}

/// A text next to a panel.
#[derive(Debug, Serialize)]
pub struct Words {
    pub at: (f64, f64),
    pub text: String,
    pub size: f64,
    pub colour: String,
}

/// A line of the key.
#[derive(Debug, Serialize)]
pub struct Entry {
    pub name: String,
    pub colour: String,
    pub is_dashed: bool,
    pub at: (f64, f64),
}

impl Picture {
    /// As SVG.
    pub fn svg(&self) -> String {
        let mut out = String::new();
        head(&mut out, &self.title, self.size, self.left);
        for drawn in &self.panels {
            drawn.panel.frame(&mut out, &drawn.across, &drawn.up);
            drawn.marks.iter().for_each(|mark| mark.svg(&mut out, &drawn.panel));
            drawn.words.iter().for_each(|words| words.svg(&mut out));
        }
        for Entry { name, colour, is_dashed, at: (x, y) } in &self.key {
            let (dash, name, right, below) = (dash(*is_dashed), escape(name), x + 18.0, y + 4.0);
            put(
                &mut out,
                format_args!(
                    "<path d=\"M{x:.1} {y}h12\" stroke=\"{colour}\" stroke-width=\"3\"{dash}/><text x=\"{right:.1}\" y=\"{below}\" fill=\"{INK}\">{name}</text>\n"
                ),
            );
        }
        for (line, note) in self.notes.iter().enumerate() {
            let at = (self.left, self.notes_top + NOTE * line as f64);
            Words { at, text: note.clone(), size: 10.5, colour: SOFT.into() }.svg(&mut out);
        }
        out.push_str("</svg>\n");
        out
    }
}

impl Words {
    fn svg(&self, out: &mut String) {
        let (Words { size, colour, .. }, (x, y), text) = (self, self.at, escape(&self.text));
        put(
            out,
            format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{colour}\">{text}</text>\n"),
        );
    }
}

fn dash(is_dashed: bool) -> &'static str {
    if is_dashed { " stroke-dasharray=\"5 3\"" } else { "" }
}

/// Points joined by lines, a new piece after each unknown one.
fn path(panel: &Panel, points: impl Iterator<Item = (f64, f64)>) -> String {
    let (mut path, mut is_on) = (String::new(), false);
    for point in points {
        let (x, y) = panel.place(point);
        let is_known = x.is_finite() && y.is_finite();
        if is_known {
            put(&mut path, format_args!("{}{x:.1} {y:.1}", if is_on { "L" } else { "M" }));
        }
        is_on = is_known;
    }
    path
}

impl Mark {
    fn svg(&self, out: &mut String, panel: &Panel) {
        match self {
            Mark::Line { x, y, colour, width, is_dashed, .. } => {
                let (path, dash) = (path(panel, x.iter().copied().zip(y.iter().copied())), dash(*is_dashed));
                if !path.is_empty() {
                    put(
                        out,
                        format_args!(
                            "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{width}\" fill=\"none\"{dash}/>\n"
                        ),
                    );
                }
            }
            Mark::Band { x, low, high, colour, opacity } => {
                let known = |i: &usize| low[*i].is_finite() && high[*i].is_finite() && x[*i].is_finite();
                let kept: Vec<usize> = (0..x.len()).filter(known).collect();
                let edge = kept.iter().map(|&i| (x[i], high[i])).chain(kept.iter().rev().map(|&i| (x[i], low[i])));
                if !kept.is_empty() {
                    let outline = path(panel, edge);
                    put(out, format_args!("<path d=\"{outline}Z\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>\n"));
                }
            }
            Mark::Intervals { x, low, high, colour, opacity, width } => {
                let ends = x
                    .iter()
                    .zip(low)
                    .zip(high)
                    .map(|((&x, &low), &high)| path(panel, [(x, low), (x, high)].into_iter()));
                let d: String = ends.collect();
                put(
                    out,
                    format_args!(
                        "<path d=\"{d}\" stroke=\"{colour}\" stroke-opacity=\"{opacity}\" stroke-width=\"{width}\" fill=\"none\"/>\n"
                    ),
                );
            }
            Mark::Dots { x, y, colour, radius, is_hollow, .. } => {
                let fill = if *is_hollow { "none" } else { colour.as_str() };
                put(
                    out,
                    format_args!("<g fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"{}\">", u8::from(*is_hollow)),
                );
                for (x, y) in x.iter().zip(y).map(|(&x, &y)| panel.place((x, y))).filter(|(x, y)| (x + y).is_finite()) {
                    put(out, format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"));
                }
                out.push_str("</g>\n");
            }
            Mark::Bars { low, high, height, colour, opacity, is_hollow } => {
                let mut shapes = String::new();
                for ((&low, &high), &height) in low.iter().zip(high).zip(height).filter(|(_, height)| **height > 0.0) {
                    let ((from, up), (to, down)) = (panel.place((low, height)), panel.place((high, 0.0)));
                    // A gap between bars, unless the bars are too narrow.
                    let right = (to - 0.6).max(from + 0.6);
                    put(&mut shapes, format_args!("M{from:.1} {down:.1}V{up:.1}H{right:.1}V{down:.1}Z"));
                }
                let paint = if *is_hollow {
                    format!("stroke=\"{colour}\" fill=\"none\"")
                } else {
                    format!("fill=\"{colour}\"")
                };
                put(out, format_args!("<path d=\"{shapes}\" {paint} fill-opacity=\"{opacity}\"/>\n"));
            }
            Mark::Region { low, high, colour, opacity } => {
                let [from, to] = [low, high].map(|&end| panel.place((end.clamp(panel.x.low, panel.x.high), 0.0)).0);
                let (top, height, width) = (panel.top, panel.height, (to - from).max(0.0));
                put(
                    out,
                    format_args!(
                        "<rect x=\"{from:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>\n"
                    ),
                );
            }
            Mark::Rule { x, y, colour, width, is_dashed } => {
                let (right, bottom, dash) = (panel.right(), panel.bottom(), dash(*is_dashed));
                let across = x.map(|x| panel.place((x.clamp(panel.x.low, panel.x.high), 0.0)).0);
                let up = y.map(|y| panel.place((0.0, y)).1);
                let path = match (across, up) {
                    (Some(x), _) => format!("M{x:.1} {:.1}V{bottom:.1}", panel.top),
                    (_, Some(y)) => format!("M{:.1} {y:.1}H{right:.1}", panel.left),
                    _ => String::new(),
                };
                put(out, format_args!("<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}/>\n"));
            }
        }
    }
}
