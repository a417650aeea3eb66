"""Latent axes over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._colour import PALETTE, PLAIN, STYLES
from ._of import radius, split, times_of
from ._panel import beside, dress_times, panels


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
    axs = panels(axs, mean.shape[1], (7.0, 2.2), sharex=True)
    sequences = model._fit.sequences or [""] * len(mean)
    parts = split(sequences)
    is_many, faint = len(parts) > len(PALETTE), float(np.clip(0.7 / len(parts), 0.02, 0.2))
    for d, ax in enumerate(axs):
        for i, (name, rows) in enumerate(parts.items()):
            rows = rows[np.argsort(times[rows], kind="stable")]
            style: dict[str, Any] = {"label": name, "color": PLAIN, "linewidth": 0.6}
            if not is_many:
                style.update(color=PALETTE[i], linestyle=STYLES[i % len(STYLES)], linewidth=1.2)
            style.update(lines)
            ax.plot(times[rows], mean[rows, d], **style)
            low, high = mean[rows, d] - reach[rows, d], mean[rows, d] + reach[rows, d]
            ax.fill_between(times[rows], low, high, color=style["color"], alpha=faint, linewidth=0)
        ax.set_ylabel(f"latent axis {d + 1}")
        ax.margins(x=0.01)
    dress_times(axs[-1], times)
    if len(parts) > 1 and not is_many:
        beside(axs[0], title="sequence")
    return axs
