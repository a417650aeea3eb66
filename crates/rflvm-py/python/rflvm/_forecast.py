"""What a fit expects of times that have no row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np


@dataclass
class Forecast:
    """Expected cells at new times: one row a time (and sequence), one column a column of the table."""

    times: list[str]
    """As the times of the table are written."""
    sequences: Optional[list[str]]
    """The sequence of each row, where there are any."""
    columns: list[str]
    """Names of the columns."""
    mean: np.ndarray
    """Posterior mean, K×J."""
    std: np.ndarray
    """Standard deviation of the predictive distribution."""
    lower: np.ndarray
    """Its 5% quantile."""
    median: np.ndarray
    """Its median."""
    upper: np.ndarray
    """Its 95% quantile."""

    def to_pandas(self) -> Any:
        """One line a new time and column: time, sequence, column, mean, std, lower, median, upper."""
        import pandas

        width = len(self.columns)
        lines = {"time": np.repeat(self.times, width)}
        if self.sequences is not None:
            lines["sequence"] = np.repeat(self.sequences, width)
        lines["column"] = np.tile(self.columns, len(self.times))
        parts = {"mean": self.mean, "std": self.std, "lower": self.lower, "median": self.median, "upper": self.upper}
        return pandas.DataFrame({**lines, **{name: part.ravel() for name, part in parts.items()}})
