"""The guide is true: its blocks run, in order, as one page."""

import re
import warnings
from pathlib import Path

import pytest


def root():
    """The repository, wherever these tests are run."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "docs" / "python.md").is_file():
            return folder
    pytest.skip("docs/python.md lies above these tests in the repository; it is not there")


def blocks(text):
    """The Python blocks of a page, each with the number of the line before its first."""
    for found in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start(1)), found.group(1)


def run(page, namespace):
    for line, block in blocks(page.read_text(encoding="utf-8")):
        try:
            # Lines of a traceback are those of the page.
            exec(compile("\n" * line + block, str(page), "exec"), namespace)
        except Exception as error:
            pytest.fail(f"{page.name}, block at line {line + 1}: {type(error).__name__}: {error}")


def test_the_guide_runs(tmp_path, monkeypatch):
    for needed in ("matplotlib", "arviz", "pandas", "anndata", "scanpy", "igraph"):
        pytest.importorskip(needed)
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        # Fits as short as those of a page may not converge, and say so.
        warnings.simplefilter("ignore")
        run(root() / "docs" / "python.md", {"__name__": "guide"})
    matplotlib.pyplot.close("all")
    assert (tmp_path / "model.png").stat().st_size > 0


def test_links_of_the_guide_lead_somewhere():
    page = root() / "docs" / "python.md"
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_a_block_that_fails_is_named_by_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n```python\nx = 1\n```\n\n```sh\nfalse\n```\n\n```python\ny = x\nassert y == 2, 'no'\n```\n")
    assert [line for line, _ in blocks(page.read_text())] == [3, 11]
    with pytest.raises(pytest.fail.Exception, match="page.md, block at line 12: AssertionError: no"):
        run(page, {})
