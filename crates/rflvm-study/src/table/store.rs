//! The table in a store of draws, for instance of a fit from Python that never had a file.

use std::path::Path;

use rflvm::internal::draws::zarr::{Reader, covariate_name};
use rflvm::internal::error::StoreError;

use super::allowance::Allowance;
use super::builder::{TableBuilder, Text};
use super::{ReadOptions, TableError, numbered};

/// Reads `observed_data` of a store. Row names are its ids; labels, offsets, times, sequences and covariates are read whatever their columns were called.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let damaged = |reason: String| TableError::Damaged { file: path.to_path_buf(), kind: "a store of draws", reason };
    let failed = |error: StoreError| TableError::Store { sentence: error.to_string() };
    let store = Reader::open(path).map_err(failed)?;
    let (columns, ids) =
        (store.texts("observed_data/column").map_err(failed)?, store.texts("observed_data/row").map_err(failed)?);
    let (rows, width) = (ids.len(), columns.len());
    let order: Vec<usize> =
        store.fixed("constant_data/order").map_err(failed)?.into_iter().map(|place| place as usize).collect();
    let mut is_met = vec![false; width];
    order.iter().filter(|&&place| place < width).for_each(|&place| is_met[place] = true);
    if order.len() != width || is_met.contains(&false) {
        return Err(damaged("its order of columns is invalid".into()));
    }
    let mut names = vec![String::new(); width];
    columns.into_iter().zip(&order).for_each(|(name, &place)| names[place] = name);

    let allowance = Allowance::new(path, 8 * (rows as u64) * (width as u64));
    let named = names != numbered(width);
    let covariates = options.covariates.len();
    // The store holds only what was fitted.
    let plain = ReadOptions { without: Vec::new(), ..options.only_cells() };
    let mut builder = TableBuilder::new(allowance, names, named, None, &plain)?;
    let shape = store.shape("observed_data/y").map_err(failed)?;
    if shape != [rows, width] {
        return Err(damaged("the shape of its table does not match its names".into()));
    }
    // Columns that are not wanted are not held.
    builder.allowance.cells(rows as u64, builder.width() as u64)?;
    let mut places = vec![0; width];
    order.iter().enumerate().for_each(|(at, &column)| places[column] = at);
    let wanted: Vec<usize> = builder.numeric.iter().map(|&column| places[column]).collect();
    if !wanted.is_empty() {
        builder.values = store.fixed_columns("observed_data/y", &wanted).map_err(failed)?;
    }
    builder.rows = rows;
    let aside = |wanted: &Option<String>, name: &str| match wanted {
        Some(_) if store.has(name) => {
            let cells = store.texts(name).map_err(failed)?;
            Ok(Some(Text { position: usize::MAX, cells }))
        }
        _ => Ok(None),
    };
    builder.name_rows(ids);
    builder.texts[1] = aside(&options.labels, "constant_data/label")?;
    builder.texts[2] = aside(&options.time, "constant_data/time_as_given")?;
    builder.texts[3] = aside(&options.sequence, "observed_data/sequence")?;
    for i in 0..covariates {
        let name = format!("constant_data/{}", covariate_name(i));
        let cells = store.texts(&name).map_err(failed)?;
        builder.texts.push(Some(Text { position: usize::MAX, cells }));
    }
    if options.offset.is_some() {
        builder.offset = Some((usize::MAX, store.fixed("constant_data/offset").map_err(failed)?));
    }
    Ok(builder)
}
