"""The likelihood is SciPy's, size factors are those of the depth, and groups of rows that differ in their profile lie apart."""

import numpy as np
import torch
from scipy.stats import nbinom

from baselines import dca, network
from baselines.planted import apart


def check():
    rng = np.random.default_rng(0)
    y, mean, dispersion = rng.poisson(3, 50), rng.uniform(0.5, 9, 50), rng.uniform(0.3, 5, 50)
    ours = network.negative_binomial(*(torch.tensor(v) for v in (y.astype(float), mean, dispersion))).numpy()
    np.testing.assert_allclose(ours, nbinom.logpmf(y, dispersion, dispersion / (dispersion + mean)), rtol=1e-9)
    counts = rng.poisson(5, (40, 6)).astype(float)
    counts[:, 0] = 3 * np.arange(40)
    inputs, size = dca.prepare(counts)
    np.testing.assert_allclose(size[:, 0], counts.sum(1) / np.median(counts.sum(1)))
    np.testing.assert_allclose([inputs.mean(0), inputs.std(0)], [np.zeros(6), np.ones(6)], atol=1e-9)
    return f"likelihood equal to SciPy's; {apart(dca.embed)}"
