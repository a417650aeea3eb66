//! Zarr folders, of format 2 or 3: an array with two axes, a group with one, or AnnData. Only the chunks of wanted columns are read, one at a
//! time.

mod anndata;
mod array;
mod blosc;
mod codec;
mod folder;
mod matrix;

use std::path::{Path, PathBuf};

use super::allowance::Allowance;
use super::builder::{TableBuilder, Text};
use super::kind::is_zarr;
use super::unique::unique;
use super::words::{list, shorten};
use super::{ReadOptions, TableError, numbered};
use anndata::AnnData;
use array::{Node, node};
use folder::{KIND, children, damaged};
use matrix::Matrix;

/// Reads the array that `options` name, X of AnnData, or the only numeric array with two axes.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let (file, damaged) = (path.to_path_buf(), |reason: String| damaged(path, reason));
    let found = node(path).map_err(damaged)?;
    let anndata = AnnData::of(path, &found);
    let place = match (&found, &options.array) {
        (Node::Array(_), None) => path.to_path_buf(),
        (Node::Array(_), Some(name)) => {
            return Err(damaged(format!("it is a single array, and has no array `{}`", shorten(name, 40))));
        }
        (_, Some(name)) => named(path, name)?,
        (_, None) if anndata.is_some() => path.join("X"),
        (_, None) => only(path)?,
    };
    let matrix = Matrix::open(&place).map_err(damaged)?;
    let (rows, width) = matrix.shape();
    if rows == 0 || width == 0 {
        return Err(TableError::NpyEmpty { file, shape: format!("({rows}, {width})") });
    }
    // Cells that were never written take no room in a file.
    let allowance = Allowance::new(path, u64::MAX);
    // A name takes the allowance of about eight cells.
    allowance.cells(1, width.saturating_mul(8))?;
    let Some(anndata) = anndata else {
        let mut builder = TableBuilder::numbered(allowance, width, KIND, options)?;
        builder.fill_with_zeros(rows)?;
        matrix.fill(&mut builder)?;
        return Ok(builder);
    };
    let names = anndata.names("var", width).map_err(damaged)?;
    let named = names.is_some();
    let names = names.map_or_else(|| numbered(width as usize), unique);
    let mut builder = TableBuilder::new(allowance, names, named, None, &options.only_cells())?;
    builder.fill_with_zeros(rows)?;
    matrix.fill(&mut builder)?;
    let about = |name: &Option<String>, option: &'static str| match name {
        Some(name) => anndata.column(name, rows, option).map(|cells| Some(Text { position: usize::MAX, cells })),
        None => Ok(None),
    };
    let own = anndata.names("obs", rows).map_err(damaged)?.map(|cells| Text { position: usize::MAX, cells });
    builder.texts[0] = about(&options.id, "id")?.or(own);
    builder.texts[1] = about(&options.labels, "labels")?;
    builder.texts[2] = about(&options.time, "time")?;
    builder.texts[3] = about(&options.sequence, "sequence")?;
    for name in &options.covariates {
        builder.texts.push(about(&Some(name.clone()), "covariates")?);
    }
    if let Some(offsets) = about(&options.offset, "offset")? {
        let number = |(n, text): (usize, &String)| {
            let place = format!("row {}", n + 1);
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| TableError::Offset { file: path.to_path_buf(), place, text: shorten(text, 32) })
        };
        let cells = offsets.cells.iter().enumerate().map(number).collect::<Result<Vec<f64>, _>>()?;
        builder.offset = Some((usize::MAX, cells));
    }
    Ok(builder)
}

/// The array of a group that is asked for.
fn named(path: &Path, name: &str) -> Result<PathBuf, TableError> {
    let place = path.join(name);
    let is_inside = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if is_inside && is_zarr(&place) {
        return Ok(place);
    }
    let problem = format!("⟨array⟩ names the array `{}`, which does not exist", shorten(name, 40));
    let (arrays, remedy) = (list(&children(path)), "one of them must be named");
    Err(TableError::NpzChoice { file: path.to_path_buf(), problem, arrays, remedy })
}

/// The only table of a group.
fn only(path: &Path) -> Result<PathBuf, TableError> {
    let names = children(path);
    let fitting: Vec<&String> = names.iter().filter(|name| Matrix::open(&path.join(name)).is_ok()).collect();
    let choice = |problem: String, remedy| {
        let (file, arrays) = (path.to_path_buf(), list(&names));
        Err(TableError::NpzChoice { file, problem, arrays, remedy })
    };
    match fitting[..] {
        _ if names.is_empty() => Err(damaged(path, "it holds no array".into())),
        [name] => Ok(path.join(name)),
        [] => choice("no array has two axes and holds numbers".into(), "one of them must be a table, rows by columns"),
        _ => {
            let problem = format!("{} arrays have two axes and hold numbers", fitting.len());
            choice(problem, "⟨array⟩ must name the one to read")
        }
    }
}
