"""Latent axes over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._draw import draw, line, over_time
from ._of import radius, split, times_of


def paths(model: Any, *, level: float = 0.9, axs: Any = None, **lines: Any) -> np.ndarray:
    """Each latent axis over time, one line per sequence, with a band that contains the fraction `level` of the posterior at each
    time.

    `axs` are Axes to draw into, one per latent axis; `**lines` is passed to `Axes.plot`.
    """
    check_is_fitted(model)
    if model._fit.timeline is None:
        raise ValueError("the rows of this fit have no times, so there are no paths; fit again with times, or draw plot.latent")
    times = times_of(model)
    mean, reach = model.embedding_, radius(level, 1) * model.embedding_std_
    parts = {name: rows[np.argsort(times[rows], kind="stable")] for name, rows in split(model._fit.sequences or [""] * len(mean)).items()}
    names = list(parts) if len(parts) > 1 else []

    def panel(d: int) -> dict:
        low, high = mean[:, d] - reach[:, d], mean[:, d] + reach[:, d]
        own = [line(rows, mean[rows, d], (low[rows], high[rows]), name=i if names else None) for i, rows in enumerate(parts.values())]
        return {"label": f"latent axis {d + 1}", "lines": own}

    note = f"bands: {level:.0%}, from means and posterior sds"
    return draw(over_time(times, [panel(d) for d in range(mean.shape[1])], names=names, note=note), axs, **lines)
