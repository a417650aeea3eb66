"""Comparisons of several ways to fit a table."""

import csv
import subprocess
import sys

import numpy as np
import pytest
from conftest import estimator

import rflvm

pytestmark = pytest.mark.filterwarnings("ignore")
SHORT = dict(likelihood="poisson", features=8, warmup=15, draws=15, chains=2, random_state=3, progress=False)


@pytest.fixture(scope="module")
def table(curve):
    table = np.array(curve.table[:24, :6], dtype=float)
    table[3, 2] = np.nan
    return table


def scores(comparison):
    """All that does not depend on the machine."""
    return [{name: value for name, value in line.items() if name != "seconds"} for line in comparison.candidates]


def test_candidates_are_ranked_as_by_the_program(table, tmp_path):
    lists = dict(latent_dims=[1, 2], likelihoods=["poisson", "negative-binomial"])
    comparison = rflvm.compare(estimator(**SHORT), table, **lists, loo=True)
    rows = [["" if np.isnan(cell) else str(int(cell)) for cell in row] for row in table]
    with open(tmp_path / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([list("abcdef"), *rows])
    flags = "--latent-dims 1,2 --likelihoods poisson,negative-binomial --loo --features 8 --warmup 15 --draws 15 --chains 2 --seed 3 -q"
    # In a separate process, which handles signals as the program does.
    program = [sys.executable, "-m", "rflvm", "compare", str(tmp_path / "t.csv"), "--out", str(tmp_path / "o")]
    subprocess.run([*program, *flags.split()], check=True)
    with open(tmp_path / "o" / "compare.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 4
    for line, other in zip(comparison.candidates, lines):
        for name in ("latent_dim", "features", "elpd", "se", "difference", "loo_elpd", "ess", "r_hat"):
            assert line[name] == float(other[name]), name
        assert (line["likelihood"], str(line["recommended"]).lower()) == (other["likelihood"], other["recommended"])
    assert comparison.recommended in comparison.candidates and comparison.recommended["recommended"]
    assert "recommended: D = " in repr(comparison) and "negative-binomial" in repr(comparison)
    assert comparison.to_pandas().shape == (4, len(comparison.candidates[0]))


def test_scores_do_not_depend_on_threads_and_folds_hold_out_every_cell(table):
    one, two = (rflvm.compare(estimator(**SHORT, n_jobs=jobs), table, latent_dims=[1, 2], folds=2) for jobs in (1, 2))
    assert scores(one) == scores(two)


def test_mixed_tables_covariates_and_times(table, rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": rng.normal(size=24), "b": rng.poisson(3, 24), "c": rng.choice(list("xy"), 24)})
    how = dict(SHORT, likelihood="auto")
    compared = rflvm.compare(estimator(**how), frame, latent_dims=[1, 2], covariates={"batch": rng.choice(["p", "q"], 24)})
    assert {line["latent_dim"] for line in compared.candidates} == {1, 2}
    assert len(rflvm.compare(estimator(**SHORT), table, times=np.arange(24.0)).candidates) == 1
    binomial = rflvm.compare(estimator(**dict(SHORT, likelihood="binomial")), table, trials=np.full(table.shape, 99))
    assert binomial.candidates[0]["likelihood"] == "binomial"


def test_what_is_wrong_is_said(table):
    model = estimator(**SHORT)
    with pytest.raises(TypeError, match="latent_dims is 2, but it must be a list"):
        rflvm.compare(model, table, latent_dims=2)
    with pytest.raises(ValueError, match="kernels is empty"):
        rflvm.compare(model, table, kernels=[])
    with pytest.raises(ValueError, match="latent_dims is 1,1, but it names 1 twice"):
        rflvm.compare(model, table, latent_dims=[1, 1])
    with pytest.raises(ValueError, match="unknown kernel 'linear'; choose one of learned, rbf"):
        rflvm.compare(model, table, kernels=["learned", "linear"])
    with pytest.raises(ValueError, match="unknown likelihood 'poison'"):
        rflvm.compare(model, table, likelihoods=["poison"])
    with pytest.raises(ValueError, match="folds is 0, but it must be at least 1"):
        rflvm.compare(model, table, folds=0)
    with pytest.raises(ValueError, match="held_out is 0.2, but several folds"):
        rflvm.compare(model, table, folds=2, held_out=0.2)
    with pytest.raises(ValueError, match="as bernoulli: "):
        rflvm.compare(model, table, likelihoods=["poisson", "bernoulli"])
    with pytest.raises(ValueError, match="loo is given, but rows with times share a path"):
        rflvm.compare(model, table, times=np.arange(24.0), loo=True)
    with pytest.raises(TypeError, match="must be a dask.distributed.Client|needs Dask|distributed"):
        rflvm.compare(model, table, client="tcp://localhost:8786")
