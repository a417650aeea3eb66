"""Progress in a notebook is a widget; elsewhere it is a line."""

import sys
import types

import pytest

from rflvm import _progress

CODE = """
import warnings
warnings.simplefilter("ignore")
import rflvm
curve = rflvm.datasets.s_curve(40, 6)
model = rflvm.RFLVM(likelihood="poisson", sampling=rflvm.Sampling(chains=2, warmup=20, draws=20), random_state=1).fit(curve.table)
"""


def test_a_notebook_shows_a_widget_that_ends_full(tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("ipywidgets")
    # The kernel is this Python, whatever others are installed.
    kernel = tmp_path / "jupyter" / "kernels" / "here"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(__import__("json").dumps({"argv": command, "display_name": "here", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CODE)])
    nbclient.NotebookClient(book, timeout=None, kernel_name="here").execute()
    outputs = book.cells[0]["outputs"]
    assert [output["output_type"] for output in outputs] == ["display_data"], outputs
    assert "application/vnd.jupyter.widget-view+json" in outputs[0]["data"]
    states = [held["state"] for held in book.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()]
    (bar,) = [state for state in states if state.get("_model_name") == "FloatProgressModel"]
    (words,) = [state for state in states if state.get("_model_name") == "HTMLModel"]
    assert bar["value"] == 1.0 and bar["bar_style"] == "success" and "2 chains" in words["value"]


def test_without_ipywidgets_a_notebook_has_the_line(monkeypatch):
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert _progress.in_notebook() and isinstance(_progress.bar(), _progress.Line)


def test_terminals_have_the_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace()))
    assert not _progress.in_notebook() and isinstance(_progress.bar(), _progress.Line)
