"""One engine: the same draws from Rust, from the program and from Python; one store."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import QUICK, estimator

import rflvm

pytestmark = pytest.mark.filterwarnings("ignore")
RUN = ["--features", "20", "--warmup", "30", "--draws", "30", "--chains", "2", "--init", "pca", "--seed", "1"]


def target(name):
    """What cargo has built for the tests, wherever it builds."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[3] / "target")) / "debug"
    return folder / name


def program(*arguments, folder):
    """The program: the one that cargo built, or the one in the package."""
    own = target("rflvm")
    command = [str(own)] if own.exists() else [sys.executable, "-m", "rflvm"]
    done = subprocess.run([*command, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(table, path):
    np.savetxt(path, table, fmt="%d", delimiter=",", header=",".join(f"y{j}" for j in range(table.shape[1])), comments="")


def draws(folder, name="x"):
    """The chunks of an array of a store, as they lie on disk."""
    return {file.name: file.read_bytes() for file in (Path(folder) / "draws.zarr" / "posterior" / name).iterdir() if file.name[0] != "."}


def test_the_same_seed_gives_the_same_draws_from_all_sides(curve, tmp_path):
    write(curve.table, tmp_path / "table.csv")
    program("fit", "table.csv", "--likelihood", "poisson", *RUN, "--out", "program", "--quiet", folder=tmp_path)
    model = estimator(likelihood="poisson", store=tmp_path / "python", **QUICK).fit(curve.table)
    for name in ("x", "w", "beta", "z", "alpha"):
        assert draws(tmp_path / "program", name) == draws(tmp_path / "python", name), name
    example = target("examples/fit_counts")
    if not example.exists():
        pytest.skip("the Rust example is not built; cargo build -p rflvm --examples")
    subprocess.run([example, "table.csv", "1", "30", "rust"], cwd=tmp_path, check=True)
    rust = np.fromfile(tmp_path / "rust").reshape(2, 30, *model.embedding_.shape)
    assert np.array_equal(rust, model._drawn.draws("posterior/x"))


def test_the_program_reads_what_python_fitted(curve, tmp_path):
    holes = curve.table.copy()
    holes[0, 0] = np.nan
    model = estimator(likelihood="poisson", store=tmp_path / "fit", **QUICK).fit(holes)
    told = json.loads(program("summary", "fit", "--json", folder=tmp_path))
    assert told["verdict"] == model.diagnostics_["verdict"] and told["quantities"] == model.diagnostics_["quantities"]
    program("impute", "fit", "--out", "cells.csv", folder=tmp_path)
    row, column, mean, *_ = (tmp_path / "cells.csv").read_text().splitlines()[1].split(",")
    assert (row, column) == ("1", "1") and float(mean) == model.impute()[0, 0]
    write(curve.table[:3] + 1, tmp_path / "new.csv")
    program("transform", "fit", "new.csv", "--out", "placed.csv", folder=tmp_path)
    placed = np.genfromtxt(tmp_path / "placed.csv", delimiter=",", names=True)
    assert np.array_equal(np.column_stack([placed["x1"], placed["x2"]]), model.transform(curve.table[:3] + 1))


def test_python_reads_what_the_program_fitted(curve, tmp_path):
    write(curve.table, tmp_path / "table.csv")
    program("fit", "table.csv", "--likelihood", "poisson", *RUN, "--out", "fit", "--quiet", folder=tmp_path)
    model = rflvm.load(tmp_path / "fit")
    table = np.genfromtxt(tmp_path / "fit" / "embedding.csv", delimiter=",", names=True)
    assert np.array_equal(np.column_stack([table["x1"], table["x2"]]), model.embedding_)
    assert np.array_equal(np.column_stack([table["sd1"], table["sd2"]]), model.embedding_std_)
    assert np.array_equal(np.column_stack([table["median1"], table["median2"]]), model.embedding_median_)
    assert model.likelihood == "poisson" and model.model.features == 20 and model.seed_ == 1
    assert model.transform(curve.table[:2]).shape == (2, 2)


def test_a_store_can_be_moved_and_loaded_with_all_it_knows(tmp_path):
    import pandas
    from test_tables import mixed_frame

    frame = mixed_frame()
    days = pandas.date_range("2020-01-01", periods=len(frame))
    sequences = ["a", "b"] * (len(frame) // 2)
    model = estimator(likelihood="auto", store=tmp_path / "fit", **QUICK).fit(frame, times=days, sequences=sequences)
    shutil.copytree(tmp_path / "fit", tmp_path / "elsewhere")
    again = rflvm.load(tmp_path / "elsewhere")
    assert again.columns_ == model.columns_ and np.array_equal(again.embedding_, model.embedding_)
    ahead = np.array(["2020-03-01", "2020-03-02"], dtype="datetime64[ns]")
    for fit in (model, again):
        times = fit.forecast(horizon=1).times
        assert times.dtype == ahead.dtype and np.array_equal(times, ahead)
    assert np.array_equal(again.forecast(horizon=2).mean, model.forecast(horizon=2).mean)
    new = frame.iloc[:3]
    assert np.array_equal(
        again.transform(new, times=days[:3], sequences=sequences[:3]), model.transform(new, times=days[:3], sequences=sequences[:3])
    )


def test_threads_do_not_matter(curve):
    one, two = (estimator(likelihood="poisson", n_jobs=n, **QUICK).fit(curve.table) for n in (1, 2))
    assert np.array_equal(one.posterior_["x"], two.posterior_["x"])
    assert np.array_equal(one.transform(curve.table[:3] + 1), two.transform(curve.table[:3] + 1))


def test_the_program_comes_with_the_package():
    done = subprocess.run([sys.executable, "-m", "rflvm", "--version"], capture_output=True, text=True)
    assert done.stdout.split() == ["rflvm", rflvm.__version__] and done.returncode == 0
    done = subprocess.run([sys.executable, "-m", "rflvm", "fit", "none.csv"], capture_output=True, text=True)
    assert done.returncode == 2 and "--out" in done.stderr
