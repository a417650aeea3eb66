"""The documentation is true: the code blocks of each page run in order, in a fresh folder, with the program that the package installs.

A block that cannot run here is preceded by a comment that says why: `<!-- not run: REASON -->`.
"""

import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

#: Commands in shell blocks that other tests cover, or that run the tests themselves.
ELSEWHERE = ("make", "cargo", "pip")
#: A fenced block, and the comment before it that says why it is not run.
BLOCK = re.compile(r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?```(?P<language>.*?)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def find_root():
    """The repository, wherever these tests are run; None outside of it."""
    return next((folder for folder in Path(__file__).resolve().parents if (folder / "docs" / "python.md").is_file()), None)


def root():
    """The repository."""
    return find_root() or pytest.skip("docs/python.md belongs to the repository, which is not here")


def pages():
    """The README and all documents, so that a new page cannot be forgotten."""
    folder = find_root()
    return [] if folder is None else ["README.md", *sorted(f"docs/{page.name}" for page in (folder / "docs").glob("*.md"))]


PAGES = pages()


def blocks(text):
    """The fenced blocks of a page that are run: the number of the line before the first, the language, and the code."""
    for found in BLOCK.finditer(text):
        if found["reason"] is None:
            yield text.count("\n", 0, found.start("code")), found["language"], found["code"]


def commands(block):
    """The commands of a shell block, without comments; a backslash at its end joins a line to the next."""
    return [words for line in block.replace("\\\n", " ").splitlines() if (words := shlex.split(line, comments=True))]


def shell(block):
    """Runs the commands of the program, and returns what they print."""
    said = ""
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
    said = ""
    for line, language, block in blocks(page.read_text(encoding="utf-8")):
        try:
            if language == "python":
                # Lines of a traceback are those of the page.
                exec(compile("\n" * line + block, str(page), "exec"), namespace)
            elif language == "sh":
                said = shell(block)
            elif language == "text":
                missing = [told for told in plain(block) if told not in plain(said)]
                assert not missing, f"the block above does not print {missing[0]!r} but {plain(said)}"
            else:
                # The block in Rust is a test of the library's own documentation.
                assert language == "rust", f"nothing runs blocks of {language!r}"
        except Exception as error:
            pytest.fail(f"{page.name}, block at line {line + 1}: {type(error).__name__}: {error}")


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    for needed in ("matplotlib", "arviz", "xarray", "zarr", "pandas", "anndata", "scanpy", "igraph"):
        pytest.importorskip(needed)
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        # Fits as short as those of a page may not converge, and say so.
        warnings.simplefilter("ignore")
        run(root() / page, {"__name__": "page"})
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


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    path = root() / page
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", path.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        file = path.parent / target if target else path
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def test_a_block_that_fails_is_named_by_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n```python\nx = 1\n```\n\n```sh\nmake it\n```\n\n```python\ny = x\nassert y == 2, 'no'\n```\n")
    assert [line for line, _, _ in blocks(page.read_text())] == [3, 7, 11]
    with pytest.raises(pytest.fail.Exception, match="page.md, block at line 12: AssertionError: no"):
        run(page, {})
    for text, sentence in [
        ("```bash\nrflvm\n```\n", "nothing runs blocks of 'bash'"),
        ("```sh\nrflvm fit none.csv --out x\n```\n", "line 2: AssertionError: rflvm fit none.csv"),
        ("```sh\ncurl x\n```\n", "nothing runs the command `curl`"),
        ("<!-- not run: it needs a network -->\n```sh\ncurl x\n```\n\n```sh\ncurl y\n```\n", "line 7: AssertionError: nothing runs the command `curl`"),
        ("```sh\nrflvm --version\n```\n\n```text\nrflvm 7.8\n```\n\n```text\nother 1\n```\n", "does not print 'other #'"),
    ]:
        page.write_text(text)
        with pytest.raises(pytest.fail.Exception, match=re.escape(sentence)):
            run(page, {})


def extras_of(text):
    """The extras that the lines `pip install` of a page name."""
    return {extra for found in re.findall(r'pip install "?\.\[([a-z,]+)\]', text) for extra in found.split(",")}


def test_extras_that_are_named_exist():
    tomllib = pytest.importorskip("tomllib")
    known = tomllib.loads((root() / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for page in PAGES:
        assert extras_of((root() / page).read_text(encoding="utf-8")) <= set(known), page
    assert extras_of((root() / "README.md").read_text(encoding="utf-8"))
    assert extras_of((root() / "docs" / "python.md").read_text(encoding="utf-8")) == set(known)


def test_what_readme_installs_runs_its_first_block(tmp_path):
    """In an environment that contains only what the README tells you to install."""
    wheels = sorted((Path(os.environ.get("CARGO_TARGET_DIR", root() / "target")) / "wheels").glob("rflvm-*.whl"))
    if not wheels:
        pytest.skip("the wheel is not built; maturin build --out target/wheels")
    readme = (root() / "README.md").read_text(encoding="utf-8")
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
