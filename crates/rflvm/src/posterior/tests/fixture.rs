//! A small fit on disk, for tests.

use crate::draws::Kept;
use crate::draws::zarr::{Reader, RowLabels, Store, Writer};
use crate::model::Model;
use crate::run::{Settings, run};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Draws of each of its two chains.
pub const DRAWN: u64 = 20;

pub fn fit(model: &Model, name: &str, keep: &[Kept]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("rflvm-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    let settings = Settings { warmup: 5, draws: DRAWN, chains: 2, seed: 1, ..Settings::default() };
    let mut store = Store::new(&path, model, keep, 2, json!({}));
    let times = model.dynamics().map(|dynamics| dynamics.times().at.clone());
    let labels = RowLabels { ids: (0..model.rows()).map(|n| n.to_string()).collect(), times, ..RowLabels::default() };
    store.begin(model, model, &labels, 2).unwrap();
    let sink = |chain| Writer::new(&store, model, chain, false);
    let mut writers = run(model, &settings, sink, |_| ControlFlow::Continue(())).unwrap();
    writers.iter_mut().for_each(|writer| writer.flush().unwrap());
    store.publish(DRAWN).unwrap();
    path
}

pub fn open(path: &Path) -> Reader {
    Reader::open(path).unwrap()
}
