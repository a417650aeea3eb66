//! Threads of a run, and work that is done side by side.

use super::settings::Settings;
use crate::error::SpecError;
use crate::model::Model;
use rayon::ThreadPool;

/// A pool with all threads of a run.
pub fn pool(settings: &Settings) -> Result<ThreadPool, SpecError> {
    pool_of(settings, settings.threads())
}

/// The threads of a run, dealt out to its chains. In one common pool, a thread of one chain that waits for the rest of a product
/// would start on a whole sweep of another chain, and keep its own waiting.
///
/// Where several processes advance a chain, its chains run one after the other, each with all threads.
pub fn pools(model: &Model, settings: &Settings) -> Result<Vec<ThreadPool>, SpecError> {
    let (threads, chains) = (settings.threads(), if model.chunks().is_alone() { settings.chains } else { 1 });
    let pools = threads.min(chains);
    (0..pools).map(|i| pool_of(settings, threads / pools + usize::from(i < threads % pools))).collect()
}

fn pool_of(settings: &Settings, threads: usize) -> Result<ThreadPool, SpecError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        let rule = format!("that many threads cannot be started ({error}); choose a smaller number");
        SpecError::Setting { setting: "threads", value: settings.threads.to_string(), rule }
    })
}

/// Does a piece of work for each item, each in its own thread; the results are in order. One after the other where several processes do it
/// together, which must all do the same at the same time: the first failure then ends it, since the others wait for this process.
pub fn side_by_side<I: Send, O: Send, E: Send>(
    model: &Model,
    items: Vec<I>,
    work: impl Fn(I) -> Result<O, E> + Sync,
) -> Result<Vec<O>, E> {
    if !model.chunks().is_alone() {
        return items.into_iter().map(work).collect();
    }
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = items.into_iter().map(|item| scope.spawn(move || work(item))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelSpec;
    use crate::model::family::Poisson;
    use crate::ranks::Threads;
    use crate::simulate;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_failure_ends_the_work_that_processes_share() {
        let whole = simulate::blank(5, vec![(200, Arc::new(Poisson))], 1, ModelSpec::default()).unwrap();
        let part = whole.part(Threads::connected(2).remove(0)).unwrap();
        for (model, expected) in [(&whole, 3), (&part, 1)] {
            let begun = AtomicUsize::new(0);
            let outcome = side_by_side(model, vec![0, 1, 2], |item| {
                begun.fetch_add(1, Ordering::Relaxed);
                if item == 0 { Err("failed") } else { Ok(item) }
            });
            assert_eq!((outcome, begun.into_inner()), (Err("failed"), expected));
        }
    }
}
