"""Things that users stumbled over."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import NESTED, QUICK, estimator

import rflvm


def fit(table, likelihood="poisson", parameters=None, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator(likelihood=likelihood, **{**QUICK, "warmup": 5, "draws": 5, **(parameters or {})}).fit(table, **given)


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(20, 40),
        pd.RangeIndex(0, 40, 2),
        pd.Index([1, *range(30, 49)]),
        pd.date_range("2024-01-01", periods=20),
        pd.MultiIndex.from_product([["a", "b"], range(10)]),
    ],
    ids=["slice", "step", "from one", "dates", "two levels"],
)
def test_an_answer_has_the_index_of_the_fitted_frame(curve, index):
    frame = pd.DataFrame(curve.table[:20, :3].astype(float), columns=list("abc"), index=index)
    frame.iloc[3, 1] = np.nan
    model = fit(frame)
    for answer in (model.impute(), model.predict(), pickle.loads(pickle.dumps(model)).impute()):
        pd.testing.assert_index_equal(answer.index, index)
    pd.testing.assert_frame_equal(model.impute().where(frame.notna()), frame)


def test_places_have_no_index(curve):
    """Even where there are as many places as rows."""
    frame = pd.DataFrame(curve.table[:20, :3], columns=list("abc"), index=[f"cell{n}" for n in range(20)])
    model = fit(frame)
    assert list(model.inverse_transform(model.embedding_).index) == list(range(20))
    assert list(model.predict().index) == list(frame.index)


def test_a_mapping_names_columns_that_are_numbers(curve):
    frame = pd.DataFrame(curve.table[:20, :3])
    families = ["poisson", "negative-binomial", "poisson"]
    assert fit(frame, dict(enumerate(families)))._fit.families == families


def test_a_loaded_fit_has_the_parameters_that_it_was_made_with(tmp_path, curve):
    given = dict(time_kernel="matern32", time_trend=True, inducing=32, store=str(tmp_path / "path"))
    model = fit(curve.table[:20], parameters=given, times=np.arange(20.0))
    loaded = rflvm.load(tmp_path / "path").get_params()
    assert all(loaded[NESTED.get(name, name)] == model.get_params()[NESTED.get(name, name)] == given[name] for name in given)
    fit(curve.table[:20].clip(max=5), "binomial", dict(trials=5, store=tmp_path / "trials"))
    assert rflvm.load(tmp_path / "trials").trials == 5
    assert rflvm.load(tmp_path / "trials").priors is None


def test_priors_reach_the_fit_and_are_found_again(tmp_path, curve):
    table = curve.table[:20]
    plain = fit(table, "gaussian", dict(random_state=1))
    wide = {"noise": {"shape": 30, "rate": np.float32(40.0)}, "zero_inflation": {"mean": -2, "sd": 1}}
    model = fit(table, "gaussian", dict(priors=wide, random_state=1, store=tmp_path / "wide"))
    assert not np.array_equal(plain.embedding_, model.embedding_)
    loaded = rflvm.load(tmp_path / "wide").priors
    assert loaded["noise"] == {"shape": 30.0, "rate": 40.0} and loaded["zero-inflation"]["mean"] == -2
    # The mapping that was found gives the same fit.
    again = fit(table, "gaussian", dict(priors=loaded, random_state=1))
    np.testing.assert_array_equal(model.embedding_, again.embedding_)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_reader_that_has_seen_enough_ends_the_program_quietly():
    program = subprocess.Popen([sys.executable, "-m", "rflvm", "man"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # The reader goes before the program has said anything.
    program.stdout.close()
    complaint = program.stderr.read()
    program.stderr.close()
    program.wait()
    assert complaint == b""
