"""Several modes in one fit."""

import warnings

import numpy as np
import pytest
from conftest import QUICK, estimator

import rflvm
from rflvm._convergence import doubt_of

#: Long enough for a search for modes.
SEARCH = {**QUICK, "warmup": 100, "init": "search", "init_effort": 1.0}


@pytest.fixture(scope="module")
def both(curve, tmp_path_factory):
    table = curve.table.astype(float)
    table[::9, 4] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = tmp_path_factory.mktemp("modes")
        return [estimator(likelihood="poisson", modes=k, store=folder / str(k), **SEARCH).fit(table) for k in (1, 2)]


def test_positions_and_convergence_are_those_of_the_first_map(both):
    one, two = both
    assert np.array_equal(one.embedding_, two.embedding_) and np.array_equal(one.posterior_["x"], two.posterior_["x"])
    assert two.diagnostics_["quantities"] == one.diagnostics_["quantities"]
    mean, std = two.mode_embedding(2)
    assert mean.shape == std.shape == two.embedding_.shape and not np.array_equal(mean, two.embedding_)
    assert np.array_equal(two.mode_embedding(1)[0], two.embedding_)
    with pytest.raises(ValueError, match="mode is 2, but the modes that this fit samples are 1 to 1"):
        one.mode_embedding(2)


def test_the_weights_of_the_maps_are_told(both):
    one, two = (model.diagnostics_["modes"] for model in both)
    assert [found["chains"] for found in two["found"]][:2] == [[1, 2], [3, 4]]
    assert one["found"][0]["chains"] == [1, 2] and "stacking" not in one
    weights = two["stacking"]["weights"]
    assert sum(weights) == pytest.approx(1) and weights == [found["weight"] for found in two["found"][:2]]
    assert "weights" in two["stacking"]["words"] and two["shortage"] is None
    assert two["verdict"] in ("preferred", "several-modes") and "--" not in two["words"]


def test_a_fit_read_back_has_the_same_weights(both):
    two = both[1]
    again = rflvm.load(two.store)
    assert again.modes == 2 and again.diagnostics_ == two.diagnostics_ and (two.store / "weights.json").exists()
    assert np.array_equal(again.impute(), two.impute())


def test_a_number_of_maps_that_cannot_be_sampled_is_refused(curve):
    for wrong, words in (({"modes": 0}, "modes is 0"), ({"modes": 2, "init": "pca"}, "modes is 2")):
        with pytest.raises(ValueError, match=words):
            estimator(likelihood="poisson", **{**SEARCH, **wrong}).fit(curve.table)


def test_chains_that_have_not_mixed_inside_a_map_are_told_from_chains_that_began_anywhere():
    quantity = {"name": "lp", "label": "lp", "sd": 1.0, "r_hat": 1.3, "ess_bulk": 9.0, "ess_tail": 9.0}
    told = {"verdict": "chains-disagree", "draws": 50, "chains": [{"used": True}] * 2, "quantities": [quantity]}
    assert "the chains disagree" in doubt_of(told, 100)
    assert "the chains have not mixed inside the mode" in doubt_of({**told, "modes": {}}, 100)
