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

/// Three decimals, or three digits of a small number; a dash for what is unknown.
pub fn short(value: f64) -> String {
    match value {
        _ if value.is_nan() => "–".into(),
        _ if value != 0.0 && value.abs() < 0.1 => format!("{value:.5}"),
        _ => format!("{value:.3}"),
    }
}
