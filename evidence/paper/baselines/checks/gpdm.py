"""With as many inducing points as rows both densities and the predictions are the dense ones; hidden cells of columns over an
S-curve are found up to their noise."""

import numpy as np
from scipy.stats import multivariate_normal

from baselines import gpdm
from baselines.gp import features, tensor
from baselines.planted import s_curve


def dense_kernel(x, variance, length):
    return variance * np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(2) / length**2)


def check():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 2)), rng.normal(size=(8, 3))
    y[rng.random(y.shape) < 0.2] = np.nan
    seen = ~np.isnan(y)
    variance, length, noise = (tensor(v) for v in (1.7, 0.6, 0.2))
    phi = features(tensor(x), tensor(x), length, variance)
    ours, _, _ = gpdm.log_columns(tensor(np.nan_to_num(y)), tensor(seen), phi, variance, noise)
    k = dense_kernel(x, 1.7, 0.6) + 0.2 * np.eye(8)
    dense = sum(multivariate_normal(np.zeros(s.sum()), k[np.ix_(s, s)]).logpdf(c[s]) for c, s in zip(y.T, seen.T))
    np.testing.assert_allclose(ours.item(), dense, rtol=1e-4)
    alpha = np.array([0.8, 1.3, 0.4, 20.0])
    k = dense_kernel(x[:-1], alpha[0], alpha[1] ** -0.5) + alpha[2] * x[:-1] @ x[:-1].T + np.eye(7) / alpha[3]
    dense = sum(multivariate_normal(np.zeros(7), k).logpdf(c) for c in x[1:].T) + multivariate_normal(np.zeros(2), np.eye(2)).logpdf(x[0])
    np.testing.assert_allclose(gpdm.log_dynamics(tensor(x), tensor(alpha)).item(), dense, rtol=1e-6)

    _, x, _ = s_curve(rows=250)
    f = np.linalg.cholesky(dense_kernel(x, 1, 1) + 1e-8 * np.eye(250)) @ rng.normal(size=(250, 20))
    whole = f + 0.3 * rng.normal(size=f.shape)
    y = np.where(rng.random(f.shape) < 0.2, np.nan, whole)
    mean, spread = gpdm.impute(y, 2, 0, steps=150)
    gone = np.isnan(y)
    error = ((mean - whole)[gone] ** 2).mean()
    inside = (np.abs(mean - whole)[gone] < 1.645 * np.sqrt(spread[gone])).mean()
    assert error < 0.125 and 0.8 < inside < 0.97, (error, inside)
    return f"densities dense; hidden cells {error:.3f}, their noise 0.09, 90% intervals hold {inside:.2f}"
