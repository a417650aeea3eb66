"""What plots show: columns, times, sequences and draws of a model."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, Sequence, Union

import numpy as np


def radius(level: float, axes: int) -> float:
    """The radius, in standard deviations, that contains a fraction of a Gaussian with one or two axes."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}, but it must be a fraction between 0 and 1")
    return float(np.sqrt(-2.0 * np.log1p(-level))) if axes == 2 else NormalDist().inv_cdf(0.5 + level / 2.0)


def place_of(columns: list[str], column: Union[str, int]) -> int:
    """The place of a column among those of a model."""
    if isinstance(column, str):
        if column in columns:
            return columns.index(column)
        levels = [name for name in columns if name.startswith(f"{column}=")]
        of = f"it holds categories; name one of {', '.join(levels[:8])}" if levels else "the fit has no such column"
        raise ValueError(f"column is '{column}', but {of}")
    if not 0 <= column < len(columns):
        raise ValueError(f"column is {column}, but the columns of this fit are 0 to {len(columns) - 1}")
    return int(column)


def column_of(truth: Any, j: int, rows: int) -> np.ndarray:
    """One number per row, from a column or from the table that holds it."""
    cells = np.asarray(truth)
    cells = np.asarray(cells[:, j] if cells.ndim == 2 else cells, dtype=float)
    if len(cells) != rows:
        raise ValueError(f"truth has {len(cells)} rows, but the table has {rows}")
    return cells


def times_of(model: Any) -> np.ndarray:
    """Times of the rows, as numbers or dates."""
    times, unit = model._fit.timeline
    times = np.asarray(times, dtype=float)
    if unit is None:
        return times
    origin = np.datetime64(unit[len("days since ") :].replace(" ", "T"), "us")
    return origin + np.round(times * 86_400e6).astype("timedelta64[us]")


def split(sequences: Sequence[str]) -> dict[str, np.ndarray]:
    """The rows of each sequence, with sequences in order of first appearance."""
    names = np.asarray(sequences)
    return {name: np.flatnonzero(names == name) for name in dict.fromkeys(sequences)}


def rows_of_sequence(model: Any, sequence: Any) -> np.ndarray:
    """The rows of one sequence; all rows if none is named."""
    if sequence is None:
        return np.arange(model.embedding_.shape[0])
    parts = split(model._fit.sequences or [])
    if str(sequence) not in parts:
        known = f"known are {', '.join(list(parts)[:8])}" if parts else "its rows have no sequences"
        raise ValueError(f"sequence is '{sequence}', which this fit does not have; {known}")
    return parts[str(sequence)]


def name_of(model: Any, j: int) -> str:
    """The label of a column."""
    return model.columns_[j] if model._layout.named else f"column {model.columns_[j]}"
