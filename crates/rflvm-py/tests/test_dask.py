"""Chains on the workers of a Dask cluster: the same draws as without one, whatever happens to the workers."""

import contextlib
import io
import itertools
import json
import os
import signal
import sys
import time

import numpy as np
import pytest
from conftest import QUICK, estimator

import rflvm

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")
#: Long enough for a search and three exchanges between the chains.
LONG = dict(likelihood="poisson", features=20, warmup=200, draws=250, chains=4, init="search", random_state=1, progress=False)
#: Segments of a fraction of a second.
SHORT = dict(LONG, checkpoint=0.3)


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    client = distributed.Client(cluster)
    yield client
    # On a busy machine, a worker that is just being started again can keep a cluster from closing.
    with contextlib.suppress(TimeoutError):
        client.close(timeout=20)
    with contextlib.suppress(TimeoutError):
        cluster.close(timeout=20)


@pytest.fixture(scope="module")
def whole(curve, tmp_path_factory):
    """An ordinary fit, undisturbed."""
    return estimator(store=tmp_path_factory.mktemp("whole") / "fit", **LONG).fit(curve.table)


def files(model):
    """All files of the store, with their bytes."""
    store = model._folder.path / "draws.zarr"
    return {file.relative_to(store).as_posix(): file.read_bytes() for file in store.rglob("*") if file.is_file()}


def modes(model):
    """The modes that the search found, and which chains continued from others."""
    file = model._folder.path / "modes.json"
    return json.loads(file.read_text()) if file.exists() else []


def assert_same(model, whole):
    assert model.posterior_.draws == whole.posterior_.draws
    here, there = files(model), files(whole)
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []
    assert [mode["log_evidence"] for mode in modes(model)] == [mode["log_evidence"] for mode in modes(whole)]
    assert [mode["replaced"] for mode in modes(model)] == [mode["replaced"] for mode in modes(whole)]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_a_worker_is_killed_and_the_store_is_that_of_an_ordinary_fit(curve, whole, client, monkeypatch):
    sent = []
    scatter = client.scatter
    monkeypatch.setattr(client, "scatter", lambda data, **how: sent.append(how.get("broadcast")) or scatter(data, **how))
    handle = estimator(**SHORT).fit(curve.table, blocking=False, client=client)
    busy, workers = [], client.run(os.getpid)
    while handle.progress()["done"] < 0.3 or not busy:
        assert not handle.done
        time.sleep(0.01)
        busy = [address for address, tasks in client.processing().items() if tasks]
    killed = workers[busy[0]]
    os.kill(killed, signal.SIGKILL)
    model = handle.wait(timeout=120)
    assert killed in workers.values() and killed not in client.run(os.getpid).values()
    # Once more if the killed worker had the only copy: Dask's memory manager drops surplus copies every two seconds.
    assert 1 <= sent.count(True) <= 2, "the table is sent once, and again only if its copies are lost"
    assert_same(model, whole)


@pytest.mark.slow
def test_a_worker_dies_while_something_is_sent_to_it(curve, whole, client, monkeypatch):
    scatter, calls = client.scatter, itertools.count()

    def never(*_, **__):
        raise OSError("no route to host")

    def sometimes(data, **how):
        if next(calls) % 3 == 0:
            raise distributed.comm.core.CommClosedError("Stream is closed")
        return scatter(data, **how)

    monkeypatch.setattr(client, "scatter", sometimes)
    assert_same(estimator(**SHORT).fit(curve.table, client=client), whole)
    monkeypatch.setattr(client, "scatter", never)
    with pytest.raises(RuntimeError, match=r"lost the start of the chains 5 times; continue with resume\(\)"):
        estimator(**SHORT).fit(curve.table, client=client)


def test_a_fit_moves_between_a_cluster_and_this_machine(curve, whole, client, tmp_path):
    def stopped(**how):
        handle = estimator(store=tmp_path / "fit", **SHORT).fit(curve.table, blocking=False, overwrite=True, **how)
        while handle.progress()["done"] < 0.7:
            time.sleep(0.01)
        handle.cancel()
        assert 0 < handle.wait().posterior_.draws < 250

    stopped(client=client)
    assert_same(rflvm.RFLVM(store=tmp_path / "fit", progress=False).resume(), whole)
    stopped()
    assert_same(rflvm.RFLVM(store=tmp_path / "fit", progress=False).resume(client=client), whole)


