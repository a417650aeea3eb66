"""Probabilistic PCA with missing cells, by EM (Tipping & Bishop 1999): the linear, static baseline.

    python evidence/paper/ppca.py        # checks it against the closed form

y_n = W x_n + μ + ε, x_n ~ N(0, I), ε ~ N(0, σ²I). A row's missing cells are left out of its likelihood, so the
posterior of x_n rests on the observed cells alone, and column j is a regression over the rows that have it. Missing
cells are NaN.
"""

from dataclasses import dataclass

import numpy as np


def precision(observed, loadings, noise):
    """Σ_j o_nj w_j w_jᵀ / σ_j², a D×D matrix for each row: the information in its observed cells about its position."""
    dim = loadings.shape[1]
    outer = loadings[:, :, None] * loadings[:, None, :] / noise[:, None, None]
    return (observed @ outer.reshape(len(loadings), -1)).reshape(-1, dim, dim)


def regress_columns(y, observed, mean, covariance):
    """Loadings, offset and squared residual of each column given the posterior of X: the M step. `y` is 0 where not
    observed."""
    z = np.column_stack([mean, np.ones(len(mean))])
    moment = z[:, :, None] * z[:, None, :]
    moment[:, :-1, :-1] += covariance
    gram = (observed.T @ moment.reshape(len(z), -1)).reshape(y.shape[1], z.shape[1], z.shape[1])
    cross = y.T @ z
    coefficients = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
    residual = (y**2).sum(0) - (coefficients * cross).sum(1)
    return coefficients[:, :-1], coefficients[:, -1], residual


@dataclass
class Fit:
    """The parameters, the posterior of X, and the log-likelihood after each step."""

    loadings: np.ndarray
    offset: np.ndarray
    variance: float
    mean: np.ndarray
    covariance: np.ndarray
    log_likelihood: list


def fit(y, dim, tolerance=1e-8, steps=20_000):
    """EM from the principal components of the table with missing cells at the column means, until a step gains less than
    `tolerance` per cell."""
    known = ~np.isnan(y)
    observed, cells = known.astype(float), known.sum()
    offset = np.nanmean(y, axis=0)
    _, s, v = np.linalg.svd(np.where(known, y - offset, 0), full_matrices=False)
    loadings = v[:dim].T * s[:dim] / np.sqrt(len(y))
    variance = (s[dim:] ** 2).sum() / cells
    y = np.where(known, y, 0)
    trace = []
    while True:
        noise = np.full(y.shape[1], variance)
        centred = observed * (y - offset)
        m = np.eye(dim) + precision(observed, loadings, noise)
        covariance = np.linalg.inv(m)
        signal = centred @ loadings / variance
        mean = np.einsum("nij,nj->ni", covariance, signal)
        quadratic = (centred**2).sum() / variance - (signal * mean).sum()
        trace.append(-0.5 * (cells * np.log(2 * np.pi * variance) + np.linalg.slogdet(m)[1].sum() + quadratic))
        if len(trace) > 1 and trace[-1] - trace[-2] < tolerance * cells:
            return Fit(loadings, offset, variance, mean, covariance, trace)
        if len(trace) > steps:
            raise RuntimeError(f"PPCA: no convergence in {steps} steps")
        loadings, offset, residual = regress_columns(y, observed, mean, covariance)
        variance = residual.sum() / cells


def cells(loadings, offset, noise, mean, covariance):
    """Mean and standard deviation of every cell, noise included, given the posterior of X."""
    spread = np.einsum("jd,nde,je->nj", loadings, covariance, loadings)
    return mean @ loadings.T + offset, np.sqrt(spread + noise)


def impute(y, dim):
    """Posterior mean and standard deviation of every cell."""
    f = fit(y, dim)
    return cells(f.loadings, f.offset, f.variance, f.mean, f.covariance)


def check():
    """On complete data EM must find the closed form: σ² is the mean of the eigenvalues left out, WWᵀ + σ²I the
    covariance with these flattened. With holes, the log-likelihood is the Gaussian one of the observed cells, and
    never falls."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 8)) + 0.4 * rng.normal(size=(300, 8)) + 3
    f = fit(y, 2, tolerance=1e-13)
    values, vectors = np.linalg.eigh(np.cov(y.T, bias=True))
    variance = values[:-2].mean()
    closed = vectors @ np.diag([variance] * 6 + [*values[-2:]]) @ vectors.T
    np.testing.assert_allclose(f.variance, variance, rtol=1e-6)
    np.testing.assert_allclose(f.loadings @ f.loadings.T + variance * np.eye(8), closed, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(f.offset, y.mean(0), rtol=1e-6)

    y[rng.random(y.shape) < 0.2] = np.nan
    f = fit(y, 2)
    assert np.diff(f.log_likelihood).min() > -1e-9
    full = f.loadings @ f.loadings.T + f.variance * np.eye(8)
    total = 0
    for row in y:
        o = ~np.isnan(row)
        c, e = full[np.ix_(o, o)], (row - f.offset)[o]
        total -= 0.5 * (o.sum() * np.log(2 * np.pi) + np.linalg.slogdet(c)[1] + e @ np.linalg.solve(c, e))
    np.testing.assert_allclose(f.log_likelihood[-1], total, rtol=1e-10)
    print("PPCA: equal to the closed form; log-likelihood right with missing cells, and never falls")


if __name__ == "__main__":
    check()
