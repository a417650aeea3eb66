//! Signs in a panel of a scatter plot: directions of rows outside it, and starts of sequences.

use super::marks::Marks;
use super::text::{cut, put, width};
use super::{INK, SOFT};

/// More sequences than this are not marked.
const NAMED: usize = 12;

impl Marks<'_> {
    /// A triangle at the edge for each row outside the panel, pointing to it.
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

    /// A ring around the first row of each sequence, with its name next to it.
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
            let places = [
                ("start", (x + radius + 3.0, y + 3.5)),
                ("end", (x - radius - 3.0, y + 3.5)),
                ("start", (x - radius, y - radius - 4.0)),
                ("end", (x + radius, y - radius - 4.0)),
                ("start", (x - radius, y + radius + 11.0)),
                ("end", (x + radius, y + radius + 11.0)),
            ];
            // The position that hides the fewest rows, among those with enough space.
            let cost = |&(anchor, at): &(&str, (f64, f64))| self.hidden(anchor, at, long);
            let Some((anchor, (x, y))) = places.into_iter().min_by_key(cost) else { continue };
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

    /// Number of rows that a text of this length would hide; larger than any if it leaves the panel.
    fn hidden(&self, anchor: &str, (x, y): (f64, f64), long: f64) -> usize {
        let panel = &self.view.panel;
        let left = if anchor == "end" { x - long } else { x };
        let (right, top) = (left + long, y - 11.0);
        if left < panel.left || right > panel.right() || top < panel.top || y + 3.0 > panel.bottom() {
            return usize::MAX;
        }
        let radius = self.radius();
        let across = (left - radius)..=(right + radius);
        let up = (top - radius)..=(y + 3.0 + radius);
        let is_hidden = |(x, y): (f64, f64)| across.contains(&x) && up.contains(&y);
        (0..self.rows()).filter_map(|n| self.point(n)).filter(|&point| is_hidden(panel.place(point))).count()
    }
}
