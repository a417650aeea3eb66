//! Tables for the terminal.

/// Columns as wide as their widest cell.
pub fn aligned(lines: &[Vec<String>]) -> String {
    let letters = |text: &String| text.chars().filter(|c| *c != '\u{302}').count();
    let columns = lines.first().map_or(0, Vec::len);
    let width = |c: usize| lines.iter().map(|line| letters(&line[c])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - letters(cell))))
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}
