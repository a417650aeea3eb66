//! Pictures that must be well formed whatever they are given.

use super::*;

fn labels(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

fn draw(points: &[(f64, f64)], colour: Colour, sds: Option<&[(f64, f64)]>) -> String {
    let text = svg(&Picture {
        title: "A <title> & \"more\"\u{1}",
        points,
        sds,
        colour,
        x_label: "latent 1",
        y_label: "latent 2",
    });
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    assert!(text.contains("A &lt;title&gt; &amp; &quot;more&quot; <"));
    for tag in ["g", "text", "clipPath", "title"] {
        let open = text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
        assert_eq!(open, text.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    text
}

/// Every `name="number"` of the circles that are points, not legend.
fn centres(text: &str) -> Vec<(f64, f64)> {
    let number = |part: &str, name: &str| -> f64 {
        let from = part.find(name).unwrap() + name.len();
        part[from..].split('"').next().unwrap().parse().unwrap()
    };
    let body = &text[text.find("clip-path").unwrap()..text.rfind("</g>").unwrap()];
    body.split("<circle").skip(1).map(|part| (number(part, "cx=\""), number(part, "cy=\""))).collect()
}

#[test]
fn both_axes_have_the_same_scale_and_every_point_is_inside() {
    let points = [(0.0, 0.0), (10.0, 0.0), (0.0, 3.0), (10.0, -1.0)];
    let at = centres(&draw(&points, Colour::Plain, None));
    assert_eq!(at.len(), 4);
    let (across, up) = (at[1].0 - at[0].0, at[0].1 - at[2].1);
    assert!((across / 10.0 - up / 3.0).abs() < 0.1, "{across} {up}");
    assert!(at.iter().all(|p| p.0 > LEFT && p.0 < LEFT + WIDTH && p.1 > TOP));
}

#[test]
fn odd_input_still_gives_a_picture() {
    let huge = f64::MAX;
    draw(&[], Colour::Plain, None);
    draw(&[(1.0, 2.0)], Colour::Plain, Some(&[(f64::NAN, 0.1)]));
    draw(&[(1e10, 1e10), (1e10 + 1e-5, 1e10)], Colour::Plain, None);
    draw(&[(1e-300, 0.0), (2e-300, 1e-301)], Colour::Plain, None);
    draw(&[(1e99, -1e99), (-1e99, 0.0)], Colour::Plain, None);
    let mixed = [(f64::NAN, 0.0), (huge, -huge), (0.0, f64::INFINITY), (1.0, 1.0)];
    assert_eq!(centres(&draw(&mixed, Colour::Plain, Some(&mixed))).len(), 1);
    draw(&mixed, Colour::Labels(&labels("a")), None);
    for values in [&[][..], &[1.0; 4], &[f64::NAN; 4], &[huge, -huge, 1.0, 2.0], &[1e20, 1e20 + 2e4]] {
        let colour = Colour::Value { values, name: "v" };
        draw(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (0.0, 2.0)], colour, None);
    }
}

#[test]
fn keys_explain_the_colours() {
    let points = [(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)];
    let text = draw(&points, Colour::Labels(&labels("b<c a a")), None);
    let (a, b) = (text.find(">a<").unwrap(), text.find(">b&lt;c<").unwrap());
    assert!(a < b);
    let values = [0.0, 5.0, 10.0];
    let text = draw(&points, Colour::Value { values: &values, name: "depth" }, None);
    assert!(text.contains(">depth</text>") && text.contains("linearGradient"));
    assert!(text.contains(&format!("fill=\"{}\"", colour::viridis(1.0))));
}

#[test]
fn many_points_make_a_small_file() {
    let points: Vec<(f64, f64)> = (0..20_000).map(|i| (f64::from(i).sin(), f64::from(i * i % 997))).collect();
    let text = draw(&points, Colour::Plain, None);
    assert!(text.len() < 16 * points.len(), "{}", text.len());
    assert_eq!(text.matches("h0").count(), points.len());
}

#[test]
fn an_unlabelled_axis_has_no_scale() {
    let text = svg(&Picture {
        title: "line",
        points: &[(0.0, 0.2), (5.0, -0.2)],
        sds: Some(&[(0.1, 0.0), (0.1, 0.0)]),
        colour: Colour::Plain,
        x_label: "latent 1",
        y_label: "",
    });
    assert!(!text.contains("text-anchor=\"end\">0<") && text.contains("bars: ± 1"));
}
