//! Histograms of replicated values with the observed one marked, as small multiples.

use super::colour::{GREY, MARK, PLAIN};
use super::panel::{Axis, Panel, Side};
use super::span::{Span, range, usable};
use super::spec::{Drawn, Mark, Picture, Words};
use super::text::{beginning, put};
use super::{INK, NOTE, SOFT, TOP};

/// One panel.
pub struct Histogram {
    pub name: String,
    /// The name of the statistic.
    pub about: String,
    pub values: Vec<f64>,
    pub observed: f64,
    /// The observed value, or its range if it is not a single number.
    pub range: [f64; 2],
    /// The verdict in words.
    pub words: String,
    /// Drawn in colour.
    pub is_marked: bool,
}

/// Most panels side by side.
const ACROSS: usize = 3;
/// Size of a panel.
const WIDTH: f64 = 290.0;
const HEIGHT: f64 = 110.0;
const GAP: f64 = 34.0;
const LEFT: f64 = 24.0;
/// Space above a panel, for its name, and below it, for its numbers and words.
const ABOVE: f64 = 40.0;
const BELOW: f64 = 58.0;
/// Number of bars, unless values are whole numbers close to each other.
const BARS: f64 = 24.0;

/// The panels row by row.
pub fn picture(title: &str, histograms: &[Histogram], remarks: Vec<String>) -> Picture {
    // Four panels form a square.
    let across = if histograms.len() == 4 { 2 } else { histograms.len().clamp(1, ACROSS) };
    let down = histograms.len().div_ceil(across);
    let height = TOP + (ABOVE + HEIGHT + BELOW) * down as f64;
    let size = (LEFT + across as f64 * (WIDTH + GAP), height + NOTE * remarks.len() as f64 + 8.0);
    let place = |i: usize| {
        let left = LEFT + (i % across) as f64 * (WIDTH + GAP);
        (left, TOP + (i / across) as f64 * (ABOVE + HEIGHT + BELOW))
    };
    let panels = histograms.iter().enumerate().map(|(i, histogram)| drawn(histogram, place(i))).collect();
    let notes = remarks.iter().map(|remark| beginning(remark, size.0 - LEFT - 8.0, 10.5)).collect();
    Picture { title: title.into(), size, left: LEFT, panels, key: Vec::new(), notes, notes_top: height + 4.0 }
}

fn drawn(histogram: &Histogram, (left, top): (f64, f64)) -> Drawn {
    let bars = bars(&histogram.values);
    let ends = bars.iter().flat_map(|bar| [bar.low, bar.high]);
    let x = Span::around(ends.chain(histogram.range).chain([histogram.observed]), 0.05);
    let tallest = bars.iter().map(|bar| bar.count).max().unwrap_or(1);
    let y = Span { low: 0.0, high: 1.08 * tallest as f64 };
    let panel = Panel { left, top: top + ABOVE, width: WIDTH, height: HEIGHT, x, y };
    let mut marks = vec![Mark::Bars {
        low: bars.iter().map(|bar| bar.low).collect(),
        high: bars.iter().map(|bar| bar.high).collect(),
        height: bars.iter().map(|bar| bar.count as f64).collect(),
        colour: if histogram.is_marked { PLAIN } else { GREY }.into(),
        opacity: 0.7,
        is_hollow: false,
    }];
    let observed = histogram.observed;
    if usable(observed) {
        let [low, high] = histogram.range.map(|end| if usable(end) { end } else { observed });
        marks.push(Mark::Region { low, high, colour: MARK.into(), opacity: 0.18 });
        marks.push(Mark::Rule { x: Some(observed), y: None, colour: MARK.into(), width: 2.0, is_dashed: false });
    }
    let verdict = if histogram.is_marked { MARK } else { INK };
    let words = [
        (top + 14.0, 13.0, INK, &histogram.name),
        (top + 30.0, 10.5, SOFT, &histogram.about),
        (panel.bottom() + 36.0, 11.0, verdict, &histogram.words),
    ];
    let words = words.map(|(y, size, colour, text)| Words {
        at: (left, y),
        text: beginning(text, WIDTH + GAP - 10.0, size),
        size,
        colour: colour.into(),
    });
    let across = Axis::of(&Side::plain("", x.step(4.0)), &panel, true);
    let up = Axis { label: String::new(), ticks: Vec::new(), origin: None };
    Drawn { panel, across, up, marks, words: words.into() }
}

