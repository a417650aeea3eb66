//! Draws of the positions of new rows, kept until they are written.

use crate::args::TransformArgs;
use crate::failure::Failure;
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm_study::drawn::is_due;
use rflvm_study::write;
use rflvm_study::write::npy_header;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Draws of the positions, evenly spaced over those visited.
pub struct DrawnPositions {
    wanted: usize,
    path: PathBuf,
    is_array: bool,
    draws: Vec<Mat>,
}

impl DrawnPositions {
    pub fn new(wanted: usize, args: &TransformArgs) -> Result<Self, SpecError> {
        let beside = || {
            let stem = args.out.file_stem().unwrap_or_default().to_string_lossy();
            args.out.with_file_name(format!("{stem}-draws.csv"))
        };
        let path = args.draws_out.clone().unwrap_or_else(beside);
        let is_array = match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => false,
            Some("npy") => true,
            _ => {
                let rule = "its name must end in .csv or .npy".into();
                return Err(SpecError::Setting { setting: "draws-out", value: path.display().to_string(), rule });
            }
        };
        Ok(DrawnPositions { wanted, path, is_array, draws: Vec::new() })
    }

    /// Keeps draw i of `visited` if it is the next to keep.
    pub fn take(&mut self, i: usize, visited: usize, x: &Mat) {
        if is_due(i, self.draws.len(), visited, self.wanted) {
            self.draws.push(x.clone());
        }
    }

    pub fn count(&self) -> usize {
        self.draws.len()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `row,draw,x1,…`, both counted from 1, or an array of draw × row × axis.
    pub fn write(&self) -> Result<(), Failure> {
        let (rows, dim) = self.draws.first().map_or((0, 0), |x| (x.rows(), x.cols()));
        let fill = |file: &mut io::BufWriter<std::fs::File>| -> io::Result<()> {
            if self.is_array {
                file.write_all(&npy_header(&[self.draws.len(), rows, dim]))?;
                let mut values = self.draws.iter().flat_map(|x| x.as_slice());
                return values.try_for_each(|v| file.write_all(&v.to_le_bytes()));
            }
            let axes: String = (1..=dim).map(|d| format!(",x{d}")).collect();
            writeln!(file, "row,draw{axes}")?;
            for n in 0..rows {
                for (i, x) in self.draws.iter().enumerate() {
                    let cells: String = x.row(n).iter().map(|v| format!(",{v}")).collect();
                    writeln!(file, "{},{}{cells}", n + 1, i + 1)?;
                }
            }
            Ok(())
        };
        Ok(write::with(&self.path, fill)?)
    }
}
