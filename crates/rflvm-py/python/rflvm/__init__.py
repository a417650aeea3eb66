"""Bayesian non-linear dimension reduction for counts, yes/no, compositional, real-valued and mixed tables.

>>> import rflvm
>>> model = rflvm.RFLVM(likelihood="poisson").fit(counts)
>>> model.embedding_, model.embedding_std_

Heavy dependencies (scikit-learn, matplotlib, ArviZ) are imported on first use.
"""

from __future__ import annotations

import importlib

from ._native import NumericalError, __version__

__all__ = [
    "RFLVM",
    "Check",
    "Comparison",
    "Compute",
    "ConvergenceWarning",
    "Forecast",
    "Handle",
    "Model",
    "NumericalError",
    "Paths",
    "Posterior",
    "Sampling",
    "__version__",
    "compare",
    "datasets",
    "load",
    "plot",
    "tl",
]

_HOMES = {
    "RFLVM": "_estimator",
    "load": "_load",
    "Check": "_check",
    "Comparison": "_compare",
    "compare": "_compare",
    "Compute": "_groups",
    "ConvergenceWarning": "_convergence",
    "Forecast": "_forecast",
    "Handle": "_handle",
    "Model": "_groups",
    "Paths": "_groups",
    "Posterior": "_posterior",
    "Sampling": "_groups",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    if name in ("datasets", "plot", "tl"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'rflvm' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
