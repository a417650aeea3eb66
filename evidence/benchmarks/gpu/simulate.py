"""Simulates a negative binomial table with realistic sparsity: `python evidence/benchmarks/gpu/simulate.py ROWS COLUMNS OUT.npy [SEED]`.

Positions are standard normal in two dimensions, log rates of a column are a smooth function of them (16 random frequencies) about a mean that is normal over
columns, and rows differ in depth. About 7% of the cells are not zero.
"""

import sys
from multiprocessing import Pool

import numpy as np

BLOCK = 10_000


def rows_of(count, seed, columns):
    """Some rows, from a separate seed."""
    w, phase, weights, level, dispersion = columns
    rng = np.random.default_rng(seed)
    f = np.cos(rng.normal(size=(count, 2)) @ w.T + phase) @ weights + level + rng.normal(0, 0.3, (count, 1))
    counts = np.minimum(rng.poisson(rng.gamma(dispersion, np.exp(f) / dispersion)), 250).astype(np.uint8)
    # A row without any count says nothing.
    counts[counts.sum(axis=1) == 0, 0] = 1
    return counts


def table(rows, columns, seed=0):
    """All rows, block by block on all cores."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(16, columns)) / np.sqrt(8)
    level, dispersion = rng.normal(-3.6, 1.3, columns), rng.gamma(2.0, 0.5, columns) + 0.1
    known = rng.normal(size=(16, 2)), rng.uniform(0, 2 * np.pi, 16), weights, level, dispersion
    sizes = [min(BLOCK, rows - start) for start in range(0, rows, BLOCK)]
    seeds = np.random.SeedSequence(seed + 1).spawn(len(sizes))
    with Pool() as pool:
        blocks = pool.starmap(rows_of, [(size, own, known) for size, own in zip(sizes, seeds, strict=True)])
    counts = np.concatenate(blocks)
    counts[0, counts.sum(axis=0) == 0] = 1
    return counts


if __name__ == "__main__":
    counts = table(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    np.save(sys.argv[3], counts)
    print(f"{counts.shape[0]} × {counts.shape[1]}, {100 * (counts > 0).mean():.1f}% not zero, largest {counts.max()}")
