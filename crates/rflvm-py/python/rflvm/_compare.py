"""Several ways to fit a table, each scored on cells that it has not seen."""

from __future__ import annotations

import json
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

from . import _dask, _native, _settings
from ._given import Given
from ._parameter import number, truth, whole
from ._warn import warn

if TYPE_CHECKING:
    from ._estimator import RFLVM


@dataclass(frozen=True, repr=False)
class Comparison:
    """Candidates, best first; it prints as a table. `rflvm.compare` returns one."""

    candidates: list[dict]
    """One per candidate: latent_dim, likelihood, kernel, features; elpd and se, the sum of the scores of the cells; difference and difference_se,
    to the best; ess and r_hat, the worst of its fits; chains_set_aside, seconds, and whether it is recommended."""
    reason: str
    """Which candidate is recommended, and why."""
    lines: list[list[str]] = field(repr=False)
    """What is printed."""

    @property
    def recommended(self) -> dict:
        """The simplest candidate whose score is within one standard error of the best."""
        return next(candidate for candidate in self.candidates if candidate["recommended"])

    def to_pandas(self) -> Any:
        """One line per candidate."""
        import pandas

        return pandas.DataFrame(self.candidates)

    def __repr__(self) -> str:
        widths = [max(map(len, cells)) for cells in zip(*self.lines)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in self.lines]
        return "\n".join([*lines, f"recommended: {self.reason}"])


def compare(
    model: RFLVM,
    X: Any,
    *,
    latent_dims: Optional[Sequence[int]] = None,
    likelihoods: Optional[Sequence[str]] = None,
    kernels: Optional[Sequence[str]] = None,
    feature_counts: Optional[Sequence[int]] = None,
    folds: int = 1,
    held_out: Optional[float] = None,
    loo: bool = False,
    mask: Any = None,
    times: Any = None,
    sequences: Any = None,
    offset: Any = None,
    trials: Any = None,
    covariates: Any = None,
    client: Any = None,
) -> Comparison:
    """Fit a table in several ways, and rank them by how well they predict cells that were held out, as `rflvm compare` does.

    >>> rflvm.compare(model, X, latent_dims=[1, 2, 3])

    Parameters
    ----------
    model : RFLVM
        The settings that all candidates share. It is not fitted.
    X, mask, times, sequences, offset, trials, covariates
        As for `RFLVM.fit`.
    latent_dims, likelihoods, kernels, feature_counts : sequences, default=None
        What to try, in every combination; without a list, what the model has.
    folds : int, default=1
        Every cell is held out once, and each candidate is fitted this many times; 1 holds out a fraction of the cells once.
    held_out : float, default=None
        That fraction; 0.1 if it is not given.
    loo : bool, default=False
        Whether to score rows by leave-one-out too, with one more fit of the whole table per candidate.
    client : dask.distributed.Client, default=None
        Run the fits on the workers of a Dask cluster, one task each. The scores are identical to those without one, also if workers are lost.
        Then `n_jobs` is the number of threads per fit.

    Returns
    -------
    Comparison
        The candidates, best first, and which of them is recommended.
    """
    if client is not None:
        _dask.check(client)
    given = {"latent_dims": latent_dims, "likelihoods": likelihoods, "kernels": kernels, "feature_counts": feature_counts}
    lists = {name: None if one is None else [plain(value, name) for value in listed(one, name)] for name, one in given.items()}
    other = type(model)(**model.get_params(deep=False))
    if likelihoods is not None:
        # The table is read as for the first family; where all are "auto", the families are chosen as for a fit.
        other.likelihood = next((name for name in lists["likelihoods"] or [] if name != "auto"), "auto")
        if other.likelihood == "auto":
            lists["likelihoods"] = None
    plan = {
        "lists": lists,
        "folds": whole(folds, "folds", least=0),
        "held_out": None if held_out is None else number(held_out, "held_out"),
        "loo": truth(loo, "loo"),
    }
    asked = other._asked(other._checked(X, reset=True), Given(mask, times, sequences, offset, trials, covariates=covariates))
    asked["cells"] = asked.pop("values").to_numpy()
    asked.update(settings=json.dumps(asked["settings"]), plan=json.dumps(plan), version=_native.__version__)
    comparison, threads = checked(asked), _settings.threads(model)
    tasks = comparison.tasks()

    def done(number: int) -> None:
        if model.progress and sys.stderr is not None:
            print(f"fit {number + 1} of {len(tasks)} is done: {tasks[number]}", file=sys.stderr)

    if client is None:
        scores = here(comparison, len(tasks), threads, done)
    else:
        scores = _dask.each(client, work, pickle.dumps(asked), tasks, threads, done)
    told = json.loads(comparison.ranked(scores))
    for warning in told["warnings"]:
        warn(warning)
    return Comparison(told["candidates"], told["reason"], told["lines"])


def here(comparison: _native.Comparison, count: int, threads: int, done: Callable[[int], None]) -> list:
    """The scores of all fits, one after the other."""
    scores = []
    with ThreadPoolExecutor(1) as thread:
        for task in range(count):
            running = thread.submit(comparison.run, task, threads)
            try:
                while not wait([running], timeout=0.2).done:
                    pass
            except KeyboardInterrupt:
                comparison.cancel()
                raise
            scores.append(running.result())
            done(task)
    return scores


def checked(asked: dict) -> _native.Comparison:
    """The comparison, with all its candidates checked."""
    if asked["version"] != _native.__version__:
        raise RuntimeError(f"a worker has rflvm {_native.__version__}, and the client {asked['version']}; install the same version on all machines")
    cells = asked["cells"]
    values = _native.Values(*cells.shape)
    values.fill(cells)
    return _native.Comparison(values, **{name: given for name, given in asked.items() if name not in ("cells", "version")})


def work(name: str, packed: bytes, task: int, threads: int) -> Optional[str]:
    """One fit, on a worker."""
    comparison = _dask.held(name, partial(lambda packed: checked(pickle.loads(packed)), packed))
    return comparison.run(task, threads)


def listed(given: Any, name: str) -> list:
    """A list of candidates."""
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise TypeError(f"{name} is {given!r}, but it must be a list")
    given = list(given)
    if not given:
        raise ValueError(f"{name} is empty; list what to try, or leave it out")
    return given


def plain(given: Any, name: str) -> Any:
    """An entry of a list, as the engine takes it."""
    if name in ("latent_dims", "feature_counts"):
        return whole(given, name, least=1)
    if not isinstance(given, str):
        raise TypeError(f"{name} has {given!r}, but its entries must be names")
    if name == "kernels":
        return _settings.checked(next(entry for entry in _settings.TABLE if entry["name"] == "kernel"), given)
    return given if given == "auto" else _native.canonical(given)
