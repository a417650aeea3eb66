"""Posterior predictive checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import Check
from ._draw import draw


def check(model: Any, *, axs: Any = None) -> np.ndarray:
    """Compare statistics of the fitted table with those of tables drawn from the posterior, one panel per statistic.

    Bars are the replicated tables and the line is the fitted table; bars are blue if the p-value is below 0.05.

    Parameters
    ----------
    model : RFLVM or Check
        A fitted model, or what `model.check()` returned.
    axs : array of Axes, default=None
        Where to draw, one per statistic.
    """
    told = model if isinstance(model, Check) else model.check()
    return draw(told.picture, axs)
