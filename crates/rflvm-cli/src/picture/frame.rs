//! The plotted rectangle and its scales.

use super::{INK, LEFT, Picture, TOP, WIDTH, escape, put};

/// The plotted rectangle, with the same number of pixels per unit on both axes.
pub(super) struct Frame {
    low: (f64, f64),
    high: (f64, f64),
    pub scale: f64,
    pub height: f64,
}

impl Frame {
    pub fn around(picture: &Picture) -> Self {
        let axis = |pick: fn(&(f64, f64)) -> f64| {
            let all = picture.points.iter().filter(|p| usable(**p)).map(pick);
            let (low, high) = range(all).unwrap_or((-1.0, 1.0));
            let middle = low + (high - low) / 2.0;
            // Wide enough that neighbouring ticks are different numbers.
            let least = (middle.abs() * 1e-6).max(1e-12);
            let span = if high - low > least { high - low } else { middle.abs().max(1.0) };
            (middle, span)
        };
        let ((x, x_span), (y, y_span)) = (axis(|p| p.0), axis(|p| p.1));
        let flattest = if picture.y_label.is_empty() { 0.25 } else { 0.6 };
        let height = (WIDTH * (y_span / x_span).clamp(flattest, 1.0)).round();
        let scale = (WIDTH / x_span).min(height / y_span) / 1.12;
        let (half_x, half_y) = (WIDTH / scale / 2.0, height / scale / 2.0);
        Frame { low: (x - half_x, y - half_y), high: (x + half_x, y + half_y), scale, height }
    }

    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let up = TOP + (self.high.1 - y) * self.scale;
        (LEFT + (x - self.low.0) * self.scale, up)
    }

    pub fn draw(&self, out: &mut String, picture: &Picture) {
        let mut wanted = (self.high.0 - self.low.0) / 7.0;
        if !picture.y_label.is_empty() {
            wanted = wanted.min((self.high.1 - self.low.1) / 4.0);
        }
        let step = nice_step(wanted);
        let (bottom, right) = (TOP + self.height, LEFT + WIDTH);
        let (mut grid, mut text) = (String::new(), String::new());
        for tick in ticks(self.low.0, self.high.0, step) {
            let (x, _) = self.place((tick, 0.0));
            put(&mut grid, format_args!("M{x:.1} {TOP}V{bottom}"));
            put(
                &mut text,
                format_args!(
                    r#"<text x="{x:.1}" y="{}" text-anchor="middle">{}</text>"#,
                    bottom + 18.0,
                    number(tick, step)
                ),
            );
        }
        if !picture.y_label.is_empty() {
            for tick in ticks(self.low.1, self.high.1, step) {
                let (_, y) = self.place((0.0, tick));
                put(&mut grid, format_args!("M{LEFT} {y:.1}H{right}"));
                put(
                    &mut text,
                    format_args!(
                        r#"<text x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
                        LEFT - 8.0,
                        y + 4.0,
                        number(tick, step)
                    ),
                );
            }
        }
        put(
            out,
            format_args!(
                r##"<path d="{grid}" stroke="#e9ecef" fill="none"/>
<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{}" fill="none" stroke="#c9ced3"/>
{text}
<text x="{}" y="{}" text-anchor="middle" font-size="13" fill="{INK}">{}</text>
<text transform="translate(16 {:.1})rotate(-90)" text-anchor="middle" font-size="13" fill="{INK}">{}</text>
"##,
                self.height,
                LEFT + WIDTH / 2.0,
                bottom + 40.0,
                escape(picture.x_label, 40),
                TOP + self.height / 2.0,
                escape(picture.y_label, 40)
            ),
        );
    }
}

/// Finite, and small enough that differences and squares are finite too.
pub(super) fn usable((x, y): (f64, f64)) -> bool {
    x.abs() < 1e100 && y.abs() < 1e100
}

pub(super) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |seen, v| match seen {
        Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
        None => Some((v, v)),
    })
}

/// The number near `rough` that is 1, 2 or 5 times a power of ten.
pub(super) fn nice_step(rough: f64) -> f64 {
    if rough <= 0.0 || !rough.is_finite() {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    power
        * match rough / power {
            r if r < 1.5 => 1.0,
            r if r < 3.5 => 2.0,
            r if r < 7.5 => 5.0,
            _ => 10.0,
        }
}

pub(super) fn ticks(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil();
    // A bound, because rounding may swallow the step of a far-away range.
    (0..24).map(|k| (first + f64::from(k)) * step).take_while(|t| *t <= high + step * 1e-9).collect()
}

pub(super) fn number(value: f64, step: f64) -> String {
    let places = (-step.log10().floor()).max(0.0) as usize;
    let largest = value.abs().max(step);
    let text = if largest >= 1e6 || places > 5 { format!("{value:.1e}") } else { format!("{:.places$}", value + 0.0) };
    text.replace('-', "−")
}
