//! Matrix Market files, alone and in folders.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use super::gzip::gzip;
use super::{Scratch, load, message, options, plain, refused};
use crate::table::{ReadOptions, Table, TableError, read};

const SPARSE: &str =
    "%%MatrixMarket matrix coordinate integer general\n% a comment\n\n3 2 4\n1 1 5\n3 2 7\n2 1 1\n2 1 2\n";

#[test]
fn reads_sparse_and_dense_matrices() {
    let table = plain("mtx", SPARSE).unwrap();
    assert_eq!((table.rows, table.columns.join(" "), table.named), (3, "1 2".to_string(), false));
    assert_eq!(table.values, [5.0, 0.0, 3.0, 0.0, 0.0, 7.0]);
    assert_eq!(plain("mtx.gz", gzip(SPARSE)).unwrap().values, table.values);
    assert_eq!(load("mtx", SPARSE, &options("-", "-", "2")).unwrap().values, [0.0, 0.0, 7.0]);
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\r\n2 2 2\r\n1 1\r\n2 1\r\n";
    assert_eq!(plain("mtx", pattern).unwrap().values, [1.0, 1.0, 1.0, 0.0]);
    let full = "%%matrixmarket MATRIX array real general\n2 2\n1\n2.5\nnan\n-4e0\n";
    let values = plain("mtx", full).unwrap().values;
    assert_eq!((values[0], values[2], values[3]), (1.0, 2.5, -4.0));
    assert!(values[1].is_nan());
    let symmetric = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
    assert_eq!(plain("mtx", symmetric).unwrap().values, [1.0, 2.0, 2.0, 3.0]);
}

#[test]
fn errors_name_the_line() {
    let sparse = |rest: &str| format!("%%MatrixMarket matrix coordinate real general\n{rest}");
    refused("mtx", "a,b\n1,2\n", "line 1: `a,b` is not the first line of a Matrix Market matrix");
    refused("mtx", "%%MatrixMarket matrix array complex general\n1 1\n1 1\n", "values of the kind `complex`");
    refused("mtx", "%%MatrixMarket matrix array pattern general\n1 1\n1\n", "values of the kind `pattern`");
    refused("mtx", "%%MatrixMarket matrix array real hermitian\n1 1\n1\n", "the symmetry `hermitian`");
    refused("mtx", "%%MatrixMarket matrix array real symmetric\n1 2\n1\n", "cannot have 1 rows and 2 columns");
    refused("mtx", sparse("%\n3 x 1\n"), "line 3: `3 x 1` does not give the numbers of rows, columns and entries");
    refused("mtx", sparse("0 4 0\n"), "line 2: the matrix has 0 rows and 4 columns");
    refused("mtx", sparse("2 2 2\n1 1 1\n"), "the file ends after 1 of 2 entries");
    refused("mtx", sparse("2 2 1\n1 1 1\n1 2 1\n"), "line 4: there are more entries");
    refused(
        "mtx",
        sparse("2 2 1\n3 1 1\n"),
        "line 3: `3 1 1` is not a row (1 to 2) and a column (1 to 2) with a value",
    );
    refused("mtx", sparse("2 2 1\n0 1 1\n"), "`0 1 1` is not a row");
    refused("mtx", sparse("2 2 1\n1 1 x\n"), "line 3: the value is not a number");
    refused("mtx", sparse("2 2 1\n1 1 1e999\n"), "line 3: `inf` is infinite");
    refused("mtx", sparse("1000000 1000000 1\n1 1 1\n"), "a file of 70 bytes cannot hold that much");
    refused("mtx", sparse("1 99999999999999 1\n1 1 1\n"), "cannot hold that much");
    refused("mtx", sparse("18446744073709551615 18446744073709551615 1\n"), "cannot hold that much");
    let sentence = load("mtx", SPARSE, &options("-", "kind", "-")).unwrap_err();
    assert!(sentence.contains("--labels cannot be used because .mtx files hold numbers only"), "{sentence}");
}

/// A folder that is removed after the test.
pub(super) struct Folder(pub PathBuf);

impl Folder {
    pub fn new(files: &[(&str, &[u8])]) -> Self {
        let unique = Scratch::new("folder", b"").0.clone();
        fs::create_dir(&unique).unwrap();
        for (name, bytes) in files {
            fs::write(unique.join(name), bytes).unwrap();
        }
        Folder(unique)
    }

    /// Overwrites a file and truncates it.
    pub fn write(&self, (name, bytes): &(&str, Vec<u8>)) {
        let mut file = fs::File::options().write(true).open(self.0.join(name)).unwrap();
        file.write_all(bytes).and_then(|()| file.set_len(bytes.len() as u64)).unwrap();
    }

    fn read(&self, name: &str) -> Result<Table, TableError> {
        read(&self.0.join(name), &ReadOptions::default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_folder_of_10x_files_becomes_cells_by_genes() {
    let features = "ENSG1\tTP53\tGene Expression\nENSG2\tACTB\tGene Expression\nENSG3\tTP53\tGene Expression\n";
    let files: [(&str, &[u8]); 3] = [
        ("matrix.mtx.gz", &gzip(SPARSE)),
        ("features.tsv.gz", &gzip(features)),
        ("barcodes.tsv.gz", &gzip("AAA-1\nCCC-1\n")),
    ];
    let folder = Folder::new(&files);
    for name in ["", "matrix.mtx.gz"] {
        let table = folder.read(name).unwrap();
        assert_eq!(table.columns, ["TP53", "ACTB", "TP53-1"]);
        assert_eq!((table.ids.join(" "), table.named), ("AAA-1 CCC-1".to_string(), true));
        assert_eq!(table.values, [5.0, 3.0, 0.0, 0.0, 0.0, 7.0]);
    }
    let asked = options("-", "-", "TP53-1,ACTB");
    assert_eq!(read(&folder.0, &asked).unwrap().values, [0.0, 3.0, 7.0, 0.0]);
    let sentence = message(&read(&folder.0, &options("x", "-", "-")).unwrap_err());
    assert!(sentence.contains("--id cannot be used"), "{sentence}");
}

#[test]
fn names_are_read_from_next_to_the_matrix() {
    let files: [(&str, &[u8]); 3] =
        [("s1_matrix.mtx", SPARSE.as_bytes()), ("s1_genes.tsv", b"g1\ng2\ng3\n"), ("s1_barcodes.tsv", b"a\nb\n")];
    let folder = Folder::new(&files);
    assert_eq!(folder.read("s1_matrix.mtx").unwrap().columns, ["g1", "g2", "g3"]);
    assert!(folder.read("").unwrap_err().to_string().contains("a folder without a file matrix.mtx"));
    fs::write(folder.0.join("s1_barcodes.tsv"), "a\n").unwrap();
    let sentence = folder.read("s1_matrix.mtx").unwrap_err().to_string();
    assert!(sentence.contains("s1_barcodes.tsv: it names 1 columns, but the matrix next to it has 2"), "{sentence}");
    fs::remove_file(folder.0.join("s1_barcodes.tsv")).unwrap();
    assert_eq!(folder.read("s1_matrix.mtx").unwrap().rows, 3);
}
