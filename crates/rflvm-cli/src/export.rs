//! `rflvm export`: draws as CSV or as a NumPy array.

use crate::args::ExportArgs;
use crate::atomic::plain_reason;
use crate::drawn::Drawn;
use crate::failure::Failure;
use crate::fit::Fit;
use crate::voice::tell;
use rflvm::atomic::write_with;
use rflvm::draws::Source;
use rflvm::error::SpecError;
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &ExportArgs) -> Result<(), Failure> {
    let store = Drawn::judged(&Fit::open(&args.dir, |_| ())?)?.0.store;
    let groups = ["posterior", "sample_stats"];
    let found = groups.iter().map(|group| format!("{group}/{}", args.what)).find(|name| store.is_drawn(name));
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
            writeln!(file, "chain,draw,{indices}{}", args.what)?;
        }
        for chain in 0..shape[0] {
            let mut draw = 0;
            // The first failure counts; a closure cannot return it.
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
    write_with(&args.out, fill)
        .map_err(|error| Failure::Write { path: args.out.display().to_string(), reason: plain_reason(&error) })?;
    tell(&format!("{} of {} chains × {} draws: {}", args.what, shape[0], shape[1], args.out.display()))?;
    Ok(())
}

/// `i,j,` of the number at this place of a draw, counted from 1.
fn indices(mut place: usize, shape: &[usize]) -> String {
    let mut indices = Vec::new();
    for length in shape.iter().rev() {
        indices.push(place % length + 1);
        place /= length;
    }
    indices.iter().rev().map(|i| format!("{i},")).collect()
}

/// The head of a .npy file of 64-bit floats (NumPy's format 1.0).
pub fn npy_header(shape: &[usize]) -> Vec<u8> {
    let lengths: Vec<String> = shape.iter().map(|l| format!("{l},")).collect();
    let mut text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", lengths.join(" "));
    // Ten bytes stand before the text; the whole ends at a multiple of 64 with a new line.
    let padding = (10 + text.len() + 1).next_multiple_of(64) - (10 + text.len() + 1);
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((text.len() as u16).to_le_bytes());
    head.extend(text.bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_by_rows() {
        assert_eq!(indices(7, &[3, 4]), "2,4,");
        assert_eq!(indices(0, &[]), "");
        assert_eq!(npy_header(&[2, 3]).len() % 64, 0);
    }
}
