"""The estimator: scikit-learn's interface to the engine."""

from __future__ import annotations

import inspect
import json
import os
from functools import partial
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin

from . import _convergence, _dask, _native, _settings, _table
from ._by_name import rows_in_order
from ._covariates import texts_of_covariates
from ._families import COUNTS, learn
from ._folder import Folder
from ._given import Given, trials_of
from ._grouped import Grouped
from ._groups import Compute, Model, Paths, Sampling
from ._handle import Handle
from ._held import ABOUT
from ._parameter import whole
from ._report import Reporting
from ._rows import deviations, index_of
from ._times import Clock, texts_of
from ._warn import warn

#: How many rows and columns to warn about individually.
SOME = 3


class RFLVM(ClassNamePrefixFeaturesOutMixin, Reporting, Grouped, BaseEstimator):
    """Random feature latent variable model: latent positions of the rows of a table, with their uncertainty.

    Each row has a position in a low-dimensional space, each column is an unknown smooth function of that position, and each cell is
    a draw from the family of its column. All of it is sampled jointly by Markov chain Monte Carlo.

    >>> model = rflvm.RFLVM(likelihood="poisson", sampling=rflvm.Sampling(chains=4)).fit(counts)

    Parameters
    ----------
    latent_dim : int, "auto" or "auto:K"; latent axes; "auto" prunes axes that the data do not support
    likelihood : str or mapping; family of the columns, a family per column, or "auto"
    trials : int or None; trials per cell of a binomial (`fit` also takes a table of them); levels of an ordinal
    offset : None or "size-factors"; "size-factors" where row totals of counts carry no information
    model : `Model`; the map from positions to columns: features, kernel, length_scale, linear, amplitude
    paths : `Paths`; how positions change over time: time_kernel, time_trend, time_form, period, column_process, inducing
    sampling : `Sampling`; how many chains are sampled: warmup, draws, thin, chains, init, init_effort, modes, keep
    compute : `Compute`; where and how chains are computed: device, precision, instructions, checkpoint
    priors : mapping; as in `[priors]` of config.toml; numbers left out have their defaults
    random_state : int, RandomState, Generator or None; seed, from which all randomness follows
    n_jobs : int or None; threads, None for all cores; the draws do not depend on it
    progress : bool; whether to show the progress of a fit
    store : path; folder to keep the fit in, for `resume`, `rflvm.load` and the program

    Attributes
    ----------
    embedding_, embedding_std_, embedding_cov_ : position of each row, its posterior standard deviation, its covariance
    embedding_median_ : spatial median of each row's position, in the likelier place where draws are in two
    embedding_between_modes_ : the share of the variance of each row's position that lies between modes; None with a single mode
    posterior_ : `Posterior`, all draws by name
    diagnostics_ : dict, whether the chains have converged, and the modes that were found
    columns_ : list of str, columns of the model, one per level of a category
    families_, kinds_ : dict, the family of each column, and what it holds if "auto" chose that family
    seed_, n_features_in_, feature_names_in_ : the seed that was used; as in scikit-learn
    """

    def __init__(
        self,
        latent_dim: Union[int, str] = 2,
        likelihood: Union[str, Mapping] = "gaussian",
        *,
        trials: Optional[int] = None,
        offset: Optional[str] = None,
        model: Optional[Model] = None,
        paths: Optional[Paths] = None,
        sampling: Optional[Sampling] = None,
        compute: Optional[Compute] = None,
        priors: Optional[Mapping] = None,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        progress: bool = True,
        store: Optional[Union[str, os.PathLike]] = None,
        **earlier: Any,
    ):
        self.latent_dim = latent_dim
        self.likelihood = likelihood
        self.trials = trials
        self.offset = offset
        self.model = model
        self.paths = paths
        self.sampling = sampling
        self.compute = compute
        self.priors = priors
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.store = store
        self._rename(earlier)

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
        covariates: Any = None,
        row_names: Optional[Sequence] = None,
        store: Optional[Union[str, os.PathLike]] = None,
        blocking: bool = True,
        overwrite: bool = False,
        client: Any = None,
    ) -> Any:
        """Fit a table. Warns (`ConvergenceWarning`) if the chains have not converged.

        Parameters
        ----------
        X : array, sparse matrix, or frame of pandas, polars or pyarrow, of shape (n_samples, n_features)
            One row per sample. NaN, null and masked cells are missing. Arrays of Zarr and HDF5 are read by tiles.
        y : ignored
        mask : array of bool of the shape of X, default=None
            True where a cell is to be treated as missing.
        times : one per row, default=None
            When rows were observed, as numbers or dates, in any order: positions then follow a smooth path over time. A frame has a column
            per part of the time: a year and a quarter, a year and a month (and a day), or a date and a time of day.
        sequences : one per row, default=None
            The sequence (trial, recording) that a row belongs to. Each sequence has its own path.
        offset : array of float, one per row, default=None
            Known offset on the link scale.
        trials : int or array of the shape of X, default=None
            Trials of the cells of a binomial.
        covariates : frame, mapping, or array of shape (n_samples, n_covariates), default=None
            What is known of the rows besides their cells, such as batch, plate, sex or age: their effects on every column are estimated, so
            that positions are free of them. Numbers are standardised; text, booleans and categories have one effect per level.
        row_names : one per row, default=None
            Names of the rows in messages and stores; the index of a pandas frame by default.
        store : path, default=None
            Folder to keep this fit in; overrides the parameter `store` of the model.
        blocking : bool, default=True
            False returns a `Handle` immediately, while the fit runs in the background.
        overwrite : bool, default=False
            Whether to replace the fit that the folder `store` holds.
        client : dask.distributed.Client, default=None
            Run the chains on the workers of a Dask cluster. The draws are identical to those of an ordinary fit, also if workers are lost.
            Then `n_jobs` is the number of threads per chain.

        Returns
        -------
        RFLVM or Handle
            This model. After Ctrl-C, it holds the draws so far.
        """
        given = Given(mask, times, sequences, offset, trials, row_names, covariates)
        return self._run(X, given, self.store if store is None else store, blocking, overwrite, client)

    def resume(self, *, draws: Optional[int] = None, warmup: Optional[int] = None, blocking: bool = True, client: Any = None) -> Any:
        """Resume an interrupted fit, or extend a finished one to `draws` draws per chain in all.

        The draws are identical to those of an uninterrupted run. `warmup=m` extends a warm-up that was too short: the draws so far are
        dropped, the chains warm up for m sweeps more from where they are, and are then drawn from again. A model with the same `store` can
        resume a fit from another session. `client` is that of `fit`; the fit may have begun with or without one.
        """
        least, most = _settings.range_of("draws")
        draws = None if draws is None else whole(draws, "draws", least=least, most=most)
        warmup = None if warmup is None else whole(warmup, "warmup", most=most)
        if client is not None:
            _dask.check(client)
        if not hasattr(self, "_folder"):
            if self.store is None:
                raise ValueError("there is nothing to resume; fit first, or name the folder of a fit with store")
            self._adopt(Folder(self.store))
        self._check_kept()
        self._fit_ = _native.Fit.open(self._folder.path, threads=_settings.threads(self), draws=draws, warmup=warmup)
        self._origin = self._fit_.origin()
        handle = self._begin(self._fit.resume() if client is None else self._coordinated(client, resume=True))
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
        covariates: Any = None,
        starts: int = 1,
        return_std: bool = False,
    ) -> Any:
        """MAP estimate of the positions, in seconds. This does not fit the model.

        `return_std` adds conditional standard deviations only: all other unknowns are treated as known, so they are too small.
        """
        starts = whole(starts, "starts", least=1, most=1000)
        other = type(self)(**self.get_params(deep=False))
        fit = other._prepare(X, Given(mask, times, sequences, offset, trials, covariates=covariates), None, False)
        mean, covariance, (_, _, converged) = fit.map(starts=starts)
        if not converged:
            warn("the optimiser reached its iteration limit; positions may still change a little", _convergence.ConvergenceWarning)
        return (mean, deviations(covariance)) if return_std else mean

    # Within.

    def _run(self, X: Any, given: Given, store: Any, blocking: bool, overwrite: bool, client: Any = None) -> Any:
        """Fit a table, or start to."""
        if client is not None:
            _dask.check(client)
        fit = self._prepare(X, given, store, overwrite)
        handle = self._begin(fit.start() if client is None else self._coordinated(client, resume=False))
        return handle.wait() if blocking else handle

    def _coordinated(self, client: Any, resume: bool) -> _dask.Coordinated:
        """Start or resume the fit with its chains on the workers of a cluster."""
        seconds = self._settings_now()["compute"].get("checkpoint") or 30.0
        return _dask.Coordinated(self._fit, client, resume=resume, threads=_settings.threads(self), seconds=seconds)

    def _asked(self, X: Any, given: Given) -> dict:
        """What the engine is asked to fit: arguments of `_native.Fit` except the folder, with the seed."""
        self._layout, self._clock, self._cells = learn(X, self.likelihood), Clock.of(given.times), given.cells
        rows = _table.read(X, self._layout, given.mask)
        if given.row_names is not None:
            rows.ids = texts_of(rows_in_order(given.row_names, rows.index, "row_names"), rows.count, "row_names")
        about = given.words(rows)
        settings = _settings.settings(
            self,
            _settings.seed(self),
            len(self._layout.names),
            has_times=given.times is not None,
            has_sequences=given.sequences is not None,
            has_offset=given.offset is not None,
        )
        if given.covariates is not None:
            settings["covariates"] = texts_of_covariates(given.covariates, rows.count)[0]
        families, trials_of_cells = None, None
        if self._layout.is_uniform:
            settings["likelihood"] = self._layout.columns[0].family
            trials, trials_of_cells = trials_of(self.trials if given.trials is None else given.trials, rows)
            settings["trials"] = None if trials is None else str(trials)
        else:
            families = self._layout.families()
        return {
            "values": rows.values,
            "columns": self._layout.names,
            "named": self._layout.named,
            "settings": settings,
            "families": families,
            "trials": trials_of_cells,
            "ids": rows.ids,
            **about,
        }

    def _prepare(self, X: Any, given: Given, store: Any, overwrite: bool) -> _native.Fit:
        """Check the input as far as possible, and prepare the folder."""
        job = getattr(self, "_job_", None)
        if job is not None and not job.wait(0.0):
            raise RuntimeError(
                "this model is being fitted in the background; wait for its handle, or cancel it and wait, or fit another model, such as "
                "sklearn.base.clone(model)"
            )
        X = self._checked(X, reset=True)
        asked = self._asked(X, given)
        settings, folder = asked.pop("settings"), Folder(store)
        fit = _native.Fit(settings=json.dumps(settings), dir=folder.path, **asked)
        fit.lock(overwrite)
        (folder.path / ABOUT).write_text(json.dumps(self._about()), encoding="utf-8")
        for warning in fit.warnings[:SOME]:
            warn(warning)
        if len(fit.warnings) > SOME:
            warn(f"{len(fit.warnings) - SOME} more rows or columns have the same problem")
        self._folder, self._fit_, self._drawn_, self._origin = folder, fit, None, fit.origin()
        self._index = index_of(X)
        self.seed_ = settings["sampling"]["seed"]
        return fit

    def _begin(self, job: Union[_native.Job, _dask.Coordinated]) -> Handle:
        self._job_ = job
        return Handle(job, partial(self._finish, self._folder), progress=bool(self.progress))

    def _finish(self, folder: Folder, outcome: str) -> RFLVM:
        """Take over the draws, and warn if they are not reliable."""
        if folder is not self._folder:
            raise RuntimeError("the model was fitted again before this fit was waited for, so it is no longer the model's; keep one model per fit")
        self._drawn_ = None
        try:
            drawn = self._drawn
        except ValueError:
            if outcome == "stopped":
                raise RuntimeError("the fit was stopped before its first draw; continue it with resume()") from None
            raise
        self._learn()
        settings = self._settings_now()
        run = settings["sampling"]
        stopped = f"the fit was stopped after {drawn.size[1]} of {run['draws']} draws; continue it with resume()"
        _convergence.tell(self.diagnostics_, run["warmup"] - (settings.get("warmup-from") or 0), stopped if outcome == "stopped" else None)
        return self

    def _learn(self) -> None:
        """Learned attributes, from the draws."""
        self.embedding_, self.embedding_cov_, self.embedding_between_modes_ = self._drawn.embedding()
        self.embedding_std_ = deviations(self.embedding_cov_)
        self.diagnostics_ = json.loads(self._drawn.diagnostics())
        self.columns_ = list(self._fit.columns)
        self.families_ = {column.name: column.family for column in self._layout.columns}
        self.kinds_ = {column.name: column.holds for column in self._layout.columns if column.holds}
        self._labels = self._fit.labels
        self._n_features_out = self.embedding_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = isinstance(self.likelihood, str) and self.likelihood in COUNTS
        tags.input_tags.categorical = self.likelihood == "auto" or not isinstance(self.likelihood, str)
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = False
        return tags


# Earlier names are accepted, and not shown: scikit-learn tries every parameter of the signature.
_signature = inspect.signature(RFLVM)
RFLVM.__signature__ = _signature.replace(  # type: ignore[attr-defined]
    parameters=[parameter for parameter in _signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
)
