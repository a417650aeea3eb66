"""Whatever a user's table is, the model sees the same numbers."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, estimator

import rflvm
from rflvm import _families, _native
from rflvm._times import texts_of_times

pytestmark = pytest.mark.filterwarnings("ignore")


def embedded(X, **given):
    return estimator(likelihood="poisson", **QUICK).fit(X, **given).embedding_


@pytest.fixture(scope="module")
def expected(curve):
    return embedded(curve.table)


@pytest.mark.parametrize("kind", ["int64", "int32", "int16", "uint8", "uint16", "uint32", "uint64", "float32", "F", "list", "matrix view"])
def test_arrays_of_any_kind(curve, expected, kind):
    X = curve.table
    if kind == "F":
        X = np.asfortranarray(X)
    elif kind == "list":
        X = X.tolist()
    elif kind == "matrix view":
        X = np.repeat(X, 2, axis=1)[:, ::2]
    else:
        X = X.astype(kind)
    assert np.array_equal(embedded(X), expected)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_matrices(curve, expected, kind):
    import scipy.sparse

    assert np.array_equal(embedded(scipy.sparse.csr_array(curve.table).asformat(kind)), expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "lazy"])
def test_frames(curve, expected, library):
    import pandas
    import polars
    import pyarrow

    frame = pandas.DataFrame(curve.table.astype("uint16"), columns=[f"y{j}" for j in range(curve.table.shape[1])])
    made = {
        "pandas": lambda: frame,
        "polars": lambda: polars.from_pandas(frame),
        "lazy": lambda: polars.from_pandas(frame).lazy(),
        "pyarrow": lambda: pyarrow.Table.from_pandas(frame),
    }[library]()
    assert np.array_equal(embedded(made), expected)


def test_missing_cells_are_missing_however_they_are_marked(curve):
    import pandas
    import polars
    import pyarrow

    mask = np.random.default_rng(0).random(curve.table.shape) < 0.1
    holes = np.where(mask, np.nan, curve.table)
    expected = embedded(holes)
    frame = pandas.DataFrame(holes)
    frame.columns = [str(name) for name in frame.columns]
    nullable = frame.astype("Int64")
    for X in (frame, nullable, polars.from_pandas(nullable), pyarrow.Table.from_pandas(nullable), np.ma.MaskedArray(curve.table, mask)):
        assert np.array_equal(embedded(X), expected), type(X)
    assert np.array_equal(embedded(curve.table, mask=mask), expected)
    assert not np.array_equal(expected, embedded(curve.table))


def mixed_frame(rows=60):
    import pandas

    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "real": rng.normal(size=rows),
            "yes": rng.random(rows) < 0.4,
            "count": rng.poisson(3, rows).astype("uint16"),
            "kind": pandas.Categorical(rng.choice(["x", "y", "z"], rows)),
            "word": rng.choice(["b", "a"], rows),
        }
    )
    frame.loc[3, "real"] = np.nan
    frame.loc[5, "kind"] = None
    return frame


def test_auto_chooses_as_the_program_does_and_says_why(tmp_path):
    rng, rows = np.random.default_rng(0), 120
    frame = pd.DataFrame(
        {
            "height": rng.normal(170, 9, rows).round(1),
            "age": rng.integers(18, 80, rows),
            "income": rng.integers(12, 900, rows) * 100,
            "visits": rng.poisson(2, rows).astype(float),
            "change": rng.integers(-9, 9, rows),
            "year": 2007 + rng.integers(0, 3, rows),
            "smokes": rng.integers(0, 2, rows),
            "yes": rng.random(rows) < 0.4,
            "city": rng.choice(["Oslo", "Rome"], rows),
            **{f"q{k}": rng.integers(1, 7 - k % 2, rows) for k in range(4)},
        }
    )
    frame.loc[4, "visits"] = np.nan
    frame.loc[7, "height"] = np.nan
    with pytest.warns(UserWarning, match="column 'visits' holds counts, as floats, .*likelihood={'visits': 'gaussian'}"):
        model = estimator(likelihood="auto", **QUICK).fit(frame)
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = subprocess.run([sys.executable, "-m", "rflvm", "doctor", "t.csv", "--json"], cwd=tmp_path, check=True, capture_output=True, text=True)
    told = {line["name"]: line for line in json.loads(done.stdout)["column_kinds"]}
    assert model.families_ == {name: line["suits"].split(",")[0] for name, line in told.items()}
    assert model.kinds_.pop("year") == "a few whole numbers" and told.pop("year")["holds"] == "categories"
    assert model.kinds_ == {name: line["holds"] for name, line in told.items()}
    assert {"counts", "whole numbers away from zero", "answers on a scale", "numbers", "yes/no"} <= set(model.kinds_.values())
    # Groups that are numbers come back as numbers, also where rows are new.
    assert "year=2008" in model.columns_ and model.impute()["year"].dtype == frame["year"].dtype
    assert model.transform(frame.iloc[:3].astype({"year": float})).shape == (3, 2)
    # An array has no categories.
    array = frame[["height", "age", "year", "visits"]].to_numpy()
    model = estimator(likelihood="auto", **QUICK).fit(array)
    assert list(model.families_.values()) == ["gaussian", "gaussian", "gaussian", "poisson"]


def test_a_mixed_table_goes_by_the_kinds_of_its_columns():
    import polars

    frame = mixed_frame()
    model = estimator(likelihood="auto", **QUICK).fit(frame)
    assert model.columns_ == ["real", "yes", "count", "kind=x", "kind=y", "kind=z", "word=a", "word=b"]
    assert model._fit.families == ["gaussian", "bernoulli", "poisson"] + 5 * ["multinomial"]
    assert np.array_equal(estimator(likelihood="auto", **QUICK).fit(polars.from_pandas(frame)).embedding_, model.embedding_)
    assert model.transform(frame.iloc[:4]).shape == (4, 2) and model.n_features_in_ == 5


def test_families_have_other_names_and_typos_are_answered(curve, expected):
    model = estimator(likelihood="Poisson", **QUICK).fit(curve.table)
    assert np.array_equal(model.embedding_, expected)
    assert _families.canonical("NB") == _families.canonical("negative_binomial") == "negative-binomial"
    assert _families.canonical({"a": "categorical"}) == {"a": "multinomial"}
    with pytest.raises(ValueError, match="did you mean poisson"):
        estimator(likelihood="poison", **QUICK).fit(curve.table)


def test_columns_can_be_given_families_one_by_one():
    frame = mixed_frame()
    model = estimator(likelihood={"count": "poisson", "real": "student-t"}, **QUICK).fit(frame)
    assert model._fit.families[:3] == ["student-t", "bernoulli", "poisson"]
    array = np.random.default_rng(0).poisson(2, (40, 3)) + np.array([0.5, 0.0, 0.25])
    model = estimator(likelihood={1: "poisson"}, **QUICK).fit(array)
    assert model._fit.families == ["gaussian", "poisson", "gaussian"]


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda f: f.rename(columns={"word": "kind"}), "two columns are called 'kind'"),
        (lambda f: f.assign(word=[f"row {n}" for n in range(len(f))]), "column 'word' holds 60 different texts in 60 rows"),
    ],
)
def test_what_does_not_follow_from_a_table_is_asked_for(change, words):
    with pytest.raises(ValueError, match=words):
        estimator(likelihood="auto", **QUICK).fit(change(mixed_frame()))


def test_new_values_of_a_category_are_refused():
    frame = mixed_frame()
    model = estimator(likelihood="auto", **QUICK).fit(frame)
    with pytest.raises(ValueError, match="row 1, column 'kind': the fit does not know 'w'; known are x, y, z"):
        model.transform(frame.assign(kind="w"))
    with pytest.raises(ValueError, match="names a column 'none' that the table does not have"):
        estimator(likelihood={"none": "poisson"}, **QUICK).fit(frame)


def test_times_are_read_as_they_are():
    import datetime

    import pandas

    numbers = [0.1 + 0.2, 3, np.float32(0.5)]
    assert [float(t) for t in texts_of_times(numbers, 3)] == [float(t) for t in numbers]
    days = ["2020-01-01", "2020-01-02"]
    assert texts_of_times(np.array(days, dtype="datetime64[D]"), 2) == days
    stamps = texts_of_times(pandas.Series(pandas.to_datetime(days)), 2)
    assert stamps == [f"{day}T00:00:00" for day in days]
    assert texts_of_times([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], 2) == days
    with pytest.raises(TypeError, match="row 2: the time is None"):
        texts_of_times([1.0, None], 2)


def test_a_bad_sparse_matrix_is_refused():
    values = _native.Values(2, 2)
    with pytest.raises(ValueError, match="do not fit its shape"):
        values.sparse(np.ones(1), np.array([5]), np.array([0, 1, 1]))


def test_names_and_levels_of_any_characters_come_back_equal(tmp_path):
    rng = np.random.default_rng(0)
    starts = ["=", "+", "-", "@", "'", "'=", '"', ",", ";", " é", "字", "⟨", "😀", "a=b"]
    names = [f"{start}{rng.choice(starts)}z{j}" for j, start in enumerate(starts)]
    levels = [f"{start}\n{rng.choice(starts)}" for start in starts[:3]]
    frame = pd.DataFrame({name: rng.normal(size=24) for name in names[2:]}, index=[f"{rng.choice(starts)}row\n{n}" for n in range(24)])
    frame[names[0]] = pd.Categorical(rng.choice(levels, 24), categories=levels)
    frame[names[1]] = rng.choice(["=x", "-y"], 24)
    frame.iloc[3, 0], frame.iloc[4, -2] = None, None
    model = estimator(likelihood="auto", store=tmp_path / "fit", **QUICK).fit(frame)
    other = rflvm.load(tmp_path / "fit")
    for one in (model, other):
        full = one.impute()
        assert list(full.columns) == list(frame.columns) and list(full.index) == list(frame.index)
        seen = frame.notna()
        assert (full.where(seen).astype(object).fillna("") == frame.astype(object).fillna("")).all(axis=None)
        assert set(full[names[0]]) <= set(levels)
        assert np.isfinite(one.transform(frame)).all()
    # The program opens the fit, and sees its categories.
    run = [sys.executable, "-m", "rflvm", "impute", str(tmp_path / "fit"), "--out", str(tmp_path / "full.csv"), "--draws", "1"]
    subprocess.run(run, check=True)
    written = pd.read_csv(tmp_path / "full-1.csv", skipinitialspace=False)
    assert set(written.columns) == {name.strip() for name in names} or set(written.columns) == set(names)


def test_the_order_of_categories_is_used_and_not_dropped_in_silence():
    grades = pd.Categorical(["low", "high", "fair", None] * 6, categories=["low", "fair", "high", "top"], ordered=True)
    frame = pd.DataFrame({"a": np.arange(24) * 0.1, "b": np.arange(24) % 5 * 0.3, "grade": grades})
    model = estimator(likelihood="auto", **QUICK).fit(frame)
    assert model._fit.families[2] == "ordinal" and model._layout.families()[2] == ("grade", "ordinal", "4", "")
    filled, low, high = model.impute(return_interval=True)
    assert filled["grade"].dtype == frame["grade"].dtype and not filled["grade"].isna().any()
    seen = ~frame["grade"].isna()
    assert (filled["grade"][seen] == frame["grade"][seen]).all() and (low["grade"] <= high["grade"]).all()
    assert all(table["grade"].dtype == frame["grade"].dtype and not table["grade"].isna().any() for table in model.impute(draws=2))
    again = model.impute(frame.assign(grade=frame["grade"].cat.remove_unused_categories()))
    assert set(again["grade"]) <= set(grades.categories) and not again["grade"].isna().any()
    with pytest.warns(UserWarning, match="column 'grade' holds ordered categories, whose order"):
        estimator(likelihood={"grade": "multinomial"}, **QUICK).fit(frame)
    with pytest.raises(ValueError, match="'grade' holds categories without an order, which ordinal needs"):
        estimator(likelihood={"grade": "ordinal"}, **QUICK).fit(frame.assign(grade=grades.as_unordered()))
    # The order of two levels says nothing.
    kind = pd.Categorical(["low", "high"] * 12, categories=["low", "high"], ordered=True)
    assert estimator(likelihood="auto", **QUICK).fit(frame.assign(grade=kind))._layout.columns[2].family == "multinomial"


def test_values_that_are_written_alike_or_would_be_rounded_are_refused():
    fit = estimator(likelihood="auto", **QUICK).fit
    frame = pd.DataFrame({"a": np.arange(24) * 0.1, "kind": pd.Series([1, "1"] * 12, dtype=object)})
    with pytest.raises(ValueError, match="'kind' holds 1 and '1', which are written alike"):
        fit(frame)
    with pytest.raises(ValueError, match="'kind' holds 1 and '1', which are written alike"):
        fit(frame.assign(kind=frame["kind"].astype("category")))
    with pytest.raises(ValueError, match="beyond 2\\^53, which would be rounded"):
        fit(np.arange(40).reshape(20, 2) + 2**60)
