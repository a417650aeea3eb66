//! Good and bad arrays, the good ones written by another library.

use npyz::WriterBuilder;

use super::{load, options, plain, refused};

pub(super) fn npy(dtype: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {dtype}, 'fortran_order': {order}, 'shape': {shape}, }}         \n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// npyz writes; this module reads.
fn agrees<T: npyz::AutoSerialize + Copy>(data: [T; 6], expected: [f64; 6]) {
    for order in [npyz::Order::C, npyz::Order::Fortran] {
        let mut bytes = Vec::new();
        let mut writer = npyz::WriteOptions::new()
            .default_dtype()
            .order(order)
            .shape(&[2, 3])
            .writer(&mut bytes)
            .begin_nd()
            .unwrap();
        writer.extend(data).unwrap();
        writer.finish().unwrap();
        let table = plain("npy", &bytes).unwrap();
        let by_column = [0, 2, 4, 1, 3, 5].map(|i| expected[i]);
        let wanted = if order == npyz::Order::C { expected } else { by_column };
        assert_eq!((table.rows, &table.values[..]), (2, &wanted[..]));
        assert_eq!(table.columns, ["1", "2", "3"]);
    }
}

#[test]
fn reads_arrays_of_every_real_type() {
    let wanted = [1.0, 2.0, 0.0, 100.0, 5.0, 6.0];
    let negative = [-1.0, 2.0, 0.0, 100.0, -128.0, 6.0];
    agrees(wanted, wanted);
    agrees(negative.map(|v| v as f32), negative);
    agrees(negative.map(|v| v as i8), negative);
    agrees(negative.map(|v| v as i16), negative);
    agrees(negative.map(|v| v as i32), negative);
    agrees(negative.map(|v| v as i64), negative);
    agrees(wanted.map(|v| v as u8), wanted);
    agrees(wanted.map(|v| v as u16), wanted);
    agrees(wanted.map(|v| v as u32), wanted);
    agrees(wanted.map(|v| v as u64), wanted);
    agrees(wanted.map(|v| v == 0.0), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    let big = npy("'>f8'", "False", "(1, 1)", &2.5_f64.to_be_bytes());
    assert_eq!(plain("npy", big).unwrap().values, [2.5]);
    let halves: Vec<u8> = [0x3c00_u16, 0xc400, 1, 0x7bff].iter().flat_map(|h| h.to_le_bytes()).collect();
    let table = load("npy", npy("'<f2'", "True", "(2, 2)", &halves), &options("-", "-", "2,1"));
    assert_eq!(table.unwrap().values, [2_f64.powi(-24), 1.0, 65504.0, -4.0]);
}

#[test]
fn npy_errors_say_what_is_wrong() {
    let data = [0; 96];
    let shaped = |shape: &str| npy("'<f8'", "False", shape, &data);
    refused("npy", "a,b\n1,2\n", "does not begin with the NumPy signature");
    refused("npy", b"\x93NUMPY\x01", "the file is cut short, with 7 bytes where 10 are needed for the header");
    refused("npy", b"\x93NUMPY\x09\x00aaaa", "version 9.0 is not supported");
    refused("npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "longer than 10000 bytes");
    refused("npy", &shaped("(3, 4)")[..60], "are needed for the header");
    refused("npy", shaped("(3, 5)"), "with 96 bytes where 120 are needed for the shape (3, 5)");
    refused("npy", shaped("(1000000000000, 4)"), "where 32000000000000 are needed");
    refused("npy", shaped("(18446744073709551615, 18446744073709551615)"), "where far more are needed");
    refused(
        "npy",
        shaped("(12,)"),
        "has shape (12,), but a table has two axes, rows by columns; save array.reshape(-1, 1)",
    );
    refused("npy", shaped("(2, 3, 2)"), "has shape (2, 3, 2), but");
    refused("npy", shaped("()"), "has shape (), but");
    refused("npy", shaped("(0, 5)"), "holds no value");
    refused("npy", shaped("3, 4"), "header cannot be understood");
    refused("npy", shaped("(3, -4)"), "not a tuple of whole numbers");
    for (dtype, words) in [
        ("'<c16'", "the array holds complex numbers (dtype <c16), which cannot be used"),
        ("'<U5'", "holds text (dtype <U5)"),
        ("'|O'", "holds Python objects (dtype |O)"),
        ("'<M8[ns]'", "holds dates or durations"),
        ("'<f16'", "of unusual size (dtype <f16)"),
        ("[('a', '<f8'), ('b', '<i4')]", "holds records (dtype [('a', '<f8'), ('b', '<i…)"),
    ] {
        refused("npy", npy(dtype, "False", "(3, 4)", &data), words);
    }
    let mut infinite = data;
    infinite[40..48].copy_from_slice(&f64::NEG_INFINITY.to_le_bytes());
    refused("npy", npy("'<f8'", "False", "(3, 4)", &infinite), "row 2, column 2: `-inf` is infinite");
    refused("npy", npy("'<f8'", "True", "(3, 4)", &infinite), "row 3, column 2: `-inf` is infinite");
    let sentence = load("npy", shaped("(3, 4)"), &options("-", "kind", "-")).unwrap_err();
    assert!(sentence.contains("--labels cannot be used because .npy files hold numbers only"));
}
