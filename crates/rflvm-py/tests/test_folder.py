"""The folder of a fit: no run disturbs another, and what is read is what was written."""

import time

import numpy as np
import pytest

import rflvm

COUNTS = np.random.default_rng(1).poisson(3.0, (12, 4)).astype(float)


def model(**parameters):
    return rflvm.RFLVM(likelihood="poisson", n_random_features=4, random_state=1, progress=False, **parameters)


def settings(folder):
    return (folder / "config.toml").read_text()


def test_a_running_fit_is_touched_by_nobody(tmp_path):
    store = tmp_path / "run"
    running = model(warmup=5, draws=10_000_000, checkpoint=0.02)
    handle = running.fit(COUNTS, store=store, blocking=False)
    while not (store / "checkpoint.bin").exists():
        time.sleep(0.01)
    before = settings(store)
    other = model(warmup=3, draws=3)
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
    model(warmup=5, draws=5).fit(COUNTS, store=store)
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
    part = model(warmup=5, draws=4).fit(COUNTS, store=tmp_path / "part")
    whole = model(warmup=5, draws=9).fit(COUNTS, store=tmp_path / "whole")
    more = part.resume(draws=9)
    assert np.array_equal(more.posterior_["w"], whole.posterior_["w"])
    with pytest.raises(ValueError, match="draws is 3"):
        part.resume(draws=3)
