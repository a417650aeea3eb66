//! Estimates with their errors as SVG, one below the other.

use super::colour::{GREY, PLAIN};
use super::frame::{nice_step, number, range, ticks};
use super::{BOTTOM, INK, TOP, escape, head, put};

/// One estimate.
pub struct Interval {
    pub name: String,
    pub value: f64,
    /// One standard error.
    pub error: f64,
    /// Drawn in colour.
    pub is_marked: bool,
}

const NAMES: f64 = 340.0;
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 24.0;

/// Draws them from the top down; one that is not finite has a name and no point.
pub fn svg(title: &str, label: &str, intervals: &[Interval]) -> String {
    let error = |i: &Interval| if i.error.is_finite() { i.error } else { 0.0 };
    let ends = intervals.iter().flat_map(|i| [i.value - error(i), i.value + error(i)]).filter(|v| v.abs() < 1e100);
    let (low, high) = range(ends).unwrap_or((-1.0, 1.0));
    let room = if high > low { 0.05 * (high - low) } else { low.abs().max(1.0) };
    let (low, high) = (low - room, high + room);
    let place = |value: f64| NAMES + WIDTH * (value - low) / (high - low);
    let panel = HEIGHT * intervals.len() as f64;
    let (width, height, bottom) = (NAMES + WIDTH + 24.0, TOP + panel + BOTTOM, TOP + panel);
    let title = escape(title, 60);
    let mut out = String::new();
    head(&mut out, &title, (width, height), 16.0);
    let step = nice_step((high - low) / 5.0);
    for tick in ticks(low, high, step) {
        let x = place(tick);
        put(
            &mut out,
            format_args!(
                "<path d=\"M{x:.1} {TOP}V{bottom:.1}\" stroke=\"#e9ecef\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                bottom + 18.0,
                number(tick, step)
            ),
        );
    }
    for (line, interval) in intervals.iter().enumerate() {
        let y = TOP + HEIGHT * (line as f64 + 0.5);
        let colour = if interval.is_marked { PLAIN } else { GREY };
        let name = escape(&interval.name, 52);
        put(
            &mut out,
            format_args!(
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{INK}\">{name}</text>",
                NAMES - 12.0,
                y + 4.0
            ),
        );
        if interval.value.is_finite() {
            let (left, right) = (place(interval.value - error(interval)), place(interval.value + error(interval)));
            let x = place(interval.value);
            put(
                &mut out,
                format_args!(
                    "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"{colour}\" stroke-width=\"2\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\"/>\n"
                ),
            );
        }
    }
    put(
        &mut out,
        format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"13\" fill=\"{INK}\">{} (± 1 standard error)</text>\n</svg>\n",
            NAMES + WIDTH / 2.0 - 80.0,
            bottom + 42.0,
            escape(label, 90)
        ),
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_estimated_is_drawn() {
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
