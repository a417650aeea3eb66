//! The program as a user meets it: a good run, bad input, and the commands in the documentation.

use crate::common::{folder, rflvm, text};
use std::fs;
use std::path::{Path, PathBuf};

/// A small table of counts with an id and a label column.
const COUNTS: &str = "name,kind,a,b,c\nr1,u,3,0,2\nr2,v,1,4,0\nr3,u,0,2,5\nr4,v,2,2,1\nr5,u,7,0,1\nr6,v,0,3,3\n";

#[test]
fn a_fit_writes_the_embedding_and_the_picture() {
    let dir = folder("good");
    fs::write(dir.join("t.csv"), COUNTS.replace("r2,v,1,4,0", "r2,v,1,NA,0")).unwrap();
    let arguments = [
        "fit",
        "t.csv",
        "--likelihood",
        "poisson",
        "--features",
        "10",
        "--warmup",
        "20",
        "--draws",
        "10",
        "--seed",
        "7",
        "--labels",
        "kind",
        "--id",
        "name",
        "--out",
        "o",
    ];
    let output = rflvm(&dir, &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("seed 7") && said.contains("accuracy"), "{said}");
    let embedding = fs::read_to_string(dir.join("o/embedding.csv")).unwrap();
    let lines: Vec<&str> = embedding.lines().collect();
    // Where there are several modes, there is one more column.
    assert_eq!(lines[0].trim_end_matches(",between_modes"), "id,label,x1,x2,sd1,sd2,median1,median2");
    assert_eq!(lines.len(), 7);
    assert!(lines[1].starts_with("r1,u,"));
    assert!(fs::read_to_string(dir.join("o/latent.svg")).unwrap().starts_with("<svg"));
    let imputed = fs::read_to_string(dir.join("o/imputed.csv")).unwrap();
    assert!(imputed.lines().nth(1).unwrap().starts_with("2,b,"), "{imputed}");
    // The same seed writes the same bytes, with one thread or two.
    let again = rflvm(&dir, &[&arguments[..17], &["p", "--threads", "1", "-q"]].concat());
    assert!(again.status.success() && again.stderr.is_empty(), "{}", text(&again.stderr));
    assert_eq!(embedding, fs::read_to_string(dir.join("p/embedding.csv")).unwrap());
}

/// One bad table or command: its name, the table, flags that replace the usual ones, words that the message must have.
struct Bad {
    name: &'static str,
    table: &'static str,
    flags: &'static [&'static str],
    words: &'static [&'static str],
}

const POISSON: &[&str] = &["--likelihood", "poisson"];

