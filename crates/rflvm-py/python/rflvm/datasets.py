"""Simulated tables, to try things on."""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np

from . import _native
from ._parameter import whole


class SCurve(NamedTuple):
    """A table whose rows lie along an S-shaped curve."""

    table: np.ndarray
    """N×J cells."""
    positions: np.ndarray
    """N×2, the true positions of the rows."""
    along: np.ndarray
    """N, the position of each row along the curve."""


def s_curve(
    rows: int = 500,
    columns: int = 100,
    likelihood: str = "poisson",
    *,
    trials: Optional[int] = None,
    seed: int = 1,
) -> SCurve:
    """The simulation of the paper: positions along an S-shaped curve, columns that are smooth functions of them, cells of any family.

    `rflvm simulate` gives the same table for the same seed.
    """
    rows, columns = whole(rows, "rows", most=10**12), whole(columns, "columns", most=10**12)
    trials = None if trials is None else whole(trials, "trials", least=1, most=2**32 - 1)
    return SCurve(*_native.s_curve(rows, columns, likelihood, trials=trials, seed=whole(seed, "seed", most=2**64 - 1)))
