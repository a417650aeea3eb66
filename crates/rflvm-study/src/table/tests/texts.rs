//! Columns of text: words for yes and no, categories, and others.

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::*;

use super::frames::{batch, every_way};
use super::*;

fn take() -> ReadOptions {
    ReadOptions { texts: Texts::Take, ..ReadOptions::default() }
}

#[test]
fn yes_and_no_are_numbers_for_every_family() {
    for words in [["yes", "no"], ["TRUE", "False"], ["t", "F"], ["Y", "n"]] {
        let [yes, no] = words;
        let table = plain("csv", format!("a,b\n1,{yes}\n2,{no}\n3,\n4,{}\n", yes.to_lowercase())).unwrap();
        assert_eq!((table.values[1], table.values[3], table.values[7]), (1.0, 0.0, 1.0), "{words:?}");
        assert!(table.values[5].is_nan() && table.truths == [1] && table.categories.is_empty());
    }
    // One pair of words per column, and no numbers among them.
    refused("csv", "a\nyes\ntrue\nyes\ntrue\n", "row 1 (line 2), column `a`: `yes` is not a number");
    refused("csv", "a\nyes\n1\nno\nno\n", "`yes` is not a number");
    // F alone is ambiguous.
    refused("csv", "a\nF\nF\n", "holds the same text in every row");
    assert!(plain("csv", "a\n0\n1\n").unwrap().truths.is_empty());
    // The other letter may come late.
    let late = format!("a\n{}T\n", "F\n".repeat(5000));
    assert_eq!(plain("csv", late).unwrap().values.iter().sum::<f64>(), 1.0);
    let frame = batch(vec![
        ("t", Arc::new(BooleanArray::from(vec![Some(true), None])) as ArrayRef),
        ("w", Arc::new(StringArray::from(vec!["no", "yes"]))),
    ]);
    for (extension, bytes) in every_way(&frame) {
        let table = plain(extension, bytes).unwrap();
        assert_eq!((&table.truths[..], table.values[0], table.values[1]), (&[0, 1][..], 1.0, 0.0));
    }
}

#[test]
fn a_category_has_a_column_for_each_level() {
    let text = "a,kind,b\n1,v,5\n2,u,6\n3,,7\n4,v,8\n5,u,9\n";
    let table = load("csv", text, &take()).unwrap();
    assert_eq!(table.columns, ["a", "kind=u", "kind=v", "b"]);
    let category = Category { name: "kind".into(), levels: vec!["u".into(), "v".into()], first: 1, is_text: true };
    assert_eq!(table.categories, [category]);
    assert_eq!(table.values[..8], [1., 0., 1., 5., 2., 1., 0., 6.]);
    assert!(table.values[9].is_nan() && table.values[10].is_nan());
    refused("csv", text, "its column holds 2 different texts: fit it as a category with --likelihood auto");
    // From Arrow, a dictionary is a category, however many levels it has.
    let kinds = DictionaryArray::<Int8Type>::from_iter([Some("v"), Some("u"), None]);
    let frame = batch(vec![
        ("a", Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef),
        ("kind", Arc::new(kinds)),
        ("word", Arc::new(StringViewArray::from(vec!["p", "p", "q"]))),
    ]);
    let some = ReadOptions { columns: Some(["kind", "a"].map(String::from).to_vec()), ..take() };
    for (extension, bytes) in every_way(&frame) {
        let table = load(extension, &bytes, &some).unwrap();
        assert_eq!(table.columns, ["kind=u", "kind=v", "a"]);
        assert_eq!(table.values[..6], [0., 1., 1., 1., 0., 2.]);
        assert!(table.values[6].is_nan() && table.values[7].is_nan() && table.values[8] == 3.0);
        let sentence = load(extension, &bytes, &take()).unwrap_err();
        assert!(sentence.contains("column `word`: `p` is not a number; its column holds 2 different"), "{sentence}");
    }
}

#[test]
fn texts_that_are_not_categories_lead_to_the_flag_that_suits_them() {
    for (cells, words) in [
        ("ann bob cat dan", "4 different texts in 4 rows, which look like row names: use them as such with --id"),
        ("2001-05-30 2001-05-31 2001-06-01 2001-06-01", "its column holds dates: use them with --time 'my col'"),
        ("30/05/2001 31/05/2001 01/06/2001 NA", "its column holds dates: use them with --time 'my col'"),
        ("same same same NA", "the same text in every row, which carries no information: exclude it with --without"),
        (
            "1 2 ? 3",
            "row 3 (line 4), column `my col`: `?` is not a number; correct it, leave the cell empty if it is missing, or treat every such cell as missing with --na '?'",
        ),
        ("\"1,234\" \"22,500\" \"3,000\" \"1,234\"", "it looks like a number with thousands separators"),
    ] {
        let text = format!("my col\n{}\n", cells.replace(' ', "\n"));
        for options in [ReadOptions::default(), take()] {
            let sentence = load("csv", &text, &options).unwrap_err();
            assert!(sentence.contains(words), "`{words}` is not in: {sentence}");
        }
        // Inspecting the table reports the same, and keeps the other columns.
        let text = text.lines().map(|line| format!("7,{line}\n")).collect::<String>().replacen("7,", "n,", 1);
        let file = Scratch::new("csv", text.as_bytes());
        let seen = look(&file.0, &ReadOptions::default()).unwrap();
        assert_eq!((seen.aside.len(), seen.aside[0].name.as_str(), seen.table.columns.len()), (1, "my col", 1));
    }
    let many: String = (0..3000).map(|n| format!("w{}\n", n % 1001)).collect();
    let sentence = load("csv", format!("a\n{many}"), &take()).unwrap_err();
    assert!(sentence.contains("more than 1000 different texts"), "{sentence}");
}

