//! All files that state the version agree, and a release has everything it needs.

use std::fs;
use std::path::Path;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The rest of the only line that starts with some words.
fn after(text: &str, words: &str) -> String {
    let found: Vec<_> = text.lines().filter_map(|line| line.strip_prefix(words)).collect();
    assert_eq!(found.len(), 1, "lines that start with `{words}`: {found:?}");
    found[0].trim().to_string()
}

#[test]
fn crates_of_the_workspace_depend_on_each_other_by_this_version() {
    let workspace: toml::Table = read("Cargo.toml").parse().unwrap();
    let dependencies = workspace["workspace"]["dependencies"].as_table().unwrap();
    let own: Vec<_> = dependencies.iter().filter(|(_, given)| given.get("path").is_some()).collect();
    assert!(own.iter().any(|(name, _)| *name == "rflvm"));
    for (name, given) in own {
        assert_eq!(given["version"].as_str(), Some(VERSION), "{name} in Cargo.toml");
    }
    // Members inherit version and paths from the workspace.
    for member in workspace["workspace"]["members"].as_array().unwrap() {
        let name = format!("{}/Cargo.toml", member.as_str().unwrap());
        let manifest: toml::Table = read(&name).parse().unwrap();
        assert_eq!(manifest["package"]["version"]["workspace"].as_bool(), Some(true), "version in {name}");
        assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true), "lints in {name}");
        for (dependency, given) in manifest["dependencies"].as_table().unwrap() {
            assert!(
                given.get("path").is_none(),
                "{dependency} in {name} has a path; write {dependency}.workspace = true"
            );
        }
    }
}

#[test]
fn the_citation_and_the_changelog_have_this_version_with_one_date() {
    let citation = read("CITATION.cff");
    assert_eq!(after(&citation, "version:"), VERSION);
    let changelog = read("CHANGELOG.md");
    assert_eq!(after(&changelog, "## Unreleased"), "");
    assert_eq!(after(&changelog, &format!("## {VERSION} – ")), after(&citation, "date-released:"));
}

#[test]
fn ci_runs_the_test_command_of_the_readme() {
    let ci = read(".ci/run");
    let command = ci.trim_end().lines().last().unwrap();
    let readme = read("README.md");
    let section = readme.split("## Test\n").nth(1).expect("README.md has a section about tests");
    assert!(section.lines().find(|line| !line.is_empty() && !line.starts_with("```")).unwrap().starts_with(command));
}

#[test]
fn python_is_promised_from_the_version_that_the_wheel_is_built_for() {
    let project: toml::Table = read("pyproject.toml").parse().unwrap();
    let promised = project["project"]["requires-python"].as_str().unwrap().trim_start_matches(">=").to_string();
    let feature = format!("\"abi3-py{}\"", promised.replace('.', ""));
    assert!(read("crates/rflvm-py/Cargo.toml").contains(&feature), "{feature}");
    assert!(read("README.md").contains(&format!("the Python package ({promised} or newer)")), "README.md");
    let classifiers = project["project"]["classifiers"].as_array().unwrap();
    let named =
        classifiers.iter().filter_map(|c| c.as_str().unwrap().strip_prefix("Programming Language :: Python :: 3."));
    let named: Vec<String> = named.map(|minor| format!("3.{minor}")).collect();
    assert_eq!(named[0], promised);
    // Each version is tested.
    let tested = read(".github/workflows/test.yml");
    for version in named {
        assert!(tested.contains(&format!("\"{version}\"")), "Python {version} in .github/workflows/test.yml");
    }
}
