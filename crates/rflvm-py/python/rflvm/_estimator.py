"""The estimator: scikit-learn's manners over the engine."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from numbers import Integral
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _native, _settings, _table
from ._folder import Folder
from ._forecast import Forecast
from ._handle import Handle
from ._posterior import Posterior

#: Where Python keeps what the program has no use for.
ABOUT = "python.json"
#: Rows and columns to warn of one by one.
SOME = 3


class RFLVM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random feature latent variable model: latent positions of the rows of a table, with their uncertainty.

    Each row has a position in a space of few axes, each column is a smooth unknown function of it, and each cell is a draw of its
    column's family. Positions, functions and the kernel are learnt together, by exact Markov chain Monte Carlo.

    Parameters
    ----------
    n_components : int or "auto" or "auto:K", default=2
        Latent axes. "auto" begins with 6 (or K) and lets those go that the data do not ask for.
    likelihood : str or mapping, default="gaussian"
        Family of the columns: "gaussian", "student-t", "poisson", "negative-binomial", "zero-inflated-poisson", "bernoulli", "binomial",
        "multinomial"; a mapping from columns to families; or "auto": by the kinds of the columns, bool → bernoulli, unsigned →
        negative-binomial, categories and text → multinomial, float → gaussian. Columns that a mapping does not name go by their kinds.
    n_features : int, default=100
        Random features, an even number.
    kernel : "learned" or "rbf", default="learned"
        Kernel, learnt with the frequencies, or fixed with `length_scale`.
    length_scale : float, default=1.0
        Of the fixed kernel.
    amplitude : float or "learned", default=1.0
        Variance of the weights, for all columns or one a column.
    offset : None or "size-factors", default=None
        Known offset of each row on the link scale: "size-factors" for counts whose row totals say nothing. `fit` takes numbers.
    trials : int, default=None
        Trials of each cell of a binomial. `fit` takes a table of them.
    time_kernel : {"rbf", "matern12", "matern32", "matern52", "cauchy"}, default="rbf"
        How alike positions are at two times, where `fit` is given times.
    time_trend : bool, default=False
        Whether to add a straight line in time to each path.
    time_form : {"automatic", "dense", "state-space", "inducing"}, default="automatic"
        How the covariance of a path is held.
    inducing : int, default=64
        Inducing points of a sequence, where they are used.
    warmup, draws, thin : int, default=1000, 1000, 1
        Sweeps before draws are kept, draws kept of each chain, sweeps a draw.
    chains : int, default=2
        Chains, which run side by side.
    start : {"pca", "random", "map"}, default="pca"
        Where chains begin.
    keep : sequence of str, default=("w", "beta", "theta")
        What is stored of each draw beside the positions: of "w", "beta", "theta", "f". Predictions need the first three.
    checkpoint : float, default=30.0
        Seconds between checkpoints.
    instructions : {"best", "avx2", "baseline"}, default="best"
        The most the processor may use of its instruction sets.
    random_state : int, RandomState or None, default=None
        The seed, from which all randomness follows. The same seed gives the same draws as the program `rflvm` and the Rust library.
    n_jobs : int or None, default=None
        Threads: all cores for None and -1. Results do not depend on it.
    progress : bool, default=True
        Whether to show how far a fit is.
    store : path or None, default=None
        Folder to keep the fit in: draws stream to it, the program `rflvm` reads it, and a fit that was stopped can be resumed from it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Posterior mean of each row's position.
    embedding_std_ : ndarray of the same shape
        Its standard deviation.
    embedding_cov_ : ndarray of shape (n_samples, n_components, n_components)
        Its covariance.
    posterior_ : Posterior
        All draws, by name.
    diagnostics_ : dict
        Whether the chains have converged: `verdict`, `words`, and effective draws and R̂ of each quantity.
    columns_ : list of str
        Columns of the model: those of the table, categories as one a level.
    seed_ : int
        The seed that was used.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    def __init__(
        self,
        n_components: Union[int, str] = 2,
        likelihood: Union[str, Mapping] = "gaussian",
        *,
        n_features: int = 100,
        kernel: str = "learned",
        length_scale: float = 1.0,
        amplitude: Union[float, str] = 1.0,
        offset: Optional[str] = None,
        trials: Optional[int] = None,
        time_kernel: str = "rbf",
        time_trend: bool = False,
        time_form: str = "automatic",
        inducing: int = 64,
        warmup: int = 1000,
        draws: int = 1000,
        thin: int = 1,
        chains: int = 2,
        start: str = "pca",
        keep: Sequence[str] = ("w", "beta", "theta"),
        checkpoint: float = 30.0,
        instructions: str = "best",
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        progress: bool = True,
        store: Optional[Union[str, os.PathLike]] = None,
    ):
        self.n_components = n_components
        self.likelihood = likelihood
        self.n_features = n_features
        self.kernel = kernel
        self.length_scale = length_scale
        self.amplitude = amplitude
        self.offset = offset
        self.trials = trials
        self.time_kernel = time_kernel
        self.time_trend = time_trend
        self.time_form = time_form
        self.inducing = inducing
        self.warmup = warmup
        self.draws = draws
        self.thin = thin
        self.chains = chains
        self.start = start
        self.keep = keep
        self.checkpoint = checkpoint
        self.instructions = instructions
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.store = store

    # Fitting.

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        mask: Any = None,
        times: Any = None,
        sequences: Any = None,
        offset: Any = None,
        trials: Any = None,
        row_names: Optional[Sequence] = None,
        store: Optional[Union[str, os.PathLike]] = None,
        blocking: bool = True,
        overwrite: bool = False,
    ) -> Any:
        """Fit a table.

        Parameters
        ----------
        X : array, sparse matrix, or frame of pandas, polars or pyarrow, of shape (n_samples, n_features)
            One row a sample. NaN, null and masked cells are missing.
        y : ignored
        mask : array of bool of the shape of X, default=None
            True where a cell is to be taken as missing.
        times : one a row, default=None
            When rows were observed, as numbers or dates, in any order: positions then follow a smooth path over time.
        sequences : one a row, default=None
            To which sequence (trial, recording) a row belongs: each has a path of its own.
        offset : array of float, one a row, default=None
            Known offset on the link scale.
        trials : int or array of the shape of X, default=None
            Trials of the cells of a binomial.
        row_names : one a row, default=None
            Names of the rows in messages and stores; the index of a pandas frame by default.
        store : path, default=None
            Folder to keep this fit in, in place of the parameter of that name.
        blocking : bool, default=True
            False returns a `Handle` at once, while the fit goes on in the background.
        overwrite : bool, default=False
            Whether to replace the fit that the folder `store` holds.

        Returns
        -------
        RFLVM or Handle
            This model; Ctrl-C returns what is done so far.
        """
        fit = self._prepare(X, mask, times, sequences, offset, trials, row_names, self.store if store is None else store, overwrite)
        handle = self._begin(fit.start())
        return handle.wait() if blocking else handle

    def resume(self, *, draws: Optional[int] = None, blocking: bool = True) -> Any:
        """Go on with a fit that was stopped, killed or interrupted, as if it had never been; or to `draws` draws a chain in all.

        A fit in a folder is taken up by a model with the same `store`.
        """
        if not hasattr(self, "_folder"):
            if self.store is None:
                raise ValueError("there is nothing to resume; fit first, or name the folder of a fit with store")
            self._adopt(Folder(self.store))
        self._fit = _native.Fit.open(self._folder.path, threads=_settings.threads(self), draws=draws)
        handle = self._begin(self._fit.resume())
        return handle.wait() if blocking else handle

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit a table, and return the positions of its rows."""
        return self.fit(X, y, **fit_params).embedding_

    def map(
        self,
        X: Any,
        *,
        mask: Any = None,
        times: Any = None,
        sequences: Any = None,
        offset: Any = None,
        trials: Any = None,
        starts: int = 1,
        return_std: bool = False,
    ) -> Any:
        """See a table in seconds: positions at the maximum of their posterior. The model is not fitted by this.

        `return_std` adds the standard deviation of each position with all else known, which is too small.
        """
        other = type(self)(**self.get_params(deep=False))
        fit = other._prepare(X, mask, times, sequences, offset, trials, None, None, False)
        mean, covariance, (_, _, converged) = fit.map(starts=starts)
        if not converged:
            warnings.warn("the climb had not ended when its rounds were up; positions may still change a little", stacklevel=2)
        return (mean, deviations(covariance)) if return_std else mean

    def _prepare(
        self, X: Any, mask: Any, times: Any, sequences: Any, offset: Any, trials: Any, row_names: Any, store: Any, overwrite: bool
    ) -> _native.Fit:
        """Checks everything that can be checked, and makes the folder ready."""
        X = self._checked(X, reset=True)
        self._layout = _table.learn(X, self.likelihood, None)
        rows = _table.read(X, self._layout, mask)
        if row_names is not None:
            rows.ids = _table.texts_of(row_names, rows.count, "row_names")
        about = self._about(rows.count, times, sequences, offset)
        seed = _settings.seed(self)
        settings = _settings.settings(self, seed, times is not None, sequences is not None, offset is not None)
        folder = Folder(store)
        with tempfile.TemporaryDirectory(prefix="rflvm-") as scratch:
            aside = Path(scratch)
            if not self._layout.is_uniform:
                (aside / "blocks.csv").write_text(self._layout.blocks(), encoding="utf-8")
                settings["blocks"] = "blocks.csv"
            else:
                settings["likelihood"] = self._layout.columns[0].family
                settings["trials"] = self._put_trials(trials, aside)
            (aside / ABOUT).write_text(json.dumps(self._memory()), encoding="utf-8")
            fit = _native.Fit(
                rows.values, self._layout.names, self._layout.named, json.dumps(settings), folder.path, aside, ids=rows.ids, **about
            )
            fit.claim(overwrite)
            folder.take(aside)
        for warning in fit.warnings[:SOME]:
            warnings.warn(warning, stacklevel=3)
        if len(fit.warnings) > SOME:
            warnings.warn(f"{len(fit.warnings) - SOME} more rows or columns are as those of the last warnings", stacklevel=3)
        self._folder, self._fit = folder, fit
        self._drawn_: Optional[_native.Drawn] = None
        self._index = index_of(X)
        self.seed_ = seed
        return fit

    def _begin(self, job: _native.Job) -> Handle:
        return Handle(job, self._finish, progress=bool(self.progress))

    def _finish(self, outcome: str) -> RFLVM:
        """Takes in what was drawn."""
        try:
            self._drawn_ = self._fit.drawn()
        except ValueError:
            if outcome == "stopped":
                raise RuntimeError("the fit was stopped before its first draw; resume() goes on with it") from None
            raise
        if outcome == "stopped":
            done, asked = self._drawn_.size[1], json.loads(self._fit.settings())["run"]["draws"]
            warnings.warn(f"the fit was stopped after {done} of {asked} draws; resume() goes on with it", stacklevel=4)
        self._learn()
        for n, chain in enumerate(self.diagnostics_["chains"]):
            if not chain["used"]:
                warnings.warn(
                    f"chain {n + 1} sits in a lesser mode ({chain['below_best']:.0f} below the best) and is set aside; "
                    "run more chains to see how common its mode is",
                    stacklevel=4,
                )
        return self

    def _learn(self) -> None:
        """Learned attributes, from the draws."""
        drawn = self._drawn()
        self.embedding_, self.embedding_cov_ = drawn.embedding()
        self.embedding_std_ = deviations(self.embedding_cov_)
        self.posterior_ = Posterior(drawn)
        self.diagnostics_ = json.loads(drawn.diagnostics())
        self.columns_ = list(self._fit.columns)
        self._n_features_out = self.embedding_.shape[1]

    # New rows.

    def transform(
        self,
        X: Any,
        *,
        mask: Any = None,
        times: Any = None,
        sequences: Any = None,
        offset: Any = None,
        trials: Any = None,
        return_std: bool = False,
        return_draws: Union[bool, int] = False,
    ) -> Any:
        """Place rows in the latent space: posterior means of their positions.

        Rows that the fit has seen are where the fit has them: a new row with the same cells has the same posterior. `return_std` adds
        standard deviations, `return_draws` draws of the positions (draws × rows × axes; a number asks for so many).
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        rows = _table.read(X, self._layout, mask)
        count = min(200, self._size()) if return_draws is True else int(return_draws)
        known = None if times is not None or trials is not None else self._known(rows.values, offset)
        if known is not None and (known >= 0).all():
            mean, std = self.embedding_[known], self.embedding_std_[known]
            draws = self._draws_of_known(known, count)
        else:
            mean, covariance, _, draws = self._ask_new("transform", rows, times, sequences, offset, trials, draws=count)
            std = deviations(covariance)
            if known is not None and (known >= 0).any():
                old = known >= 0
                mean[old], std[old] = self.embedding_[known[old]], self.embedding_std_[known[old]]
                draws[:, old] = self._draws_of_known(known[old], count)
        answer = [mean] + [std] * bool(return_std) + [draws] * bool(return_draws)
        return answer[0] if len(answer) == 1 else tuple(answer)

    def score_samples(self, X: Any, *, mask: Any = None, times: Any = None, sequences: Any = None, offset: Any = None, trials: Any = None) -> np.ndarray:
        """ln p(row | table) of each row: the higher, the better the fit expected it."""
        return self._new("log_density", X, mask, times, sequences, offset, trials)

    def surprise(self, X: Any, *, mask: Any = None, times: Any = None, sequences: Any = None, offset: Any = None, trials: Any = None) -> np.ndarray:
        """Share of the fit's own rows, each seen by a fit without it, that surprise less than each of these: near 1 for rows of another kind."""
        return self._new("transform", X, mask, times, sequences, offset, trials)[2]

    def score(self, X: Any, y: Any = None, **given: Any) -> float:
        """Mean of `score_samples`: what cross-validation compares."""
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
        return_std: bool = False,
        return_interval: bool = False,
    ) -> Any:
        """What the fit expects of every cell of some rows, if they were seen again; of the fitted table if none are given.

        `return_std` adds standard deviations, `return_interval` the 5% and 95% quantiles of the predictive distribution.
        """
        check_is_fitted(self)
        if X is None:
            cells, index = self._drawn().predict_rows(list(range(self.embedding_.shape[0]))), self._index_of_fit()
        elif hasattr(X, "tocsr"):
            # scikit-learn's checks expect one number a row of a prediction from sparse rows; here it would be a dense table.
            raise ValueError("predict takes no sparse matrix, since what it returns is a table of that shape; give X.toarray()")
        else:
            X, index = self._checked(X, reset=False), index_of(X)
            cells = self._ask_new("predict_new", _table.read(X, self._layout, mask), times, sequences, offset, trials)
        return self._answer(cells, index, return_std, return_interval)

    def impute(
        self,
        X: Any = None,
        *,
        mask: Any = None,
        times: Any = None,
        sequences: Any = None,
        offset: Any = None,
        trials: Any = None,
        return_std: bool = False,
        return_interval: bool = False,
        draws: Optional[int] = None,
    ) -> Any:
        """Fill the missing cells with their posterior means; of the fitted table if no rows are given.

        `return_std` adds standard deviations and `return_interval` 5% and 95% quantiles, both of observed cells as they are (0, and the
        cell itself). `draws=m` returns m completed tables instead (m × rows × columns), each from another draw: multiple imputation.
        """
        check_is_fitted(self)
        if X is None:
            if draws is not None:
                return self._drawn().completed(draws)
            return self._answer(self._completed(), self._index_of_fit(), return_std, return_interval)
        checked = self._checked(X, reset=False)
        rows = _table.read(checked, self._layout, mask)
        seen = rows.values.to_numpy()
        if draws is not None:
            tables = self._ask_new("replicas_new", rows, times, sequences, offset, trials, count=draws)
            return np.where(np.isnan(seen), tables, seen)
        cells = self._ask_new("predict_new", rows, times, sequences, offset, trials)
        return self._answer(self._around(seen, cells), index_of(X), return_std, return_interval)

    def inverse_transform(self, X: Any, *, return_std: bool = False, return_interval: bool = False) -> Any:
        """What the fit expects of every cell at places of the latent space, one a row, in the frame of `embedding_`."""
        check_is_fitted(self)
        places = check_array(X, dtype=np.float64)
        return self._answer(self._drawn().predict_places(places), None, return_std, return_interval)

    def sample(self, n_samples: int = 1, *, trials: Any = None) -> np.ndarray:
        """Rows that the fit makes up: positions from their prior, cells from the posterior, n_samples × columns."""
        check_is_fitted(self)
        if self._fit.times is not None:
            raise ValueError("rows of this fit follow paths over time; draw futures with forecast(..., draws=m)")
        count = min(n_samples, self._size())
        height = -(-n_samples // max(count, 1))
        values = _native.Values(height, len(self.columns_))
        values.hide(np.ones((height, len(self.columns_)), dtype=bool))
        offset = None if self._settings_now().get("offset") in (None, "none", "size-factors") else [float(np.mean(self._fit.offset()))] * height
        rows = _table.Rows(values, height)
        tables = self._ask_new("replicas_new", rows, None, None, offset, trials, count=count)
        return tables.reshape(-1, tables.shape[2])[:n_samples]

    def forecast(
        self, times: Any = None, *, horizon: Optional[int] = None, sequence: Any = None, draws: Optional[int] = None
    ) -> Any:
        """What a fit with times expects of new times: those given, or `horizon` steps beyond the last of each sequence.

        Returns a `Forecast`; `draws=m` returns m simulated futures instead, m × new times × columns.
        """
        check_is_fitted(self)
        texts = None if times is None else [_table.text_of_time(t, n) for n, t in enumerate(np.atleast_1d(np.asarray(times)))]
        name = None if sequence is None else str(sequence)
        when, which, cells = self._drawn().forecast(times=texts, horizon=horizon, sequence=name, count=draws or 0)
        if draws:
            return cells
        sequences = None if self._fit.sequences is None else which
        return Forecast(when, sequences, self.columns_, *cells)

    # What was learnt.

    def to_arviz(self, *, log_likelihood: Optional[str] = None, thin: int = 1) -> Any:
        """The draws for ArviZ; see `Posterior.to_arviz`."""
        check_is_fitted(self)
        return self.posterior_.to_arviz(log_likelihood=log_likelihood, thin=thin)

    def kernel_curves(self) -> dict[str, dict[str, dict[str, np.ndarray]]]:
        """The kernel and its spectral density, along each axis ("x1", …) and over "all" directions, with 5% and 95% quantiles."""
        check_is_fitted(self)
        names = ("at", "mean", "lower", "upper")
        kernel, density = self._drawn().kernel()
        return {
            "kernel": {curve[0]: dict(zip(names, curve[1:])) for curve in kernel},
            "density": {curve[0]: dict(zip(names, curve[1:])) for curve in density},
        }

    def covariance(self, rows: Optional[Sequence[int]] = None) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and standard deviation of K(X, X) of some rows."""
        check_is_fitted(self)
        return self._drawn().covariance(list(range(self.embedding_.shape[0])) if rows is None else [int(n) for n in rows])

    def check(self) -> dict:
        """Does the model make tables like the one that was fitted? Posterior predictive p-values, with what small ones suggest if the fit has converged."""
        check_is_fitted(self)
        return json.loads(self._drawn().check())

    # scikit-learn.

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = isinstance(self.likelihood, str) and self.likelihood in _table.COUNTS
        tags.input_tags.categorical = self.likelihood == "auto" or not isinstance(self.likelihood, str)
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def __getstate__(self) -> dict:
        state = dict(super().__getstate__())
        # The engine's objects are opened again from the folder.
        for name in ("_fit", "_drawn_", "posterior_"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if hasattr(self, "_folder") and hasattr(self, "embedding_"):
            self._fit = _native.Fit.open(self._folder.path, threads=_settings.threads(self))
            self._drawn_ = None
            self.posterior_ = Posterior(self._drawn())

    # Within.

    def _drawn(self) -> _native.Drawn:
        if self._drawn_ is None:
            self._drawn_ = self._fit.drawn()
        return self._drawn_

    def _size(self) -> int:
        drawn = self._drawn()
        return len(drawn.used) * drawn.size[1]

    def _settings_now(self) -> dict:
        return json.loads(self._fit.settings())

    def _put_trials(self, trials: Any, aside: Path) -> Optional[str]:
        """Trials as the program names them: a number, or a file of them."""
        trials = self.trials if trials is None else trials
        if trials is None:
            return None
        if isinstance(trials, Integral):
            return str(int(trials))
        path = aside / "trials.npy"
        np.save(path, check_array(trials, dtype=np.float64, ensure_all_finite="allow-nan"))
        return "trials.npy"

    def _about(self, rows: int, times: Any, sequences: Any, offset: Any) -> dict:
        """What is known of rows beside their cells, in the engine's words."""
        if sequences is not None and times is None:
            raise ValueError("sequences are given without times; give times too, or leave the sequences out")
        return {
            "times": None if times is None else _table.texts_of_times(times, rows),
            "sequences": None if sequences is None else _table.texts_of(sequences, rows, "sequences"),
            "offset": None if offset is None else np.asarray(offset, dtype=float).ravel().tolist(),
        }

    def _checked(self, X: Any, reset: bool) -> Any:
        """The table as scikit-learn wants it looked at; nothing is copied that need not be."""
        frame = _table.kind_of_frame(X)
        if frame is not None:
            if frame == "polars" and hasattr(X, "collect") and not hasattr(X, "shape"):
                X = X.collect()
            self._check_frame(X, reset)
            return X
        masked = X if np.ma.isMaskedArray(X) else None
        checked = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
        if getattr(self.__sklearn_tags__().input_tags, "positive_only", False):
            self._check_positive(checked)
        return checked if masked is None else np.ma.MaskedArray(checked, np.ma.getmaskarray(masked))

    def _check_positive(self, X: Any) -> None:
        cells = X.data if hasattr(X, "tocsr") else X
        if cells.size and np.nanmin(cells) < 0:
            raise ValueError(f"Negative values in data passed to X in {type(self).__name__}: the family {self.likelihood} takes counts")

    def _check_frame(self, X: Any, reset: bool) -> None:
        names = [name for name, _ in _table.series_of(X)]
        if len(X) < (2 if reset else 1) or not names:
            raise ValueError(
                f"Found array with {len(X)} sample(s) and {len(names)} feature(s) (shape=({len(X)}, {len(names)})) "
                f"while a minimum of {2 if reset else 1} is required by {type(self).__name__}."
            )
        validate_data(self, X, reset=reset, skip_check_array=True)

    def _memory(self) -> dict:
        """What Python must know of a fit when it is loaded again."""
        names = getattr(self, "feature_names_in_", None)
        return {
            "layout": self._layout.to_json(),
            "n_features_in": int(self.n_features_in_),
            "feature_names_in": None if names is None else [str(name) for name in names],
        }

    def _adopt(self, folder: Folder) -> None:
        """Takes over the fit that a folder holds."""
        self._fit = _native.Fit.open(folder.path, threads=_settings.threads(self))
        self._folder, self._drawn_ = folder, None
        settings = self._settings_now()
        self.seed_ = settings["run"]["seed"]
        about = folder.path / ABOUT
        if about.exists():
            stored = json.loads(about.read_text(encoding="utf-8"))
            self._layout = _table.Layout.from_json(stored["layout"])
            self.n_features_in_ = stored["n_features_in"]
            names = stored["feature_names_in"]
        else:
            pairs = zip(self._fit.columns, self._fit.families)
            self._layout = _table.Layout([_table.Column(n, f) for n, f in pairs], self._fit.named)
            self.n_features_in_ = len(self._fit.columns)
            names = list(self._fit.columns) if self._fit.named else None
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def _new(self, question: str, X: Any, mask: Any, times: Any, sequences: Any, offset: Any, trials: Any) -> Any:
        check_is_fitted(self)
        rows = _table.read(self._checked(X, reset=False), self._layout, mask)
        return self._ask_new(question, rows, times, sequences, offset, trials)

    def _ask_new(self, question: str, rows: _table.Rows, times: Any, sequences: Any, offset: Any, trials: Any, **more: Any) -> Any:
        """Asks the engine about new rows."""
        about = self._about(rows.count, times, sequences, offset)
        with tempfile.TemporaryDirectory(prefix="rflvm-") as scratch:
            name = None if trials is None else self._put_trials(trials, Path(scratch))
            if name == "trials.npy":
                name = str(Path(scratch) / name)
            new = self._fit.new_rows(rows.values, trials=name, **about)
        return getattr(self._drawn(), question)(new, **more)

    def _known(self, values: _native.Values, offset: Any) -> Optional[np.ndarray]:
        """For each row its place in the fitted table, -1 if it is not there; None where rows are more than their cells."""
        settings = self._settings_now()
        has_own = settings.get("offset") not in (None, "none", "size-factors") or offset is not None
        if settings.get("time") or settings.get("trials") or has_own:
            return None
        return np.asarray(self._fit.known(values))

    def _draws_of_known(self, known: np.ndarray, count: int) -> np.ndarray:
        """Positions of rows of the fit in some of its draws, evenly spaced."""
        if not count:
            return np.empty((0, len(known), self.embedding_.shape[1]))
        positions = self.posterior_["x"][:, :, known]
        flat = positions.reshape(-1, *positions.shape[2:])
        if count > len(flat):
            raise ValueError(f"return_draws is {count}, but this fit has {len(flat)} draws; ask for as many at most")
        return flat[(2 * np.arange(count) + 1) * len(flat) // (2 * count)]

    def _completed(self) -> np.ndarray:
        """The fitted table, its holes filled: mean, sd, and three quantiles."""
        seen = self._fit.table()
        cells = np.stack([seen, np.zeros_like(seen), seen, seen, seen])
        if np.isnan(seen).any():
            rows, columns, found = self._drawn().missing()
            cells[:, rows, columns] = found
        return cells

    @staticmethod
    def _around(seen: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Observed cells as they are, others as they are expected."""
        known = ~np.isnan(seen)
        cells = cells.copy()
        cells[:, known] = seen[known]
        cells[1, known] = 0.0
        return cells

    def _index_of_fit(self) -> Any:
        """The index of the fitted frame as it was; of a fit that was loaded, the names of its rows, if they have any."""
        index, ids = getattr(self, "_index", None), self._fit.ids
        return ids if index is None and ids != [str(n + 1) for n in range(len(ids))] else index

    def _answer(self, cells: np.ndarray, index: Any, return_std: bool, return_interval: bool) -> Any:
        """The mean, and what else was asked for, in the kind of frame that the table was."""
        wanted = [0] + [1] * bool(return_std) + [2, 4] * bool(return_interval)
        parts = [_table.as_frame(cells[i], self._layout, index) for i in wanted]
        return parts[0] if len(parts) == 1 else tuple(parts)


def load(path: Union[str, os.PathLike], *, n_jobs: Optional[int] = None) -> RFLVM:
    """The fit that a folder holds, made by Python or by the program: finished, stopped, or still running."""
    model = RFLVM(n_jobs=n_jobs, store=os.fspath(path))
    model._adopt(Folder(path))
    settings = model._settings_now()
    run, shape, paths = settings["run"], settings["model"], settings.get("path") or {}
    trials = settings.get("trials") or ""
    families = {name: family for name, family in zip(model._fit.columns, model._fit.families)}
    model.set_params(
        n_components=shape["latent-dim"],
        likelihood=settings["likelihood"] if settings.get("likelihood") else families,
        n_features=shape["features"],
        kernel=shape["kernel"],
        length_scale=shape["length-scale"],
        amplitude=shape["amplitude"] if shape["amplitude"] == "learned" else float(shape["amplitude"]),
        offset=settings["offset"] if settings["offset"] == "size-factors" else None,
        trials=int(trials) if trials.isdigit() else None,
        **{name.replace("-", "_"): value for name, value in paths.items() if value is not None},
        random_state=run["seed"],
        keep=tuple(run["keep"]),
        **{name: run[name] for name in ("warmup", "draws", "thin", "chains", "start", "checkpoint", "instructions")},
    )
    model._learn()
    return model


def deviations(covariance: np.ndarray) -> np.ndarray:
    """Standard deviations of the axes, from covariances of rows."""
    return np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))


def index_of(X: Any) -> Any:
    """The index of a pandas frame."""
    return X.index if _table.kind_of_frame(X) == "pandas" else None
