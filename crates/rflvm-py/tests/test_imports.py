"""Imports go one way: scripts/imports.py finds no circle, and would find one."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts" / "imports.py"
#: Folders without circles.
CLEAN = (
    "crates/rflvm/src",
    "crates/rflvm-study/src",
    "crates/rflvm-cli/src",
    "crates/rflvm-cuda/src",
    "crates/rflvm-report/src",
    "crates/rflvm-py/src",
    "crates/rflvm-py/python/rflvm",
    "validation/src",
)


def run(*folders):
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, folders)], capture_output=True, text=True)


def test_no_module_imports_itself_through_others():
    done = run(*(ROOT / folder for folder in CLEAN))
    assert done.returncode == 0, done.stdout + done.stderr


PLANTED = {
    "use": {"lib.rs": "mod a;\nmod b;", "a.rs": "use crate::b::{self, Thing};", "b.rs": "use super::a::Other;"},
    "path": {"lib.rs": "mod a;\nmod b;", "a.rs": "fn f() { crate::b::g() }", "b.rs": "use crate::a::f;"},
    "re-export": {
        "lib.rs": "mod m;",
        "m/mod.rs": "mod a;\nmod b;\npub use a::A;\npub use b::B;",
        "m/a.rs": "use super::B;",
        "m/b.rs": "use crate::m::A;",
    },
    "python": {"__init__.py": "from .a import f", "a.py": "from .b import g", "b.py": "def g():\n    from . import a"},
    "absolute": {"__init__.py": "", "a.py": "import pkg.b", "b.py": "from pkg.a import f"},
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_circle_is_found(kind, tmp_path):
    folder = tmp_path / "pkg"
    for name, text in PLANTED[kind].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    done = run(folder)
    assert done.returncode == 1 and "2 modules import each other in a circle" in done.stdout, done.stdout + done.stderr


def test_a_planted_circle_of_folders_is_found(tmp_path):
    files = {"lib.rs": "mod a;\nmod b;", "a/mod.rs": "mod x;\nmod z;", "b/mod.rs": "mod y;\nmod w;"}
    files |= {"a/x.rs": "use crate::b::y::Y;", "a/z.rs": "", "b/y.rs": "", "b/w.rs": "use crate::a::z::Z;"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run(tmp_path)
    assert done.returncode == 1 and "2 folders import each other in a circle" in done.stdout, done.stdout + done.stderr


ONE_WAY = {
    "rust": {
        "lib.rs": "mod a;\nmod b;\npub use a::A;",
        "a.rs": "use crate::b::B;\n// use crate::a::A;",
        "b.rs": "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}",
    },
    "python": {
        "__init__.py": "from .a import f",
        "a.py": "from .b import g",
        "b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import f",
    },
}


@pytest.mark.parametrize("kind", ONE_WAY)
def test_tests_comments_and_type_hints_are_no_arrows(kind, tmp_path):
    for name, text in ONE_WAY[kind].items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_missing_folder_is_an_error(tmp_path):
    assert run(tmp_path / "none").returncode == 2 and run().returncode == 2
