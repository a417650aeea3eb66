"""The documentation is true: the code blocks of each page run in order, in a fresh folder, with the program that the package installs.

A block that cannot run here is preceded by a comment that says why: `<!-- not run: REASON -->`.
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

#: Commands in shell blocks that other tests cover, or that run the tests themselves.
ELSEWHERE = ("make", "cargo", "pip")
#: The repository.
ROOT = Path(__file__).resolve().parents[3]
#: The README and all documents, so that a new page cannot be forgotten.
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
GALLERY = sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs" / "gallery").glob("*.md"))
#: Pages of the gallery that are guides to a field; `make site` runs all, and test_site.py the digits.
FIELDS = [f"docs/gallery/{name}.md" for name in ("holes-over-time", "questionnaire", "single-cells", "spike-trains")]
#: The most pages of documentation, besides the gallery.
MOST = 24
#: A fenced block, and the comment before it that says why it is not run.
BLOCK = re.compile(r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?```(?P<language>.*?)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """The fenced blocks of a page that are run: the number of the line before the first, the language, and the code."""
    found = list(BLOCK.finditer(text))
    fences = re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)
    assert len(fences) == 2 * len(found), "a block is not fenced by ``` at the beginning of two lines, and would not be run"
    run = [block for block in found if block["reason"] is None]
    return [(text.count("\n", 0, block.start("code")), block["language"], block["code"]) for block in run]


def commands(block):
    """The commands of a shell block, without comments; a backslash at its end joins a line to the next."""
    return [words for line in block.replace("\\\n", " ").splitlines() if (words := shlex.split(line, comments=True))]


def shell(block):
    """Runs the commands of the program, and returns what they print."""
    said = ""
    assert commands(block), "the block has no command"
    for program, *arguments in commands(block):
        if program == "rflvm":
            done = subprocess.run([sys.executable, "-m", "rflvm", *arguments], capture_output=True, text=True)
            assert done.returncode == 0, f"{shlex.join(['rflvm', *arguments])}: {done.stderr}"
            said += done.stdout
        else:
            assert program in ELSEWHERE, f"nothing runs the command `{program}`"
    return said


def plain(text):
    """The lines of a text without its numbers and its spacing, which differ between machines."""
    return [" ".join(re.sub(r"[-−]?\d[\d.,]*(e[-+]?\d+)?", "#", line).split()) for line in text.splitlines()]


def run(page, namespace):
    """Runs a page; a failure is named by its line."""
    said = None
    for line, language, block in blocks(page.read_text(encoding="utf-8")):
        try:
            if language == "python":
                # Lines of a traceback are those of the page.
                exec(compile("\n" * line + block, str(page), "exec"), namespace)
            elif language == "sh":
                said = shell(block)
            elif language == "text":
                assert said is not None, "no command has printed anything"
                missing = [line for line in plain(block) if line not in plain(said)]
                assert not missing, f"the block above does not print {missing[0]!r} but {plain(said)}"
            else:
                # The README's block in Rust is a test of the library's own documentation.
                assert (language, page.name) == ("rust", "README.md"), f"nothing runs blocks of {language!r}"
        except Exception as error:
            pytest.fail(f"{page.name}, block at line {line + 1}: {type(error).__name__}: {error}")


@pytest.mark.parametrize("page", PAGES + FIELDS)
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    for needed in ("matplotlib", "arviz", "xarray", "zarr", "pandas", "anndata", "scanpy", "igraph"):
        pytest.importorskip(needed)
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        # Fits as short as those of a page may not converge, and say so.
        warnings.simplefilter("ignore")
        run(ROOT / page, {"__name__": "page"})
    matplotlib.pyplot.close("all")
    if page == "docs/python.md":
        assert (tmp_path / "model.png").stat().st_size > 0
    if page == "README.md":
        import rflvm

        assert rflvm.load("fit").diagnostics_["verdict"] == "converged", "the README ends with a fit that has converged"


def anchors(page):
    """The names by which GitHub links to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_blocks_that_would_not_be_seen_are_refused():
    for text in ("- a list\n\n  ```sh\n  rflvm fit\n  ```\n", "~~~sh\nrflvm fit\n~~~\n", "```sh\nrflvm fit\n"):
        with pytest.raises(AssertionError, match="would not be run"):
            blocks(text)


