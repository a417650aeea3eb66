"""One answer per question: the program, Python and the report tell the same numbers."""

import base64
import csv
import io
import json
import re
import subprocess
import sys
import zlib

import numpy as np
import pandas as pd
import pytest

import rflvm

pytestmark = pytest.mark.filterwarnings("ignore")

QUICK = "--features 12 --warmup 20 --draws 30 --chains 2 --seed 1 --threads 2 --quiet".split()
PARTS = ["mean", "sd", "q05", "q50", "q95"]
#: Rows that are placed as new ones, under other names.
NEW = 3


def run(*arguments):
    done = subprocess.run([sys.executable, "-m", "rflvm", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def counts(rng):
    table = pd.DataFrame(rng.poisson(4.0, (24, 4)), columns=list("abcd")).astype("Int64")
    return table.mask(rng.random(table.shape) < 0.15), ["--likelihood", "poisson"]


def mixed(rng):
    along = np.linspace(-2, 2, 30)
    table = pd.DataFrame(
        {
            "size": np.round(np.sin(along) + 0.1 * rng.normal(size=30), 4),
            "seen": rng.poisson(np.exp(1 + along)),
            "alive": (rng.random(30) < 1 / (1 + np.exp(-along))).astype(int),
        }
    ).astype({"seen": "Int64", "alive": "Int64"})
    table = table.mask(rng.random(table.shape) < 0.1)
    return table.assign(name=[f"row {n}" for n in range(30)]), ["--id", "name", "--likelihood", "auto"]


def series(rng):
    days = pd.date_range("2024-01-01", periods=15).strftime("%Y-%m-%d")
    table = pd.DataFrame({"day": [*days, *days], "tank": ["north"] * 15 + ["south"] * 15})
    level = np.sin(np.arange(15) / 3)
    for j, name in enumerate("uvw"):
        table[name] = np.round(np.concatenate([np.roll(level, j), level]) + 0.1 * rng.normal(size=30), 4)
    table.loc[[4, 20], "v"] = np.nan
    return table, ["--time", "day", "--sequence", "tank", "--likelihood", "gaussian"]


@pytest.fixture(scope="module", params=[counts, mixed, series], ids=lambda make: make.__name__)
def fit(request, tmp_path_factory):
    """A fit by the program, the same opened in Python, and the data of its report."""
    folder = tmp_path_factory.mktemp(request.param.__name__)
    table, flags = request.param(np.random.default_rng(3))
    table.to_csv(folder / "table.csv", index=False)
    table.head(NEW).assign(**({"name": ["x", "y", "z"]} if "name" in table else {})).to_csv(folder / "new.csv", index=False)
    run("fit", folder / "table.csv", *flags, *QUICK, "--out", folder / "fit")
    return Fit(folder, table)


class Fit:
    def __init__(self, folder, table):
        self.folder, self.dir, self.table = folder, folder / "fit", table
        self.model = rflvm.load(self.dir)
        page = (self.dir / "report.html").read_text(encoding="utf-8")
        self.page = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.S)[1])
        self.arrays = zlib.decompress(base64.b64decode(re.search(r'<script[^>]*id="arrays"[^>]*>(.*?)</script>', page, re.S)[1]))

    def asked(self, command, *arguments):
        """The answer of a command as columns: from its CSV file and, the same, from its JSON object."""
        file = self.folder / f"{command}.csv"
        run(command, self.dir, *arguments, "--out", file, "--quiet")
        lines = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
        told = json.loads(run(command, self.dir, *arguments, "--json"))["columns"]
        assert [column["name"] for column in told] == list(lines[0]) and all(len(column["values"]) == len(lines) for column in told)
        for column in told:
            cells = [line[column["name"]] for line in lines]
            if all(isinstance(value, str) for value in column["values"]):
                assert cells == column["values"]
            else:
                np.testing.assert_array_equal(numbers(cells), numbers(column["values"]))
        return {column["name"]: column["values"] for column in told}

    def packed(self, array):
        """Single-precision numbers of the page."""
        assert array["kind"] == "f32"
        return np.frombuffer(self.arrays, "<f4", array["count"], array["at"])


def numbers(values):
    return np.array([np.nan if value in ("", None) else float(value) for value in values])


def short(values):
    """Five digits, as on the page."""
    return np.array([float(f"{value:.4e}") for value in np.ravel(values)])


