"""What is known about rows in addition to their cells, in the form that the engine takes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from sklearn.utils.validation import check_array

from ._by_name import cells_in_order, rows_in_order
from ._covariates import in_order_of, texts_of_covariates
from ._parameter import whole
from ._times import texts_of, texts_of_times

if TYPE_CHECKING:
    from ._table import Rows

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

    def words(self, rows: Rows) -> dict:
        """Arguments of the engine, in the order of the rows."""
        if self.sequences is not None and self.times is None:
            raise ValueError("sequences are given without times; give times too, or leave the sequences out")
        times, sequences, offset = (
            None if values is None else rows_in_order(values, rows.index, what)
            for values, what in ((self.times, "times"), (self.sequences, "sequences"), (self.offset, "offset"))
        )
        return {
            "times": None if times is None else texts_of_times(times, rows.count),
            "sequences": None if sequences is None else texts_of(sequences, rows.count, "sequences"),
            "offset": None if offset is None else numbers(offset),
            "covariates": self.cells_of_covariates(rows),
        }

    def cells_of_covariates(self, rows: Rows) -> Optional[list]:
        """The cells of each covariate, in the order of the fit."""
        if self.covariates is None:
            return None
        if self.known is None:
            return texts_of_covariates(self.covariates, rows.count, index=rows.index)[1]
        return in_order_of(self.known, self.covariates, rows.count, rows.index)


def numbers(offset: Any) -> list[float]:
    """Offsets, one per row."""
    try:
        array = np.asarray(offset, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"offset does not hold numbers only ({error}); give one number per row") from None
    if array.ndim == 0 or array.size != max(array.shape):
        raise ValueError(f"offset has the shape {array.shape}, but it must hold one number per row")
    return array.ravel().tolist()


def trials_of(trials: Any, rows: Rows) -> tuple[Optional[int], Optional[np.ndarray]]:
    """Trials as a number for all cells, or as a table of them, in the order of the rows and columns."""
    if trials is None:
        return None, None
    if isinstance(trials, (Integral, float, str)) or np.ndim(trials) == 0:
        return whole(trials, "trials", least=1, most=MOST_TRIALS), None
    trials = cells_in_order(trials, rows.index, rows.columns, "trials")
    return None, check_array(trials, dtype=np.float64, ensure_all_finite="allow-nan", input_name="trials")
