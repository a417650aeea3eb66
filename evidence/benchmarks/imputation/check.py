"""Checks masks, scores and peers on tables whose structure is known; a minute.

    python evidence/benchmarks/imputation/check.py
"""

import numpy as np
from scipy.stats import norm

import peers
import score
from masks import MASKS


def check_masks():
    """Each mask hides its share, observed cells only, in runs of its length."""
    observed = np.random.default_rng(0).random((600, 30)) > 0.05
    for name, mask in MASKS.items():
        cells = mask.cells(observed, np.random.default_rng(1))
        assert not (cells & ~observed).any()
        assert abs(cells.sum() / observed.sum() - mask.share) < 0.04, name
        whole = mask.cells(np.ones_like(observed), np.random.default_rng(1))
        edges = np.diff(np.pad(whole, ((1, 1), (0, 0))).astype(int).T)
        lengths = np.nonzero(edges < 0)[1] - np.nonzero(edges > 0)[1]
        if mask.length > 1:
            assert (lengths == mask.length).all(), name
        if mask.whole:
            assert (whole.all(1) == whole.any(1)).all()


def check_scores():
    """The normal's own draws are inside its intervals as often as they should be; the probabilities of counts sum to 1."""
    rng = np.random.default_rng(2)
    mean, sd = rng.normal(size=100_000), rng.uniform(0.5, 2, 100_000)
    truth = mean + sd * rng.normal(size=100_000)
    found = score.real(truth, mean, sd, 1)
    assert abs(found["in50"] - 0.5) < 0.01 and abs(found["in90"] - 0.9) < 0.01
    doubled = score.real(truth, mean, sd, 2)
    assert doubled["log_density"] == found["log_density"]
    np.testing.assert_allclose([doubled["mse"], doubled["mae"]], [found["mse"] / 4, found["mae"] / 2])
    np.testing.assert_allclose(found["log_density"], norm.logpdf(truth, mean, sd).mean())
    for centre, width in ((0.3, 0.4), (5, 0.5), (-1, 0.3)):
        every = [score.counts(np.array([k]), np.array([centre]), np.array([width]), 1)["log_density"] for k in np.arange(200.0)]
        np.testing.assert_allclose(np.exp(every).sum(), 1, rtol=1e-9)


def planted(rng):
    """Three smooth latent paths seen in 12 columns, standardised; about a hundredth of a column's variance is noise."""
    times = np.arange(240.0)
    states = np.column_stack([np.sin(times / 12), np.cos(times / 19), np.sin(times / 31 + 1)])
    signal = states @ rng.normal(size=(3, 12))
    y = signal + 0.1 * signal.std(0) * rng.normal(size=signal.shape)
    return (y - y.mean(0)) / y.std(0), times


def check_peers():
    """Every method finds hidden cells of the planted table far better than the column mean does, with intervals that hold
    about what they should."""
    rng = np.random.default_rng(3)
    truth, times = planted(rng)
    mask = MASKS["random"]
    cells = mask.cells(np.ones(truth.shape, bool), rng)
    y = np.where(cells, np.nan, truth)
    for name, method in peers.METHODS.items():
        if name == "gplvm":
            continue
        mean, sd, chosen, source = peers.impute(method, y, times, mask)
        found = score.real(truth[cells], mean[cells], sd[cells], 1)
        print(f"{name}: MSE {found['mse']:.4f}, in 90% {found['in90']:.2f}, chosen {chosen}, sd from {source}", flush=True)
        assert found["mse"] < (1.1 if name == "mean" else 0.1), name
        assert 0.8 < found["in90"] < 0.99, name
        if name in ("soft", "ppca", "ldm", "iterative"):
            assert found["mse"] < 0.03, name
        if name in ("ppca", "ldm"):
            # A rank above the true one costs little, and 230 validation cells cannot always tell; one below it costs much.
            assert chosen >= 3, name


def check_whole_rows():
    """Methods that see no time return about the column mean in wholly hidden rows; those that do are better."""
    rng = np.random.default_rng(4)
    truth, times = planted(rng)
    mask = MASKS["rows20"]
    cells = mask.cells(np.ones(truth.shape, bool), rng)
    y = np.where(cells, np.nan, truth)
    error = {}
    for name, candidate in (("mean", None), ("knn3", 3), ("soft", 0.02), ("ppca", 3), ("ldm", 3)):
        mean = peers.METHODS[name].fit(y, times, candidate)[0]
        error[name] = ((mean - truth)[cells] ** 2).mean()
    for name in ("knn3", "soft", "ppca"):
        assert abs(error[name] / error["mean"] - 1) < 0.1, (name, error)
    assert error["ldm"] < 0.5 * error["mean"], error


if __name__ == "__main__":
    check_masks()
    check_scores()
    check_peers()
    check_whole_rows()
    print("masks, scores and peers are as they should be")
