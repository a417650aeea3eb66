"""Figures, panels, legends and time axes, shared by all plots."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes


def new_axes(size: tuple[float, float] = (6.4, 4.8), **how: Any) -> Axes:
    """Axes of a new figure whose layout leaves room for a legend outside the plot."""
    return plt.subplots(figsize=size, layout="constrained", **how)[1]


def panels(axs: Any, count: int, size: tuple[float, float], columns: int = 1, **how: Any) -> np.ndarray:
    """One Axes for each of `count` panels, in the given number of columns; or the Axes that were passed."""
    if axs is None:
        height = -(-count // columns)
        inches = (size[0] * columns, 0.6 + size[1] * height)
        axs = plt.subplots(height, columns, figsize=inches, squeeze=False, layout="constrained", **how)[1].ravel()
        for spare in axs[count:]:
            spare.set_visible(False)
        return axs[:count]
    axs = np.atleast_1d(np.asarray(axs, dtype=object)).ravel()
    if len(axs) != count:
        raise ValueError(f"axs holds {len(axs)} Axes, but {count} are needed")
    return axs


def beside(ax: Axes, **how: Any) -> None:
    """A legend to the right of the plot, where it covers nothing, with marks large enough to distinguish."""
    legend = ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), **how)
    # The name differs before matplotlib 3.7.
    marks: Any = getattr(legend, "legend_handles", None) or getattr(legend, "legendHandles", [])
    for mark in marks:
        mark.set_alpha(1.0)
        if hasattr(mark, "set_sizes"):
            mark.set_sizes([30.0])
        elif hasattr(mark, "set_linewidth"):
            mark.set_linewidth(1.5)
