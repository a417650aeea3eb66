"""scikit-learn's own checks, and what its users do."""

import inspect
import os
import pickle
import pydoc
import warnings

# scipy looks at it once, when it is first imported: without it one of the checks would be skipped.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import joblib
import numpy as np
import pytest
from conftest import QUICK, estimator
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import rflvm

pytestmark = pytest.mark.filterwarnings("ignore")


def test_all_of_scikit_learns_checks_pass():
    model = estimator(features=10, warmup=5, draws=10, chains=1, progress=False)
    results = check_estimator(model, on_skip=None, on_fail=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] != "passed"}
    assert len(results) > 40 and not failed


@pytest.mark.parametrize(
    "likelihood, positive, categorical",
    [("gaussian", False, False), ("poisson", True, False), ("multinomial", True, False), ("auto", False, True), ({0: "poisson"}, False, True)],
)
def test_tags_say_what_the_family_takes(likelihood, positive, categorical):
    tags = rflvm.RFLVM(likelihood=likelihood).__sklearn_tags__()
    assert tags.input_tags.allow_nan and tags.input_tags.sparse
    assert (tags.input_tags.positive_only, tags.input_tags.categorical) == (positive, categorical)


def test_parameters_are_kept_as_they_are_and_cloned():
    keep = ["w"]
    model = estimator(latent_dim="auto:3", keep=keep, random_state=7)
    assert model.sampling.keep is keep
    assert clone(model).get_params() == model.get_params()


def test_a_pipeline_and_a_grid_search(curve):
    side = (curve.along > 0).astype(int)
    steps = make_pipeline(StandardScaler(), estimator(**{**QUICK, "warmup": 100, "draws": 100}), KNeighborsClassifier(3))
    steps.fit(np.log1p(curve.table[:60]), side[:60])
    assert steps.score(np.log1p(curve.table[60:]), side[60:]) > 0.7
    search = GridSearchCV(estimator(likelihood="poisson", **QUICK), {"latent_dim": [1, 2]}, cv=2)
    search.fit(curve.table)
    assert search.best_params_["latent_dim"] in (1, 2) and np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_better_model_scores_higher(curve, fitted):
    shuffled = np.apply_along_axis(np.random.default_rng(0).permutation, 0, curve.table)
    assert fitted.score(curve.table) > fitted.score(shuffled) + 1


@pytest.mark.parametrize("how", ["pickle", "joblib"])
def test_a_pickled_model_answers_as_before(fitted, curve, how, tmp_path):
    if how == "pickle":
        again = pickle.loads(pickle.dumps(fitted))
    else:
        joblib.dump(fitted, tmp_path / "model")
        again = joblib.load(tmp_path / "model")
    new = curve.table[:5] + 1
    assert np.array_equal(again.transform(new), fitted.transform(new))
    assert np.array_equal(again.posterior_["x"], fitted.posterior_["x"])


def test_models_work_in_other_processes(fitted, curve):
    new = curve.table[:4] + 1
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted.transform)(part) for part in (new[:2], new[2:]))
    assert np.array_equal(np.vstack(there), fitted.transform(new))


def test_output_is_the_frame_that_was_asked_for(fitted, curve):
    import pandas
    import polars

    model = pickle.loads(pickle.dumps(fitted))
    assert isinstance(model.set_output(transform="pandas").transform(curve.table), pandas.DataFrame)
    frame = model.set_output(transform="polars").transform(curve.table)
    assert isinstance(frame, polars.DataFrame) and frame.columns == ["rflvm0", "rflvm1"]


def test_names_of_features_are_remembered_and_compared(curve):
    import pandas

    frame = pandas.DataFrame(curve.table, columns=[f"gene{j}" for j in range(curve.table.shape[1])])
    model = estimator(likelihood="poisson", **QUICK).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame.rename(columns={"gene0": "other"}))


def test_an_unfitted_model_says_so(curve):
    for method in ("transform", "predict", "impute", "score_samples", "inverse_transform", "outlier_score"):
        with pytest.raises(NotFittedError):
            getattr(rflvm.RFLVM(), method)(curve.table)


def test_rows_of_the_fit_are_where_the_fit_has_them_alone_and_among_others(fitted, curve):
    assert np.array_equal(fitted.transform(curve.table), fitted.embedding_)
    mixed = np.vstack([curve.table[3:5], curve.table[:2] + 1])
    mean, std, draws = fitted.transform(mixed, return_std=True, return_draws=10)
    assert np.array_equal(mean[:2], fitted.embedding_[3:5]) and np.array_equal(std[:2], fitted.embedding_std_[3:5])
    assert np.array_equal(mean[2:], fitted.transform(curve.table[:2] + 1)) and draws.shape == (10, 4, 2)


