//! The colour of each row, and the legend or colour bar that explains it.

use super::colour::{Class, GREY, PLAIN, classes, viridis};
use super::span::{Span, nice_step, number, range, ticks, usable};
use super::text::{cut, cut_apart, escape, put, width};
use super::{Colour, INK, SOFT};

/// Pixels for the name of a class.
const NAME: f64 = 240.0;
/// Distance between the lines of a legend.
const LINE: f64 = 21.0;
/// Shades of a continuous scale; more cannot be distinguished, and the file stays small.
const SHADES: usize = 64;

/// What explains the colours.
enum Key {
    None,
    Classes(Vec<Class>),
    /// Positions of numbers on the bar, as fractions, with the numbers.
    Bar {
        name: String,
        numbers: Vec<(f64, String)>,
    },
}

/// The few colours in use, and which of them each row has.
pub(super) struct Paint {
    pub colours: Vec<String>,
    of: Vec<usize>,
    key: Key,
}

impl Paint {
    pub fn new(colour: &Colour, rows: usize) -> Self {
        let (mut colours, of, key) = match colour {
            Colour::Plain => (vec![PLAIN.to_string()], vec![0; rows], Key::None),
            Colour::Labels(labels) => {
                let (legend, of) = classes(labels);
                let colours = legend.iter().map(|c| c.colour.to_string()).collect();
                (colours, of, Key::Classes(legend))
            }
            Colour::Value { values, name, format } => {
                let (low, high) = range(values.iter().copied()).unwrap_or((0.0, 0.0));
                let shade = |&value: &f64| match (value - low) / (high - low) {
                    _ if !usable(value) => SHADES,
                    t if t.is_finite() => (t * (SHADES - 1) as f64).round() as usize,
                    _ => SHADES / 2,
                };
                let colours = (0..SHADES).map(|s| viridis(s as f64 / (SHADES - 1) as f64));
                let numbers = numbers(Span { low, high }, *format);
                (colours.collect(), values.iter().map(shade).collect(), Key::Bar { name: name.to_string(), numbers })
            }
        };
        colours.push(GREY.to_string());
        Paint { colours, of, key }
    }

    /// The colour of a row as an index, the last one if its value is unknown.
    pub fn index(&self, row: usize) -> usize {
        let grey = self.colours.len() - 1;
        self.of.get(row).copied().unwrap_or(grey).min(grey)
    }

    /// Whether points of this colour are hollow.
    pub fn is_ring(&self, colour: usize) -> bool {
        matches!(&self.key, Key::Classes(legend) if legend.get(colour).is_some_and(|class| class.is_ring))
    }

    /// Rows without a value, on a continuous scale.
    pub fn unknown(&self) -> usize {
        let is_unknown = |of: &&usize| matches!(self.key, Key::Bar { .. }) && **of == self.colours.len() - 1;
        self.of.iter().filter(is_unknown).count()
    }

    /// The size of the key; a bar is as high as the panels next to it.
    pub fn key_size(&self) -> (f64, f64) {
        match &self.key {
            Key::None => (0.0, 0.0),
            Key::Bar { numbers, .. } => (54.0 + longest(numbers), 0.0),
            Key::Classes(legend) => {
                let line = |c: &Class| width(&c.name, 12.0).min(NAME) + width(&c.count.to_string(), 10.5);
                (28.0 + legend.iter().map(line).fold(0.0, f64::max), LINE * legend.len() as f64)
            }
        }
    }

    /// Draws the key from this corner down, with a bar of this height.
    pub fn key(&self, out: &mut String, x: f64, top: f64, height: f64) {
        match &self.key {
            Key::None => {}
            Key::Classes(legend) => {
                let names: Vec<&str> = legend.iter().map(|class| class.name.as_str()).collect();
                let names = cut_apart(&names, NAME, 12.0);
                for (line, (class, name)) in legend.iter().zip(names).enumerate() {
                    let y = top + 10.0 + LINE * line as f64;
                    let fill = if class.is_ring { "#fff" } else { class.colour };
                    put(
                        out,
                        format_args!(
                            "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{fill}\" stroke=\"{}\" stroke-width=\"2\"/><text x=\"{:.1}\" y=\"{:.1}\" fill=\"{INK}\">{}<tspan dx=\"6\" font-size=\"10.5\" fill=\"{SOFT}\">{}</tspan></text>\n",
                            x + 6.0,
                            class.colour,
                            x + 18.0,
                            y + 4.0,
                            name,
                            class.count
                        ),
                    );
                }
            }
            Key::Bar { name, numbers } => {
                let stop = |s: u8| {
                    let t = f64::from(s) / 16.0;
                    format!("<stop offset=\"{t}\" stop-color=\"{}\"/>", viridis(t))
                };
                let stops: String = (0..=16).map(stop).collect();
                put(
                    out,
                    format_args!(
                        "<linearGradient id=\"viridis\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">{stops}</linearGradient><rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"14\" height=\"{height:.1}\" fill=\"url(#viridis)\"/>\n"
                    ),
                );
                for (share, text) in numbers {
                    let (y, text) = (top + height * (1.0 - share) + 4.0, escape(text));
                    put(out, format_args!("<text x=\"{:.1}\" y=\"{y:.1}\">{text}</text>", x + 20.0));
                }
                put(
                    out,
                    format_args!(
                        "<text transform=\"translate({:.1} {:.1})rotate(-90)\" text-anchor=\"middle\" font-size=\"13\" fill=\"{INK}\">{}</text>\n",
                        x + 38.0 + longest(numbers),
                        top + height / 2.0,
                        cut(name, height, 13.0)
                    ),
                );
            }
        }
    }
}

/// The numbers next to a bar: round ones, or both ends and the middle if they have a special format.
fn numbers(span: Span, format: Option<&dyn Fn(f64) -> String>) -> Vec<(f64, String)> {
    if let Some(format) = format {
        let at = |share: f64| (share, format(span.low + share * span.width()));
        return if span.width() > 0.0 { vec![at(0.0), at(0.5), at(1.0)] } else { vec![(0.5, format(span.low))] };
    }
    let step = nice_step(span.width() / 5.0);
    let share = |tick: f64| if span.width() > 0.0 { (tick - span.low) / span.width() } else { 0.5 };
    ticks(&span, step).into_iter().map(|tick| (share(tick), number(tick, step))).collect()
}

fn longest(numbers: &[(f64, String)]) -> f64 {
    numbers.iter().map(|(_, text)| width(text, 12.0)).fold(0.0, f64::max)
}
