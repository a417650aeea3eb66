"""A column with its missing cells imputed."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from .._colour import GREY, INK, PLAIN
from .._rows import LOWER, MEAN, UPPER
from ._of import column_of, name_of, place_of, rows_of_sequence, times_of
from ._panel import above, dress_times, new_axes


def imputed(
    model: Any,
    column: Union[str, int],
    *,
    truth: Any = None,
    sequence: Any = None,
    ax: Optional[Axes] = None,
    **points: Any,
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
    **points
        Further arguments of `Axes.plot`, for the observed cells.
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
    ax = new_axes((7.0, 3.2)) if ax is None else ax
    small = 4.0 if len(rows) <= 300 else 2.0
    style: dict[str, Any] = {"marker": ".", "linestyle": "", "color": GREY, "markersize": 1.5 * small}
    ax.plot(times[there], seen[there], **{**style, "label": "observed", "zorder": 1, **points})
    if len(hole):
        ax.vlines(times[hole], low[hole], high[hole], color=PLAIN, linewidth=1.0, alpha=0.5, zorder=2)
        ax.plot(times[hole], mean[hole], "s", color=PLAIN, markersize=small, zorder=3, label="missing: mean, 5% to 95%")
    if known is not None:
        hollow: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": INK, "markeredgewidth": 0.8}
        ax.plot(times[hole], known[hole], "o", markersize=1.4 * small, **hollow, zorder=4, label="truth")
    ax.set_ylabel(name_of(model, j))
    if model._fit.timeline is None:
        ax.set_xlabel("row")
    else:
        dress_times(ax, times)
    ax.margins(x=0.01)
    above(ax)
    return ax
