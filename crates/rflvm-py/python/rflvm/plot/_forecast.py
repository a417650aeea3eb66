"""Forecasts, following the observed rows."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from .._colour import GREY, PALETTE, PLAIN
from .._forecast import Forecast
from ._of import place_of, split
from ._panel import above, beside, dress_times, panels

#: Default number of panels.
SOME = 6
#: Default number of steps ahead, and of observed rows.
STEPS, PAST = 10, 100


def forecast(
    model: Any,
    columns: Union[None, str, int, Sequence[Union[str, int]]] = None,
    *,
    times: Any = None,
    horizon: Optional[int] = None,
    sequence: Any = None,
    past: int = PAST,
    axs: Any = None,
    **lines: Any,
) -> np.ndarray:
    """Predictions at new times: the median and the 5% to 95% band, following the observed rows; one panel per column.

    Parameters
    ----------
    model : RFLVM or Forecast
        A model with times, or what `model.forecast()` returned.
    columns : columns by name or place, default=None
        Which to show; the first six by default.
    times, horizon
        As in `RFLVM.forecast`, for a model; ten steps ahead by default.
    sequence : default=None
        Show one sequence only.
    past : int, default=100
        How many observed rows to show per sequence, counted from the last.
    axs : array of Axes, default=None
        Where to draw, one per column.
    **lines
        Further arguments of `Axes.plot`, for the medians.
    """
    if isinstance(model, Forecast):
        told = model
    else:
        told = model.forecast(times, horizon=STEPS if times is None and horizon is None else horizon, sequence=sequence)
    chosen = list(range(min(SOME, len(told.columns)))) if columns is None else [columns] if isinstance(columns, (str, int)) else list(columns)
    places = [place_of(told.columns, column) for column in chosen]
    ahead = split(told.sequences or [""] * len(told.times))
    if sequence is not None and str(sequence) not in ahead:
        raise ValueError(f"sequence is '{sequence}', which this forecast does not have; known are {', '.join(list(ahead)[:8])}")
    names = list(ahead) if sequence is None else [str(sequence)]
    axs = panels(axs, len(places), (7.0, 2.0), sharex=True)
    for ax, j in zip(axs, places):
        for i, name in enumerate(names):
            colour = PLAIN if len(names) == 1 else PALETTE[i % len(PALETTE)]
            if told.past is not None:
                add_past(ax, told, name, j, past, GREY if len(names) == 1 else colour)
            rows = ahead[name][np.argsort(told.times[ahead[name]], kind="stable")]
            when = told.times[rows]
            band = {"color": colour, "alpha": 0.2, "linewidth": 0, "label": "5% to 95%" if len(names) == 1 else None}
            ax.fill_between(when, told.lower[rows, j], told.upper[rows, j], **band)
            style: dict[str, Any] = {"color": colour, "linewidth": 1.5, "marker": "." if len(rows) < 30 else "", "label": name or "median"}
            ax.plot(when, told.median[rows, j], **{**style, **lines})
        ax.set_ylabel(told.columns[j] if not told.columns[j].isdigit() else f"column {told.columns[j]}")
        ax.margins(x=0.01)
    dress_times(axs[-1], told.times)
    if len(names) == 1:
        above(axs[0])
    elif len(names) <= len(PALETTE):
        beside(axs[0], title="sequence")
    return axs


def add_past(ax: Any, told: Forecast, sequence: str, j: int, most: int, colour: str) -> None:
    """The last observed cells of a sequence."""
    past = told.past
    assert past is not None
    rows = split(past.sequences or [""] * len(past.times)).get(sequence, np.empty(0, dtype=int))
    rows = rows[np.argsort(past.times[rows], kind="stable")][-most:]
    style = {"color": colour, "marker": ".", "markersize": 3.0, "linewidth": 0.7, "alpha": 0.8, "label": "observed" if sequence == "" else None}
    ax.plot(past.times[rows], past.cells[rows, j], **style)