const BAD: &[Bad] = &[
    Bad { name: "empty", table: "", flags: POISSON, words: &["t.csv", "empty"] },
    Bad { name: "header only", table: "a,b\n", flags: POISSON, words: &["t.csv", "no data row"] },
    Bad { name: "ragged", table: "a,b\n1,2\n3\n", flags: POISSON, words: &["t.csv", "row 2", "line 3", "2 cells"] },
    Bad { name: "text", table: "a,b\n1,2\n3,x\n", flags: POISSON, words: &["row 2", "`b`", "`x`", "--labels"] },
    Bad { name: "infinite", table: "a,b\n1,inf\n3,2\n", flags: POISSON, words: &["row 1", "`b`", "inf"] },
    Bad {
        name: "negative",
        table: "a,b\n1,2\n-3,2\n",
        flags: POISSON,
        words: &["t.csv", "row 2", "'a'", "-3", "negative", "gaussian"],
    },
    Bad {
        name: "fraction",
        table: "a,b\n1,2.5\n3,2\n",
        flags: POISSON,
        words: &["row 1", "'b'", "2.5", "whole number"],
    },
    Bad {
        name: "fraction nb",
        table: "a,b\n1,2.5\n3,2\n",
        flags: &["--likelihood", "negative-binomial"],
        words: &["row 1", "'b'", "whole number"],
    },
    Bad {
        name: "above trials",
        table: "a,b\n1,2\n3,9\n",
        flags: &["--likelihood", "binomial", "--trials", "5"],
        words: &["row 2", "'b'", "9", "trials, 5"],
    },
    Bad {
        name: "bernoulli",
        table: "a,b\n1,0\n3,0\n",
        flags: &["--likelihood", "bernoulli"],
        words: &["row 2", "'a'", "trials, 1"],
    },
    Bad {
        name: "no trials",
        table: "a,b\n1,0\n3,0\n",
        flags: &["--likelihood", "binomial"],
        words: &["trials", "bernoulli"],
    },
    Bad {
        name: "missing column",
        table: "a,b\n1,NA\n3,\n",
        flags: POISSON,
        words: &["t.csv", "'b'", "no observed cell", "leave it out"],
    },
    Bad {
        name: "zero row",
        table: "a,b\n1,2\n0,0\n",
        flags: &["--likelihood", "multinomial"],
        words: &["row 2", "zero", "drop"],
    },
    Bad {
        name: "partial row",
        table: "a,b\n1,2\n3,\n",
        flags: &["--likelihood", "multinomial"],
        words: &["row 2", "as a whole"],
    },
    Bad {
        name: "dimension",
        table: "a,b\n1,2\n3,4\n",
        flags: &["--likelihood", "poisson", "--latent-dim", "3"],
        words: &["latent-dim is 3", "between 1 and 2"],
    },
    Bad {
        name: "odd features",
        table: "a,b\n1,2\n3,4\n",
        flags: &["--likelihood", "poisson", "--features", "7"],
        words: &["features is 7", "even"],
    },
    Bad {
        name: "family",
        table: "a,b\n1,2\n3,4\n",
        flags: &["--likelihood", "poison"],
        words: &["poison", "negative-binomial"],
    },
    Bad {
        name: "label",
        table: "a,b\n1,2\n3,4\n",
        flags: &["--likelihood", "poisson", "--labels", "q"],
        words: &["--labels", "`q`"],
    },
    Bad {
        name: "no draws",
        table: "a,b\n1,2\n3,4\n",
        flags: &["--likelihood", "poisson", "--draws", "0"],
        words: &["draws is 0"],
    },
    Bad {
        name: "zero total",
        table: "a,b\n1,2\n0,0\n",
        flags: &["--likelihood", "poisson", "--offset", "size-factors"],
        words: &["row 2", "size factor"],
    },
];

#[test]
fn bad_input_gets_one_clear_sentence_exit_code_2_and_writes_nothing() {
    for (i, bad) in BAD.iter().enumerate() {
        let dir = folder(&format!("bad{i}"));
        fs::write(dir.join("t.csv"), bad.table).unwrap();
        let output = rflvm(&dir, &[&["fit", "t.csv", "--out", "o"], bad.flags].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{}: {said}", bad.name);
        assert_eq!(said.trim_end().lines().count(), 1, "{}: one sentence, not {said}", bad.name);
        for word in bad.words {
            assert!(said.contains(word), "{}: '{word}' is not in: {said}", bad.name);
        }
        assert!(!dir.join("o").exists(), "{}: something was written", bad.name);
    }
}

#[test]
fn an_output_folder_that_cannot_be_made_is_refused_before_sampling() {
    let dir = folder("unwritable");
    fs::write(dir.join("t.csv"), COUNTS).unwrap();
    fs::write(dir.join("file"), "in the way").unwrap();
    for out in ["file", "file/below"] {
        let flags = ["--likelihood", "poisson", "--id", "name", "--labels", "kind", "--out", out];
        let output = rflvm(&dir, &[&["fit", "t.csv"][..], &flags].concat());
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("file") && said.contains("--out"), "{said}");
        assert_eq!(fs::read_to_string(dir.join("file")).unwrap(), "in the way");
    }
    let missing = rflvm(&dir, &["fit", "none.csv", "--likelihood", "poisson", "--out", "o"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("none.csv: there is no such file"));
}

#[test]
fn a_constant_column_and_an_empty_row_are_warnings() {
    let dir = folder("warnings");
    fs::write(dir.join("t.csv"), "a,b,c\n1,2,5\n,,\n3,1,5\n0,4,5\n2,2,5\n").unwrap();
    let flags =
        ["--likelihood", "poisson", "--features", "6", "--chains", "2", "--warmup", "4", "--draws", "2", "--out", "o"];
    let output = rflvm(&dir, &[&["fit", "t.csv"][..], &flags].concat());
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("warning: row 2: no cell is observed"), "{said}");
    assert!(said.contains("warning: column 'c' is constant"), "{said}");
    assert!(!fs::read_to_string(dir.join("o/embedding.csv")).unwrap().contains("NaN"));
}

