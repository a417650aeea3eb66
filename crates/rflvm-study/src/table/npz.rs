//! Archives of NumPy arrays, one of which is the table: .npz.

use std::fs::File;
use std::io::BufReader;

use zip::ZipArchive;

use super::allowance::Allowance;
use super::builder::{TableBuilder, Text};
use super::npy::{Element, Header, read_array};
use super::words::{list, shorten};
use super::{ReadOptions, TableError, text};

const KIND: &str = ".npz";

/// The array that `options` name, or else the only numeric one with two axes.
pub(super) fn read(allowance: Allowance, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let damaged = |reason: String| TableError::Damaged { file: allowance.path.clone(), kind: KIND, reason };
    let file = File::open(&allowance.path).map_err(|e| text::failed(&allowance.path, &e))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|e| damaged(e.to_string()))?;

    let mut names = Vec::new();
    let mut fitting = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|e| damaged(e.to_string()))?;
        let name = entry.name().map_err(|e| damaged(e.to_string()))?.to_string();
        let Some(name) = name.strip_suffix(".npy") else { continue };
        names.push(name.to_string());
        let size = entry.size();
        if options.array.as_deref().map_or_else(|| is_table(&allowance, &mut entry, size), |wanted| wanted == name) {
            fitting.push(index);
        }
    }
    let choice = |problem: String, remedy| {
        Err(TableError::NpzChoice { file: allowance.path.clone(), problem, arrays: list(&names), remedy })
    };
    let index = match (&fitting[..], &options.array) {
        _ if names.is_empty() => return Err(damaged("it holds no array".to_string())),
        (&[index, ..], Some(_)) | (&[index], None) => index,
        ([], Some(name)) => {
            let problem = format!("⟨array⟩ names the array `{}`, which does not exist", shorten(name, 40));
            return choice(problem, "one of them must be named");
        }
        ([], None) if ["indptr", "indices", "shape"].iter().all(|part| names.iter().any(|n| n == part)) => {
            let problem = "this is a sparse matrix of SciPy".to_string();
            return choice(problem, "scipy.io.mmwrite saves it as .mtx, which can be read");
        }
        ([], None) => {
            let problem = "no array has two axes and holds numbers".to_string();
            return choice(problem, "one of them must be a table, rows by columns");
        }
        (several, None) => {
            let problem = format!("{} arrays have two axes and hold numbers", several.len());
            return choice(problem, "⟨array⟩ must name the one to read");
        }
    };

    // Times and sequences may be stored next to the table, as one-dimensional arrays.
    let mut rest = options.clone();
    let mut beside = |name: &mut Option<String>, option: &str| -> Result<Option<Vec<String>>, TableError> {
        let Some(wanted) = name.take() else { return Ok(None) };
        if !names.contains(&wanted) {
            let problem = format!("⟨{option}⟩ names the array `{}`, which does not exist", shorten(&wanted, 40));
            let remedy = "one of them must be named, with one number per row";
            return Err(TableError::NpzChoice { file: allowance.path.clone(), problem, arrays: list(&names), remedy });
        }
        Ok(Some(numbers(&allowance, &mut archive, &wanted)?))
    };
    let time = beside(&mut rest.time, "time")?;
    let sequence = beside(&mut rest.sequence, "sequence")?;

    let mut entry = archive.by_index(index).map_err(|e| damaged(e.to_string()))?;
    let size = entry.size();
    let header = Header::read(&allowance.path, &mut entry, size)?;
    let mut builder = read_array(allowance.clone(), &mut entry, &header, size, KIND, &rest)?;
    // The checksum is compared only at the end of the data, which the last read has not passed.
    std::io::copy(&mut entry, &mut std::io::sink()).map_err(|e| damaged(e.to_string()))?;
    for (cells, option) in [(&time, "time"), (&sequence, "sequence")] {
        if let Some(found) = cells.as_ref().map(Vec::len).filter(|&found| found != builder.rows) {
            let problem =
                format!("the array of ⟨{option}⟩ holds {found} numbers, but the table has {} rows", builder.rows);
            return choice(problem, "one of them must have one number per row");
        }
    }
    let beside = |cells: Vec<String>| Text { position: usize::MAX, cells };
    builder.texts[2] = time.map(beside);
    builder.texts[3] = sequence.map(beside);
    Ok(builder)
}

/// The numbers of a one-dimensional array, as texts.
fn numbers(
    allowance: &Allowance,
    archive: &mut ZipArchive<BufReader<File>>,
    name: &str,
) -> Result<Vec<String>, TableError> {
    let damaged = |reason: String| TableError::Damaged { file: allowance.path.clone(), kind: KIND, reason };
    let mut entry = archive.by_name(&format!("{name}.npy")).map_err(|e| damaged(e.to_string()))?;
    let size = entry.size();
    let mut header = Header::read(&allowance.path, &mut entry, size)?;
    if header.shape.len() == 1 {
        // A column of a table.
        header.shape.push(1);
    }
    let column = read_array(allowance.clone(), &mut entry, &header, size, KIND, &ReadOptions::default())?;
    std::io::copy(&mut entry, &mut std::io::sink()).map_err(|e| damaged(e.to_string()))?;
    Ok(column.values.iter().map(f64::to_string).collect())
}

fn is_table(allowance: &Allowance, entry: &mut impl std::io::Read, size: u64) -> bool {
    Header::read(&allowance.path, entry, size).is_ok_and(|h| h.shape.len() == 2 && Element::new(&h.descr).is_ok())
}
