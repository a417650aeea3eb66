//! Estimates with their errors, one below the other.

use super::colour::{GREY, PLAIN};
use super::panel::{Panel, Side};
use super::span::Span;
use super::text::{cut, cut_middle, put};
use super::{INK, TOP, head};

/// One estimate.
pub struct Interval {
    pub name: String,
    pub value: f64,
    /// One standard error.
    pub error: f64,
    /// Drawn in colour.
    pub is_marked: bool,
}

/// Pixels for the names, and for the estimates.
const NAMES: f64 = 340.0;
const WIDTH: f64 = 420.0;
/// Height of a line.
const HEIGHT: f64 = 24.0;
/// Space below the panel, for numbers and the axis label.
const BELOW: f64 = 56.0;

/// Draws the estimates from top to bottom; one that is not finite has a name and no point.
pub fn svg(title: &str, label: &str, intervals: &[Interval]) -> String {
    let error = |i: &Interval| if i.error.is_finite() { i.error } else { 0.0 };
    let x = Span::around(intervals.iter().flat_map(|i| [i.value - error(i), i.value + error(i)]), 0.05);
    let (lines, y) = (intervals.len() as f64, Span { low: 0.0, high: 1.0 });
    let panel = Panel { left: NAMES, top: TOP, width: WIDTH, height: HEIGHT * lines, x, y };
    let mut out = String::new();
    head(&mut out, title, (NAMES + WIDTH + 24.0, panel.bottom() + BELOW), 16.0);
    let nothing = Side { label: "", step: None, is_numbered: false, format: None };
    panel.draw(&mut out, &Side::plain("", x.step(5.0)), &nothing);
    for (line, interval) in intervals.iter().enumerate() {
        let y = TOP + HEIGHT * (line as f64 + 0.5);
        let colour = if interval.is_marked { PLAIN } else { GREY };
        let name = cut_middle(&interval.name, NAMES - 24.0, 12.0);
        put(
            &mut out,
            format_args!(
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{INK}\">{name}</text>",
                NAMES - 12.0,
                y + 4.0
            ),
        );
        if interval.value.is_finite() {
            let at = |value: f64| panel.place((value, 0.0)).0;
            let (left, right) = (at(interval.value - error(interval)), at(interval.value + error(interval)));
            put(
                &mut out,
                format_args!(
                    "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"{colour}\" stroke-width=\"2\"/><circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\"/>\n",
                    at(interval.value)
                ),
            );
        }
    }
    // Wider than the panel: it begins below the names.
    let label = cut(&format!("{label} (± 1 standard error)"), NAMES + WIDTH - 16.0, 13.0);
    put(
        &mut out,
        format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"13\" fill=\"{INK}\">{label}</text>\n</svg>\n",
            panel.right(),
            panel.bottom() + 42.0
        ),
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_estimates_are_drawn() {
        let interval = |value, error, is_marked| Interval { name: "a < b".into(), value, error, is_marked };
        let odd = [interval(0.0, 0.0, false), interval(-3.0, f64::NAN, true), interval(f64::NEG_INFINITY, 1.0, false)];
        for intervals in [&odd[..], &odd[..1], &odd[2..], &[]] {
            let text = svg("t & u", "score", intervals);
            assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            assert_eq!(text.matches("a &lt; b").count(), intervals.len());
            assert_eq!(text.matches("<circle").count(), intervals.iter().filter(|i| i.value.is_finite()).count());
        }
    }
}
