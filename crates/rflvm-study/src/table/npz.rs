//! Archives of NumPy arrays, of which one is the table: .npz.

use std::fs::File;
use std::io::BufReader;

use zip::ZipArchive;

use super::draft::{Draft, Text};
use super::npy::{Element, Header, read_array};
use super::room::Room;
use super::words::{list, shorten};
use super::{ReadOptions, TableError, text};

const KIND: &str = ".npz";

/// The array that `options` name, or else the only one with two axes and numbers in it.
pub(super) fn read(room: Room, options: &ReadOptions) -> Result<Draft, TableError> {
    let damaged = |reason: String| TableError::Damaged { file: room.path.clone(), kind: KIND, reason };
    let file = File::open(&room.path).map_err(|e| text::failed(&room.path, &e))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|e| damaged(e.to_string()))?;

    let mut names = Vec::new();
    let mut fitting = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|e| damaged(e.to_string()))?;
        let name = entry.name().map_err(|e| damaged(e.to_string()))?.to_string();
        let Some(name) = name.strip_suffix(".npy") else { continue };
        names.push(name.to_string());
        let size = entry.size();
        if options.array.as_deref().map_or_else(|| is_table(&room, &mut entry, size), |wanted| wanted == name) {
            fitting.push(index);
        }
    }
    let choice = |problem: String, remedy| {
        Err(TableError::NpzChoice { file: room.path.clone(), problem, arrays: list(&names), remedy })
    };
    let index = match (&fitting[..], &options.array) {
        _ if names.is_empty() => return Err(damaged("it holds no array".to_string())),
        (&[index, ..], Some(_)) | (&[index], None) => index,
        ([], Some(name)) => {
            let problem = format!("⟨array⟩ asks for the array `{}`, which does not exist", shorten(name, 40));
            return choice(problem, "one of them must be named");
        }
        ([], None) if ["indptr", "indices", "shape"].iter().all(|part| names.iter().any(|n| n == part)) => {
            let problem = "this is a sparse matrix of SciPy".to_string();
            return choice(problem, "scipy.io.mmwrite saves such a matrix as .mtx, which can be read");
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

    // Times and sequences may lie beside the table, as arrays of one axis.
    let mut rest = options.clone();
    let mut beside = |name: &mut Option<String>, option: &str| -> Result<Option<Vec<String>>, TableError> {
        let Some(wanted) = name.take() else { return Ok(None) };
        if !names.contains(&wanted) {
            let problem = format!("{option} asks for the array `{}`, which does not exist", shorten(&wanted, 40));
            let remedy = "one of them must be named, with one number a row";
            return Err(TableError::NpzChoice { file: room.path.clone(), problem, arrays: list(&names), remedy });
        }
        Ok(Some(numbers(&room, &mut archive, &wanted)?))
    };
    let time = beside(&mut rest.time, "time")?;
    let sequence = beside(&mut rest.sequence, "sequence")?;

    let mut entry = archive.by_index(index).map_err(|e| damaged(e.to_string()))?;
    let size = entry.size();
    let header = Header::read(&room.path, &mut entry, size)?;
    let mut draft = read_array(room.clone(), &mut entry, &header, size, KIND, &rest)?;
    // The checksum is compared at the end, which the last read has not gone past.
    std::io::copy(&mut entry, &mut std::io::sink()).map_err(|e| damaged(e.to_string()))?;
    for (cells, option) in [(&time, "time"), (&sequence, "sequence")] {
        if let Some(found) = cells.as_ref().map(Vec::len).filter(|&found| found != draft.rows) {
            let problem = format!("the array of {option} holds {found} numbers, but the table has {} rows", draft.rows);
            return choice(problem, "one of them must have one number a row");
        }
    }
    let beside = |cells: Vec<String>| Text { position: usize::MAX, cells };
    draft.texts[2] = time.map(beside);
    draft.texts[3] = sequence.map(beside);
    Ok(draft)
}

/// The numbers of an array of one axis, as texts.
fn numbers(room: &Room, archive: &mut ZipArchive<BufReader<File>>, name: &str) -> Result<Vec<String>, TableError> {
    let damaged = |reason: String| TableError::Damaged { file: room.path.clone(), kind: KIND, reason };
    let mut entry = archive.by_name(&format!("{name}.npy")).map_err(|e| damaged(e.to_string()))?;
    let size = entry.size();
    let mut header = Header::read(&room.path, &mut entry, size)?;
    if header.shape.len() == 1 {
        // A column of a table.
        header.shape.push(1);
    }
    let column = read_array(room.clone(), &mut entry, &header, size, KIND, &ReadOptions::default())?;
    std::io::copy(&mut entry, &mut std::io::sink()).map_err(|e| damaged(e.to_string()))?;
    Ok(column.values.iter().map(f64::to_string).collect())
}

fn is_table(room: &Room, entry: &mut impl std::io::Read, size: u64) -> bool {
    Header::read(&room.path, entry, size).is_ok_and(|h| h.shape.len() == 2 && Element::new(&h.descr).is_ok())
}
