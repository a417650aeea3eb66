//! The layout of a scatter plot: one panel for one or two latent axes, three pairs in a corner for more. All panels have the same number
//! of pixels per unit, since distances matter more than coordinates.

use super::TOP;
use super::panel::{Panel, Side};
use super::span::{Span, nice_step};

/// A panel, and the latent axes on its sides.
pub(super) struct View {
    pub panel: Panel,
    pub x: usize,
    /// `None` on a strip, where the height has no meaning.
    pub y: Option<usize>,
    /// Whether the axes have labels and numbers; in a corner they are shared.
    pub has_x: bool,
    pub has_y: bool,
    /// Distance between ticks, the same on both axes.
    pub step: f64,
}

impl View {
    /// The frame with its numbers.
    pub fn draw(&self, out: &mut String) {
        let name = |axis: usize, is_there: bool| if is_there { format!("x{}", axis + 1) } else { String::new() };
        let (x, y) = (name(self.x, self.has_x), self.y.map_or(String::new(), |y| name(y, self.has_y)));
        let step = Some(self.step);
        let below = Side { label: &x, step, is_numbered: self.has_x, format: None };
        let beside = Side { label: &y, step: step.filter(|_| self.y.is_some()), is_numbered: self.has_y, format: None };
        self.panel.draw(out, &below, &beside);
    }
}

/// Space between the panels of a corner.
const GAP: f64 = 14.0;
/// Size of a single panel.
const WIDTH: f64 = 560.0;
/// Height of a strip.
const LOW: f64 = 170.0;
/// Total size of the two panels next to or above each other in a corner, and the smallest size of one.
const CORNER: f64 = 620.0;
const SMALL: f64 = 140.0;
/// Pixels between ticks.
const TICK: f64 = 75.0;

/// The panels for axes of these spans; only the first three axes are shown.
pub(super) fn views(spans: &[Span]) -> Vec<View> {
    match spans {
        [] => views(&[Span { low: -1.0, high: 1.0 }]),
        [x] => strip(*x),
        [x, y] => single(*x, *y),
        [x, y, z, ..] => corner([*x, *y, *z]),
    }
}

fn strip(x: Span) -> Vec<View> {
    let y = Span { low: -0.75, high: 0.75 };
    let panel = Panel { left: 40.0, top: TOP, width: WIDTH, height: LOW, x, y };
    vec![View { panel, x: 0, y: None, has_x: true, has_y: false, step: step(WIDTH / x.width()) }]
}

fn single(x: Span, y: Span) -> Vec<View> {
    let height = (WIDTH * (y.width() / x.width()).clamp(0.6, 1.0)).round();
    let scale = (WIDTH / x.width()).min(height / y.width());
    let (x, y) = (x.widened(WIDTH / scale), y.widened(height / scale));
    let step = step(scale);
    let panel = Panel { left: left(&[y], step), top: TOP, width: WIDTH, height, x, y };
    vec![View { panel, x: 0, y: Some(1), has_x: true, has_y: true, step }]
}

fn corner([x, y, z]: [Span; 3]) -> Vec<View> {
    let widest = (x.width() + y.width()).max(y.width() + z.width());
    let scale = CORNER / widest;
    let size = |span: Span| (span.width() * scale).max(SMALL).round();
    let [x, y, z] = [x, y, z].map(|span| (size(span), span.widened(size(span) / scale)));
    let step = step(scale);
    let (left, top) = (left(&[y.1, z.1], step), TOP);
    let (right, below) = (left + x.0 + GAP, top + y.0 + GAP);
    let panel = |left, top, across: (f64, Span), up: (f64, Span)| Panel {
        left,
        top,
        width: across.0,
        height: up.0,
        x: across.1,
        y: up.1,
    };
    vec![
        View { panel: panel(left, top, x, y), x: 0, y: Some(1), has_x: false, has_y: true, step },
        View { panel: panel(left, below, x, z), x: 0, y: Some(2), has_x: true, has_y: true, step },
        View { panel: panel(right, below, y, z), x: 1, y: Some(2), has_x: true, has_y: false, step },
    ]
}

/// Distance between ticks, from the pixels per unit.
fn step(scale: f64) -> f64 {
    nice_step(TICK / scale)
}

/// Left edge of the panels, after the numbers of these spans and the axis label.
fn left(spans: &[Span], step: f64) -> f64 {
    44.0 + spans.iter().map(|span| Side::plain("", step).room(span)).fold(0.0, f64::max)
}
