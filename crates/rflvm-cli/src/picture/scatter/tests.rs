//! Pictures must be well formed and include everything they show, for any input.

use super::*;
use crate::picture::colour::viridis;

fn labels(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

/// Each axis of some points with an error.
fn axes(points: &[(f64, f64)], sd: f64) -> Vec<Vec<(f64, f64)>> {
    vec![points.iter().map(|p| (p.0, sd)).collect(), points.iter().map(|p| (p.1, sd)).collect()]
}

fn draw(axes: &[Vec<(f64, f64)>], colour: Colour) -> String {
    draw_over_time(axes, colour, &[], &[])
}

fn draw_over_time(axes: &[Vec<(f64, f64)>], colour: Colour, sequences: &[Vec<usize>], names: &[String]) -> String {
    let text =
        svg(&Scatter { title: "A <title> & \"more\"\u{1}", axes, errors: "posterior", colour, sequences, names });
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    assert!(text.contains("A &lt;title&gt; &amp; &quot;more&quot; <"));
    for tag in ["g", "text", "svg", "title", "linearGradient"] {
        let open = text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
        assert_eq!(open, text.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    all_inside(&text);
    text
}

fn attribute(part: &str, name: &str) -> Option<f64> {
    let from = part.find(&format!("{name}=\""))? + name.len() + 2;
    part[from..].split('"').next()?.parse().ok()
}

/// Width and height of the view box.
fn size(text: &str) -> (f64, f64) {
    (attribute(text, "width").unwrap(), attribute(text, "height").unwrap())
}

/// Every coordinate of paths, circles and texts is in the view box, including the width of texts.
fn all_inside(text: &str) {
    let (width, height) = size(text);
    let check = |x: f64, y: f64, what: &str| {
        assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{x} {y} in {width} × {height}: {what}");
    };
    for part in text.split('<').skip(1) {
        if let Some(path) =
            part.strip_prefix("path ").and_then(|p| p.split(" d=\"").last()).map(|p| p.trim_start_matches("d=\""))
        {
            let path = path.split('"').next().unwrap();
            for piece in
                path.split(['M', 'L', 'Z']).filter(|piece| !piece.is_empty() && !piece.contains(['V', 'H', 'h']))
            {
                let (x, y) = piece.trim().split_once(' ').unwrap();
                check(x.parse().unwrap(), y.parse().unwrap(), part);
            }
        }
        if let (Some(x), Some(y), Some(r)) = (attribute(part, "cx"), attribute(part, "cy"), attribute(part, "r")) {
            check(x - r, y - r, part);
            check(x + r, y + r, part);
        }
        if let (Some(x), Some(y), Some((_, words))) =
            (attribute(part, " x"), attribute(part, " y"), part.split_once('>'))
        {
            let long = crate::picture::text::width(words, attribute(part, "font-size").unwrap_or(12.0)) / 1.15;
            let (from, to) = match part {
                p if p.contains("\"middle\"") => (x - long / 2.0, x + long / 2.0),
                p if p.contains("\"end\"") => (x - long, x),
                _ => (x, x + long),
            };
            check(from, y, part);
            check(to, y, part);
        }
    }
}

/// Centres of the circles that are rows, by their common radius.
fn centres(text: &str, rows: usize) -> Vec<(f64, f64)> {
    let radius = format!(" r=\"{:.1}\"", (9.0 - 0.9 * (rows as f64).ln()).clamp(1.4, 4.5));
    let parts = text.split("<circle").skip(1).filter_map(|part| part.split('>').next());
    let circles = parts.filter(|part| part.contains(&radius) && !part.contains("stroke"));
    circles.map(|part| (attribute(part, "cx").unwrap(), attribute(part, "cy").unwrap())).collect()
}

/// Ends of the lines of the crosses.
fn crosses(text: &str) -> usize {
    text.split("<path ").filter(|p| p.contains("stroke-opacity=\".25\"")).map(|p| p.matches('M').count()).sum()
}

#[test]
fn both_axes_have_the_same_scale_and_every_row_is_inside() {
    let points = [(0.0, 0.0), (10.0, 0.0), (0.0, 3.0), (10.0, -1.0)];
    let at = centres(&draw(&axes(&points, 0.0), Colour::Plain), 4);
    assert_eq!(at.len(), 4);
    let (across, up) = (at[1].0 - at[0].0, at[0].1 - at[2].1);
    assert!((across / 10.0 - up / 3.0).abs() < 0.1, "{across} {up}");
}

/// The longest cross belongs to the outermost row, and is drawn in full.
#[test]
fn crosses_are_not_cut() {
    let points: Vec<(f64, f64)> = (0..40).map(|n| (f64::from(n % 7), f64::from(n % 5))).collect();
    let mut axes = axes(&points, 0.3);
    axes[0][6].1 = 3.0;
    axes[1][4].1 = 2.0;
    let text = draw(&axes, Colour::Plain);
    assert_eq!(crosses(&text), 80);
    assert!(!text.contains("beyond") && !text.contains("outside"), "{text}");
}

#[test]
fn odd_input_still_gives_a_picture() {
    let huge = f64::MAX;
    draw(&[], Colour::Plain);
    draw(&[vec![], vec![]], Colour::Plain);
    draw(&[vec![(1.0, f64::NAN)], vec![(2.0, 0.1)]], Colour::Plain);
    draw(&axes(&[(1e10, 1e10), (1e10 + 1e-5, 1e10)], 0.1), Colour::Plain);
    draw(&axes(&[(1e-300, 0.0), (2e-300, 1e-301)], 0.0), Colour::Plain);
    draw(&axes(&[(1e99, -1e99), (-1e99, 0.0)], 1e99), Colour::Plain);
    let mixed = [(f64::NAN, 0.0), (huge, -huge), (0.0, f64::INFINITY), (1.0, 1.0)];
    assert_eq!(centres(&draw(&axes(&mixed, huge), Colour::Plain), 4).len(), 1);
    draw(&axes(&mixed, 1.0), Colour::Labels(&labels("a")));
    draw_over_time(&axes(&mixed, 1.0), Colour::Plain, &[vec![0, 1, 2, 3], vec![]], &labels("a"));
    for values in [&[][..], &[1.0; 4], &[f64::NAN; 4], &[huge, -huge, 1.0, 2.0], &[1e20, 1e20 + 2e4]] {
        let points = axes(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (0.0, 2.0)], 0.1);
        draw(&points, Colour::Value { values, name: "v", format: None });
        draw(&points, Colour::Value { values, name: "v", format: Some(&|v| format!("at {v:.1}")) });
    }
}

#[test]
fn keys_explain_the_colours() {
    let points = axes(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (1.0, 0.0)], 0.1);
    let text = draw(&points, Colour::Labels(&labels("b<c a a b<c")));
    let (a, b) = (text.find(">a<").unwrap(), text.find(">b&lt;c<").unwrap());
    assert!(a < b);
    let values = [0.0, 5.0, 10.0, f64::NAN];
    let text = draw(&points, Colour::Value { values: &values, name: "depth", format: None });
    assert!(text.contains(">depth</text>") && text.contains("linearGradient"));
    assert!(text.contains(&format!("fill=\"{}\"", viridis(1.0))) && text.contains("grey: 1 row without a number"));
}

/// Names that are long, wide or many stay within the picture, and remain distinct.
#[test]
fn legends_have_room() {
    let points: Vec<(f64, f64)> = (0..60).map(|n| (f64::from(n % 9), f64::from(n % 4))).collect();
    let long = |n: u32| format!("{} of the second cohort, batch {n}", "W面面".repeat(20));
    let text = draw(&axes(&points, 0.1), Colour::Labels(&(0..60).map(|n| long(n % 3)).collect::<Vec<_>>()));
    assert!((0..3).all(|n| text.contains(&format!("batch {n}<"))), "{text}");
    let text =
        draw(&axes(&points, 0.1), Colour::Labels(&(0..60).map(|n| format!("class {}", n % 30)).collect::<Vec<_>>()));
    assert!(text.contains("7 other classes"), "{text}");
}

#[test]
fn a_row_far_away_is_pointed_at() {
    let mut points: Vec<(f64, f64)> = (0..50).map(|n| (f64::from(n).sin(), f64::from(n).cos())).collect();
    points.push((100.0, -40.0));
    let text = draw(&axes(&points, 0.1), Colour::Plain);
    assert!(text.contains("1 row is outside the frame") && centres(&text, 51).len() == 50, "{text}");
    let spread =
        centres(&text, 51).iter().map(|c| c.0).fold((f64::MAX, 0.0), |(a, b): (f64, f64), x| (a.min(x), b.max(x)));
    assert!(spread.1 - spread.0 > 300.0, "{spread:?}");
    assert_eq!(text.matches('Z').count(), 1);
}

#[test]
fn rows_are_joined_in_time() {
    let points: Vec<(f64, f64)> = (0..20).map(|n| (f64::from(n), f64::from(n % 3))).collect();
    let times: Vec<f64> = (0..20).map(f64::from).collect();
    let sequences = [(0..10).rev().collect::<Vec<_>>(), (10..20).collect()];
    let colour = Colour::Value { values: &times, name: "time", format: None };
    let text = draw_over_time(&axes(&points, 0.1), colour, &sequences, &labels("first last"));
    let lines: usize =
        text.split("<path ").filter(|p| p.contains("stroke-linecap")).map(|p| p.matches('M').count()).sum();
    assert_eq!(lines, 18);
    assert!(text.contains(">first<") && text.contains(">last<") && text.contains(">time<"), "{text}");
}

/// A path to the right leaves no space there for its name.
#[test]
fn names_hide_no_rows() {
    let points: Vec<(f64, f64)> = (0..40).map(|n| (f64::from(n), f64::from(n / 20))).collect();
    let sequences = [(0..20).collect::<Vec<_>>(), (20..40).collect()];
    let text = draw_over_time(&axes(&points, 0.1), Colour::Plain, &sequences, &labels("first-of-two second-of-two"));
    let name = text.split("<text").find(|part| part.contains(">first-of-two<")).unwrap();
    let (first, y) = (centres(&text, 40)[0], attribute(name, " y").unwrap());
    assert!((first.1 - y).abs() > 8.0, "{first:?} {name}");
}

#[test]
fn three_axes_are_pairs() {
    let axis = |k: u32| (0..30).map(|n| (f64::from(n * k % 11), 0.2)).collect::<Vec<_>>();
    let text = draw(&[axis(1), axis(3), axis(5), axis(7)], Colour::Labels(&vec!["a".to_string(); 30]));
    assert_eq!(text.matches("<rect x").count(), 3);
    assert_eq!(centres(&text, 30).len(), 3 * 30);
    for (name, count) in [(">x1<", 1), (">x2<", 2), (">x3<", 1), (">x4<", 0)] {
        assert_eq!(text.matches(name).count(), count, "{name}");
    }
    assert!(text.contains("the first 3 of 4 axes"));
}

#[test]
fn many_rows_make_a_small_file_with_few_crosses() {
    let points: Vec<(f64, f64)> = (0..20_000).map(|i| (f64::from(i).sin(), f64::from(i * i % 997))).collect();
    let text = draw(&axes(&points, 0.1), Colour::Plain);
    assert!(text.len() < 17 * points.len(), "{}", text.len());
    assert_eq!(text.matches("h0").count(), points.len());
    assert!(crosses(&text) <= 600 && text.contains("shown for 299 of 20000 rows"), "{}", crosses(&text));
}

#[test]
fn one_axis_has_one_scale() {
    let text = draw(&[vec![(0.0, 0.1), (5.0, 0.1)]], Colour::Plain);
    assert!(!text.contains("rotate(-90)") && text.contains("bars: ± 1"));
}
