"""A fit that runs in the background."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Callable, Optional

from ._progress import bar

if TYPE_CHECKING:
    from ._estimator import RFLVM
    from ._native import Job

#: Seconds between two looks at a run.
LOOK = 0.1


class Handle:
    """A fit on its way: `RFLVM.fit(..., blocking=False)` returns one.

    >>> handle = model.fit(counts, blocking=False)
    >>> handle.progress()
    {'done': 0.31, 'sweeps': [612, 640], 'of': 2000, ...}
    >>> model = handle.wait()
    """

    def __init__(self, job: Job, finish: Callable[[str], RFLVM], progress: bool = False):
        self._job = job
        self._finish = finish
        self._bar = bar() if progress else None
        self._model: Optional[RFLVM] = None

    @property
    def done(self) -> bool:
        """Whether the run has ended, one way or another."""
        return self._job.wait(0.0)

    def progress(self) -> dict:
        """How far the run is: `done` (a fraction), and for each chain `sweeps`, `warming` and `log_likelihood`; `of` sweeps in all."""
        chains = self._job.progress()
        sweeps = [chain[0] for chain in chains]
        total = chains[0][1]
        return {
            "done": sum(sweeps) / max(1, total * len(chains)),
            "sweeps": sweeps,
            "of": total,
            "warming": [chain[2] for chain in chains],
            "log_likelihood": [chain[3] for chain in chains],
        }

    def cancel(self) -> None:
        """End the run with the sweep that is under way. What was drawn is kept, and `wait` returns it."""
        self._job.cancel()

    def wait(self, timeout: Optional[float] = None) -> RFLVM:
        """Wait for the end, and return the fitted model. Warns (`ConvergenceWarning`) if the chains have not converged.

        Ctrl-C ends the run and returns what is done so far, if there is any. Raises TimeoutError when `timeout` seconds have passed; the run goes on.
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
