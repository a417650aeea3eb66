"""Bad input: one sentence, of the right kind."""

import numpy as np
import pytest
from conftest import QUICK

import rflvm


@pytest.mark.parametrize(
    "given, kind, words",
    [
        (dict(likelihood="poison"), ValueError, "there is no likelihood 'poison'; known are gaussian, poisson"),
        (dict(n_components=0), ValueError, "n_components is 0, but it must be between 1 and 12, the number of columns"),
        (dict(n_components=2.5), TypeError, "n_components is 2.5, but it must be a whole number"),
        (dict(n_components="automatic"), ValueError, "automatic"),
        (dict(n_features=7), ValueError, "n_features is 7"),
        (dict(kernel="matern"), ValueError, "there is no kernel 'matern'; known are learned, rbf"),
        (dict(length_scale="long"), TypeError, "length_scale is 'long', but it must be a number"),
        (dict(amplitude=-1.0), ValueError, "amplitude"),
        (dict(offset="sizes"), ValueError, "offset is 'sizes', but it must be None or 'size-factors'"),
        (dict(draws=0), ValueError, "draws is 0"),
        (dict(draws="many"), TypeError, "draws is 'many', but it must be a whole number"),
        (dict(warmup=-1), ValueError, "warmup is -1, but it must not be negative"),
        (dict(chains=0), ValueError, "chains is 0"),
        (dict(n_jobs=0), ValueError, "n_jobs is 0"),
        (dict(random_state=-4), ValueError, "random_state is -4"),
        (dict(keep=["gamma"]), ValueError, "gamma"),
        (dict(start="here"), ValueError, "there is no start 'here'"),
        (dict(checkpoint=-1.0), ValueError, "checkpoint"),
        (dict(store="/dev/null/here"), OSError, "cannot be made"),
    ],
)
def test_parameters_are_checked_in_fit(curve, given, kind, words):
    model = rflvm.RFLVM(**{"likelihood": "poisson", **QUICK, **given})
    with pytest.raises(kind, match=words) as caught:
        model.fit(curve.table)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given, kind, words",
    [
        (dict(X=-1), ValueError, "Negative values"),
        (dict(X=0.5), ValueError, "row 1, column '1': .* is not a whole number"),
        (dict(X=np.inf), ValueError, "infinity"),
        (dict(mask=np.zeros((3, 3), dtype=bool)), ValueError, r"the mask has shape \(3, 3\), but the data need \(80, 12\)"),
        (dict(mask=np.zeros((80, 12))), TypeError, "mask holds float64"),
        (dict(offset=[1.0, 2.0]), ValueError, "the offset has 2 entries, but the table has 80 rows"),
        (dict(times=[1.0, 2.0]), ValueError, "times has 2 entries, but the table has 80 rows"),
        (dict(times=np.zeros(80)), ValueError, "all times are equal"),
        (dict(times=["soon"] * 80), ValueError, "row 1, column `time`"),
        (dict(sequences=["a"] * 80), ValueError, "sequences are given without times"),
        (dict(row_names=["a"]), ValueError, "row_names has 1 entries"),
    ],
)
def test_what_is_given_to_fit_is_checked(curve, given, kind, words):
    table = curve.table.copy()
    if "X" in given:
        table[0, 0] = given["X"]
    model = rflvm.RFLVM(likelihood="poisson", **QUICK)
    with pytest.raises(kind, match=words) as caught:
        model.fit(table, **{name: value for name, value in given.items() if name != "X"})
    assert "\n" not in str(caught.value)


def test_nothing_is_left_behind_by_what_cannot_be_fitted(curve, tmp_path):
    with pytest.raises(ValueError):
        rflvm.RFLVM(likelihood="poisson", store=tmp_path / "fit", **QUICK).fit(curve.table + 0.5)
    assert not (tmp_path / "fit").exists()


def test_folders_without_a_fit(tmp_path):
    with pytest.raises(OSError, match="holds no fit"):
        rflvm.load(tmp_path)
    with pytest.raises(OSError, match="holds no fit"):
        rflvm.RFLVM(store=tmp_path).resume()
    with pytest.raises(ValueError, match="nothing to resume"):
        rflvm.RFLVM().resume()


def test_a_damaged_store_is_told_by_its_file(curve, tmp_path):
    rflvm.RFLVM(likelihood="poisson", store=tmp_path / "fit", **{**QUICK, "chains": 1}).fit(curve.table)
    chunk = next(f for f in (tmp_path / "fit" / "draws.zarr" / "posterior" / "x").iterdir() if f.name[0] == "0")
    chunk.write_bytes(chunk.read_bytes()[:-8])
    with pytest.raises(OSError, match="bytes where .* were written"):
        rflvm.load(tmp_path / "fit")


@pytest.mark.filterwarnings("ignore")
def test_questions_that_have_no_answer(fitted, curve):
    with pytest.raises(ValueError, match="have no times"):
        fitted.forecast(horizon=2)
    with pytest.raises(ValueError, match="each table takes a draw of its own, and this fit has 60"):
        fitted.impute(draws=61)
    with pytest.raises(ValueError, match="11 features"):
        fitted.transform(curve.table[:, :11])
    with pytest.raises(ValueError, match="the rows of this fit have no times"):
        fitted.transform(curve.table[:2], times=[0, 1])
    with pytest.raises(ValueError, match="number of axes of the places is 3"):
        fitted.inverse_transform(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="rows of this fit are 0 to 79"):
        fitted.covariance([80])
    with pytest.raises(ValueError, match="no log-likelihood of each 'table'"):
        fitted.posterior_.log_likelihood("table")


def test_numbers_that_break_down_are_an_arithmetic_error():
    assert issubclass(rflvm.NumericalError, ArithmeticError)
