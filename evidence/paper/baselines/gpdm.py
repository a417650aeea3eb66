"""Gaussian process dynamical model (Wang, Fleet & Hertzmann 2006; IEEE PAMI 2008).

    python evidence/paper/baselines/check.py gpdm

Columns are Gaussian processes of the position with an RBF kernel and noise; the next position is one of the position before, with an RBF
plus a linear kernel and noise. As in the article, X and all parameters are those of the greatest posterior density, with the prior
1/α for each parameter, from principal components, by a quasi-Newton method (the article's is scaled conjugate gradients).
Different from the article: the columns' kernel matrix is not N×N but the variational sparse one (Titsias 2009) with 60
inducing points, exact when there are N, so that each column can have its own missing cells (NaN), which are left out. Rows are taken
as equally spaced. Columns are standardised inside.
"""

import numpy as np
import torch

import ppca
from baselines.gp import features, minimise, principal, rbf, tensor, weighted_grams

POINTS = 60


def log_columns(y, seen, phi, variance, noise):
    """The lower bound of ln p(Y | X) (exact if ΦΦᵀ is the kernel matrix), and for each column the mean of its weights and
    the Cholesky factor of their precision."""
    factor = torch.linalg.cholesky(weighted_grams(phi, seen / noise))
    projected = (phi.T @ (seen * y)).T[:, :, None] / noise
    inside = torch.linalg.solve_triangular(factor, projected, upper=False)
    missing_variance = (seen * (variance - (phi**2).sum(1))[:, None]).sum() / noise
    fit = -0.5 * ((seen * y**2).sum() / noise - (inside**2).sum() + missing_variance)
    size = seen.sum() * torch.log(2 * np.pi * noise) + 2 * torch.log(factor.diagonal(dim1=1, dim2=2)).sum()
    return fit - 0.5 * size, torch.cholesky_solve(projected, factor)[:, :, 0], factor


def log_dynamics(x, alpha):
    """ln p(x_2 … x_N | x_1) + ln N(x_1 | 0, I), with the kernel α₁ exp(−α₂|x − x'|²/2) + α₃ xᵀx' + δ/α₄."""
    before, after = x[:-1], x[1:]
    k = rbf(before, before, alpha[1] ** -0.5, alpha[0]) + alpha[2] * before @ before.T
    factor = torch.linalg.cholesky(k + (1 / alpha[3] + 1e-8) * torch.eye(len(before), dtype=x.dtype))
    inside = torch.linalg.solve_triangular(factor, after, upper=False)
    own = -0.5 * (x[0] ** 2).sum()
    return own - 0.5 * (inside**2).sum() - x.shape[1] * torch.log(factor.diagonal()).sum() - 0.5 * x.numel() * np.log(2 * np.pi)


def start(y, dim):
    """Principal components; with holes, the posterior means of PPCA, scaled alike."""
    if not np.isnan(y).any():
        return principal(y, dim)
    return principal(ppca.fit(y, dim, tolerance=1e-5).mean, dim)


def fit(y, dim, seed, steps=300):
    """X, the parameters, and the inducing points, for standardised columns."""
    seen = tensor(~np.isnan(y))
    x = start(y, dim)
    y = tensor(np.nan_to_num(y))
    points = x[np.random.default_rng(seed).permutation(len(x))[:POINTS]]
    # ln of: variance, length and noise of the columns; α of the dynamics.
    logs = np.log([1.0, 1.0, 0.1, 0.5, 1.0, 0.5, 100.0])

    def loss(x, points, logs):
        variance, length, noise, *alpha = logs.exp()
        phi = features(x, points, length, variance)
        return -log_columns(y, seen, phi, variance, noise)[0] - log_dynamics(x, torch.stack(alpha)) + logs.sum()

    bounds = [(None, None)] * (x.size + points.size) + [(-8, 8)] * 2 + [(-10, 3)] + [(-12, 12)] * 4
    return y, seen, minimise(loss, [x, points, logs], steps, bounds)


def standardised(y):
    """Columns of mean 0 and variance 1; what was taken away."""
    offset, scale = np.nanmean(y, axis=0), np.nanstd(y, axis=0)
    return (y - offset) / scale, offset, scale


def path(Y, times, dim, seed):
    """Positions of the rows; counts are taken as ln(1 + y)."""
    y = np.asarray(Y, float)
    y = np.log1p(y) if np.nanmin(y) >= 0 else y
    return fit(standardised(y)[0], dim, seed)[2][0].numpy()


def impute(Y, dim, seed, steps=300):
    """Predictive mean and variance of every cell given the positions, noise included."""
    y, offset, scale = standardised(Y)
    y, seen, (x, points, logs) = fit(y, dim, seed, steps)
    variance, length, noise = logs.exp()[:3]
    phi = features(x, points, length, variance)
    _, weights, factor = log_columns(y, seen, phi, variance, noise)
    inside = torch.linalg.solve_triangular(factor, phi.T.expand(len(factor), -1, -1), upper=False)
    spread = (variance - (phi**2).sum(1)).clamp(min=0)[:, None] + (inside**2).sum(1).T + noise
    return (phi @ weights.T).numpy() * scale + offset, spread.numpy() * scale**2
