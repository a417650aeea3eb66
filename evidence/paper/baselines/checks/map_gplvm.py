"""The density is the dense one, no round lowers it, and hidden cells of a simulated S-curve are predicted."""

import numpy as np
from scipy.stats import multivariate_normal, poisson

from baselines import map_gplvm
from baselines.gp import tensor
from baselines.planted import s_curve


def check():
    rng = np.random.default_rng(0)
    x, f, y = rng.normal(size=(7, 2)), rng.normal(size=(7, 3)), rng.poisson(2, size=(7, 3)).astype(float)
    k = np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(2)) + 1e-3 * np.eye(7)
    dense = sum(multivariate_normal(np.zeros(7), k).logpdf(f[:, j]) for j in range(3))
    dense += poisson.logpmf(y, np.exp(f)).sum() - poisson.logpmf(y, 1).sum() - y.size
    ours = map_gplvm.log_joint(tensor(y), tensor(np.ones_like(y)), tensor(x), tensor(f))[0].item()
    constant = -0.5 * np.log(2 * np.pi) * f.size - 0.5 * (x**2).sum() * -1
    np.testing.assert_allclose(ours, dense - constant, rtol=1e-9)

    counts, _, _ = s_curve()
    hidden = rng.random(counts.shape) < 0.2
    holed = np.where(hidden, np.nan, counts)
    _, _, trace = map_gplvm.fit(holed, 2, rounds=5)
    assert np.diff(trace).min() > -1e-6, trace
    mean, _ = map_gplvm.impute(holed, 2, 0)
    errors = [((guess - counts)[hidden] ** 2).mean() for guess in (mean, np.nanmean(holed, axis=0)[None] + 0 * counts)]
    assert errors[0] < 0.8 * errors[1], errors
    return f"density dense, never falls; hidden cells {errors[0]:.2f}, column mean {errors[1]:.2f}"
