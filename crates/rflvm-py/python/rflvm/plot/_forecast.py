"""Forecasts, following the observed rows."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from .._forecast import Forecast
from ._draw import draw, line, over_time
from ._of import place_of, split

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
    past_of = split(told.past.sequences or [""] * len(told.past.times)) if told.past is not None else {}
    shown = {}
    for name in names:
        before = past_of.get(name, np.empty(0, dtype=int))
        after = ahead[name]
        before = before[np.argsort(told.past.times[before], kind="stable")][-past:] if told.past is not None else before
        shown[name] = (before, after[np.argsort(told.times[after], kind="stable")])
    # Observed times first, then new ones, in one list.
    seen = np.empty(0, dtype=told.times.dtype) if told.past is None else told.past.times
    times, start = np.concatenate([seen.astype(told.times.dtype), told.times]), len(seen)
    legend = names if len(names) > 1 else []

    def panel(j: int) -> dict:
        own = []
        for i, (before, after) in enumerate(shown.values()):
            which = {"name": i} if legend else {}
            if told.past is not None:
                own.append(line(before, told.past.cells[before, j], look="observed"))
            band = (told.lower[after, j], told.upper[after, j])
            own.append(line(start + after, told.median[after, j], band, **which))
        return {"label": told.columns[j] if not told.columns[j].isdigit() else f"column {told.columns[j]}", "lines": own}

    note = "grey: observed; forecasts: median and 90% interval of new cells"
    return draw(over_time(times, [panel(j) for j in places], names=legend, note=note), axs, **lines)
