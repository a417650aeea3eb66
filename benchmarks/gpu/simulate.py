"""Simulates a negative binomial table with realistic sparsity: `python benchmarks/gpu/simulate.py ROWS COLUMNS OUT.npy [SEED]`.

Positions are standard normal in two dimensions, log rates of a column are a smooth function of them (16 random frequencies) about a mean that is normal over
columns, and rows differ in depth. About 7% of the cells are not zero.
"""

import sys

import numpy as np


def table(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 2))
    w = rng.normal(size=(16, 2))
    phase = rng.uniform(0, 2 * np.pi, 16)
    weights = rng.normal(size=(16, columns)) / np.sqrt(8)
    level = rng.normal(-3.6, 1.3, columns)
    depth = rng.normal(0, 0.3, rows)
    dispersion = rng.gamma(2.0, 0.5, columns) + 0.1
    counts = np.empty((rows, columns), dtype=np.uint8)
    for start in range(0, rows, 20000):
        some = slice(start, min(rows, start + 20000))
        f = np.cos(x[some] @ w.T + phase) @ weights + level + depth[some, None]
        rate = rng.gamma(dispersion, np.exp(f) / dispersion)
        counts[some] = np.minimum(rng.poisson(rate), 250)
    # A row or column without any count says nothing.
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[0, counts.sum(axis=0) == 0] = 1
    return counts


if __name__ == "__main__":
    counts = table(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    np.save(sys.argv[3], counts)
    print(f"{counts.shape[0]} × {counts.shape[1]}, {100 * (counts > 0).mean():.1f}% not zero, largest {counts.max()}")