def test_a_model_whose_folder_has_moved_keeps_what_it_knows(curve, tmp_path):
    model = estimator(likelihood="poisson", store=tmp_path / "here", **QUICK).fit(curve.table)
    pickled = pickle.dumps(model)
    (tmp_path / "here").rename(tmp_path / "there")
    again = pickle.loads(pickled)
    assert np.array_equal(again.embedding_, model.embedding_) and np.array_equal(again.embedding_std_, model.embedding_std_)
    assert again.diagnostics_ == model.diagnostics_ and again.columns_ == model.columns_ and again.seed_ == 1
    assert clone(again).get_params() == model.get_params()
    for ask in (lambda: again.posterior_, lambda: again.transform(curve.table), again.impute, again.check, again.resume):
        with pytest.raises(FileNotFoundError) as caught:
            ask()
        sentence = str(caught.value)
        assert str(tmp_path / "here") in sentence and "rflvm.load(new_path)" in sentence and "\n" not in sentence
    with pytest.raises(FileNotFoundError, match="rflvm.load"):
        model.predict()
    found = rflvm.load(tmp_path / "there")
    assert np.array_equal(found.embedding_, model.embedding_) and np.isfinite(found.predict()).all()
    # Put back, it answers.
    (tmp_path / "there").rename(tmp_path / "here")
    assert np.array_equal(again.posterior_["x"], model.posterior_["x"])


