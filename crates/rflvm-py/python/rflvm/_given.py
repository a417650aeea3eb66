"""What is known about rows in addition to their cells, in the form that the engine takes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Optional

import numpy as np
from sklearn.utils.validation import check_array

from ._covariates import in_order_of, texts_of_covariates
from ._parameter import whole
from ._times import texts_of, texts_of_times

#: The most trials of a cell.
MOST_TRIALS = 2**32 - 1


@dataclass
class Given:
    """Times, sequences, offsets, covariates, trials and names of rows; a mask of their cells."""

    mask: Any = None
    times: Any = None
    sequences: Any = None
    offset: Any = None
    trials: Any = None
    row_names: Any = None
    covariates: Any = None
    #: Names of the covariates of the fit, for new rows.
    known: Optional[list] = None
    #: How an AnnData was read, so that new cells are read in the same way.
    cells: Optional[dict] = None

    def words(self, rows: int) -> dict:
        """Arguments of the engine, checked against the number of rows."""
        if self.sequences is not None and self.times is None:
            raise ValueError("sequences are given without times; give times too, or leave the sequences out")
        return {
            "times": None if self.times is None else texts_of_times(self.times, rows),
            "sequences": None if self.sequences is None else texts_of(self.sequences, rows, "sequences"),
            "offset": None if self.offset is None else numbers(self.offset),
            "covariates": self.cells_of_covariates(rows),
        }

    def cells_of_covariates(self, rows: int) -> Optional[list]:
        """The cells of each covariate, in the order of the fit."""
        if self.covariates is None:
            return None
        if self.known is None:
            return texts_of_covariates(self.covariates, rows)[1]
        return in_order_of(self.known, self.covariates, rows)


def numbers(offset: Any) -> list[float]:
    """Offsets, one per row."""
    try:
        array = np.asarray(offset, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"offset does not hold numbers only ({error}); give one number per row") from None
    if array.ndim == 0 or array.size != max(array.shape):
        raise ValueError(f"offset has the shape {array.shape}, but it must hold one number per row")
    return array.ravel().tolist()


def trials_of(trials: Any) -> tuple[Optional[int], Optional[np.ndarray]]:
    """Trials as a number for all cells, or as a table of them."""
    if trials is None:
        return None, None
    if isinstance(trials, (Integral, float, str)) or np.ndim(trials) == 0:
        return whole(trials, "trials", least=1, most=MOST_TRIALS), None
    return None, check_array(trials, dtype=np.float64, ensure_all_finite="allow-nan", input_name="trials")
