"""Tables with a known structure: groups of rows that a count model must place apart, and an S-curve."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier


def apart(embed):
    """Leave-one-out accuracy of the nearest neighbour, against that of shuffled labels."""
    rng = np.random.default_rng(5)
    profiles = rng.gamma(0.6, 6, size=(3, 30))
    label = rng.integers(3, size=240)
    y = rng.poisson(rng.gamma(5, 0.2, size=(240, 1)) * profiles[label]).astype(float)
    x = embed(y, 2, 0)
    assert x.shape == (240, 2) and np.isfinite(x).all()
    assert np.array_equal(x, embed(y, 2, 0)), "the same seed gave another map"
    near = KNeighborsClassifier(2).fit(x, label).kneighbors(x, return_distance=False)[:, 1]
    right = (label[near] == label).mean()
    assert right > 0.9, right
    return f"nearest neighbour of {right:.2f} of the rows in the same group"


def s_curve(rows=200, columns=40, seed=3):
    """Poisson counts over an S in the plane, the positions, and the place along the S."""
    rng = np.random.default_rng(seed)
    t = np.sort(3 * np.pi * (rng.random(rows) - 0.5))
    x = np.c_[np.sin(t), np.sign(t) * (np.cos(t) - 1)]
    x = (x - x.mean(0)) / x.std(0)
    kernel = np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(2)) + 1e-8 * np.eye(rows)
    f = np.linalg.cholesky(kernel) @ rng.normal(size=(rows, columns))
    return rng.poisson(np.exp(f)).astype(float), x, t


def affine_r2(x, truth):
    """Share of the variance of the true positions that an affine map of `x` explains."""
    design = np.c_[x, np.ones(len(x))]
    rest = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    return 1 - (rest**2).sum() / ((truth - truth.mean(0)) ** 2).sum()
