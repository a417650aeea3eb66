"""Checks the harness of Tables 1 to 3 on a tiny table, with a stand-in for the program; seconds.

    python evidence/paper/check.py
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import groups
import held
import labelled
import missing
import ours
import report
import rules
import table1
import tables
from cells import Cells
from methods import METHODS
from rows import Rows
from scores import neighbours

#: Stands in for `rflvm fit TABLE … --out DIR …`: positions are the first two columns. It refuses a multinomial.
STAND_IN = """\
#!{python}
import csv, gzip, os, sys
if "multinomial" in sys.argv:
    sys.exit("rflvm: no such family")
out = sys.argv[sys.argv.index("--out") + 1]
os.makedirs(out)
with gzip.open(sys.argv[2], "rt") as table, open(out + "/embedding.csv", "w") as file:
    rows = list(csv.reader(table))[1:]
    csv.writer(file).writerows([["x1", "x2"], *(row[:2] for row in rows)])
"""


def planted(data):
    """A folder of data with 60 days on the bridges, of which weekdays have ten times as many bicycles."""
    rng = np.random.default_rng(1)
    (data / "bridges").mkdir(parents=True)
    lines = ["date,brooklyn,manhattan,williamsburg,queensboro,label"]
    for day in range(60):
        counts = rng.poisson(300 if day % 3 else 30, 4)
        lines.append(f"2017-04-{day},{','.join(map(str, counts))},{int(day % 3 > 0)}")
    (data / "bridges/bridges.csv").write_text("\n".join(lines) + "\n")


def check_neighbours():
    """Labels that the positions tell are found, others by chance; each seed has its own folds."""
    rng = np.random.default_rng(2)
    labels = np.arange(300) % 3
    assert neighbours(rng.normal(size=(300, 2)) + 20 * labels[:, None], labels) == [1.0] * 5
    found = neighbours(rng.normal(size=(300, 2)), labels)
    assert abs(np.mean(found) - 1 / 3) < 0.08 and len(set(found)) > 1


def check_cells(folder):
    """Rows are found again by their settings in any order, from every file of the folder, the latest first."""
    row = {"set": "yale", "method": "pca", "seed": 0, "settings": {"a": 1, "b": 2}}
    here, there = Cells(folder), Cells(folder, "elsewhere")
    here.add(row | {"accuracy": 0.2, "date": "2026-01-01"})
    there.add(row | {"accuracy": 0.3, "date": "2026-01-02", "settings": {"b": 2, "a": 1}})
    assert here.find(row)["accuracy"] == 0.3
    assert here.find(row | {"seed": 1}) is None and here.find(row | {"settings": {"a": 1}}) is None


def check_names():
    """A cell is read again from the name of its file."""
    cell = "mnist", "negative-binomial", 3, {"warmup": 10, "draws": 20, "chains": 1, "amplitude": "learned"}
    assert ours.parse(ours.cell(*cell)) == cell
    assert ours.parse(ours.cell(*cell) + "--kernel=default") == cell
    assert ours.parse("spam--poisson-map-shared--seed=2") == ("spam", "poisson-map-shared", 2, {})
    for wrong in ("mnist--pca--seed=1--warmup=1--draws=1--chains=1", "notes", "mnist--poisson--seed=1"):
        try:
            ours.parse(wrong)
        except (ValueError, KeyError):
            continue
        raise AssertionError(wrong)
    assert ours.estimate("rflvm", "t.npy", "negative-binomial-map", 3, 1, "out")[:7] == ["rflvm", "fit", "t.npy", "--method", "map", "--likelihood", "negative-binomial"]
    assert ours.estimate("rflvm", "t.npy", "poisson-map-shared", 3, 1, "out")[-2:] == ["--amplitude", "shared"]
    assert ours.table("mnist", "gaussian", 3) == "mnist-3-logs" and ours.table("spam", "poisson", 3) == "spam-counts"


def check_forms():
    """Rows without counts are missing to a multinomial; new rows are compared with the medians of the rows seen."""
    assert np.isnan(ours.compositions(np.array([[0.0, 0.0], [0.0, 2.0]]))).tolist() == [[True, True], [False, False]]
    seen, new = np.array([[0.0], [1.0], [2.0]]), np.array([[1.5]])
    assert ours.above(new, seen) == [[1.0]] and ours.above(new) == [[0.0]]


def check_limits():
    """A method that fails says why, and one that takes too long is ended with all that it started."""
    python = [sys.executable, "-c"]
    assert table1.bounded([*python, "raise ValueError('no luck with /a/b/c.csv')"], 1, 1) == "ValueError: no luck with c.csv"
    assert table1.bounded([*python, "pass"], 1, 1) is None
    assert table1.bounded([*python, "import subprocess; subprocess.run(['sleep', '60'])"], 0.01, 1, patience=1) == "no result after 0.01 minutes"
    busy = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'], check=True)"
    assert table1.bounded([*python, busy], 0.02, 1, patience=100) == "more than 0.02 minutes"


def harness(*words):
    """Runs table1.py; what it printed."""
    command = [sys.executable, "-W", "ignore", table1.__file__, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def check_grid(folder):
    """Cells run once, a method that is not known fails in its row alone, and missing data are named."""
    common = ["--data", folder / "data", "--out", folder / "rows", "--sets", "bridges", "yale", "--methods", "pca", "srflvm", "--seeds", 0, 1]
    first = harness(*common)
    assert "bridges pca seed 1: 1.0000" in first.stdout and "yale" in first.stderr and "yale" not in first.stdout
    assert "bridges srflvm seed 0: failed: not found: clone" in first.stdout and "srflvm seed 1" not in first.stdout
    assert harness(*common).stdout == ""
    again = harness(*common, "--again-failed").stdout
    assert "srflvm" in again and "pca" not in again


def check_elsewhere(folder):
    """Tables, command lines and the taking of their results, with a failure."""
    common = ["--data", folder / "data", "--out", folder / "rows", "--sets", "bridges", "--seeds", 0]
    sweeps = ["--warmup", 5, "--draws", 7, "--set", "amplitude=learned"]
    program = folder / "stand-in"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    harness(*common, "--write-tables", folder / "tables")
    lines = harness(*common, *sweeps, "--list-ours").stdout.splitlines()
    assert len(lines) == len(ours.OURS) and sum("--amplitude learned" in line for line in lines) == len(ours.FAMILIES)
    places = {"RFLVM": str(program), "TABLES": str(folder / "tables"), "OUT": str(folder / "left")}
    for line in lines:
        subprocess.run(["bash", "-c", line], env=os.environ | places, stderr=subprocess.DEVNULL)
    stopped = folder / "left" / f"{ours.cell('bridges', 'poisson', 1, {'warmup': 5, 'draws': 7, 'chains': 1})}.time"
    stopped.write_text("rflvm: stopped, with everything saved\n")
    other = harness(*common, "--methods", "pca", "nmf", "--list-others").stdout.splitlines()
    assert len(other) == 2
    places |= {"PYTHON": sys.executable, "DATA": str(folder / "data"), "PEERS": str(folder)}
    subprocess.run(["bash", "-c", other[1]], env=os.environ | places, cwd=Path(table1.__file__).parents[2], check=True)
    taken = harness(*common, "--take", folder / "left", "--machine", "another").stdout
    assert "bridges poisson seed 0: 1.0000" in taken and "bridges multinomial seed 0: failed: rflvm: no such family" in taken
    assert "bridges nmf seed 0: 1.0000" in taken and "poisson seed 1" not in taken
    row = Cells(folder / "rows").find(
        {"set": "bridges", "method": "poisson", "seed": 0, "settings": {"warmup": 5, "draws": 7, "chains": 1, "amplitude": "learned"}}
    )
    assert row["machine"] == "another" and row["rows"] == 60 and row["wall"] > 0
    assert harness(*common, "--take", folder / "left").stdout == ""


def made(method, accuracy, seed=0, failed=None, **settings):
    """A row as the harness keeps it."""
    row = {"set": "bridges", "method": method, "seed": seed, "settings": settings, "rows": 9, "columns": 4, "machine": "one", "date": "2026-01-01"}
    return row | ({"failed": failed} if failed else {"accuracy": accuracy, "accuracies": [accuracy - 0.01 * (seed - k) for k in range(5)], "wall": 1.0, "cpu": 1.0})


def check_report():
    """Which rows the tables show, which cell is bold, and the sentence for a shortfall."""
    sweeps = dict(warmup=10, draws=10, chains=1)
    rows = [made("pca", 0.9, seed=s) for s in range(5)] + [made("poisson", 0.8, **sweeps), made("poisson", 0.7, warmup=5, draws=5, chains=1)]
    rows += [made("poisson", 0.99, amplitude="learned", **sweeps), made("dca", 0, failed="no luck")]
    best, paper = groups.chosen(rows), report.published()
    assert groups.values(best["bridges", "pca"]) == [0.9] * 5
    assert np.isclose(groups.accuracy(best["bridges", "poisson"]), 0.82)
    rebuilt = [made("nmf", 0.5, seed=s) | {"accuracies": [0.5 + 0.04 * s], "sd": 0.03} for s in (0, 1)]
    assert np.isclose(groups.spread(rebuilt), np.hypot(0.02, 0.03))
    lines = {line.split("|")[1].strip(): line.split("|")[2].strip() for line in tables.table1(best, paper).splitlines()}
    assert lines["PCA"] == "**0.900 ± 0.000** (0.847 ± 0.007)" and lines["Poisson RFLVM"] == "0.820 ± 0.014¹ (0.844 ± 0.017)"
    assert groups.complete([made("isomap", 0.5)]) and not groups.complete([made("pca", 0.5)]) and not groups.complete([made("isomap", 0.5) | {"set": "mnist"}])
    assert lines["DCA"].startswith("failed") and lines["NMF"].startswith("not run")
    told = report.shortfalls(best, paper)
    assert "2.4 of the paper's standard deviations below the paper's negative binomial RFLVM" in told and "Of 1 other methods measured, 1 ahead of it: PCA (0.900, by 0.0800 ± " in told and "0 of 1 sets" in told
    assert "By chains alone it is 0 and 0 of 1" in told
    assert "no method is ahead of it by two" not in told
    near = [made("poisson-map", 0.88, seed=s) for s in range(5)] + [made("hpf", value, seed=s) for s, value in enumerate((0.83, 0.86, 0.89, 0.92, 0.95))]
    told = report.shortfalls(groups.chosen([row for row in rows if row["method"] != "pca"] + near), paper)
    assert "On 1 more, Bridges, no method is ahead of it by two standard errors." in told and "HPF (0.890, by 0.0100 ± 0.0212)" in told
    told = report.shortfalls(groups.chosen([*rows, made("poisson-map", 0.95)]), paper)
    assert "Poisson RFLVM, MAP, 0.970, is at or above the paper's" in told and "1 of 1 sets" in told and "By chains alone it is 0 and 0 of 1" in told
    told = report.shortfalls(groups.chosen([*rows, made("poisson-map-shared", 0.95)]), paper)
    assert "every other method measured here on 1 of 1." in told and "With default settings alone it is 0 and 0 of 1" in told
    assert "| 5 + 5 sweeps: 0.720 | 10 + 10 sweeps: 0.820 | +0.100 | 1 |" in tables.sweeps(rows)
    again = [made("poisson", 0.82, seed=1, **sweeps), made("poisson", 0.7, seed=1, warmup=5, draws=5, chains=1)]
    told = tables.sweeps([*rows, *again])
    assert "+0.110 ± 0.010 | 2 |" in told and "1 differ by more than two standard errors: Bridges, Poisson RFLVM." in told
    assert "amplitude learned" in tables.variants(rows) and "no luck" in tables.every(best)


def check_choice(folder):
    """The choice of Table 3 is by validation cells, which no candidate sees, after half the sweeps; a fit that is among the rows is not repeated."""
    rng = np.random.default_rng(3)
    truth, mask = rng.normal(size=(40, 5)), rng.random((40, 5)) < 0.2
    data = argparse.Namespace(y=truth, dim=2, time=np.arange(40))
    y, args, rows = np.where(mask, np.nan, truth), argparse.Namespace(warmup=20, draws=10, chains=1), Rows(folder / "missing.json")
    seen, best = [], "matern32-linear"

    def of_ours(method, data, y, seed, args):
        seen.append((method, args.warmup, int(np.isnan(y).sum())))
        # The other candidates would win by the hidden cells, but not by the validation cells.
        wrong = np.where(mask, method == best, method != best)
        return {"mean": truth + wrong, "sd": np.ones(truth.shape), "own": {"log_density": -1.0, "inside50": 0.5, "inside90": 0.9}}

    real, missing.of_ours = missing.of_ours, of_ours
    try:
        found = missing.of_chosen(["cmu", "1"], data, y, mask, 1, rows, args)
        assert found["chosen"] == best and np.isclose(found["mse"], 1) and found["validation"][best] < 1e-12
        assert [method for method, *_ in seen] == [*missing.CANDIDATES, best]
        assert all(warmup == 10 and holes > mask.sum() for _, warmup, holes in seen[:3]) and seen[3][1:] == (20, mask.sum())
        rows.rows.append({"key": ["cmu", "1", best], "settings": missing.settings(best, args), "mse": 0.7, "log_density": -2, "inside50": 0.4, "inside90": 0.8})
        assert missing.of_chosen(["cmu", "1"], data, y, mask, 1, rows, args)["mse"] == 0.7 and len(seen) == 7
    finally:
        missing.of_ours = real


def check_paired():
    """Leads of Table 3 are over the methods with the most trials, and over the trials that both have."""

    def scored(method, mse):
        return [{"key": ["cmu", str(k + 1), method], "mse": value, "log_density": -value} for k, value in enumerate(mse)]

    told = report.paired(argparse.Namespace(rows=scored("matern32", [0.2, 0.4, 0.3]) + scored("knn", [0.5, 0.5, 0.5]) + scored("static", [0.1]) + scored("ppca", [0.1, 0.1])))
    assert "cmu: MSE of `matern32` less that of `knn` -0.2000 ± 0.0577 (3 trials), log density of `matern32` less that of `knn` +0.2000 ± 0.0577 (3 trials)." in told


def check_published():
    """All 96 numbers of both tables, of sets and methods that exist."""
    found = report.published()
    assert len(found) == 96 and all(name in labelled.SETS and method in {**METHODS, **ours.FAMILIES} for name, method in found)


def check_rules():
    """Distances do not depend on how draws are turned; a rule that chooses takes the chain it says; a table of them has a line for each cell."""
    rng, labels = np.random.default_rng(1), np.repeat([0, 1], 20)
    good = np.where(labels[:, None] == 1, 9.0, 0.0) + rng.normal(size=(40, 2))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    np.testing.assert_allclose(rules.expected(np.array([good, good @ turn + 3.0])), rules.apart(good), atol=1e-9)
    bad = rng.normal(size=(40, 2))

    def chain(x, lp, log_likelihood):
        return {"x": x, "median": good, "draws": np.array([[x, x]]), "lp": np.array([lp]), "log_likelihood": np.array([log_likelihood])}

    # The later ten are denser and separate the labels; the earlier ones are likelier and do not.
    found = rules.accuracies([chain(good, 1.0, 0.0) if i >= 10 else chain(bad, 0.0, 1.0) for i in range(rules.SEEDS)], labels)
    means = {rule: np.mean(values) for rule, values in found["rules"].items()}
    assert means["median"] == means["densest"] == 1.0 and means["mean"] == means["likeliest"] < 0.8 and means["distance"] == means["mean"]
    rows = argparse.Namespace(rows=[{"key": ["bridges", "poisson"], "settings": {"warmup": 1, "draws": 2, "thin": 3}, **found}])
    assert "| Bridges, Poisson | " in report.points(rows) and "1 + 6 sweeps" in report.points(rows)


def check_difference():
    """The corrected interval is wider than the naive one by √(1 + n·test/train)."""
    gap, half = held.difference([0.6, 0.8, 0.7], [0.5, 0.5, 0.6])
    naive = 2.919986 * np.std([0.1, 0.3, 0.1], ddof=1) / np.sqrt(3)
    np.testing.assert_allclose([gap, half], [0.5 / 3, naive * np.sqrt(1 + 3 * 0.25)], rtol=1e-6)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        planted(folder / "data")
        for check in (check_neighbours, check_names, check_forms, check_limits, check_report, check_paired, check_published, check_rules, check_difference):
            check()
        check_cells(folder / "cells")
        check_choice(folder)
        check_grid(folder)
        check_elsewhere(folder)
    print("the harness of Tables 1 to 3 does what it says")


if __name__ == "__main__":
    main()
