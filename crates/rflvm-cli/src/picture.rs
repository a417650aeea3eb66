//! Pictures as SVG.
//!
//! Written directly rather than with plotters: equal scales on all axes, few elements per colour (small files), legends and colour bars
//! would take as much code, and the result needs no font metrics.

pub mod colour;
pub mod curves;
pub mod histograms;
pub mod intervals;
mod layout;
mod marks;
pub mod modes;
mod paint;
mod panel;
pub mod paths;
pub mod prior;
mod reach;
pub mod scatter;
mod signs;
mod span;
pub mod spec;
mod text;

use text::{cut, escape, put};

/// What the colour of a row means.
pub enum Colour<'a> {
    Plain,
    /// A class per row, with a legend.
    Labels(&'a [String]),
    /// A number per row, with a colour bar.
    Value {
        values: &'a [f64],
        name: &'a str,
        /// How to format a number, if not as a plain number.
        format: Option<&'a dyn Fn(f64) -> String>,
    },
}

const TOP: f64 = 48.0;
const INK: &str = "#2b2f33";
const SOFT: &str = "#6b7178";
const GRID: &str = "#e9ecef";
const RIM: &str = "#c9ced3";

/// The start of every picture: its size, a white background and its title.
fn head(out: &mut String, title: &str, (width, height): (f64, f64), left: f64) {
    let (whole, shown) = (escape(title), cut(title, width - left - 8.0, 17.5));
    put(
        out,
        format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img" font-family="'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif" font-size="12" fill="{SOFT}">
<title>{whole}</title>
<rect width="100%" height="100%" fill="white"/>
<text x="{left:.1}" y="28" font-size="16" font-weight="600" fill="{INK}">{shown}</text>
"#
        ),
    );
}

/// Remarks below a picture, one per line.
fn notes(out: &mut String, notes: &[String], left: f64, top: f64, room: f64) {
    for (line, note) in notes.iter().enumerate() {
        let (y, note) = (top + NOTE * line as f64, cut(note, room, 10.5));
        put(out, format_args!("<text x=\"{left:.1}\" y=\"{y:.1}\" font-size=\"10.5\">{note}</text>\n"));
    }
}

/// Distance between the lines of remarks.
const NOTE: f64 = 15.0;