def test_positions(fit):
    lines = list(csv.DictReader(io.StringIO((fit.dir / "embedding.csv").read_text(encoding="utf-8"))))
    axes = range(fit.model.embedding_.shape[1])
    for part, mine in (("x", fit.model.embedding_), ("sd", fit.model.embedding_std_), ("median", fit.model.embedding_median_)):
        np.testing.assert_array_equal(np.column_stack([numbers(line[f"{part}{d + 1}"] for line in lines) for d in axes]), mine)
    shown = fit.page["map"]
    np.testing.assert_array_equal(fit.packed(shown["mean"]), fit.model.embedding_.astype("f4").ravel())
    np.testing.assert_array_equal(fit.packed(shown["sd"]), fit.model.embedding_std_.astype("f4").ravel())


def test_shares_between_modes(fit):
    shares, shown = fit.model.embedding_between_modes_, fit.page["map"]["betweenModes"]
    lines = list(csv.DictReader(io.StringIO((fit.dir / "embedding.csv").read_text(encoding="utf-8"))))
    said = [line for line in run("summary", fit.dir).splitlines() if line.startswith("between modes: ")]
    assert len(fit.model.diagnostics_["modes"]) == 2
    np.testing.assert_array_equal(numbers(line["between_modes"] for line in lines), shares)
    np.testing.assert_array_equal(fit.packed(shown), shares.astype("f4"))
    first = lines[int(np.argmax(shares))]["id"]
    assert said[0].startswith(f"between modes: {(shares > 0.5).sum()} of {len(shares)} rows ") and f": {first} ({shares.max():.2f}), " in said[0]
    assert ((shares >= 0) & (shares < 1)).all() and (shares > 0).any()


def test_missing_cells(fit):
    told = fit.asked("impute")
    written = pd.read_csv(fit.dir / "imputed.csv", float_precision="round_trip")
    rows, columns = numbers(told["row"]).astype(int) - 1, [fit.model.columns_.index(name) for name in told["column"]]
    assert list(written["row"]) == told["row"] and list(written["column"]) == told["column"] and len(rows) > 0
    _, mean, std, lower, upper = fit.model.impute(return_mean=True, return_std=True, return_interval=True)
    np.testing.assert_array_equal(np.asarray(mean)[rows, columns], numbers(told["mean"]))
    np.testing.assert_array_equal(np.asarray(std)[rows, columns], numbers(told["sd"]))
    again = fit.model._completed(fit.model._fit.table())
    for part in PARTS:
        np.testing.assert_array_equal(numbers(told[part]), written[part])
        np.testing.assert_array_equal(numbers(told[part]), again[part][rows, columns])
    cells = fit.page["fit"]["missing"]["cells"]
    assert fit.page["fit"]["missing"]["total"] == len(cells) == len(rows)
    assert [cell[:3] for cell in cells] == [[row, column, None] for row, column in zip(rows, columns)]
    for place, part in ((3, "mean"), (4, "q05"), (5, "q95")):
        np.testing.assert_array_equal([cell[place] for cell in cells], short(numbers(told[part])))


def test_rows_predicted_again(fit):
    told = fit.asked("predict", "--rows", "all")
    mean, std, lower, upper = fit.model.predict(return_std=True, return_interval=True)
    for part, mine in (("mean", mean), ("sd", std), ("q05", lower), ("q95", upper)):
        np.testing.assert_array_equal(numbers(told[part]), np.asarray(mine).ravel())
    shape = np.shape(mean)
    for row, column, _, *shown in fit.page["fit"]["predictions"]:
        place = row * shape[1] + column
        np.testing.assert_array_equal(shown, short([told[part][place] for part in ("mean", "q05", "q95")]))
    places = fit.asked("predict", "--path", "1,2", "--steps", "3")
    x = np.linspace(fit.model.embedding_[0], fit.model.embedding_[1], 3)
    np.testing.assert_allclose(numbers(places["mean"]), np.asarray(fit.model.inverse_transform(x)).ravel(), rtol=1e-9)


