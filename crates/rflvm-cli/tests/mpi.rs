//! One chain over several processes: the same draws, to the last bit, for any number of them. Built with the feature `mpi` only, and run by
//! `make test` where Open MPI is installed, or alone by `make test-mpi`.
#![cfg(feature = "mpi")]

mod common;

use common::{files, folder, good, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// Rows of the tables: few, so that everything is quick. Chunks have at most 128 columns, so that there are four of them.
const ROWS: usize = 16;
const COLUMNS: usize = 420;

/// Runs the program as some processes, more than there are cores; one such run at a time.
fn together(dir: &Path, processes: usize, arguments: &[&str]) -> Output {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let launch = ["--allow-run-as-root", "--oversubscribe", "-n", &processes.to_string()];
    let program = env!("CARGO_BIN_EXE_rflvm");
    Command::new("mpirun").current_dir(dir).args(launch).arg(program).args(arguments).output().unwrap()
}

/// A number between 0 and 1 for each cell, smooth in the row.
fn wave(n: usize, j: usize) -> f64 {
    let (t, f) = (n as f64 / ROWS as f64, (j % 17) as f64 / 8.0);
    0.5 + 0.4 * (6.0 * t * (0.3 + f) + j as f64).sin() + 0.1 * ((n * 7919 + j * 104_729) as f64).sin()
}

fn cell(family: &str, n: usize, j: usize) -> String {
    match family {
        "gaussian" | "isotropic" | "student-t" => format!("{:.4}", 3.0 * wave(n, j) + (j % 5) as f64),
        "bernoulli" => u8::from(wave(n, j) > 0.5).to_string(),
        "multinomial" => ((4.0 * wave(n, j)) as u32 + 1).to_string(),
        _ => ((9.0 * wave(n, j)) as u32).to_string(),
    }
}

/// A table with columns of the given families, some cells missing, and others before its columns.
fn write_table(
    path: &Path,
    family: &dyn Fn(usize) -> &'static str,
    holes: bool,
    before: &[(&str, &dyn Fn(usize) -> String)],
) {
    let names = before.iter().map(|(name, _)| (*name).to_string()).chain((0..COLUMNS).map(|j| format!("c{j}")));
    let mut table = names.collect::<Vec<_>>().join(",") + "\n";
    for n in 0..ROWS {
        let missing = |j: usize| holes && family(j) != "multinomial" && (31 * n + 7 * j).is_multiple_of(29);
        let cells = (0..COLUMNS).map(|j| if missing(j) { String::new() } else { cell(family(j), n, j) });
        let row: Vec<String> = before.iter().map(|(_, value)| value(n)).chain(cells).collect();
        table += &(row.join(",") + "\n");
    }
    fs::write(path, table).unwrap();
}

/// The store of a fit: everything but the attributes of the run.
fn draws(fit: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let all = files(&fit.join("draws.zarr"));
    let groups = ["posterior", "sample_stats", "moments", "observed_data", "constant_data"];
    let is_array = |path: &Path| groups.iter().any(|group| path.starts_with(group));
    all.into_iter().filter(|(path, _)| is_array(path)).collect()
}

const SHORT: &[&str] = &[
    "--features",
    "8",
    "--warmup",
    "11",
    "--draws",
    "3",
    "--chains",
    "1",
    "--seed",
    "5",
    "--threads",
    "1",
    "--init",
    "pca",
    "--quiet",
    "--no-report",
];

/// Fits with one process without MPI, and with each of these numbers of processes, and compares the draws.
fn compare(name: &str, processes: &[usize], flags: &[&str]) {
    let dir = folder(name).join("..");
    let table = format!("{name}.csv");
    let outs = ["alone", "1", "2", "3", "4"].map(|out| format!("{name}/{out}"));
    let fit_into = |out: &str| -> Vec<String> {
        [&["fit", &table][..], SHORT, flags, &["--out", out]].concat().into_iter().map(String::from).collect()
    };
    good(&dir, &borrowed(&fit_into(&outs[0])));
    let expected = draws(&dir.join(&outs[0]));
    assert!(expected.len() > 10);
    for &count in processes {
        let output = together(&dir, count, &borrowed(&fit_into(&outs[count])));
        assert!(output.status.success(), "{name}, {count} processes: {}", text(&output.stderr));
        let found = draws(&dir.join(&outs[count]));
        assert_eq!(found.len(), expected.len(), "{name}, {count} processes");
        for ((path, found), (_, expected)) in found.iter().zip(&expected) {
            assert!(found == expected, "{name}, {count} processes: {} differs", path.display());
        }
    }
}

fn borrowed(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

/// Where the table of a comparison goes.
fn place(name: &str) -> PathBuf {
    folder(name).join("..").join(format!("{name}.csv"))
}

#[test]
fn every_family_has_the_same_draws_for_any_number_of_processes() {
    let families = [
        "gaussian",
        "poisson",
        "bernoulli",
        "binomial",
        "negative-binomial",
        "student-t",
        "zero-inflated-poisson",
        "isotropic",
    ];
    for (i, family) in families.into_iter().enumerate() {
        write_table(&place(family), &move |_| family, false, &[]);
        let trials: &[&str] = if family == "binomial" { &["--trials", "12"] } else { &[] };
        // One to four processes between them.
        let processes: &[usize] = [&[1, 2, 3, 4][..], &[4], &[3], &[2]][if i < 2 { i } else { 2 + i % 2 }];
        compare(family, processes, &[&["--likelihood", family], trials].concat());
    }
}

#[test]
fn mixed_blocks_and_missing_cells_have_the_same_draws() {
    let family = |j: usize| match j {
        0..120 => "gaussian",
        120..220 => "poisson",
        220..260 => "multinomial",
        260..340 => "negative-binomial",
        _ => "student-t",
    };
    write_table(&place("mixed"), &family, true, &[]);
    let listing: String = (0..COLUMNS).map(|j| format!("c{j},{}\n", family(j))).collect();
    fs::write(place("mixed").with_file_name("blocks.csv"), format!("column,likelihood\n{listing}")).unwrap();
    compare("mixed", &[2, 3], &["--blocks", "blocks.csv"]);
    // Families that take turns, and no categories: each process reads its own columns, which are not neighbours.
    let turns = |j: usize| ["gaussian", "poisson", "negative-binomial"][j % 3];
    write_table(&place("turns"), &turns, true, &[]);
    let listing: String = (0..COLUMNS).map(|j| format!("c{j},{}\n", turns(j))).collect();
    fs::write(place("turns").with_file_name("turns-blocks.csv"), format!("column,likelihood\n{listing}")).unwrap();
    compare("turns", &[2, 3], &["--blocks", "turns-blocks.csv"]);
    write_table(&place("holes"), &|_| "gaussian", true, &[]);
    compare("holes", &[4], &["--likelihood", "gaussian"]);
}

/// A table of columns of all kinds, which take turns; `change` has the last word about a cell.
fn write_kinds(path: &Path, columns: usize, kinds: &[&str], change: &dyn Fn(usize, usize, String) -> String) {
    let names: Vec<String> = (0..columns).map(|j| format!("{}{j}", kinds[j % kinds.len()])).collect();
    let cell = |n: usize, j: usize| {
        let level = (wave(n % ROWS, j) * 997.0) as usize + n;
        match kinds[j % kinds.len()] {
            "real" => format!("{:.3}", wave(n, j)),
            "count" => (level * level % 23).to_string(),
            "text" => ["b", "c", "a"][level % 3].into(),
            "yes" => ["no", "yes"][level % 2].into(),
            "answer" => (1 + level % 5).to_string(),
            "year" => (2007 + level % 3).to_string(),
            kind => panic!("{kind}"),
        }
    };
    let row = |n: usize| (0..columns).map(|j| change(n, j, cell(n, j))).collect::<Vec<String>>().join(",") + "\n";
    let rows: String = (0..40).map(row).collect();
    fs::write(path, names.join(",") + "\n" + &rows).unwrap();
}

const KINDS: &[&str] = &["real", "text", "count", "yes", "answer", "year"];

#[test]
fn families_that_are_chosen_by_the_cells_are_those_of_one_process() {
    let plain = |n: usize, j: usize, cell: String| if (n * 7 + j).is_multiple_of(31) { String::new() } else { cell };
    let table = place("auto");
    write_kinds(&table, 240, KINDS, &plain);
    compare("auto", &[1, 2, 3], &["--likelihood", "auto"]);
    let dir = table.with_file_name("");
    let listed = |fit: &str| fs::read_to_string(dir.join(fit).join("blocks.csv")).unwrap();
    let alone = listed("auto/alone");
    for family in ["gaussian", "multinomial", "negative-binomial", "bernoulli", "ordinal"] {
        assert!(alone.contains(family), "{alone}");
    }
    assert!(alone.contains("year5,multinomial"), "{alone}");
    assert_eq!(alone, listed("auto/3"));
    resume_alike(&dir, "auto/alone", "auto/3", 2);
    // Each process looks at its own share: only the one that has the column says what is wrong.
    write_kinds(&place("dates"), 240, KINDS, &|n, j, cell| {
        if j == 121 { format!("2001-05-{}", n % 28 + 1) } else { cell }
    });
    let output =
        together(&dir, 3, &[&["fit", "dates.csv", "--likelihood", "auto", "--out", "dates/3"][..], SHORT].concat());
    let said = text(&output.stderr);
    let of_second =
        |line: &&str| line.starts_with("rflvm: process 2 of 3: ") && line.contains("text121") && line.contains("dates");
    assert!(output.status.code() == Some(2) && said.lines().filter(of_second).count() == 1, "{said}");
}

#[test]
fn categories_levels_and_limits_have_the_same_draws() {
    let plain = |_: usize, _: usize, cell: String| cell;
    write_kinds(&place("texts"), 140, &["text"], &plain);
    compare("texts", &[2, 3], &["--likelihood", "multinomial"]);
    write_kinds(&place("answers"), 280, &["answer"], &plain);
    compare("answers", &[3], &["--likelihood", "ordinal"]);
    // Text, groups of counts that are multinomial together, and a column of numbers that are categories.
    let kinds = ["text", "count", "count", "year"];
    // A row of a multinomial has at least one trial.
    let positive = |_: usize, j: usize, cell: String| if kinds[j % 4] == "count" { cell + "1" } else { cell };
    write_kinds(&place("listed"), 240, &kinds, &positive);
    let line = |j: usize| match kinds[j % 4] {
        "count" => format!("count{j},multinomial,group {}\n", j / 4),
        kind => format!("{kind}{j},multinomial,{kind}{j}\n"),
    };
    let listing: String = (0..240).map(line).collect();
    fs::write(place("listed").with_file_name("listed-blocks.csv"), format!("column,likelihood,block\n{listing}"))
        .unwrap();
    compare("listed", &[2, 3], &["--blocks", "listed-blocks.csv"]);
    let limited = |n: usize, j: usize, cell: String| if n == j % 40 { "<0.3".into() } else { cell };
    let table = place("limits");
    write_kinds(&table, 280, &["real"], &limited);
    compare("limits", &[2], &["--likelihood", "gaussian"]);
    // All have read this table.
    resume_alike(&table.with_file_name(""), "limits/alone", "limits/2", 2);
}

/// Extends two equal fits, one of them with several processes.
fn resume_alike(dir: &Path, alone: &str, shared: &str, processes: usize) {
    let more = ["--draws", "5", "--quiet", "--no-report"];
    good(dir, &[&["resume", alone][..], &more].concat());
    let output = together(dir, processes, &[&["resume", shared][..], &more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(draws(&dir.join(alone)) == draws(&dir.join(shared)));
}

#[test]
fn covariates_linear_parts_and_paths_over_time_have_the_same_draws() {
    let (batch, time) =
        (|n: usize| ["a", "b"][n % 2].to_string(), |n: usize| format!("{}", n as f64 + 0.1 * (n % 3) as f64));
    write_table(&place("batches"), &|_| "poisson", true, &[("batch", &batch)]);
    let offset = ["--offset", "size-factors"];
    let flags = ["--likelihood", "poisson", "--covariates", "batch", "--linear", "learned"];
    compare("batches", &[3], &[&flags[..], &offset].concat());
    write_table(&place("integrated"), &|_| "gaussian", false, &[("batch", &batch)]);
    compare(
        "integrated",
        &[2],
        &["--likelihood", "gaussian", "--covariates", "batch", "--linear", "learned", "--amplitude", "learned"],
    );
    write_table(&place("paths"), &|_| "poisson", false, &[("time", &time)]);
    compare("paths", &[4], &["--likelihood", "poisson", "--time", "time"]);
    // Column processes too.
    write_table(&place("column-processes"), &|_| "gaussian", true, &[("time", &time)]);
    compare("column-processes", &[3], &["--likelihood", "gaussian", "--time", "time", "--column-process", "matern12"]);
}

#[test]
fn a_search_has_the_same_maps_and_draws() {
    write_table(&place("search"), &|_| "poisson", false, &[]);
    let long =
        ["--likelihood", "poisson", "--init", "search", "--init-effort", "2", "--warmup", "100", "--chains", "2"];
    // The last of two equal flags would be an error, so the short settings are written again.
    let dir = place("search").with_file_name("");
    let rest = ["--features", "8", "--draws", "3", "--seed", "5", "--threads", "1", "--quiet", "--no-report"];
    let fit = |out: &'static str| [&["fit", "search.csv"][..], &long, &rest, &["--out", out]].concat();
    good(&dir, &fit("search/alone"));
    let output = together(&dir, 2, &fit("search/2"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(draws(&dir.join("search/alone")) == draws(&dir.join("search/2")));
    assert_eq!(
        fs::read(dir.join("search/alone/modes.json")).unwrap(),
        fs::read(dir.join("search/2/modes.json")).unwrap()
    );
}

#[test]
fn a_killed_process_stops_all_and_any_number_of_them_resumes() {
    write_table(&place("killed"), &|_| "poisson", false, &[]);
    let dir = place("killed").with_file_name("");
    let rest = [
        "--likelihood",
        "poisson",
        "--features",
        "8",
        "--warmup",
        "150",
        "--draws",
        "20",
        "--chains",
        "2",
        "--seed",
        "5",
    ];
    let run = ["--threads", "1", "--init", "pca", "--quiet", "--no-report", "--checkpoint", "0.1"];
    let fit = |out: &'static str| [&["fit", "killed.csv"][..], &rest, &run, &["--out", out]].concat();
    good(&dir, &fit("killed/alone"));
    let launch = ["--allow-run-as-root", "--oversubscribe", "-n", "2"];
    let mut begun = Command::new("mpirun");
    begun.current_dir(&dir).args(launch).arg(env!("CARGO_BIN_EXE_rflvm")).args(fit("killed/2"));
    let mut begun = begun.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let saved = dir.join("killed/2/checkpoint.bin");
    common::wait_until(&mut begun, || saved.exists());
    // One of its processes, found by its parent.
    let children = Command::new("pgrep").args(["-P", &begun.id().to_string(), "rflvm"]).output().unwrap();
    let one = text(&children.stdout).lines().last().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &one]).status().unwrap().success());
    let output = begun.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("rank") && said.contains("signal 9"), "{said}");
    let output = together(&dir, 3, &["resume", "killed/2", "--quiet", "--no-report"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(draws(&dir.join("killed/alone")) == draws(&dir.join("killed/2")));
    // From several processes to one, and from one to several.
    let more = ["--draws", "24", "--quiet", "--no-report"];
    good(&dir, &[&["resume", "killed/2"][..], &more].concat());
    let output = together(&dir, 4, &[&["resume", "killed/alone"][..], &more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(draws(&dir.join("killed/alone")) == draws(&dir.join("killed/2")));
    let table = fs::read_to_string(dir.join("killed.csv")).unwrap();
    fs::write(dir.join("killed.csv"), table.replace(",3", ",4")).unwrap();
    let output = together(&dir, 2, &["resume", "killed/2", "--draws", "30", "--quiet"]);
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("the table has changed since the fit began"), "{said}");
}

/// What was said about a table before it was fitted.
fn warnings(output: &Output) -> Vec<String> {
    text(&output.stderr).lines().filter(|line| line.contains("warning")).map(String::from).collect()
}

#[test]
fn what_is_wrong_with_a_table_is_said_as_by_one_process() {
    let path = place("odd");
    write_table(&path, &|_| "poisson", false, &[]);
    let dir = path.with_file_name("");
    let lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(String::from).collect();
    let with = |change: &dyn Fn(usize, usize, &str) -> String| {
        let row = |(n, line): (usize, &String)| {
            let cells =
                line.split(',').enumerate().map(|(j, cell)| if n == 0 { cell.into() } else { change(n, j, cell) });
            cells.collect::<Vec<String>>().join(",") + "\n"
        };
        fs::write(&path, lines.iter().enumerate().map(row).collect::<String>()).unwrap();
    };
    let fit = |out: &'static str| {
        [&["fit", "odd.csv", "--likelihood", "poisson"][..], &SHORT[..14], &["--no-report", "--out", out]].concat()
    };
    // A row without cells, and columns of equal cells in different processes.
    with(&|n, j, cell| match (n, j) {
        (3, _) => String::new(),
        (_, 7 | 333) => "2".into(),
        _ => cell.into(),
    });
    let (alone, shared) = (common::rflvm(&dir, &fit("odd/alone")), together(&dir, 3, &fit("odd/3")));
    assert!(alone.status.success() && shared.status.success(), "{}", text(&shared.stderr));
    let expected = warnings(&alone);
    assert_eq!(
        expected.iter().filter(|line| line.contains("row 3") || line.contains("'c333'")).count(),
        2,
        "{expected:?}"
    );
    assert_eq!(warnings(&shared), expected);
    assert!(draws(&dir.join("odd/alone")) == draws(&dir.join("odd/3")));
    // Two bad cells, in the second and in the third process: one of them is named.
    with(&|n, j, cell| if n == 5 && (j == 200 || j == 400) { "-1".into() } else { cell.into() });
    let output = together(&dir, 3, &fit("odd/bad"));
    let said = text(&output.stderr);
    let named: Vec<&str> = said.lines().filter(|line| line.starts_with("rflvm: ") && line.contains("row 5")).collect();
    assert!(named.len() == 1 && named[0].contains("process 2 of 3") && named[0].contains("'c200'"), "{said}");
    assert!(output.status.code() == Some(2) && !dir.join("odd/bad").exists(), "{said}");
    // A text where numbers are expected.
    with(&|n, j, cell| if n == 5 && j == 400 { "many".into() } else { cell.into() });
    let output = together(&dir, 3, &fit("odd/bad"));
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("many") && said.contains("c400"), "{said}");
}

#[test]
fn a_fit_that_replaces_another_has_nothing_of_it() {
    // Two tables of the same shape.
    write_table(&place("first"), &|_| "poisson", false, &[]);
    write_table(&place("second"), &|_| "poisson", false, &[]);
    let second = place("second");
    let larger = fs::read_to_string(&second).unwrap().replace(",3", ",11");
    fs::write(&second, larger).unwrap();
    let dir = place("first").with_file_name("");
    let fit = |table: &'static str, out: &'static str| {
        [&["fit", table, "--likelihood", "poisson"][..], SHORT, &["--overwrite", "--out", out]].concat()
    };
    good(&dir, &fit("first.csv", "replaced/2"));
    good(&dir, &fit("second.csv", "replaced/alone"));
    assert!(draws(&dir.join("replaced/alone")) != draws(&dir.join("replaced/2")));
    let output = together(&dir, 2, &fit("second.csv", "replaced/2"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(draws(&dir.join("replaced/alone")) == draws(&dir.join("replaced/2")));
}

#[test]
fn a_process_that_cannot_read_the_table_says_so() {
    write_table(&place("here"), &|_| "poisson", false, &[]);
    let dir = place("here").with_file_name("");
    // As on a machine that does not have the file.
    let of = |table: &'static str| {
        let program = ["-n", "1", env!("CARGO_BIN_EXE_rflvm"), "fit", table, "--likelihood", "poisson"];
        [&program[..], SHORT, &["--out", "here/2"]].concat()
    };
    let mut mpirun = Command::new("mpirun");
    mpirun.current_dir(&dir).args(["--allow-run-as-root", "--oversubscribe"]);
    let output = mpirun.args(of("here.csv")).arg(":").args(of("elsewhere.csv")).output().unwrap();
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    let of_second = |line: &&str| line.starts_with("rflvm: process 2 of 2: ") && line.contains("elsewhere.csv");
    assert_eq!(said.lines().filter(of_second).count(), 1, "{said}");
    assert!(!dir.join("here/2").exists(), "nothing is written");
}

#[test]
fn what_processes_cannot_share_is_refused_in_one_sentence() {
    write_table(&place("few"), &|_| "poisson", false, &[]);
    let dir = place("few").with_file_name("");
    let says = |processes: usize, arguments: &[&str], words: &str| {
        let output = together(&dir, processes, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(
            said.lines().filter(|line| line.starts_with("rflvm: ") && line.contains(words)).count(),
            1,
            "{said}"
        );
    };
    let fit = ["fit", "few.csv", "--likelihood", "poisson", "--out", "few/5"];
    says(5, &fit, "use at most 4 processes");
    assert!(!dir.join("few/5").exists());
    says(2, &["summary", "few/5"], "only fit and resume");
}

/// The whole numbers of the line about traffic: processes, bytes, calls, numbers in short and in long sums, long sums, numbers gathered, branches.
fn traffic(said: &str) -> Vec<u64> {
    let line = said.lines().find(|line| line.contains(" processes; ")).unwrap();
    line.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn bytes_sent_are_those_of_the_formula() {
    // Enough rows that gradients are divided among the processes; see docs/scale.md.
    let (n, j, l, d) = (2200, 260, 3, 2);
    let dir = folder("bytes");
    let names: Vec<String> = (0..j).map(|j| format!("c{j}")).collect();
    let row = |n: usize| {
        (0..j).map(|j| format!("{:.3}", wave(n % ROWS, j) + 0.01 * (n % 7) as f64)).collect::<Vec<_>>().join(",")
    };
    let table: String = (0..n).map(|n| row(n) + "\n").collect();
    fs::write(dir.join("table.csv"), names.join(",") + "\n" + &table).unwrap();
    let of = |draws: &str| {
        let run = [
            "--warmup",
            "0",
            "--draws",
            draws,
            "--chains",
            "1",
            "--seed",
            "5",
            "--threads",
            "1",
            "--init",
            "random",
            "--verbose",
        ];
        let model = [
            "fit",
            "table.csv",
            "--likelihood",
            "gaussian",
            "--features",
            "6",
            "--no-report",
            "--checkpoint",
            "9999",
            "--out",
            draws,
        ];
        let output = together(&dir, 2, &[&model[..], &run].concat());
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        traffic(&said)
    };
    let (few, more) = (of("2"), of("5"));
    let [_, bytes, _, short, long, divided, gathered, _] =
        more.iter().zip(&few).map(|(a, b)| a - b).collect::<Vec<_>>()[..]
    else {
        panic!("{more:?}")
    };
    let (processes, branches, m) = (2, more[7], 2 * l + 1);
    // Every long sum is one gradient: of X and W, what multiplies H, and the density.
    let gradient = (n * d + l * d + m * m + 1) as u64;
    assert!(divided > 0 && long == divided * gradient, "{long} in {divided}: {gradient}");
    let share = gradient / processes;
    let of_gradients = divided * (branches * (gradient - share) + (processes - 1) * share);
    assert_eq!(bytes, 8 * ((processes - 1) * (branches * short + gathered) + of_gradients));
}
