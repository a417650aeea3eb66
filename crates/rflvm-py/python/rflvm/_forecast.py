"""Predictions at times that have no row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Optional

import numpy as np


class Past(NamedTuple):
    """The observed rows that a forecast continues."""

    times: np.ndarray
    sequences: Optional[list[str]]
    cells: np.ndarray


@dataclass
class Forecast:
    """Predicted cells at new times: one row per time (and sequence), one column per column of the table."""

    times: np.ndarray
    """Numbers if the times of the table are numbers; datetime64 if they are dates, in UTC if they have a time zone."""
    sequences: Optional[list[str]]
    """The sequence of each row; None if there are no sequences."""
    columns: list[str]
    """Names of the columns."""
    mean: np.ndarray
    """Posterior mean, times × columns; NaN where it does not exist, as for counts with column processes (`column_process`)."""
    std: np.ndarray
    """Standard deviation of the predictive distribution; NaN where the mean does not exist."""
    lower: np.ndarray
    """5% quantile of the predictive distribution."""
    median: np.ndarray
    """Median of the predictive distribution."""
    upper: np.ndarray
    """95% quantile of the predictive distribution."""
    zone: Optional[str] = None
    """The time zone of the dates, which `to_pandas` restores."""
    past: Optional[Past] = field(default=None, repr=False)
    """The fitted rows, for plots."""

    def to_pandas(self) -> Any:
        """One line per new time and column: time, sequence, column, mean, std, lower, median, upper. Dates are datetimes."""
        import pandas

        width = len(self.columns)
        times = pandas.Series(self.times)
        if self.zone is not None:
            times = times.dt.tz_localize("UTC").dt.tz_convert(self.zone)
        lines: dict[str, Any] = {"time": times.repeat(width).reset_index(drop=True)}
        if self.sequences is not None:
            lines["sequence"] = np.repeat(self.sequences, width)
        lines["column"] = np.tile(self.columns, len(self.times))
        parts = {"mean": self.mean, "std": self.std, "lower": self.lower, "median": self.median, "upper": self.upper}
        return pandas.DataFrame({**lines, **{name: part.ravel() for name, part in parts.items()}})
