"""The folder of a fit: no run disturbs another, and what is read is what was written."""

import pickle
import time

import numpy as np
import pytest
from conftest import estimator

import rflvm

COUNTS = np.random.default_rng(1).poisson(3.0, (12, 4)).astype(float)


def model(**parameters):
    return estimator(**{"likelihood": "poisson", "features": 4, "init": "pca", "random_state": 1, "progress": False, **parameters})


def settings(folder):
    return (folder / "config.toml").read_text()


def test_a_running_fit_is_touched_by_nobody(tmp_path):
    store = tmp_path / "run"
    running = model(chains=2, warmup=5, draws=10_000_000, checkpoint=0.02)
    handle = running.fit(COUNTS, store=store, blocking=False)
    while not (store / "checkpoint.bin").exists():
        time.sleep(0.01)
    before = settings(store)
    other = model(chains=2, warmup=3, draws=3)
    with pytest.raises(OSError, match="is using this folder"):
        other.fit(COUNTS, store=store, overwrite=True)
    with pytest.raises(OSError, match="is using this folder"):
        model(store=store).resume()
    assert settings(store) == before
    assert not handle.done
    while handle.progress()["warming"][0]:
        time.sleep(0.01)
    handle.cancel()
    with pytest.warns(UserWarning, match="stopped after"):
        fitted = handle.wait()
    assert fitted.embedding_.shape == (12, 2)
    # Nobody holds the folder any more.
    with pytest.raises(OSError, match="overwrite"):
        other.fit(COUNTS, store=store)
    other.fit(COUNTS, store=store, overwrite=True)
    assert "draws = 3\n" in settings(store)


def test_a_flipped_bit_is_noticed(tmp_path):
    store = tmp_path / "fit"
    model(chains=2, warmup=5, draws=5).fit(COUNTS, store=store)
    for name in ("posterior/x/0.0.0.0", "posterior/w2/0.0", "observed_data/y/0.0", ".zmetadata"):
        file = store / "draws.zarr" / name
        whole = file.read_bytes()
        damaged = bytearray(whole)
        damaged[len(whole) // 2] ^= 1
        file.write_bytes(damaged)
        with pytest.raises((OSError, ValueError), match="checksum|metadata"):
            rflvm.load(store).posterior_["x"]
        file.write_bytes(whole)
    assert rflvm.load(store).posterior_["x"].shape == (2, 5, 12, 2)


def test_more_draws_than_were_asked_for_at_first(tmp_path):
    part = model(chains=2, warmup=5, draws=4).fit(COUNTS, store=tmp_path / "part")
    whole = model(chains=2, warmup=5, draws=9).fit(COUNTS, store=tmp_path / "whole")
    more = part.resume(draws=9)
    assert np.array_equal(more.posterior_["w"], whole.posterior_["w"])
    with pytest.raises(ValueError, match="draws is 3"):
        part.resume(draws=3)


@pytest.mark.filterwarnings("ignore")
def test_a_model_does_not_answer_from_a_fit_that_replaced_its_own(tmp_path):
    store = tmp_path / "fit"
    holes = np.where(COUNTS == 3.0, np.nan, COUNTS)
    own = model(chains=2, warmup=5, draws=4).fit(holes, store=store)
    kept, positions = pickle.dumps(own), own.embedding_.copy()
    # More draws of the same fit are no other fit.
    rflvm.load(store).resume(draws=6)
    assert own.impute().shape == COUNTS.shape
    model(chains=2, warmup=5, draws=4).fit(holes + 1.0, store=store, overwrite=True)
    for ask in (own.impute, own.resume, lambda: own.posterior_["x"], lambda: pickle.loads(kept).impute(), lambda: own.resume(draws=9)):
        with pytest.raises(OSError, match=r"holds another fit by now, .*rflvm.load"):
            ask()
    assert np.array_equal(own.embedding_, positions)
    assert rflvm.load(store).impute().shape == COUNTS.shape


@pytest.mark.filterwarnings("ignore")
def test_a_warm_up_is_extended(tmp_path):
    own = model(chains=2, warmup=5, draws=10).fit(COUNTS, store=tmp_path / "fit")
    positions = own.embedding_
    own.resume(warmup=30, draws=6)
    assert own.posterior_.draws == 6 and not np.allclose(own.embedding_, positions)
    # 5 sweeps and 10 draws before.
    assert "warmup = 45\n" in settings(tmp_path / "fit")
    again = model(chains=2, warmup=5, draws=10, n_jobs=1).fit(COUNTS).resume(warmup=30, draws=6)
    assert np.array_equal(again.posterior_["x"], own.posterior_["x"])


@pytest.mark.filterwarnings("ignore")
def test_a_second_fit_does_not_disturb_one_in_the_background():
    one = model(chains=2, warmup=5, draws=10_000_000)
    handle = one.fit(COUNTS, blocking=False)
    with pytest.raises(RuntimeError, match="is being fitted in the background; wait for its handle, or cancel it"):
        one.fit(COUNTS)
    while handle.progress()["warming"][0] or handle.progress()["warming"][1]:
        time.sleep(0.01)
    assert one._folder.path.is_dir() and not handle.done
    handle.cancel()
    assert handle.wait().impute is not None and one.embedding_.shape == (12, 2)
    # A fit that nobody waited for is not mistaken for the next.
    short = model(chains=2, warmup=5, draws=4)
    first = short.fit(COUNTS, blocking=False)
    while not first.done:
        time.sleep(0.01)
    positions = short.fit(COUNTS + 1.0).embedding_
    with pytest.raises(RuntimeError, match="fitted again before"):
        first.wait()
    assert np.array_equal(short.embedding_, positions)
