//! Archives of arrays.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::npy::npy;
use super::{load, options, plain, refused};
use crate::table::ReadOptions;

pub(super) fn npz(method: CompressionMethod, arrays: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(super) fn table(values: &[f64], shape: &str) -> Vec<u8> {
    npy("'<f8'", "False", shape, &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

#[test]
fn reads_the_only_table_or_the_one_named() {
    let (a, b) = (table(&[1.0, 2.0, 3.0, 4.0], "(2, 2)"), table(&[5.0, 6.0], "(1, 2)"));
    let vector = table(&[7.0], "(1,)");
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let one = npz(method, &[("counts.npy", &a), ("labels.npy", &vector), ("notes.txt", b"x")]);
        assert_eq!(plain("npz", &one).unwrap().values, [1.0, 2.0, 3.0, 4.0]);
        let two = npz(method, &[("a.npy", &a), ("b.npy", &b)]);
        refused("npz", &two, "2 arrays have two axes and hold numbers; the arrays are `a`, `b`, and --array must name");
        let ask = |name: &str| ReadOptions { array: Some(name.to_string()), ..ReadOptions::default() };
        assert_eq!(load("npz", &two, &ask("b")).unwrap().values, [5.0, 6.0]);
        let sentence = load("npz", &two, &ask("c")).unwrap_err();
        assert!(sentence.starts_with("--array names the array `c`, which does not exist; the arrays are `a`, `b`"));
        let sentence = load("npz", &one, &ask("labels")).unwrap_err();
        assert!(sentence.contains("has shape (1,), but a table has two axes"), "{sentence}");
    }
    let sentence = load("npz", npz(CompressionMethod::Stored, &[("a.npy", &a)]), &options("x", "-", "-")).unwrap_err();
    assert!(sentence.contains("--id cannot be used because .npz files hold numbers only"), "{sentence}");
}

#[test]
fn archives_without_table_say_what_they_hold() {
    let store = |arrays: &[(&str, &[u8])]| npz(CompressionMethod::Stored, arrays);
    let vector = table(&[7.0], "(1,)");
    refused("npz", store(&[("x.npy", &vector)]), "no array has two axes and holds numbers; the arrays are `x`");
    let parts: [(&str, &[u8]); 3] = [("indptr.npy", &vector), ("indices.npy", &vector), ("shape.npy", &vector)];
    refused("npz", store(&parts), "this is a sparse matrix of SciPy");
    refused("npz", store(&[("notes.txt", b"x")]), "the file cannot be read as .npz (it holds no array)");
    refused("npz", "not a zip", "the file cannot be read as .npz");
    let mut flipped = store(&[("x.npy", &table(&[1.0, 2.0], "(1, 2)"))]);
    let at = flipped.windows(8).position(|w| w == 1.0_f64.to_le_bytes()).unwrap();
    flipped[at] ^= 1;
    refused("npz", flipped, "the file cannot be read as .npz (Invalid checksum");
    refused("npz", store(&[("x.npy", &table(&[1.0, 2.0], "(2, 2)"))]), "with 16 bytes where 32 are needed");
}

#[test]
fn one_dimensional_arrays_next_to_the_table_are_times_and_sequences() {
    let y = table(&[1.0, 2.0, 3.0, 4.0], "(2, 2)");
    let (t, s, long) = (table(&[0.5, 2.0], "(2,)"), table(&[7.0, 7.0], "(2,)"), table(&[1.0, 2.0, 3.0], "(3,)"));
    let archive = npz(CompressionMethod::Deflated, &[("Y.npy", &y), ("t.npy", &t), ("s.npy", &s), ("long.npy", &long)]);
    let ask = |time: &str| {
        let options = ReadOptions { time: Some(time.into()), sequence: Some("s".into()), ..ReadOptions::default() };
        load("npz", &archive, &options)
    };
    let read = ask("t").unwrap();
    assert_eq!((read.values.len(), read.time.unwrap()), (4, vec!["0.5".to_string(), "2".into()]));
    assert_eq!(read.sequence.unwrap(), ["7", "7"]);
    let sentence = ask("u").unwrap_err();
    assert!(sentence.contains("--time names the array `u`, which does not exist; the arrays are `Y`"), "{sentence}");
    let sentence = ask("long").unwrap_err();
    assert!(sentence.contains("--time holds 3 numbers, but the table has 2 rows"), "{sentence}");
}
