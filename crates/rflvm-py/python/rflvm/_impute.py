"""Completed tables, in the dtypes of the user's frame."""

from __future__ import annotations

from typing import Any, Iterator, Optional

import numpy as np

from . import _convergence, _table
from ._by_name import rows_in_order
from ._families import CATEGORIES, COUNTS
from ._given import Given
from ._like import Like, library_of, of_floats
from ._parameter import whole
from ._rows import LOWER, MEAN, MEDIAN, PARTS, STD, UPPER, Cells, NewRows, index_of, parts_of
from ._table import Layout
from ._warn import warn


class Imputing(NewRows):
    """Imputation of missing cells."""

    def impute(
        self,
        X: Any = None,
        *,
        mask: Any = None,
        times: Any = None,
        sequences: Any = None,
        offset: Any = None,
        trials: Any = None,
        return_mean: bool = False,
        return_std: bool = False,
        return_interval: bool = False,
        draws: Optional[int] = None,
    ) -> Any:
        """Fill the missing cells of the fitted table, or of new rows.

        A frame is returned as a frame with the same names and dtypes: real values are filled with posterior means, counts with
        and ordered levels with (integer) medians of their predictive distribution, booleans and categories with the most probable value. An array is filled
        with posterior means; cells whose mean does not exist, those of log-normal columns and of counts with their own processes, with medians. Observed cells
        are not changed.

        Parameters
        ----------
        X : as in `fit`, default=None
            New rows. By default, the table that was fitted.
        mask, times, sequences, offset, trials
            Of the new rows, as in `fit`.
        return_mean : bool, default=False
            Also return the posterior means of the expected values, as floats, with one column for each of `columns_`; for categories,
            these are the probabilities of their levels.
        return_std : bool, default=False
            Also return the standard deviations of the predictive distribution, in the same form; 0 for observed cells.
        return_interval : bool, default=False
            Also return the 5% and 95% quantiles of the predictive distribution, in the form of the filled table; those of counts
            are integers. Categories have no order, so missing categories stay missing there.
        draws : int, default=None
            Return this many completed tables instead, each from a different draw of the posterior, for multiple imputation: a list
            of frames, or an array of draws × rows × columns.

        Returns
        -------
        filled, or a tuple of those requested, in the order filled, mean, std, lower, upper
        """
        self._check_fitted()
        _convergence.remind(self.diagnostics_)
        if X is None:
            like, index, seen = self._layout.like, self._index_of_fit(), self._fit.table()
            if draws is not None:
                tables = self._drawn.missing(whole(draws, "draws", least=1))
            else:
                cells = self._completed(seen)
        else:
            X = self._checked(X, reset=False)
            rows = _table.read(X, self._layout, mask)
            levels = [column.levels or column.order for column in self._layout.columns]
            like = None if library_of(X) is None else Like.of(X, _table.series_of(X), self._layout.like, levels)
            index, seen = index_of(X), rows.values.to_numpy()
            given = Given(times=times, sequences=sequences, offset=offset, trials=trials)
            if draws is not None:
                tables = self._query_new("predict_new", rows, given, count=whole(draws, "draws", least=1))
                tables = np.where(np.isnan(seen), tables, seen)
            else:
                cells = around(seen, parts_of(self._query_new("predict_new", rows, given), len(self.columns_)))
        if draws is not None:
            return tables if like is None else [like.frame(list(drawn(table, self._layout)), index) for table in tables]
        if like is None:
            parts = {part: cells[part] for part in (MEAN, STD, LOWER, UPPER)}
            # Counts with their own processes have no mean.
            filled = np.where(np.isnan(parts[MEAN]), cells[MEDIAN], parts[MEAN])
        else:
            hole = np.isnan(seen)
            parts = {part: of_floats(like.library, cells[part], self.columns_, index) for part in (MEAN, STD)}
            filled, parts[LOWER], parts[UPPER] = (like.frame(list(typed(cells, hole, self._layout, part)), index) for part in (MEDIAN, LOWER, UPPER))
        wanted = [MEAN] * bool(return_mean) + [STD] * bool(return_std) + [LOWER, UPPER] * bool(return_interval)
        return filled if not wanted else (filled, *(parts[part] for part in wanted))

    def score_missing(self, X: Any) -> Any:
        """Score the predictions of missing cells whose true values are known.

        Parameters
        ----------
        X : as in `fit`
            The true values: the rows and columns of the fitted table. Only cells that were missing there and are known here are scored.
            Rows of a pandas frame are matched by the index.

        Returns
        -------
        scores : pandas.DataFrame
            One line per column with such cells, and a last one, `all`, for all cells: `cells`, their number; `mse`, the squared error of
            the mean; `mae`, the absolute error of the median; `crps`, the continuous ranked probability score (these three in units of the
            column's standard deviation); `log_density`, the mean log predictive density; `in50` and `in90`, the fraction of cells in the
            central intervals.
        """
        import pandas as pd

        self._check_fitted()
        X = rows_in_order(X, self._index_of_fit(), "X", "the fitted table")
        truth = _table.read(self._checked(X, reset=False), self._layout, None).values.to_numpy()
        return pd.DataFrame(self._drawn.score_missing(truth)).set_index("column")

    def _completed(self, seen: np.ndarray) -> Cells:
        """The completed table: mean, standard deviation, and three quantiles."""
        cells = {part: np.zeros_like(seen) if part == STD else seen.copy() for part in PARTS}
        if np.isnan(seen).any():
            if advice := self._drawn.larger_dim():
                warn(advice)
            found = self._drawn.missing()
            # Ordered levels have further lines, with their probabilities.
            own = found["column"][1] < seen.shape[1]
            for part in PARTS:
                cells[part][found["row"][own] - 1, found["column"][1][own]] = found[part][own]
        return cells


