"""Filled frames have the dtypes of the user's own, whatever library they are of."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import QUICK, estimator

import rflvm

pytestmark = pytest.mark.filterwarnings("ignore")


def mixed(rows=60):
    """Every kind of column that a frame can have, each with a hole; the column without a hole is of plain integers."""
    rng = np.random.default_rng(0)
    place = rng.uniform(-2, 2, rows)
    frame = pd.DataFrame(
        {
            "real": np.sin(place) + 0.1 * rng.normal(size=rows),
            "single": (np.cos(place) + 0.1 * rng.normal(size=rows)).astype("float32"),
            "count": pd.array(rng.poisson(np.exp(1 + place / 2)), dtype="UInt8"),
            "whole": rng.poisson(np.exp(1 - place / 2)),
            "float count": rng.poisson(np.exp(1 + place / 2)).astype(float),
            "yes": pd.array(place + rng.normal(size=rows) > 0, dtype="boolean"),
            "kind": pd.Categorical(np.where(place < 0, "low", "high"), categories=["low", "high"], ordered=True),
            "number kind": pd.Categorical(np.where(place < 0, 10, 20)),
            "word": np.where(place < 0.5, "a", "b").astype(object),
        }
    )
    for n, name in enumerate(frame.columns.drop("whole")):
        frame.loc[n, name] = None
    return frame


FAMILIES = {"float count": "poisson"}


@pytest.fixture(scope="module")
def frame():
    return mixed()


@pytest.fixture(scope="module")
def model(frame):
    return estimator(1, FAMILIES, **QUICK).fit(frame)


def same_where_observed(filled, frame):
    for name in frame.columns:
        seen = frame[name].notna().to_numpy()
        assert list(filled[name][seen]) == list(frame[name][seen]), name


def test_a_pandas_frame_has_its_own_dtypes(model, frame):
    filled = model.impute()
    assert filled.dtypes.equals(frame.dtypes) and list(filled.columns) == list(frame.columns)
    assert not filled.isna().any(axis=None)
    same_where_observed(filled, frame)
    assert filled["number kind"].cat.categories.dtype == np.int64 and filled["kind"].cat.ordered
    assert filled.loc[4 - 1, "float count"] == np.round(filled.loc[3, "float count"])


def test_means_deviations_and_quantiles(model, frame):
    filled, mean, std, lower, upper = model.impute(return_mean=True, return_std=True, return_interval=True)
    assert list(mean.columns) == list(std.columns) == model.columns_ and (mean.dtypes == np.float64).all() and (std.dtypes == np.float64).all()
    row = frame.columns.drop("whole").get_loc("kind")
    share = mean.loc[row, ["kind=low", "kind=high"]]
    assert np.isclose(share.sum(), 1.0) and filled.loc[row, "kind"] == share.idxmax().split("=")[1]
    assert filled.loc[0, "real"] == mean.loc[0, "real"] and lower.loc[0, "real"] < filled.loc[0, "real"] < upper.loc[0, "real"]
    assert lower.dtypes.equals(frame.dtypes) and upper.dtypes.equals(frame.dtypes)
    count = frame.columns.drop("whole").get_loc("count")
    assert lower.loc[count, "count"] <= filled.loc[count, "count"] <= upper.loc[count, "count"]
    assert mean.loc[count, "count"] % 1 != 0
    # Nothing lies below or above a category that is missing.
    assert pd.isna(lower.loc[row, "kind"]) and lower["kind"].isna().sum() == 1


def test_draws_are_a_list_of_frames(model, frame):
    tables = model.impute(draws=4)
    assert isinstance(tables, list) and len(tables) == 4
    for table in tables:
        assert table.dtypes.equals(frame.dtypes) and not table.isna().any(axis=None)
        same_where_observed(table, frame)
    assert len({table.loc[0, "real"] for table in tables}) > 1


def test_a_loaded_fit_and_new_rows_have_them_too(frame, tmp_path):
    model = estimator(1, FAMILIES, store=tmp_path / "fit", **QUICK).fit(frame)
    pd.testing.assert_frame_equal(rflvm.load(tmp_path / "fit").impute(), model.impute())
    new = frame.iloc[:9].copy()
    filled = model.impute(new)
    assert filled.dtypes.equals(frame.dtypes) and not filled.isna().any(axis=None)
    # Rows that hold few values of a category are filled with any of the fit's.
    few = frame.iloc[[6]].assign(kind=pd.Categorical([None], categories=["low"]))
    assert model.impute(few)["kind"].iloc[0] in ("low", "high")
    assert [table.dtypes.equals(frame.dtypes) for table in model.impute(new, draws=2)] == [True, True]


def test_polars_and_pyarrow_frames_have_theirs(frame, model):
    plain = frame.astype({"kind": str, "number kind": str}).where(frame.notna(), None)
    polars = pl.from_pandas(plain.drop(columns=["kind", "number kind"])).with_columns(
        pl.Series("kind", [None if pd.isna(cell) else str(cell) for cell in frame["kind"]]).cast(pl.Enum(["low", "high"])),
        pl.col("yes").cast(pl.Boolean),
    )
    families = {**FAMILIES, "count": "negative-binomial"}
    fitted = estimator(1, families, **QUICK).fit(polars)
    filled, mean = fitted.impute(return_mean=True)
    assert filled.schema == polars.schema and sum(filled.null_count().row(0)) == 0 and mean.columns == fitted.columns_
    assert [table.schema for table in fitted.impute(draws=2)] == [polars.schema] * 2
    arrow = polars.with_columns(pl.col("kind").cast(pl.String)).to_arrow()
    filled = estimator(1, families, **QUICK).fit(arrow).impute()
    assert isinstance(filled, pa.Table) and filled.schema.types == arrow.schema.types and not any(c.null_count for c in filled.columns)


def test_what_a_dtype_cannot_hold_becomes_wider(frame):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"small": rng.poisson(200, 40).clip(max=255).astype("uint8"), "other": rng.poisson(200, 40)})
    model = estimator(1, "negative-binomial", **QUICK).fit(table, mask=np.arange(40)[:, None] + [[0, 99]] < 3)
    _, _, upper = model.impute(return_interval=True)
    filled = model.impute()
    assert filled["small"].dtype in (np.dtype("uint8"), np.dtype("uint64")) and upper["small"].dtype.kind == "u"
    # A column of whole numbers with real holes is one of real numbers.
    mask = np.zeros((40, 2), dtype=bool)
    mask[0, 1] = True
    real = estimator(1, "gaussian", **QUICK).fit(table.astype("int64"), mask=mask).impute()
    assert real["small"].dtype == np.int64 and real["other"].dtype == float


def test_arrays_are_as_they_were(curve):
    holes = curve.table.astype(float)
    holes[3, 2] = np.nan
    model = estimator(likelihood="poisson", **QUICK).fit(holes)
    filled, mean = model.impute(return_mean=True)
    assert isinstance(filled, np.ndarray) and np.array_equal(filled, mean) and filled[3, 2] % 1 != 0
    assert model.impute(draws=3).shape == (3, *holes.shape)


def test_predictions_are_scored_against_the_truth(curve):
    Y = np.asarray(curve.table, dtype=float)
    mask = np.random.default_rng(3).random(Y.shape) < 0.1
    model = estimator(**QUICK).fit(np.where(mask, np.nan, Y))
    scores = model.score_missing(Y)
    assert scores.loc["all", "cells"] == mask.sum() and scores["cells"].iloc[:-1].sum() == mask.sum()
    filled = model.impute()
    unit = np.nanstd(np.where(mask, np.nan, Y), axis=0)
    assert scores.loc["all", "mse"] == pytest.approx(np.mean(((filled - Y) / unit)[mask] ** 2), rel=1e-9)
    assert ((scores[["in50", "in90"]] >= 0) & (scores[["in50", "in90"]] <= 1)).all().all()
    with pytest.raises(ValueError, match="nothing to score"):
        model.score_missing(np.where(mask, np.nan, Y))
    with pytest.raises(ValueError, match="rows"):
        model.score_missing(Y[:5])


def test_a_missing_cell_and_a_row_have_one_answer_here_and_in_the_program(curve, tmp_path):
    frame = pd.DataFrame(curve.table, columns=[f"g{j}" for j in range(curve.table.shape[1])]).astype("Int64")
    for n, j in [(3, 2), (3, 5), (40, 0), (79, 11)]:
        frame.iloc[n, j] = pd.NA
    model = estimator(likelihood="poisson", store=tmp_path / "fit", **QUICK).fit(frame)

    def program(*command):
        subprocess.run([sys.executable, "-m", "rflvm", *command], cwd=tmp_path, check=True, capture_output=True)
        return pd.read_csv(tmp_path / command[-1])

    filled, mean, std = model.impute(return_mean=True, return_std=True)
    again = model.predict(return_std=True, return_interval=True)
    cells = program("impute", "fit", "--out", "cells.csv")
    rows = program("predict", "fit", "--rows", "4,41,80", "--out", "rows.csv")
    assert len(cells) == 4
    for _, cell in cells.iterrows():
        n, column = cell["row"] - 1, cell["column"]
        assert list(cell["mean":"q95"]) == list(rows[(rows["row"] == n + 1) & (rows["column"] == column)].iloc[0]["mean":"q95"])
        here = [part.loc[n, column] for part in (mean, std, *again)]
        assert np.allclose(here, cell[["mean", "sd", "mean", "sd", "q05", "q95"]].astype(float), rtol=1e-12)
        assert filled.loc[n, column] == np.floor(cell["q50"] + 0.5)
    # Rows of the fit keep their positions, with missing cells and among others; a new row is placed as the program places it.
    some = pd.concat([frame.iloc[[40, 7, 79]], frame.iloc[[0]] + 2])
    some.to_csv(tmp_path / "some.csv", index=False)
    placed = program("transform", "fit", "some.csv", "--out", "placed.csv")
    where, spread = model.transform(some, return_std=True)
    assert np.allclose(where, placed[["x1", "x2"]], rtol=1e-12) and np.allclose(spread, placed[["sd1", "sd2"]], rtol=1e-12)
    assert np.array_equal(where[:3], model.embedding_[[40, 7, 79]]) and np.array_equal(spread[:3], model.embedding_std_[[40, 7, 79]])
    assert not (model.embedding_ == where[3]).any()