#[test]
fn numbers_among_texts_are_kept_as_written() {
    // The first text comes late, so that the column is read again.
    let table = load("csv", "a\n007\n1.0\nx\ny\nx\ny\n007\nx\n", &take()).unwrap();
    assert_eq!(table.columns, ["a=007", "a=1.0", "a=x", "a=y"]);
    assert_eq!(table.values[..8], [1., 0., 0., 0., 0., 1., 0., 0.]);
    let asked = ReadOptions { categories: vec!["a".into(), "none".into()], ..ReadOptions::default() };
    let table = load("csv", "a,b\n01,5\n2,6\n01,7\n", &asked).unwrap();
    assert_eq!(table.columns, ["a=01", "a=2", "b"]);
    let array = super::npy::npy("'<f8'", "False", "(2, 1)", &[1.5_f64, 2.0].map(f64::to_le_bytes).concat());
    let asked = ReadOptions { categories: vec!["1".into()], ..ReadOptions::default() };
    assert_eq!(load("npy", array, &asked).unwrap().columns, ["1=1.5", "1=2"]);
    let sentence = load("csv", "a,b\n1,5\n1,6\n", &ReadOptions { categories: vec!["a".into()], ..take() }).unwrap_err();
    assert!(sentence.contains("the same text in every row"), "{sentence}");
    let sentence = load("csv", "a,a=x\nx,1\ny,2\nx,1\ny,3\n", &take()).unwrap_err();
    assert!(sentence.contains("two columns would be named `a=x`"), "{sentence}");
}

#[test]
fn new_rows_have_the_levels_of_the_fit() {
    let fitted = load("csv", "n,kind\n1,u\n2,v\n3,w\n4,u\n5,v\n6,w\n", &take()).unwrap();
    let like = Like { columns: fitted.columns, categories: fitted.categories, named: true, chosen: false };
    let new = ReadOptions { like: Some(like), ..ReadOptions::default() };
    let table = load("csv", "kind,n\nw,1\n,2\n", &new).unwrap();
    assert_eq!(table.columns, ["n", "kind=u", "kind=v", "kind=w"]);
    assert_eq!(table.values[..4], [1., 0., 0., 1.]);
    assert!(table.values[5].is_nan() && table.values[4] == 2.0);
    let sentence = load("csv", "kind,n\nu,1\nq,2\n", &new).unwrap_err();
    assert!(
        sentence.contains("row 2 (line 3), column `kind`: the fit does not know `q`; it knows `u`, `v`, `w`"),
        "{sentence}"
    );
    let sentence = load("csv", "n\n1\n", &new).unwrap_err();
    assert!(sentence.contains("the fit has columns that this table lacks: `kind`"), "{sentence}");
    // A store has the columns of the levels.
    assert_eq!(load("csv", "n,kind=v,kind=u,kind=w\n1,0,1,0\n", &new).unwrap().values, [1., 1., 0., 0.]);
}

#[test]
fn columns_are_excluded_by_name() {
    let left_out = ReadOptions { without: vec!["b".into(), "c".into()], ..options("-", "-", "-") };
    assert_eq!(load("csv", "a,b,c\n1,x,2001\n2,y,2002\n", &left_out).unwrap().columns, ["a"]);
    let sentence = load("csv", "a,bb\n1,x\n", &left_out).unwrap_err();
    assert!(sentence.starts_with("--without names the column `b`"), "{sentence}");
}

#[test]
fn limits_are_numbers_where_the_column_has_others() {
    let table = load("csv", "a,b,c\n<0.5,1,x\n2,> 7,y\n,≥3,x\n0.25,4,y\n", &take()).unwrap();
    // The third column has become two.
    assert_eq!((&table.values[..2], table.values[5], table.values[9]), (&[0.5, 1.0][..], 7.0, 3.0));
    let limits: Vec<(usize, usize, bool)> = table.limits.iter().map(|l| (l.row, l.column, l.is_above)).collect();
    assert_eq!(limits, [(0, 0, false), (1, 1, true), (2, 1, true)]);
}

#[test]
fn classes_that_begin_like_limits_are_categories() {
    let rows = "<20,1\n20-40,2\n>40,3\n".repeat(8);
    let table = load("csv", format!("age,x\n{rows}"), &take()).unwrap();
    assert_eq!((table.categories[0].levels.len(), table.limits.len()), (3, 0));
    // Without a number among them, limits are names too.
    let two = "<20,1\n>40,3\n".repeat(8);
    let table = load("csv", format!("age,x\n{two}"), &take()).unwrap();
    assert_eq!((table.categories[0].levels.len(), table.limits.len()), (2, 0));
}
