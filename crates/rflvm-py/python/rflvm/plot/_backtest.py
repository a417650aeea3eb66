"""Forecasts of known rows from several origins, against what was observed."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from ._draw import draw, line, over_time

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
    times = np.unique(frame["time"].to_numpy())

    def panel(name: str) -> dict:
        own = frame[frame["column"] == chosen("column", str(name), known)]
        seen = own.drop_duplicates("time").sort_values("time")

        def at(part: Any) -> np.ndarray:
            return np.searchsorted(times, part["time"].to_numpy())

        lines = [line(at(seen), seen["observed"], look="observed")]
        for _, ahead in own.groupby("origin"):
            ahead = ahead.sort_values("time")
            bands = [(ahead[low], ahead[high]) for low, high in (("q05", "q95"), ("q25", "q75"))]
            lines.append(line(at(ahead), ahead["q50"], *bands))
        return {"label": str(name), "lines": lines}

    method = frame["method"].iloc[0]
    note = f"grey: observed; bands: central 90% and 50% of the forecasts ({method}), lines: their medians"
    return draw(over_time(times, [panel(name) for name in names], note=note), axs)


def chosen(what: str, name: Optional[str], known: list[str]) -> str:
    """The name if it is known, or the first of those known."""
    if name is not None and name not in known:
        raise ValueError(f"{what} is '{name}', which this back-test does not have; known are {', '.join(known[:8])}")
    return known[0] if name is None else name
