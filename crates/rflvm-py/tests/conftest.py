"""Small fits that many tests look at, and a record of what was not tested."""

import os
import warnings

import numpy as np
import pytest

import rflvm
from rflvm import _settings

#: Chains so short disagree, which is not what these tests are about; from one start they are in one mode.
QUICK = dict(features=20, warmup=30, draws=30, chains=2, init="pca", random_state=1, progress=False)

#: The names of settings in groups, as scikit-learn has them.
NESTED = {entry["parameter"]: f"{entry['group']}__{entry['parameter']}" for entry in _settings.TABLE if not entry["is_parameter"]}


def grouped(**settings):
    """Parameters of the estimator from settings by their names, whichever group they are in."""
    nested = {NESTED[name]: settings.pop(name) for name in list(settings) if name in NESTED}
    groups = rflvm.RFLVM().set_params(**nested).get_params(deep=False)
    return {**settings, **{name: groups[name] for name in _settings.CLASSES if groups[name] is not None}}


def estimator(*given, **settings):
    """A model from settings by their names."""
    return rflvm.RFLVM(*given, **grouped(**settings))


@pytest.fixture(scope="session")
def curve():
    return rflvm.datasets.s_curve(80, 12, "poisson", seed=3)


@pytest.fixture(scope="session")
def fitted(curve):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator(likelihood="poisson", **QUICK).fit(curve.table)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def note(report):
    """Adds why something was skipped to the file that `make test` ends with."""
    if report.skipped and (record := os.environ.get("RFLVM_NOT_TESTED")):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        with open(record, "a", encoding="utf-8") as file:
            file.write(f"{report.nodeid.split('/')[-1]} ({' '.join(reason.removeprefix('Skipped: ').split())})\n")


def pytest_collectreport(report):
    note(report)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    # Tests of another system are marked with skipif; nothing is missing here.
    if not (call.when == "setup" and item.get_closest_marker("skipif")):
        note(report)
    return report
