"""Rows of the fit and new rows: their positions, and predictions of their cells."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _convergence, _native, _table
from ._anndata import is_anndata, refusal
from ._array import as_table
from ._covariates import CATEGORY, of_points, settings_of
from ._disk import OnDisk, on_disk
from ._given import Given, trials_of
from ._held import Held
from ._like import library_of, of_floats
from ._parameter import whole
from ._warn import warn

#: What the engine reports about a cell: its mean and standard deviation, and quantiles at 5%, 50% and 95%.
PARTS = MEAN, STD, LOWER, MEDIAN, UPPER = ("mean", "sd", "q05", "q50", "q95")
#: Each of these, rows × columns.
Cells = dict[str, np.ndarray]
#: Default number of draws of positions.
DRAWS = 200


class NewRows(Held, TransformerMixin):
    """Methods about rows."""

    embedding_: np.ndarray
    embedding_std_: np.ndarray
    embedding_cov_: np.ndarray
    embedding_between_modes_: Optional[np.ndarray]
    columns_: list[str]
    diagnostics_: dict

    def transform(
        self,
        X: Any,
        *,
        mask: Any = None,
        times: Any = None,
        sequences: Any = None,
        offset: Any = None,
        trials: Any = None,
        covariates: Any = None,
        return_std: bool = False,
        return_draws: Union[bool, int] = False,
    ) -> Any:
        """Place rows in the latent space: posterior means of their positions.

        Training rows keep their positions: a new row with the same cells has the same posterior. `return_std` adds standard deviations,
        `return_draws` adds draws of the positions (draws × rows × axes; pass a number to choose how many).
        """
        self._check_fitted()
        rows = _table.read(self._checked(X, reset=False), self._layout, mask)
        given = Given(times=times, sequences=sequences, offset=offset, trials=trials, covariates=covariates)
        mean, std, _, draws = self._place(rows, given, return_draws)
        answer = [mean] + [std] * bool(return_std) + [draws] * bool(return_draws)
        return answer[0] if len(answer) == 1 else tuple(answer)

    def score_samples(
        self,
        X: Any,
        *,
        mask: Any = None,
        times: Any = None,
        sequences: Any = None,
        offset: Any = None,
        trials: Any = None,
        covariates: Any = None,
    ) -> np.ndarray:
        """Log predictive density of each row given the fitted table, ln p(row | table)."""
        return self._new("log_density", X, Given(mask, times, sequences, offset, trials, covariates=covariates))

    def outlier_score(
        self,
        X: Any,
        *,
        mask: Any = None,
        times: Any = None,
        sequences: Any = None,
        offset: Any = None,
        trials: Any = None,
        covariates: Any = None,
    ) -> np.ndarray:
        """Fraction of training rows (leave-one-out) with higher predictive density than each of these rows: near 1 for rows unlike the training rows."""
        return self._new("transform", X, Given(mask, times, sequences, offset, trials, covariates=covariates))[0]["outlier_score"]

    def surprise(self, X: Any, **given: Any) -> np.ndarray:  # version 0.2
        """Earlier name of `outlier_score`."""
        warn("`surprise` is called `outlier_score` now", FutureWarning)  # version 0.2
        return self.outlier_score(X, **given)

    def score(self, X: Any, y: Any = None, **given: Any) -> float:
        """Mean of `score_samples`, for cross-validation."""
        return float(np.mean(self.score_samples(X, **given)))

    def predict(
        self,
        X: Any = None,
        *,
        mask: Any = None,
        times: Any = None,
        sequences: Any = None,
        offset: Any = None,
        trials: Any = None,
        covariates: Any = None,
        return_std: bool = False,
        return_interval: bool = False,
    ) -> Any:
        """What the fit expects of every cell of some rows, if they were observed again; of the fitted table if none are given.

        New rows bring their own `covariates`, as for `transform`. For the fitted table, `covariates`, such as {"batch": "A"}, replace those of
        all rows: what batch A would have shown of them.
        Expected values are floats, one column for each of `columns_`. `return_std` adds standard deviations, `return_interval` the
        5% and 95% quantiles of the predictive distribution.
        """
        self._check_fitted()
        _convergence.remind(self.diagnostics_)
        if X is None:
            rows = list(range(self.embedding_.shape[0]))
            cells, index = self._drawn.predict_rows(rows, covariates=settings_of(covariates)), self._index_of_fit()
            library = None if self._layout.like is None else self._layout.like.library
        elif hasattr(X, "tocsr"):
            # scikit-learn's checks expect one number per row of a prediction from sparse rows; here it would be a dense table.
            raise ValueError("predict does not take a sparse matrix, since it returns a dense table of that shape; pass X.toarray()")
        else:
            X = self._checked(X, reset=False)
            index, library = index_of(X), library_of(X)
            given = Given(times=times, sequences=sequences, offset=offset, trials=trials, covariates=covariates)
            cells = self._query_new("predict_new", _table.read(X, self._layout, mask), given)
        return self._answer(cells, library, index, return_std, return_interval)

    def inverse_transform(self, X: Any, *, covariates: Any = None, return_std: bool = False, return_interval: bool = False) -> Any:
        """Expected cells at positions in the latent space, one position per row, in the coordinates of `embedding_`.

        `covariates` is a mapping, such as {"batch": "A"} for all these rows, or a frame or mapping with one value per row; covariates that
        it does not name are at their average.
        """
        self._check_fitted()
        library = None if self._layout.like is None else self._layout.like.library
        places = check_array(X, dtype=np.float64)
        known = of_points(covariates, len(places), self._settings_now().get("covariates") or [])
        cells = self._drawn.predict_places(places, **known)
        return self._answer(cells, library, None, return_std, return_interval)

    def sample(self, n_samples: int = 1, *, trials: Any = None) -> np.ndarray:
        """Sample new rows: positions from their prior, cells from the posterior predictive distribution, n_samples × columns."""
        self._check_fitted()
        n_samples = whole(n_samples, "n_samples", least=1)
        if self._fit.times is not None:
            raise ValueError("rows of this fit follow paths over time; draw futures with forecast(..., draws=m)")
        count = min(n_samples, self._count())
        height, width = -(-n_samples // count), len(self.columns_)
        # The requested table may be larger than the one that is sampled at a time.
        _native.check_memory(min(n_samples, 2**62), width)
        values = _native.Values(height, width)
        values.hide(np.ones((height, width), dtype=bool))
        has_own = self._settings_now().get("offset") not in (None, "none", "size-factors")
        offset = [float(np.mean(self._fit.offset()))] * height if has_own else None
        covariates = self._covariates_of_fit(height)
        tables = self._query_new("predict_new", _table.Rows(values, height), Given(offset=offset, trials=trials, covariates=covariates), count=count)
        return tables.reshape(-1, width)[:n_samples]

    # Within.

    def _covariates_of_fit(self, rows: int) -> Optional[dict]:
        """Covariates for new rows: those of rows of the fit, in turn."""
        known = self._settings_now().get("covariates")
        if not known:
            return None
        cells = self._fit.covariates
        return {name.removesuffix(CATEGORY): [cells[c][n % len(cells[c])] for n in range(rows)] for c, name in enumerate(known)}

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def _checked(self, X: Any, reset: bool) -> Any:
        """The table, validated as scikit-learn requires, with as few copies as possible."""
        if is_anndata(X):
            raise TypeError(refusal(X, is_new=not reset))
        if (table := on_disk(X)) is not None:
            self._check_disk(table, reset)
            return table
        if library_of(X) is not None:
            X = X.collect() if type(X).__name__ == "LazyFrame" else X
            _native.check_memory(*X.shape)
            self._check_frame(X, reset)
            return X
        X = as_table(X)
        masked = X if np.ma.isMaskedArray(X) else None
        least = 2 if reset else 1
        checked = validate_data(self, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=least)
        if getattr(self.__sklearn_tags__().input_tags, "positive_only", False):  # type: ignore[attr-defined]
            self._check_positive(checked)
        return checked if masked is None else np.ma.MaskedArray(checked, np.ma.getmaskarray(masked))

    def _check_positive(self, X: Any) -> None:
        cells = X.data if hasattr(X, "tocsr") else X
        if cells.size and np.nanmin(cells) < 0:
            family = self.likelihood  # type: ignore[attr-defined]
            raise ValueError(f"Negative values in data passed to X in {type(self).__name__}: the family {family} takes counts")

    def _check_disk(self, X: OnDisk, reset: bool) -> None:
        known = None if reset else getattr(self, "feature_names_in_", None)
        check_size(X, reset, type(self).__name__)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if X.names is not None:
            names = np.asarray([str(name) for name in X.names], dtype=object)
            if known is not None and list(known) != list(names):
                raise ValueError("the columns of the file are not those of the fit; choose them by name, in the order of feature_names_in_")
            self.feature_names_in_ = names

    def _check_frame(self, X: Any, reset: bool) -> None:
        check_size(X, reset, type(self).__name__)
        _table.check_names(X)
        validate_data(self, X, reset=reset, skip_check_array=True)

    def _place(self, rows: _table.Rows, given: Given, wanted: Union[bool, int] = False) -> tuple[np.ndarray, ...]:
        """Mean, standard deviation, outlier score (NaN for rows of the fit) and draws of positions."""
        count = min(DRAWS, self._count()) if wanted is True else whole(wanted or 0, "return_draws")
        if count > self._count():
            raise ValueError(f"return_draws is {count}, but this fit has {self._count()} draws; ask for at most that many")
        known = None if given.times is not None or given.trials is not None else self._known(rows.values, given.offset)
        if known is not None and (known >= 0).all():
            outlier_score = np.full(len(known), np.nan)
            return self.embedding_[known], self.embedding_std_[known], outlier_score, self._draws_of_known(known, count)
        told, draws = self._query_new("transform", rows, given, draws=count)
        axes = range(1, self.embedding_.shape[1] + 1)
        mean, std = (np.column_stack([told[f"{part}{d}"] for d in axes]) for part in ("x", "sd"))
        return mean, std, told["outlier_score"], draws

    def _new(self, question: str, X: Any, given: Given) -> Any:
        self._check_fitted()
        return self._query_new(question, _table.read(self._checked(X, reset=False), self._layout, given.mask), given)

    def _query_new(self, question: str, rows: _table.Rows, given: Given, **more: Any) -> Any:
        """Ask the engine about new rows."""
        given.known = self._settings_now().get("covariates") or []
        about = given.words(rows)
        trials, trials_of_cells = trials_of(given.trials, rows)
        new = self._fit.new_rows(rows.values, trials=trials, trials_of_cells=trials_of_cells, **about)
        return getattr(self._drawn, question)(new, **more)

    def _known(self, values: _native.Values, offset: Any) -> Optional[np.ndarray]:
        """The index of each row in the fitted table, -1 for new rows; None if cells alone do not identify a row."""
        settings = self._settings_now()
        has_own = settings.get("offset") not in (None, "none", "size-factors") or offset is not None
        if settings.get("time") or settings.get("trials") or settings.get("covariates") or has_own:
            return None
        return np.asarray(self._fit.known(values))

    def _draws_of_known(self, known: np.ndarray, count: int) -> np.ndarray:
        """Positions of training rows in some draws, evenly spaced."""
        if not count:
            return np.empty((0, len(known), self.embedding_.shape[1]))
        positions = self.posterior_["x"][:, :, known]
        flat = positions.reshape(-1, *positions.shape[2:])
        return flat[(2 * np.arange(count) + 1) * len(flat) // (2 * count)]

    def _index_of_fit(self) -> Any:
        """The index of the fitted frame; for a loaded fit, the names of its rows, if there are any."""
        index, ids = getattr(self, "_index", None), self._fit.ids
        return ids if index is None and ids != [str(n + 1) for n in range(len(ids))] else index

    def _answer(self, answer: Any, library: Optional[str], index: Any, return_std: bool, return_interval: bool) -> Any:
        """The mean, and whatever else was requested, in a frame of the same library as the table."""
        cells = parts_of(answer, len(self.columns_))
        wanted = [MEAN] + [STD] * bool(return_std) + [LOWER, UPPER] * bool(return_interval)
        parts = [of_floats(library, cells[part], self.columns_, index) for part in wanted]
        return parts[0] if len(parts) == 1 else tuple(parts)


def parts_of(answer: Any, width: int) -> Cells:
    """The parts of predictions of all cells of some rows, rows × columns."""
    return {part: answer[part].reshape(-1, width) for part in PARTS}


def check_size(X: Any, reset: bool, name: str) -> None:
    """Reject tables that are too small."""
    rows, columns = X.shape
    if rows < (2 if reset else 1) or not columns:
        raise ValueError(
            f"Found array with {rows} sample(s) and {columns} feature(s) (shape=({rows}, {columns})) "
            f"while a minimum of {2 if reset else 1} is required by {name}."
        )


def deviations(covariance: np.ndarray) -> np.ndarray:
    """Standard deviations per axis, from the covariance matrix of each row."""
    return np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))


def index_of(X: Any) -> Any:
    """The index of a pandas frame."""
    return X.index if library_of(X) == "pandas" else None
