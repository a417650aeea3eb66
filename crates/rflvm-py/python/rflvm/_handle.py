"""A fit that runs in the background."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Callable, Optional, Union

from ._progress import bar

if TYPE_CHECKING:
    from ._dask import Coordinated
    from ._estimator import RFLVM
    from ._native import Job

#: Seconds between two updates of the progress.
LOOK = 0.1


class Handle:
    """A running fit, as returned by `RFLVM.fit(..., blocking=False)`.

    >>> handle = model.fit(counts, blocking=False)
    >>> handle.progress()
    {'done': 0.31, 'sweeps': [612, 640], 'of': 2000, ...}
    >>> model = handle.wait()
    """

    def __init__(self, job: Union[Job, Coordinated], finish: Callable[[str], RFLVM], progress: bool = False):
        self._job = job
        self._finish = finish
        self._bar = bar() if progress else None
        #: Sweeps of earlier runs, which say nothing about the speed of this one.
        self._before = sum(chain[0] for chain in job.progress())
        self._model: Optional[RFLVM] = None

    @property
    def done(self) -> bool:
        """Whether the run has ended, successfully or not."""
        return self._job.wait(0.0)

    def progress(self) -> dict:
        """Progress of the run: `done` (a fraction), `of` (sweeps per chain), `before` (sweeps of all chains before it was resumed), and for each
        chain `sweeps`, `warming` and `log_likelihood`."""
        chains = self._job.progress()
        sweeps = [chain[0] for chain in chains]
        total = chains[0][1]
        return {
            "done": sum(sweeps) / max(1, total * len(chains)),
            "sweeps": sweeps,
            "of": total,
            "before": self._before,
            "warming": [chain[2] for chain in chains],
            "log_likelihood": [chain[3] for chain in chains],
        }

    def cancel(self) -> None:
        """Stop the run after the current sweep. The draws so far are kept, and `wait` returns them."""
        self._job.cancel()

    def wait(self, timeout: Optional[float] = None) -> RFLVM:
        """Wait until the run has ended, and return the fitted model. Warns (`ConvergenceWarning`) if the chains have not converged.

        Ctrl-C stops the run and returns the draws so far, if there are any. Raises TimeoutError after `timeout` seconds, while the run
        continues.
        """
        if self._model is not None:
            return self._model
        is_interrupted = False
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            while not self._job.wait(LOOK if deadline is None else max(0.0, min(LOOK, deadline - time.monotonic()))):
                if self._bar:
                    self._bar.show(self.progress())
                if deadline is not None and time.monotonic() >= deadline:
                    raise TimeoutError(f"the fit is still running after {timeout} seconds; wait again, or cancel it")
        except KeyboardInterrupt:
            is_interrupted = True
            self._job.cancel()
            while not self._job.wait(LOOK):
                pass
        finally:
            if self._bar:
                self._bar.show(self.progress(), is_last=self._job.wait(0.0))
        try:
            self._model = self._finish(self._job.outcome())
        except RuntimeError:
            if is_interrupted:
                raise KeyboardInterrupt from None
            raise
        return self._model
