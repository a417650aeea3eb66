"""What a fit can be asked."""

import pickle

import numpy as np
import pytest
from conftest import QUICK, estimator

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def holed(curve):
    mask = np.random.default_rng(1).random(curve.table.shape) < 0.1
    return mask, estimator(likelihood="poisson", **{**QUICK, "warmup": 100, "draws": 100}).fit(curve.table, mask=mask)


def test_imputed_cells_have_intervals_and_observed_ones_are_as_they_are(curve, holed):
    mask, model = holed
    mean, std, lower, upper = model.impute(return_std=True, return_interval=True)
    assert np.array_equal(mean[~mask], curve.table[~mask]) and (std[~mask] == 0).all()
    assert (lower[mask] <= upper[mask]).all() and (std[mask] > 0).all()
    inside = (lower[mask] <= curve.table[mask]) & (curve.table[mask] <= upper[mask])
    assert inside.mean() > 0.75
    error = np.abs(mean[mask] - curve.table[mask]).mean()
    assert error < np.abs(np.broadcast_to(curve.table.mean(axis=0), mask.shape)[mask] - curve.table[mask]).mean()
    tables = model.impute(draws=5)
    assert tables.shape == (5, *mask.shape) and (tables[:, ~mask] == curve.table[~mask]).all()
    assert tables[:, mask].std(axis=0).max() > 0 and (tables == np.round(tables)).all()


def test_new_rows_are_completed_too(curve, holed):
    _, model = holed
    new = curve.table[:6] + 1.0
    new[:, 2] = np.nan
    filled = model.impute(new)
    assert np.array_equal(filled[:, [0, 1, 3]], new[:, [0, 1, 3]]) and np.isfinite(filled).all()
    assert model.impute(new, draws=3).shape == (3, *new.shape)


def test_predictions_agree_with_the_table(curve, holed):
    _, model = holed
    fitted = model.predict()
    assert np.corrcoef(fitted.ravel(), curve.table.ravel())[0, 1] > 0.7
    again, std, lower, upper = model.predict(curve.table, return_std=True, return_interval=True)
    assert np.corrcoef(again.ravel(), fitted.ravel())[0, 1] > 0.97
    assert (lower <= upper).all() and (std >= 0).all()
    places = model.inverse_transform(model.embedding_)
    assert np.corrcoef(places.ravel(), fitted.ravel())[0, 1] > 0.9


def test_rows_that_the_fit_makes_up_are_like_its_own(curve, fitted):
    drawn = fitted.sample(300)
    assert drawn.shape == (300, curve.table.shape[1]) and (drawn >= 0).all() and (drawn == np.round(drawn)).all()
    ratio = drawn.mean(axis=0) / curve.table.mean(axis=0)
    assert 0.4 < np.exp(np.log(ratio).mean()) < 2.5
    assert np.array_equal(drawn[:5], fitted.sample(300)[:5])


def test_strange_rows_have_high_outlier_scores(curve, fitted):
    strange = np.full((2, curve.table.shape[1]), 300.0)
    assert (fitted.outlier_score(strange) == 1).all()
    assert fitted.score_samples(strange).max() < fitted.score_samples(curve.table[:5]).min()


def test_kernel_and_covariance(fitted):
    curves = fitted.kernel_curves()
    assert list(curves["kernel"]) == ["x1", "x2", "all"]
    along = curves["kernel"]["x1"]
    assert along["at"][0] == 0 and np.isclose(along["mean"][0], 1) and (along["lower"] <= along["upper"]).all()
    mean, std = fitted.covariance([0, 1, 2])
    assert np.allclose(np.diag(mean), 1) and np.allclose(mean, mean.T) and std.shape == (3, 3)


def test_a_first_picture(curve):
    model = estimator(likelihood="poisson", **QUICK)
    positions, std = model.map(curve.table, return_std=True)
    assert positions.shape == std.shape == (80, 2) and not hasattr(model, "embedding_")


def test_forecasts_follow_the_path():
    rng = np.random.default_rng(0)
    times = np.arange(60) / 4
    signal = np.column_stack([np.sin(times), np.cos(times), np.sin(times + 1)])
    model = estimator(**{**QUICK, "warmup": 200, "draws": 200}).fit(signal + 0.05 * rng.normal(size=signal.shape), times=times)
    told = model.forecast([15.0, 15.25])
    assert np.array_equal(told.times, [15.0, 15.25]) and told.sequences is None
    truth = np.column_stack([f([15.0, 15.25]) for f in (np.sin, np.cos, lambda t: np.sin(np.add(t, 1)))])
    assert np.abs(told.mean - truth).max() < 0.5 and (told.lower < told.upper).all()
    assert len(told.to_pandas()) == 6
    assert model.forecast(horizon=3, draws=4).shape == (4, 3, 3)
    with pytest.raises(ValueError, match="before the first row"):
        model.forecast([-3.0])


def test_axes_that_the_data_do_not_ask_for_go():
    rng = np.random.default_rng(0)
    place = rng.normal(size=80)
    table = np.column_stack([np.sin(place + shift) for shift in range(6)]) + 0.1 * rng.normal(size=(80, 6))
    model = estimator("auto:3", **{**QUICK, "warmup": 200, "draws": 100}).fit(table)
    assert model.embedding_.shape[1] == model.get_feature_names_out().size <= 3
    assert model.posterior_["x"].shape[3] == model.embedding_.shape[1]
    assert model.diagnostics_["axes"]


def test_trials_go_with_rows(rng):
    trials = rng.integers(3, 9, (50, 4))
    table = rng.binomial(trials, 0.4)
    model = estimator(likelihood="binomial", **QUICK).fit(table, trials=trials)
    assert (model.predict() <= trials).all()
    assert model.transform(table[:2], trials=trials[:2]).shape == (2, 2)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.transform(table[:2] + 1, trials=trials[:2] + 1), model.transform(table[:2] + 1, trials=trials[:2] + 1))
    with pytest.raises(ValueError, match="trials"):
        model.transform(table[:2])
    same = estimator(likelihood="binomial", trials=9, **QUICK).fit(table)
    assert same.transform(table[:2]).shape == (2, 2)


def test_offsets_go_with_rows(curve):
    offset = np.linspace(-1, 1, len(curve.table))
    model = estimator(likelihood="poisson", **QUICK).fit(curve.table, offset=offset)
    assert np.array_equal(model._fit.offset(), offset)
    with pytest.raises(ValueError, match="the rows of this fit have offsets"):
        model.transform(curve.table[:2])
    assert model.transform(curve.table[:2], offset=offset[:2]).shape == (2, 2)
    assert model.sample(3).shape == (3, 12)
    factors = estimator(likelihood="poisson", offset="size-factors", **QUICK).fit(curve.table)
    totals = curve.table.sum(axis=1)
    assert np.allclose(factors._fit.offset(), np.log(totals / totals.mean()))
