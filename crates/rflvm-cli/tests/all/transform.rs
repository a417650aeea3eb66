//! `rflvm transform` as a user meets it: a table is fitted, and new rows are placed.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::{Path, PathBuf};

fn read(path: PathBuf) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

const RUN: [&str; 14] = [
    "--features",
    "10",
    "--init",
    "pca",
    "--chains",
    "2",
    "--warmup",
    "30",
    "--draws",
    "40",
    "--seed",
    "3",
    "-q",
    "--out",
];

/// Two groups of counts; row n of group n % 2.
fn count(n: u32, j: u32) -> u32 {
    let base = if (n + j).is_multiple_of(2) { 12 } else { 2 };
    base + (n * (j + 3)) % 3
}

/// A table of rows `from..to`: names, groups, and six columns, the last three of which are counts of at most 20 trials.
fn rows(from: u32, to: u32) -> String {
    let mut table = String::from("name,group,a,b,c,d,e,f\n");
    for n in from..to {
        let cells: Vec<String> = (0..6).map(|j| count(n, j).to_string()).collect();
        table.push_str(&format!("r{n},{},{}\n", n % 2, cells.join(",")));
    }
    table
}

/// A fit of the first thirty rows.
fn fitted(dir: &Path, more: &[&str]) {
    fs::write(dir.join("t.csv"), rows(0, 30)).unwrap();
    let flags = ["fit", "t.csv", "--id", "name", "--labels", "group"];
    good(dir, &[&flags[..], more, &RUN[..], &["o"]].concat());
}

#[test]
fn new_rows_are_placed_near_their_group_in_a_file_like_the_embedding() {
    let dir = folder("new");
    fitted(&dir, &["--likelihood", "poisson", "--offset", "size-factors"]);
    fs::write(dir.join("new.csv"), rows(30, 38)).unwrap();
    let output = good(&dir, &["transform", "o", "new.csv", "--out", "p.csv"]);
    assert!(text(&output.stdout).contains("8 new rows: p.csv"), "{}", text(&output.stdout));
    let (known, placed) = (read(dir.join("o/embedding.csv")), read(dir.join("p.csv")));
    let positions = known[0].join(",").replace(",median1,median2", "");
    assert_eq!(placed[0].join(","), format!("{positions},log_density,log_density_per_cell,outlier_score"));
    assert_eq!(placed.len(), 9);
    let at = |row: &Vec<String>| [number(&row[2]), number(&row[3])];
    for row in &placed[1..] {
        let distance = |other: &&Vec<String>| (0..2).map(|d| (at(row)[d] - at(other)[d]).powi(2)).sum::<f64>();
        let nearest = known[1..].iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
        assert_eq!(row[1], nearest[1], "{row:?} nearest {nearest:?}");
        let [density, a_cell, outlier_score] = [6, 7, 8].map(|i| number(&row[i]));
        assert!(
            (density / 6.0 - a_cell).abs() < 1e-12 && density < 0.0 && (0.0..=1.0).contains(&outlier_score),
            "{row:?}"
        );
    }
    // A card is asked for by name, or taken if there is one.
    good(&dir, &["transform", "o", "new.csv", "--device", "cpu", "--out", "cpu.csv"]);
    assert_eq!(fs::read(dir.join("cpu.csv")).unwrap(), fs::read(dir.join("p.csv")).unwrap());
    let refused = rflvm(&dir, &["transform", "o", "new.csv", "--device", "cuda:7", "--out", "card.csv"]);
    let error = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && error.contains("device is cuda:7"), "{error}");
    assert!(!dir.join("card.csv").exists());
    // The same every time.
    let bytes = fs::read(dir.join("p.csv")).unwrap();
    good(&dir, &["transform", "o", "new.csv", "--out", "again.csv"]);
    assert_eq!(bytes, fs::read(dir.join("again.csv")).unwrap());
    // Columns in another order, one of text that the fit does not have, no labels: the same numbers.
    let turned = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let note = if cells[0] == "name" { "note" } else { "some text" };
        [cells[5], note, cells[7], cells[2], cells[0], cells[3], cells[6], cells[4]].join(",") + "\n"
    };
    fs::write(dir.join("turned.csv"), rows(30, 38).lines().map(turned).collect::<String>()).unwrap();
    let output = good(&dir, &["transform", "o", "turned.csv", "--out", "t2.csv"]);
    assert!(text(&output.stderr).contains("the fit does not have: `note`"), "{}", text(&output.stderr));
    for (one, two) in placed[1..].iter().zip(&read(dir.join("t2.csv"))[1..]) {
        assert_eq!((&one[0], &one[2..], ""), (&two[0], &two[2..], two[1].as_str()));
    }
    // One unusual row, and one without cells.
    fs::write(dir.join("odd.csv"), "name,a,b,c,d,e,f\nodd,90,90,90,0,0,0\nnone,,,,,,\n").unwrap();
    good(&dir, &["transform", "o", "odd.csv", "--out", "odd-placed.csv"]);
    let odd = read(dir.join("odd-placed.csv"));
    assert_eq!((odd[1][0].as_str(), number(&odd[1][8])), ("odd", 1.0));
    assert_eq!(odd[2][6..].join(","), "0,,");
}

