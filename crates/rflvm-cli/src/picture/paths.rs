//! Latent paths over time as SVG: one panel a latent axis, one line a sequence, with a band of uncertainty.

use super::colour::{Class, PLAIN, classes};
use super::frame::{nice_step, number, range, ticks};
use super::{BOTTOM, INK, LEFT, TOP, WIDTH, escape, head, put};

/// What to draw. All slices have one entry a row.
pub struct Paths<'a> {
    pub title: &'a str,
    pub times: &'a [f64],
    /// How a time is written on the axis; times without such a form are plain numbers.
    pub format: Option<&'a dyn Fn(f64) -> String>,
    /// Rows of each sequence, ordered by time.
    pub sequences: &'a [Vec<usize>],
    /// Names of the sequences; fewer where they have none.
    pub names: &'a [String],
    /// Mean and standard deviation of each row, one slice a latent axis.
    pub axes: &'a [Vec<(f64, f64)>],
}

const HEIGHT: f64 = 150.0;
const GAP: f64 = 16.0;
/// Half the width of a normal distribution's middle 90%, in standard deviations.
const BAND: f64 = 1.645;
/// Characters of a name in the legend.
const NAME_SHOWN: usize = 22;

/// Draws the paths.
pub fn svg(paths: &Paths) -> String {
    let (legend, of) = classes(paths.names);
    let key_width = if legend.is_empty() { 24.0 } else { 200.0 };
    let panels = HEIGHT * paths.axes.len() as f64 + GAP * paths.axes.len().saturating_sub(1) as f64;
    let (width, bottom) = (LEFT + WIDTH + key_width, TOP + panels.max(21.0 * legend.len() as f64));
    let height = bottom + BOTTOM;
    let title = escape(paths.title, 60);
    let mut out = String::new();
    head(&mut out, &title, (width, height), LEFT);
    let span = Span::around(paths.times.iter().copied(), 0.02);
    for (d, axis) in paths.axes.iter().enumerate() {
        let top = TOP + d as f64 * (HEIGHT + GAP);
        let is_last = d + 1 == paths.axes.len();
        let ends = axis.iter().flat_map(|&(mean, sd)| [mean - BAND * sd, mean + BAND * sd]);
        let panel = Panel { top, time: &span, value: Span::around(ends, 0.06) };
        panel.frame(&mut out, d, is_last, paths.format);
        for (s, rows) in paths.sequences.iter().enumerate() {
            let colour = of.get(s).map_or(PLAIN, |&class| legend[class].colour);
            panel.path(&mut out, rows.iter().map(|&n| (paths.times[n], axis[n])), colour);
        }
    }
    key(&mut out, &legend);
    put(
        &mut out,
        format_args!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"13\" fill=\"{INK}\">time</text>\n\
             <text x=\"{}\" y=\"{:.1}\" font-size=\"10.5\" text-anchor=\"end\">bands: 90%, from posterior means and sds</text>\n</svg>\n",
            LEFT + WIDTH / 2.0,
            TOP + panels + 40.0,
            LEFT + WIDTH,
            TOP + panels + 40.0
        ),
    );
    out
}

/// A stretch of numbers on an axis.
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    /// Around all values, with a margin.
    fn around(values: impl Iterator<Item = f64>, margin: f64) -> Self {
        let (low, high) = range(values.filter(|v| v.abs() < 1e100)).unwrap_or((-1.0, 1.0));
        let room = if high > low { margin * (high - low) } else { low.abs().max(1.0) };
        Span { low: low - room, high: high + room }
    }

    fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    fn step(&self, count: f64) -> f64 {
        nice_step((self.high - self.low) / count)
    }
}

/// The panel of one latent axis.
struct Panel<'a> {
    top: f64,
    time: &'a Span,
    value: Span,
}

