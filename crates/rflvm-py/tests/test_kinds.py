"""Columns and arrays of every kind: read right, or refused in one sentence that says what to do."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from conftest import QUICK, estimator

pytestmark = pytest.mark.filterwarnings("ignore")
TINY = {**QUICK, "features": 10, "warmup": 2, "draws": 2, "chains": 1}
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=n) for n in range(20)]


@pytest.fixture(scope="module")
def table(curve):
    return curve.table[:20, :4]


@pytest.fixture(scope="module")
def expected(table):
    return estimator(likelihood="poisson", **TINY).fit(table).embedding_


def refused(X, kind, **given):
    with pytest.raises(kind) as caught:
        estimator(**{"likelihood": "gaussian", **TINY, **given}).fit(X)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("dtype", ["float16", "longdouble", ">f8", ">f4", ">i4", ">u2", "object"])
def test_numbers_of_any_width_and_byte_order_are_read(table, expected, dtype):
    fit = estimator(likelihood="poisson", **TINY).fit
    assert np.array_equal(fit(table.astype(dtype)).embedding_, expected)
    assert np.array_equal(fit(pd.DataFrame(table.astype(dtype))).embedding_, expected)
    if dtype == "longdouble":
        assert np.array_equal(fit(scipy.sparse.csr_matrix(table).astype(dtype)).embedding_, expected)


def test_half_floats_of_other_libraries_and_missing_objects(table, expected):
    halves = pa.table({str(j): pa.array(table[:, j].astype("float16")) for j in range(4)})
    assert np.array_equal(estimator(likelihood="poisson", **TINY).fit(halves).embedding_, expected)
    holes = table.astype(object)
    holes[2, 1], holes[3, 2] = None, pd.NA
    model = estimator(likelihood="poisson", **TINY).fit(holes)
    assert np.argwhere(np.isnan(model._fit.table())).tolist() == [[2, 1], [3, 2]]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.date_range("2020-01-01", periods=20)),
        pd.Series(pd.date_range("2020-01-01", periods=20, tz="Europe/Oslo")),
        pd.Series(pd.period_range("2020-01-01", periods=20, freq="D")),
        pd.Series(DAYS, dtype=object),
        pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32())),
    ],
    ids=["naive", "zone", "period", "objects", "arrow"],
)
def test_dates_in_pandas_are_refused_by_name(table, column):
    frame = pd.DataFrame(table, columns=list("abcd")).assign(when=column)
    for likelihood in ("gaussian", "auto"):
        sentence = refused(frame, ValueError, likelihood=likelihood)
        assert "column 'when' holds dates" in sentence and "times=X['when']" in sentence
    # Two such columns are reported at once.
    assert "column 'then' holds values that cannot be fitted, too" in refused(frame.assign(then=column), ValueError)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize("what", ["date", "datetime", "duration"])
def test_dates_in_other_frames_are_refused_by_name(table, library, what):
    cells = {"date": DAYS, "datetime": [datetime.datetime(d.year, d.month, d.day) for d in DAYS], "duration": [d - DAYS[0] for d in DAYS]}[what]
    columns = {**{f"c{j}": table[:, j] for j in range(4)}, "when": cells}
    sentence = refused(pl.DataFrame(columns) if library == "polars" else pa.table(columns), ValueError)
    assert "column 'when' holds" in sentence and "times=" in sentence
    assert ("lengths of time" in sentence) == (what == "duration")


def test_lengths_of_time_and_new_rows_with_dates(table):
    frame = pd.DataFrame(table, columns=list("abcd"))
    sentence = refused(frame.assign(d=pd.to_timedelta(np.arange(20), "D")), ValueError)
    assert "column 'd' holds lengths of time" in sentence and "times=" in sentence
    model = estimator(likelihood="poisson", **TINY).fit(frame)
    with pytest.raises(ValueError, match="column 'd' holds dates"):
        model.transform(frame.assign(d=pd.date_range("2020", periods=20)))


@pytest.mark.parametrize(
    "make, kind, words",
    [
        (lambda t: t.astype("M8[D]"), ValueError, r"all columns of X hold dates \(datetime64\[D\]\).*times="),
        (lambda t: t.astype("m8[s]"), ValueError, r"lengths of time \(timedelta64\[s\]\).*times="),
        (lambda t: t.astype(complex), ValueError, "complex numbers"),
        (lambda t: t.astype("U8"), ValueError, r"X holds text \(<U8\)"),
        (lambda t: t[:, 0], ValueError, r"one axis with 20 entries.*X.reshape\(-1, 1\)"),
        (lambda t: pd.Series(t[:, 0]), ValueError, r"X.to_frame\(\)"),
        (lambda t: t.reshape(4, 5, 4), ValueError, r"3 axes \(4 × 5 × 4\).*X.reshape\(len\(X\), -1\)"),
        (lambda t: 3.0, ValueError, "X is 3.0, but it must be a table"),
        (lambda t: None, ValueError, "X is None"),
        (lambda t: np.zeros(5, dtype=[("a", "f8"), ("b", "i4")]), TypeError, r"structured array with the fields a, b.*pandas.DataFrame\(X\)"),
        (lambda t: [[1, 2], [3]], ValueError, "the rows of X differ in length"),
        (lambda t: {"a": [1, 2]}, TypeError, r"X is a dict.*pandas.DataFrame\(X\)"),
        (lambda t: "table.csv", TypeError, r"pandas.read_csv\('table.csv'\)"),
        (lambda t: pd.DataFrame(t, columns=list("efgh")).assign(c=1j), ValueError, "column 'c' holds complex numbers"),
        (lambda t: pl.DataFrame({"a": t[:, 0], "b": [[1]] * 20}), ValueError, r"column 'b' holds List\(Int64\), which no family takes"),
        (lambda t: pd.DataFrame(t, columns=list("efgh")).assign(c=[{1}] * 20), ValueError, "column 'c' holds objects of the type set"),
        (lambda t: pd.DataFrame(t, columns=list("efgh")).assign(c=pd.interval_range(0, 20)), ValueError, "column 'c' holds interval"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(table, make, kind, words):
    import re

    sentence = refused(make(table), kind)
    assert re.search(words, sentence), sentence


def test_a_cell_that_is_no_number_is_named(table):
    odd = table.astype(object)
    odd[2, 1] = "abc"
    assert refused(odd, ValueError).startswith("row 3, column 2 of X holds 'abc'")
    odd[2, 1] = DAYS[0]
    assert refused(odd, TypeError).startswith("row 3, column 2 of X holds datetime.date(2020, 1, 1)")


def test_whole_numbers_that_vary_as_counts_do_are_counts_whatever_their_dtype(table):
    counts = table + 3 * (np.arange(20) % 2)[:, None] * table
    frame = pd.DataFrame({"signed": counts[:, 0].astype("int64"), "nullable": pd.array(counts[:, 1], dtype="Int32"), "real": counts[:, 2] + 0.5})
    frame.loc[3, "nullable"] = pd.NA
    frame["float"] = counts[:, 3]
    with pytest.warns(UserWarning, match="column 'float' holds counts, as floats"):
        model = estimator(likelihood="auto", **TINY).fit(frame)
    assert model._fit.families == ["negative-binomial", "negative-binomial", "gaussian", "negative-binomial"]
    for array in (counts.astype("int64"), scipy.sparse.csr_matrix(counts.astype("int64"))):
        assert estimator(likelihood="auto", **TINY).fit(array)._fit.families == ["negative-binomial"] * 4
    below = pd.DataFrame(counts.astype("int64") - 1, columns=list("abcd"))
    assert estimator(likelihood="auto", **TINY).fit(below).families_ == dict.fromkeys("abcd", "gaussian")