def test_forecasts(fit):
    if "day" not in fit.table:
        with pytest.raises(ValueError, match="nothing to forecast"):
            fit.model.forecast(horizon=12)
        assert "forecast" not in fit.page["fit"] or not fit.page["fit"]["forecast"]
        return
    told = fit.asked("forecast", "--horizon", "12")
    mine = fit.model.forecast(horizon=12)
    for part, values in zip(PARTS, (mine.mean, mine.std, mine.lower, mine.median, mine.upper)):
        np.testing.assert_array_equal(numbers(told[part]), values.ravel())
    width = len(fit.model.columns_)
    assert told["time"][::width] == [str(time)[:10] for time in mine.times] and told["sequence"][::width] == mine.sequences
    shown = fit.page["fit"]["forecast"]
    assert [sequence["name"] for sequence in shown] == ["north", "south"]
    for s, sequence in enumerate(shown):
        for j, column in enumerate(sequence["columns"]):
            of = slice(12 * s, 12 * (s + 1))
            for name, values in (("mean", mine.mean), ("low", mine.lower), ("high", mine.upper)):
                np.testing.assert_array_equal(column[name], short(values[of, j]))


def test_new_rows(fit):
    told = fit.asked("transform", fit.folder / "new.csv")
    X = fit.table[list(fit.model.columns_)].head(NEW).astype(float)
    # Names of rows differ, times and sequences are those of the fit.
    given = {"times": list(fit.table["day"][:NEW]), "sequences": list(fit.table["tank"][:NEW])} if "day" in fit.table else {}
    mean, std = fit.model.transform(X, return_std=True, **given)
    for d in range(mean.shape[1]):
        np.testing.assert_array_equal(numbers(told[f"x{d + 1}"]), np.asarray(mean)[:, d])
        np.testing.assert_array_equal(numbers(told[f"sd{d + 1}"]), np.asarray(std)[:, d])
    np.testing.assert_array_equal(numbers(told["outlier_score"]), fit.model.outlier_score(X, **given))
    np.testing.assert_array_equal(numbers(told["log_density"]), fit.model.score_samples(X, **given))


def test_checks(fit):
    told = json.loads(run("check", fit.dir, "--json", "--overwrite"))
    lines = pd.read_csv(fit.dir / "check.csv", dtype={"block": str}, float_precision="round_trip")
    mine, shown = fit.model.check(), fit.page["fit"]["checks"]
    assert told["draws"] == mine.draws == shown["draws"] and len(told["checks"]) == len(mine.statistics) == len(shown["checks"]) > 0
    for i, (line, own, seen) in enumerate(zip(told["checks"], mine.statistics, shown["checks"])):
        assert line["statistic"] == own.name == seen["statistic"] == lines["statistic"][i]
        for part, value in zip(("observed", "mean", "q05", "q95", "p"), (own.observed, own.mean, own.lower, own.upper, own.p_value)):
            assert line[part] == value == seen[part] == lines[part][i]
    assert [line["quantity"] for line in told["conflicts"]] == [conflict.quantity for conflict in mine.conflicts]
    assert told["conflicts"] == shown["conflicts"] or [c["words"] for c in told["conflicts"]] == [c["words"] for c in shown["conflicts"]]


def test_distances_neighbors_and_the_kernel(fit):
    told = fit.asked("distances", "--rows", "1-4")
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    mine = fit.model.distances(pairs)
    for part in (*PARTS, "q25", "q75"):
        np.testing.assert_array_equal(numbers(told[part]), mine[part])
    told, mine = fit.asked("neighbors", "--neighbors", "4"), fit.model.neighbors(4)
    np.testing.assert_array_equal(numbers(told["probability"]), mine["probability"])
    np.testing.assert_array_equal(numbers(told["distance"]), mine["distance"])
    assert told["row"] == [fit.model._fit.ids[n] for n in mine["row"]]
    run("kernel", fit.dir, "--out", fit.folder / "kernel.csv", "--overwrite", "--quiet")
    lines, curves, shown = (
        pd.read_csv(fit.folder / "kernel.csv", float_precision="round_trip"),
        fit.model.kernel_curves()["kernel"],
        fit.page["kernel"]["kernel"],
    )
    for (name, curve), seen in zip(curves.items(), shown):
        own = lines[lines["along"] == name]
        for part, column, key in (("at", "delta", "at"), ("mean", "mean", "mean"), ("lower", "q05", "low"), ("upper", "q95", "high")):
            np.testing.assert_array_equal(curve[part], own[column])
            np.testing.assert_array_equal(seen[key], short(curve[part]))


def test_convergence(fit):
    told, shown = json.loads(run("summary", fit.dir, "--json")), fit.page["trust"]["diagnostics"]
    for part in ("verdict", "words", "draws", "chains", "quantities"):
        assert told[part] == fit.model.diagnostics_[part] == shown[part]
