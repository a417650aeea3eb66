"""Of a linear system the smoother is the Kalman smoother, exactly; counts over a smooth path are followed."""

import numpy as np

import ldm
from baselines import ukf
from baselines.planted import affine_r2


def check():
    rng = np.random.default_rng(0)
    weights, noise = rng.normal(size=(2, 5)), rng.uniform(0.2, 0.5, 5)
    x = np.cumsum(0.2 * rng.normal(size=(60, 2)), 0)
    y = x @ weights + np.sqrt(noise) * rng.normal(size=(60, 5))
    # ldm.smooth has x_1 ~ N(0, I), the filter a step before its first row: a gap of next to nothing.
    gaps = np.r_[0.0, np.ones(59)]
    ours, likelihood = ukf.smooth(y, gaps, lambda x: x @ weights, noise, 0.04, 2)
    information = np.broadcast_to(weights / noise @ weights.T, (60, 2, 2)).copy()
    exact, _, _, part = ldm.smooth(np.eye(2), 0.04 * np.eye(2), information, y / noise @ weights.T)
    np.testing.assert_allclose(ours, exact, atol=1e-6)
    own = -0.5 * (60 * np.log(2 * np.pi * noise).sum() + (y**2 / noise).sum())
    np.testing.assert_allclose(likelihood, own + part, rtol=1e-6)

    times = np.arange(150.0)
    truth = np.c_[np.sin(times / 15), np.cos(times / 23)]
    counts = rng.poisson(np.exp(1 + 0.7 * truth @ rng.normal(size=(2, 20))))
    found = affine_r2(ukf.path(counts, times, 2, 0), truth)
    assert found > 0.9, found
    return f"linear: equal to the Kalman smoother; counts over a path: R² {found:.3f}"
