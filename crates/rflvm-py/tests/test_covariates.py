"""Covariates: effects that are known to act on rows, and positions that are free of them."""

import numpy as np
import pandas as pd
import pytest
from conftest import estimator

import rflvm

QUICK = dict(warmup=150, draws=150, chains=1, features=20, progress=False, random_state=1, n_jobs=1)


def planted(rows=120, columns=30, seed=3):
    """Counts along a curve, in two batches with effects of their own on every column, and the batch of each row."""
    rng = np.random.default_rng(seed)
    along, batch = np.linspace(-2, 2, rows), rng.permutation(np.arange(rows) % 2)
    waves = np.sin(along[:, None] * rng.uniform(0.5, 1.5, columns) + rng.uniform(0, 6, columns))
    effects = rng.normal(0, 1, columns)
    counts = rng.poisson(np.exp(1 + waves + np.outer(batch - 0.5, 2 * effects)))
    return counts, np.where(batch == 1, "B", "A"), along


def same_batch(positions, batch):
    """Share of rows whose nearest neighbour is of the same batch."""
    distance = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    return (batch[distance.argmin(1)] == batch).mean()


@pytest.fixture(scope="module")
def fitted():
    counts, batch, _ = planted()
    with pytest.warns(UserWarning):
        return estimator(likelihood="poisson", **QUICK).fit(counts, covariates=pd.DataFrame({"batch": batch}))


@pytest.mark.filterwarnings("ignore")
def test_with_covariates_batches_do_not_separate(fitted):
    counts, batch, _ = planted()
    without = estimator(likelihood="poisson", **QUICK).fit(counts)
    assert same_batch(without.embedding_, batch) > 0.85
    assert same_batch(fitted.embedding_, batch) < 0.7


@pytest.mark.filterwarnings("ignore")
def test_new_rows_bring_their_own(fitted):
    counts, batch, _ = planted()
    placed = fitted.transform(counts[:6], covariates={"batch": batch[:6]})
    assert np.abs(placed - fitted.embedding_[:6]).max() < 1.0
    for bad, words in [
        (None, "the rows of this fit have covariates"),
        ({"lab": batch[:6]}, "the covariate 'batch' of the fit is not given"),
        ({"batch": ["C"] * 6}, "does not know the level `C`"),
        ({"batch": [None] * 6}, "the covariate is missing"),
        ({"batch": batch[:5]}, "has 5 entries"),
    ]:
        with pytest.raises(ValueError, match=words):
            fitted.transform(counts[:6], covariates=bad)


@pytest.mark.filterwarnings("ignore")
def test_predictions_can_set_them(fitted, tmp_path):
    counts, batch, _ = planted()
    at = fitted.embedding_[:1]
    a, b = (fitted.inverse_transform(at, covariates={"batch": level})[0] for level in "AB")
    means = [counts[batch == level].mean(0) for level in "AB"]
    assert np.corrcoef(np.log(b / a), np.log(means[1] / means[0]))[0, 1] > 0.9
    with pytest.raises(ValueError, match="give one of A, B"):
        fitted.inverse_transform(at, covariates={"batch": "C"})
    assert fitted.sample(3).shape == (3, counts.shape[1])


@pytest.mark.filterwarnings("ignore")
def test_each_point_can_have_its_own(fitted):
    at = np.repeat(fitted.embedding_[:1], 2, axis=0)
    both = fitted.inverse_transform(at, covariates=pd.DataFrame({"batch": ["A", "B"]}))
    for i, level in enumerate("AB"):
        assert np.array_equal(both[i], fitted.inverse_transform(at, covariates={"batch": level})[i])
    assert not np.array_equal(*both)
    for bad, words in [
        ({"batch": ["A", "C"]}, "row 2, column `batch`.*give one of A, B"),
        ({"batch": ["A"]}, "has 1 entries"),
        ({"bach": ["A", "B"]}, "did you mean batch"),
    ]:
        with pytest.raises(ValueError, match=words):
            fitted.inverse_transform(at, covariates=bad)
    with pytest.raises(TypeError, match="a mapping, such as"):
        fitted.inverse_transform(at, covariates="A")


@pytest.mark.filterwarnings("ignore")
def test_rows_are_predicted_as_of_another_batch(fitted):
    counts, batch, _ = planted()
    own, as_a = fitted.predict(), fitted.predict(covariates={"batch": "A"})
    assert np.array_equal(own[batch == "A"], as_a[batch == "A"])

    def gap(table):
        return np.abs(np.log(table[batch == "A"].mean(0) / table[batch == "B"].mean(0))).mean()

    assert gap(own) > 1 and gap(as_a) < 0.4
    with pytest.raises(ValueError, match="give one of A, B"):
        fitted.predict(covariates={"batch": "C"})


@pytest.mark.filterwarnings("ignore")
def test_new_rows_give_levels_that_are_numbers_as_numbers():
    counts, batch, _ = planted(rows=40, columns=8)
    plate = (batch == "B").astype(int) + 1
    model = estimator(likelihood="poisson", **{**QUICK, "warmup": 20, "draws": 20})
    model.fit(counts, covariates={"plate": pd.Categorical(plate)})
    placed = model.transform(counts[:4], covariates={"plate": plate[:4]})
    assert np.array_equal(placed, model.transform(counts[:4], covariates={"plate": [str(p) for p in plate[:4]]}))
    assert np.array_equal(placed, model.transform(counts[:4], covariates=plate[:4, None]))


@pytest.mark.filterwarnings("ignore")
def test_a_stored_fit_knows_them(tmp_path):
    counts, batch, along = planted(rows=40, columns=8)
    model = estimator(likelihood="poisson", **{**QUICK, "warmup": 20, "draws": 20}, store=tmp_path / "fit")
    model.fit(counts, covariates=pd.DataFrame({"batch": pd.Categorical(batch), "age": along}))
    names = list(model.posterior_.coordinate("feature")) if hasattr(model.posterior_, "coordinate") else None
    again = rflvm.load(tmp_path / "fit")
    assert again.transform(counts[:2], covariates={"age": along[:2], "batch": batch[:2]}).shape == (2, 2)
    assert again._settings_now()["covariates"] == ["batch:category", "age"]
    assert names is None or "covariate batch=A" in names
