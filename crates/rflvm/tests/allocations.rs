//! What a sweep allocates once its moves have their memory: nothing as large as the table or H.
//! In its own program, since it counts every allocation.

use rflvm::internal::linalg::Mat;
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::run::Settings;
use rflvm::internal::run::chain::Chain;
use rflvm::internal::spec;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts allocations and passes them on.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

fn note(bytes: usize) {
    COUNT.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes, Relaxed);
    LARGEST.fetch_max(bytes, Relaxed);
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const ROWS: usize = 4_000;
const COLUMNS: usize = 60;
const SWEEPS: usize = 4;

#[test]
fn a_sweep_allocates_nothing_that_is_as_large_as_the_table() {
    for family in ["gaussian", "poisson", "negative-binomial", "bernoulli"] {
        let y = Mat::from_fn(ROWS, COLUMNS, |n, j| ((n * (j + 3) % 11) / 6) as f64);
        let data = Observations::new(y).unwrap();
        let blocks = vec![((0..COLUMNS).collect(), spec::family(family, None).unwrap())];
        let model = Model::with_blocks(data, blocks, ModelSpec { features: 20, ..ModelSpec::default() }).unwrap();
        let settings = Settings { warmup: 0, ..Settings::default() };
        let mut chain = Chain::new(&model, &settings, 0, Box::new(rflvm::internal::table::Host::default())).unwrap();
        (0..2).for_each(|_| assert!(chain.advance().is_ok()));
        [&COUNT, &BYTES, &LARGEST].iter().for_each(|counter| counter.store(0, Relaxed));
        (0..SWEEPS).for_each(|_| assert!(chain.advance().is_ok()));
        let table = ROWS * COLUMNS * 8;
        let [count, bytes, largest] = [&COUNT, &BYTES, &LARGEST].map(|counter| counter.load(Relaxed));
        println!(
            "{family}: {} allocations per sweep, {:.2} tables in total, the largest {:.3}",
            count / SWEEPS,
            bytes as f64 / (SWEEPS * table) as f64,
            largest as f64 / table as f64
        );
        // Vectors along a row or column, blocks of either and M×M matrices are allocated and freed.
        assert!(largest < table / 20, "{family}: {largest} bytes at once");
        assert!(bytes < 10 * SWEEPS * table, "{family}: {bytes} bytes in total");
    }
}
