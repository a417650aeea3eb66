"""Documents and docstrings are in plain English: scripts/dialect.py finds nothing, and would find what it is made for."""

import importlib.util
from pathlib import Path

import pytest

#: Sentences as they were, and as they should be.
CURED = [
    ("One line a cell, with the seconds a sweep.", "One line per cell, with the seconds per sweep."),
    ("500 rows, born on an S.", "500 rows, simulated along an S-shaped curve."),
    ("auto lets those go that the data do not ask for.", "auto prunes axes that the data do not support."),
    ("Positions with hardly a word of uncertainty.", "MAP estimate; conditional standard deviations only."),
    ("Go on with a fit that was stopped, as if it had never been.", "Resume an interrupted fit; draws are identical to an uninterrupted run."),
    ("`summary` tells it in days.", "Length-scales are learned and reported in days."),
    ("the climb had not ended when its rounds were up", "the optimiser reached its iteration limit"),
    ("Every so manieth draw.", "Every `thin`-th draw."),
    ("The share of rows that surprise less.", "Fraction of training rows (leave-one-out) with higher predictive density."),
    ("It says nothing sensible of a count.", "It cannot be interpreted as a count."),
]
#: Good English that resembles the dialect.
GOOD = [
    "The rows a fit has not seen are placed by `transform`.",
    "It draws a second table, once a minute.",
    "Two axes cannot be told apart.",
    "Besides, rows lie within 0.1 of their own means.",
    "What is the latent dimension?",
    "There are so few rows that it matters.",
]


def find_root():
    return next((folder for folder in Path(__file__).resolve().parents if (folder / "scripts" / "dialect.py").is_file()), None)


@pytest.fixture(scope="module")
def dialect():
    root = find_root() or pytest.skip("scripts/dialect.py belongs to the repository, which is not here")
    spec = importlib.util.spec_from_file_location("dialect", root / "scripts" / "dialect.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs",
        "evidence",
        "crates",
        "validation",
        "Makefile",
        "Cargo.toml",
        "pyproject.toml",
        ".github",
    ],
)
def test_nothing_is_left(dialect, path):
    files = list(dialect.files([str(find_root() / path)]))
    assert files
    found = [hit for file in files for hit in dialect.hits(str(file), file.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("old", "new"), CURED)
def test_the_dialect_is_found(dialect, old, new):
    assert list(dialect.hits("page.md", old)), old
    assert not list(dialect.hits("page.md", new))


@pytest.mark.parametrize("sentence", GOOD)
def test_good_english_passes(dialect, sentence):
    assert not list(dialect.hits("page.md", sentence))


def test_phrases_are_found_across_lines_and_named_by_their_first(dialect):
    text = "/// Good.\n/// Every so\n/// manieth draw, one line\n/// a cell.\n"
    assert [hit.split(": ")[0] for hit in dialect.hits("a.rs", text)] == ["a.rs:2", "a.rs:3"]
    assert not list(dialect.hits("a.md", "one line\n\na cell\n\n```text\none line a cell\n```\n"))
    assert not list(dialect.hits("a.py", "old = 'one line a cell'  # dialect: quoted\n"))
