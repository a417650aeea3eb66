"""The walks through the code in CONTRIBUTING.md name what exists, and the library shows the names that its front page explains."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOKEN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w./-]+/[\w.-]+\.(?:rs|py)")


def walks(text):
    return re.search(r"^## Three walks.*?(?=^## )", text, re.M | re.S).group()


def found(path, crate):
    """A file by its path, or by its path below the sources of the crate named last."""
    return next((place for place in (ROOT / path, ROOT / crate / path) if place.is_file()), None)


def faults(text):
    """Files that do not exist, and functions that their files do not define."""
    crate, file, end, wrong = "", None, 0, []
    for match in TOKEN.finditer(text):
        token, follows = match.group(1), re.fullmatch(r"[\s(,]*", text[end : match.start()]) is not None
        end = match.end()
        if PATH.fullmatch(token):
            crate = token.split("/src/")[0] + "/src" if "/src/" in token else crate
            file = found(token, crate)
            wrong += [] if file else [token]
        elif file is not None and follows and re.fullmatch(r"\w+", token):
            if not re.search(rf"\b(?:fn|def) {token}\b", file.read_text(encoding="utf-8")):
                wrong.append(f"{file.name}: {token}")
        else:
            file = None
    return wrong


def test_the_walks_name_files_and_functions_that_exist():
    text = walks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert faults(text) == []
    assert len(text.splitlines()) <= 40
    assert len(PATH.findall(text)) > 20


def test_a_walk_to_nowhere_is_found():
    assert faults("`crates/rflvm/src/run/sweep.rs` (`sweep`, `swept`) and `run/chain.rs` (`advance`)") == ["sweep.rs: swept"]
    assert faults("`crates/rflvm/src/run/swap.rs` (`sweep`)") == ["crates/rflvm/src/run/swap.rs"]


#: What a user of the library sees, in the order in which a fit uses it. A new name belongs here and in an example of the front page.
FRONT = """
    Mat Observations Offset Options Times fit
    Amplitude Family Gaussian HalfT Kernel Model ModelSpec Poisson Priors TimeKernel TimeSpec Trials family
    Draw Draws Init Memory Settings run
    Check Convergence Embedding Imputed NewTime Outcome Points Posterior Predicted Transformed
    Density Generic Stream StreamRng Theta affine_r2 s_curve
    DataError NumericalError RunError SpecError StoreError
""".split()


def test_the_library_shows_these_names_and_an_example_of_each():
    text = (ROOT / "crates/rflvm/src/lib.rs").read_text(encoding="utf-8")
    front = text.split("pub mod internal")[0]
    shown = [name for tree in re.findall(r"^pub use ([^;]+);", front, re.M) for name in re.findall(r"\w+", tree.split("::")[-1])]
    assert sorted(shown) == sorted(FRONT)
    assert re.findall(r"^pub (?!use)\w+ \w+", text, re.M) == ["pub mod internal"], "modules are internal"
    blocks = re.findall(r"^//! ```\n(.*?)^//! ```$", text, re.M | re.S)
    examples = "\n".join(blocks)
    assert [name for name in FRONT if not re.search(rf"\b{name}\b", examples)] == []
    assert len(blocks) <= 12 and "```no_run" not in text and "```ignore" not in text