def test_families_times_covariates_and_trials_travel(client, rng):
    pandas = pytest.importorskip("pandas")
    how = dict(QUICK, warmup=20, draws=10, chains=2)
    rows = 40
    mixed = pandas.DataFrame({"a": rng.normal(size=rows), "b": rng.poisson(3, rows), "c": rng.random(rows) < 0.5, "d": rng.choice(list("xyz"), rows)})
    mixed.iloc[3, 0] = np.nan
    about = dict(times=np.arange(rows), covariates={"batch": rng.choice(["p", "q"], rows)}, offset=rng.normal(size=rows))
    fits = [
        (dict(likelihood="auto"), mixed, about),
        (dict(likelihood="binomial"), rng.binomial(5, 0.4, (rows, 4)), dict(trials=np.full((rows, 4), 5))),
    ]
    for parameters, table, given in fits:
        one, other = (estimator(**parameters, **how).fit(table, **given, **there) for there in ({}, {"client": client}))
        assert_same(other, one)


def test_a_comparison_has_the_scores_of_one_without_a_cluster(curve, client):
    pandas = pytest.importorskip("pandas")
    how = dict(likelihood="poisson", features=6, warmup=8, draws=8, chains=1, init="pca", random_state=3, progress=False)
    table = pandas.DataFrame(curve.table[:24, :6]).add_prefix("c")
    lists = dict(likelihoods=["poisson", "negative-binomial"], folds=2, loo=True)
    one, other = (rflvm.compare(estimator(**how), table, **lists, **there) for there in ({}, {"client": client}))
    assert timeless(one) == timeless(other) and len(one.candidates) == 2 and one.reason == other.reason
    # Families by column, trials, times and covariates travel.
    mixed = {f"c{j}": "poisson" if j % 2 else "gaussian" for j in range(6)}
    about = dict(times=np.arange(24), covariates={"batch": ["p", "q"] * 12}, offset=np.linspace(0, 1, 24))
    one, other = (rflvm.compare(estimator(**dict(how, likelihood=mixed)), table, **about, **there) for there in ({}, {"client": client}))
    assert timeless(one) == timeless(other)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_a_killed_worker_costs_a_comparison_only_its_fits(curve, client):
    how = dict(likelihood="poisson", features=20, warmup=150, draws=150, chains=2, random_state=3, progress=True)
    alone = rflvm.compare(estimator(**dict(how, progress=False)), curve.table, latent_dims=[1, 2, 3])
    done, workers = [], client.run(os.getpid)

    class Watching(io.StringIO):
        def write(self, text):
            if text.strip() and not done:
                busy = [address for address, tasks in client.processing().items() if tasks]
                os.kill(workers[busy[0]], signal.SIGKILL)
            done.extend(text.split() and [text])
            return len(text)

    with contextlib.redirect_stderr(Watching()):
        compared = rflvm.compare(estimator(**how), curve.table, latent_dims=[1, 2, 3], client=client)
    # Each is done once: those that were complete are not repeated.
    assert timeless(compared) == timeless(alone) and sorted(line.split()[1] for line in done) == ["1", "2", "3"]


def timeless(comparison):
    """All scores, without the time that they took."""
    return [{name: value for name, value in line.items() if name != "seconds"} for line in comparison.candidates]


def test_an_error_on_a_worker_is_raised_here(curve, client, monkeypatch):
    model = estimator(**SHORT)
    handle = model.fit(curve.table, blocking=False, client=client)
    monkeypatch.setattr(handle._job, "seconds", "no number")
    with pytest.raises(TypeError, match="str"):
        handle.wait()
    assert handle.done


def test_what_is_not_a_client_is_refused_before_anything_is_written(curve, tmp_path, monkeypatch):
    model = estimator(store=tmp_path / "fit", **LONG)
    with pytest.raises(TypeError, match="must be a dask.distributed.Client"):
        model.fit(curve.table, client="tcp://localhost:8786")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "dask\[distributed\]"'):
        model.fit(curve.table, client="tcp://localhost:8786")
    assert not (tmp_path / "fit").exists()


def test_a_device_is_refused(curve, client):
    with pytest.raises(ValueError, match="device"):
        estimator(device="cuda", **QUICK).fit(curve.table, client=client)


def grid_search(table, n_jobs):
    from sklearn.model_selection import GridSearchCV

    model = estimator(likelihood="poisson", **{**QUICK, "warmup": 10, "draws": 5, "chains": 1}, n_jobs=1)
    return GridSearchCV(model, {"latent_dim": [1, 2]}, cv=2, n_jobs=n_jobs).fit(table[:24])


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_grid_search_runs_on_the_backends_of_joblib(curve, client, backend):
    import joblib

    with joblib.parallel_config(backend=backend):
        found = grid_search(curve.table, 2)
    alone = grid_search(curve.table, 1)
    assert np.array_equal(found.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    assert np.array_equal(found.best_estimator_.embedding_, alone.best_estimator_.embedding_)
