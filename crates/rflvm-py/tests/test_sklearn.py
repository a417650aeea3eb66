"""scikit-learn's own checks, and what its users do."""

import os
import pickle
import warnings

# scipy looks at it once, when it is first imported: without it one of the checks would be skipped.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import joblib
import numpy as np
import pytest
from conftest import QUICK
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
    model = rflvm.RFLVM(n_random_features=10, warmup=5, draws=10, chains=1, progress=False)
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
    model = rflvm.RFLVM(n_components="auto:3", keep=keep, random_state=7)
    assert model.keep is keep
    assert clone(model).get_params() == model.get_params()


def test_a_pipeline_and_a_grid_search(curve):
    side = (curve.along > 0).astype(int)
    steps = make_pipeline(StandardScaler(), rflvm.RFLVM(**{**QUICK, "warmup": 100}), KNeighborsClassifier(3))
    steps.fit(np.log1p(curve.table[:60]), side[:60])
    assert steps.score(np.log1p(curve.table[60:]), side[60:]) > 0.7
    search = GridSearchCV(rflvm.RFLVM(likelihood="poisson", **QUICK), {"n_components": [1, 2]}, cv=2)
    search.fit(curve.table)
    assert search.best_params_["n_components"] in (1, 2) and np.isfinite(search.cv_results_["mean_test_score"]).all()


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
    model = rflvm.RFLVM(likelihood="poisson", **QUICK).fit(frame)
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
    model = rflvm.RFLVM(likelihood="poisson", store=tmp_path / "here", **QUICK).fit(curve.table)
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
        rflvm.RFLVM(likelihood="poisson", **QUICK).fit(curve.table)


def test_earlier_names_of_parameters_still_work(curve):
    quick = {**QUICK, "n_random_features": 100}
    expected = rflvm.RFLVM(likelihood="poisson", **{**QUICK, "n_random_features": 20, "init": "random"}).fit(curve.table).embedding_
    with pytest.warns(FutureWarning, match="n_features is now called n_random_features"):
        model = rflvm.RFLVM(likelihood="poisson", **quick, n_features=20, start="random").fit(curve.table)
    assert np.array_equal(model.embedding_, expected)
    assert rflvm.RFLVM(n_features=20).get_params()["n_features"] == 20
