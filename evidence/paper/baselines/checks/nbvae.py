"""The likelihood is SciPy's, and groups of rows that differ in their profile lie apart."""

import numpy as np
import torch
from scipy.special import gammaln
from scipy.stats import nbinom

from baselines import nbvae
from baselines.planted import apart


def check():
    rng = np.random.default_rng(0)
    y, r, p = rng.poisson(3, 50), rng.uniform(0.5, 4, 50), rng.uniform(0.1, 0.9, 50)
    ours = nbvae.log_likelihood(*(torch.tensor(v) for v in (y.astype(float), np.log(r), np.log(p / (1 - p))))).numpy()
    np.testing.assert_allclose(ours - gammaln(y + 1), nbinom.logpmf(y, r, 1 - p), rtol=1e-9)
    return f"likelihood equal to SciPy's; {apart(nbvae.embed)}"
