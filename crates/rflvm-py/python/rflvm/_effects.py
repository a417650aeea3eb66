"""What drives columns, and what sets groups of rows apart."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _convergence
from ._by_name import rows_in_order
from ._impute import Imputing
from ._parameter import whole

#: A row, counted from 0, or coordinates along the axes of `embedding_`.
Place = Union[int, Sequence[float]]


class Effects(Imputing):
    """Questions about columns and about groups of rows."""

    def effects(
        self,
        along: Optional[int] = None,
        *,
        towards: Optional[Place] = None,
        at: Optional[Place] = None,
        path: Optional[Sequence[Place]] = None,
    ) -> Any:
        """What drives each column: where its variance comes from, its gradient, or its change along a path.

        Everything is on the scale of the link (logarithms of counts, log odds), where a column is the sum of a function of the position, effects
        of covariates and its own process over time; each draw is aligned to the axes of `embedding_`.

        Parameters
        ----------
        along : int, default=None
            The gradient of each column along this axis, counted from 0 as in `embedding_`; averaged over the rows, or `at` a place.
        towards : int or sequence of float, default=None
            The gradient towards a place instead: a row, counted from 0, or coordinates. It is taken `at` a place, or at the mean of all positions.
        at : int or sequence of float, default=None
            Where the gradient is taken.
        path : sequence of places, default=None
            How each column changes along the straight lines between these places.

        Returns
        -------
        DataFrame
            By default one line per source (`map`, the axes `x1`, `x2`, …, their `interaction`, `covariates`, `process`, `noise`) and column: the
            `variance` over the rows that comes from it, and its `share`, each with standard deviation and 5% and 95% quantiles. A gradient or a path gives
            one line per column, the largest in units of the column first, with the probability of its `direction`.
        """
        self._check_fitted()
        asked = [name for name, value in (("along", along), ("towards", towards), ("path", path)) if value is not None]
        if len(asked) > 1:
            raise ValueError(f"{asked[0]} and {asked[1]} are different questions; give one of them")
        if at is not None and asked not in (["along"], ["towards"]):
            raise ValueError("at is where a gradient is taken; give along or towards with it")
        _convergence.remind(self.diagnostics_)
        if path is not None:
            return frame(self._drawn.changes([place(point, "path") for point in path]))
        if not asked:
            return frame(self._drawn.variances())
        axis = None if along is None else whole(along, "along", least=0, most=10**6) + 1
        end, start = (None if point is None else place(point, name) for point, name in ((towards, "towards"), (at, "at")))
        return frame(self._drawn.gradients(along=axis, towards=end, at=start))

    def differences(
        self,
        groups: Any,
        between: Optional[tuple[Any, Any]] = None,
        *,
        size: float = 0.25,
        fdr: Optional[float] = None,
    ) -> Any:
        """Which columns differ between groups of rows, free of covariates and offsets.

        Parameters
        ----------
        groups : str or sequence
            One label per row, or the name of a covariate or of another column of the fit. Rows with a missing label are left out; a pandas series is
            matched by its index.
        between : pair of labels, default=None
            Compare two groups; by default each is compared with all others together.
        size : float, default=0.25
            Differences up to this size do not count: on the scale of the link, and in standard deviations of columns of real numbers.
        fdr : float, default=None
            Only the columns that are listed at this false discovery rate.

        Returns
        -------
        DataFrame
            One line per comparison and column, first the difference that is at least the largest (its 5% quantile, in units of the column):
            `difference` on the scale of the link with `sd`, `q05` and `q95`, the probability of its `direction`, the `p_value` of a difference up to
            `size`, `fdr`, the false discovery rate at which the column is listed, and `mean`, `mean_against` and `data_difference` on the scale of the
            data, at average covariates and the mean offset.
        """
        self._check_fitted()
        _convergence.remind(self.diagnostics_)
        pair = None if between is None else tuple(str(name) for name in between)
        if pair is not None and len(pair) != 2:
            raise ValueError(f"between has {len(pair)} labels, but two groups are compared; give two")
        level = None if fdr is None else float(fdr)
        return frame(self._drawn.differences(self._groups(groups), between=pair, size=float(size), fdr=level))

    def groups(self, groups: Any, *, k: int = 15, summary: bool = False) -> Any:
        """How sure groups of rows are: with which group each row is found.

        Parameters
        ----------
        groups : str or sequence
            As in `differences`.
        k : int, default=15
            How many rows are the nearest of a row.
        summary : bool, default=False
            One line per group instead: how sure its rows are on average, and how many of them lie between groups or with another.

        Returns
        -------
        DataFrame
            One line per row: the `probability` that one of its nearest rows belongs to its group, the most probable `other` group, its `standing`
            (inside, boundary: another group is at least half as probable, or elsewhere), and the probability of each group.
        """
        self._check_fitted()
        _convergence.remind(self.diagnostics_)
        return frame(self._drawn.groups(self._groups(groups), k=whole(k, "k", least=1, most=2**31), summary=bool(summary)))

    def _groups(self, groups: Any) -> Union[str, list[str]]:
        """The name of a column, or one text per row; a missing label has none."""
        if isinstance(groups, str):
            return groups
        labels = list(rows_in_order(groups, self._index_of_fit(), "groups", "the fitted table"))
        if len(labels) != len(self.embedding_):
            raise ValueError(f"groups has {len(labels)} labels, but the fit has {len(self.embedding_)} rows; give one for each row")
        return ["" if label is None or label != label else str(label) for label in labels]


def place(given: Any, name: str) -> Union[int, list[float]]:
    """A row or coordinates, as the engine takes them."""
    if np.ndim(given) == 0:
        return whole(given, name, least=0, most=2**31)
    return [float(x) for x in np.asarray(given).ravel()]


def frame(columns: dict[str, Any]) -> Any:
    """A data frame with the columns of an answer; names come with the place of each line's name."""
    import pandas

    texts = {name: np.array(values[0], object)[values[1]] for name, values in columns.items() if isinstance(values, tuple)}
    return pandas.DataFrame({**columns, **texts})
