"""The low-rank algebra is the dense one; the evidence at the mode is the Laplace approximation, near the integral; a simulated
S-curve is found better than by principal components, where it starts."""

import numpy as np
import torch
from scipy.stats import multivariate_normal, poisson

from baselines import dla_gplvm
from baselines.gp import features, principal, tensor
from baselines.planted import affine_r2, s_curve


def check():
    rng = np.random.default_rng(0)
    x, noise = tensor(rng.normal(size=(6, 2))), 0.3
    phi = features(x, dla_gplvm.grid(x), 1.0, 2.0)
    k = (phi @ phi.T).numpy() + noise * np.eye(6)
    y = tensor(rng.poisson(3, size=(6, 4)))
    f, weight, mean = dla_gplvm.mode(y, torch.log(y + 0.5), phi, noise, steps=40)
    np.testing.assert_allclose(np.linalg.solve(k, f.numpy()), (y - f.exp()).numpy(), atol=1e-8)
    dense = 0
    for j in range(4):
        w, m, e = (part[:, j].numpy() for part in (weight, mean, f))
        posterior = np.linalg.inv(np.linalg.inv(k) + np.diag(w))
        np.testing.assert_allclose(posterior @ (w * m), e, atol=1e-8)
        dense += y[:, j].numpy() @ e - np.exp(e).sum() - 0.5 * e @ np.linalg.solve(k, e)
        dense -= 0.5 * np.linalg.slogdet(np.eye(6) + k @ np.diag(w))[1]
    laplace = dla_gplvm.evidence(y, phi, noise, weight, mean).item()
    np.testing.assert_allclose(laplace, dense, rtol=1e-9)
    # The integral, by importance sampling from the Laplace approximation.
    one, e = y[:, 0].numpy(), f[:, 0].numpy()
    near = multivariate_normal(e, 1.3 * np.linalg.inv(np.linalg.inv(k) + np.diag(np.exp(e))))
    draws = near.rvs(100_000, random_state=1)
    ratio = poisson.logpmf(one, np.exp(draws)).sum(1) + multivariate_normal(np.zeros(6), k).logpdf(draws) - near.logpdf(draws)
    exact = np.log(np.exp(ratio).mean())
    alone = dla_gplvm.evidence(y[:, :1], phi, noise, weight[:, :1], mean[:, :1]).item()
    alone += poisson.logpmf(one, 1).sum() + 6
    assert abs(alone - exact) < 0.15, (alone, exact)

    counts, truth, _ = s_curve()
    start = affine_r2(principal(np.log1p(counts), 2), truth)
    found = affine_r2(dla_gplvm.fit(counts, principal(np.log1p(counts), 2), 25), truth)
    assert found > start + 0.03 and found > 0.9, (start, found)
    return f"algebra dense; evidence {alone:.3f}, integral {exact:.3f}; S-curve R² {found:.3f}, PCA {start:.3f}"
