//! Which point has which colour, and the legend or colour bar that says so.

use super::colour::{Class, GREY, PLAIN, classes, viridis};
use super::frame::{nice_step, number, range, ticks, usable};
use super::{Colour, INK, Picture, SOFT, TOP, escape, put};

/// Characters of a class name in the legend.
const NAME_SHOWN: usize = 22;

/// What explains the colours.
enum Key {
    None,
    Classes(Vec<Class>),
    Bar { low: f64, high: f64, name: String },
}

/// The few colours in use, and which of them each point has.
pub(super) struct Paint {
    pub colours: Vec<String>,
    of: Vec<usize>,
    key: Key,
}

impl Paint {
    pub fn new(picture: &Picture) -> Self {
        // Shades of a continuous scale; the eye cannot tell more apart and the file stays small.
        const SHADES: usize = 64;
        let (mut colours, of, key) = match picture.colour {
            Colour::Plain => (vec![PLAIN.to_string()], vec![0; picture.points.len()], Key::None),
            Colour::Labels(labels) => {
                let (legend, of) = classes(labels);
                let colours = legend.iter().map(|c| c.colour.to_string()).collect();
                (colours, of, Key::Classes(legend))
            }
            Colour::Value { values, name } => {
                let (low, high) = range(values.iter().copied().filter(|v| usable((*v, 0.0)))).unwrap_or((0.0, 0.0));
                let shade = |&value: &f64| match (value - low) / (high - low) {
                    _ if !usable((value, 0.0)) => SHADES,
                    t if t.is_finite() => (t * (SHADES - 1) as f64).round() as usize,
                    _ => SHADES / 2,
                };
                let colours = (0..SHADES).map(|s| viridis(s as f64 / (SHADES - 1) as f64));
                let name = escape(name, 40);
                (colours.collect(), values.iter().map(shade).collect(), Key::Bar { low, high, name })
            }
        };
        colours.push(GREY.to_string());
        Paint { colours, of, key }
    }

    /// The colour of a point as an index, the last one if nothing is known of it.
    pub fn index(&self, point: usize) -> usize {
        let grey = self.colours.len() - 1;
        self.of.get(point).copied().unwrap_or(grey).min(grey)
    }

    /// Room for the key on the right, as width and height.
    pub fn key_size(&self) -> (f64, f64) {
        match &self.key {
            Key::None => (24.0, 0.0),
            Key::Bar { low, high, .. } => (74.0 + longest_tick(*low, *high), 0.0),
            Key::Classes(legend) => {
                let line = |c: &Class| {
                    let name = c.name.chars().take(NAME_SHOWN + 1).map(advance).sum::<f64>();
                    name + 7.0 * c.count.to_string().len() as f64
                };
                let longest = legend.iter().map(line).fold(0.0, f64::max);
                (54.0 + longest, 21.0 * legend.len() as f64)
            }
        }
    }

    pub fn key(&self, out: &mut String, x: f64, height: f64) {
        match &self.key {
            Key::None => {}
            Key::Classes(legend) => {
                for (line, class) in legend.iter().enumerate() {
                    let y = TOP + 10.0 + 21.0 * line as f64;
                    put(
                        out,
                        format_args!(
                            r#"<circle cx="{}" cy="{y}" r="5" fill="{}"/><text x="{}" y="{}" fill="{INK}">{}<tspan dx="6" font-size="10.5" fill="{SOFT}">{}</tspan></text>
"#,
                            x + 5.0,
                            class.colour,
                            x + 17.0,
                            y + 4.0,
                            escape(&class.name, NAME_SHOWN),
                            class.count
                        ),
                    );
                }
            }
            Key::Bar { low, high, name } => {
                let stops: String = (0..=8)
                    .map(|s| {
                        let t = f64::from(s) / 8.0;
                        format!(r#"<stop offset="{t}" stop-color="{}"/>"#, viridis(t))
                    })
                    .collect();
                put(
                    out,
                    format_args!(
                        r##"<linearGradient id="v" x1="0" y1="1" x2="0" y2="0">{stops}</linearGradient><rect x="{x}" y="{TOP}" width="14" height="{height}" fill="url(#v)"/>
"##
                    ),
                );
                let step = nice_step((high - low) / 5.0);
                for tick in ticks(*low, *high, step) {
                    let share = if high > low { (tick - low) / (high - low) } else { 0.5 };
                    let y = TOP + height * (1.0 - share);
                    put(
                        out,
                        format_args!(r#"<text x="{}" y="{:.1}">{}</text>"#, x + 20.0, y + 4.0, number(tick, step)),
                    );
                }
                put(
                    out,
                    format_args!(
                        r#"<text transform="translate({} {:.1})rotate(-90)" text-anchor="middle" font-size="13" fill="{INK}">{name}</text>
"#,
                        x + 38.0 + longest_tick(*low, *high),
                        TOP + height / 2.0
                    ),
                );
            }
        }
    }
}

fn longest_tick(low: f64, high: f64) -> f64 {
    let step = nice_step((high - low) / 5.0);
    let width = |tick| number(tick, step).chars().map(advance).sum();
    ticks(low, high, step).into_iter().map(width).fold(0.0, f64::max)
}

/// A generous guess at the width of a character of the common sans-serif fonts at 12 pixels.
fn advance(character: char) -> f64 {
    if character < '\u{1100}' { 7.4 } else { 12.0 }
}
