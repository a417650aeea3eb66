"""Forecasts of known rows from several origins, against what was observed."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from .._colour import GREY, PLAIN
from ._panel import above, dress_times, panels

#: Default number of panels.
SOME = 4


def backtest(
    cells: Any,
    columns: Union[None, str, Sequence[str]] = None,
    *,
    method: Optional[str] = None,
    sequence: Any = None,
    axs: Any = None,
) -> np.ndarray:
    """Forecasts from each origin: the median and the central 50% and 90% bands, over the observed cells; one panel per column.

    Parameters
    ----------
    cells : DataFrame or RFLVM
        What `model.backtest(cells=True)` returned; or a model, which is then back-tested with the defaults.
    columns : str or sequence of str, default=None
        Which columns to show; the first four by default.
    method : str, default=None
        Whose forecasts to show; the model's by default.
    sequence : default=None
        Which sequence to show; the first by default.
    axs : array of Axes, default=None
        Where to draw, one per column.
    """
    frame = cells.backtest(cells=True) if hasattr(cells, "backtest") else cells
    methods = list(dict.fromkeys(frame["method"]))
    frame = frame[frame["method"] == chosen("method", method, methods)]
    if "sequence" in frame:
        frame = frame[frame["sequence"] == chosen("sequence", None if sequence is None else str(sequence), list(dict.fromkeys(frame["sequence"])))]
    known = list(dict.fromkeys(frame["column"]))
    names = known[:SOME] if columns is None else [columns] if isinstance(columns, str) else list(columns)
    axs = panels(axs, len(names), (7.0, 2.0), sharex=True)
    for ax, name in zip(axs, names):
        own = frame[frame["column"] == chosen("column", str(name), known)]
        seen = own.drop_duplicates("time").sort_values("time")
        ax.plot(seen["time"], seen["observed"], color=GREY, marker=".", linewidth=0.7, label="observed")
        for i, (_, ahead) in enumerate(own.groupby("origin")):
            when = ahead["time"]
            ax.fill_between(when, ahead["q05"], ahead["q95"], color=PLAIN, alpha=0.15, linewidth=0, label=None if i else "5% to 95%")
            ax.fill_between(when, ahead["q25"], ahead["q75"], color=PLAIN, alpha=0.25, linewidth=0, label=None if i else "25% to 75%")
            ax.plot(when, ahead["q50"], color=PLAIN, marker=".", label=None if i else "median")
        ax.set_ylabel(name)
    dress_times(axs[-1], frame["time"].to_numpy())
    above(axs[0])
    return axs


def chosen(what: str, name: Optional[str], known: list[str]) -> str:
    """The name if it is known, or the first of those known."""
    if name is not None and name not in known:
        raise ValueError(f"{what} is '{name}', which this back-test does not have; known are {', '.join(known[:8])}")
    return known[0] if name is None else name
