//! A panel: a rectangle with numbers along two of its sides. All pictures consist of panels.

use super::span::{Span, number, ticks};
use super::text::{cut, escape, put, width};
use super::{GRID, INK, RIM};
use serde::Serialize;

/// What is written along a side.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub label: &'a str,
    /// Distance between ticks; `None` for a side without a scale.
    pub step: Option<f64>,
    /// Whether ticks have numbers, or only lines.
    pub is_numbered: bool,
    /// How to format a number, if not as a plain number.
    pub format: Option<&'a dyn Fn(f64) -> String>,
}

impl<'a> Side<'a> {
    /// A side with plain numbers.
    pub fn plain(label: &'a str, step: f64) -> Self {
        Side { label, step: Some(step), is_numbered: true, format: None }
    }

    /// The ticks on a span, with their labels.
    pub fn ticks(&self, span: &Span) -> Vec<(f64, String)> {
        let Some(step) = self.step else { return Vec::new() };
        let text = |tick: f64| match self.format {
            _ if !self.is_numbered => String::new(),
            Some(format) => format(tick),
            None => number(tick, step),
        };
        ticks(span, step).into_iter().map(|tick| (tick, text(tick))).collect()
    }

    /// Space that the numbers take next to a panel.
    pub fn room(&self, span: &Span) -> f64 {
        widest(&self.ticks(span))
    }
}

/// The width of the widest number.
pub(super) fn widest(ticks: &[(f64, String)]) -> f64 {
    ticks.iter().map(|(_, text)| width(text, 12.0)).fold(0.0, f64::max)
}

/// A side of a panel with its ticks.
#[derive(Debug, Serialize)]
pub struct Axis {
    pub label: String,
    /// Where ticks are, with their numbers.
    pub ticks: Vec<(f64, String)>,
    /// The date at 0, if the numbers are days.
    pub origin: Option<String>,
}

impl Axis {
    pub fn of(side: &Side<'_>, panel: &Panel, is_across: bool) -> Self {
        let ticks = side.ticks(if is_across { &panel.x } else { &panel.y });
        Axis { label: side.label.into(), ticks, origin: None }
    }
}

/// A rectangle with a scale on each side.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Panel {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: Span,
    pub y: Span,
}

impl Panel {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The position of a point, in pixels.
    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.left + self.width * self.x.share(x), self.top + self.height * (1.0 - self.y.share(y)))
    }

    /// Whether a point is in the panel.
    pub fn holds(&self, (x, y): (f64, f64)) -> bool {
        self.x.contains(x) && self.y.contains(y)
    }

    /// The part of a line, in pixels, that is in the panel (Liang & Barsky 1984).
    pub fn clip(&self, a: (f64, f64), b: (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        for (move_by, room) in
            [(-dx, a.0 - self.left), (dx, self.right() - a.0), (-dy, a.1 - self.top), (dy, self.bottom() - a.1)]
        {
            match move_by {
                0.0 if room < 0.0 => return None,
                0.0 => {}
                m if m < 0.0 => from = from.max(room / m),
                m => to = to.min(room / m),
            }
        }
        let at = |t: f64| (a.0 + t * dx, a.1 + t * dy);
        (from <= to).then(|| (at(from), at(to)))
    }

    /// The rectangle, its grid, its numbers and its labels.
    pub fn draw(&self, out: &mut String, x: &Side, y: &Side) {
        self.frame(out, &Axis::of(x, self, true), &Axis::of(y, self, false));
    }

    /// The same, with the ticks of its axes.
    pub fn frame(&self, out: &mut String, x: &Axis, y: &Axis) {
        let (left, top, right, bottom) = (self.left, self.top, self.right(), self.bottom());
        let (mut grid, mut text) = (String::new(), String::new());
        for (tick, label) in &x.ticks {
            let (at, _) = self.place((*tick, 0.0));
            put(&mut grid, format_args!("M{at:.1} {top:.1}V{bottom:.1}"));
            if !label.is_empty() {
                // Long labels at the ends stay close to the panel.
                let half = (width(label, 12.0) / 2.0).min(self.width / 2.0 + 20.0);
                let (at, label, y) = (at.clamp(left - 20.0 + half, right + 20.0 - half), escape(label), bottom + 18.0);
                put(&mut text, format_args!("<text x=\"{at:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{label}</text>"));
            }
        }
        for (tick, label) in &y.ticks {
            let (_, at) = self.place((0.0, *tick));
            put(&mut grid, format_args!("M{left:.1} {at:.1}H{right:.1}"));
            if !label.is_empty() {
                let (label, x, y) = (escape(label), left - 8.0, at + 4.0);
                put(&mut text, format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>"));
            }
        }
        let (across, down) = (left + self.width / 2.0, top + self.height / 2.0);
        for (label, place, room) in [
            (&x.label, format!("x=\"{across:.1}\" y=\"{:.1}\"", bottom + 38.0), self.width),
            (
                &y.label,
                format!("transform=\"translate({:.1} {down:.1})rotate(-90)\"", left - 20.0 - widest(&y.ticks)),
                self.height,
            ),
        ] {
            if !label.is_empty() {
                let label = cut(label, room, 13.0);
                put(
                    &mut text,
                    format_args!("<text {place} text-anchor=\"middle\" font-size=\"13\" fill=\"{INK}\">{label}</text>"),
                );
            }
        }
        let (width, height) = (self.width, self.height);
        put(
            out,
            format_args!(
                "<path d=\"{grid}\" stroke=\"{GRID}\" fill=\"none\"/><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"none\" stroke=\"{RIM}\"/>\n{text}\n"
            ),
        );
    }
}
