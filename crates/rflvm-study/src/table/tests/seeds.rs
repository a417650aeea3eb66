//! Small valid files of every format, for the fuzzer to damage.

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::*;
use zip::CompressionMethod;

use super::frames::{batch, every_way};
use super::gzip::gzip;
use super::npy::npy;
use super::npz::npz;

/// A format, its extension, and the bytes of valid files; `packed` files are compressed after they are damaged.
pub(super) struct Format {
    pub extension: &'static str,
    pub packed: bool,
    pub seeds: Vec<Vec<u8>>,
}

pub(super) fn formats() -> Vec<Format> {
    let csv = [
        "\u{feff}id,\"a \"\"q\"\"\",b\r\nx,1.5,NA\r\ny,-2e5,\"3\"\r\n",
        "1,2\n3,4\n",
        ",a\nr,1\n\ns,2\n",
        "b;y\nu;1,5\nv;-2,0\nu;3\n",
        "b,t\nu,yes\nv,no\n3,yes\nu,no\n",
    ];
    let tsv = ["id\ta\tb\nx\t1\t2\ny\tNaN\t4\n", "1\t2\r3\t4\r"];
    let mtx = [
        "%%MatrixMarket matrix coordinate real general\n% c\n3 2 2\n1 1 0.5\n3 2 -2\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n",
        "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n",
        &format!(
            "%%MatrixMarket matrix coordinate real general\n30 30 30\n{}",
            "7 7 1.5\n13 2 2\n1 30 -4e2\n".repeat(10)
        ),
    ];
    let arrays = [npy("'<f4'", "True", "(2, 3)", &[1; 24]), npy("'|u1'", "False", "(3, 1)", &[7; 3])];
    let vector = npy("'<i8'", "False", "(2,)", &[1; 16]);
    let archives = [CompressionMethod::Stored, CompressionMethod::Deflated]
        .map(|method| npz(method, &[("y.npy", &arrays[0]), ("id.npy", &vector)]));
    let frames: Vec<_> = [numbers(), texts()].iter().flat_map(every_way).collect();
    let frames = |wanted: &[&str]| {
        frames.iter().filter(|(end, _)| wanted.contains(end)).map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>()
    };
    let text = |texts: &[&str]| texts.iter().map(|t| t.as_bytes().to_vec()).collect::<Vec<_>>();
    let zipped = |texts: &[&str]| texts.iter().map(gzip).collect::<Vec<_>>();
    let format = |extension, packed, seeds| Format { extension, packed, seeds };
    vec![
        format("csv", false, text(&csv)),
        format("csv.gz", false, zipped(&csv)),
        format("csv.gz", true, text(&csv)),
        format("tsv", false, text(&tsv)),
        format("tsv.gz", false, zipped(&tsv)),
        format("mtx", false, text(&mtx)),
        format("mtx.gz", false, zipped(&mtx)),
        format("mtx.gz", true, text(&mtx)),
        format("npy", false, arrays.to_vec()),
        format("npz", false, archives.to_vec()),
        format("parquet", false, frames(&["parquet"])),
        format("arrow", false, frames(&["arrow", "feather"])),
    ]
}

fn numbers() -> RecordBatch {
    batch(vec![
        ("a", Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])) as ArrayRef),
        ("b", Arc::new(Float64Array::from(vec![0.5, f64::NAN, 2.0]))),
        ("d", Arc::new(Decimal128Array::from(vec![1, 2, 3]).with_precision_and_scale(9, 2).unwrap())),
        ("t", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("n", Arc::new(NullArray::new(3))),
    ])
}

fn texts() -> RecordBatch {
    batch(vec![
        ("id", Arc::new(StringArray::from(vec![Some("x"), None, Some("z")])) as ArrayRef),
        ("b", Arc::new(DictionaryArray::<Int8Type>::from_iter([Some("u"), Some("v"), Some("u")]))),
        ("at", Arc::new(TimestampMicrosecondArray::from(vec![0, 1, 2]).with_timezone("UTC"))),
        ("y", Arc::new(Float32Array::from(vec![0.5, 1.5, 2.5]))),
    ])
}
