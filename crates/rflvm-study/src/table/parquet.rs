//! Parquet files: .parquet.

mod footer;
mod pages;
mod thrift;

use std::fs::File;
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use ::parquet::errors::ParquetError;
use pages::Pages;

use super::allowance::Allowance;
use super::builder::TableBuilder;
use super::frame::{self, Error};
use super::guard::guarded;
use super::words::shorten;
use super::{ReadOptions, TableError, text};

const KIND: &str = "Parquet";
/// Columns read together, each with one page in memory; a wide table is read in several passes.
const COLUMNS: usize = 256;
/// Rows decoded at a time.
const ROWS: usize = 4096;

pub(super) fn read(allowance: Allowance, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let file = File::open(&allowance.path).map_err(|e| text::failed(&allowance.path, &e))?;
    let damaged = |reason: String| {
        let reason = shorten(&reason, 160);
        TableError::Damaged { file: allowance.path.clone(), kind: KIND, reason }
    };
    let wrong = |error: ParquetError| damaged(error.to_string());
    guarded(&allowance, KIND, || {
        let footer = Arc::new(footer::read(&file, allowance.size).map_err(wrong)?);
        let metadata = ArrowReaderMetadata::try_new(footer, ArrowReaderOptions::new()).map_err(wrong)?;
        let declared = metadata.metadata().row_groups().iter().map(|g| u64::try_from(g.num_rows()));
        let rows =
            declared.sum::<Result<u64, _>>().map_err(|_| damaged("a row group has a negative size".to_string()))?;
        let mut builder = frame::builder(allowance.clone(), metadata.schema(), options)?;
        if rows == 0 {
            return Err(TableError::NoRows { file: allowance.path.clone() });
        }
        builder.fill_with_zeros(rows)?;
        for positions in wanted(&builder).chunks(COLUMNS) {
            let pages =
                Pages::new(file.try_clone().map_err(|e| text::failed(&allowance.path, &e))?, allowance.size, rows);
            let mask = ProjectionMask::roots(metadata.parquet_schema(), positions.iter().copied());
            let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(pages, metadata.clone())
                .with_projection(mask)
                .with_batch_size(ROWS)
                .build()
                .map_err(wrong)?;
            let mut start = 0;
            for batch in batches {
                let batch = batch.map_err(|e| damaged(e.to_string()))?;
                if start + batch.num_rows() > builder.rows {
                    return Err(damaged("it holds more rows than it declares".to_string()));
                }
                frame::fill(&mut builder, &batch, positions, start).map_err(|failure| match failure {
                    Error::Table(error) => error,
                    Error::Arrow(error) => damaged(error.to_string()),
                })?;
                start += batch.num_rows();
            }
            if start != builder.rows {
                return Err(damaged(format!("it holds {start} rows but declares {}", builder.rows)));
            }
        }
        Ok(builder)
    })
}

/// Positions of all columns that are used, in the order of the file.
fn wanted(builder: &TableBuilder) -> Vec<usize> {
    let texts = builder.texts.iter().flatten().map(|t| t.position);
    let offset = builder.offset.iter().map(|(p, _)| *p);
    let mut positions: Vec<usize> = builder.numeric.iter().copied().chain(texts).chain(offset).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}
