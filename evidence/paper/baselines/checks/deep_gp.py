"""The divergence is that of Gaussians, outputs have the moments of their weights, and a smooth path is found."""

import numpy as np
import torch
from torch.distributions import MultivariateNormal, kl_divergence

from baselines import deep_gp
from baselines.gp import tensor
from baselines.planted import affine_r2


def check():
    rng = np.random.default_rng(0)
    layer = deep_gp.Layer(rng.normal(size=(5, 2)), 3, 1.0)
    with torch.no_grad():
        layer.mean.copy_(tensor(rng.normal(size=(5, 3))))
        layer.scale.copy_(tensor(np.tril(rng.normal(size=(5, 5)))) + 2 * torch.eye(5))
    scale, prior = layer.scale.tril(), MultivariateNormal(torch.zeros(5).double(), torch.eye(5).double())
    dense = sum(kl_divergence(MultivariateNormal(m, scale @ scale.T), prior) for m in layer.mean.T)
    np.testing.assert_allclose(layer.divergence().item(), dense.item(), rtol=1e-9)
    # Where the weights are drawn from q, the outputs have the layer's mean and variance.
    x = tensor(rng.normal(size=(4, 2)))
    mean, variance = layer(x)
    phi = layer.phi(x)
    exact = phi @ scale @ scale.T @ phi.T + torch.diag(1 - (phi**2).sum(1))
    np.testing.assert_allclose(variance[:, 0].detach(), exact.diagonal().detach(), rtol=1e-9)
    np.testing.assert_allclose(mean.detach(), (phi @ layer.mean).detach())

    times = np.arange(150.0)
    truth = np.c_[np.sin(times / 15), np.cos(times / 23)]
    whole = np.sin(1.3 * truth @ rng.normal(size=(2, 15)) + rng.normal(size=15)) + 0.1 * rng.normal(size=(150, 15))
    y = np.where(rng.random(whole.shape) < 0.2, np.nan, whole)
    mean, variance = deep_gp.impute(y, times, 2, 0, steps=600)
    gone = np.isnan(y)
    error = ((mean - whole)[gone] ** 2).mean() / whole[gone].var()
    inside = (np.abs(mean - whole)[gone] < 1.645 * np.sqrt(variance[gone])).mean()
    assert error < 0.15 and 0.8 < inside, (error, inside)
    model, scaled = deep_gp.fit(deep_gp.standardised(y)[0], times, 2, 0, steps=300)
    with torch.no_grad():
        found = affine_r2(model.path(scaled)[0].numpy(), truth)
    assert found > 0.8, found
    return f"divergence and outputs dense; hidden cells {error:.3f} of the variance, 90% intervals hold {inside:.2f}; path R² {found:.3f}"
