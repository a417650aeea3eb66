"""A fit that ends without convergence warns exactly once."""

import warnings

import anndata
import numpy as np
from conftest import QUICK, estimator, grouped
from sklearn.exceptions import ConvergenceWarning as ScikitWarning

import rflvm
from rflvm._convergence import doubt_of
from rflvm._progress import words


def table(rows=12):
    rng = np.random.default_rng(0)
    place = rng.uniform(-2, 2, rows)
    return np.column_stack([np.sin(place + s) for s in np.linspace(0, 3, 3)]) + 0.5 * rng.normal(size=(rows, 3))


def caught(act):
    """What was warned, and what came of it."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        outcome = act()
    return [warning for warning in seen if issubclass(warning.category, UserWarning)], outcome


#: So few features that chains mix at once.
# Few unknowns, and none of them slow.
GOOD = dict(init="pca", kernel="rbf", amplitude=1.0, features=4, chains=2, warmup=500, draws=2000, random_state=1, progress=False)


def test_it_is_a_warning_that_scikit_learn_and_pymc_users_know():
    assert issubclass(rflvm.ConvergenceWarning, ScikitWarning) and issubclass(rflvm.ConvergenceWarning, UserWarning)
    assert "ConvergenceWarning" in rflvm.__all__


def test_a_fit_that_has_converged_says_nothing_and_gives_advice():
    seen, model = caught(lambda: estimator(**GOOD).fit(table()))
    assert model.diagnostics_["verdict"] == "converged" and not seen
    check = model.check()
    assert check.is_converged and "not converged" not in repr(check)


def test_each_end_of_a_fit_warns_once_at_the_users_line(tmp_path):
    short = {**GOOD, "draws": 60, "warmup": 20}
    seen, model = caught(lambda: estimator(store=tmp_path / "fit", **short).fit(table()))
    assert len(seen) == 1 and seen[0].category is rflvm.ConvergenceWarning and seen[0].filename == __file__
    for act in (
        lambda: rflvm.RFLVM(store=tmp_path / "fit", progress=False).resume(draws=80),
        lambda: estimator(**short).fit(table(), blocking=False).wait(),
    ):
        (warning,), _ = caught(act)
        assert warning.category is rflvm.ConvergenceWarning and warning.filename == __file__
    rng = np.random.default_rng(0)
    cells = anndata.AnnData(rng.poisson(3.0, (20, 6)).astype(np.float32))
    (warning,), _ = caught(lambda: rflvm.tl.fit(cells, **grouped(**{**QUICK, "draws": 20})))
    assert warning.category is rflvm.ConvergenceWarning and warning.filename == __file__
    # A handle that is asked again has said it.
    handle = estimator(**short).fit(table(), blocking=False)
    assert [len(caught(handle.wait)[0]) for _ in range(2)] == [1, 0]


def test_a_single_chain_and_few_draws_are_told():
    (warning,), _ = caught(lambda: estimator(**{**QUICK, "chains": 1}).fit(table()))
    assert "cannot be judged from a single chain; fit with sampling=rflvm.Sampling(chains=2)" in str(warning.message)
    (warning,), _ = caught(lambda: estimator(**{**QUICK, "draws": 3}).fit(table()))
    assert "cannot be judged from 3 draws per chain; continue with model.resume(draws=1000)" in str(warning.message)


def quantity(name, r_hat, ess):
    return {"name": name, "label": name, "sd": 1.0, "r_hat": r_hat, "ess_bulk": ess, "ess_tail": ess + 1}


def told(verdict, chains=2, aside=(), **more):
    lines = [{"used": n not in aside, "below_best": 130.0 if n in aside else 0.0} for n in range(chains)]
    quantities = [quantity("alpha", 1.02, 63.0), quantity("lp", 1.31, 80.0)]
    return {"verdict": verdict, "draws": 500, "draws_advised": None, "chains": lines, "quantities": quantities, **more}


def test_the_words_say_what_is_wrong_and_what_to_do():
    assert doubt_of(told("converged"), 1000) is None
    longer = doubt_of(told("run-longer", draws_advised=3200), 1000)
    assert "effective sample size is down to 63 (for alpha; at least 400 is good)" in longer and "model.resume(draws=3200)" in longer
    disagree = doubt_of(told("chains-disagree"), 1500)
    assert (
        "R̂ is up to 1.310 (for lp; at most 1.01 is good)" in disagree and "model.resume(warmup=3000)" in disagree and "plot.trace(model)" in disagree
    )
    aside = doubt_of(told("chains-disagree", chains=4, aside=(1, 3)), 100)
    assert "chains 2, 4 are in a minor mode, with a log joint density up to 130 below" in aside and "warmup=1000" in aside
    for sentence in (longer, disagree, aside):
        assert not any(word in sentence for word in ("--", "usize", "\n"))


def test_advised_draws_come_from_the_engine():
    model = estimator(**{**GOOD, "draws": 200})
    (warning,), _ = caught(lambda: model.fit(table()))
    assert model.diagnostics_["verdict"] == "run-longer" and model.diagnostics_["draws_advised"] >= 400
    assert f"model.resume(draws={model.diagnostics_['draws_advised']})" in str(warning.message)


def test_answers_of_a_fit_that_has_not_converged_say_so_in_one_line():
    model = estimator(**QUICK)
    caught(lambda: model.fit(table()))
    advice = model.diagnostics_["advice"]
    assert "model.resume(" in advice
    (warning,), _ = caught(model.predict)
    assert "so this answer may change; " + advice in str(warning.message) and "\n" not in str(warning.message)
    names = [quantity["label"] for quantity in model.diagnostics_["quantities"]]
    assert any(name.startswith("the linear predictor of row '") for name in names)


def test_the_speed_of_a_resumed_fit_leaves_out_earlier_sweeps():
    progress = {"done": 0.55, "sweeps": [110, 110], "of": 200, "before": 200, "warming": [False, False], "log_likelihood": [-3.0, -4.0]}
    assert words(progress, 10.0) == " 55% 2 chains, sampling, 2.0 sweeps/s, 2 min left, log-likelihood -3"
    assert words({**progress, "before": 220}, 10.0) == "  0% initialising"
