"""Progress of a fit: a widget in notebooks, one line in terminals, a few lines in logs."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Union

#: Seconds below which a run writes nothing to a log.
SHORT = 2.0


def bar() -> Union[Line, Widget]:
    """The display that suits the environment."""
    if in_notebook():
        try:
            return Widget()
        except ImportError:
            pass
    return Line()


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel; IPython in a terminal is a terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return "ipykernel" in sys.modules and hasattr(shell, "kernel")


class Widget:
    """A progress bar of ipywidgets, followed by the text."""

    def __init__(self) -> None:
        import ipywidgets
        from IPython.display import display

        self._begun = time.monotonic()
        self._bar: Any = ipywidgets.FloatProgress(0.0, min=0.0, max=1.0, layout=ipywidgets.Layout(width="20em"))
        self._words: Any = ipywidgets.HTML()
        display(ipywidgets.HBox([self._bar, self._words]))

    def show(self, progress: dict, is_last: bool = False) -> None:
        """Show the progress of the run."""
        self._bar.value = progress["done"]
        self._words.value = html.escape(words(progress, time.monotonic() - self._begun))
        if is_last:
            self._bar.bar_style = "success" if progress["done"] >= 1.0 else "warning"


class Line:
    """Progress in one line that is overwritten, in terminals and notebooks; elsewhere a line for every tenth."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._is_live = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self._tenths = 0
        self._width = 0

    def show(self, progress: dict, is_last: bool = False) -> None:
        """Write the progress of the run."""
        seconds = time.monotonic() - self._begun
        line = describe(progress, seconds)
        if sys.stderr is None:
            return
        if self._is_live:
            # Pad, so that a shorter line covers a longer one.
            self._width = max(self._width, len(line))
            print(f"\r{line:<{self._width}}", end="\n" if is_last else "", file=sys.stderr, flush=True)
            return
        tenths = int(10 * progress["done"])
        if seconds > SHORT and tenths > self._tenths:
            self._tenths = tenths
            print(line, file=sys.stderr, flush=True)


def describe(progress: dict, seconds: float) -> str:
    """One line about a run, starting with a bar."""
    done = round(20 * progress["done"])
    return f"{'█' * done}{'░' * (20 - done)} {words(progress, seconds)}"


def words(progress: dict, seconds: float) -> str:
    """The progress of a run in words."""
    share, sweeps, before = progress["done"], progress["sweeps"], progress.get("before", 0)
    if sum(sweeps) == before:
        return "  0% initialising"
    chains = "1 chain" if len(sweeps) == 1 else f"{len(sweeps)} chains"
    phase = "warming up" if any(progress["warming"]) else "sampling"
    rate = (sum(sweeps) - before) / max(seconds, 1e-9)
    left = (progress["of"] * len(sweeps) - sum(sweeps)) / max(rate, 1e-9)
    level = max(progress["log_likelihood"])
    return f"{share:4.0%} {chains}, {phase}, {rate:.1f} sweeps/s, {span(left)} left, log-likelihood {level:.0f}"


def span(seconds: float) -> str:
    """A duration in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
