//! Signs in a panel of a scatter plot: where rows lie that are outside, and where sequences begin.

use super::marks::Marks;
use super::text::{cut, put, width};
use super::{INK, SOFT};

/// More sequences than this are not marked.
const NAMED: usize = 12;

impl Marks<'_> {
    /// A triangle at the rim for each row that lies beyond it, pointing to where the row is.
    pub fn outside(&self, out: &mut String) {
        const SIZE: f64 = 5.0;
        let panel = &self.view.panel;
        for n in 0..self.rows() {
            let Some(point) = self.point(n).filter(|point| !panel.holds(*point)) else { continue };
            let (there, middle) =
                (panel.place(point), (panel.left + panel.width / 2.0, panel.top + panel.height / 2.0));
            let Some((_, (x, y))) = panel.clip(middle, there) else { continue };
            let (dx, dy) = (there.0 - middle.0, there.1 - middle.1);
            let (dx, dy) = (SIZE * dx / dx.hypot(dy), SIZE * dy / dx.hypot(dy));
            // The tip touches the rim.
            let (x, y) = (x - dx, y - dy);
            put(
                out,
                format_args!(
                    "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{}\" stroke=\"{INK}\" stroke-width=\".6\"/>\n",
                    x + dx,
                    y + dy,
                    x - dx - dy,
                    y - dy + dx,
                    x - dx + dy,
                    y - dy - dx,
                    self.paint.colours[self.paint.index(n)]
                ),
            );
        }
    }

    /// A ring around the first row of each sequence, and its name beside it.
    pub fn starts(&self, out: &mut String, sequences: &[Vec<usize>], names: &[String]) {
        if self.view.y.is_none() || sequences.len() > NAMED {
            return;
        }
        let (panel, radius) = (&self.view.panel, self.radius() + 2.5);
        for (s, rows) in sequences.iter().enumerate() {
            let first = rows.first().and_then(|&n| self.point(n)).filter(|point| panel.holds(*point));
            let Some((x, y)) = first.map(|point| panel.place(point)) else { continue };
            put(
                out,
                format_args!(
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"none\" stroke=\"{SOFT}\"/>\n"
                ),
            );
            let Some(name) = names.get(s) else { continue };
            let room = panel.width / 2.0 - 2.0 * radius;
            let (name, long) = (cut(name, room, 11.0), width(name, 11.0).min(room));
            // To the left where there is no room on the right.
            let is_left = x + radius + 4.0 + long > panel.right();
            let (anchor, x) = if is_left { ("end", x - radius - 3.0) } else { ("start", x + radius + 3.0) };
            let y = y.clamp(panel.top + 10.0, panel.bottom() - 4.0) + 3.5;
            for paint in ["stroke=\"#fff\" stroke-width=\"3\"".to_string(), format!("fill=\"{INK}\"")] {
                put(
                    out,
                    format_args!(
                        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"11\" text-anchor=\"{anchor}\" {paint}>{name}</text>\n"
                    ),
                );
            }
        }
    }
}