#[test]
fn draws_are_written_as_lines_and_as_an_array() {
    let dir = folder("draws");
    fitted(&dir, &["--likelihood", "poisson"]);
    fs::write(dir.join("new.csv"), rows(30, 33)).unwrap();
    let output = good(&dir, &["transform", "o", "new.csv", "--out", "p.csv", "--draws", "20"]);
    assert!(text(&output.stdout).contains("20 draws of 3 new rows: p-draws.csv"), "{}", text(&output.stdout));
    let (placed, drawn) = (read(dir.join("p.csv")), read(dir.join("p-draws.csv")));
    assert_eq!((drawn[0].join(","), drawn.len()), ("row,draw,x1,x2".into(), 61));
    assert_eq!((drawn[1][..2].join(","), drawn[21][..2].join(",")), ("1,1".into(), "2,1".into()));
    // Consistent with the mean in the summary: 20 of the 80 draws, within five of its standard errors.
    let mean = drawn[1..21].iter().map(|row| number(&row[2])).sum::<f64>() / 20.0;
    assert!((mean - number(&placed[1][2])).abs() < 5.0 * number(&placed[1][4]) / 20.0_f64.sqrt());
    good(&dir, &["transform", "o", "new.csv", "--out", "p.csv", "--draws", "20", "--draws-out", "d.npy"]);
    let bytes = fs::read(dir.join("d.npy")).unwrap();
    let head = u16::from_le_bytes([bytes[8], bytes[9]]) as usize + 10;
    assert!(text(&bytes[..head]).contains("(20, 3, 2,)"));
    let first = f64::from_le_bytes(bytes[head..head + 8].try_into().unwrap());
    assert_eq!((bytes.len() - head, first), (20 * 3 * 2 * 8, number(&drawn[1][2])));
}

