"""Long fits: in the background, stopped, killed, taken up again."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import QUICK, estimator

import rflvm

pytestmark = pytest.mark.filterwarnings("ignore")
LONG = dict(likelihood="poisson", features=20, chains=2, warmup=100, draws=1000, random_state=1, progress=False)


def test_a_fit_in_the_background_is_the_same_fit(curve, fitted):
    handle = estimator(likelihood="poisson", **QUICK).fit(curve.table, blocking=False)
    assert isinstance(handle, rflvm.Handle)
    progress = handle.progress()
    assert progress["of"] == 60 and len(progress["sweeps"]) == 2 and 0 <= progress["done"] <= 1
    model = handle.wait()
    assert handle.done and handle.progress()["done"] == 1 and handle.wait() is model
    assert np.array_equal(model.posterior_["x"], fitted.posterior_["x"])


def test_a_cancelled_fit_keeps_what_it_has_and_goes_on_to_the_same_draws(curve, tmp_path):
    handle = estimator(store=tmp_path / "fit", **LONG).fit(curve.table, blocking=False)
    with pytest.raises(TimeoutError, match="still running"):
        handle.wait(timeout=0.01)
    # Draws count once every chain has them, and chains may run one after another.
    while min(handle.progress()["sweeps"]) < 160:
        time.sleep(0.01)
    handle.cancel()
    with pytest.warns(UserWarning, match="of 1000 draws; continue it with resume"):
        model = handle.wait()
    done = model.posterior_.draws
    assert 0 < done < 1000
    again = rflvm.RFLVM(store=tmp_path / "fit", progress=False).resume()
    assert again.posterior_.draws == 1000
    whole = estimator(**LONG).fit(curve.table)
    for name in ("beta", "lp"):
        assert np.array_equal(again.posterior_[name], whole.posterior_[name])


def test_a_fit_that_was_stopped_at_once_says_so(curve):
    handle = estimator(**{**LONG, "warmup": 100000}).fit(curve.table, blocking=False)
    handle.cancel()
    with pytest.raises(RuntimeError, match="before its first draw"):
        handle.wait()


def test_a_finished_fit_can_be_made_longer(curve):
    short = {**LONG, "draws": 30}
    model = estimator(**short).fit(curve.table)
    model.resume(draws=60)
    whole = estimator(**{**short, "draws": 60}).fit(curve.table)
    assert model.posterior_.draws == 60 and np.array_equal(model.posterior_["w"], whole.posterior_["w"])


def test_other_threads_go_on_while_a_fit_runs(curve):
    """Were the interpreter held by the fit, or by the wait for it, this thread would come to its end only after the fit."""
    handle = estimator(**{**LONG, "draws": 20_000}).fit(curve.table, blocking=False)

    def wait():
        with contextlib.suppress(RuntimeError):
            handle.wait()

    waiting = threading.Thread(target=wait)
    waiting.start()
    for _ in range(50):
        time.sleep(0.001)
    is_running = not handle.done
    handle.cancel()
    waiting.join()
    assert is_running


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_returns_what_is_done(tmp_path):
    # Also where the tests run in the background, and ignore the signal.
    script = (
        "import rflvm, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "table = rflvm.datasets.s_curve(80, 12, seed=3).table\n"
        "model = rflvm.RFLVM(likelihood='poisson', sampling=rflvm.Sampling(chains=2, warmup=5, draws=10**6), random_state=1, progress=False)\n"
        "model.set_params(compute__checkpoint=0.02)\n"
        "model.fit(table, store='fit')\n"
        "print(model.posterior_.draws, model.embedding_.shape, flush=True)\n"
    )
    running = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Once the first draws of both chains are stored.
    drawn = tmp_path / "fit" / "draws.zarr" / "posterior" / "alpha"
    while not all((drawn / first).exists() for first in ("0.0", "1.0")):
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    draws, shape = out.strip().split(" ", 1)
    assert running.returncode == 0 and 0 < int(draws) < 10**6 and shape == "(80, 2)"
    assert "of 1000000 draws; continue it with resume()" in err


def test_a_folder_that_holds_a_fit_is_not_overwritten_unasked(curve, tmp_path):
    model = estimator(likelihood="poisson", store=tmp_path / "fit", **QUICK)
    first = model.fit(curve.table).embedding_
    with pytest.raises(OSError, match="already holds a fit"):
        model.fit(curve.table)
    # A table that cannot be fitted leaves the existing fit untouched.
    with pytest.raises(ValueError, match="whole number"):
        model.fit(curve.table + 0.5, overwrite=True)
    assert np.array_equal(rflvm.load(tmp_path / "fit").embedding_, first)
    model.fit(curve.table[:50], overwrite=True)
    assert len(rflvm.load(tmp_path / "fit").embedding_) == 50


def test_a_fit_can_name_its_own_folder(curve, fitted, tmp_path):
    model = estimator(likelihood="poisson", store=tmp_path / "other", **QUICK).fit(curve.table, store=tmp_path / "fit")
    assert not (tmp_path / "other").exists() and np.array_equal(model.embedding_, fitted.embedding_)
    assert np.array_equal(rflvm.load(tmp_path / "fit").embedding_, fitted.embedding_)


def test_a_nameless_folder_goes_with_its_model(curve):
    model = estimator(likelihood="poisson", **QUICK).fit(curve.table)
    folder = model._folder.path
    assert (folder / "draws.zarr").exists()
    del model
    assert not folder.exists()


def test_the_bar_is_one_line_in_a_terminal_and_lines_elsewhere(capsys):
    from rflvm._progress import Line, describe

    progress = {"done": 0.5, "sweeps": [10, 10], "of": 20, "warming": [True, True], "log_likelihood": [-5.0, -4.0]}
    line = describe(progress, 2.0)
    assert "50%" in line and "2 chains, warming up, 10.0 sweeps/s, 2 s left, log-likelihood -4" in line
    bar = Line()
    bar._is_live = True
    bar.show(progress)
    bar.show(progress, is_last=True)
    assert capsys.readouterr().err.count("\r") == 2
    bar = Line()
    bar._is_live, bar._begun = False, bar._begun - 10
    for _ in range(3):
        bar.show(progress)
    assert capsys.readouterr().err.count("\n") == 1
