//! What a prior assumes: a histogram of cells, and functions of the first latent axis next to it, on the same scale.

use super::colour::{PALETTE, PLAIN};
use super::histograms::{bars, put_bars};
use super::panel::{Panel, Side};
use super::span::{Span, usable};
use super::text::put;
use super::{NOTE, TOP, head, notes};
use rflvm::internal::posterior::diagnostics::quantile;

pub struct Picture<'a> {
    pub title: &'a str,
    /// What is shown.
    pub quantity: &'a str,
    pub scale: Scale,
    /// Cells of all tables.
    pub values: Vec<f64>,
    /// Some columns: position on the first axis, and mean of the cell there.
    pub functions: Vec<Vec<(f64, f64)>>,
    pub notes: &'a [String],
}

/// How numbers become places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// As they are, from 0 to 1.
    Share,
    /// As they are.
    Plain,
    /// Logarithmic on both sides of zero, linear within this distance from it.
    Log(f64),
}

impl Scale {
    /// y = s (10^u − 10^−u) for a place u: whole numbers u are powers of ten, to one percent.
    fn place(self, value: f64) -> f64 {
        match self {
            Scale::Share | Scale::Plain => value,
            Scale::Log(s) => (0.5 * value / s).asinh() / 10_f64.ln(),
        }
    }

    /// The label of a tick.
    fn label(self, place: f64) -> String {
        let text = match self {
            Scale::Share => format!("{place:.1}"),
            Scale::Plain => format!("{place:.0}"),
            Scale::Log(_) if place == 0.0 => "0".into(),
            Scale::Log(s) => {
                let power = s.log10().round() + place.abs();
                let size = if (-3.0..=5.0).contains(&power) {
                    format!("{}", 10_f64.powf(power))
                } else {
                    format!("1e{power}")
                };
                format!("{}{size}", if place < 0.0 { "−" } else { "" })
            }
        };
        text.replace('-', "−")
    }

    /// From the places of the smallest and largest values shown.
    fn span(self, low: f64, high: f64) -> Span {
        match self {
            Scale::Share => Span { low: 0.0, high: 1.0 },
            // A bar is as wide as the step between whole numbers.
            Scale::Plain => Span { low: low - 0.6, high: high + 0.6 },
            Scale::Log(_) => Span::around([low, high, 0.0, 1.0].into_iter(), 0.04),
        }
    }

    /// Distance between ticks.
    fn step(self, span: &Span) -> f64 {
        match self {
            Scale::Share => 0.2,
            Scale::Plain | Scale::Log(_) => span.step(6.0).max(1.0),
        }
    }
}

const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 24.0;
/// Space between the panels, for the numbers of the second.
const BETWEEN: f64 = 92.0;
/// Space below the panels, for numbers and labels.
const BELOW: f64 = 66.0;
/// The share of the cells that is shown: a heavy tail would leave no room for the rest.
const SHOWN: f64 = 0.99;

