"""Unscented Kalman filter (Julier & Uhlmann 1997; Wan & van der Merwe 2000) and smoother, of the package filterpy.

    python evidence/paper/baselines/check.py ukf

The state is a random walk in D axes whose variance grows with the time between rows. Counts are seen through exp(Wx + c) with noise of
the variance of a Poisson column; real values through Wx + c, for which the filter is the Kalman filter. W and c come from
principal components (counts: of ln(1 + y)), the variance of a step is the one of greatest likelihood among five. The
paper does not say which functions it used.
"""

import numpy as np
from filterpy.kalman import MerweScaledSigmaPoints, UnscentedKalmanFilter

from baselines.gp import principal

STEPS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def smooth(z, gaps, see, noise, step, dim):
    """Smoothed means of the states and the log-likelihood; `see` maps a state to a row, `step` is the variance per unit of time."""
    points = MerweScaledSigmaPoints(dim, alpha=1.0, beta=2.0, kappa=3.0 - dim)
    ukf = UnscentedKalmanFilter(dim, z.shape[1], 1.0, hx=see, fx=lambda x, _: x, points=points)
    ukf.R = np.diag(noise)
    means, covariances, noises, total = [], [], [], 0.0
    for row, gap in zip(z, gaps):
        ukf.Q = max(step * gap, 1e-9) * np.eye(dim)
        ukf.predict()
        ukf.update(row)
        total += ukf.log_likelihood
        means.append(ukf.x.copy())
        covariances.append(ukf.P.copy())
        noises.append(ukf.Q.copy())
    # The smoother's step from row k to k + 1 has the noise of row k + 1.
    following = np.array(noises[1:] + noises[-1:])
    return ukf.rts_smoother(np.array(means), np.array(covariances), Qs=following)[0], total


def path(Y, times, dim, seed):
    """Smoothed states. Nothing is random: the seed has no effect."""
    y, times = np.asarray(Y, float), np.asarray(times, float)
    order = np.argsort(times, kind="stable")
    y, counts = y[order], y.min() >= 0
    base = np.log1p(y) if counts else y
    design = np.c_[principal(base, dim), np.ones(len(y))]
    weights, offset = np.split(np.linalg.lstsq(design, base, rcond=None)[0], [dim])
    rest = ((base - design @ np.r_[weights, offset]) ** 2).mean(0)
    noise = y.mean(0) + 1e-3 if counts else rest + 1e-6

    def see(x):
        line = x @ weights + offset[0]
        return np.expm1(np.clip(line, 0, 15)) if counts else line

    gaps = np.diff(times[order], prepend=times[order][0])
    gaps = gaps / np.mean(gaps[1:])
    found, _ = max((smooth(y, gaps, see, noise, step, dim) for step in STEPS), key=lambda pair: pair[1])
    placed = np.empty_like(found)
    placed[order] = found
    return placed
