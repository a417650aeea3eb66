"""A linear dynamical model with missing cells, fitted by EM (Shumway & Stoffer 1982): the linear, dynamic baseline.

    python evidence/paper/ldm.py         # checks it

x_1 ~ N(0, I), x_t = A x_{t−1} + N(0, Q), y_t = C x_t + c + N(0, diag r). Rows are taken as equally spaced in time. A
row's observed cells enter the Kalman filter in information form, as the D×D matrix Σ C_jᵀC_j/r_j and the D-vector Σ
C_jᵀ(y_j − c_j)/r_j, so missing cells are left out and the filter never meets a J×J matrix. Missing cells are NaN.
"""

from dataclasses import dataclass

import numba
import numpy as np

import ppca


@numba.njit(cache=True)
def smooth(a, q, information, score):
    """Posterior means, covariances and lag-one covariances Cov(x_t, x_{t−1}) of the states, and the states' part of
    the log-likelihood. Compiled: a loop over rows of tiny matrices is slow in NumPy."""
    rows, dim = score.shape
    eye = np.eye(dim)
    mean, cov = np.zeros((rows, dim)), np.zeros((rows, dim, dim))
    predicted_mean, predicted_cov = np.zeros((rows, dim)), np.zeros((rows, dim, dim))
    lag = np.zeros((rows, dim, dim))
    m, p, part = np.zeros(dim), eye.copy(), 0.0
    for t in range(rows):
        if t > 0:
            m, p = a @ mean[t - 1], a @ cov[t - 1] @ a.T + q
        predicted_mean[t], predicted_cov[t] = m, p
        b = eye + p @ information[t]
        f = np.linalg.solve(b, p)
        cov[t] = 0.5 * (f + f.T)
        g = score[t] - information[t] @ m
        mean[t] = m + cov[t] @ g
        part += -0.5 * (np.linalg.slogdet(b)[1] - 2.0 * score[t] @ m + m @ (information[t] @ m) - g @ (cov[t] @ g))
    for t in range(rows - 2, -1, -1):
        gain = np.linalg.solve(predicted_cov[t + 1], a @ cov[t]).T
        lag[t + 1] = cov[t + 1] @ gain.T
        mean[t] += gain @ (mean[t + 1] - predicted_mean[t + 1])
        c = cov[t] + gain @ (cov[t + 1] - predicted_cov[t + 1]) @ gain.T
        cov[t] = 0.5 * (c + c.T)
    return mean, cov, lag, part


@dataclass
class Fit:
    """The parameters, the posterior of the states, and the log-likelihood after each step."""

    a: np.ndarray
    q: np.ndarray
    loadings: np.ndarray
    offset: np.ndarray
    noise: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    log_likelihood: list


def states(y, observed, a, q, loadings, offset, noise):
    """The E step: posterior of the states and the log-likelihood. `y` is 0 where not observed."""
    centred = observed * (y - offset)
    score = centred @ (loadings / noise[:, None])
    mean, covariance, lag, part = smooth(a, q, ppca.precision(observed, loadings, noise), score)
    own = observed.sum(0) @ np.log(2 * np.pi * noise) + (centred**2 / noise).sum()
    return mean, covariance, lag, part - 0.5 * own


def fit(y, dim, diagonal=False, tolerance=1e-7, steps=20_000):
    """EM from the PPCA of the table, until a step gains less than `tolerance` per cell; continuing to 1e-8 changes the
    errors of hidden cells by less than a thousandth. One noise variance for all columns, or one for each if
    `diagonal`: PPCA has one for all, so that the two differ by the dynamics alone, and this imputes better on CMU
    and forex. No variance may fall below a millionth of its column's, where the likelihood has no maximum."""
    start = ppca.fit(y, dim, tolerance=1e-5)
    loadings, offset, noise = start.loadings, start.offset, np.full(y.shape[1], start.variance)
    a = np.linalg.lstsq(start.mean[:-1], start.mean[1:], rcond=None)[0].T
    q = np.cov((start.mean[1:] - start.mean[:-1] @ a.T).T, bias=True).reshape(dim, dim) + 1e-3 * np.eye(dim)
    known = ~np.isnan(y)
    observed, count = known.astype(float), known.sum(0)
    floor = 1e-6 * np.nanvar(y, axis=0)
    y = np.where(known, y, 0)
    trace = []
    while True:
        mean, covariance, lag, log_likelihood = states(y, observed, a, q, loadings, offset, noise)
        trace.append(log_likelihood)
        if len(trace) > 1 and trace[-1] - trace[-2] < tolerance * count.sum():
            return Fit(a, q, loadings, offset, noise, mean, covariance, trace)
        if len(trace) > steps:
            raise RuntimeError(f"LDM: no convergence in {steps} steps")
        loadings, offset, residual = ppca.regress_columns(y, observed, mean, covariance)
        noise = np.maximum(residual / count if diagonal else residual.sum() / count.sum(), floor)
        before = mean[:-1].T @ mean[:-1] + covariance[:-1].sum(0)
        after = mean[1:].T @ mean[1:] + covariance[1:].sum(0)
        cross = mean[1:].T @ mean[:-1] + lag[1:].sum(0)
        a = np.linalg.solve(before, cross.T).T
        q = (after - a @ cross.T) / (len(y) - 1)
        q = 0.5 * (q + q.T)