#[test]
fn every_family_can_be_simulated_and_fitted() {
    let dir = folder("families");
    for about in rflvm::internal::model::family::REGISTRY {
        let family = about.name;
        for source in ["s-curve", "model"] {
            let trials: &[&str] = if about.cells.have_trials() { &["--trials", "6"] } else { &[] };
            let shape = ["--rows", "30", "--columns", "6", "--seed", "2", "--overwrite", "--source", source];
            let simulate = [&["simulate", "--likelihood", family, "--out", "s"], &shape[..], trials].concat();
            let output = rflvm(&dir, &simulate);
            assert!(output.status.success(), "{family} {source}: {}", text(&output.stderr));
            let run = [
                "--features",
                "8",
                "--chains",
                "2",
                "--warmup",
                "6",
                "--draws",
                "3",
                "--seed",
                "1",
                "--out",
                "f",
                "--overwrite",
                "-q",
            ];
            let output = rflvm(&dir, &[&["fit", "s/table.csv", "--likelihood", family], &run[..], trials].concat());
            assert!(output.status.success(), "{family} {source}: {}", text(&output.stderr));
        }
    }
}

#[test]
fn a_simulated_table_may_have_missing_cells() {
    let dir = folder("holes");
    let simulate = |more: &[&str]| {
        rflvm(
            &dir,
            &[&["simulate", "--rows", "20", "--columns", "5", "--seed", "2", "--out", "s", "--overwrite"][..], more]
                .concat(),
        )
    };
    let read = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(dir.join("s").join(name)).unwrap();
        text.lines().skip(1).flat_map(|line| line.split(',').map(String::from).collect::<Vec<_>>()).collect()
    };
    assert!(simulate(&[]).status.success());
    let whole = read("table.csv");
    assert!(simulate(&["--missing", "0.3"]).status.success());
    let (holes, complete) = (read("table.csv"), read("complete.csv"));
    assert_eq!(complete, whole, "missing cells change nothing else");
    assert_eq!(holes.iter().filter(|cell| cell.is_empty()).count(), 30);
    // A complete table is not left next to another.
    assert!(simulate(&[]).status.success() && !dir.join("s/complete.csv").exists());
    assert!(holes.iter().zip(&whole).all(|(cell, truth)| cell.is_empty() || cell == truth));
    for (given, sentence) in [
        (&["--missing", "1.5"][..], "missing is 1.5, but it must be a fraction of the cells, above 0 and below 1"),
        (&["--missing", "0.1", "--likelihood", "multinomial"], "a multinomial row is observed or missing as a whole"),
        (&["--missing", "0.00001"], "no cell of so small a table can be left empty"),
    ] {
        let output = simulate(given);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(sentence), "{}", text(&output.stderr));
    }
}

