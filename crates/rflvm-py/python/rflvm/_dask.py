"""Chains on the workers of a Dask cluster.

Each chain is advanced in segments of about `checkpoint` seconds, one task each. A task is given the state of its chain, and returns the new state
with the draws in between; the client keeps both in the folder of the fit. So workers share no files with the client or each other, and a segment
whose worker was lost is repeated elsewhere from the same state, with the same draws.
"""

from __future__ import annotations

import io
import tempfile
import threading
import uuid
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any, Optional

from . import _native

#: Seconds between two looks at the cluster.
LOOK = 0.05
#: Seconds to wait for the first worker.
PATIENCE = 60
#: How often a segment is repeated whose inputs were lost with their workers.
TRIES = 5
#: What a worker needs of the folder of a fit: everything but the draws.
NEEDED = ("config.toml", "blocks.csv", "trials.npy", "limits.csv", "draws.zarr/.z*", "draws.zarr/observed_data/**/*", "draws.zarr/constant_data/**/*")
#: How many fits a worker holds.
HELD = 2


def check(client: Any) -> None:
    """Refuse whatever is not a client of Dask, before anything is written."""
    try:
        import distributed
    except ImportError:
        raise ImportError('client needs Dask, which is not installed; install it with pip install "dask[distributed]"') from None
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client is {client!r}, but it must be a dask.distributed.Client")
    if client.asynchronous:
        raise TypeError("client is asynchronous; give one that was made without asynchronous=True")


class Coordinated:
    """A run whose chains are on the workers; it has the methods of the engine's own `Job`."""

    def __init__(self, fit: _native.Fit, client: Any, *, resume: bool, threads: int, seconds: float):
        self._coordinator = fit.coordinator(resume)
        self._packed = pack(Path(fit.dir))
        self._data: Any = None
        self._threads = threads
        self.client, self.seconds, self.name = client, seconds, f"rflvm-{uuid.uuid4()}"
        self._places = self._coordinator.progress()
        self._stop, self._done = threading.Event(), threading.Event()
        self._outcome: Any = "running"
        threading.Thread(target=self._run, daemon=True, name="rflvm-dask").start()

    def progress(self) -> list[tuple[int, int, bool, float, int]]:
        """As of the last segment of each chain."""
        return self._places

    def cancel(self) -> None:
        """Stop; what the workers have done since their last segment is lost, and drawn again on `resume`."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most this many seconds; returns whether the run has ended."""
        return self._done.wait(seconds)

    def outcome(self) -> str:
        """As of `Job`."""
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome

    # Within.

    def _run(self) -> None:
        try:
            self._outcome = self._coordinate()
        except BaseException as error:
            self._outcome = error
        finally:
            # The folder is free for others.
            del self._coordinator
            self._done.set()

    def _coordinate(self) -> str:
        coordinator = self._coordinator
        segments: dict[Optional[int], Segment] = {}
        try:
            if not coordinator.is_started():
                segments[None] = Segment(self, None, b"")
            while not coordinator.is_finished():
                if self._stop.wait(LOOK):
                    return "stopped"
                for chain in range(len(self._places)) if coordinator.is_started() else ():
                    if chain not in segments and (message := coordinator.next(chain)) is not None:
                        segments[chain] = Segment(self, chain, message)
                for which, segment in list(segments.items()):
                    if (message := segment.result()) is None:
                        continue
                    del segments[which]
                    if which is None:
                        coordinator.started(message)
                    else:
                        coordinator.take(which, message)
                    self._places = coordinator.progress()
            coordinator.finish()
            return "finished"
        finally:
            for segment in segments.values():
                segment.cancel()
            if coordinator.is_started() and not coordinator.is_finished():
                coordinator.save()

    def data(self) -> Any:
        """The table and the settings, sent to all workers once, and again only if all that had them are lost."""
        if self._data is None or self._data.status != "finished":
            try:
                self.client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError:
                raise RuntimeError(f"the cluster has had no worker for {PATIENCE} seconds; start some, and continue with resume()") from None
            self._data = self.client.scatter(self._packed, broadcast=True, hash=False)
        return self._data

    def threads(self, chains: int) -> int:
        """The threads of each of some chains that run side by side."""
        each = self.client.nthreads().values()
        return self._threads or max(1, min(sum(each, 0) // chains, max(each, default=1)))


class Segment:
    """One task, repeated if it is lost."""

    def __init__(self, run: Coordinated, chain: Optional[int], message: bytes):
        self._run, self._chain, self._message = run, chain, message
        self._tries = 0
        self._task: Any = None

    def result(self) -> Optional[bytes]:
        """What the task returned; None while it is still to be sent, or runs."""
        sent = self._task is not None
        try:
            if not sent:
                self._task = self._send()
            elif self._task.done() or self._task.status == "lost":
                return self._task.result()
        except Exception as error:
            self._explain(error, sent)
            self._tries += 1
            self._task = None
        return None

    def _send(self) -> Any:
        run, client = self._run, self._run.client
        threads = run.threads(1 if self._chain is None else len(run.progress()))
        data = run.data()
        # Through a worker rather than the scheduler: a state may be as large as the table.
        message = client.scatter(self._message, hash=False)
        return client.submit(work, run.name, data, self._chain, message, threads, run.seconds, pure=False)

    def _explain(self, error: Exception, sent: bool) -> None:
        """Raise an error that another try would not mend."""
        from concurrent.futures import CancelledError

        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        what = "the start of the chains" if self._chain is None else f"chain {self._chain + 1}"
        if isinstance(error, KilledWorker):
            raise RuntimeError(
                f"several workers died while they ran {what}, perhaps for want of memory; give workers more memory or fewer threads, "
                "and continue with resume()"
            ) from error
        if isinstance(error, ModuleNotFoundError) and "rflvm" in str(error):
            raise RuntimeError(f"a worker of the cluster cannot import rflvm ({error}); install the same version on all workers") from error
        # A worker that dies while something is sent to it is an error of the connection, before the scheduler knows of its death.
        lost = isinstance(error, (CancelledError, FutureCancelledError)) or (not sent and isinstance(error, OSError))
        if not lost:
            raise error
        if self._run.client.status != "running" or self._tries >= TRIES:
            raise RuntimeError(f"the cluster was closed, or lost {what} {TRIES} times; continue with resume()") from error

    def cancel(self) -> None:
        """Forget the task."""
        if self._task is not None:
            self._task.cancel()


def pack(folder: Path) -> bytes:
    """The table and the settings of a fit."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted({file for pattern in NEEDED for file in folder.glob(pattern) if file.is_file()}):
            archive.write(file, file.relative_to(folder))
    return packed.getvalue()


# On the workers.

_held: OrderedDict[str, _native.Fit] = OrderedDict()
_lock = threading.Lock()


def held(name: str, packed: bytes) -> _native.Fit:
    """The fit, which a worker opens once for all its segments."""
    with _lock:
        if name not in _held:
            with tempfile.TemporaryDirectory(prefix="rflvm-") as folder:
                with zipfile.ZipFile(io.BytesIO(packed)) as archive:
                    archive.extractall(folder)
                _held[name] = _native.Fit.open(folder)
            while len(_held) > HELD:
                _held.popitem(last=False)
        _held.move_to_end(name)
        return _held[name]


def work(name: str, packed: bytes, chain: Optional[int], message: bytes, threads: int, seconds: float) -> bytes:
    """A segment of a chain, or the start of all chains."""
    fit = held(name, packed)
    return fit.start_chains(threads) if chain is None else fit.segment(chain, message, threads, seconds)
