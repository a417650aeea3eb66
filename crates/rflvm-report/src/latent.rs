//! The latent map: positions of the rows with their uncertainty, and what rows can be coloured by.

use crate::number::number;
use crate::outlier_score;
use crate::pack::Pack;
use crate::subject::Subject;
use rflvm::internal::error::RunError;
use rflvm_study::times::{Calendar, Timeline};
use serde_json::{Value, json};

/// Positions, names, labels and times of the rows.
pub fn section(subject: &Subject<'_>, pack: &mut Pack) -> Result<Value, RunError> {
    let (embedding, rows) = (&subject.positions.embedding, &subject.rows);
    let (count, axes) = (embedding.mean.rows(), embedding.mean.cols());
    let pairs = || (0..axes).flat_map(|a| (a + 1..axes).map(move |b| (a, b)));
    let correlation = |n: usize, a: usize, b: usize| {
        let covariance = &embedding.covariance[n];
        let size = (covariance[(a, a)] * covariance[(b, b)]).sqrt();
        if size > 0.0 { (covariance[(a, b)] / size).clamp(-1.0, 1.0) } else { 0.0 }
    };
    let sd: Vec<f64> = (0..count).flat_map(|n| (0..axes).map(move |d| embedding.sd(n, d))).collect();
    let numbered = rows.ids.iter().enumerate().all(|(n, id)| *id == (n + 1).to_string());
    Ok(json!({
        "axes": axes,
        "mean": pack.floats(embedding.mean.as_slice()),
        "sd": pack.floats(&sd),
        // Of the variance; with several modes only.
        "betweenModes": (!embedding.between_modes.is_empty()).then(|| pack.floats(&embedding.between_modes)),
        // Hundredths are finer than an ellipse shows.
        "correlation": pack.bytes((0..count).flat_map(|n| pairs().map(move |(a, b)| (correlation(n, a, b) * 127.0 + 128.0).round() as u8))),
        "ids": (!numbered).then_some(rows.ids),
        "labels": rows.labels,
        "labelName": rows.label_name,
        "times": rows.timeline.map(|timeline| times(timeline, rows.times, pack)),
        "outlier_score": outlier_score::outlier_score(subject)?.map(|values| pack.floats(&values)),
    }))
}

fn times(timeline: &Timeline, texts: Option<&[String]>, pack: &mut Pack) -> Value {
    let origin = match &timeline.calendar {
        Calendar::Numbers => Value::Null,
        Calendar::Dates { origin, .. } => json!(origin.and_utc().timestamp_millis()),
    };
    json!({
        "at": pack.floats(&timeline.times.at),
        "texts": texts,
        // Milliseconds of day 0 if times are dates.
        "origin": origin,
        "sequence": pack.words(timeline.times.sequence.iter().map(|&s| s.min(65535) as u16)),
        "names": timeline.names,
    })
}

/// The modes that the search found, the chosen one first.
pub fn modes(subject: &Subject<'_>, pack: &mut Pack) -> Value {
    let mode = |found: &rflvm::internal::run::modes::Found| {
        json!({
            "start": found.start, "evidence": number(found.evidence), "error": number(found.error),
            "continuity": number(found.continuity), "trustworthiness": number(found.trustworthiness),
            "axes": found.positions.cols(), "positions": pack.floats(found.positions.as_slice()),
        })
    };
    subject.modes.iter().map(mode).collect()
}
