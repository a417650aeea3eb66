//! The table of settings, and what is generated from it: docs/settings.md, and the parameters of the Python estimator.
//!
//! `make settings` (`RFLVM_WRITE=1`) regenerates both; without it the tests compare.

use rflvm_study::blocks::Given;
use rflvm_study::config::{ModelConfig, PathConfig, RunConfig};
use rflvm_study::settings::{Group, Kind, Setting, with_families};
use rflvm_study::table::Table;
use rflvm_study::{Config, Error, Fit};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Compares a file with what it should be, or writes it.
fn hold(path: &str, make: impl Fn(&str) -> String) {
    let file = in_repository(path);
    let text = fs::read_to_string(&file).unwrap();
    let wanted = make(&text);
    if std::env::var_os("RFLVM_WRITE").is_some() {
        fs::write(file, wanted).unwrap();
    } else {
        assert!(text == wanted, "{path} does not follow the table of settings; run `make settings`");
    }
}

/// A text with everything between two marks replaced.
fn between(text: &str, start: &str, end: &str, inside: &str) -> String {
    let from = text.find(start).unwrap_or_else(|| panic!("no {start:?}")) + start.len();
    let to = from + text[from..].find(end).unwrap_or_else(|| panic!("no {end:?}"));
    format!("{}{inside}{}", &text[..from], &text[to..])
}

#[test]
fn every_default_is_a_value_within_its_range() {
    let mut names = HashSet::new();
    for setting in Config::table() {
        assert!(names.insert(setting.name.clone()), "{} is defined twice", setting.name);
        if let Some(default) = &setting.default {
            Config::default().set(&setting.name, default.as_ref()).unwrap_or_else(|e| panic!("{}: {e}", setting.name));
            if let (Some((least, most)), Ok(number)) = (setting.range, default.parse::<f64>()) {
                assert!((least..=most).contains(&number), "{}", setting.name);
            }
        }
        assert!(setting.help.len() > 10 && !setting.help.contains("  "), "{}", setting.name);
    }
    assert!(Config::default().set("nonsense", "1".as_ref()).is_err());
    // A value survives being set, written and read again.
    let filled = Config { time: Some("t".into()), ..Config::default() }.filled();
    assert_eq!(Config::parse(&filled.to_toml()).unwrap(), filled);
}

/// As a line of a table.
fn row(setting: &Setting) -> String {
    let name = if setting.name == "table" { "TABLE".to_string() } else { format!("--{}", setting.name) };
    let cell = |text: &str| text.replace('|', "\\|");
    let default = setting.default.clone().or(setting.otherwise.map(String::from)).unwrap_or_default();
    let range = match (setting.kind, setting.range) {
        (Kind::Choice, _) => setting.choices.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        (Kind::Truth, _) => "`true`, `false`".into(),
        (_, Some((least, most))) => format!("{least} to {most}"),
        _ => String::new(),
    };
    let python = setting.python.map_or(String::new(), |name| format!("`{name}`"));
    format!("| `{name}` | {python} | {} | {} | {} |\n", cell(&default), range, cell(&setting.help))
}

#[test]
fn the_page_of_settings_has_them_all() {
    let mut text = String::from("\n");
    let groups = [
        ("The table", Config::describe()),
        ("The model", ModelConfig::describe()),
        ("Paths over time", PathConfig::describe()),
        ("The run", RunConfig::describe()),
    ];
    for (title, settings) in groups {
        text.push_str(&format!(
            "\n### {title}\n\n| flag | Python | default | allowed | meaning |\n|---|---|---|---|---|\n"
        ));
        settings.iter().for_each(|setting| text.push_str(&row(setting)));
    }
    text.push('\n');
    hold("docs/settings.md", |page| between(page, "<!-- settings:begin -->", "<!-- settings:end -->", &text));
}

