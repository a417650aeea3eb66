//! `rflvm export`: draws as CSV or as a NumPy array.

use crate::answer::outputs;
use crate::args::ExportArgs;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm::internal::draws::Source;
use rflvm::internal::draws::zarr::today;
use rflvm::internal::error::SpecError;
use rflvm_study::Fit;
use rflvm_study::drawn::Drawn;
use rflvm_study::write::{self, npy_header};
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &ExportArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let fit = Fit::open(&args.dir, |_| ())?;
    outputs(&fit).named(&args.out)?;
    let store = Drawn::open(&fit)?.0.store;
    let groups = ["posterior", "sample_stats"];
    let what = today(&args.what).unwrap_or(&args.what);
    if what != args.what {
        reply.console().warn(&format!("`{}` is called `{what}` now", args.what));
    }
    let found = groups.iter().map(|group| format!("{group}/{what}")).find(|name| store.is_drawn(name));
    let name = found.ok_or_else(|| {
        let drawn = |group: &&str| {
            store.names(group).into_iter().filter(|n| store.is_drawn(&format!("{group}/{n}"))).collect::<Vec<_>>()
        };
        let known = groups.iter().flat_map(drawn).collect::<Vec<_>>().join(", ");
        SpecError::Unknown { what: "quantity in this fit", name: args.what.clone(), known }
    })?;
    let shape = store.shape(&name)?;
    let is_array = match args.out.extension().and_then(|e| e.to_str()) {
        Some("csv") => false,
        Some("npy") => true,
        _ => {
            let (setting, value) = ("out", args.out.display().to_string());
            return Err(SpecError::Setting { setting, value, rule: "its name must end in .csv or .npy".into() }.into());
        }
    };
    let fill = |file: &mut io::BufWriter<std::fs::File>| -> io::Result<()> {
        if is_array {
            file.write_all(&npy_header(&shape))?;
        } else {
            let indices: String = (1..=shape.len() - 2).map(|i| format!("i{i},")).collect();
            writeln!(file, "chain,draw,{indices}{what}")?;
        }
        for chain in 0..shape[0] {
            let mut draw = 0;
            // A closure cannot return the first failure, so it is kept here.
            let mut outcome = Ok(());
            let read = store.each(&name, chain, &mut |values| {
                for (i, value) in values.iter().enumerate() {
                    let line = if is_array {
                        file.write_all(&value.to_le_bytes())
                    } else {
                        writeln!(file, "{},{},{}{value}", chain + 1, draw + 1, indices(i, &shape[2..]))
                    };
                    if outcome.is_ok() {
                        outcome = line;
                    }
                }
                draw += 1;
            });
            outcome?;
            read.map_err(io::Error::other)?;
        }
        Ok(())
    };
    write::with(&args.out, fill)?;
    let line = format!("{what} of {} chains × {} draws: {}", shape[0], shape[1], args.out.display());
    reply.files(&[&args.out], &line)
}

/// `i,j,` of the number at this position of a draw, counted from 1.
fn indices(mut place: usize, shape: &[usize]) -> String {
    let mut indices = Vec::new();
    for length in shape.iter().rev() {
        indices.push(place % length + 1);
        place /= length;
    }
    indices.iter().rev().map(|i| format!("{i},")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_by_rows() {
        assert_eq!(indices(7, &[3, 4]), "2,4,");
        assert_eq!(indices(0, &[]), "");
    }
}