impl Panel<'_> {
    fn place(&self, (time, value): (f64, f64)) -> (f64, f64) {
        (LEFT + WIDTH * self.time.share(time), self.top + HEIGHT * (1.0 - self.value.share(value)))
    }

    fn frame(&self, out: &mut String, d: usize, is_last: bool, format: Option<&dyn Fn(f64) -> String>) {
        let (bottom, right) = (self.top + HEIGHT, LEFT + WIDTH);
        let (mut grid, mut text) = (String::new(), String::new());
        // As many labels as have room beside each other.
        let letters = format.map_or(6, |format| format(self.time.low).chars().count());
        let step = self.time.step((WIDTH / (7.0 * letters as f64 + 24.0)).min(7.0));
        for tick in ticks(self.time.low, self.time.high, step) {
            let (x, _) = self.place((tick, 0.0));
            put(&mut grid, format_args!("M{x:.1} {:.1}V{bottom:.1}", self.top));
            if is_last {
                let label = format.map_or_else(|| number(tick, step), |format| escape(&format(tick), 32));
                put(
                    &mut text,
                    format_args!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>", bottom + 18.0),
                );
            }
        }
        let step = self.value.step(4.0);
        for tick in ticks(self.value.low, self.value.high, step) {
            let (_, y) = self.place((0.0, tick));
            put(&mut grid, format_args!("M{LEFT} {y:.1}H{right}"));
            let label = number(tick, step);
            put(
                &mut text,
                format_args!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", LEFT - 8.0, y + 4.0),
            );
        }
        put(
            out,
            format_args!(
                "<path d=\"{grid}\" stroke=\"#e9ecef\" fill=\"none\"/>\n\
                 <rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#c9ced3\"/>\n{text}\n\
                 <text transform=\"translate(16 {:.1})rotate(-90)\" text-anchor=\"middle\" font-size=\"13\" fill=\"{INK}\">x{}</text>\n",
                self.top,
                self.top + HEIGHT / 2.0,
                d + 1
            ),
        );
    }

    /// The band, and the line of the means on it; a lone row is a dot.
    fn path(&self, out: &mut String, rows: impl Iterator<Item = (f64, (f64, f64))>, colour: &str) {
        let (mut line, mut above, mut below) = (Vec::new(), Vec::new(), Vec::new());
        for (time, (mean, sd)) in rows.filter(|(_, (mean, sd))| mean.is_finite() && sd.is_finite()) {
            line.push(self.place((time, mean)));
            above.push(self.place((time, mean + BAND * sd)));
            below.push(self.place((time, mean - BAND * sd)));
        }
        let joined =
            |points: &[(f64, f64)]| points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect::<Vec<_>>().join("L");
        match line[..] {
            [] => {}
            [(x, y)] => put(
                out,
                format_args!(
                    "<path d=\"M{x:.1} {:.1}V{:.1}\" stroke=\"{colour}\" stroke-opacity=\".4\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>\n",
                    above[0].1, below[0].1
                ),
            ),
            _ => {
                below.reverse();
                put(
                    out,
                    format_args!(
                        "<path d=\"M{}L{}Z\" fill=\"{colour}\" fill-opacity=\".16\"/><path d=\"M{}\" stroke=\"{colour}\" stroke-width=\"1.4\" fill=\"none\"/>\n",
                        joined(&above),
                        joined(&below),
                        joined(&line)
                    ),
                );
            }
        }
    }
}

fn key(out: &mut String, legend: &[Class]) {
    let x = LEFT + WIDTH + 18.0;
    for (line, class) in legend.iter().enumerate() {
        let y = TOP + 10.0 + 21.0 * line as f64;
        let name = escape(&class.name, NAME_SHOWN);
        put(
            out,
            format_args!(
                "<path d=\"M{x} {y}h12\" stroke=\"{}\" stroke-width=\"3\"/><text x=\"{}\" y=\"{}\" fill=\"{INK}\">{name}</text>\n",
                class.colour,
                x + 18.0,
                y + 4.0
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(times: &[f64], sequences: &[Vec<usize>], names: &[String], axes: &[Vec<(f64, f64)>]) -> String {
        let text = svg(&Paths { title: "a < b", times, format: None, sequences, names, axes });
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        text
    }

    #[test]
    fn every_sequence_is_a_line_in_every_panel() {
        let names: Vec<String> = ["first", "second & last"].map(String::from).to_vec();
        let axis = vec![(0.0, 0.1), (1.0, 0.2), (0.5, 0.1), (2.0, 0.3)];
        let text = draw(&[0.0, 1.0, 2.0, 3.0], &[vec![0, 2], vec![1, 3]], &names, &[axis.clone(), axis]);
        assert_eq!(text.matches("fill-opacity=\".16\"").count(), 4);
        assert!(text.contains(">x2<") && text.contains("second &amp; last"));
    }

    #[test]
    fn nothing_a_posterior_may_hold_breaks_it() {
        let odd = vec![(0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)];
        draw(&[5.0, 5.0, 5.0], &[vec![0, 1, 2]], &[], &[odd]);
        draw(&[], &[], &[], &[]);
        draw(&[1.0], &[vec![0]], &[], &[vec![(3.0, 0.0)]]);
    }
}