/// Draws the picture.
pub fn svg(picture: &Picture) -> String {
    let Picture { scale, .. } = *picture;
    let mut sorted: Vec<f64> = picture.values.iter().copied().filter(|v| usable(*v)).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = |share: f64| [0.5 - 0.5 * share, 0.5 + 0.5 * share].map(|p| quantile(&sorted, p));
    let [low, high] = middle(SHOWN);
    let places: Vec<f64> = sorted.iter().filter(|v| (low..=high).contains(*v)).map(|v| scale.place(*v)).collect();
    let span = scale.span(scale.place(low), scale.place(high));
    let format = |place: f64| scale.label(place);
    let side =
        Side { label: picture.quantity, step: Some(scale.step(&span)), is_numbered: true, format: Some(&format) };
    let nothing = Side { label: "", step: None, is_numbered: false, format: None };
    let bars = bars(&places);
    let tallest = bars.iter().map(|bar| bar.count).max().unwrap_or(1);
    let second = LEFT + WIDTH + BETWEEN;
    let ([a, b], [c, d]) = (middle(0.5).map(short), middle(0.9).map(short));
    let words = (!sorted.is_empty()).then(|| format!("the middle half: {a} … {b}; the middle 90%: {c} … {d}"));
    let remarks: Vec<String> = words.into_iter().chain(picture.notes.iter().cloned()).collect();
    let height = TOP + HEIGHT + BELOW;
    let size = (second + WIDTH + LEFT, height + NOTE * remarks.len() as f64);
    let mut out = String::new();
    head(&mut out, picture.title, size, LEFT);
    let left = Panel {
        left: LEFT,
        top: TOP,
        width: WIDTH,
        height: HEIGHT,
        x: span,
        y: Span { low: 0.0, high: 1.08 * tallest as f64 },
    };
    left.draw(&mut out, &side, &nothing);
    put_bars(&mut out, &left, &bars, PLAIN);
    let along = Span::around(picture.functions.iter().flatten().map(|p| p.0), 0.0);
    let right = Panel { left: second, x: along, y: span, ..left };
    right.draw(&mut out, &Side::plain("first latent axis", along.step(6.0)), &side);
    for (function, colour) in picture.functions.iter().zip(PALETTE) {
        draw(&mut out, &right, scale, function, colour);
    }
    notes(&mut out, &remarks, LEFT, height, size.0 - 2.0 * LEFT);
    out.push_str("</svg>\n");
    out
}

/// The parts of a function that are within the panel.
fn draw(out: &mut String, panel: &Panel, scale: Scale, function: &[(f64, f64)], colour: &str) {
    let good = function.iter().filter(|(_, y)| !y.is_nan());
    let points: Vec<(f64, f64)> = good.map(|&(x, y)| panel.place((x, scale.place(y.clamp(-1e99, 1e99))))).collect();
    let mut path = String::new();
    for pair in points.windows(2) {
        let Some((from, to)) = panel.clip(pair[0], pair[1]) else { continue };
        // A new piece begins where the function enters the panel.
        let end = format!("{:.1} {:.1}", from.0, from.1);
        if !path.ends_with(&end) {
            put(&mut path, format_args!("M{end}"));
        }
        put(&mut path, format_args!("L{:.1} {:.1}", to.0, to.1));
    }
    put(out, format_args!("<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"1.6\" fill=\"none\"/>\n"));
}

/// Two significant digits.
fn short(value: f64) -> String {
    let places = if value == 0.0 { 0.0 } else { 1.0 - value.abs().log10().floor() };
    match value.abs() {
        size if size >= 1e6 => format!("{value:.0e}"),
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.*}", places.clamp(0.0, 6.0) as usize),
    }
    .replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_powers_of_ten_and_zero() {
        for (scale, place, label) in [
            (Scale::Log(1.0), 0.0, "0"),
            (Scale::Log(1.0), 2.0, "100"),
            (Scale::Log(0.01), 1.0, "0.1"),
            (Scale::Log(0.01), -3.0, "−10"),
            (Scale::Log(1.0), 8.0, "1e8"),
            (Scale::Share, 0.2, "0.2"),
        ] {
            assert_eq!(scale.label(place), label);
        }
        assert!((Scale::Log(1.0).place(1000.0) - 3.0).abs() < 1e-3 && Scale::Log(0.01).place(-0.1) < -0.99);
        assert_eq!([0.0, 0.0123, 5.0, 146.2, -0.5, 2e7].map(short), ["0", "0.012", "5", "146", "−0.50", "2e7"]);
    }

    #[test]
    fn odd_values_still_give_a_picture() {
        for scale in [Scale::Share, Scale::Log(1.0), Scale::Log(0.01)] {
            for values in [vec![], vec![f64::NAN, f64::INFINITY], vec![0.0; 3], vec![1e99, -1e99, 0.5]] {
                let function = vec![(-1.0, f64::NAN), (0.0, 0.1), (0.5, 1e300), (1.0, f64::INFINITY)];
                let picture = Picture {
                    title: "a < b",
                    quantity: "y",
                    scale,
                    values,
                    functions: vec![function, vec![]],
                    notes: &[],
                };
                let text = svg(&picture);
                assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n") && text.contains("a &lt; b"));
                assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            }
        }
    }
}
