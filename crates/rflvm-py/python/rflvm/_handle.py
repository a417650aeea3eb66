"""A fit that runs in the background, and the bar that tells how far it is."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Callable, Optional

if TYPE_CHECKING:
    from ._estimator import RFLVM
    from ._native import Job

#: Seconds between two looks at a run.
LOOK = 0.1
#: A run shorter than this needs no lines in a log.
SHORT = 2.0


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
        self._bar = Bar() if progress else None
        self._model: Optional[RFLVM] = None

    @property
    def done(self) -> bool:
        """Whether the run has ended, one way or another."""
        return self._job.wait(0.0)

    def progress(self) -> dict:
        """How far the run is: `done` (a share), and for each chain `sweeps`, `warming` and `log_likelihood`; `of` sweeps in all."""
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
        """Wait for the end, and return the fitted model.

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


class Bar:
    """Progress in one line that is written over: in terminals and notebooks; elsewhere a line for every tenth."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._is_live = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self._tenths = 0
        self._width = 0

    def show(self, progress: dict, is_last: bool = False) -> None:
        seconds = time.monotonic() - self._begun
        line = describe(progress, seconds)
        if sys.stderr is None:
            return
        if self._is_live:
            # Shorter lines leave nothing of longer ones behind.
            self._width = max(self._width, len(line))
            print(f"\r{line:<{self._width}}", end="\n" if is_last else "", file=sys.stderr, flush=True)
            return
        tenths = int(10 * progress["done"])
        if seconds > SHORT and tenths > self._tenths:
            self._tenths = tenths
            print(line, file=sys.stderr, flush=True)


def describe(progress: dict, seconds: float) -> str:
    """One line about a run."""
    share, sweeps = progress["done"], progress["sweeps"]
    bar = "█" * round(20 * share) + "░" * (20 - round(20 * share))
    if not any(sweeps):
        return f"{bar}   0% fitting the start"
    chains = "1 chain" if len(sweeps) == 1 else f"{len(sweeps)} chains"
    phase = "warming up" if any(progress["warming"]) else "sampling"
    rate = sum(sweeps) / max(seconds, 1e-9)
    left = seconds * (1 - share) / max(share, 1e-9)
    level = max(progress["log_likelihood"])
    return f"{bar} {share:4.0%} {chains}, {phase}, {rate:.1f} sweeps/s, {span(left)} left, log-likelihood {level:.0f}"


def span(seconds: float) -> str:
    """A length of time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