/// Numbers of trials that differ between cells, and one family per column.
#[test]
fn new_rows_have_their_own_trials_and_families() {
    let dir = folder("trials");
    let trials = |from: u32, to: u32| {
        let line = |n: u32| (0..6).map(|j| (count(n, j) + 6 + n % 4).to_string()).collect::<Vec<_>>().join(",") + "\n";
        format!("a,b,c,d,e,f\n{}", (from..to).map(line).collect::<String>())
    };
    fs::write(dir.join("trials.csv"), trials(0, 30)).unwrap();
    fitted(&dir, &["--likelihood", "binomial", "--trials", "trials.csv"]);
    // More rows than the fit has.
    fs::write(dir.join("new.csv"), rows(30, 70)).unwrap();
    fs::write(dir.join("more.csv"), trials(30, 70)).unwrap();
    good(&dir, &["transform", "o", "new.csv", "--trials", "more.csv", "--out", "p.csv"]);
    assert_eq!(read(dir.join("p.csv")).len(), 41);
    for (flags, words) in [
        (&[][..], &["trials is not given", "--trials"][..]),
        (&["--trials", "trials.csv"], &["trials is 'trials.csv'", "30×6", "40×6"]),
        (&["--trials", "3"], &["new.csv", "row 1, column 'a'", "exceeds its number of trials"]),
    ] {
        let output = rflvm(&dir, &[&["transform", "o", "new.csv", "--out", "q.csv"], flags].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        words.iter().for_each(|word| assert!(said.contains(word), "'{word}' is not in: {said}"));
        assert!(!dir.join("q.csv").exists());
    }
    let mixed = folder("mixed");
    let families =
        "column,likelihood,trials\na,poisson,\nc,binomial,20\nb,poisson,\nd,gaussian,\nf,gaussian,\ne,binomial,20\n";
    fs::write(mixed.join("b.csv"), families).unwrap();
    fitted(&mixed, &["--blocks", "b.csv"]);
    fs::write(mixed.join("new.csv"), rows(30, 32)).unwrap();
    good(&mixed, &["transform", "o", "new.csv", "--out", "p.csv"]);
    assert!(read(mixed.join("p.csv"))[1..].iter().all(|row| number(&row[6]).is_finite()));
    let output = rflvm(&mixed, &["transform", "o", "new.csv", "--trials", "4", "--out", "q.csv"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("leave them out"));
}

fn timed(dir: &Path) {
    let line = |n: u32| {
        let (day, run) = (1 + n / 2, ["up", "down"][n as usize % 2]);
        format!("2001-05-{day:02},{run},{},{}\n", (f64::from(day) * 0.4).sin(), (f64::from(n) * 0.2).cos())
    };
    fs::write(dir.join("t.csv"), format!("day,run,a,b\n{}", (0..24).map(line).collect::<String>())).unwrap();
    let flags = ["fit", "t.csv", "--time", "day", "--sequence", "run", "--likelihood", "gaussian"];
    good(dir, &[&flags[..], &RUN[..], &["o"]].concat());
}

#[test]
fn rows_with_times_are_placed_on_their_path() {
    let dir = folder("times");
    timed(&dir);
    // A day of a known sequence without a cell, and one of an unknown sequence.
    fs::write(dir.join("new.csv"), "run,day,b,a\nup,2001-05-04,,\nsideways,2001-05-04,,\n").unwrap();
    let output = good(&dir, &["transform", "o", "new.csv", "--out", "p.csv"]);
    let said = text(&output.stderr);
    assert!(said.contains("does not know these sequences") && said.contains("`sideways`"), "{said}");
    let placed = read(dir.join("p.csv"));
    assert_eq!(placed[0][..4].join(","), "id,label,time,sequence");
    let sd = |row: &Vec<String>| number(&row[6]).hypot(number(&row[7]));
    assert!(sd(&placed[1]) < sd(&placed[2]), "a known path is more informative: {placed:?}");
}

#[test]
fn rows_that_cannot_be_placed_are_refused_in_one_sentence() {
    let dir = folder("refused");
    fitted(&dir, &["--likelihood", "poisson", "--offset", "size-factors"]);
    let lone = folder("refused-times");
    timed(&lone);
    let unnamed = folder("refused-unnamed");
    let line = |n: u32| format!("{},{},{}\n", count(n, 0), count(n, 1), count(n, 2));
    fs::write(unnamed.join("t.csv"), (0..12).map(line).collect::<String>()).unwrap();
    good(&unnamed, &[&["fit", "t.csv", "--likelihood", "poisson"], &RUN[..], &["o"]].concat());
    fs::write(unnamed.join("same.csv"), "1,2,3\n").unwrap();
    good(&unnamed, &["transform", "o", "same.csv", "--out", "same-placed.csv"]);
    fs::create_dir_all(dir.join("begun")).unwrap();
    fs::copy(dir.join("o/config.toml"), dir.join("begun/config.toml")).unwrap();
    let ask = ["transform", "o", "n.csv", "--out", "p.csv"];
    let names = "name,a,b,c,d,e,f\n";
    for (place, table, flags, words) in [
        (&dir, "name,a,c,e,f\nx,1,1,1,1\n", &ask[..], &["n.csv", "lacks", "`b`, `d`"][..]),
        (&dir, "1,2,3\n", &ask, &["n.csv", "has 3 columns and the fit 6"]),
        (&dir, &format!("{names}x,1,1,soon,1,1,1\n"), &ask, &["n.csv", "row 1", "column `c`", "`soon`"]),
        (&dir, &format!("{names}x,1,1,2,1,1,-4\n"), &ask, &["n.csv", "row 1, column 'f'", "-4", "counts"]),
        (&dir, &format!("{names}x,1,1,2,1,1,1\ny,0,0,0,0,0,0\n"), &ask, &["n.csv", "row 2", "size factor"]),
        (&dir, names, &ask, &["n.csv", "no data row"]),
        (&dir, "", &ask, &["n.csv", "empty"]),
        (&dir, "", &["transform", "o", "gone.csv", "--out", "p.csv"], &["gone.csv", "no such file"]),
        (&dir, &rows(30, 31), &["transform", "o", "n.csv", "--out", "p.txt"], &["out is p.txt", ".csv"]),
        (&dir, &rows(30, 31), &["transform", "nowhere", "n.csv", "--out", "p.csv"], &["nowhere", "holds no fit"]),
        (&dir, &rows(30, 31), &["transform", "begun", "n.csv", "--out", "p.csv"], &["begun", "no draws yet"]),
        (&dir, &rows(30, 31), &[&ask[..], &["--draws", "999"]].concat(), &["draws is 999", "80"]),
        (
            &dir,
            &rows(30, 31),
            &[&ask[..], &["--draws", "2", "--draws-out", "p.csv"]].concat(),
            &["p.csv: two results would be written to this file"],
        ),
        (&dir, &rows(30, 31), &[&ask[..], &["--draws", "2", "--draws-out", "p.json"]].concat(), &["p.json", ".npy"]),
        (&unnamed, "a,b\n1,2\n", &ask, &["n.csv", "has 2 columns and the fit 3"]),
        (&lone, "a,b\n1,2\n", &ask, &["n.csv", "--time", "`day`"]),
        (&lone, "day,a,b\n2001-05-04,1,2\n", &ask, &["n.csv", "--sequence", "`run`"]),
        (&lone, "day,run,a,b\n17,up,1,2\n", &ask, &["n.csv", "row 1, column `day`", "2001-05-01"]),
        (&lone, "day,run,a,b\n2001-05-04,,1,2\n", &ask, &["n.csv", "row 1, column `run`", "sequence is missing"]),
    ] {
        fs::write(place.join("n.csv"), table).unwrap();
        let output = rflvm(place, flags);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {said}");
        assert_eq!(said.lines().filter(|line| !line.starts_with("warning: ")).count(), 1, "{said}");
        words.iter().for_each(|word| assert!(said.contains(word), "'{word}' is not in: {said}"));
        assert!(!place.join("p.csv").exists());
    }
}

/// As in Python: a row of the fit is where embedding.csv has it, also among new rows.
#[test]
fn rows_of_the_fit_keep_their_positions() {
    let dir = folder("own");
    // No two rows are alike.
    let rows = |from: u32, to: u32| {
        let line = |n: u32| {
            format!("r{n},{},{},{}\n", n % 2, 3 * n % 31, [count(n, 1), count(n, 2)].map(|c| c.to_string()).join(","))
        };
        format!("name,group,a,b,c\n{}", (from..to).map(line).collect::<String>())
    };
    fs::write(dir.join("t.csv"), rows(0, 30)).unwrap();
    let flags = ["fit", "t.csv", "--id", "name", "--labels", "group", "--likelihood", "poisson"];
    good(&dir, &[&flags[..], &RUN[..], &["o"]].concat());
    // In another order, the cells of a row are the same.
    let some = [rows(28, 31), rows(3, 4).lines().nth(1).unwrap().into()].concat();
    let turned = |line: &str| line.split(',').rev().collect::<Vec<&str>>().join(",") + "\n";
    fs::write(dir.join("some.csv"), some.lines().map(turned).collect::<String>()).unwrap();
    good(&dir, &["transform", "o", "some.csv", "--out", "p.csv", "--draws", "20"]);
    let (known, placed) = (read(dir.join("o/embedding.csv")), read(dir.join("p.csv")));
    for (row, own) in [(1, Some(29)), (2, Some(30)), (3, None), (4, Some(4))] {
        let place = |row: &Vec<String>| row[2..6].to_vec();
        match own {
            Some(own) => assert_eq!(place(&placed[row]), place(&known[own])),
            None => assert!(known[1..].iter().all(|known| place(known) != place(&placed[row]))),
        }
        assert!(placed[row][6..].iter().all(|cell| cell.parse::<f64>().is_ok()), "{:?}", placed[row]);
    }
    // So are their draws: those of the fit.
    let drawn = read(dir.join("p-draws.csv"));
    let of = |row: usize| drawn[1 + 20 * (row - 1)..][..20].iter().map(|line| number(&line[2])).collect::<Vec<f64>>();
    for row in [1, 2, 4] {
        let mean = of(row).iter().sum::<f64>() / 20.0;
        assert!((mean - number(&placed[row][2])).abs() < 4.0 * number(&placed[row][4]), "{row}: {mean}");
    }
}