def test_warnings_are_no_surprise(curve):
    """A fit warns of convergence, and of nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", rflvm.ConvergenceWarning)
        estimator(likelihood="poisson", **QUICK).fit(curve.table)


def test_a_grid_search_and_a_clone_see_into_groups(curve):
    shared = rflvm.Sampling(warmup=10, draws=10, chains=1)
    model = rflvm.RFLVM(likelihood="poisson", sampling=shared, random_state=1, progress=False)
    grid = {"sampling__draws": [5, 8], "model__features": [10]}
    search = GridSearchCV(model, grid, cv=2).fit(curve.table[:40])
    best = search.best_estimator_
    assert best.posterior_.draws == search.best_params_["sampling__draws"] == best.sampling.draws and best.model.features == 10
    # Nothing was changed in what the candidates share, nor in the defaults.
    assert shared == rflvm.Sampling(warmup=10, draws=10, chains=1) and model.model is None
    twin = clone(model)
    assert twin.sampling is not shared and twin.get_params() == model.get_params()
    assert twin.set_params(sampling__chains=2).sampling.chains == 2 and model.sampling.chains == 1
    deep = rflvm.RFLVM().get_params()
    assert deep["sampling"] is None and deep["sampling__draws"] == 200 and deep["compute__device"] == "cpu" and "draws" not in deep
    for bad, sentence in [({"sampling__drows": 3}, "no setting 'drows'"), ({"nothing": 3}, "nothing")]:
        with pytest.raises(ValueError, match=sentence):
            rflvm.RFLVM().set_params(**bad)
    with pytest.raises(TypeError, match="sampling is {'draws': 3}, but it must be a group of settings such as rflvm.Sampling"):
        rflvm.RFLVM(sampling={"draws": 3}).fit(curve.table)
    with pytest.raises(TypeError, match="unexpected keyword argument 'drows'"):
        rflvm.RFLVM(drows=3)


def test_few_parameters_and_groups_that_print_what_was_changed():
    assert len(inspect.signature(rflvm.RFLVM).parameters) - 1 <= 14
    lines = pydoc.render_doc(rflvm.RFLVM, renderer=pydoc.plaintext).split("\n")
    screen = lines[: next(n for n, line in enumerate(lines) if "Method resolution order" in line)]
    assert len(screen) <= 48 and all(f"{name} :" in "\n".join(screen) for name in rflvm.RFLVM().get_params(deep=False))
    assert repr(rflvm.Sampling(draws=7)) == "Sampling(draws=7)"
    model = rflvm.RFLVM(latent_dim=3, paths=rflvm.Paths(time_kernel="rbf"))
    assert repr(model) == "RFLVM(latent_dim=3, paths=Paths(time_kernel='rbf'))"


#: What version 0.2 had as parameters, each with a value that is not its default.
EARLIER = dict(
    n_components=1, n_random_features=20, kernel="rbf", length_scale=2.0, linear="learned", amplitude=1.0, time_kernel="rbf", time_trend=True,
    time_form="dense", period=2.0, column_process="none", inducing=9, warmup=6, draws=5, thin=2, chains=1, instructions="avx2", device="auto",
    precision="mixed", init="random", init_effort=0.1, modes=2, keep=("w", "beta", "theta", "f"), checkpoint=3.0,
)  # fmt: skip


def test_parameters_of_version_0_2_work_with_a_warning_that_names_the_new_way():
    with pytest.warns(FutureWarning) as caught:
        old = rflvm.RFLVM(likelihood="poisson", **EARLIER)
    (warning,) = caught
    said = str(warning.message)
    for words in ("n_components is now latent_dim", "draws is now sampling=rflvm.Sampling(draws=…)", "device is now compute=rflvm.Compute(device=…)"):
        assert words in said
    assert "n_random_features is now model=rflvm.Model(features=…)" in said and "version 0.4" in said and warning.filename == __file__
    expected = rflvm.RFLVM(
        1,
        "poisson",
        model=rflvm.Model(features=20, kernel="rbf", length_scale=2.0, linear="learned", amplitude=1.0),
        paths=rflvm.Paths(time_kernel="rbf", time_trend=True, time_form="dense", period=2.0, column_process="none", inducing=9),
        sampling=rflvm.Sampling(warmup=6, draws=5, thin=2, chains=1, init="random", init_effort=0.1, modes=2, keep=("w", "beta", "theta", "f")),
        compute=rflvm.Compute(instructions="avx2", device="auto", precision="mixed", checkpoint=3.0),
    )
    assert old.get_params() == expected.get_params()
    for name, value in EARLIER.items():
        # One at a time: given, set, changed, and read.
        with pytest.warns(FutureWarning, match=f"{name} is now "):
            given = rflvm.RFLVM(**{name: value})
        with pytest.warns(FutureWarning, match=f"{name} is now "):
            assert rflvm.RFLVM().set_params(**{name: value}).get_params() == given.get_params() != rflvm.RFLVM().get_params()
        with pytest.warns(FutureWarning, match=f"{name} is now "):
            assert getattr(given, name) == value
        other = rflvm.RFLVM()
        with pytest.warns(FutureWarning, match=f"{name} is now "):
            setattr(other, name, value)
        assert other.get_params() == given.get_params()


def test_a_fit_by_earlier_names_is_the_same_and_searches_by_them_work(curve):
    quick = dict(likelihood="poisson", random_state=1, progress=False)
    expected = estimator(**quick, features=20, warmup=6, draws=5, chains=1, init="random").fit(curve.table).embedding_
    with pytest.warns(FutureWarning):
        model = rflvm.RFLVM(**quick, n_features=20, warmup=6, draws=5, chains=1, start="random").fit(curve.table)
    assert np.array_equal(model.embedding_, expected)
    with pytest.warns(FutureWarning, match="n_components is now latent_dim"):
        search = GridSearchCV(model, {"n_components": [1, 2]}, cv=2).fit(curve.table[:30])
    assert search.best_estimator_.latent_dim == search.best_params_["n_components"]


def test_a_model_that_version_0_2_pickled_has_its_parameters(fitted, curve):
    state = {name: value for name, value in fitted.__getstate__().items() if name not in ("latent_dim", *rflvm._settings.CLASSES)}
    # All of its parameters are in it, those that were deprecated then too.
    state.update(EARLIER, n_features="deprecated", start="deprecated")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        again = rflvm.RFLVM.__new__(rflvm.RFLVM)
        again.__setstate__(state)
        assert (again.latent_dim, again.sampling.draws, again.model.features, again.compute.checkpoint) == (1, 5, 20, 3.0)
    assert "draws" not in vars(again) and np.array_equal(again.embedding_, fitted.embedding_)


def test_one_number_of_a_prior_can_be_given_alone(curve):
    short = dict(sampling=rflvm.Sampling(warmup=2, draws=2, chains=1), random_state=1, progress=False)
    model = rflvm.RFLVM(likelihood="negative-binomial", priors={"dispersion": {"shape": 10}}, **short).fit(curve.table)
    kept = model._settings_now()["priors"]
    assert kept["dispersion"] == {"shape": 10.0, "rate-shape": 1.0, "rate-rate": 1.0} and kept["alpha"]["shape"] == 3.0