/// Name, annotation, default, type in words, help.
fn parameters() -> Vec<[String; 5]> {
    let mut all = Vec::new();
    for setting in Config::table() {
        let Some(name) = setting.python else { continue };
        let default = || setting.default.clone().unwrap_or_else(|| "None".into());
        let quoted = |text: &str| format!("\"{text}\"");
        let (annotation, default) = match setting.kind {
            Kind::Whole => ("int", default()),
            Kind::Number => {
                ("float", default().parse::<f64>().map_or_else(|_| default(), |number| format!("{number:?}")))
            }
            Kind::Truth => ("bool", if default() == "true" { "True".into() } else { "False".into() }),
            Kind::Names => {
                let words: Vec<String> = default().split(',').map(quoted).collect();
                ("Sequence[str]", format!("({})", words.join(", ")))
            }
            Kind::Choice => ("str", quoted(&default())),
            Kind::Text | Kind::Path => ("str", default()),
        };
        let default = setting.python_default.map_or(default, String::from);
        let words: Vec<String> = setting.choices.iter().map(|(word, _)| quoted(word)).collect();
        let kind = match setting.kind {
            Kind::Choice => format!("{{{}}}, default={default}", words.join(", ")),
            _ => format!("{annotation}, default={default}"),
        };
        let (kind, help) =
            setting.python_help.map_or((kind, setting.help.clone()), |(k, h)| (k.into(), with_families(h)));
        all.push([name.into(), setting.python_type.unwrap_or(annotation).into(), default, kind, help]);
    }
    // The first two can be given by position.
    let place = |name: &str| ["n_components", "likelihood"].iter().position(|first| *first == name).unwrap_or(2);
    all.sort_by_key(|parameter| place(&parameter[0]));
    for [name, annotation, default, kind, help] in [
        [
            "priors",
            "Optional[Mapping]",
            "None",
            "mapping or None, default=None",
            "Priors, by the names of the table `[priors]` in config.toml, such as `{\"noise\": {\"shape\": 2, \"rate\": 0.5}}`. Those left out have their defaults; see the page \"Priors\" of the documentation.",
        ],
        ["progress", "bool", "True", "bool, default=True", "Whether to show the progress of a fit."],
        [
            "store",
            "Optional[Union[str, os.PathLike]]",
            "None",
            "path or None, default=None",
            "Folder to keep the fit in: draws stream to it, the program `rflvm` reads it, and an interrupted fit can be resumed from it.",
        ],
        [
            "n_features",
            "Any",
            "\"deprecated\"",
            "int",
            "Earlier name of `n_random_features`. Deprecated since version 0.2.",
        ],
        ["start", "Any", "\"deprecated\"", "str", "Earlier name of `init`. Deprecated since version 0.2."],
    ] {
        all.push([name, annotation, default, kind, help].map(String::from));
    }
    all
}

/// A text wrapped into lines.
fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut lines = vec![String::from(indent)];
    for word in text.split_whitespace() {
        let line = lines.last_mut().unwrap();
        if line.len() > indent.len() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("{indent}{word}"));
        } else {
            line.push_str(if line.len() > indent.len() { " " } else { "" });
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[test]
fn the_python_estimator_has_the_settings_as_parameters() {
    let (mut help, mut signature, mut stored) = (String::from("\n"), String::new(), String::new());
    for (i, [name, annotation, default, kind, about]) in parameters().iter().enumerate() {
        help.push_str(&format!("    {name} : {kind}\n{}\n", wrapped(about, "        ", 140)));
        signature.push_str(if i == 2 { "        *,\n" } else { "" });
        signature.push_str(&format!("        {name}: {annotation} = {default},\n"));
        stored.push_str(&format!("        self.{name} = {name}\n"));
    }
    help.push_str("\n    ");
    hold("crates/rflvm-py/python/rflvm/_estimator.py", |source| {
        let source = between(source, "    Parameters\n    ----------", "Attributes\n    ----------", &help);
        let init = format!("\n        self,\n{signature}    ):\n{stored}\n    ");
        between(&source, "    def __init__(", "def fit(", &init)
    });
}

/// A fit of a table in memory with one setting changed; nothing is written.
fn with(name: &str, value: f64) -> Result<Fit, Error> {
    let (rows, columns) = (3, 120);
    let table = Table {
        path: "t".into(),
        columns: (0..columns).map(|j| format!("c{j}")).collect(),
        ids: (0..rows).map(|n| n.to_string()).collect(),
        time: Some((0..rows).map(|n| n.to_string()).collect()),
        values: (0..rows * columns).map(|i| (i % 7) as f64).collect(),
        rows,
        named: true,
        ..Table::default()
    };
    let mut config = Config { likelihood: Some("gaussian".into()), time: Some("t".into()), ..Config::default() };
    config.set(name, value.to_string().as_ref()).map_err(|problem| Error::Config { file: name.into(), problem })?;
    Fit::of(config.filled(), Given::default(), Path::new("nowhere"), |_| Ok(table))
}

#[test]
fn the_engine_holds_to_the_ranges_of_the_table() {
    let ranged: Vec<Setting> = Config::table().into_iter().filter(|setting| setting.range.is_some()).collect();
    assert!(ranged.len() > 5);
    for setting in ranged {
        let (least, most) = setting.range.unwrap();
        for (value, is_allowed) in [(least, true), (most, true), (least - 1.0, false), (most + 1.0, false)] {
            let outcome = with(&setting.name, value);
            assert_eq!(
                outcome.is_ok(),
                is_allowed,
                "{} = {value}: {:?}",
                setting.name,
                outcome.err().map(|e| e.to_string())
            );
        }
    }
}