/// A bar: the number of values between two numbers.
pub(super) struct Bar {
    pub low: f64,
    pub high: f64,
    pub count: usize,
}

pub(super) fn put_bars(out: &mut String, panel: &Panel, bars: &[Bar], colour: &str) {
    let mut shapes = String::new();
    for bar in bars.iter().filter(|bar| bar.count > 0) {
        let ((from, up), (to, down)) = (panel.place((bar.low, bar.count as f64)), panel.place((bar.high, 0.0)));
        // A gap between bars, unless the bars are too narrow.
        put(&mut shapes, format_args!("M{from:.1} {down:.1}V{up:.1}H{:.1}V{down:.1}Z", (to - 0.6).max(from + 0.6)));
    }
    put(out, format_args!("<path d=\"{shapes}\" fill=\"{colour}\" fill-opacity=\".7\"/>\n"));
}

/// Bars of equal width; one per number where values are whole and close to each other.
pub(super) fn bars(values: &[f64]) -> Vec<Bar> {
    let Some((low, high)) = range(values.iter().copied()) else { return Vec::new() };
    let are_whole = values.iter().filter(|v| usable(**v)).all(|v| v.fract() == 0.0);
    let (low, width, count) = match high - low {
        0.0 => (low - 0.5 * low.abs().max(1.0) / BARS, low.abs().max(1.0) / BARS, 1),
        span if are_whole && span < 2.0 * BARS => (low - 0.5, 1.0, span as usize + 1),
        span => (low, span / BARS, BARS as usize),
    };
    let edge = |i: usize| low + width * i as f64;
    let mut bars: Vec<Bar> = (0..count).map(|i| Bar { low: edge(i), high: edge(i + 1), count: 0 }).collect();
    for value in values.iter().filter(|v| usable(**v)) {
        bars[(((value - low) / width) as usize).min(count - 1)].count += 1;
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(values: Vec<f64>, observed: f64, range: [f64; 2]) -> String {
        let (name, words) = ("a < b".to_string(), "larger & more".to_string());
        let one = || Histogram {
            name: name.clone(),
            about: String::new(),
            values: values.clone(),
            observed,
            range,
            words: words.clone(),
            is_marked: true,
        };
        let text = picture("t & u", &[one(), one(), one(), one()], vec!["note".into()]).svg();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert_eq!(text.matches("a &lt; b").count(), 4);
        text
    }

    #[test]
    fn every_value_is_in_a_bar() {
        for values in [vec![1.0, 2.0, 2.0, 5.0], vec![0.5, 0.25, 0.75, 0.1], vec![3.0; 4], vec![1e9, -1e9, 0.0, 1.0]] {
            assert_eq!(bars(&values).iter().map(|bar| bar.count).sum::<usize>(), 4);
        }
        assert_eq!(bars(&[1.0, 2.0, 2.0, 5.0]).iter().map(|bar| bar.count).collect::<Vec<_>>(), [1, 2, 0, 0, 1]);
    }

    #[test]
    fn odd_values_still_give_a_picture() {
        assert_eq!(draw(vec![1.0, 2.0], 7.0, [7.0, 7.0]).matches("stroke-width=\"2\"").count(), 4);
        draw(vec![f64::NAN, 1.0, f64::INFINITY], f64::NAN, [f64::NAN, f64::NAN]);
        draw(Vec::new(), 1.0, [f64::NEG_INFINITY, 1.0]);
        draw(vec![f64::MAX, -f64::MAX], f64::MAX, [0.0, f64::MAX]);
        assert!(picture("", &[], Vec::new()).svg().ends_with("</svg>\n"));
    }
}
