"""Small fits that many tests look at."""

import warnings

import numpy as np
import pytest

import rflvm

#: Chains so short disagree, which is not what these tests are about.
QUICK = dict(n_random_features=20, warmup=30, draws=30, random_state=1, progress=False)


@pytest.fixture(scope="session")
def curve():
    return rflvm.datasets.s_curve(80, 12, "poisson", seed=3)


@pytest.fixture(scope="session")
def fitted(curve):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rflvm.RFLVM(likelihood="poisson", **QUICK).fit(curve.table)


@pytest.fixture
def rng():
    return np.random.default_rng(0)