/// Columns of three families, an offset column, and JSON output.
#[test]
fn families_by_column_offsets_by_column_and_json() {
    let dir = folder("blocks");
    let mut table = String::from("name,flag,count,value,exposure\n");
    for n in 0..24 {
        let value = f64::from(n * 7 % 11) * 0.3 - 1.0;
        table.push_str(&format!("r{n},{},{},{value},{}\n", n % 2, n * 5 % 7, f64::from(n % 3) * 0.1));
    }
    fs::write(dir.join("t.csv"), table).unwrap();
    fs::write(dir.join("b.csv"), "column,likelihood\nflag,bernoulli\ncount,poisson\nvalue,gaussian\n").unwrap();
    let flags = [
        "--id",
        "name",
        "--offset",
        "exposure",
        "--features",
        "8",
        "--chains",
        "2",
        "--warmup",
        "10",
        "--draws",
        "8",
        "--seed",
        "3",
    ];
    let fit = |more: &[&str]| rflvm(&dir, &[&["fit", "t.csv"], &flags[..], more].concat());
    let output = fit(&["--blocks", "b.csv", "--json", "--out", "o"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    let events: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| events.iter().filter(|e| e["event"] == name).collect::<Vec<_>>();
    assert_eq!(of("start")[0]["seed"], 3);
    assert_eq!(of("start")[0]["families"], serde_json::json!(["bernoulli", "poisson", "gaussian"]));
    assert!(!of("progress").is_empty());
    assert_eq!(of("summary")[0]["draws"], 8);
    let known = rflvm(&dir, &["export", "o", "--what", "nonsense", "--out", "s.csv"]);
    assert_eq!(known.status.code(), Some(2));
    let listed = text(&known.stderr);
    assert!(listed.contains("distance") && listed.contains("beta") && !listed.contains("row,"), "{listed}");
    assert!(rflvm(&dir, &["export", "o", "--what", "distance", "--out", "d.csv"]).status.success());
    let distances = fs::read_to_string(dir.join("d.csv")).unwrap();
    assert_eq!(distances.lines().next(), Some("chain,draw,i1,distance"));
    assert_eq!(distances.lines().count(), 1 + 2 * 8 * 10);
    assert!(distances.lines().nth(1).unwrap().starts_with("1,1,1,"), "{distances}");
    assert!(distances.lines().last().unwrap().starts_with("2,8,10,"), "{distances}");
    assert!(rflvm(&dir, &["export", "o", "--out", "x.npy"]).status.success());
    let bytes = fs::read(dir.join("x.npy")).unwrap();
    let array = npyz::NpyFile::new(&bytes[..]).unwrap();
    assert_eq!(array.shape(), [2, 8, 24, 2]);
    for (blocks, words) in [
        ("column,likelihood\nflag,bernoulli\ncount,poisson\n", "`value`"),
        ("column,likelihood\nflag,bernoulli\nflag,poisson\n", "line 3"),
        ("column,likelihood\nnone,bernoulli\n", "`none`"),
        ("a,b\n", "likelihood"),
        ("column,likelihood\nflag,bernoulli\ncount,poison\nvalue,gaussian\n", "poison"),
    ] {
        fs::write(dir.join("bad.csv"), blocks).unwrap();
        let output = fit(&["--blocks", "bad.csv", "--out", "p"]);
        assert_eq!(output.status.code(), Some(2), "{blocks}");
        assert!(text(&output.stderr).contains(words), "{words}: {}", text(&output.stderr));
        assert!(!dir.join("p").exists());
    }
}

#[test]
fn the_doctor_distinguishes_counts_from_numbers_and_the_manual_is_complete() {
    let dir = folder("doctor");
    fs::write(dir.join("t.csv"), COUNTS).unwrap();
    let output = rflvm(&dir, &["doctor", "t.csv", "--id", "name", "--labels", "kind", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let seen: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((seen["rows"].as_u64(), seen["counts"].as_u64(), seen["other"].as_u64()), (Some(6), Some(3), Some(0)));
    assert!(seen["seconds_per_sweep"].as_f64().unwrap() > 0.0);
    fs::write(dir.join("r.csv"), "a,b\n0.5,1\n-2,0\n3,1\n").unwrap();
    let said = text(&rflvm(&dir, &["doctor", "r.csv"]).stdout);
    assert!(said.contains("zeros and ones  bernoulli") && said.contains("--likelihood auto"), "{said}");
    // An all-zero row has no ratio to others, and no size factor.
    fs::write(dir.join("z.csv"), "a,b,c\n0,0,0\n1,0,2\n40,30,70\n2,1,0\n").unwrap();
    let said = text(&rflvm(&dir, &["doctor", "z.csv"]).stdout);
    assert!(said.contains("row totals differ 47-fold") && said.contains("all zero (1)"), "{said}");
    assert!(!said.lines().last().unwrap().contains("--offset"), "{said}");
    let manual = text(&rflvm(&dir, &["man"]).stdout);
    assert!(manual.contains(".TH") && manual.contains("resume"));
    assert!(text(&rflvm(&dir, &["completions", "bash"]).stdout).contains("complete -F"));
}

/// The commands of the program in the shell blocks of a document, in order. A block after a comment `<!-- not run: REASON -->` is left
/// out; a command anywhere else would not be run, and is an error.
fn commands(document: &str) -> Vec<String> {
    let (mut language, mut is_run, mut before) = (None, true, "");
    let mut found = Vec::new();
    // A backslash at its end joins a line to the next.
    let joined = document.replace("\\\n", " ");
    for line in joined.lines() {
        let start = line.trim_start();
        if let Some(name) = start.strip_prefix("```").or(start.strip_prefix("~~~")) {
            is_run = language.is_some() || !before.starts_with("<!-- not run: ");
            language = if language.is_none() { Some(name.to_string()) } else { None };
        } else if language.is_some() && is_run && start.trim_start_matches("$ ").starts_with("rflvm ") {
            match language.as_deref() {
                Some("sh") if line.starts_with("rflvm ") => {
                    found.push(line.split(" #").next().unwrap_or(line).to_string());
                }
                // Output of a command.
                Some("text") => {}
                _ => panic!("in a block of {language:?}, which nothing runs: {line}"),
            }
        }
        before = line;
    }
    assert!(language.is_none(), "the last block has no end");
    found
}

#[test]
fn commands_that_would_not_be_run_are_refused() {
    let marked = "<!-- not run: it takes hours -->\n```sh\nrflvm b\n```\n\n```sh\nrflvm c\n```\n";
    assert_eq!(commands(marked), ["rflvm c"]);
    assert_eq!(commands("```sh\nrflvm a \\\n  b # c\nmake d\n```\nrflvm e\n```text\nrflvm 1\n```\n"), ["rflvm a    b"]);
    for page in
        ["```bash\nrflvm a\n```\n", "```sh\n$ rflvm a\n```\n", "  ```sh\n  rflvm a\n  ```\n", "```sh\nrflvm a\n"]
    {
        assert!(std::panic::catch_unwind(|| commands(page)).is_err(), "{page}");
    }
}

/// The words of a command; one in quotation marks may have spaces.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('"').enumerate();
    parts.flat_map(|(k, part)| if k % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }).collect()
}

struct Page {
    name: String,
    commands: Vec<String>,
    /// Whether the commands can run without the page's Python, which would write their tables.
    is_alone: bool,
}

/// The pages for users that have commands, with these commands; the README and at least one other page have some.
fn pages() -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let paths = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).chain([root.join("README.md")]);
    let page = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Page { name, commands: commands(&text), is_alone: !text.contains(".to_csv(") }
    };
    let mut pages: Vec<_> = paths.map(page).filter(|page| !page.commands.is_empty()).collect();
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(pages.len() > 1 && pages.iter().any(|page| page.name == "README"));
    pages
}

/// Where the Python package is tested too, its tests run these pages with all their blocks, and once is enough.
#[test]
fn the_commands_of_the_documentation_run() {
    let pages = pages();
    if std::env::var_os("RFLVM_TEST_PYTHON").is_some() {
        return;
    }
    for Page { name: page, commands, .. } in pages.into_iter().filter(|page| page.is_alone) {
        let dir = folder(&format!("page-{page}"));
        for command in commands {
            let output = rflvm(&dir, &words(&command)[1..]);
            assert!(output.status.success(), "{page}: {command}: {}", text(&output.stderr));
        }
    }
}
