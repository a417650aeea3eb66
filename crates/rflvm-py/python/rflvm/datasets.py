"""Tables to try things on, made on the spot."""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np

from . import _native


class SCurve(NamedTuple):
    """A table whose rows lie on an S-shaped curve."""

    table: np.ndarray
    """N×J cells."""
    positions: np.ndarray
    """N×2, where the rows are."""
    along: np.ndarray
    """N, the place of each row along the S."""


def s_curve(
    rows: int = 500,
    columns: int = 100,
    likelihood: str = "poisson",
    *,
    trials: Optional[int] = None,
    seed: int = 1,
) -> SCurve:
    """The simulation of the paper: positions on an S, columns that are smooth functions of them, cells of any family.

    `rflvm simulate` makes the same table from the same seed.
    """
    return SCurve(*_native.s_curve(rows, columns, likelihood, trials=trials, seed=seed))
