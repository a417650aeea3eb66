//! Arrow and Parquet files with columns of all types.

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use super::{load, options, plain, refused};
use crate::table::{ReadOptions, Table};

pub(super) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap()
}

pub(super) fn parquet(batch: &RecordBatch, properties: WriterPropertiesBuilder) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub(super) fn feather(batches: &[&RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(&mut bytes, &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|b| writer.write(b).unwrap());
    writer.finish().unwrap();
    drop(writer);
    bytes
}

pub(super) fn stream(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// The batch in every format and compression, with the extension of each.
pub(super) fn every_way(batch: &RecordBatch) -> Vec<(&'static str, Vec<u8>)> {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ];
    let with = |codec| WriterProperties::builder().set_compression(codec);
    let mut files: Vec<_> = codecs.iter().map(|&codec| ("parquet", parquet(batch, with(codec)))).collect();
    // The second version of pages, whose numbers are packed differently.
    let second = with(Compression::ZSTD(Default::default())).set_writer_version(WriterVersion::PARQUET_2_0);
    files.push(("parquet", parquet(batch, second.clone())));
    files.push((
        "parquet",
        parquet(batch, second.set_dictionary_enabled(false).set_compression(Compression::UNCOMPRESSED)),
    ));
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        files.push(("feather", feather(&[batch], compression)));
    }
    files.push(("arrow", stream(batch)));
    files
}

fn read_every_way(batch: &RecordBatch, options: &ReadOptions) -> Table {
    let mut tables: Vec<Table> =
        every_way(batch).into_iter().map(|(end, bytes)| load(end, bytes, options).unwrap()).collect();
    let table = tables.pop().unwrap();
    for other in tables {
        assert_eq!(format!("{:?}", Table { path: table.path.clone(), ..other }), format!("{table:?}"));
    }
    table
}

fn refused_every_way(batch: &RecordBatch, options: &ReadOptions, words: &str) {
    for (extension, bytes) in every_way(batch) {
        let sentence = load(extension, bytes, options).unwrap_err();
        assert!(sentence.contains(words), "{extension}: `{words}` is not in: {sentence}");
    }
}

#[test]
fn numeric_columns_of_every_type_are_values_and_null_is_missing() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("i8", Arc::new(Int8Array::from(vec![Some(-1), None]))),
        ("u64", Arc::new(UInt64Array::from(vec![1, 2]))),
        ("f32", Arc::new(Float32Array::from(vec![0.5, f32::NAN]))),
        ("f64", Arc::new(Float64Array::from(vec![Some(1e300), None]))),
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), Some(false)]))),
        ("decimal", Arc::new(Decimal128Array::from(vec![12345, -5]).with_precision_and_scale(9, 2).unwrap())),
        ("null", Arc::new(NullArray::new(2))),
    ];
    let table = read_every_way(&batch(columns), &ReadOptions::default());
    assert_eq!(table.columns, ["i8", "u64", "f32", "f64", "bool", "decimal", "null"]);
    assert_eq!(table.values[..6], [-1.0, 1.0, 0.5, 1e300, 1.0, 123.45]);
    assert_eq!((table.values[8], table.values[11], table.values[12]), (2.0, 0.0, -0.05));
    assert_eq!((0..14).filter(|&i| table.values[i].is_nan()).collect::<Vec<_>>(), [6, 7, 9, 10, 13]);
    assert_eq!((table.ids.join(" "), table.named), ("1 2".to_string(), true));
}

fn mixed() -> RecordBatch {
    let zoned = TimestampMillisecondArray::from(vec![0, 90_061_001]).with_timezone("Europe/Berlin");
    batch(vec![
        ("a", Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef),
        ("kind", Arc::new(DictionaryArray::<Int8Type>::from_iter([Some("x"), None]))),
        ("name", Arc::new(StringViewArray::from(vec!["p", "q"]))),
        ("day", Arc::new(Date32Array::from(vec![0, 18262]))),
        ("at", Arc::new(zoned)),
        ("o", Arc::new(Float64Array::from(vec![0.5, 1.5]))),
        ("__index_level_0__", Arc::new(Int64Array::from(vec![10, 20]))),
    ])
}

#[test]
fn text_and_times_are_used_as_ids_labels_and_times() {
    let mut asked = ReadOptions {
        offset: Some("o".into()),
        time: Some("day".into()),
        sequence: Some("name".into()),
        ..options("-", "kind", "a")
    };
    let table = read_every_way(&mixed(), &asked);
    assert_eq!(table.ids, ["10", "20"]);
    assert_eq!(table.labels.unwrap(), ["x", ""]);
    assert_eq!(table.time.unwrap(), ["1970-01-01", "2020-01-01"]);
    assert_eq!(table.sequence.unwrap(), ["p", "q"]);
    assert_eq!((table.offset.unwrap(), table.values), (vec![0.5, 1.5], vec![1.0, 2.0]));
    (asked.id, asked.time) = (Some("name".into()), Some("at".into()));
    let table = read_every_way(&mixed(), &asked);
    assert_eq!(table.ids, ["p", "q"]);
    assert_eq!(table.time.unwrap(), ["1970-01-01T00:00:00Z", "1970-01-02T01:01:01.001Z"]);
    let table = read_every_way(&mixed(), &options("-", "-", "o,a"));
    assert_eq!(table.values, [0.5, 1.0, 1.5, 2.0]);
}

