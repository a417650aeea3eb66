//! A table of counts in, draws of the rows' positions out: the library in thirty lines.
//!
//! Run it with `cargo run --release --example fit_counts -- TABLE.csv SEED SWEEPS OUT`. The table has a header line followed by
//! numbers; OUT receives X of each draw as raw 64-bit numbers, chain by chain. The program and the Python package give the same
//! draws for the same seed, bit for bit.

use rflvm::{Init, Mat, Memory, Model, ModelSpec, Observations, Poisson, Settings, run};
use std::error::Error;
use std::ops::ControlFlow;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, seed, sweeps, out] = &arguments[..] else {
        return Err("usage: fit_counts TABLE.csv SEED SWEEPS OUT".into());
    };
    let text = std::fs::read_to_string(table)?;
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|line| line.split(',').map(str::parse).collect()).collect::<Result<_, _>>()?;
    let y = Mat::from_fn(rows.len(), rows[0].len(), |n, j| rows[n][j]);
    let model = Model::new(Observations::new(y)?, Poisson, ModelSpec { features: 20, ..ModelSpec::default() })?;
    let sweeps: u64 = sweeps.parse()?;
    // Two chains, from principal components.
    let begin = Settings { chains: 2, init: Init::Pca, ..Settings::default() };
    let settings = Settings { warmup: sweeps, draws: sweeps, seed: seed.parse()?, ..begin };
    let chains = run(&model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(()))?;
    let numbers = chains.iter().filter_map(|chain| chain.array("posterior/x")).flatten();
    std::fs::write(out, numbers.flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())?;
    Ok(())
}
