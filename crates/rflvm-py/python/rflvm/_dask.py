"""Chains, and the fits of a comparison, on the workers of a Dask cluster.

Each chain is advanced in segments of about `checkpoint` seconds, one task each. A task is given the state of its chain, and returns the new state
with the draws in between; the client keeps both in the folder of the fit. So workers share no files with the client or each other, and a segment
whose worker was lost is repeated elsewhere from the same state, with the same draws. The fits of a comparison are one task each, which returns scores.
"""

from __future__ import annotations

import io
import tempfile
import threading
import time
import uuid
import zipfile
from collections import OrderedDict
from functools import partial
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from . import _native

#: Seconds between two looks at the cluster.
LOOK = 0.05
#: Seconds to wait for the first worker.
PATIENCE = 60
#: How often a segment is repeated whose inputs were lost with their workers.
TRIES = 5
#: What a worker needs of the folder of a fit: everything but the draws.
NEEDED = ("config.toml", "blocks.csv", "trials.npy", "limits.csv", "draws.zarr/.z*", "draws.zarr/observed_data/**/*", "draws.zarr/constant_data/**/*")
#: How many fits or comparisons a worker holds.
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
        self._cluster = Cluster(client, pack(Path(fit.dir)), threads, "continue with resume()")
        self.client, self.seconds = client, seconds
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
        segments: dict[Optional[int], Task] = {}
        try:
            if not coordinator.is_started():
                segments[None] = Task(self._cluster, "the start of the chains", partial(self._send, None, b""))
            while not coordinator.is_finished():
                if self._stop.wait(LOOK):
                    return "stopped"
                for chain in range(len(self._places)) if coordinator.is_started() else ():
                    if chain not in segments and (message := coordinator.next(chain)) is not None:
                        segments[chain] = Task(self._cluster, f"chain {chain + 1}", partial(self._send, chain, message))
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

    def _send(self, chain: Optional[int], message: bytes) -> Any:
        cluster = self._cluster
        threads = cluster.threads(1 if chain is None else len(self._places))
        data = cluster.data()
        # Through a worker rather than the scheduler: a state may be as large as the table.
        message = self.client.scatter(message, hash=False)
        return self.client.submit(work, cluster.name, data, chain, message, threads, self.seconds, pure=False)


class Cluster:
    """The workers, all of which are sent the same data."""

    def __init__(self, client: Any, packed: bytes, threads: int, remedy: str):
        self.client, self.remedy, self.name = client, remedy, f"rflvm-{uuid.uuid4()}"
        self._packed, self._threads = packed, threads
        self._data: Any = None

    def data(self) -> Any:
        """The data, sent to all workers once, and again only if all that had them are lost."""
        if self._data is None or self._data.status != "finished":
            try:
                self.client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError:
                raise RuntimeError(f"the cluster has had no worker for {PATIENCE} seconds; start some, and {self.remedy}") from None
            self._data = self.client.scatter(self._packed, broadcast=True, hash=False)
        return self._data

    def threads(self, tasks: int) -> int:
        """The threads of each of some tasks that run side by side."""
        each = self.client.nthreads().values()
        return self._threads or max(1, min(sum(each, 0) // tasks, max(each, default=1)))


class Task:
    """A task, repeated if it is lost."""

    def __init__(self, cluster: Cluster, what: str, send: Callable[[], Any]):
        self._cluster, self._what, self._submit = cluster, what, send
        self._tries = 0
        self._task: Any = None

    def result(self) -> Any:
        """What the task returned; None while it is still to be sent, or runs."""
        sent = self._task is not None
        try:
            if not sent:
                self._task = self._submit()
            elif self._task.done() or self._task.status == "lost":
                return self._task.result()
        except Exception as error:
            self._explain(error, sent)
            self._tries += 1
            self._task = None
        return None

    def _explain(self, error: Exception, sent: bool) -> None:
        """Raise an error that another try would not mend."""
        from concurrent.futures import CancelledError

        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        what, remedy = self._what, self._cluster.remedy
        if isinstance(error, KilledWorker):
            raise RuntimeError(
                f"several workers died while they ran {what}, perhaps for want of memory; give workers more memory or fewer threads, and {remedy}"
            ) from error
        if isinstance(error, ModuleNotFoundError) and "rflvm" in str(error):
            raise RuntimeError(f"a worker of the cluster cannot import rflvm ({error}); install the same version on all workers") from error
        # A worker that dies while something is sent to it is an error of the connection, before the scheduler knows of its death.
        lost = isinstance(error, (CancelledError, FutureCancelledError)) or (not sent and isinstance(error, OSError))
        if not lost:
            raise error
        if self._cluster.client.status != "running" or self._tries >= TRIES:
            raise RuntimeError(f"the cluster was closed, or lost {what} {TRIES} times; {remedy}") from error

    def cancel(self) -> None:
        """Forget the task."""
        if self._task is not None:
            self._task.cancel()


def each(client: Any, work: Callable, packed: bytes, tasks: Sequence[str], threads: int, done: Callable[[int], None]) -> list:
    """What `work` returns for each of some independent tasks, which are given in words; `done` is called with the number of each that is complete."""
    cluster = Cluster(client, packed, threads, "compare again")

    def send(number: int) -> Any:
        return client.submit(work, cluster.name, cluster.data(), number, cluster.threads(len(tasks)), pure=False)

    left = {number: Task(cluster, words, partial(send, number)) for number, words in enumerate(tasks)}
    results: list = [None] * len(tasks)
    try:
        while left:
            for number, task in list(left.items()):
                results[number] = task.result()
                if results[number] is not None:
                    del left[number]
                    done(number)
            time.sleep(LOOK)
    finally:
        for task in left.values():
            task.cancel()
    return results


def pack(folder: Path) -> bytes:
    """The table and the settings of a fit."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted({file for pattern in NEEDED for file in folder.glob(pattern) if file.is_file()}):
            archive.write(file, file.relative_to(folder))
    return packed.getvalue()


# On the workers.

_held: OrderedDict[str, Any] = OrderedDict()
_lock = threading.Lock()


def held(name: str, make: Callable[[], Any]) -> Any:
    """What a worker makes of the data once for all its tasks."""
    with _lock:
        if name not in _held:
            _held[name] = make()
            while len(_held) > HELD:
                _held.popitem(last=False)
        _held.move_to_end(name)
        return _held[name]


def opened(packed: bytes) -> _native.Fit:
    """A fit that was packed."""
    with tempfile.TemporaryDirectory(prefix="rflvm-") as folder:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            archive.extractall(folder)
        return _native.Fit.open(folder)


def work(name: str, packed: bytes, chain: Optional[int], message: bytes, threads: int, seconds: float) -> bytes:
    """A segment of a chain, or the start of all chains."""
    fit = held(name, partial(opened, packed))
    return fit.start_chains(threads) if chain is None else fit.segment(chain, message, threads, seconds)
