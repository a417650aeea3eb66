//! Compressed text.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{plain, refused};

pub(super) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn reads_compressed_text_of_several_members() {
    let whole = gzip("\u{feff}a,b\n1,2\n3,NA\n");
    let table = plain("csv.gz", &whole).unwrap();
    assert_eq!((table.rows, table.columns.join(" ")), (2, "a b".to_string()));
    assert_eq!(table.values[..3], [1.0, 2.0, 3.0]);
    let parts = [gzip("a\tb\n1\t"), gzip(""), gzip("2\n3\t4\n")].concat();
    assert_eq!(plain("tsv.gz", parts).unwrap().values, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(plain("CSV.GZ", gzip("1,2\n")).unwrap().rows, 1);
}

#[test]
fn errors_in_compressed_text_name_the_place() {
    refused("csv.gz", gzip("a,b\n\n1,x\n"), "row 1 (line 3), column `b`: `x` is not a number");
    refused("csv.gz", gzip(""), "the file is empty");
}

#[test]
fn damaged_gzip_is_distinguished_from_bad_text() {
    let text: String = (0..2000).map(|i| format!("{i},{}\n", i * i)).collect();
    let whole = gzip(text);
    for cut in [1, 5, 12, whole.len() / 2, whole.len() - 1] {
        refused("csv.gz", &whole[..cut], "the gzip data are damaged or cut short");
    }
    let mut flipped = whole.clone();
    flipped[whole.len() - 6] ^= 1;
    refused("csv.gz", flipped, "the gzip data are damaged or cut short");
    refused("csv.gz", "a,b\n1,2\n", "remove .gz from its name if it is not compressed");
    refused("csv.gz", [&whole[..], b"junk"].concat(), "the gzip data are damaged");
}
