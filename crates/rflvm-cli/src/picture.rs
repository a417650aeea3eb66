//! A scatter plot of the latent space as SVG.
//!
//! Written by hand and not with plotters: equal scales on both axes, one group per colour (small
//! files), legends and colour bars are then as much code, and the result needs no font metrics.

mod colour;
pub mod curves;
mod frame;
pub mod intervals;
mod paint;
pub mod paths;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use frame::{Frame, usable};
use paint::Paint;

/// What to draw; slices shorter than `points` leave the rest grey or without spread.
pub struct Picture<'a> {
    pub title: &'a str,
    pub points: &'a [(f64, f64)],
    /// Posterior standard deviation on each axis, drawn as faint crosses.
    pub sds: Option<&'a [(f64, f64)]>,
    pub colour: Colour<'a>,
    pub x_label: &'a str,
    /// Empty if the vertical position has no meaning: its scale is then not drawn.
    pub y_label: &'a str,
}

/// What the colour of a point says.
pub enum Colour<'a> {
    Plain,
    /// A class per point, with a legend; classes beyond twelve are grouped.
    Labels(&'a [String]),
    /// A number per point, with a colour bar.
    Value {
        values: &'a [f64],
        name: &'a str,
    },
}

const LEFT: f64 = 72.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 56.0;
const WIDTH: f64 = 560.0;
const INK: &str = "#2b2f33";
const SOFT: &str = "#6b7178";
/// Beyond this many points circles give way to dots of one path, a third of the bytes.
const CIRCLES: usize = 4000;

/// Draws the picture; points that are not finite are left out.
pub fn svg(picture: &Picture) -> String {
    let frame = Frame::around(picture);
    let paint = Paint::new(picture);
    let (key_width, key_height) = paint.key_size();
    let width = LEFT + WIDTH + key_width;
    let height = TOP + frame.height.max(key_height) + BOTTOM;
    let mut out = String::new();
    let title = escape(picture.title, 60);
    head(&mut out, &title, (width, height), LEFT);
    frame.draw(&mut out, picture);
    put(
        &mut out,
        format_args!(
            r#"<clipPath id="c"><rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{:.1}"/></clipPath><g clip-path="url(#c)">
"#,
            frame.height
        ),
    );
    if let Some(sds) = picture.sds {
        crosses(&mut out, picture, sds, &frame, &paint);
    }
    dots(&mut out, picture, &frame, &paint);
    out.push_str("</g>\n");
    paint.key(&mut out, LEFT + WIDTH + 18.0, frame.height);
    if picture.sds.is_some() {
        let shape = if picture.y_label.is_empty() { "bars" } else { "crosses" };
        put(
            &mut out,
            format_args!(
                r#"<text x="{}" y="{:.1}" font-size="10.5" text-anchor="end">{shape}: ± 1 posterior sd</text>
"#,
                LEFT + WIDTH,
                TOP + frame.height + 40.0
            ),
        );
    }
    out.push_str("</svg>\n");
    out
}

fn dots(out: &mut String, picture: &Picture, frame: &Frame, paint: &Paint) {
    let count = picture.points.len();
    let radius = (9.0 - 0.9 * (count.max(1) as f64).ln()).clamp(1.4, 4.5);
    // A run of points of one colour is one element; runs are short enough to mix the colours.
    const RUN: usize = 250;
    let mut runs: Vec<(String, usize)> = vec![(String::new(), 0); paint.colours.len()];
    let circles = count <= CIRCLES;
    let flush = |out: &mut String, run: &mut (String, usize), colour: &str| {
        let (shapes, _) = std::mem::take(run);
        if shapes.is_empty() {
        } else if circles {
            put(
                out,
                format_args!(
                    "<g fill=\"{colour}\" fill-opacity=\".85\" stroke=\"#fff\" stroke-width=\".7\">{shapes}</g>\n"
                ),
            );
        } else {
            put(
                out,
                format_args!(
                    "<path stroke=\"{colour}\" stroke-opacity=\".7\" stroke-width=\"{:.1}\" stroke-linecap=\"round\" d=\"{shapes}\"/>\n",
                    2.0 * radius
                ),
            );
        }
    };
    for (index, &point) in picture.points.iter().enumerate() {
        if !usable(point) {
            continue;
        }
        let (x, y) = frame.place(point);
        let colour = paint.index(index);
        let run = &mut runs[colour];
        if circles {
            put(&mut run.0, format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#));
        } else {
            put(&mut run.0, format_args!("M{x:.1} {y:.1}h0"));
        }
        run.1 += 1;
        if run.1 == RUN {
            flush(out, run, &paint.colours[colour]);
        }
    }
    for (run, colour) in runs.iter_mut().zip(&paint.colours) {
        flush(out, run, colour);
    }
}

fn crosses(out: &mut String, picture: &Picture, sds: &[(f64, f64)], frame: &Frame, paint: &Paint) {
    let mut paths = vec![String::new(); paint.colours.len()];
    for (index, (&point, &sd)) in picture.points.iter().zip(sds).enumerate() {
        if usable(point) && usable(sd) {
            let (x, y) = frame.place(point);
            let reach = |sd: f64| (sd.abs() * frame.scale).min(2.0 * WIDTH);
            let (dx, dy) = (reach(sd.0), reach(sd.1));
            put(
                &mut paths[paint.index(index)],
                format_args!("M{:.1} {y:.1}h{:.1}M{x:.1} {:.1}v{:.1}", x - dx, 2.0 * dx, y - dy, 2.0 * dy),
            );
        }
    }
    for (path, colour) in paths.iter().zip(&paint.colours) {
        if !path.is_empty() {
            put(out, format_args!("<path d=\"{path}\" stroke=\"{colour}\" stroke-opacity=\".22\" fill=\"none\"/>\n"));
        }
    }
}

/// What every picture begins with: its size, a white ground and its title, which is escaped already.
fn head(out: &mut String, title: &str, (width, height): (f64, f64), left: f64) {
    put(
        out,
        format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img" font-family="'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif" font-size="12" fill="{SOFT}">
<title>{title}</title>
<rect width="100%" height="100%" fill="white"/>
<text x="{left}" y="28" font-size="16" font-weight="600" fill="{INK}">{title}</text>
"#
        ),
    );
}

fn escape(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        match character {
            _ if count == limit => {
                out.push('…');
                break;
            }
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Formatting into a string cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments) {
    let _ = out.write_fmt(text);
}
