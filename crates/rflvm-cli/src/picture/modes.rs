//! The modes that were found, side by side: rows have the colour of their place along the first axis of the sampled mode, so that a break or
//! a fold shows as colours that are parted or mixed.

use super::colour::viridis;
use super::panel::{Panel, Side};
use super::span::Span;
use super::text::{cut, put};
use super::{INK, TOP, head};
use rflvm::internal::linalg::Mat;
use rflvm::internal::run::modes::Found;

const SIZE: f64 = 210.0;
const GAP: f64 = 24.0;
/// Space below a panel, for three lines.
const BELOW: f64 = 58.0;
/// Panels per line.
const ACROSS: usize = 4;
/// Most rows that are drawn.
const MOST: usize = 2000;

/// Draws them.
pub fn svg(title: &str, modes: &[Found]) -> String {
    let across = modes.len().clamp(1, ACROSS);
    let down = modes.len().div_ceil(ACROSS).max(1);
    let width = GAP + across as f64 * (SIZE + GAP);
    let height = TOP + down as f64 * (SIZE + BELOW);
    let mut out = String::new();
    head(&mut out, &format!("{title}: modes that were found"), (width, height), GAP);
    let colours = modes.first().map_or_else(Vec::new, |first| ranks(&first.positions));
    for (i, mode) in modes.iter().enumerate() {
        let (left, top) = (GAP + (i % ACROSS) as f64 * (SIZE + GAP), TOP + (i / ACROSS) as f64 * (SIZE + BELOW));
        let second = |n: usize| if mode.positions.cols() > 1 { mode.positions[(n, 1)] } else { 0.0 };
        let rows = mode.positions.rows();
        let x = Span::around((0..rows).map(|n| mode.positions[(n, 0)]), 0.05);
        let y = Span::around((0..rows).map(second), 0.05);
        let widest = x.width().max(y.width());
        let panel = Panel { left, top, width: SIZE, height: SIZE, x: x.widened(widest), y: y.widened(widest) };
        let bare = Side { label: "", step: None, is_numbered: false, format: None };
        panel.draw(&mut out, &bare, &bare);
        for n in (0..rows).step_by(rows.div_ceil(MOST).max(1)) {
            let (cx, cy) = panel.place((mode.positions[(n, 0)], second(n)));
            let fill = viridis(colours[n]);
            put(&mut out, format_args!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"2\" fill=\"{fill}\"/>"));
        }
        let sampled = if i == 0 || !mode.chains.is_empty() { "sampled: " } else { "" };
        let lines = [
            format!("{sampled}from {}", mode.start),
            format!("log evidence {:.0} ± {:.0}", mode.evidence, mode.error),
            format!("continuity {:.3}", mode.continuity),
        ];
        for (line, text) in lines.iter().enumerate() {
            let (y, text) = (top + SIZE + 16.0 + 14.0 * line as f64, cut(text, SIZE + GAP, 11.0));
            let ink = if line == 0 { format!(" fill=\"{INK}\"") } else { String::new() };
            put(&mut out, format_args!("\n<text x=\"{left:.1}\" y=\"{y:.1}\" font-size=\"11\"{ink}>{text}</text>"));
        }
    }
    out.push_str("\n</svg>\n");
    out
}

/// The place of each row along the first axis, from 0 to 1.
fn ranks(positions: &Mat) -> Vec<f64> {
    let mut order: Vec<usize> = (0..positions.rows()).collect();
    order.sort_by(|&a, &b| positions[(a, 0)].total_cmp(&positions[(b, 0)]));
    let last = positions.rows().saturating_sub(1).max(1) as f64;
    let mut ranks = vec![0.0; order.len()];
    order.iter().enumerate().for_each(|(rank, &n)| ranks[n] = rank as f64 / last);
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_map_has_a_panel_with_all_rows() {
        let mode = |rows: usize, dim: usize| Found {
            start: "a < b".into(),
            evidence: -10.0,
            error: 2.0,
            continuity: 0.9,
            trustworthiness: 0.9,
            positions: Mat::from_fn(rows, dim, |n, d| (n * (d + 1)) as f64),
            chains: Vec::new(),
            replaced: Vec::new(),
        };
        let picture = svg("t", &[mode(7, 2), mode(7, 2), mode(7, 2), mode(7, 2), mode(7, 2)]);
        assert_eq!(picture.matches("<circle").count(), 35);
        assert!(picture.contains("sampled: from a &lt; b") && picture.ends_with("</svg>\n"));
        assert_eq!(svg("t", &[mode(7, 1)]).matches("<circle").count(), 7);
    }
}
