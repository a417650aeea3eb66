"""Posterior predictive checks, with Python's names."""

import numpy as np
import pandas as pd
import pytest
from conftest import estimator

import rflvm
from rflvm._check import Check

pytestmark = pytest.mark.filterwarnings("ignore")


def told(*lines):
    """What the engine says of (statistic, names, p, advice)."""
    checks = [
        {"statistic": s, "family": "poisson", "names": names, "observed": 1.5, "mean": 2.0, "q05": 1.0, "q95": 3.0, "p": p, "suggests": advice}
        for s, names, p, advice in lines
    ]
    return {"draws": 60, "checks": checks}


LINES = (("share of zeros", ["a", "b"], 0.004, "more zeros than the fit makes: try negative-binomial"), ("largest cell", ["a", "b"], 0.4, None))


def test_a_fit_is_checked_in_pythons_words(fitted):
    check = fitted.check()
    assert isinstance(check, rflvm.Check) and check.draws == 60
    assert list(check.p_values)[0] == "share of zeros" and all(0 <= p <= 1 for p in check.p_values.values())
    table = check.to_pandas()
    assert list(table.columns) == ["family", "statistic", "observed", "mean", "lower", "upper", "p_value", "advice"]
    assert list(table["p_value"]) == list(check.p_values.values()) and (table["lower"] <= table["upper"]).all()
    assert check.statistics[0].columns == fitted.columns_


def test_there_is_no_advice_before_the_chains_have_converged(fitted):
    assert fitted.diagnostics_["verdict"] != "converged"
    check = fitted.check()
    assert not check.is_converged and not check.advice and check.to_pandas()["advice"].isna().all()
    assert "The chains have not converged" in repr(check) and "diagnostics_['words']" in repr(check)
    strained = Check.of(told(*LINES), is_converged=False)
    assert not strained.advice and "→" not in repr(strained)


def test_it_prints_as_a_table_with_advice_below_its_line():
    check = Check.of(told(*LINES), is_converged=True)
    lines = repr(check).splitlines()
    assert lines[0].split() == ["statistic", "observed", "replicated", "5%", "to", "95%", "p"]
    assert lines[1].split() == ["share", "of", "zeros", "1.5", "2", "1", "…", "3", "0.004"]
    assert lines[2] == "  → more zeros than the fit makes: try negative-binomial" and lines[3].startswith("largest cell")
    assert lines[4] == "60 replicated tables; 1 p-value is below 0.05."
    assert check.advice == {"share of zeros": "more zeros than the fit makes: try negative-binomial"}


def test_statistics_of_several_blocks_have_names_of_their_own():
    lines = [("share of zeros", ["kind=x", "kind=y"], 0.5, None), ("share of zeros", ["word=a"], 0.6, None), ("kurtosis", ["r"], 0.7, None)]
    check = Check.of(told(*lines), is_converged=True)
    assert list(check.p_values) == ["share of zeros of kind", "share of zeros of word", "kurtosis"]


def test_advice_has_the_names_of_parameters():
    rng = np.random.default_rng(0)
    depth = np.exp(1.5 * rng.normal(size=(40, 1)))
    table = pd.DataFrame(rng.negative_binomial(1, 1 / (1 + 8 * depth), size=(40, 3)))
    # Advice is for fits that have converged.
    long = dict(features=4, chains=2, warmup=500, draws=2000, random_state=1, progress=False)
    model = estimator(1, "poisson", kernel="rbf", length_scale=50.0, **long).fit(table)
    assert model.diagnostics_["verdict"] == "converged"
    sentences = list(model.check().advice.values())
    assert sentences and not any("--" in sentence for sentence in sentences)


CONFLICT = {
    "quantity": "noise share",
    "family": None,
    "conflicting": 1,
    "of": 2,
    "worst": "axis 2",
    "median": 0.4,
    "prior_low": 0.001,
    "prior_high": 0.2,
    "words": "1 of 2 axes; worst: axis 2, posterior median 0.400, above its prior (0.001 … 0.200)",
    "suggests": "change priors={'noise-share': …}",
}


def test_conflicts_of_priors_are_listed_with_their_advice():
    check = Check.of({**told(*LINES), "conflicts": [CONFLICT]}, is_converged=True)
    assert check.conflicts[0].worst == "axis 2" and check.conflicts[0].advice == CONFLICT["suggests"]
    assert repr(check).endswith(f"The prior of noise share conflicts with its posterior: {CONFLICT['words']}.\n  → {CONFLICT['suggests']}")
    strained = Check.of({**told(*LINES), "conflicts": [CONFLICT]}, is_converged=False)
    assert strained.conflicts[0].advice is None
    assert repr(Check.of(told(*LINES), is_converged=True)).endswith("No prior conflicts with its posterior.")


def test_a_fixed_amplitude_conflicts_with_a_strong_signal():
    t = np.linspace(0, 9, 90)
    table = pd.DataFrame({"a": np.sin(t), "b": np.cos(t), "c": np.sin(0.7 * t), "d": np.cos(0.7 * t)})
    model = estimator(2, "gaussian", amplitude=1, features=10, chains=2, warmup=60, draws=40, random_state=1, progress=False).fit(table)
    conflict = next(c for c in model.check().conflicts if c.quantity == "strength of weights")
    assert conflict.of == 4 and conflict.median > conflict.prior_high and conflict.worst in [f"column '{name}'" for name in table]
