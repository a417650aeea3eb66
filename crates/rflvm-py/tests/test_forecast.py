"""Times come back as the kind that went in."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import QUICK, estimator

import rflvm
from rflvm._times import Clock

pytestmark = pytest.mark.filterwarnings("ignore")
DAYS = pd.date_range("2024-01-01", periods=20)
AHEAD = np.array(["2024-01-21", "2024-01-22"], dtype="datetime64[D]")


def fit(curve, times, **given):
    return estimator(likelihood="poisson", **{**QUICK, "warmup": 3, "draws": 5, "chains": 1, **given}).fit(curve.table[:20, :3], times=times)


@pytest.mark.parametrize(
    "times, unit",
    [
        (DAYS, "ns"),
        (pd.Series(DAYS), "ns"),
        (DAYS.to_numpy().astype("datetime64[s]"), "s"),
        (DAYS.to_numpy().astype("datetime64[D]"), "D"),
        ([day.date() for day in DAYS], "D"),
        ([str(day.date()) for day in DAYS], "D"),
        ([day.to_pydatetime() for day in DAYS], "ms"),
        (pl.Series([day.date() for day in DAYS]), "D"),
    ],
    ids=["index", "series", "seconds", "days", "date objects", "texts", "datetime objects", "polars"],
)
def test_dates_in_dates_out(curve, times, unit):
    forecast = fit(curve, times).forecast(horizon=2)
    assert forecast.times.dtype == np.dtype(f"datetime64[{unit}]") and (forecast.times == AHEAD).all()
    frame = forecast.to_pandas()
    assert pd.api.types.is_datetime64_dtype(frame["time"]) and len(frame) == 6
    assert list(frame["time"].dt.day) == [21] * 3 + [22] * 3 and (forecast.past.times == DAYS.to_numpy()).all()


def test_a_year_and_a_quarter_are_one_time(curve, tmp_path):
    when = pd.DataFrame({"year": 1959 + np.arange(20) // 4, "quarter": 1 + np.arange(20) % 4})
    model = fit(curve, when, store=tmp_path / "fit")
    for forecast in (model.forecast(horizon=2), rflvm.load(tmp_path / "fit").forecast(horizon=2)):
        assert list(forecast.times.astype("datetime64[D]").astype(str)) == ["1964-01-01", "1964-04-01"]
        assert str(forecast.past.times[5].astype("datetime64[D]")) == "1960-04-01"
    assert (fit(curve, pl.DataFrame(when)).forecast(horizon=1).times == model.forecast(horizon=1).times).all()
    with pytest.raises(ValueError, match="times: row 3, column `quarter`: `5.0` is not a quarter from 1 to 4|may be quarters or months"):
        fit(curve, when.rename(columns={"quarter": "part"}))


def test_zones_are_kept(curve, tmp_path):
    # Daylight saving begins among these days.
    days = pd.date_range("2024-03-25", periods=20, tz="Europe/Oslo")
    model = fit(curve, days, store=tmp_path / "fit")
    for forecast in (model.forecast(horizon=2), rflvm.load(tmp_path / "fit").forecast(horizon=2)):
        assert forecast.zone == "Europe/Oslo" and forecast.times[0] == np.datetime64("2024-04-13T22:00")
        frame = forecast.to_pandas()
        assert str(frame["time"].dt.tz) == "Europe/Oslo" and frame["time"][0] == pd.Timestamp("2024-04-14", tz="Europe/Oslo")
        assert (forecast.past.times == days.tz_convert("UTC").tz_localize(None).to_numpy()).all()
    forecast = fit(curve, [f"2024-01-{n + 1:02}T06:00:00+02:00" for n in range(20)]).forecast(["2024-02-01T06:00:00+02:00"])
    assert forecast.times[0] == np.datetime64("2024-02-01T04:00") and forecast.to_pandas()["time"][0] == pd.Timestamp("2024-02-01T06:00+02:00")


def test_numbers_in_numbers_out(curve):
    forecast = fit(curve, np.arange(20) / 4).forecast([5.0, 5.25])
    assert forecast.times.dtype == float and list(forecast.times) == [5.0, 5.25] and forecast.to_pandas()["time"].dtype == float


def test_new_times_may_be_of_any_kind(curve):
    model = fit(curve, DAYS)
    asked = [["2024-01-21", "2024-01-22"], AHEAD, pd.DatetimeIndex(AHEAD), [datetime.date(2024, 1, 21), datetime.date(2024, 1, 22)]]
    for times in asked:
        assert (model.forecast(times).times == AHEAD).all()


def test_clocks_read_what_the_program_writes():
    assert Clock().read(["1", "2.5"])[0].tolist() == [1.0, 2.5]
    times, zone = Clock().read(["2001-05-30 12:00:00-05:30", "2001-05-31 00:00:00Z"])
    assert list(times.astype("datetime64[m]").astype(str)) == ["2001-05-30T17:30", "2001-05-31T00:00"] and zone == "UTC-05:30"
