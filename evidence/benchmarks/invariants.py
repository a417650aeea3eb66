"""Quantities that a rotation of the latent space does not change, by which samplers are compared.

Every sampler in a comparison must use the same pairs of rows and the same cells of the table, in every chain.
`pairs` and `cells` choose them from the size of the table alone (and a seed, 0 by default):

    from invariants import cells, pairs
    distances = np.linalg.norm(x[a] - x[b], axis=1)     # a, b = pairs(n_rows).T
    values = f[row, column]                             # row, column = cells(n_rows, n_cols).T
"""

import numpy as np
from scipy.special import gammaln, logsumexp

COUNT = 10


def pairs(n_rows, seed=0):
    """Ten pairs of distinct rows, as an array of shape (10, 2)."""
    rng = np.random.RandomState(seed)
    return np.array([rng.choice(n_rows, size=2, replace=False) for _ in range(COUNT)])


def cells(n_rows, n_cols, seed=0):
    """Ten cells (row, column), as an array of shape (10, 2).

    The last column of a multinomial table has F = 0 by definition: pass one column fewer.
    """
    rng = np.random.RandomState(seed)
    rows = rng.randint(n_rows, size=COUNT)
    columns = rng.randint(n_cols, size=COUNT)
    return np.column_stack([rows, columns])


def log_likelihood(family, y, f, parameter=None):
    """ln p(y | f), normalised and summed over all cells.

    `parameter` has one value per column: the noise variance of `gaussian`, the dispersion r of `negative-binomial`
    (whose mean is r e^f); the other families have none.
    """
    if family == "gaussian":
        return -0.5 * np.sum((y - f) ** 2 / parameter + np.log(2 * np.pi * parameter))
    if family == "poisson":
        return np.sum(y * f - np.exp(f) - gammaln(y + 1))
    if family == "bernoulli":
        return np.sum(y * f - np.logaddexp(0, f))
    if family == "negative-binomial":
        constant = gammaln(y + parameter) - gammaln(parameter) - gammaln(y + 1)
        return np.sum(constant + y * f - (y + parameter) * np.logaddexp(0, f))
    if family == "multinomial":
        shares = f - logsumexp(f, axis=1, keepdims=True)
        return np.sum(gammaln(y.sum(1) + 1)) + np.sum(y * shares - gammaln(y + 1))
    raise ValueError(f"unknown family: {family}")
