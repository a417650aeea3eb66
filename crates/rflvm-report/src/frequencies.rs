//! The learned kernel: its curves, the frequencies of one draw with their clusters, and how many clusters there are.

use crate::number::numbers;
use crate::subject::Subject;
use rflvm::internal::error::RunError;
use rflvm::internal::posterior::kernel::Curve;
use rflvm::internal::posterior::parameters::{Stored, evenly};
use rflvm_study::answers::kernel::curves;
use rflvm_study::answers::stream;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// k(δ) and the density of frequencies along each axis and over all directions.
pub fn section(subject: &Subject<'_>) -> Result<Value, RunError> {
    let fitted = &subject.fitted;
    let learned = curves(&subject.asked(stream::KERNEL), subject.positions)?.learned;
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for &chain in fitted.used {
        let clusters = fitted.store.all("posterior/clusters", chain)?;
        clusters.iter().for_each(|&count| *counts.entry(count as u64).or_default() += 1);
    }
    Ok(json!({
        "kernel": learned.kernel.iter().map(curve).collect::<Vec<_>>(),
        "density": learned.density.iter().map(curve).collect::<Vec<_>>(),
        "clusters": counts.into_iter().collect::<Vec<_>>(),
        "frequencies": one_draw(subject)?,
    }))
}

fn curve(curve: &Curve) -> Value {
    let band = |side: usize| curve.band.iter().map(|band| band[side]).collect::<Vec<_>>();
    json!({ "at": numbers(&curve.at), "mean": numbers(&curve.mean), "low": numbers(&band(0)), "high": numbers(&band(1)) })
}

/// Frequencies of the middle draw in the common frame, one list per axis, and the cluster of each: clusters differ from draw to draw.
fn one_draw(subject: &Subject<'_>) -> Result<Value, RunError> {
    let fitted = &subject.fitted;
    let Some(&(chain, draw)) = evenly(fitted.used, fitted.store.size()?.1, 1).first() else { return Ok(Value::Null) };
    let parameters = Stored::open(fitted.store, fitted.model)?.at(chain, draw)?;
    let turned = subject.positions.frame.of(&parameters.x, &parameters.w).frequencies(&parameters.w);
    let cluster = fitted.store.cursor("posterior/z")?.at(chain, draw)?.to_vec();
    let axes: Vec<Value> = (0..turned.cols()).map(|d| numbers(&turned.col(d))).collect();
    Ok(json!({ "axes": axes, "cluster": cluster.iter().map(|&z| z as u64).collect::<Vec<_>>() }))
}
