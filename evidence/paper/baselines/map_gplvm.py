"""MAP-GPLVM: Poisson Gaussian process latent variable model by coordinate ascent, without random features.

The paper's "naive implementation of the Poisson GPLVM that performs coordinate ascent on X and F by iteratively taking MAP
estimates" (section 5.1); the model is that of Lawrence 2005 with Poisson cells: y_nj ~ Poisson(exp f_nj), f_j ~ N(0, K_X),
K_X the RBF kernel with variance and length 1, x_n ~ N(0, I).

    python evidence/paper/baselines/check.py map_gplvm

Each of 30 rounds takes ten steps of L-BFGS on F given X, through V = L⁻¹F with LLᵀ = K_X, and ten on X given F. K_X has
10⁻³ on its diagonal. A given F ties X down, so the positions hardly leave their start: that is the method's known fault, not an
error. Missing cells (NaN) are left out of the likelihood.
"""

import numpy as np
import torch

from baselines.gp import jittered, minimise, principal, rbf, tensor


def log_joint(y, seen, x, f):
    """ln p(Y, F, X), without ln y! and powers of 2π; also L⁻¹F and L."""
    factor = jittered(rbf(x, x, 1.0), 1e-3)
    v = torch.linalg.solve_triangular(factor, f, upper=False)
    prior = -0.5 * (v**2).sum() - f.shape[1] * torch.log(factor.diagonal()).sum() - 0.5 * (x**2).sum()
    return (seen * (y * f - f.clamp(max=20).exp())).sum() + prior, v, factor


def fit(y, dim, rounds=30):
    """X, F, and the log joint density after each round."""
    seen = tensor(~np.isnan(y))
    start = np.log1p(y)
    x = tensor(principal(np.where(np.isnan(y), np.nanmean(start, axis=0), start), dim))
    y = tensor(np.nan_to_num(y))
    f, trace = torch.zeros_like(y), []
    for _ in range(rounds):
        _, v, factor = log_joint(y, seen, x, f)

        def of_v(v):
            f = factor @ v
            return 0.5 * (v**2).sum() - (seen * (y * f - f.clamp(max=20).exp())).sum()

        (v,) = minimise(of_v, [v.numpy()], 10)
        f = factor @ v
        (x,) = minimise(lambda x: -log_joint(y, seen, x, f)[0], [x.numpy()], 10)
        trace.append(log_joint(y, seen, x, f)[0].item())
    return x.numpy(), f.numpy(), trace


def embed(Y, dim, seed):
    """Positions of the rows. Nothing is random: the seed has no effect."""
    return fit(np.asarray(Y, float), dim)[0]


def impute(Y, dim, seed):
    """The rate of every cell; a point estimate has no variance."""
    return np.exp(fit(Y, dim)[1]), None
