//! The table of settings, and what is generated from it: docs/settings.md, and the parameters and groups of the Python estimator.
//!
//! `make settings` (`RFLVM_WRITE=1`) regenerates them; without it the tests compare.

use rflvm_study::blocks::Given;
use rflvm_study::config::Section;
use rflvm_study::settings::{Kind, Setting, with_families};
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
fn row(section: &Section, setting: &Setting) -> String {
    let name = if setting.name == "table" { "TABLE".to_string() } else { format!("--{}", setting.name) };
    let cell = |text: &str| text.replace('|', "\\|");
    let range = match (setting.kind, setting.range) {
        (Kind::Choice, _) => setting.choices.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        (Kind::Truth, _) => "`true`, `false`".into(),
        (_, Some((least, most))) => format!("{least} to {most}"),
        _ => String::new(),
    };
    let python = match (setting.python, section.class) {
        (Some(name), Some((class, _))) if !setting.is_parameter => format!("`{class}({name}=…)`"),
        (Some(name), _) => format!("`{name}`"),
        (None, _) => String::new(),
    };
    let default = cell(setting.shown_default().unwrap_or_default());
    format!("| `{name}` | {python} | {default} | {range} | {} |\n", cell(&setting.help))
}

#[test]
fn the_page_of_settings_has_them_all() {
    let mut text = String::from("\n");
    for section in Section::all() {
        let about = match (section.name, section.class) {
            ("", _) | (_, None) => String::new(),
            (name, Some((class, about))) => {
                format!("`[{name}]` in `config.toml`, and `{name}=rflvm.{class}(…)` in Python. {about}.\n\n")
            }
        };
        text.push_str(&format!(
            "\n### {}\n\n{about}| flag | Python | default | allowed | meaning |\n|---|---|---|---|---|\n",
            section.title
        ));
        section.settings.iter().for_each(|setting| text.push_str(&row(&section, setting)));
    }
    text.push('\n');
    hold("docs/settings.md", |page| between(page, "<!-- settings:begin -->", "<!-- settings:end -->", &text));
}

/// A parameter of Python.
struct Parameter {
    name: String,
    annotation: String,
    default: String,
    kind: String,
    help: String,
}

impl Parameter {
    fn of(setting: &Setting) -> Option<Self> {
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
        let annotation = setting.python_type.unwrap_or(annotation).into();
        Some(Parameter { name: setting.python?.into(), annotation, default, kind, help })
    }
}

/// The parameters of the estimator itself, in their order: the first two can be given by position.
fn parameters() -> Vec<Parameter> {
    let own = Section::all().into_iter().flat_map(|section| section.settings);
    let mut own: Vec<Parameter> =
        own.filter(|setting| setting.is_parameter).filter_map(|s| Parameter::of(&s)).collect();
    let groups = Section::all().into_iter().filter_map(|section| section.class.map(|class| (section, class)));
    own.extend(groups.map(|(section, (class, about))| {
        let names: Vec<&str> =
            section.settings.iter().filter(|s| !s.is_parameter).filter_map(|setting| setting.python).collect();
        let (annotation, default) = (format!("Optional[{class}]"), "None".into());
        let help =
            format!("{}: {}", about.to_lowercase().split([',', ';']).next().unwrap_or_default(), names.join(", "));
        Parameter { name: section.name.into(), annotation, default, kind: format!("`{class}`"), help }
    }));
    for [name, annotation, default, kind, help] in [
        [
            "priors",
            "Optional[Mapping]",
            "None",
            "mapping",
            "as in `[priors]` of config.toml; numbers left out have their defaults",
        ],
        ["progress", "bool", "True", "bool", "whether to show the progress of a fit"],
        [
            "store",
            "Optional[Union[str, os.PathLike]]",
            "None",
            "path",
            "folder to keep the fit in, for `resume`, `rflvm.load` and the program",
        ],
    ] {
        let [name, annotation, default, kind, help] = [name, annotation, default, kind, help].map(String::from);
        own.push(Parameter { name, annotation, default, kind, help });
    }
    const ORDER: [&str; 13] = [
        "latent_dim",
        "likelihood",
        "trials",
        "offset",
        "model",
        "paths",
        "sampling",
        "compute",
        "priors",
        "random_state",
        "n_jobs",
        "progress",
        "store",
    ];
    own.sort_by_key(|parameter| ORDER.iter().position(|name| *name == parameter.name));
    assert!(own.iter().map(|parameter| &parameter.name[..]).eq(ORDER), "few parameters, each with its place");
    own
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
    for (i, Parameter { name, annotation, default, kind, help: about }) in parameters().iter().enumerate() {
        help.push_str(&format!("    {name} : {kind}; {about}\n"));
        signature.push_str(if i == 2 { "        *,\n" } else { "" });
        signature.push_str(&format!("        {name}: {annotation} = {default},\n"));
        stored.push_str(&format!("        self.{name} = {name}\n"));
    }
    help.push_str("\n    ");
    hold("crates/rflvm-py/python/rflvm/_estimator.py", |source| {
        let source = between(source, "    Parameters\n    ----------", "Attributes\n    ----------", &help);
        let init = format!(
            "\n        self,\n{signature}        **earlier: Any,\n    ):\n{stored}        self._rename(earlier)\n\n    "
        );
        between(&source, "    def __init__(", "def fit(", &init)
    });
}

#[test]
fn python_has_the_groups_of_settings() {
    let mut classes = String::from("\n");
    for section in Section::all() {
        let Some((class, about)) = section.class else { continue };
        let (mut help, mut fields) = (String::new(), String::new());
        let own = section.settings.iter().filter(|setting| !setting.is_parameter);
        for Parameter { name, annotation, default, kind, help: about } in own.filter_map(Parameter::of) {
            help.push_str(&format!("    {name} : {kind}\n{}\n", wrapped(&about, "        ", 140)));
            fields.push_str(&format!("    {name}: {annotation} = {default}\n"));
        }
        classes.push_str(&format!(
            "\n\n@dataclass(repr=False, kw_only=True)\nclass {class}(Group):\n    \"\"\"{about}.\n\n    Parameters\n    ----------\n{help}    \
             \"\"\"\n\n{fields}"
        ));
    }
    hold("crates/rflvm-py/python/rflvm/_groups.py", |source| {
        let mark = "# From here on written by `make settings`.";
        format!("{}{mark}{classes}", &source[..source.find(mark).unwrap()])
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