def around(seen: np.ndarray, cells: Cells) -> Cells:
    """Observed cells unchanged, missing cells as predicted."""
    hole = np.isnan(seen)
    return {part: np.where(hole, own, 0.0 if part == STD else seen) for part, own in cells.items()}


def typed(cells: Cells, hole: np.ndarray, layout: Layout, part: str) -> Iterator[np.ndarray]:
    """The values that fill each column of the user's table (MEDIAN), or a quantile; categories as indices of their levels."""
    for column, places in layout.places():
        if column.levels is not None:
            best = np.argmax(cells[MEAN][:, places], axis=1).astype(float)
            # Categories have no quantiles.
            yield best if part == MEDIAN else np.where(hole[:, places].any(axis=1), np.nan, best)
            continue
        j = places.start
        if column.order is not None:
            # An interval is widened to levels, the median is rounded; levels are counted from 1, and their places from 0.
            up = {LOWER: 0.0, MEDIAN: 0.5, UPPER: 1.0 - 1e-9}[part]
            yield np.floor(cells[part][:, j] + up) - 1
        elif column.family not in COUNTS:
            # Amounts have no mean.
            yield np.where(np.isnan(cells[MEAN][:, j]), cells[MEDIAN][:, j], cells[MEAN][:, j]) if part == MEDIAN else cells[part][:, j]
        elif column.family in CATEGORIES and part == MEDIAN:
            # The total of a missing row is unknown: probabilities are more informative than counts of a single trial.
            yield cells[MEAN][:, j]
        else:
            # The interval is widened to integers, the median is rounded.
            up = {LOWER: 0.0, MEDIAN: 0.5, UPPER: 1.0 - 1e-9}[part]
            yield np.floor(cells[part][:, j] + up)


def drawn(table: np.ndarray, layout: Layout) -> Iterator[np.ndarray]:
    """The columns of a sampled table; categories as indices of their levels."""
    for column, places in layout.places():
        if column.levels is not None:
            yield np.argmax(table[:, places], axis=1).astype(float)
        else:
            yield table[:, places.start] - (column.order is not None)
