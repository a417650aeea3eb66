"""Forecasts of known rows, as DataFrames and as a picture."""

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, estimator

import rflvm

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def model():
    days = pd.date_range("2024-01-01", periods=24)
    table = pd.DataFrame({"line": np.arange(24.0), "week": np.sin(np.arange(24) * 2 * np.pi / 7)})
    return estimator(likelihood="gaussian", time_kernel="random-walk+seasonal", period=7.0, **{**QUICK, "warmup": 3, "draws": 6, "chains": 1}).fit(
        table, times=days
    )


def test_scores_and_cells_are_frames(model):
    scores = model.backtest(2, horizon=3, period=7.0)
    assert list(scores["method"][:4]) == ["model", "last value", "one period earlier", "straight line"]
    whole = scores[(scores["column"] == "all") & (scores["horizon"] == "all")].set_index("method")
    assert (whole["cells"] == 12).all() and np.isfinite(whole["crps"]).all() and whole["log_density"].notna()["model"]
    of = scores[scores["column"] == "line"].set_index("method")
    assert of["mse"]["straight line"] < 1e-12 < of["mse"]["last value"]
    assert set(scores["horizon"]) == {"all", 1, 2, 3}
    cells = model.backtest(2, horizon=3, period=7.0, cells=True)
    assert len(cells) == 12 * 4 and pd.api.types.is_datetime64_dtype(cells["time"]) and "sequence" not in cells
    own = cells[(cells["method"] == "model") & (cells["column"] == "line")]
    assert np.isclose(own["crps"].mean() / np.arange(24.0).std(), of["crps"]["model"])
    again = model.backtest(2, horizon=3, period=7.0)
    pd.testing.assert_frame_equal(scores, again)


def test_kernels_are_compared(model):
    scores = model.backtest(1, horizon=1, sweeps=3, time_kernels=["random-walk", "matern32"])
    assert list(scores["method"][:2]) == ["random-walk", "matern32"]


@pytest.mark.parametrize(
    "given, words",
    [
        (dict(origins=0), "origins is 0"),
        (dict(horizon=99), "horizon is 99.*24 rows"),
        (dict(period=-1.0), "period is -1"),
        (dict(time_kernels=["wobbly"]), "time kernel 'wobbly'"),
    ],
)
def test_impossible_requests_are_refused(model, given, words):
    with pytest.raises(ValueError, match=words):
        model.backtest(**given)


def test_the_picture_has_a_band_per_origin(model):
    cells = model.backtest(2, horizon=3, cells=True)
    axs = rflvm.plot.backtest(cells, method="last value")
    assert [ax.get_ylabel() for ax in axs] == ["line", "week"] and len(axs[0].collections) == 4
    with pytest.raises(ValueError, match="method is 'none'"):
        rflvm.plot.backtest(cells, method="none")
