"""What a fit has learned: forecasts, the kernel, checks, and draws for ArviZ."""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import _convergence
from ._check import Check
from ._covariates import settings_of
from ._effects import Effects
from ._forecast import Forecast, Past
from ._parameter import whole
from ._rows import PARTS, deviations, parts_of
from ._times import text_of_time
from ._warn import warn


class Learned(Effects):
    """Questions about the model as a whole."""

    diagnostics_: dict

    def forecast(
        self,
        times: Any = None,
        *,
        horizon: Optional[int] = None,
        sequence: Any = None,
        covariates: Optional[Mapping] = None,
        draws: Optional[int] = None,
    ) -> Any:
        """Predict the cells at new times: the given `times`, or `horizon` steps beyond the last time of each sequence.

        Returns a `Forecast`, whose times are numbers or dates like those of the fit. `draws=m` returns m simulated futures
        instead, m × new times × columns. `covariates`, such as {"batch": "A"}, are those of all new rows; covariates that it does not
        name are at their average.
        """
        self._check_fitted()
        _convergence.remind(self.diagnostics_)
        steps = None if horizon is None else whole(horizon, "horizon", least=1, most=10**9)
        count = 0 if draws is None else whole(draws, "draws", least=1)
        texts = None if times is None else [text_of_time(t, n) for n, t in enumerate(np.atleast_1d(np.asarray(times)))]
        name = None if sequence is None else str(sequence)
        known = settings_of(covariates)
        told = self._drawn.forecast(times=texts, horizon=steps, sequence=name, covariates=known, count=count)
        if count:
            return told
        cells = parts_of(told, len(self.columns_))
        # One line per cell, and as many lines per time as there are columns.
        written, which = (texts_of(told[key], len(self.columns_)) if key in told else None for key in ("time", "sequence"))
        when, zone = self._clock.read(written or [])
        past = Past(self._clock.read(self._fit.times or [])[0], self._fit.sequences, self._fit.table())
        mean, std, lower, median, upper = (cells[part] for part in PARTS)
        return Forecast(when, which, self.columns_, mean, std, lower, median, upper, zone, past)

    def backtest(
        self,
        origins: int = 3,
        *,
        horizon: int = 5,
        period: Optional[float] = None,
        sweeps: Optional[int] = None,
        time_kernels: Sequence[str] = (),
        cells: bool = False,
    ) -> Any:
        """Test the forecasts on known rows: from several origins in the last third of each sequence, the model is fitted to the rows before
        the origin, and its forecasts of the next `horizon` rows are compared with simple baselines.

        Parameters
        ----------
        origins : int, default=3
            Number of origins, and of fits.
        horizon : int, default=5
            Rows of each sequence to forecast from each origin.
        period : float, default=None
            Adds the value one period earlier as a baseline; in the units of the times, days for dates.
        sweeps : int, default=None
            Warm-up sweeps, and draws, of each chain; by default as in the fit, but at most 300.
        time_kernels : sequence of str, default=()
            Kernels over time to compare, instead of that of the fit.
        cells : bool, default=False
            Return the forecasts themselves, which `rflvm.plot.backtest` draws.

        Returns
        -------
        DataFrame
            One line per method over all cells, by horizon and by column: crps, mse and mae in units of the column's standard deviation,
            log_density, coverage50 and coverage90. With `cells`, one line per held-out cell and method.
        """
        import pandas

        self._check_fitted()
        told = json.loads(
            self._drawn.backtest(
                whole(origins, "origins", most=10**9),
                horizon=whole(horizon, "horizon", most=10**9),
                period=None if period is None else float(period),
                sweeps=None if sweeps is None else whole(sweeps, "sweeps", most=10**9),
                kernels=[str(kernel) for kernel in time_kernels],
            )
        )
        if not cells:
            return pandas.DataFrame(told["scores"])
        frame = pandas.DataFrame(told["cells"])
        times, zone = self._clock.read(list(frame["time"]))
        frame["time"] = times if zone is None else pandas.Series(times).dt.tz_localize("UTC").dt.tz_convert(zone)
        return frame if self._fit.sequences is not None else frame.drop(columns="sequence")

    @property
    def embedding_median_(self) -> np.ndarray:
        self._check_fitted()
        return self._drawn.medians()

    def mode_embedding(self, mode: int) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and standard deviation of the positions in one of the sampled modes, counted from 1; `embedding_` is that of the first.

        Each mode has its own axes. `diagnostics_["modes"]` describes the modes, and `modes` says how many are sampled.
        """
        self._check_fitted()
        mean, covariance, _ = self._drawn.embedding(mode=whole(mode, "mode", least=1, most=2**31))
        return mean, deviations(covariance)

    def map_embedding(self, map: int) -> tuple[np.ndarray, np.ndarray]:  # version 0.2
        """Earlier name of `mode_embedding`."""
        warn("`map_embedding` is called `mode_embedding` now", FutureWarning)  # version 0.2
        return self.mode_embedding(map)  # version 0.2

    def distances(self, pairs: Optional[Sequence[tuple[int, int]]] = None) -> Any:
        """Distances between rows over all modes of the posterior; they need no alignment.

        Parameters
        ----------
        pairs : sequence of pairs of rows, default=None
            Rows are counted from 0.

        Returns
        -------
        array or DataFrame
            Without `pairs` the posterior mean of every distance, N×N. With `pairs` a frame with a line per pair: mean, standard deviation and
            quantiles.
        """
        self._check_fitted()
        if pairs is None:
            return self._drawn.mean_distances()
        import pandas

        chosen = [[whole(row, "row", most=2**53) for row in pair] for pair in pairs]
        return pandas.DataFrame(counted(self._drawn.distances(chosen)))

    def neighbors(self, k: int = 15) -> Any:
        """Each row's nearest neighbors over all modes of the posterior.

        Returns
        -------
        DataFrame
            `row`, `neighbor`, the `probability` that it is among the `k` nearest, and the posterior mean of the `distance`; the most probable
            first, at most 2k for each row.
        """
        self._check_fitted()
        import pandas

        rows = self.embedding_.shape[0]
        return pandas.DataFrame(counted(self._drawn.neighbors(whole(k, "k", least=1, most=rows - 1))))

    def kernel_curves(self) -> dict[str, dict[str, dict[str, np.ndarray]]]:
        """The kernel and its spectral density, along each axis ("x1", …) and over "all" directions, with 5% and 95% quantiles."""
        self._check_fitted()
        names, kernel, density = self._drawn.kernel()
        parts = {"mean": "mean", "lower": "q05", "upper": "q95"}

        def curves(told: dict, place: str) -> dict[str, dict[str, np.ndarray]]:
            of = told["along"][1]
            return {name: {part: told[column][of == i] for part, column in {"at": place, **parts}.items()} for i, name in enumerate(names)}

        return {"kernel": curves(kernel, "delta"), "density": curves(density, "frequency")}

    def covariance(self, rows: Optional[Sequence[int]] = None) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and standard deviation of K(X, X) of some rows."""
        self._check_fitted()
        chosen = range(self.embedding_.shape[0]) if rows is None else rows
        return self._drawn.covariance([whole(n, "row", most=2**53) for n in chosen])

    def check(self) -> Check:
        """Posterior predictive checks: does the model reproduce the fitted table?

        A few statistics of the table are compared with those of tables drawn from the posterior. Small p-values come with advice,
        unless the chains have not converged.
        """
        self._check_fitted()
        return Check.of(json.loads(self._drawn.check()), self.diagnostics_["verdict"] in ("converged", "several-modes"))

    def to_arviz(self, *, log_likelihood: Optional[str] = None, thin: int = 1) -> Any:
        """The draws for ArviZ; see `Posterior.to_arviz`."""
        self._check_fitted()
        return self.posterior_.to_arviz(log_likelihood=log_likelihood, thin=thin)


def texts_of(column: tuple[list[str], np.ndarray], every: int) -> list[str]:
    """The name in each `every`-th line."""
    names, of = column
    return [names[i] for i in of[::every]]


def counted(columns: dict) -> dict:
    """The columns of an answer, with rows counted from 0 in place of their names."""
    return {name: column[1].astype(int) if isinstance(column, tuple) else column for name, column in columns.items()}