def impute(y, dim, diagonal=False):
    """Posterior mean and standard deviation of every cell."""
    f = fit(y, dim, diagonal)
    return ppca.cells(f.loadings, f.offset, f.noise, f.mean, f.covariance)


def forecast(y, dim, horizon):
    """Mean and standard deviation of the cells of the next `horizon` rows."""
    f = fit(y, dim)
    mean, covariance = [f.mean[-1]], [f.covariance[-1]]
    for _ in range(horizon):
        mean.append(f.a @ mean[-1])
        covariance.append(f.a @ covariance[-1] @ f.a.T + f.q)
    return ppca.cells(f.loadings, f.offset, f.noise, np.array(mean[1:]), np.array(covariance[1:]))


def simulate(rng, rows, columns):
    """A slowly turning system with a fifth of its cells missing: the table, the complete table, and the parameters."""
    turn = np.array([[np.cos(0.2), -np.sin(0.2)], [np.sin(0.2), np.cos(0.2)]])
    a, q = 0.98 * turn, 0.04 * np.eye(2)
    loadings, offset, noise = rng.normal(size=(columns, 2)), rng.normal(size=columns), rng.uniform(0.1, 0.4, columns)
    x = [rng.normal(size=2)]
    for _ in range(rows - 1):
        x.append(a @ x[-1] + 0.2 * rng.normal(size=2))
    whole = np.array(x) @ loadings.T + offset + np.sqrt(noise) * rng.normal(size=(rows, columns))
    y = np.where(rng.random(whole.shape) < 0.2, np.nan, whole)
    return y, whole, (a, q, loadings, offset, noise)


def check():
    """The smoother and the log-likelihood must be those of the dense joint Gaussian; the likelihood must never fall,
    and EM must find a simulated system: the eigenvalues of A, the noise, and the error of hidden cells of the true
    parameters."""
    rng = np.random.default_rng(1)
    y, _, (a, q, loadings, offset, noise) = simulate(rng, 6, 3)
    known = ~np.isnan(y)
    mean, covariance, lag, log_likelihood = states(
        np.where(known, y, 0), known.astype(float), a, q, loadings, offset, noise
    )
    rows = len(y)
    prior = np.zeros((rows, 2, rows, 2))
    marginal = np.eye(2)
    for t in range(rows):
        marginal = marginal if t == 0 else a @ marginal @ a.T + q
        block = marginal
        for s in range(t, rows):
            prior[s, :, t], prior[t, :, s] = block, block.T
            block = a @ block
    prior = prior.reshape(2 * rows, 2 * rows)
    seen = np.kron(np.eye(rows), loadings)[known.ravel()]
    marginal = seen @ prior @ seen.T + np.diag(np.tile(noise, rows)[known.ravel()])
    e = (y - offset)[known]
    gain = prior @ seen.T @ np.linalg.inv(marginal)
    posterior = (prior - gain @ seen @ prior).reshape(rows, 2, rows, 2)
    np.testing.assert_allclose(mean.ravel(), gain @ e, atol=1e-10)
    for t in range(rows):
        np.testing.assert_allclose(covariance[t], posterior[t, :, t], atol=1e-10)
        if t > 0:
            np.testing.assert_allclose(lag[t], posterior[t, :, t - 1], atol=1e-10)
    dense = -0.5 * (len(e) * np.log(2 * np.pi) + np.linalg.slogdet(marginal)[1] + e @ np.linalg.solve(marginal, e))
    np.testing.assert_allclose(log_likelihood, dense, rtol=1e-10)

    y, whole, (a, q, loadings, offset, noise) = simulate(rng, 2000, 10)
    known = ~np.isnan(y)
    f = fit(y, 2, diagonal=True)
    assert np.diff(f.log_likelihood).min() > -1e-10 * abs(f.log_likelihood[-1])
    found, true = (np.sort_complex(np.linalg.eigvals(m)) for m in (f.a, a))
    np.testing.assert_allclose(found, true, atol=0.02)
    np.testing.assert_allclose(f.noise, noise, rtol=0.2)
    best = states(np.where(known, y, 0), known.astype(float), a, q, loadings, offset, noise)[0] @ loadings.T + offset
    ours = f.mean @ f.loadings.T + f.offset
    ratio = ((ours - whole)[~known] ** 2).mean() / ((best - whole)[~known] ** 2).mean()
    assert ratio < 1.02, ratio
    print("LDM: smoother and likelihood equal to the dense Gaussian; never falls; a simulated system is found")


if __name__ == "__main__":
    check()