def test_the_tour_has_blocks_for_the_program_for_python_and_for_rust():
    """So that a page that lost its blocks, or was moved, does not pass for one that runs."""
    for page, languages in {"README.md": {"sh", "python", "rust"}, "docs/python.md": {"sh", "python"}}.items():
        assert languages <= {language for _, language, _ in blocks((ROOT / page).read_text(encoding="utf-8"))}, page


@pytest.mark.parametrize("page", [*PAGES, *GALLERY, "CHANGELOG.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page):
    path = ROOT / page
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", path.read_text(encoding="utf-8")):
        # Pictures and reports of the gallery are made with the site.
        if target.startswith("http") or page in GALLERY and target.startswith(f"{path.stem}/"):
            continue
        file = path.parent / target if target else path
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def test_there_are_not_too_many_pages_and_each_is_in_the_index_and_on_the_site():
    names = {Path(page).name for page in PAGES if page.startswith("docs/")}
    assert len(names) <= MOST
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for name in names - {"README.md"}:
        assert f"]({name})" in index, f"docs/README.md has no link to {name}"
        assert f"- {name}\n" in site, f"mkdocs.yml does not name {name}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/") and page != "docs/api.md"])
def test_a_page_opens_with_what_is_done(page):
    """A block of code, or the picture, within the first lines."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith(("```", "!["))), len(lines))
    assert first <= 12, f"{page} begins with {first} lines of text"


def test_a_block_that_fails_is_named_by_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n```python\nx = 1\n```\n\n```sh\nmake it\n```\n\n```python\ny = x\nassert y == 2, 'no'\n```\n")
    assert [line for line, _, _ in blocks(page.read_text())] == [3, 7, 11]
    with pytest.raises(pytest.fail.Exception, match="page.md, block at line 12: AssertionError: no"):
        run(page, {})
    for text, sentence in [
        ("```bash\nrflvm\n```\n", "nothing runs blocks of 'bash'"),
        ("```rust\nfn main() {}\n```\n", "nothing runs blocks of 'rust'"),
        ("```sh\n# rflvm --version\n```\n", "the block has no command"),
        ("```text\nrflvm 0.2\n```\n", "no command has printed anything"),
        ("```sh\nrflvm fit none.csv --out x\n```\n", "line 2: AssertionError: rflvm fit none.csv"),
        ("```sh\ncurl x\n```\n", "nothing runs the command `curl`"),
        (
            "<!-- not run: it needs a network -->\n```sh\ncurl x\n```\n\n```sh\ncurl y\n```\n",
            "line 7: AssertionError: nothing runs the command `curl`",
        ),
        ("```sh\nrflvm --version\n```\n\n```text\nrflvm 7.8\n```\n\n```text\nother 1\n```\n", "does not print 'other #'"),
    ]:
        page.write_text(text)
        with pytest.raises(pytest.fail.Exception, match=re.escape(sentence)):
            run(page, {})


def extras_of(text):
    """The extras that the lines `pip install` of a page name."""
    return {extra for found in re.findall(r'pip install "?\.\[([a-z,]+)\]', text) for extra in found.split(",")}


def test_extras_that_are_named_exist():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for page in PAGES:
        assert extras_of((ROOT / page).read_text(encoding="utf-8")) <= set(known), page
    assert extras_of((ROOT / "README.md").read_text(encoding="utf-8"))
    assert extras_of((ROOT / "docs" / "python.md").read_text(encoding="utf-8")) == set(known)


def test_what_readme_installs_runs_its_first_block(tmp_path):
    """In an environment that contains only what the README tells you to install."""
    wheels = sorted((Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "wheels").glob("rflvm-*.whl"))
    if not wheels:
        pytest.skip("the wheel is not built; maturin build --out target/wheels")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "clean"], check=True)
    python = tmp_path / "clean" / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = f"{wheels[-1]}[{','.join(sorted(extras_of(readme)))}]"
    install = [python, "-m", "pip", "install", "--quiet", "--retries", "1", "--only-binary", ":all:", wanted]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode and "connection" in done.stderr.lower():
        pytest.skip("there is no package index to install from")
    assert done.returncode == 0, done.stderr
    block = next(text for _, language, text in blocks(readme) if language == "python")
    done = subprocess.run([python, "-c", block], cwd=tmp_path, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The program is there too.
    done = subprocess.run([python.parent / "rflvm", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("rflvm ")
