"""Plots of a fit with matplotlib, one call each.

>>> rflvm.plot.latent(model, labels=species)
>>> rflvm.plot.trace(model)

Each function draws into the given Axes, or into a new figure, and returns the Axes.
"""

from ._backtest import backtest
from ._check import check
from ._forecast import forecast
from ._imputed import imputed
from ._kernel import kernel
from ._latent import latent
from ._paths import paths
from ._trace import trace

__all__ = ["backtest", "check", "forecast", "imputed", "kernel", "latent", "paths", "trace"]
