"""A column with its missing cells imputed."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from .._rows import LOWER, MEAN, UPPER
from ._draw import draw, line, over_time
from ._of import column_of, name_of, place_of, rows_of_sequence, times_of


def imputed(
    model: Any,
    column: Union[str, int],
    *,
    truth: Any = None,
    sequence: Any = None,
    ax: Optional[Axes] = None,
) -> Axes:
    """One column of the fitted table by row or by time: observed cells, and predictions of the missing cells.

    Parameters
    ----------
    model : RFLVM
        A fitted model.
    column : str or int
        The column, by name or by place, counted from 0.
    truth : one number per row, or the whole table, default=None
        True values of the missing cells, drawn as hollow points.
    sequence : default=None
        Show the rows of one sequence only.
    ax : Axes, default=None
        Where to draw.
    """
    check_is_fitted(model)
    j = place_of(model.columns_, column)
    seen = model._fit.table()
    cells = model._completed(seen)
    mean, low, high = (cells[part][:, j] for part in (MEAN, LOWER, UPPER))
    seen = seen[:, j]
    known = None if truth is None else column_of(truth, j, len(seen))
    times = times_of(model) if model._fit.timeline is not None else np.arange(len(seen))
    rows = rows_of_sequence(model, sequence)
    there, hole = rows[~np.isnan(seen[rows])], rows[np.isnan(seen[rows])]
    lines = [line(there, seen[there], look="dots"), line(hole, mean[hole], (low[hole], high[hole]), look="bars")]
    if known is not None:
        lines.append(line(hole, known[hole], look="hollow"))
    note = "grey: observed; blue: missing cells, mean and 5% to 95%" + ("; circles: truth" if known is not None else "")
    across = "row" if model._fit.timeline is None else "time"
    return draw(over_time(times, [{"label": name_of(model, j), "lines": lines}], across=across, note=note), ax)[0]