#[test]
fn columns_that_are_not_numbers_are_named() {
    let ask = |columns: &str| options("-", "-", columns);
    refused_every_way(
        &mixed(),
        &ask("a,name"),
        "row 1, column `name`: `p` is not a number; its column holds 2 different texts in 2 rows, which look like row names: use them as such with --id name",
    );
    refused_every_way(&mixed(), &ask("a,kind"), "row 1, column `kind`: `x` is not a number; its column holds the same");
    refused_every_way(
        &mixed(),
        &ask("a,day"),
        "the column `day` holds dates or times, not numbers; use it with --time",
    );
    refused_every_way(&mixed(), &ask("a,q"), "--columns names the column `q`, which does not exist");
    let lists = ListArray::from_iter_primitive::<types::Int32Type, _, _>(vec![Some(vec![Some(1)])]);
    let nested = batch(vec![("l", Arc::new(lists) as ArrayRef), ("a", Arc::new(Int8Array::from(vec![1])))]);
    refused_every_way(&nested, &ask("-"), "the column `l` holds lists or records, not numbers; exclude it");
    refused_every_way(&nested, &options("l", "-", "a"), "the column `l` holds lists or records");
    assert_eq!(read_every_way(&nested, &ask("a")).values, [1.0]);
    let infinite = batch(vec![("a", Arc::new(Float32Array::from(vec![1.0, f32::INFINITY])) as ArrayRef)]);
    refused_every_way(&infinite, &ask("-"), "row 2, column `a`: `inf` is infinite");
    let asked = ReadOptions { offset: Some("o".into()), ..ask("a") };
    let gap = batch(vec![
        ("a", Arc::new(Int8Array::from(vec![1])) as ArrayRef),
        ("o", Arc::new(Float64Array::from(vec![None]))),
    ]);
    refused_every_way(&gap, &asked, "row 1, column `o`: the offset `null` is not a finite number");
}

#[test]
fn rows_and_columns_of_several_batches_are_joined() {
    let rows = 10_000;
    let names: Vec<String> = (0..300).map(|j| format!("c{j}")).collect();
    let columns = names.iter().enumerate().map(|(j, name)| {
        let cells = (0..rows).map(|i| (i * 300 + j as i64) as f64);
        (name.as_str(), Arc::new(Float64Array::from_iter_values(cells)) as ArrayRef)
    });
    let whole = batch(columns.collect());
    let (head, tail) = (whole.slice(0, 3000), whole.slice(3000, 7000));
    for (extension, bytes) in
        [("parquet", parquet(&whole, WriterProperties::builder())), ("ipc", feather(&[&head, &tail], None))]
    {
        let table = plain(extension, bytes).unwrap();
        assert_eq!((table.rows, table.columns.len()), (10_000, 300));
        assert!(table.values.iter().enumerate().all(|(i, &v)| v == i as f64));
    }
}

#[test]
fn empty_or_damaged_frames_are_refused() {
    let none = batch(vec![("a", Arc::new(Int8Array::from(Vec::<i8>::new())) as ArrayRef)]);
    refused_every_way(&none, &ReadOptions::default(), "there are column names but no data row");
    refused("arrow", stream_of_schema(), "there are column names but no data row");
    refused("parquet", "a,b\n1,2\n", "the file cannot be read as Parquet");
    refused("arrow", "a,b\n1,2\n3,4\n", "the file cannot be read as Arrow");
    refused("arrow", "ARR", "the file cannot be read as Arrow (it is cut short)");
    refused("feather", "FEA1\0\0\0\0", "it is Feather version 1");
    let twice = Schema::new(vec![Field::new("a", DataType::Int8, true), Field::new("a", DataType::Int8, true)]);
    let cells: ArrayRef = Arc::new(Int8Array::from(vec![1]));
    let twice = RecordBatch::try_new(Arc::new(twice), vec![cells.clone(), cells]).unwrap();
    refused("arrow", stream(&twice), "the column name `a` is used for columns 1 and 2");
    for (extension, bytes) in every_way(&mixed()) {
        let sentence = plain(extension, &bytes[..bytes.len() / 2]).unwrap_err();
        assert!(sentence.starts_with("the file cannot be read as "), "{sentence}");
    }
}

fn stream_of_schema() -> Vec<u8> {
    let mut bytes = Vec::new();
    StreamWriter::try_new(&mut bytes, &Schema::new(vec![Field::new("a", DataType::Int8, true)]))
        .unwrap()
        .finish()
        .unwrap();
    bytes
}

#[test]
fn a_false_unpacked_length_is_refused() {
    let cells: ArrayRef = Arc::new(Float64Array::from(vec![1.0; 1000]));
    for (compression, frame) in
        [(CompressionType::LZ4_FRAME, [0x04, 0x22, 0x4D, 0x18]), (CompressionType::ZSTD, [0x28, 0xB5, 0x2F, 0xFD])]
    {
        let mut bytes = feather(&[&batch(vec![("a", cells.clone())])], Some(compression));
        assert_eq!(plain("arrow", &bytes).unwrap().rows, 1000);
        let at = bytes.windows(4).position(|w| w == frame).unwrap();
        bytes[at - 8..at].copy_from_slice(&(1_i64 << 45).to_le_bytes());
        refused("arrow", bytes, "the table needs 35.2 TB of memory for its unpacked buffers");
    }
}
