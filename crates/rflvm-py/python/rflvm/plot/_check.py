"""Posterior predictive checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import SMALL, Check
from .._colour import GREY, INK, PALETTE, PLAIN
from ._panel import panels


def check(model: Any, *, axs: Any = None) -> np.ndarray:
    """Compare statistics of the fitted table with those of tables drawn from the posterior, one panel per statistic.

    The line covers 90% of the replicated tables, the dot is their mean, and the diamond is the fitted table: orange and filled if the
    p-value is below 0.05.

    Parameters
    ----------
    model : RFLVM or Check
        A fitted model, or what `model.check()` returned.
    axs : array of Axes, default=None
        Where to draw, one per statistic.
    """
    told = model if isinstance(model, Check) else model.check()
    axs = panels(axs, len(told.statistics), (6.4, 0.75))
    for ax, label, line in zip(axs, told.labels, told.statistics):
        is_small = line.p_value < SMALL
        colour = PALETTE[5] if is_small else INK
        ax.hlines(0.0, line.lower, line.upper, color=PLAIN, linewidth=4.0, alpha=0.35, label="replicated: mean, 5% to 95%")
        ax.plot(line.mean, 0.0, "o", color=PLAIN, markersize=5.0)
        ax.plot(line.observed, 0.0, "D", color=colour, markerfacecolor=colour if is_small else "none", markersize=7.0, label="observed")
        ax.set_title(label, loc="left", fontsize="medium")
        ax.set_title(f"p = {line.p_value:.3f}", loc="right", fontsize="medium", color=colour)
        ax.set(yticks=[], ylim=(-1.0, 1.0))
        ax.margins(x=0.12)
        ax.spines[["left", "right", "top"]].set_visible(False)
        ax.axhline(0.0, color=GREY, linewidth=0.5, zorder=0)
    if not told.is_converged:
        axs[0].figure.suptitle("The chains have not converged: p-values are not reliable", fontsize="medium", color=PALETTE[5])
    return axs
